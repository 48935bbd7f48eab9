//! The loss of local recoding beside full-domain generalization: `ncp` for several k on Adult and
//! on a synthetic census.
//!
//! `cargo bench -p hedgerow-publish --bench local_loss -- [census rows]`

use std::path::Path;
use std::time::Instant;

use hedgerow_policy::{Loss, Method, Policy};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::local::{Local, recode};
use hedgerow_publish::loss::LossModel;
use hedgerow_publish::search::{Budget, FullDomain, search};
use hedgerow_table::{NoProgress, Table};

const KS: [u64; 6] = [2, 5, 10, 20, 50, 100];

fn main() {
    let rows: u64 = std::env::args().find_map(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/adult/policy.toml"));
    let adult = std::fs::read_to_string(path).expect("the example that ships with the project");
    compare("Adult", &adult, path);
    let folder = std::env::temp_dir().join(format!("local-loss-{}", std::process::id()));
    hedgerow_table::whole::fill_all(hedgerow_synth::example_files(&folder, rows, 1))
        .expect("a folder for temporary files");
    compare(&format!("census, {rows} rows"), &hedgerow_synth::census_policy(), &folder.join("policy.toml"));
    let _ = std::fs::remove_dir_all(&folder);
}

fn compare(title: &str, policy: &str, path: &Path) {
    let with_k = |k: u64| {
        let text: Vec<String> = policy
            .lines()
            .map(|line| match line.trim_start().starts_with("require") {
                true => format!("require = {{ model = \"k-anonymity\", k = {k} }}"),
                false => line.to_owned(),
            })
            .collect();
        Policy::parse(&text.join("\n"), path).unwrap_or_else(|errors| panic!("{errors}"))
    };
    let table = read_source(&with_k(2), &NoProgress).unwrap_or_else(|error| panic!("{error}"));
    println!(
        "{title}: ncp (and milliseconds)\n{:>5} {:>16} {:>16} {:>16} {:>16}",
        "k", "full-domain", "mondrian", "relaxed", "best-cut"
    );
    for k in KS {
        let policy = with_k(k);
        let bound = Bound::new(&policy, &table).unwrap_or_else(|error| panic!("{error}"));
        let local = |method, strict| {
            shown(|| {
                let judge = bound.judge().unwrap_or_else(|error| panic!("{error}"));
                recode(&bound, &judge, Local { method, strict, tight: false }, &NoProgress)
                    .unwrap_or_else(|error| panic!("{error}"))
                    .ncp()
            })
        };
        println!(
            "{k:>5} {} {} {} {}",
            shown(|| full_domain(&bound, &table)),
            local(Method::Mondrian, true),
            local(Method::Mondrian, false),
            local(Method::BestCut, true),
        );
    }
}

fn shown(run: impl FnOnce() -> f64) -> String {
    let started = Instant::now();
    let ncp = run();
    format!("{ncp:>8.3} {:>7.0}", started.elapsed().as_secs_f64() * 1e3)
}

/// The optimum with the share of suppressed rows that the policy allows.
fn full_domain(bound: &Bound<'_>, table: &Table) -> f64 {
    let judge = bound.judge().unwrap_or_else(|error| panic!("{error}"));
    let loss = LossModel::new(Loss::Ncp, &bound.loss_attributes(), table.rows as u64, bound.k());
    let outcome = search(FullDomain {
        columns: &bound.judged_codes(),
        rows: table.rows,
        counts: None,
        hierarchies: &bound.hierarchies(),
        judge: &judge,
        loss: &loss,
        measured: &[],
        budget: Budget::default(),
        candidates: false,
        units: None,
        consistent: None,
        progress: &NoProgress,
    });
    outcome.best.map_or(f64::NAN, |best| loss.loss(best.cost))
}
