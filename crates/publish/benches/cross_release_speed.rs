//! How long a search beside earlier releases takes, as in the experiments of Cheong, Wu and Wong
//! (2012): a census, five quasi attributes of four levels (the value, four labels, two, one), two
//! earlier releases over one or two other attributes each. `cargo bench -p hedgerow-publish --bench
//! cross_release_speed -- [rows]`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_privacy::models::{Community, EarlierRelease};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::community::EarlierReleases;
use hedgerow_publish::loss::LossModel;
use hedgerow_publish::search::{Budget, FullDomain, Outcome, search};
use hedgerow_table::read::{ReadOptions, read_csv_bytes};
use hedgerow_table::{NoProgress, Table};

const SENSITIVE: &str = "income";

fn main() {
    let rows = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench")
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(700_000);
    let folder = tempfile::tempdir().expect("a folder for hierarchies");
    let mut bytes = Vec::new();
    hedgerow_synth::census(rows, 1, &mut bytes).expect("written to memory");
    let table = read_csv_bytes(Path::new("census.csv"), &bytes, &ReadOptions::default()).expect("a good census");
    let mut names: Vec<String> = table.header.iter().filter(|name| *name != SENSITIVE).cloned().collect();
    for name in &names {
        std::fs::write(folder.path().join(format!("{name}.csv")), four_levels(&table, name)).expect("written");
    }
    // Those with most values go into the new release, which makes it the hard one.
    names.sort_by_key(|name| std::cmp::Reverse(table.column(name).map(|column| column.domain.cardinality())));
    for earlier in [2usize, 4] {
        let old = names[names.len() - earlier..].chunks(earlier / 2);
        let releases = old.map(|quasi| publish_earlier(&table, quasi, folder.path())).collect();
        let domain = &table.column(SENSITIVE).expect("it has it").domain;
        let vocabulary: Vec<String> = (0..domain.cardinality() as u32).map(|code| domain.text(code)).collect();
        let start = Instant::now();
        let community = Community::new(vocabulary, releases).expect("few classes");
        let seconds = start.elapsed().as_secs_f64();
        println!("{earlier} earlier attributes: {} minimal sets in {seconds:.4} s", community.minimal_sets());
        for l in [5u64, 10, 20, 30] {
            let model = || Some((Model::CrossReleaseLDiversity { l }, community.clone()));
            let (all, slow) = find(&table, &names[..5], folder.path(), model(), l, true);
            let (best, fast) = find(&table, &names[..5], folder.path(), model(), l, false);
            let levels = best.best.map(|best| best.levels);
            let candidates = all.candidates.unwrap_or_default();
            println!(
                "  l {l:>2}: {fast:.3} s for the best, levels {levels:?}; {slow:.3} s to count all {candidates} candidates"
            );
        }
    }
}

/// A hierarchy file: four labels, two, one, by rank.
fn four_levels(table: &Table, name: &str) -> String {
    let domain = &table.column(name).expect("from the header").domain;
    let count = domain.cardinality();
    let line = |code: usize| {
        let quarter = code * 4 / count;
        format!("{};quarter {quarter};half {};*\n", domain.text(code as u32), quarter / 2)
    };
    (0..count).map(line).collect()
}

fn policy(quasi: &[String], folder: &Path, l: u64) -> Policy {
    let attribute = |name: &String| format!("{name} = {{ role = \"quasi\", hierarchy = \"{name}.csv\" }}\n");
    let attributes: String = quasi.iter().map(attribute).collect();
    let text = format!(
        "[source]\npath = \"census.csv\"\n[attributes]\n{attributes}{SENSITIVE} = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \
         \"{SENSITIVE}\"\nrequire = {{ model = \"distinct-l-diversity\", l = {l} }}\n[publish]\nsuppression = 0.0\nloss = \"precision\"\n"
    );
    Policy::parse(&text, &folder.join("policy.toml")).expect("a good policy")
}

/// From coded columns to the best levels, and how long that took.
fn find(
    table: &Table,
    quasi: &[String],
    folder: &Path,
    model: Option<(Model, Community)>,
    l: u64,
    candidates: bool,
) -> (Outcome, f64) {
    let mut policy = policy(quasi, folder, l);
    let mut earlier = EarlierReleases::default();
    if let Some((model, community)) = model {
        policy.rules[0].require = vec![model];
        earlier.communities.insert(SENSITIVE.to_owned(), community.into());
    }
    let bound = Bound::with_earlier(&policy, table, earlier).expect("it fits");
    let start = Instant::now();
    let judge = bound.judge().expect("few attributes");
    let loss = LossModel::new(policy.publish.loss, &bound.loss_attributes(), table.rows as u64, 1);
    let outcome = search(FullDomain {
        columns: &bound.judged_codes(),
        rows: table.rows,
        hierarchies: &bound.hierarchies(),
        judge: &judge,
        loss: &loss,
        measured: &[],
        budget: Budget::default(),
        candidates,
        progress: &NoProgress,
    });
    (outcome, start.elapsed().as_secs_f64())
}

/// The least lossy release that is distinct 30-diverse, as the sets of its classes.
fn publish_earlier(table: &Table, quasi: &[String], folder: &Path) -> EarlierRelease {
    let best = find(table, quasi, folder, None, 30, false).0.best.expect("the top has all values");
    let policy = policy(quasi, folder, 30);
    let bound = Bound::new(&policy, table).expect("it fits");
    let sensitive = table.column(SENSITIVE).expect("it has it");
    let mut classes: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
    for row in 0..table.rows {
        let cells =
            bound.quasi.iter().zip(&best.levels).map(|(quasi, &level)| {
                quasi.hierarchy.levels()[level as usize].map[quasi.column.codes.get(row) as usize]
            });
        classes.entry(cells.collect()).or_default().insert(sensitive.codes.get(row));
    }
    let classes = classes.into_values().map(|values| (values.into_iter().collect(), String::new())).collect();
    EarlierRelease { name: quasi.join("+"), digest: String::new(), rows: table.rows as u64, classes }
}
