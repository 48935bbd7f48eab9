//! Non-uniform entropy as ARX counts it: its own tests on UCI Adult state the levels of the optimum
//! and the loss of single nodes, in bits over all cells.
//!
//! `entropy-bits` is that sum. `entropy` is a share of what each attribute has to lose: attributes
//! weighted by their bits make both the same, so that weights are compared with ARX as well.

use std::collections::BTreeMap;

use hedgerow_policy::Policy;
use hedgerow_publish::Published;
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::explore::explore;
use hedgerow_table::NoProgress;

use crate::examples::{changed, published_at};
use crate::running::example;

/// Every quasi-identifier with how many bits each of its levels leaves open about all its cells,
/// counted from the files: the last level is one `*`.
fn bits_of_levels(path: &str) -> Vec<(String, Vec<f64>)> {
    let path = example(path);
    let policy = Policy::parse(&std::fs::read_to_string(&path).unwrap(), &path).unwrap();
    let table = read_source(&policy, &NoProgress).unwrap();
    let quasi = policy.attributes.iter().filter(|attribute| attribute.role == hedgerow_policy::Role::Quasi);
    let of_attribute = |name: &str| {
        let text = std::fs::read_to_string(example(&format!("adult/hierarchies/{name}.csv"))).unwrap();
        let labels: BTreeMap<&str, Vec<&str>> =
            text.lines().map(|line| (line.split(';').next().unwrap(), line.split(';').collect())).collect();
        let column = table.column(name).unwrap();
        let counts: Vec<(String, f64)> = (0..)
            .map(|code| column.domain.text(code))
            .zip(column.counts())
            .map(|(value, rows)| (value.to_string(), rows as f64))
            .collect();
        let levels = labels.values().next().unwrap().len();
        let open = |level: usize| {
            let mut covered: BTreeMap<&str, f64> = BTreeMap::new();
            for (value, rows) in &counts {
                *covered.entry(labels[value.as_str()][level]).or_default() += rows;
            }
            counts.iter().map(|(value, rows)| rows * (covered[labels[value.as_str()][level]] / rows).log2()).sum()
        };
        (0..levels).map(open).collect()
    };
    quasi.map(|attribute| (attribute.name.clone(), of_attribute(&attribute.name))).collect()
}

/// Quasi-identifiers with how many bits one `*` leaves open about all their cells.
fn bits(path: &str) -> Vec<(String, f64)> {
    bits_of_levels(path).into_iter().map(|(name, levels)| (name, *levels.last().unwrap())).collect()
}

/// The release, and its loss in bits.
fn in_bits(path: &str, changes: &[(&str, &str)], levels: &[u64]) -> (Published, f64) {
    let bits = bits(path);
    let weights: Vec<String> = bits.iter().map(|(name, bits)| format!("{name} = {bits:.6}")).collect();
    let loss = format!("loss = \"entropy\"\nweights = {{ {} }}", weights.join(", "));
    let changes: Vec<(&str, &str)> =
        changes.iter().copied().chain([("loss = \"granularity\"", loss.as_str())]).collect();
    let levels = bits.iter().zip(levels).map(|((name, _), &level)| (name.clone(), level)).collect();
    let published = published_at(path, &changes, levels);
    let share = published.losses["weighted"].as_f64().unwrap();
    let all: f64 = bits.iter().map(|(_, bits)| bits).sum();
    (published, share * all)
}

#[track_caller]
fn optimum(path: &str, changes: &[(&str, &str)], loss: f64, levels: &[usize]) {
    let own = [changes, &[("loss = \"granularity\"", "loss = \"entropy-bits\"")]].concat();
    let published = published_at(path, &own, Vec::new());
    let bits = published.losses["entropy-bits"].as_f64().unwrap();
    is_optimum(&published, bits, loss, levels);
    let (published, bits) = in_bits(path, changes, &[]);
    is_optimum(&published, bits, loss, levels);
}

