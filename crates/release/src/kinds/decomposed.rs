//! A decomposed release in memory: several tables about the same people, each in a folder of its
//! own, each of rows or of buckets.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashMap;
use hedgerow_table::{Column, Cover, Domain, Progress, Table, TableError};

use super::bucketized::{Bucketized, GROUP};
use super::combined::Combined;
use super::generalized::Generalized;
use super::{ReleasedKind, texts};
use crate::classes::ReleasedClasses;
use crate::codebook::Codebook;
use crate::manifest::Resource;
use crate::shape::Shape;

#[derive(Debug, Clone, PartialEq)]
pub struct Decomposed {
    pub tables: Vec<SubTable>,
}

/// One table of a decomposed release.
#[derive(Debug, Clone, PartialEq)]
pub struct SubTable {
    /// Its folder.
    pub name: String,
    pub form: Form,
}

/// How a sub-table is published.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// Every attribute by row.
    Rows(Generalized),
    /// One attribute by bucket.
    Buckets(Box<Bucketized>),
    /// Several attributes by bucket, as combinations.
    Combined(Box<Combined>),
}

impl Decomposed {
    /// Reads all sub-tables as they stand, and says where one contradicts itself.
    pub(crate) fn examine(
        directory: &Path,
        resources: &[Resource],
        progress: &dyn Progress,
    ) -> Result<(Decomposed, Vec<String>), TableError> {
        let (mut tables, mut contradictions) = (Vec::new(), Vec::new());
        for (folder, shape) in Shape::parts(resources).unwrap_or_default() {
            let (form, found) = match shape {
                Shape::Bucketized { quasi, sensitive } if Combined::is(sensitive) => {
                    let (tables, found) = Combined::examine(directory, quasi, sensitive, progress)?;
                    (Form::Combined(Box::new(tables)), found)
                }
                Shape::Bucketized { quasi, sensitive } => {
                    let (tables, found) = Bucketized::examine(directory, quasi, sensitive, progress)?;
                    (Form::Buckets(Box::new(tables)), found)
                }
                Shape::Generalized { data } => (Form::Rows(Generalized::read(directory, data, progress)?), Vec::new()),
                _ => {
                    let problem = "a sub-table is neither of rows nor of buckets";
                    let place = directory.display().to_string();
                    return Err(TableError::input(place, problem, "publish the release again"));
                }
            };
            contradictions.extend(found.into_iter().map(|problem| format!("{folder}: {problem}")));
            tables.push(SubTable { name: folder.to_owned(), form });
        }
        Ok((Decomposed { tables }, contradictions))
    }

    /// All attributes, each once.
    pub fn attributes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.tables.iter().flat_map(SubTable::attributes) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// All sub-tables are about the same people: they agree on the values of an attribute, unless
    /// it is generalized in one.
    fn attributes_that_differ(&self, codebook: &Codebook) -> Vec<String> {
        let mut contradictions = Vec::new();
        for name in self.attributes() {
            let exact = self.tables.iter().filter(|table| table.is_exact(name, codebook));
            let counted = exact.filter_map(|table| Some((table, table.counts(name)?)));
            let mut counted = counted.map(|(table, (domain, counts))| {
                let present = texts(domain).into_iter().zip(counts).filter(|(_, count)| *count > 0);
                (table, present.collect::<BTreeMap<String, u64>>())
            });
            let Some((first, expected)) = counted.next() else { continue };
            for (table, _) in counted.filter(|(_, found)| *found != expected) {
                contradictions.push(format!("{} and {} have different values of `{name}`", first.name, table.name));
            }
        }
        contradictions.extend(self.combinations_that_differ(codebook));
        let rows: Vec<usize> = self.tables.iter().map(|table| table.rows().rows).collect();
        if rows.iter().any(|&count| count != rows[0]) {
            contradictions.push("the sub-tables have different numbers of rows".to_owned());
        }
        contradictions
    }

