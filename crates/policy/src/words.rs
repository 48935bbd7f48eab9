//! Every key and every name a policy may use, in one place, so that reading, error messages, help
//! and completion cannot disagree.

use hedgerow_config::Word;
pub use hedgerow_config::source::{FORMATS, SOURCE};
pub use hedgerow_release::ROLES;

/// The tables of the file.
pub const SECTIONS: &[Word] = &[
    Word::key("source", "[source]", "where the data is; absent when a program hands the rows over")
        .also(&["data", "input"]),
    Word::key("attributes", "[attributes]", "what each column is").also(&["columns", "attribute"]).required(),
    Word::key("rule", "[[rule]]", "what must hold, and against whom").also(&["rules"]),
    Word::key("dependency", "[[dependency]]", "which attributes determine which, as attackers know too")
        .also(&["dependencies", "fd"]),
    Word::key("publish", "[publish]", "how to publish").also(&["output", "release"]),
    Word::key("community", "[community]", "what others have published already about the same people"),
];

pub const ATTRIBUTE: &[Word] = &[
    Word::key("role", "role = \"quasi\"", "what the attribute is to an attacker").required(),
    Word::key("type", "type = \"category\"", "what its values are, when that should not be inferred").also(&["kind"]),
    Word::key("hierarchy", "hierarchy = { widths = [5, 10, 20] }", "how it may be generalized").also(&[
        "generalization",
        "generalisation",
        "levels",
    ]),
    Word::key(
        "range",
        "range = [0, 120]",
        "the lowest and the highest possible number or date, which is public; `inf` leaves an end open",
    )
    .also(&["bounds", "limits", "domain"]),
    Word::key("order", "order = [\"low\", \"mid\", \"high\"]", "all its texts, lowest first")
        .also(&["ordered", "ranking"]),
    Word::key(
        "date-format",
        "date-format = \"%d.%m.%Y\"",
        "how its dates are written, when not as 2024-02-29; the format of `[source]` when absent",
    )
    .also(&["dateformat", "date-pattern"]),
    Word::key(
        "allow-unique",
        "allow-unique = true",
        "for plain and sensitive attributes: values that single out a row may be released",
    )
    .also(&["allow-unique-values", "unique"]),
    Word::key(
        "coarsen",
        "coarsen = { round = 1000 }",
        "for plain and sensitive attributes: coarser values, in place of the source's from the start",
    )
    .also(&["coarsening", "rounding", "round"]),
];

pub const COARSEN: &[Word] = &[
    Word::key("round", "round = 1000", "to the nearest multiple of this number").also(&["rounding", "multiple"]),
    Word::key("significant", "significant = 2", "to this many significant digits").also(&["digits"]),
    Word::key("top", "top = 150000", "numbers above become this one").also(&["max", "ceiling"]),
    Word::key("bottom", "bottom = 0", "numbers below become this one").also(&["min", "floor"]),
    Word::key("dates", "dates = \"month\"", "days as a longer unit").also(&["date", "unit"]),
    Word::key("level", "level = 2", "the labels of this level of the attribute's `hierarchy`").also(&["hierarchy"]),
];

pub const TYPES: &[Word] = &[
    Word::value("integer", "whole numbers").also(&["int", "number", "numeric"]),
    Word::value("float", "numbers").also(&["double", "decimal", "real"]),
    Word::value("category", "text").also(&["string", "text", "str", "factor", "categorical", "bool", "boolean"]),
    Word::value("date", "days, as 2024-02-29").also(&["datetime", "timestamp"]),
];

pub const HIERARCHY: &[Word] = &[
    Word::key("widths", "widths = [5, 10, 20]", "intervals of these widths, one per level").also(&["width"]),
    Word::key("mask", "mask = 5", "hide one character from the right per level, this many times"),
    Word::key("breaks", "breaks = [[18, 30, 50, 65], [18, 65]]", "cut points, one list per level")
        .also(&["cuts", "intervals"]),
    Word::key("dates", "dates = [\"month\", \"year\"]", "calendar units, finest first").also(&["date", "units"]),
    Word::key("file", "file = \"education.csv\"", "a file with `leaf;level 1;…;top` in every row").also(&["path"]),
];

pub const DATE_UNITS: &[Word] = &[
    Word::value("day", "one day").also(&["days"]),
    Word::value("month", "one month").also(&["months"]),
    Word::value("quarter", "three months").also(&["quarters"]),
    Word::value("year", "one year").also(&["years"]),
    Word::value("decade", "ten years").also(&["decades"]),
];

