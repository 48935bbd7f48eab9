//! `init`: from a table to a policy that publishes as it stands.
//!
//! Roles come from names and values, hierarchies from the values, and the rules require nothing that the table cannot
//! give. The policy is a draft for a person who knows the data: every inference carries its reason as a comment.
//!
//! Layers, each using only those before it: `spelling`, `profile`, `way`; `content`, `vocabulary`, `nulls`; the makers of
//! hierarchies (`groups`, then `codes`, `countries`, `dates`, and `numbers`); `hierarchies`, `roles`, `rules`; `proposed`;
//! `write`; this file.

mod codes;
mod content;
mod countries;
mod dates;
mod groups;
mod hierarchies;
mod nulls;
mod numbers;
mod profile;
mod proposed;
mod roles;
mod rules;
mod spelling;
#[cfg(test)]
mod tests;
mod vocabulary;
mod way;
mod write;

use std::collections::HashSet;
use std::path::PathBuf;

use hedgerow_table::Table;

use crate::Role;
pub use nulls::suspected_nulls;
pub use profile::ColumnProfile;
use profile::Facts;
pub use proposed::ProposeOptions;
use proposed::Proposed;
use way::Way;

#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Commented TOML.
    pub policy: String,
    /// Hierarchy files, by their path relative to the policy.
    pub files: Vec<(PathBuf, String)>,
    /// One per column, in the order of the table.
    pub profiles: Vec<ColumnProfile>,
}

/// Proposes a policy for a table whose columns have all been read. `source` is the data's path as the policy should
/// name it.
pub fn propose(table: &Table, source: &str, options: &ProposeOptions) -> Proposal {
    let facts: Vec<Facts<'_>> = table.columns.iter().map(Facts::of).collect();
    let roles = roles::propose_roles(&facts);
    let mut taken: HashSet<String> = HashSet::new();
    let mut files = Vec::new();
    let mut columns = Vec::with_capacity(facts.len());
    for (number, (facts, role)) in facts.into_iter().zip(roles).enumerate() {
        let quasi = role.role == Some(Role::Quasi);
        let plan = quasi.then(|| hierarchies::plan(&facts, role.concept));
        let mut file = None;
        if let Some(Way::File { text, .. }) = plan.as_ref().map(|plan| &plan.way) {
            let path = format!("hierarchies/{}.csv", file_stem(&facts.column.name, number, &mut taken));
            files.push((PathBuf::from(&path), text.clone()));
            file = Some(path);
        }
        columns.push(Proposed { facts, role, plan, file });
    }
    let policy = write::policy(&columns, table.rows as u64, source, options);
    let profiles = columns.iter().map(Proposed::profile).collect();
    Proposal { policy, files, profiles }
}

impl Proposed<'_> {
    fn profile(&self) -> ColumnProfile {
        let hierarchy = self.plan.as_ref().map_or_else(String::new, |plan| write::way_in_words(&plan.way));
        self.facts.profile(self.role.role, &self.role.reason, &hierarchy)
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
