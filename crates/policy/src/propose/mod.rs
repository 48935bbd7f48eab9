//! `init`: from a table to a policy that publishes as it stands.
//!
//! Roles come from names and values, hierarchies from the values, and the rules require nothing
//! that the table cannot give. The policy is a draft for a person who knows the data: every
//! inference carries its reason as a comment.
//!
//! Layers, each using only those before it: `spelling`, `profile`, `way`; `content`, `vocabulary`,
//! `nulls`, `formats`; the makers of hierarchies (`groups`, then `codes`, `countries`, `dates`, and
//! `numbers`); `keys`, `relations`, `hierarchies`, `roles`, `rules`; `proposed`; `coarsening`;
//! `write`; this file.

mod coarsening;
mod codes;
mod content;
mod countries;
mod dates;
mod dependent;
mod described;
#[cfg(test)]
mod field_tests;
mod formats;
mod groups;
mod hierarchies;
mod keys;
mod nulls;
mod numbers;
mod odd_texts;
mod profile;
mod proposed;
mod relations;
mod roles;
mod rules;
mod spelling;
#[cfg(test)]
mod tests;
mod units;
mod vocabulary;
mod way;
mod write;

use std::collections::HashSet;
use std::path::PathBuf;

use hedgerow_table::{Column, InputError, Table};

use crate::Role;
pub use described::Described;
pub use formats::{FoundDates, FoundFormats, detected_formats};
pub use nulls::suspected_nulls;
pub use odd_texts::odd_texts;
pub use profile::ColumnProfile;
use profile::Facts;
pub use proposed::ProposeOptions;
use proposed::{Proposed, TableRows};
pub use relations::Relation;
use roles::ProposedRole;
use units::FoundUnits;
pub use units::RepeatingIdentifier;
use way::Way;

#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Commented TOML.
    pub policy: String,
    /// Hierarchy files, by their path relative to the policy.
    pub files: Vec<(PathBuf, String)>,
    /// One per column, in the order of the table.
    pub profiles: Vec<ColumnProfile>,
    /// Relations between columns that would be released.
    pub relations: Vec<Relation>,
    /// The column that says whom a row is about, where rows belong to units.
    pub unit: Option<String>,
    /// Where none does: an identifier that repeats all the same.
    pub repeating: Option<RepeatingIdentifier>,
    /// The protected attributes, from the one that should rather stay to the one that should rather
    /// go.
    pub protected: Vec<String>,
}

/// Refuses tables for which no policy can be proposed: those that were read with a wrong delimiter,
/// and single rows.
pub fn refuse_unsuitable(table: &Table, path: &str) -> Result<(), InputError> {
    if let [name] = table.header.as_slice()
        && let Some(delimiter) = [',', ';', '\t', '|'].into_iter().find(|delimiter| name.contains(*delimiter))
    {
        let shown: String = name.chars().take(40).collect();
        let problem = format!("one column named {shown:?}: was it read with the wrong delimiter?");
        let hint =
            format!("set `delimiter = {:?}` under `[source]` of a policy, or convert the file", delimiter.to_string());
        return Err(InputError::new(path, problem, hint));
    }
    refuse_row_as_header(table, path)?;
    if !table.columns.is_empty() && table.rows >= 2 {
        let facts: Vec<Facts<'_>> = table.columns.iter().map(Facts::of).collect();
        let roles = roles::propose_roles(&facts);
        if !roles.iter().any(|role| role.role == Some(Role::Quasi)) {
            let problem = "every column identifies a person: there is nothing that could be released";
            let hint = "give a table with attributes of people, such as age, sex, place or diagnosis";
            return Err(InputError::new(path, problem, hint));
        }
    }
    if table.rows < 2 {
        let hint = "one person cannot be hidden: give the data of all people";
        return Err(InputError::new(path, "the table has a single row: no policy protects anyone", hint));
    }
    Ok(())
}

/// The values of the first person would be the names of columns, and every release has these. A box
/// that was ticked may have the name of its column as its only value.
fn refuse_row_as_header(table: &Table, path: &str) -> Result<(), InputError> {
    let is_value = |column: &&Column| {
        let present = column.domain.present() as u32;
        present > 1 && (0..present).any(|code| column.domain.text(code) == column.name.trim())
    };
    let values = table.columns.iter().filter(is_value).count();
    if values < 2 || 2 * values < table.columns.len() {
        return Ok(());
    }
    let problem = format!(
        "the first line seems to be a row and not the names of columns: {values} of {} occur as values below them",
        table.columns.len()
    );
    Err(InputError::new(path, problem, "put a line with the names of the columns before it"))
}

