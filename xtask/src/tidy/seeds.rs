//! Known randomness stays out of the custodian's daemon.
//!
//! Building the whole workspace at once gives the daemon every feature that any crate asks for, so
//! a feature alone does not keep seeded code out of it: the daemon's own code must not name it.

use super::Finding;
use crate::repo::Repo;

const DAEMON: &str = "crates/node/";
const FEATURES: &[&str] = &["danger-seeded", "\"rehearse\""];
const ITEMS: &[&str] =
    &["danger_from_seed", "rehearse(", "rehearse_release", "smc::simulate", "smc::lop", "Roster::numbered"];

pub(super) fn the_daemon_names_none(repo: &Repo) -> Vec<Finding> {
    let hint = "take randomness from the system: seeds are for simulations and rehearsals";
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| file.path.starts_with(DAEMON)) {
        let text = file.text.as_deref().unwrap_or_default();
        let (forbidden, upto) = if file.path.ends_with("Cargo.toml") {
            (FEATURES, text.find("[dev-dependencies]").unwrap_or(text.len()))
        } else if file.path.ends_with(".rs") && file.path.starts_with("crates/node/src/") {
            (ITEMS, text.find("#[cfg(test)]").unwrap_or(text.len()))
        } else {
            continue;
        };
        for (index, line) in text[..upto].lines().enumerate() {
            for name in forbidden.iter().filter(|name| line.contains(**name)) {
                let problem = format!("the daemon uses `{name}`, whose randomness is known");
                findings.push(Finding::new(&file.path, index + 1, problem, hint));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::File;

    fn found(path: &str, text: &str) -> usize {
        let file = File { path: path.to_owned(), text: Some(text.to_owned()), bytes: 0 };
        the_daemon_names_none(&Repo { files: vec![file], packages: Vec::new() }).len()
    }

    #[test]
    fn seeded_code_is_found_in_the_daemon_and_nowhere_else() {
        let seeded = "let coins = Coins::danger_from_seed(1);\n";
        assert_eq!(found("crates/node/src/node.rs", seeded), 1);
        assert_eq!(found("crates/node/tests/it/world.rs", seeded), 0);
        assert_eq!(found("crates/joint/src/rehearse.rs", seeded), 0);
        assert_eq!(found("crates/node/src/node.rs", &format!("#[cfg(test)]\nmod tests {{ {seeded} }}")), 0);
        let manifest = "hedgerow-smc = { workspace = true, features = [\"danger-seeded\"] }\n";
        assert_eq!(found("crates/node/Cargo.toml", &format!("[dependencies]\n{manifest}")), 1);
        assert_eq!(found("crates/node/Cargo.toml", &format!("[dev-dependencies]\n{manifest}")), 0);
    }
}