    /// Where two tables show several attributes in the same rows, they agree on the combinations of
    /// their values too, each with as many rows.
    fn combinations_that_differ(&self, codebook: &Codebook) -> Vec<String> {
        let mut contradictions = Vec::new();
        for (index, one) in self.tables.iter().enumerate() {
            for other in &self.tables[index + 1..] {
                let is_exact = |name: &str| one.is_exact(name, codebook) && other.is_exact(name, codebook);
                let pairs = one.joined().flat_map(|ours| other.joined().map(move |theirs| (ours.clone(), theirs)));
                for (ours, theirs) in pairs {
                    let pairs = ours.columns.iter().filter_map(|column| {
                        let same = theirs.columns.iter().find(|other| other.name == column.name)?;
                        is_exact(&column.name).then_some((*column, *same))
                    });
                    let (mine, same): (Vec<&Column>, Vec<&Column>) = pairs.unzip();
                    if mine.len() > 1 && ours.counts(&mine, &mine) != theirs.counts(&same, &mine) {
                        let names: Vec<String> = mine.iter().map(|column| format!("`{}`", column.name)).collect();
                        let (one, other) = (&one.name, &other.name);
                        contradictions.push(format!("{one} and {other} have different rows of {}", names.join(", ")));
                    }
                }
            }
        }
        contradictions
    }
}

/// Attributes whose values a table shows in the same rows.
#[derive(Clone)]
struct JoinedAttributes<'t> {
    columns: Vec<&'t Column>,
    /// How many people each row stands for, where that is not one.
    people: Option<&'t [u32]>,
}

impl JoinedAttributes<'_> {
    /// How many people have each combination of values of some columns, by the codes of others: the
    /// same attributes in another table. A value that is not there has a code of its own.
    fn counts(&self, columns: &[&Column], by: &[&Column]) -> HashMap<Vec<u32>, u64> {
        let known = columns.iter().zip(by).map(|(column, by)| {
            let code = |text: &String| match text.as_str() {
                "" => by.domain.missing_code().unwrap_or(u32::MAX),
                text => by.domain.code_of(text).unwrap_or(u32::MAX),
            };
            texts(&column.domain).iter().map(code).collect()
        });
        let known: Vec<Vec<u32>> = known.collect();
        let rows = columns.first().map_or(0, |column| column.codes.len());
        let mut counts = HashMap::new();
        for row in 0..rows {
            let code = |(column, known): (&&Column, &Vec<u32>)| known[column.codes.get(row) as usize];
            let combination: Vec<u32> = columns.iter().zip(&known).map(code).collect();
            *counts.entry(combination).or_insert(0) += self.people.map_or(1, |people| u64::from(people[row]));
        }
        counts
    }
}

impl SubTable {
    /// The attributes that the table shows in the same rows: by row, and where buckets list
    /// combinations, these.
    fn joined(&self) -> impl Iterator<Item = JoinedAttributes<'_>> {
        let by_row = |column: &&Column| self.sensitive().is_empty() || column.name != GROUP;
        let by_row = JoinedAttributes { columns: self.rows().columns.iter().filter(by_row).collect(), people: None };
        let combined = match &self.form {
            Form::Combined(tables) => {
                let columns = tables.sensitive.iter().filter_map(|name| tables.values.column(name)).collect();
                Some(JoinedAttributes { columns, people: Some(&tables.counts) })
            }
            _ => None,
        };
        std::iter::once(by_row).chain(combined)
    }

    /// The table that has one row for each row of the source.
    pub fn rows(&self) -> &Table {
        match &self.form {
            Form::Rows(tables) => &tables.table,
            Form::Buckets(tables) => &tables.quasi,
            Form::Combined(tables) => &tables.quasi,
        }
    }

    /// The attributes that are published by bucket.
    pub fn sensitive(&self) -> &[String] {
        match &self.form {
            Form::Rows(_) => &[],
            Form::Buckets(tables) => std::slice::from_ref(&tables.sensitive),
            Form::Combined(tables) => &tables.sensitive,
        }
    }

    /// The names of the quasi attributes.
    pub fn quasi(&self) -> &[String] {
        match &self.form {
            Form::Rows(tables) => &tables.quasi,
            Form::Buckets(tables) => &tables.quasi_attributes,
            Form::Combined(tables) => &tables.quasi_attributes,
        }
    }

    /// All attributes of the table, by row or by bucket.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        let by_row = self.rows().header.iter().map(String::as_str);
        let buckets = !self.sensitive().is_empty();
        by_row.filter(move |name| !buckets || *name != GROUP).chain(self.sensitive().iter().map(String::as_str))
    }

    /// The values of an attribute and how many rows have each.
    pub fn counts(&self, attribute: &str) -> Option<(&Domain, Vec<u64>)> {
        match &self.form {
            Form::Buckets(tables) if tables.sensitive == attribute => Some((&tables.domain, tables.counts())),
            Form::Combined(tables) if tables.sensitive.iter().any(|name| name == attribute) => {
                tables.values.column(attribute).map(|column| (&column.domain, tables.counts_of(column)))
            }
            _ => self.rows().column(attribute).map(|column| (&column.domain, column.counts())),
        }
    }

    /// Whether the table holds an attribute with its values as they are, not generalized. Values
    /// that were made coarser before anything else are the values.
    pub fn is_exact(&self, attribute: &str, codebook: &Codebook) -> bool {
        if codebook.is_coarse(attribute) {
            let is_value = |text: &String| codebook.is_coarse_value(attribute, text);
            return self.domain(attribute).is_some_and(|domain| texts(domain).iter().all(is_value));
        }
        let one_value = |label: &String| match codebook.cover(attribute, label) {
            None | Some(Cover::Missing | Cover::Point(_)) => true,
            Some(Cover::Leaves(leaves)) => leaves.len() == 1 && !label.contains('*'),
            Some(Cover::Everything | Cover::Interval { .. }) => false,
        };
        self.domain(attribute).is_some_and(|domain| texts(domain).iter().all(one_value))
    }

    pub fn domain(&self, attribute: &str) -> Option<&Domain> {
        match &self.form {
            Form::Buckets(tables) if tables.sensitive == attribute => Some(&tables.domain),
            Form::Combined(tables) if tables.sensitive.iter().any(|name| name == attribute) => {
                tables.values.column(attribute).map(|column| &column.domain)
            }
            _ => self.rows().column(attribute).map(|column| &column.domain),
        }
    }
}