pub const RULE: &[Word] = &[
    Word::key("know", "know = [\"age\", \"zip\"]", "what the attacker knows; every quasi-identifier when absent")
        .also(&["knows", "known", "quasi"]),
    Word::key(
        "protect",
        "protect = \"disease\"",
        "what the attacker must not learn; with decompose, a list protects the combination of its attributes",
    )
    .also(&["sensitive", "protects"]),
    Word::key("require", "require = { model = \"k-anonymity\", k = 5 }", "what must hold, one model or a list of them")
        .also(&["requires", "model", "models"])
        .required(),
    Word::key(
        "rows",
        "rows = \"all\"",
        "where rows belong to units: whether the attacker knows all rows of a unit, or one",
    )
    .also(&["knows-rows", "unit-rows"]),
    Word::key(
        "consistent",
        "consistent = true",
        "whether the rule must also hold after an attacker excludes rows with impossible combinations of values",
    )
    .also(&["consistency", "structural-zeros"]),
    Word::key(
        "where",
        "where = { county = [\"Travis\"] }",
        "restricts the rule to classes whose labels may stand for one of these values, for every attribute named; all classes when absent",
    )
    .also(&["only", "only-where"]),
];

pub const KNOWN_ROWS: &[Word] = &[
    Word::value("all", "the attacker knows every row of a unit").also(&["all-rows", "every"]),
    Word::value("one", "the attacker knows one row of a unit").also(&["one-row", "single"]),
];

pub const DEPENDENCY: &[Word] = &[
    Word::key("from", "from = [\"zip\"]", "the attributes that determine another").also(&["determinant"]).required(),
    Word::key("to", "to = \"county\"", "the attribute that they determine").also(&["determines"]).required(),
    Word::key(
        "accept",
        "accept = \"the county of every ZIP code is public and adds nothing\"",
        "why it may be released all the same; the manifest and the report show the reason",
    )
    .also(&["reason", "because"]),
];

/// A privacy model and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelWords {
    pub model: Word,
    /// `model` itself is among them.
    pub keys: &'static [Word],
}

const MODEL: Word = Word::key("model", "model = \"k-anonymity\"", "the model's name").also(&["name"]).required();
const K: Word = Word::key("k", "k = 5", "the fewest rows in a class, a whole number of at least 1").required();
const L_WHOLE: Word = Word::key("l", "l = 3", "how many values at least, a whole number of at least 1").required();
const L: Word = Word::key("l", "l = 3", "how many values at least, a number of at least 1").required();
const C: Word =
    Word::key("c", "c = 2.0", "how often the most frequent value may outweigh the rest, above 0").required();
const T: Word =
    Word::key("t", "t = 0.3", "how far a class's distribution may be from the table's, from 0 to 1").required();
const ALPHA: Word =
    Word::key("alpha", "alpha = 0.5", "the largest share of a value in a class, above 0 and at most 1").required();
const EPSILON_CLONE: Word = Word::key(
    "epsilon",
    "epsilon = 0.05",
    "how far a value's share in a class may be from its share in the table, from 0 to 1",
)
.required();
const DISTANCE: Word = Word::key("distance", "distance = \"ordered\"", "how far two values are apart");
const VALUES: Word = Word::key("values", "values = [\"HIV\"]", "the protected values it limits, all when absent");
const PRIOR: Word =
    Word::key("prior", "prior = 0.1", "up to which share in the table a value counts as rare, above 0 and below 1")
        .also(&["rho1"])
        .required();
const POSTERIOR: Word = Word::key(
    "posterior",
    "posterior = 0.5",
    "below which a rare value's share in a class must stay, above `prior` and at most 1",
)
.also(&["rho2"])
.required();
const B: Word = Word::key(
    "b",
    "b = 0.2",
    "how far a belief may change, at least 0; at most 1 for the distances `variation` and `largest`",
)
.required();
const CHANGE: Word = Word::key("distance", "distance = \"relative\"", "how a change of belief is measured");
const HAVING: Word = Word::key(
    "having",
    "having = [\"HIV\"]",
    "restricts the model to classes in which one of these protected values occurs; all classes when absent",
);
const BELOW: Word =
    Word::key("below", "below = 5", "restricts the model to classes with fewer rows; all classes when absent");
const EPSILON: Word =
    Word::key("epsilon", "epsilon = 10", "how near counts as close, at least 0; a share of the value when relative")
        .required();
const M: Word =
    Word::key("m", "m = 2", "the rows with a value close to any one are at most 1/m of a class; at least 1").required();
const RELATIVE: Word = Word::key("relative", "relative = true", "whether epsilon is a share of the value, from 0 to 1");
const DELTA: Word =
    Word::key("delta", "delta = 7.5", "half the length of an interval of close values, at least 0; days for dates")
        .required();