#[track_caller]
fn is_optimum(published: &Published, bits: f64, loss: f64, levels: &[usize]) {
    let searched = published.searched.as_ref().unwrap();
    assert!(searched.proven);
    let found: Vec<usize> = searched.levels.iter().map(|(_, level, _)| *level).collect();
    assert_eq!(found, levels, "{bits} bits instead of {loss}");
    assert!((bits - loss).abs() < 0.01, "{bits} bits instead of {loss}");
}

const KEEP_ALL: (&str, &str) = ("suppression = 0.02", "suppression = 0.0");
const FOUR_PERCENT: (&str, &str) = ("suppression = 0.02", "suppression = 0.04");
const DISTINCT: &str = "{ model = \"distinct-l-diversity\", l = 3 }";

#[test]
fn adult_under_k_anonymity() {
    let k = "k = 5";
    optimum("adult/policy.toml", &[KEEP_ALL], 407_289.538_892_529_3, &[1, 2, 1, 1, 3, 2, 2, 1, 1]);
    optimum("adult/policy.toml", &[KEEP_ALL, (k, "k = 100")], 453_196.893_245_874_3, &[0, 4, 1, 1, 3, 2, 2, 1, 1]);
}

/// With other quasi-identifiers the optimum is another one: the same rule without occupations has
/// the levels that it has in ARX under l-diversity, and without salaries ages of ten years. The
/// bits were also counted by a program that tries all nodes.
#[test]
fn adult_under_k_anonymity_with_fewer_quasi_identifiers() {
    let k = (DISTINCT, "{ model = \"k-anonymity\", k = 5 }");
    let levels = [1, 1, 1, 1, 3, 2, 2, 1];
    optimum("adult/policy-l.toml", &[KEEP_ALL, k, ("protect = \"occupation\"", "")], 324_620.526_991_869_5, &levels);
    let salary = "salary-class = { role = \"quasi\", hierarchy = \"hierarchies/salary-class.csv\" }";
    let own = [KEEP_ALL, (salary, ""), ("loss = \"granularity\"", "loss = \"entropy-bits\"")];
    let published = published_at("adult/policy.toml", &own, Vec::new());
    let bits = published.losses["entropy-bits"].as_f64().unwrap();
    is_optimum(&published, bits, 382_871.414_238_747_5, &[1, 2, 1, 1, 3, 2, 2, 1]);
}

#[test]
fn adult_under_l_diversity_with_and_without_suppression() {
    let entropy = (DISTINCT, "{ model = \"entropy-l-diversity\", l = 5 }");
    optimum("adult/policy-l.toml", &[KEEP_ALL, entropy], 324_620.526_991_869_5, &[1, 1, 1, 1, 3, 2, 2, 1]);
    optimum("adult/policy-l.toml", &[FOUR_PERCENT, entropy], 228_878.203_910_951_9, &[1, 0, 1, 1, 2, 2, 2, 1]);
    let recursive = (DISTINCT, "{ model = \"recursive-l-diversity\", c = 4, l = 5 }");
    optimum("adult/policy-l.toml", &[KEEP_ALL, recursive], 324_620.526_991_869_5, &[1, 1, 1, 1, 3, 2, 2, 1]);
}

#[test]
fn adult_under_t_closeness() {
    let by_tree = ("distance = \"equal\"", "distance = \"hierarchical\"");
    let occupation =
        ("{ role = \"sensitive\" }", "{ role = \"sensitive\", hierarchy = \"hierarchies/occupation.csv\" }");
    optimum("adult/policy-t.toml", &[by_tree, occupation], 398_400.074_180_644_7, &[0, 4, 1, 1, 3, 2, 2, 1]);
}