impl ReleasedKind for Decomposed {
    fn rows(&self) -> u64 {
        self.tables.first().map_or(0, |table| table.rows().rows as u64)
    }

    fn domain(&self, attribute: &str) -> Option<&Domain> {
        self.tables.iter().find_map(|table| table.domain(attribute))
    }

    fn domains(&self, attribute: &str) -> Vec<&Domain> {
        self.tables.iter().filter_map(|table| table.domain(attribute)).collect()
    }

    fn labels(&self) -> Vec<(&str, Vec<String>)> {
        let columns = self.tables.iter().flat_map(|table| {
            let quasi = table.quasi().iter().filter_map(|name| table.rows().column(name));
            quasi.map(|column| (column.name.as_str(), texts(&column.domain)))
        });
        columns.collect()
    }

    fn classes(&self, codebook: &Codebook, place: &str) -> Result<Vec<ReleasedClasses>, TableError> {
        let of = |table: &SubTable| {
            let place = format!("{place}/{}", table.name);
            match &table.form {
                Form::Rows(tables) => tables.classes_named(&table.name, codebook, &place),
                Form::Buckets(tables) => tables.classes_named(&table.name, codebook, &place),
                Form::Combined(tables) => tables.classes_named(&table.name, codebook, &place),
            }
        };
        self.tables.iter().map(of).collect()
    }

    fn has_roles(&self) -> bool {
        false
    }

    fn occurring(&self) -> Vec<(&str, Vec<String>)> {
        let mut found = Vec::new();
        for table in &self.tables {
            found.extend(table.attributes().filter_map(|name| Some((name, texts(table.domain(name)?)))));
        }
        found
    }

    /// All: what one rule protects another may know.
    fn explainable(&self) -> Vec<&str> {
        self.attributes()
    }

    fn contradictions_with(&self, codebook: &Codebook) -> Vec<String> {
        self.attributes_that_differ(codebook)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(name: &str, header: &[&str], rows: &[[&str; 2]]) -> SubTable {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let table = Table::from_texts(header, &rows);
        let quasi = header.iter().map(|name| (*name).to_owned()).collect();
        let form = Form::Rows(Generalized { table, quasi, sensitive: Vec::new(), units: Vec::new(), counts: None });
        SubTable { name: name.to_owned(), form }
    }

    /// Each attribute alone has the same values in both tables.
    #[test]
    fn tables_agree_on_combinations_and_not_only_on_values() {
        let honest = [["20", "Aa"], ["30", "Bb"], ["30", "Bb"], ["40", ""]];
        let shuffled = [["Bb", "30"], ["", "40"], ["Aa", "20"], ["Bb", "30"]];
        let moved = [["Bb", "30"], ["", "30"], ["Aa", "20"], ["Bb", "40"]];
        let found = |other: &[[&str; 2]]| {
            let tables = vec![rows("one", &["age", "city"], &honest), rows("two", &["city", "age"], other)];
            Decomposed { tables }.attributes_that_differ(&Codebook::new())
        };
        assert_eq!(found(&shuffled), [""; 0]);
        assert_eq!(found(&moved), ["one and two have different rows of `age`, `city`"]);
    }
}