/// Proposes a policy for a table whose columns have all been read. `source` is the data's path as
/// the policy should name it.
pub fn propose(table: &Table, source: &str, options: &ProposeOptions) -> Proposal {
    let described = |column: &Column| options.described.get(&column.name);
    let facts: Vec<Facts<'_>> =
        table.columns.iter().map(|column| Facts::of(column).described(described(column))).collect();
    let mut roles = roles::propose_roles(&facts);
    roles::omit_costly(&facts, &mut roles, &options.costly);
    roles::omit_telling(&facts, &mut roles, &options.telling);
    roles::omit_unfitting(&facts, &mut roles, &options.unfitting);
    let units = if options.no_unit { None } else { units::find(table, &facts, &mut roles) };
    let repeating = if units.is_some() { None } else { units::not_counted(table, &facts, &mut roles) };
    match &units {
        // The rows of one unit agree on much that does not follow.
        Some(units) => dependent::make_known(&units.first_rows(table), &mut roles),
        None => dependent::make_known(table, &mut roles),
    }
    let protected = roles::by_worth(&facts, &roles);
    let above: Vec<Option<Way>> = {
        let shown = |role: &ProposedRole| role.role.is_some_and(Role::is_released);
        let others: Vec<&Facts<'_>> =
            facts.iter().zip(&roles).filter(|(_, role)| shown(role)).map(|(facts, _)| facts).collect();
        facts.iter().map(|facts| dependent::levels_above(facts, &others)).collect()
    };
    let mut taken: HashSet<String> = HashSet::new();
    let mut files = Vec::new();
    let mut columns = Vec::with_capacity(facts.len());
    for (number, ((facts, role), above)) in facts.into_iter().zip(roles).zip(above).enumerate() {
        let quasi = role.role == Some(Role::Quasi);
        let plan = quasi.then(|| match (hierarchies::plan(&facts, role.concept), above) {
            // What lies in what is better than what is as frequent as what.
            (plan, Some(way)) if plan.by_frequency => plan.by_place(way),
            (plan, _) => plan,
        });
        let mut file = None;
        if let Some(Way::File { text, .. }) = plan.as_ref().map(|plan| &plan.way) {
            let path = format!("hierarchies/{}.csv", file_stem(&facts.column.name, number, &mut taken));
            files.push((PathBuf::from(&path), text.clone()));
            file = Some(path);
        }
        let dates = options.formats.dates_of(&facts.column.name).cloned();
        columns.push(Proposed { facts, role, plan, file, dates });
    }
    let released = columns.iter().filter(|column| column.role.role.is_some_and(Role::is_released));
    let relations = relations::find(&released.map(|column| &column.facts).collect::<Vec<_>>());
    let rows = TableRows {
        rows: table.rows as u64,
        units: units.as_ref(),
        one_row_of: varying(table, units.as_ref().filter(|_| options.one_row)),
        two_values_of: varying(table, units.as_ref().filter(|_| options.two_values)),
    };
    let policy = write::policy(&columns, &relations, &rows, source, options);
    let profiles = columns.iter().map(Proposed::profile).collect();
    let unit = units.map(|units| table.columns[units.column].name.clone());
    Proposal { policy, files, profiles, relations, unit, repeating, protected }
}

/// The columns of which a unit may have several values.
fn varying(table: &Table, units: Option<&FoundUnits>) -> HashSet<String> {
    let Some(units) = units else { return HashSet::new() };
    let varying = (0..table.columns.len()).filter(|&column| units.vary_in(table, column));
    varying.map(|column| table.columns[column].name.clone()).collect()
}

/// Profiles the columns of a table, with the roles and hierarchies that a proposal would have.
pub fn profiles(table: &Table) -> Vec<ColumnProfile> {
    let facts: Vec<Facts<'_>> = table.columns.iter().map(Facts::of).collect();
    let roles = roles::propose_roles(&facts);
    let proposed = facts.into_iter().zip(roles).map(|(facts, role)| {
        let plan = (role.role == Some(Role::Quasi)).then(|| hierarchies::plan(&facts, role.concept));
        Proposed { facts, role, plan, file: None, dates: None }
    });
    proposed.map(|column| column.profile()).collect()
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
