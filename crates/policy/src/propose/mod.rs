//! `init`: from a table to a policy that publishes as it stands.
//!
//! Roles come from names and values, hierarchies from the values, and the rules ask for nothing that the table cannot
//! give. The policy is a draft for a person who knows the data: every guess carries its reason as a comment.

mod codes;
mod content;
mod countries;
mod dates;
mod groups;
mod hierarchies;
mod nulls;
mod numbers;
mod profile;
mod roles;
mod rules;
mod spelling;
#[cfg(test)]
mod tests;
mod vocabulary;
mod write;

use std::collections::HashSet;
use std::path::PathBuf;

use hedgerow_table::Table;

use crate::{Format, Role};
use hierarchies::Plan;
pub use nulls::suspected_nulls;
pub use profile::ColumnProfile;
use profile::Facts;
use roles::Guess;

/// How the table was read, so that the policy reads it the same way, and what is wished for.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposeOptions {
    /// To be written when the file's suffix does not tell.
    pub format: Option<Format>,
    /// To be written when it must not be detected.
    pub delimiter: Option<u8>,
    pub quote: Option<u8>,
    /// All texts that counted as missing.
    pub nulls: Vec<String>,
    /// The class size to ask for; less is proposed for tiny tables.
    pub k: u64,
}

impl Default for ProposeOptions {
    fn default() -> Self {
        ProposeOptions { format: None, delimiter: None, quote: None, nulls: vec![String::new()], k: 5 }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Commented TOML.
    pub policy: String,
    /// Hierarchy files, by their path relative to the policy.
    pub files: Vec<(PathBuf, String)>,
    /// One per column, in the order of the table.
    pub profiles: Vec<ColumnProfile>,
}

/// A column with all that was decided about it.
struct Proposed<'t> {
    facts: Facts<'t>,
    guess: Guess,
    /// For quasi attributes.
    plan: Option<Plan>,
    /// The path of its hierarchy's file.
    file: Option<String>,
}

/// Proposes a policy for a table whose columns have all been read. `source` is the data's path as the policy should
/// name it.
pub fn propose(table: &Table, source: &str, options: &ProposeOptions) -> Proposal {
    let facts: Vec<Facts<'_>> = table.columns.iter().map(Facts::of).collect();
    let guesses = roles::guess_all(&facts);
    let mut taken: HashSet<String> = HashSet::new();
    let mut files = Vec::new();
    let mut columns = Vec::with_capacity(facts.len());
    for (number, (facts, guess)) in facts.into_iter().zip(guesses).enumerate() {
        let quasi = guess.role == Some(Role::Quasi);
        let plan = quasi.then(|| hierarchies::plan(&facts, guess.concept));
        let mut file = None;
        if let Some(hierarchies::Way::File { text, .. }) = plan.as_ref().map(|plan| &plan.way) {
            let path = format!("hierarchies/{}.csv", file_stem(&facts.column.name, number, &mut taken));
            files.push((PathBuf::from(&path), text.clone()));
            file = Some(path);
        }
        columns.push(Proposed { facts, guess, plan, file });
    }
    let policy = write::policy(&columns, table.rows as u64, source, options);
    let profiles = columns.iter().map(Proposed::profile).collect();
    Proposal { policy, files, profiles }
}

impl Proposed<'_> {
    fn profile(&self) -> ColumnProfile {
        let hierarchy = self.plan.as_ref().map_or_else(String::new, |plan| write::way_in_words(&plan.way));
        self.facts.profile(self.guess.role, &self.guess.reason, &hierarchy)
    }
}

/// A file's name that any file system takes, different from the others whatever the case.
fn file_stem(name: &str, number: usize, taken: &mut HashSet<String>) -> String {
    const CHARS_MAX: usize = 40;
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let plain: String = plain.trim_matches('-').chars().take(CHARS_MAX).collect();
    let mut stem = if plain.is_empty() { format!("column-{}", number + 1) } else { plain.clone() };
    let mut copy = 2;
    while !taken.insert(stem.to_lowercase()) {
        stem = format!("{plain}-{copy}");
        copy += 1;
    }
    stem
}
