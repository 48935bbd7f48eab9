//! The kinds of releases, recognized by which tables the manifest lists and by nothing else: what a
//! method calls itself says nothing about how its tables must be read.

use std::path::Path;

use crate::manifest::{FILE_NAME, Manifest, Resource};
use hedgerow_table::TableError;

/// The tables of a release, by the part each one plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape<'a> {
    /// One table in which the quasi attributes carry labels.
    Generalized { data: &'a Resource },
    /// Quasi attributes and sensitive values apart, joined by `group` alone.
    Bucketized { quasi: &'a Resource, sensitive: &'a Resource },
    /// Statistics of small groups of people, and the sensitive values of the classes that they make
    /// up.
    Cloned { statistics: &'a Resource, sensitive: &'a Resource },
    /// Several tables about the same people, each in a folder of its own; see [`Shape::parts`].
    Decomposed { tables: &'a [Resource] },
}

impl<'a> Shape<'a> {
    /// `None` without tables, or when they are not those of exactly one kind.
    pub fn of(resources: &'a [Resource]) -> Option<Shape<'a>> {
        let named = |name: &str| resources.iter().find(|resource| resource.name == name);
        let shape = match (named("data"), named("quasi"), named("statistics"), named("sensitive")) {
            (Some(data), None, None, None) => Shape::Generalized { data },
            (None, Some(quasi), None, Some(sensitive)) => Shape::Bucketized { quasi, sensitive },
            (None, None, Some(statistics), Some(sensitive)) => Shape::Cloned { statistics, sensitive },
            (None, None, None, None) => {
                return Shape::parts(resources).map(|_| Shape::Decomposed { tables: resources });
            }
            _ => return None,
        };
        // A table of an unknown kind would be published without being checked; so would
        // a second one of a name.
        let tables = resources.iter().filter(|resource| resource.name != CODEBOOK);
        (tables.count() == shape.tables().len()).then_some(shape)
    }

    /// The sub-tables of a decomposed release, each with its folder: `folder/data.csv` is named
    /// `folder-data`, and so on. `None` when there are none, or some table is part of no sub-table.
    pub fn parts(resources: &'a [Resource]) -> Option<Vec<(&'a str, Shape<'a>)>> {
        let mut folders: Vec<(&str, Vec<&Resource>)> = Vec::new();
        for resource in resources.iter().filter(|resource| resource.name != CODEBOOK) {
            let (folder, _) = resource.path.split_once('/')?;
            match folders.iter_mut().find(|(known, _)| *known == folder) {
                Some((_, tables)) => tables.push(resource),
                None => folders.push((folder, vec![resource])),
            }
        }
        let part = |(folder, tables): (&'a str, Vec<&'a Resource>)| {
            let named = |name: &str| {
                let is = |table: &&&Resource| {
                    table.name.strip_prefix(folder).and_then(|rest| rest.strip_prefix('-')) == Some(name)
                };
                tables.iter().find(is).copied()
            };
            match (tables.len(), named("data"), named("quasi"), named("sensitive")) {
                (1, Some(data), None, None) => Some((folder, Shape::Generalized { data })),
                (2, None, Some(quasi), Some(sensitive)) => Some((folder, Shape::Bucketized { quasi, sensitive })),
                _ => None,
            }
        };
        let parts: Vec<_> = folders.into_iter().map(part).collect::<Option<_>>()?;
        (!parts.is_empty()).then_some(parts)
    }

    /// The shape of a release directory, or a refusal that says what was expected.
    pub fn of_release(directory: &Path, manifest: &'a Manifest) -> Result<Shape<'a>, TableError> {
        Shape::of(&manifest.resources).ok_or_else(|| {
            let problem = "the tables that the manifest lists make no release";
            let hint = "this version knows generalized releases (`data`), bucketized ones (`quasi` and `sensitive`), cloned \
                        ones (`statistics` and `sensitive`), and folders of the first two";
            TableError::input(directory.join(FILE_NAME).display().to_string(), problem, hint)
        })
    }

    pub fn tables(&self) -> Vec<&'a Resource> {
        match *self {
            Shape::Generalized { data } => vec![data],
            Shape::Bucketized { quasi, sensitive } => vec![quasi, sensitive],
            Shape::Cloned { statistics, sensitive } => vec![statistics, sensitive],
            Shape::Decomposed { tables } => tables.iter().filter(|table| table.name != CODEBOOK).collect(),
        }
    }
}

/// The name of the codebook among a manifest's resources; it belongs to every kind.
pub const CODEBOOK: &str = "codebook";

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_of(names: &[&str]) -> Option<Vec<String>> {
        let resources: Vec<Resource> = names.iter().map(|name| Resource::csv(name, Vec::new())).collect();
        Shape::of(&resources).map(|shape| shape.tables().iter().map(|resource| resource.name.clone()).collect())
    }

    #[test]
    fn a_release_is_of_one_kind_or_of_none() {
        assert_eq!(shape_of(&["data", "codebook"]), Some(vec!["data".to_owned()]));
        assert_eq!(shape_of(&["data"]), Some(vec!["data".to_owned()]));
        let both = Some(vec!["quasi".to_owned(), "sensitive".to_owned()]);
        assert_eq!(shape_of(&["codebook", "sensitive", "quasi"]), both);
        let cloned = Some(vec!["statistics".to_owned(), "sensitive".to_owned()]);
        assert_eq!(shape_of(&["statistics", "sensitive", "codebook"]), cloned);
        let refused: [&[&str]; 10] = [
            &[],
            &["codebook"],
            &["quasi"],
            &["sensitive", "codebook"],
            &["data", "quasi", "sensitive"],
            &["data", "sensitive"],
            &["data", "extra"],
            &["statistics"],
            &["quasi", "statistics", "sensitive"],
            &["data", "data"],
        ];
        for names in refused {
            assert_eq!(shape_of(names), None, "{names:?}");
        }
    }

    #[test]
    fn folders_make_a_release_of_several_tables() {
        let resource = |path: &str| {
            let name = path.trim_end_matches(".csv").replace('/', "-");
            Resource { path: path.to_owned(), ..Resource::csv(&name, Vec::new()) }
        };
        let folders_of = |paths: &[&str]| {
            let mut resources: Vec<Resource> = paths.iter().map(|path| resource(path)).collect();
            resources.push(Resource::csv(CODEBOOK, Vec::new()));
            let parts = Shape::parts(&resources)?;
            assert_eq!(Shape::of(&resources), Some(Shape::Decomposed { tables: &resources }));
            Some(parts.iter().map(|(folder, _)| (*folder).to_owned()).collect::<Vec<_>>())
        };
        let two = ["table-1/quasi.csv", "table-2/data.csv", "table-1/sensitive.csv"];
        assert_eq!(folders_of(&two), Some(vec!["table-1".to_owned(), "table-2".to_owned()]));
        assert_eq!(folders_of(&["table-1/quasi.csv", "table-2/data.csv"]), None, "a bucket's values are missing");
        assert_eq!(folders_of(&["table-1/data.csv", "table-1/more.csv"]), None);
        assert_eq!(folders_of(&["table-1/data.csv", "more.csv"]), None);
    }
}
