//! The terms that simulated sites agree on, and their rows.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use hedgerow_joint::{Agreed, AgreedRef, JointRow, Share};
use hedgerow_node::part::{EpochPart, OwnRows};
use hedgerow_node::terms::Terms;
use hedgerow_policy::Policy;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::world::{K, SITES};

pub(crate) const CANARY: &str = "canary-village";

/// The terms of the sites, and the rows of each, the second time with one row more.
pub(crate) struct Example {
    pub(crate) terms: Arc<Terms>,
    /// The same for rows that stay apart.
    pub(crate) apart: AgreedRef,
    pub(crate) shares: Vec<[Share; 2]>,
    _folder: tempfile::TempDir,
}

/// Writes the release that custodians publish whose rows do not stay apart.
pub(crate) fn release_united(terms: &Terms, parts: &[EpochPart], place: &Path) {
    let mut rows = Vec::new();
    for OwnRows { class, codes } in parts.iter().map(|part| &part.own) {
        let row = |row: usize| JointRow {
            class: class[row],
            codes: codes.iter().map(|codes| codes[row]).collect(),
            carried: Vec::new(),
        };
        rows.extend((0..class.len()).map(row));
    }
    terms.release(&parts[0].common.classes, &rows, place.to_owned()).unwrap();
}

/// `wide` has two more protected attributes, with more combinations of values than are counted.
pub(crate) fn example(wide: bool) -> &'static Example {
    static EXAMPLES: [OnceLock<Example>; 2] = [OnceLock::new(), OnceLock::new()];
    EXAMPLES[usize::from(wide)].get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = StdRng::seed_from_u64(7);
        let share = |rows: &str| terms(folder.path(), wide, rows).read_rows().unwrap();
        let mut shares = Vec::new();
        for site in 0..SITES {
            let mut rows = String::new();
            for _ in 0..rng.random_range(1..9) {
                let village = ["hill", "dale", CANARY][rng.random_range(0..3)];
                let disease = ["cold", "flu", "gout"][rng.random_range(0..3)];
                rows.push_str(&format!("{},{village},{disease}", rng.random_range(20..60)));
                if wide {
                    rows.push_str(&format!(",{},{}", rng.random_range(0..300), rng.random_range(0..300)));
                }
                rows.push('\n');
            }
            let rest = if wide { ",7,8" } else { "" };
            if site == 1 {
                rows.push_str(&format!("31,{CANARY},flu{rest}\n33,hill,cold{rest}\n"));
            }
            let more = format!("{rows}44,hill,cold{rest}\n");
            shares.push([share(&rows), share(&more)]);
        }
        let agreed = Arc::new(terms(folder.path(), wide, ""));
        let apart = terms_of(folder.path(), wide, "", |agreed| Agreed { apart: true, ..agreed }).agreed;
        Example { terms: agreed, apart, shares, _folder: folder }
    })
}

fn terms(folder: &Path, wide: bool, rows: &str) -> Terms {
    terms_of(folder, wide, rows, |agreed| agreed)
}

fn terms_of(folder: &Path, wide: bool, rows: &str, promised: impl FnOnce(Agreed) -> Agreed) -> Terms {
    let (mut wider, mut rules) = (String::new(), String::new());
    for name in ["cost", "stay"].iter().filter(|_| wide) {
        wider.push_str(&format!("{name} = {{ role = \"sensitive\", range = [0, 299] }}\n"));
        rules.push_str(&format!(
            "[[rule]]\nprotect = \"{name}\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n"
        ));
    }
    let policy = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", range = [20, 59] }}\n\
         village = {{ role = \"quasi\", order = [\"hill\", \"dale\", \"{CANARY}\"] }}\n\
         disease = {{ role = \"sensitive\", order = [\"cold\", \"flu\", \"gout\"] }}\n{wider}\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {K} }}\n\
         [[rule]]\nprotect = \"disease\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n{rules}\
         [publish]\nmethod = \"mondrian\"\n"
    );
    let header = if wide { "age,village,disease,cost,stay" } else { "age,village,disease" };
    std::fs::write(folder.join("policy.toml"), policy).unwrap();
    std::fs::write(folder.join("people.csv"), format!("{header}\n{rows}")).unwrap();
    Terms::new(Policy::load(&folder.join("policy.toml")).unwrap(), promised).unwrap()
}
