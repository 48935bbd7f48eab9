//! The kinds of releases, told by which tables the manifest lists and by nothing else: what a method calls itself says
//! nothing about how its tables must be read.

use std::path::Path;

use crate::TableError;
use crate::release::manifest::{FILE_NAME, Manifest, Resource};

/// The tables of a release, by the part each one plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape<'a> {
    /// One table in which the quasi attributes carry labels.
    Generalised { data: &'a Resource },
    /// Quasi attributes and sensitive values apart, joined by `group` alone.
    Bucketized { quasi: &'a Resource, sensitive: &'a Resource },
    /// Statistics of small groups of people, and the sensitive values of the classes that they make up.
    Cloned { statistics: &'a Resource, sensitive: &'a Resource },
}

impl<'a> Shape<'a> {
    /// `None` when the tables are none, or not those of exactly one kind.
    pub fn of(resources: &'a [Resource]) -> Option<Shape<'a>> {
        let named = |name: &str| resources.iter().find(|resource| resource.name == name);
        let shape = match (named("data"), named("quasi"), named("statistics"), named("sensitive")) {
            (Some(data), None, None, None) => Shape::Generalised { data },
            (None, Some(quasi), None, Some(sensitive)) => Shape::Bucketized { quasi, sensitive },
            (None, None, Some(statistics), Some(sensitive)) => Shape::Cloned { statistics, sensitive },
            _ => return None,
        };
        // A table that nobody knows how to read would be published without being checked; so would a second one of a name.
        let tables = resources.iter().filter(|resource| resource.name != CODEBOOK);
        (tables.count() == shape.tables().len()).then_some(shape)
    }

    /// The shape of a release directory, or a refusal that says what was expected.
    pub fn of_release(directory: &Path, manifest: &'a Manifest) -> Result<Shape<'a>, TableError> {
        Shape::of(&manifest.resources).ok_or_else(|| {
            let problem = "the tables that the manifest lists make no release";
            let hint = "this version knows generalised releases (`data`), bucketized ones (`quasi` and `sensitive`) and cloned \
                        ones (`statistics` and `sensitive`)";
            TableError::input(directory.join(FILE_NAME).display().to_string(), problem, hint)
        })
    }

    pub fn tables(&self) -> Vec<&'a Resource> {
        match *self {
            Shape::Generalised { data } => vec![data],
            Shape::Bucketized { quasi, sensitive } => vec![quasi, sensitive],
            Shape::Cloned { statistics, sensitive } => vec![statistics, sensitive],
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
}
