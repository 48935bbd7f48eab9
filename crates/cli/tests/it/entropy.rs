//! Non-uniform entropy as ARX counts it: its own tests on UCI Adult state the levels of the optimum
//! and the loss of single nodes, in bits over all cells.
//!
//! Ours is a share of what each attribute has to lose. Attributes weighted by their bits make both
//! the same sum, so that weights are held against ARX as well.

use hedgerow_policy::Policy;
use hedgerow_publish::Published;
use hedgerow_publish::bind::read_source;
use hedgerow_table::NoProgress;

use crate::examples::published_at;
use crate::running::example;

/// Quasi-identifiers with how many bits one `*` leaves open about all their cells.
fn bits(path: &str) -> Vec<(String, f64)> {
    let path = example(path);
    let policy = Policy::parse(&std::fs::read_to_string(&path).unwrap(), &path).unwrap();
    let table = read_source(&policy, &NoProgress).unwrap();
    let quasi = policy.attributes.iter().filter(|attribute| attribute.role == hedgerow_policy::Role::Quasi);
    let of_attribute = |name: &str| {
        let counts = table.column(name).unwrap().counts();
        let open = |&rows: &u64| rows as f64 * (table.rows as f64 / rows as f64).log2();
        counts.iter().filter(|rows| **rows > 0).map(open).sum::<f64>()
    };
    quasi.map(|attribute| (attribute.name.clone(), of_attribute(&attribute.name))).collect()
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
    let (published, bits) = in_bits(path, changes, &[]);
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
fn what_suppressed_rows_lose_is_what_arx_counts() {
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
