//! How long the full-domain search takes under guarantees about close numbers, (δ,l)-diversity and
//! (ε,m)-anonymity, beside distinct l-diversity on the same lattice in the same run: hospital
//! discharges drawn at random, twelve quasi attributes, 122,880 nodes.
//!
//! `cargo bench -p hedgerow-publish --bench proximity_speed -- [ROWS] [SECONDS]`. A search that is
//! not done after SECONDS (default 120) is cut off and shown as such.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_policy::Policy;
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::loss::LossModel;
use hedgerow_publish::search::{Budget, FullDomain, search};
use hedgerow_table::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const ATTRIBUTES: &str = r#"
[source]
path = "discharges.csv"
[attributes]
age = { role = "quasi", hierarchy = { widths = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { mask = 3 } }
diagnosis = { role = "quasi", hierarchy = { mask = 3 } }
stay = { role = "quasi", hierarchy = { widths = [7, 28] } }
month = { role = "quasi", hierarchy = { widths = [3] } }
sex = { role = "quasi" }
race = { role = "quasi" }
ethnicity = { role = "quasi" }
county = { role = "quasi" }
admission = { role = "quasi" }
disposition = { role = "quasi" }
payer = { role = "quasi" }
charges = { role = "sensitive" }
"#;

/// Beside k = 5: what charges are protected by.
const MODELS: [(&str, &str); 7] = [
    ("distinct l", r#"{ model = "distinct-l-diversity", l = 3 }"#),
    ("(δ,l), window, narrow", r#"{ model = "delta-l-diversity", delta = 500, l = 3 }"#),
    ("(δ,l), window, wide", r#"{ model = "delta-l-diversity", delta = 3000, l = 3 }"#),
    ("(δ,l), pairwise", r#"{ model = "delta-l-diversity", delta = 1000, l = 3, reading = "pairwise" }"#),
    ("(ε,m), narrow", r#"{ model = "epsilon-m-anonymity", epsilon = 500, m = 3 }"#),
    ("(ε,m), wide", r#"{ model = "epsilon-m-anonymity", epsilon = 5000, m = 3 }"#),
    ("(ε,m), relative", r#"{ model = "epsilon-m-anonymity", epsilon = 0.1, m = 3, relative = true }"#),
];

fn main() {
    let mut numbers = std::env::args().filter_map(|text| text.parse::<usize>().ok());
    let rows = numbers.next().unwrap_or(339_006);
    let limit = Duration::from_secs(numbers.next().unwrap_or(120) as u64);
    let folder = std::env::temp_dir().join(format!("proximity-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    std::fs::write(folder.join("discharges.csv"), discharges(rows)).expect("space for a temporary file");
    for suppression in ["0", "0.02"] {
        println!("{rows} rows, suppression {suppression}");
        let mut distinct = None;
        for (name, model) in MODELS {
            let took = run(&folder, suppression, model, limit);
            let distinct = *distinct.get_or_insert(took.seconds);
            let cut = if took.proven { "" } else { ", CUT OFF" };
            let ratio = took.seconds / distinct;
            println!("  {name:<24} {:>8.2} s = {ratio:>6.2} times distinct l; {}{cut}", took.seconds, took.judged);
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

struct Took {
    seconds: f64,
    judged: String,
    proven: bool,
}

fn run(folder: &Path, suppression: &str, model: &str, limit: Duration) -> Took {
    let rule = format!("[[rule]]\nprotect = \"charges\"\nrequire = [{{ model = \"k-anonymity\", k = 5 }}, {model}]\n");
    let publish = format!("[publish]\nmethod = \"full-domain\"\nsuppression = {suppression}\n");
    let text = format!("{ATTRIBUTES}{rule}{publish}");
    let policy = Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    let table = read_source(&policy, &NoProgress).unwrap_or_else(|error| panic!("{error}"));
    let bound = Bound::new(&policy, &table).unwrap_or_else(|error| panic!("{error}"));
    let judge = bound.judge().unwrap_or_else(|error| panic!("{error}"));
    let loss = LossModel::new(policy.publish.loss, &bound.loss_attributes(), table.rows as u64, bound.k());
    let started = Instant::now();
    let outcome = search(FullDomain {
        columns: &bound.judged_codes(),
        rows: table.rows,
        counts: None,
        hierarchies: &bound.hierarchies(),
        judge: &judge,
        loss: &loss,
        measured: &[],
        budget: Budget { nodes_max: None, time_max: Some(limit) },
        candidates: false,
        units: None,
        consistent: None,
        progress: &NoProgress,
    });
    let seconds = started.elapsed().as_secs_f64();
    let explain = &outcome.explain;
    let judged = explain.judged_first + explain.judged_proof;
    let found = outcome.best.map_or("none holds".to_owned(), |best| format!("loss {:.6}", loss.loss(best.cost)));
    let judged = format!(
        "{judged} of {} nodes judged, {} hold, {found}",
        explain.nodes.unwrap_or(u64::MAX),
        explain.judged_holding
    );
    Took { seconds, judged, proven: outcome.proven }
}

/// Sicker people stay longer and are charged more; most attributes are skewed.
fn discharges(rows: usize) -> String {
    let mut rng = StdRng::seed_from_u64(17);
    let mut text =
        "age,zip,diagnosis,stay,month,sex,race,ethnicity,county,admission,disposition,payer,charges\n".to_owned();
    for _ in 0..rows {
        let skewed = |rng: &mut StdRng, values: usize| (rng.random::<f64>().powf(2.2) * values as f64) as usize;
        let age = (rng.random::<f64>().sqrt() * 95.0) as usize;
        let county = skewed(&mut rng, 58);
        let zip = 100 + (county * 13 + skewed(&mut rng, 6)) % 400;
        let chapter = (b'A' + skewed(&mut rng, 20) as u8) as char;
        let diagnosis = skewed(&mut rng, 20);
        let normal = (0..6).map(|_| rng.random::<f64>()).sum::<f64>() - 3.0;
        let stay = (1.0 + (1.2 * normal + age as f64 / 60.0).exp()).min(120.0) as usize;
        let charges = (7000.0 * (stay as f64).powf(0.8) * (rng.random::<f64>() * 2.0).exp() / 2.0) as u64;
        let (month, sex, race, ethnicity) =
            (rng.random_range(1..=12), rng.random_range(0..2), skewed(&mut rng, 7), skewed(&mut rng, 3));
        let (admission, disposition, payer) = (skewed(&mut rng, 5), skewed(&mut rng, 20), skewed(&mut rng, 10));
        writeln!(
            text,
            "{age},{zip},{chapter}{diagnosis:02},{stay},{month},s{sex},r{race},e{ethnicity},c{county},a{admission},d{disposition},p{payer},{charges}"
        )
        .expect("a string grows");
    }
    text
}
