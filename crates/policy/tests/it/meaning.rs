//! Refusals of meaning: ranges, rules that protect nothing, hierarchies that contradict themselves,
//! what this version cannot do yet. One change to a good policy each, with the exact place of the
//! complaint and what its hint must offer.

use hedgerow_policy::{Policy, Role, Summary};

use crate::good::{GOOD, changed, line_refused, parse};

#[track_caller]
fn requirement_refused(require: &str, place: &str, problem: &str, hint: &str) {
    line_refused(13, &format!("require = {require}"), place, problem, hint);
}

#[track_caller]
fn hierarchy_refused(hierarchy: &str, place: &str, problem: &str, hint: &str) {
    let line = format!("age = {{ role = \"quasi\", hierarchy = {hierarchy} }}");
    line_refused(5, &line, &format!("5:{place}"), problem, hint);
}

#[track_caller]
fn accepted(text: &str) -> Policy {
    parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn parameters_out_of_range() {
    for k in ["0", "-1", "1e30", "2.5", "nan", "inf", "5.0"] {
        let problem = format!("must be a whole number of at least 1, found `{k}`");
        let require = format!("{{ k = {k}, model = \"k-anonymity\" }}");
        requirement_refused(&require, "13:17: rule[2].require.k", &problem, "for example `k = 5`");
    }
    for (model, key, bad) in [
        ("distinct-l-diversity", "l", &["0", "-3", "1.5", "nan"][..]),
        ("frequency-l-diversity", "l", &["0", "0.99", "-3", "nan", "inf"]),
        ("entropy-l-diversity", "l", &["0", "0.99", "-3", "-inf"]),
        ("t-closeness", "t", &["-0.1", "1.0001", "2", "nan", "inf", "-nan"]),
    ] {
        for value in bad {
            let require = format!("{{ {key} = {value}, model = \"{model}\" }}");
            let place = format!("13:17: rule[2].require.{key}");
            requirement_refused(&require, &place, &format!("found `{value}`"), &format!("for example `{key} = "));
        }
    }
    for (key, rest, bad) in [
        ("epsilon", "m = 2, model = \"epsilon-m-anonymity\"", &["-1", "-0.5", "nan", "inf"][..]),
        ("m", "epsilon = 2, model = \"epsilon-m-anonymity\"", &["0", "0.99", "-2", "nan", "inf"]),
        ("delta", "l = 2, model = \"delta-l-diversity\"", &["-1", "-7.5", "nan", "inf"]),
        ("l", "delta = 2, model = \"delta-l-diversity\"", &["0", "0.99", "-2", "nan"]),
    ] {
        for value in bad {
            let place = format!("13:{}: rule[2].require.{key}", 16 + key.len());
            let require = format!("{{ {key} = {value}, {rest} }}");
            requirement_refused(&require, &place, &format!("found `{value}`"), &format!("for example `{key} = "));
        }
    }
    for epsilon in ["-0.1", "1.0001", "nan"] {
        let require = format!("{{ epsilon = {epsilon}, model = \"epsilon-clone\" }}");
        requirement_refused(&require, "13:23: rule[2].require.epsilon", "must be a number from 0 to 1", "0.05");
    }
    for c in ["0", "0.0", "-1", "nan"] {
        let require = format!("{{ c = {c}, l = 2, model = \"recursive-l-diversity\" }}");
        requirement_refused(&require, "13:17: rule[2].require.c", "must be a number above 0", "c = 2.0");
    }
    for epsilon in ["1.5", "-0.1", "nan"] {
        let require = format!("{{ epsilon = {epsilon}, m = 2, relative = true, model = \"epsilon-m-anonymity\" }}");
        requirement_refused(&require, "13:23: rule[2].require.epsilon", "must be a number from 0 to 1", "epsilon = 10");
    }
    for share in ["0", "1.5", "-0.1", "nan"] {
        let require = format!("{{ prior = {share}, posterior = 1, model = \"rho-breach\" }}");
        requirement_refused(&require, "13:21: rule[2].require.prior", "must be a number above 0 and at most 1", "0.1");
        let require = format!("{{ posterior = {share}, prior = 0.1, model = \"rho-breach\" }}");
        requirement_refused(&require, "13:25: rule[2].require.posterior", "above 0 and at most 1", "0.5");
    }
    for prior in ["0.5", "0.75", "1"] {
        let require = format!("{{ posterior = 0.5, prior = {prior}, model = \"rho-breach\" }}");
        requirement_refused(&require, "13:25: rule[2].require.posterior", "`posterior` must exceed `prior`", "share");
    }
    for (b, distance) in [("1.5", "variation"), ("1.001", "largest"), ("-1", "relative"), ("nan", "divergence")] {
        let require = format!("{{ b = {b}, distance = \"{distance}\", model = \"belief-change\" }}");
        requirement_refused(&require, "13:17: rule[2].require.b", &format!("found `{b}`"), "for example `b = ");
    }
    for below in ["0", "-1", "2.5", "\"5\""] {
        let require = format!("{{ below = {below}, l = 2, model = \"distinct-l-diversity\" }}");
        requirement_refused(&require, "13:21: rule[2].require.below", "whole number", "below = 5");
    }
    for alpha in ["0", "1.1", "-0.5", "inf"] {
        let require = format!("{{ alpha = {alpha}, k = 2, model = \"alpha-k-anonymity\" }}");
        requirement_refused(&require, "13:21: rule[2].require.alpha", "must be a number above 0 and at most 1", "0.5");
    }
    for share in ["2", "-0.01", "1.00001", "nan", "inf"] {
        let line = format!("suppression = {share}");
        line_refused(16, &line, "16:15: publish.suppression", "must be a number from 0 to 1", "2 % is 0.02");
    }
    for seconds in ["0", "-5", "nan", "inf", "1000000001"] {
        let line = format!("max-seconds = {seconds}");
        line_refused(17, &line, "17:15: publish.max-seconds", "must be", "max-seconds = 60");
    }
    for nodes in ["0", "-5", "1e6"] {
        line_refused(17, &format!("max-nodes = {nodes}"), "17:13: publish.max-nodes", "whole number", "max-nodes = ");
    }
    for share in ["1e-30", "0.12345678901234567"] {
        let line = format!("suppression = {share}");
        line_refused(16, &line, "16:15: publish.suppression", "more digits", "15 digits are always possible");
    }
}

#[test]
fn parameters_at_the_ends_of_their_ranges() {
    for line in
        ["suppression = 0", "suppression = 1", "suppression = 1.0", "suppression = 1e-18", "max-seconds = 0.001"]
    {
        accepted(&changed(16, line));
    }
    for require in [
        "{ model = \"k-anonymity\", k = 1 }",
        "{ model = \"k-anonymity\", k = 9223372036854775807 }",
        "{ model = \"frequency-l-diversity\", l = 1.0 }",
        "{ model = \"entropy-l-diversity\", l = 2.5 }",
        "{ model = \"recursive-l-diversity\", c = 0.001, l = 1 }",
        "{ model = \"t-closeness\", t = 0, distance = \"ordered\" }",
        "{ model = \"t-closeness\", t = 1 }",
        "{ model = \"epsilon-m-anonymity\", epsilon = 0, m = 1 }",
        "{ model = \"epsilon-m-anonymity\", epsilon = 1, m = 2.5, relative = true }",
        "{ model = \"epsilon-m-anonymity\", epsilon = 1e17, m = 2.5, relative = false }",
        "{ model = \"epsilon-clone\", epsilon = 0 }",
        "{ model = \"delta-l-diversity\", delta = 0, l = 1.0, reading = \"window\" }",
        "{ model = \"delta-l-diversity\", delta = 7.5, l = 2, reading = \"pairwise\" }",
        "{ model = \"alpha-k-anonymity\", alpha = 1, k = 1, values = [\"HIV\", 3] }",
        "{ model = \"rho-breach\", prior = 0.001, posterior = 1 }",
        "{ model = \"belief-change\", b = 0 }",
        "{ model = \"belief-change\", b = 7.5, distance = \"relative\", values = [\"HIV\", 3] }",
        "{ model = \"recursive-l-diversity\", c = 2, l = 2, below = 1, having = [\"HIV\", 3] }",
    ] {
        accepted(&changed(13, &format!("require = {require}")));
    }
}

#[test]
fn models_by_name_and_their_missing_parameters() {
    requirement_refused(
        "{ model = \"k-anonimity\", k = 2 }",
        "13:21: rule[2].require.model",
        "unknown model",
        "`k-anonymity`?",
    );
    requirement_refused(
        "{ model = \"l-diversity\", l = 2 }",
        "13:21: rule[2].require.model",
        "unknown model",
        "known: `k-anonymity`, `distinct-l-diversity`",
    );
    requirement_refused("{ model = 3 }", "13:21: rule[2].require.model", "expected a text", "model = ");
    requirement_refused("{ model = \"t-closeness\" }", "13:1: rule[2].require.t", "`t` is missing", "t = 0.3");
    requirement_refused(
        "{ model = \"recursive-l-diversity\", l = 2 }",
        "13:1: rule[2].require.c",
        "`c` is missing",
        "c = 2.0",
    );
    requirement_refused(
        "{ model = \"recursive-l-diversity\", c = 2 }",
        "13:1: rule[2].require.l",
        "`l` is missing",
        "l = 3",
    );
    requirement_refused(
        "[{ model = \"alpha-k-anonymity\", k = 2 }]",
        "13:12: rule[2].require[1].alpha",
        "`alpha` is missing",
        "alpha",
    );
    requirement_refused(
        "{ model = \"t-closeness\", t = 0.1, distance = \"numeric\" }",
        "13:56: rule[2].require.distance",
        "unknown distance `numeric`",
        "did you mean `ordered`?",
    );
    requirement_refused(
        "{ model = \"t-closeness\", t = 0.1, distance = \"hierarchical\" }",
        "12:11: rule[2].protect",
        "`disease` has none",
        "hierarchy = \"FILE.csv\"",
    );
    requirement_refused(
        "{ model = \"epsilon-m-anonymity\", m = 2 }",
        "13:1: rule[2].require.epsilon",
        "`epsilon` is missing",
        "epsilon = 10",
    );
    requirement_refused(
        "{ model = \"delta-l-diversity\", delta = 2 }",
        "13:1: rule[2].require.l",
        "`l` is missing",
        "l = 3",
    );
    requirement_refused(
        "{ relative = \"yes\", model = \"epsilon-m-anonymity\", epsilon = 1, m = 2 }",
        "13:24: rule[2].require.relative",
        "expected true or false, found a text",
        "relative = true",
    );
    requirement_refused(
        "{ reading = \"windows\", model = \"delta-l-diversity\", delta = 1, l = 2 }",
        "13:23: rule[2].require.reading",
        "unknown reading `windows`",
        "did you mean `window`?",
    );
    for model in ["k-anonymity\", k = 2", "epsilon-clone\", epsilon = 0.1"] {
        let require = format!("{{ below = 5, model = \"{model} }}");
        requirement_refused(&require, "13:13: rule[2].require.below", "unknown key", "known here: `model` and");
    }
    let having = |values: &str| format!("{{ having = {values}, model = \"t-closeness\", t = 0.1 }}");
    requirement_refused(&having("[]"), "13:22: rule[2].require.having", "empty", "having = [");
    requirement_refused(&having("\"HIV\""), "13:22: rule[2].require.having", "list", "having = [");
    requirement_refused(
        "{ distance = \"kl\", model = \"belief-change\", b = 0.1 }",
        "13:24: rule[2].require.distance",
        "unknown distance `kl`",
        "did you mean `divergence`?",
    );
    let alpha = |values: &str| format!("{{ model = \"alpha-k-anonymity\", alpha = 0.5, k = 2, values = {values} }}");
    requirement_refused(&alpha("[]"), "13:71: rule[2].require.values", "empty", "values = [");
    requirement_refused(&alpha("[\"a\", \"a\"]"), "13:77: rule[2].require.values[2]", "`a` is listed twice", "once");
    requirement_refused(&alpha("[1.5]"), "13:72: rule[2].require.values[1]", "expected a text", "in quotes");
}

#[test]
fn rules_about_known_values() {
    let rule = |only: &str| format!("protect = \"disease\"\nwhere = {only}");
    let policy = accepted(&changed(12, &rule("{ age = [40, \"41\"], zip = [\"02138\"] }")));
    let named = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let expected = [("age".to_owned(), named(&["40", "41"])), ("zip".to_owned(), named(&["02138"]))];
    assert_eq!(policy.rules[1].only_where, expected.into());
    assert!(policy.rules[0].only_where.is_empty());
    line_refused(12, &rule("[\"age\"]"), "13:9: rule[2].where", "expected a table", "where = { county");
    line_refused(12, &rule("{}"), "13:9: rule[2].where", "no attribute", "where = { county");
    line_refused(12, &rule("{ age = [] }"), "13:17: rule[2].where.age", "the list is empty", "where = { county");
    line_refused(12, &rule("{ age = \"40\" }"), "13:17: rule[2].where.age", "list", "where = { county");
    line_refused(12, &rule("{ age = [\"a\", \"a\"] }"), "13:23: rule[2].where.age[2]", "listed twice", "once");
    let known = "is not among what the attacker of this rule knows";
    line_refused(12, &rule("{ ward = [\"a\"] }"), "13:11: rule[2].where.ward", known, "add `ward` to `know`");
    line_refused(12, &rule("{ disease = [\"a\"] }"), "13:11: rule[2].where.disease", known, "add `disease` to `know`");
    let require = "require = { model = \"epsilon-clone\", epsilon = 0.1 }\nwhere = { age = [40] }";
    line_refused(13, require, "14:1: rule[2].where", "is about all classes together", "remove `where`");
}

#[test]
fn rules_about_attributes() {
    let know = |list: &str| format!("protect = \"disease\"\nknow = {list}");
    line_refused(12, "", "11:1: rule[2]", "`t-closeness` needs `protect`", "protect = \"disease\"");
    line_refused(
        12,
        "protect = \"diseas\"",
        "12:11: rule[2].protect",
        "unknown attribute `diseas`",
        "did you mean `disease`?",
    );
    line_refused(12, "protect = \"salary\"", "12:11: rule[2].protect", "unknown attribute", "`name`, `age`, `zip`");
    let some_values = "protect = { disease = [\"flu\"] }";
    line_refused(12, some_values, "12:11: rule[2].protect", "expected a text in quotes, found a table", "`having = [");
    line_refused(12, "protect = \"name\"", "12:11: rule[2].protect", "is an identifier", "`sensitive` or `plain`");
    line_refused(
        12,
        "protect = \"age\"",
        "12:11: rule[2].protect",
        "has the role `quasi`",
        "give `age` the role `sensitive`",
    );
    line_refused(12, &know("[]"), "13:8: rule[2].know", "the list is empty", "every quasi-identifier");
    line_refused(12, &know("[\"agee\"]"), "13:9: rule[2].know[1]", "unknown attribute `agee`", "did you mean `age`?");
    line_refused(12, &know("[\"age\", \"name\"]"), "13:16: rule[2].know[2]", "is an identifier", "role `quasi`");
    line_refused(12, &know("[\"age\", \"zip\", \"age\"]"), "13:23: rule[2].know[3]", "`age` is listed twice", "once");
    line_refused(
        12,
        &know("[\"age\", \"disease\"]"),
        "13:16: rule[2].know[2]",
        "known and protected",
        "remove it from `know`",
    );
    accepted(&changed(12, &know("[\"age\", \"ward\"]")));
    accepted(&changed(12, "protect = \"ward\"\nknow = [\"disease\"]"));
    accepted(&changed(10, "protect = \"disease\"\nrequire = { model = \"k-anonymity\", k = 5 }"));
}

#[test]
fn roles_and_types() {
    line_refused(
        8,
        "ward = { role = \"plane\" }",
        "8:17: attributes.ward.role",
        "unknown role `plane`",
        "did you mean `plain`?",
    );
    line_refused(
        8,
        "ward = { role = \"insensitive\" }",
        "8:17: attributes.ward.role",
        "unknown role",
        "did you mean `plain`?",
    );
    line_refused(
        8,
        "ward = { role = \"?\" }",
        "8:17: attributes.ward.role",
        "unknown role",
        "known: `identifier`, `quasi`",
    );
    line_refused(
        8,
        "ward = { role = \"plain\", type = \"string\" }",
        "8:33: attributes.ward.type",
        "unknown type",
        "`category`",
    );
    line_refused(
        8,
        "capital.gain = { role = \"plain\" }",
        "8:1: attributes.capital",
        "another table",
        "\"capital.gain\"",
    );
    let none = GOOD.replace("\"quasi\"", "\"sensitive\"");
    crate::good::refused(&none, "3:2: attributes", "no attribute has the role `quasi`", "role `quasi`");
}

#[test]
fn hierarchies_that_contradict_themselves() {
    for role in ["identifier", "plain"] {
        let line = format!("ward = {{ hierarchy = \"w.csv\", role = \"{role}\" }}");
        line_refused(8, &line, "8:10: attributes.ward.hierarchy", "has no use for a hierarchy", "remove the hierarchy");
    }
    accepted(&changed(7, "disease = { role = \"sensitive\", hierarchy = \"d.csv\" }"));
    let ways = "expected exactly one of `widths`, `mask`, `breaks`, `dates` and `file`";
    hierarchy_refused("{}", "25: attributes.age.hierarchy", &format!("{ways}, found none"), "widths");
    hierarchy_refused(
        "{ mask = 2, widths = [1] }",
        "25: attributes.age.hierarchy",
        &format!("{ways}, found 2"),
        "widths",
    );
    hierarchy_refused("\"\"", "37: attributes.age.hierarchy", "names no file", "hierarchy");
    hierarchy_refused("{ file = 1 }", "46: attributes.age.hierarchy.file", "expected a text", "education.csv");
    hierarchy_refused("{ mask = 0 }", "46: attributes.age.hierarchy.mask", "from 1 to 100, found `0`", "mask = 5");
    hierarchy_refused("{ mask = 101 }", "46: attributes.age.hierarchy.mask", "from 1 to 100", "mask = 5");
    hierarchy_refused("{ widths = [] }", "48: attributes.age.hierarchy.widths", "the list is empty", "widths = [5");
    hierarchy_refused("{ widths = [5, 0] }", "52: attributes.age.hierarchy.widths[2]", "above 0", "widths");
    hierarchy_refused("{ widths = [5, nan] }", "52: attributes.age.hierarchy.widths[2]", "above 0", "widths");
    hierarchy_refused(
        "{ widths = [5, 12] }",
        "52: attributes.age.hierarchy.widths[2]",
        "12 is not a multiple of the width before it, 5",
        "join whole intervals",
    );
    hierarchy_refused("{ widths = [5, 5] }", "52: attributes.age.hierarchy.widths[2]", "not a multiple", "join");
    hierarchy_refused(
        "{ dates = [\"year\", \"month\"] }",
        "56: attributes.age.hierarchy.dates[2]",
        "`month` is not coarser than `year`",
        "finest first",
    );
    hierarchy_refused("{ dates = [\"mont\"] }", "48: attributes.age.hierarchy.dates[1]", "unknown unit", "`month`");
    hierarchy_refused("{ breaks = [] }", "48: attributes.age.hierarchy.breaks", "the list is empty", "breaks = ");
    hierarchy_refused("{ breaks = [[]] }", "49: attributes.age.hierarchy.breaks[1]", "without cut points", "top level");
    hierarchy_refused("{ breaks = [3, 2] }", "52: attributes.age.hierarchy.breaks[2]", "2 is not above 3", "ascending");
    hierarchy_refused(
        "{ breaks = [[1, 2], 3] }",
        "57: attributes.age.hierarchy.breaks[2]",
        "a list in brackets",
        "breaks",
    );
    hierarchy_refused(
        "{ breaks = [[1, 3], [2]] }",
        "58: attributes.age.hierarchy.breaks[2][1]",
        "level 2 cuts at 2, which level 1 does not",
        "among those",
    );
    hierarchy_refused(
        "{ breaks = [1, \"2000-01-01\"] }",
        "52: attributes.age.hierarchy.breaks[2]",
        "mixed",
        "the one or the other",
    );
    hierarchy_refused(
        "{ breaks = [\"2000-02-30\"] }",
        "49: attributes.age.hierarchy.breaks[1]",
        "found `2000-02-30`",
        "breaks",
    );
    hierarchy_refused(
        "{ breaks = [2000-01-01T00:00:00] }",
        "49: attributes.age.hierarchy.breaks[1]",
        "such as 2000-01-01",
        "breaks",
    );
    hierarchy_refused("{ breaks = [inf] }", "49: attributes.age.hierarchy.breaks[1]", "expected a number", "breaks");
    hierarchy_refused(
        "{ breaks = [0.5, 9007199254740993] }",
        "54: attributes.age.hierarchy.breaks[2]",
        "too large",
        "whole",
    );
    hierarchy_refused(
        "{ widths = [5] }, type = \"category\"",
        "39: attributes.age.hierarchy.widths",
        "generalizes numbers, but the attribute's type is `category`",
        "`type`",
    );
    hierarchy_refused(
        "{ dates = [\"year\"] }, type = \"integer\"",
        "39: attributes.age.hierarchy.dates",
        "generalizes dates",
        "`type`",
    );
    hierarchy_refused(
        "{ breaks = [2000-01-01] }, type = \"float\"",
        "39: attributes.age.hierarchy.breaks",
        "generalizes dates",
        "`type`",
    );
}

#[test]
fn what_this_version_cannot_do() {
    line_refused(
        15,
        "method = \"full_domain\"",
        "15:10: publish.method",
        "unknown method",
        "did you mean `full-domain`?",
    );
    line_refused(
        15,
        "strict = true",
        "15:1: publish.strict",
        "no meaning for the method full-domain",
        "`method = \"mondrian\"`",
    );
    line_refused(
        15,
        "summarise = \"tight\"",
        "15:1: publish.summarise",
        "no meaning for the method full-domain",
        "`mondrian`",
    );
    line_refused(
        15,
        "algorithm = \"uad\"",
        "15:1: publish.algorithm",
        "no meaning for the method",
        "`method = \"decompose\"`",
    );
    for key in ["table", "query"] {
        let lines = format!("path = \"a.csv\"\n{key} = \"x\"");
        line_refused(2, &lines, &format!("3:1: source.{key}"), "means nothing without `url`", "`url`");
    }
    line_refused(17, "loss = \"surprise\"", "17:8: publish.loss", "unknown loss", "known: `ncp`, `precision`");
    accepted(&changed(17, "loss = \"entropy\""));
    line_refused(2, "url = \"people.db\"", "2:7: source.url", "not the address of a database", "`sqlite:`");
    let both = "url = \"sqlite:people.db\"\npath = \"a.csv\"";
    line_refused(2, both, "3:1: source.path", "means nothing beside `url`", "remove one");
    let both = "url = \"sqlite:people.db\"\ntable = \"a\"\nquery = \"select 1\"";
    line_refused(2, both, "4:1: source.query", "means nothing beside `table`", "remove one");
    accepted(&changed(2, "url = \"sqlite:people.db\"\ntable = \"a\""));
    line_refused(2, "engine = \"host\"\ntable = \"a\"", "2:10: source.engine", "not the address of a Spark", "sc://");
    let both = "engine = \"sc://host\"\nurl = \"sqlite:people.db\"";
    line_refused(2, both, "3:1: source.url", "means nothing beside `engine`", "remove one");
    let both = "engine = \"sc://host\"\ntable = \"a\"\npath = \"a.csv\"";
    line_refused(2, both, "4:1: source.path", "means nothing beside `table` and `query`", "remove one");
    line_refused(2, "engine = \"sc://host\"", "1:2: source.path", "`path` is missing", "name the file");
    accepted(&changed(2, "engine = \"sc://host:15002\"\nquery = \"select 1\""));
    accepted(&changed(17, "[community]\nreleases = [\"../neighbor/release\"]"));
    accepted(&changed(17, "[community]\nreleases = []"));
    line_refused(
        17,
        "[community]\nreleases = [\" \"]",
        "18:13: community.releases[1]",
        "names no release",
        "directories",
    );
    requirement_refused(
        "{ model = \"cross-release-l-diversity\", l = 2 }",
        "13:1: rule[2].require",
        "no release to compare with",
        "name what is already published",
    );
}

#[test]
fn how_the_source_is_read() {
    let with = |line: &str| format!("path = \"patients.csv\"\n{line}");
    line_refused(2, &with("delimiter = \"ab\""), "3:13: source.delimiter", "one ASCII character", "delimiter = ");
    line_refused(2, &with("delimiter = \"é\""), "3:13: source.delimiter", "one ASCII character", "delimiter = ");
    line_refused(2, &with("delimiter = \"\""), "3:13: source.delimiter", "one ASCII character", "delimiter = ");
    line_refused(2, &with("delimiter = \"a\""), "3:13: source.delimiter", "cannot separate", "delimiter = ");
    line_refused(2, &with("quote = \"\\n\""), "3:9: source.quote", "one ASCII character", "quote = ");
    line_refused(2, &with("delimiter = \"|\"\nquote = \"|\""), "4:9: source.quote", "same character", "differ");
    line_refused(2, &with("format = \"json\""), "3:10: source.format", "unknown format", "did you mean `ndjson`?");
    line_refused(
        2,
        &with("format = \"parquet\"\nquote = \"'\""),
        "4:1: source.quote",
        "means nothing for parquet",
        "remove",
    );
    line_refused(2, "path = \"a.ndjson.gz\"\ndelimiter = \";\"", "3:1: source.delimiter", "means nothing", "remove");
    accepted(&changed(2, "path = \"a.parquet\"\nformat = \"csv\"\ndelimiter = \"\\t\""));
}

#[test]
fn limits() {
    let attributes: String = (0..5000).map(|n| format!("a{n} = {{ role = \"plain\" }}\n")).collect();
    line_refused(8, &attributes, "3:2: attributes", "at most 4096", "omit");
    let rules = "[[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n".repeat(300);
    line_refused(17, &rules, "9:3: rule", "at most 256", "join rules");
    let widths: Vec<String> = (0..60).map(|n| (1u64 << n).to_string()).chain((0..60).map(|_| "1".into())).collect();
    hierarchy_refused(
        &format!("{{ widths = [{}] }}", widths.join(",")),
        "48: attributes.age.hierarchy.widths",
        "at most 100",
        "",
    );
    let unknown: String = (0..200).map(|n| format!("key{n} = 1\n")).collect();
    let errors = parse(&changed(17, &unknown)).unwrap_err();
    assert_eq!(errors.len(), 50);
    assert!(errors.to_string().ends_with("… and 150 more"), "{errors}");
    let errors = parse(&"#".repeat((1 << 20) + 1)).unwrap_err();
    assert!(errors.to_string().starts_with("error: policy.toml: larger than 1 MiB"), "{errors}");
}

/// None of these may take time that grows with the square of the file.
#[test]
fn files_as_large_as_allowed() {
    const ROOM: usize = 1_000_000;
    let filled = |piece: fn(usize) -> String, room: usize| {
        let mut text = String::new();
        (0..)
            .map(piece)
            .take_while(|piece| {
                text.push_str(piece);
                text.len() < room
            })
            .for_each(drop);
        text
    };
    let attributes = filled(|n| format!("a{n}={{role=\"plain\"}},"), 80_000);
    let names = filled(|n| format!("\"b{n}\","), ROOM - 200_000);
    let inline = GOOD.split_once("[[rule]]").unwrap().1;
    let text = format!(
        "source = {{ path = \"a.csv\" }}\nattributes = {{ {attributes} q = {{ role = \"quasi\" }} }}\n[[rule]]\nknow = [{names}]{inline}"
    );
    assert!(parse(&text).unwrap_err().len() == 50, "unknown names");
    let breaks = filled(|n| format!("{n},"), ROOM / 2);
    accepted(&changed(
        5,
        &format!("age = {{ role = \"quasi\", hierarchy = {{ breaks = [[{breaks}], [{breaks}]] }} }}"),
    ));
    accepted(&format!("{GOOD}{}", "\n".repeat(ROOM)));
    let long = "x".repeat(ROOM / 2);
    line_refused(
        8,
        &format!("{long} = {{ role = \"plain\", {long} = 1 }}").replacen(&long, "ward", 1),
        &format!("8:26: attributes.ward.\"{}…\"", "x".repeat(60)),
        "unknown key",
        "known here",
    );
}

#[test]
fn independent_errors_are_reported_together_in_the_order_of_the_file() {
    let text = GOOD
        .replace("mask = 5", "mask = \"5\"")
        .replace("k = 5", "k = 0")
        .replace("protect = \"disease\"", "protect = \"diseases\"")
        .replace("\"full-domain\"", "\"full-domian\"")
        .replace("suppression", "supression");
    let errors = parse(&text).unwrap_err();
    let lines: Vec<usize> = errors.iter().map(|error| error.position.unwrap().line).collect();
    assert_eq!(lines, [6, 10, 12, 15, 16], "{errors}");
}

#[test]
fn other_spellings_mean_the_same() {
    for role in ["quasi", "quasi-identifier", "qi"] {
        let policy = accepted(&changed(6, &format!("zip = {{ role = {role:?} }}")));
        assert_eq!(policy.attribute("zip").unwrap().role, Role::Quasi, "{role}");
    }
    line_refused(6, "zip = { role = \"qid\" }", "6:16: attributes.zip.role", "unknown role", "did you mean `quasi`?");
    for key in ["summarise", "summarize"] {
        let policy =
            accepted(&changed(15, &format!("method = \"mondrian\"\n{key} = \"tight\"")).replace("loss = \"ncp\"", ""));
        assert_eq!(policy.publish.summarise, Summary::Tight, "{key}");
    }
    let both = "method = \"mondrian\"\nsummarise = \"tight\"\nsummarize = \"tight\"";
    line_refused(15, both, "17:1: publish.summarize", "means the same as `summarise`", "keep one");
}