const READING: Word = Word::key("reading", "reading = \"window\"", "which values count as close together");

/// The keys by which a model is about some classes alone.
pub const CONDITIONS: &[Word] = &[HAVING, BELOW];

/// All models. Those not yet available have their parameters left unread.
pub const MODELS: &[ModelWords] = &[
    ModelWords { model: Word::value("k-anonymity", "every class has at least k rows"), keys: &[MODEL, K] },
    ModelWords {
        model: Word::value("distinct-l-diversity", "every class has at least l protected values"),
        keys: &[MODEL, L_WHOLE, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value("frequency-l-diversity", "no protected value exceeds 1/l of its class"),
        keys: &[MODEL, L, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value("entropy-l-diversity", "the entropy of every class is at least log l"),
        keys: &[MODEL, L, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value("recursive-l-diversity", "the most frequent value stays below c times the rarer ones"),
        keys: &[MODEL, C, L_WHOLE, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value("t-closeness", "the distribution in every class is close to the table's"),
        keys: &[MODEL, T, DISTANCE, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value("alpha-k-anonymity", "at least k rows, and no protected value above a share of alpha"),
        keys: &[MODEL, ALPHA, K, VALUES, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value("epsilon-m-anonymity", "around every protected number, at most 1/m of its class"),
        keys: &[MODEL, EPSILON, M, RELATIVE, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value("delta-l-diversity", "no interval of length 2 delta holds more than 1/l of a class"),
        keys: &[MODEL, DELTA, L, READING, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value(
            "epsilon-clone",
            "every class has every protected value, each with nearly its share in the table",
        ),
        keys: &[MODEL, EPSILON_CLONE],
    },
    ModelWords {
        model: Word::value("cross-release-l-diversity", "at least l protected values, all releases taken together"),
        keys: &[MODEL, L_WHOLE],
    },
    ModelWords {
        model: Word::value(
            "rho-breach",
            "no protected value that is rare in the table reaches a share of posterior in a class",
        ),
        keys: &[MODEL, PRIOR, POSTERIOR, VALUES, HAVING, BELOW],
    },
    ModelWords {
        model: Word::value(
            "belief-change",
            "what is believed of a protected value changes by at most b when the class is known: Kifer's measure",
        )
        .also(&["kifer"]),
        keys: &[MODEL, B, CHANGE, VALUES, HAVING, BELOW],
    },
];

pub const DISTANCES: &[Word] = &[
    Word::value("equal", "all different values are equally far apart").also(&["variational"]),
    Word::value("ordered", "by rank; texts need an `order`").also(&["numeric", "numerical", "rank"]),
    Word::value("hierarchical", "by the closest common ancestor in the hierarchy").also(&["hierarchy", "tree"]),
];

pub const CHANGES: &[Word] = &[
    Word::value("variation", "half the sum of the differences between shares")
        .also(&["total-variation", "variational"]),
    Word::value("largest", "the largest difference between shares").also(&["maximum", "max"]),
    Word::value("relative", "the largest difference between shares, as a multiple of the share in the table")
        .also(&["ratio"]),
    Word::value("divergence", "the Kullback-Leibler divergence from the table's shares, in nats")
        .also(&["kl", "kullback-leibler"]),
];

pub const READINGS: &[Word] = &[
    Word::value("window", "all in one interval of length 2 delta").also(&["interval"]),
    Word::value("pairwise", "all within 2 delta of one of them").also(&["definition-5", "neighborhood"]),
];

pub const PUBLISH: &[Word] = &[
    Word::key("method", "method = \"full-domain\"", "how to publish").also(&["algorithm-name"]),
    Word::key("suppression", "suppression = 0.02", "for full-domain and clone, and for mondrian, best-cut and cluster over units: the share of rows that may be suppressed: 2 % is 0.02").also(&[
        "suppress",
        "suppression-limit",
        "outliers",
    ]),
    Word::key("loss", "loss = \"ncp\"", "for full-domain, cluster and `improve`: the loss that is minimized; cluster takes ncp, granularity or entropy, and without it granularity with a tenth of entropy").also(&["metric", "measure", "utility"]),
    Word::key(
        "weights",
        "weights = { age = 3, zip = 0.5 }",
        "for full-domain, mondrian, best-cut, cluster and decompose with `anonymizer = \"mondrian\"`: how much the cells of a quasi-identifier count in a loss of cells; 1 when not named",
    )
    .also(&["weight", "attribute-weights"]),
    Word::key("max-nodes", "max-nodes = 100000", "for full-domain: stop the search after this many lattice nodes").also(&["nodes"]),
    Word::key("max-seconds", "max-seconds = 60", "for full-domain, cluster and `improve`: stop after this many seconds, with the best found")
        .also(&["timeout", "seconds", "max-time"]),
    Word::key("strict", "strict = true", "for mondrian: rows with equal values stay in one class").also(&["relaxed"]),
    Word::key("summarise", "summarise = \"region\"", "for mondrian, best-cut and cluster: how numbers and dates of a class are released")
        .accepts(&["summarize"])
        .also(&["summary"]),
    Word::key("labels", "labels = \"set\"", "for cluster: how categories of a class are released"),
    Word::key(
        "improve",
        "improve = true",
        "for cluster, best-cut and mondrian: exchange rows between classes until nothing improves, or for `max-seconds`",
    ),
    Word::key(
        "link",
        "link = true",
        "for full-domain, mondrian, best-cut and cluster, where rows belong to units: release a random number for each unit, so that its rows stay together",
    )
    .also(&["linked", "links"]),
    Word::key("k", "k = 5", "for clone: the fewest tuples in a sub-class"),
    Word::key("lambda", "lambda = 3", "for clone: how many values of a sub-class an indicative range covers"),
    Word::key(
        "max-epsilon",
        "max-epsilon = 0.01",
        "for clone: requires ε-clone with this ε, also beside a rule that does; classes grow until both hold. Without either, ε is 1",
    )
    .also(&["epsilon"]),
    Word::key(
        "max-distorted",
        "max-distorted = 0.01",
        "for clone: the share of tuples that may be suppressed or counterfeit so that all classes are alike; fewer means larger classes",
    )
    .also(&["distorted", "max-distortion"]),
    Word::key(
        "dependency-tolerance",
        "dependency-tolerance = 0.01",
        "the share of rows that may deviate from a dependency that is looked for in the source; 1 % when absent",
    )
    .also(&["dependencies", "tolerance"]),
    Word::key("assignment", "assignment = \"order\"", "for clone and anatomy: which rows share a class or a bucket"),
    Word::key(
        "rho",
        "rho = 0.2",
        "for clone with `assignment = \"scan\"`: the share of tuples that is examined for each class",
    ),
    Word::key("rare", "rare = \"keep\"", "for clone: what becomes of values so rare that classes become few and large"),
    Word::key("algorithm", "algorithm = \"best\"", "for decompose: how the tables are chosen"),
    Word::key("anonymizer", "anonymizer = \"anatomy\"", "for decompose: how a table hides its protected attribute")
        .accepts(&["anonymiser"]),
];

pub const METHODS: &[Word] = &[
    Word::value("full-domain", "global recoding: every value of an attribute is generalized to the same level")
        .also(&["incognito"]),
    Word::value("mondrian", "local recoding: classes by cuts at the median, each released as its own region"),
    Word::value("best-cut", "local recoding: classes by the cuts that lower the loss the most").also(&["bestcut"]),
    Word::value(
        "cluster",
        "local recoding: classes of rows that are near in every quasi-identifier, described by what occurs in them",
    )
    .also(&["clustering", "k-member", "neighbors", "nearest-neighbor"]),
    Word::value("anatomy", "quasi-identifiers and protected values in separate tables, joined by bucket")
        .also(&["bucketization"]),
    Word::value("clone", "classes alike in their protected values, released as statistics").also(&["cloning"]),
    Word::value("decompose", "several tables, each for its own rule"),
];

pub const ALGORITHMS: &[Word] = &[
    Word::value("best", "the one of the others that keeps the most, by KL divergence"),
    Word::value(
        "gd",
        "guardian decomposition: many overlapping tables, attributes added back where the rules allow it",
    ),
    Word::value("uad", "utility-aware decomposition: few tables with little overlap, by coloring the rules' graph"),
    Word::value("multi-sensitive", "one table in which every protected attribute is sensitive, by integer programs")
        .also(&["multi-sa"]),
    Word::value("single-attribute", "every attribute in a table of its own").also(&["single"]),
];

pub const ANONYMIZERS: &[Word] = &[
    Word::value("anatomy", "protected values by bucket, everything else as it is").also(&["buckets"]),
    Word::value("mondrian", "classes of rows whose other attributes are generalized"),
];

pub const ANATOMY_ASSIGNMENTS: &[Word] = &[
    Word::value("order", "people who are alike share a bucket, which keeps the most"),
    Word::value("random", "any rows share a bucket: as in the paper, and nothing can be learned from which do"),
];

pub const CLONE_ASSIGNMENTS: &[Word] = &[
    Word::value("order", "all classes at once, by halving along the widest attribute"),
    Word::value(
        "scan",
        "forms one class at a time from the closest tuples of a random share of the table: as in the paper, and slow",
    ),
];

pub const RARE: &[Word] = &[
    Word::value("keep", "they stay, and classes are few"),
    Word::value(
        "suppress",
        "their tuples are suppressed, up to `suppression`, or 1 % of the rows when it is not given",
    ),
];

pub const SUMMARIES: &[Word] = &[
    Word::value("region", "the region between the cuts around a class").also(&["regions", "cuts"]),
    Word::value("tight", "from the lowest to the highest value in a class: the ends are values of individuals")
        .also(&["extremes", "min-max"]),
];

pub const LABELS: &[Word] = &[
    Word::value("set", "the values that occur in the class").also(&["sets", "values"]),
    Word::value("hierarchy", "the lowest node over them where the attribute has a hierarchy, else the values")
        .also(&["tree", "nodes"]),
];

pub const LOSSES: &[Word] = &[
    Word::value("ncp", "normalized certainty penalty"),
    Word::value("precision", "mean share of the hierarchy's height"),
    Word::value("discernibility", "sum of squared class sizes").also(&["dm", "discernability"]),
    Word::value("average-class", "mean class size over the required k").also(&["aecs", "average-class-size"]),
    Word::value("granularity", "mean share of leaves under a cell").also(&["loss", "arx-loss"]),
    Word::value(
        "entropy",
        "non-uniform entropy: what cells leave open about values, by how frequent these are, as a share for each attribute",
    ),
    Word::value(
        "entropy-bits",
        "the same in bits, added up over all cells: attributes with many values count more, as in ARX",
    )
    .also(&["non-uniform-entropy", "nue", "bits"]),
];

pub const COMMUNITY: &[Word] = &[
    Word::key("releases", "releases = [\"../neighbor/release\"]", "directories, or patterns of them")
        .also(&["release"]),
    Word::key(
        "values",
        "values.disease = { \"Flu\" = \"influenza\" }",
        "for each attribute, the texts of the others' releases that mean one of ours: theirs = ours",
    )
    .also(&["mapping", "synonyms", "value"]),
    Word::key(
        "joint",
        "joint = [\"P(age >= 40 | zip >= 20000) = 4/9\"]",
        "what is known of how attributes of several releases go together: shares of people",
    )
    .also(&["shares", "joint-shares"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_privacy::{Change, Distance, NumberCloseness};
    use hedgerow_table::Kind;
    use hedgerow_table::spelling::folded;

    /// A manifest may say of a model all that a policy may.
    #[test]
    fn models_take_conditions_as_their_words_say() {
        let without = ["k-anonymity", "epsilon-clone", "cross-release-l-diversity"];
        for words in MODELS {
            let takes = CONDITIONS.iter().all(|condition| words.keys.contains(condition));
            assert_eq!(takes, !without.contains(&words.model.name), "{}", words.model.name);
        }
        use hedgerow_privacy::Model;
        assert!(
            !Model::KAnonymity { k: 2 }.takes_conditions() && Model::DistinctLDiversity { l: 2 }.takes_conditions()
        );
    }

    #[test]
    fn no_two_words_of_a_table_share_a_name() {
        let mut tables = vec![
            SECTIONS, SOURCE, FORMATS, ATTRIBUTE, COARSEN, ROLES, TYPES, HIERARCHY, DATE_UNITS, RULE, DISTANCES,
            PUBLISH,
        ];
        tables.push(KNOWN_ROWS);
        tables.extend([
            READINGS,
            CHANGES,
            METHODS,
            ANATOMY_ASSIGNMENTS,
            CLONE_ASSIGNMENTS,
            RARE,
            SUMMARIES,
            LABELS,
            ALGORITHMS,
            ANONYMIZERS,
            LOSSES,
            COMMUNITY,
            DEPENDENCY,
        ]);
        tables.extend(MODELS.iter().map(|model| model.keys));
        for table in tables {
            let mut names: Vec<String> = table.iter().flat_map(Word::spellings).map(folded).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{names:?}");
        }
    }

    #[test]
    fn names_shared_with_other_crates_are_spelled_the_same() {
        let names = |words: &[Word]| words.iter().map(|word| word.name).collect::<Vec<_>>();
        assert_eq!(names(TYPES), Kind::ALL.map(Kind::name));
        assert_eq!(names(DISTANCES), Distance::ALL.map(Distance::name));
        assert_eq!(names(READINGS), NumberCloseness::ALL.map(NumberCloseness::name));
        assert_eq!(names(CHANGES), Change::ALL.map(Change::name));
    }
}