/// Nodes that suppress up to half of all rows, with classes that are not kept under k and l.
#[test]
fn suppressed_rows_lose_as_much_as_in_arx() {
    let most = ("suppression = 0.02", "suppression = 0.9");
    let k = (DISTINCT, "{ model = \"k-anonymity\", k = 5 }");
    let recursive = (DISTINCT, "{ model = \"recursive-l-diversity\", c = 4, l = 5 }");
    for (rule, levels, loss) in [
        (k, [0, 0, 0, 0, 0, 0, 0, 0], 268_778.224_719_398_25),
        (k, [0, 1, 0, 1, 0, 1, 0, 1], 206_422.970_003_640_92),
        (k, [1, 0, 0, 1, 2, 2, 0, 1], 198_394.085_006_231_2),
        (k, [0, 1, 0, 0, 1, 2, 2, 1], 213_938.970_715_055_5),
        (k, [1, 3, 1, 2, 1, 2, 0, 1], 315_247.228_170_622),
        (recursive, [0, 0, 0, 0, 0, 0, 0, 0], 335_625.275_311_076_84),
        (recursive, [1, 0, 0, 1, 0, 1, 1, 0], 269_022.156_110_434_44),
        (recursive, [0, 4, 0, 1, 1, 1, 2, 0], 304_474.209_407_009_77),
        (recursive, [0, 0, 1, 2, 3, 2, 2, 0], 237_792.272_541_911_2),
    ] {
        let (published, bits) = in_bits("adult/policy-l.toml", &[most, rule], &levels);
        assert!(published.rows.suppressed > 0, "{levels:?}");
        assert!((bits - loss).abs() < 0.01, "{levels:?} with {rule:?}: {bits} bits instead of {loss}");
    }
}

/// ARX's tests under k-anonymity and t-closeness with suppression minimize the variant that leaves
/// suppressed rows out of the sum. Of the nodes that hold here, the least by that sum is ARX's.
#[test]
fn without_what_suppressed_rows_lose_the_least_node_is_that_of_arx() {
    let by_tree = ("distance = \"equal\"", "distance = \"hierarchical\"");
    let occupation =
        ("{ role = \"sensitive\" }", "{ role = \"sensitive\", hierarchy = \"hierarchies/occupation.csv\" }");
    let from_none = ("suppression = 0.0", "suppression = 0.04");
    let (five, hundred) = (("k = 5", "k = 5"), ("k = 5", "k = 100"));
    for (path, changes, loss, levels) in [
        ("adult/policy.toml", vec![FOUR_PERCENT, five], 255_559.854_557_310_67, &[1, 0, 1, 1, 3, 2, 2, 0, 1][..]),
        ("adult/policy.toml", vec![FOUR_PERCENT, hundred], 379_417.346_057_098_8, &[1, 1, 1, 1, 3, 2, 2, 1, 1]),
        (
            "adult/policy-t.toml",
            vec![from_none, by_tree, occupation, five],
            377_622.784_587_293_05,
            &[1, 4, 0, 0, 3, 2, 2, 1],
        ),
        (
            "adult/policy-t.toml",
            vec![from_none, by_tree, occupation, hundred],
            390_765.613_260_198_15,
            &[1, 4, 1, 0, 3, 1, 2, 1],
        ),
    ] {
        let policy = changed(path, &changes);
        let table = read_source(&policy, &NoProgress).unwrap();
        let found = explore(&Bound::new(&policy, &table).unwrap(), &NoProgress).unwrap();
        let bits = bits_of_levels(path);
        let sum = |levels: &[u8]| bits.iter().zip(levels).map(|((_, bits), &level)| bits[level as usize]).sum::<f64>();
        let least = found.holding.iter().min_by(|one, other| sum(&one.levels).total_cmp(&sum(&other.levels))).unwrap();
        assert!(least.suppressed > 0, "{path}");
        assert_eq!(least.levels, levels, "{path}: {} bits instead of {loss}", sum(&least.levels));
        assert!((sum(&least.levels) - loss).abs() < 0.01, "{path}: {} bits instead of {loss}", sum(&least.levels));
    }
}
