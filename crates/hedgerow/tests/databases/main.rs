//! Tables and releases in databases, as programs use them.
//!
//! SQLite needs nothing. PostgreSQL is a real server from Debian's package in a temporary folder,
//! started and stopped by each test.

mod arithmetic;
mod postgres;
mod random;
mod related;
mod server;
mod sqlite;
mod tls;

use std::collections::BTreeMap;
use std::path::Path;

/// Every file below a folder, by its path there.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

const ATTRIBUTES: &str = r#"
[attributes]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { widths = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { mask = 3 } }
born = { role = "plain", allow-unique = true }
income = { role = "plain", allow-unique = true }
active = { role = "quasi" }
disease = { role = "sensitive" }
"#;

/// A policy over the people of these tests.
fn policy(source: &str, rules: &str, publish: &str, folder: &Path) -> hedgerow::Policy {
    let text = format!("[source]\n{source}\n{ATTRIBUTES}\n{rules}\n[publish]\n{publish}\n");
    hedgerow::Policy::parse(&text, folder.join("policy.toml")).unwrap()
}

const K2: &str = "[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }";
