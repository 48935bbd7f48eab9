//! Reading back the tables and the codebook of a release, as a stranger would: the manifest is held against the files, and
//! trusted in nothing else.

use std::collections::HashMap;
use std::path::Path;

use crate::codebook::Codebook;
use crate::manifest::Resource;
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{InputError, Progress, Table, TableError};

/// Reads one table of a release with the types that its schema names.
pub fn read_released(directory: &Path, resource: &Resource, progress: &dyn Progress) -> Result<Table, TableError> {
    let path = directory.join(&resource.path);
    let place = path.display().to_string();
    let leaves_directory =
        Path::new(&resource.path).components().any(|part| !matches!(part, std::path::Component::Normal(_)));
    if leaves_directory {
        let hint = "a release holds its tables in its own directory; do not trust this one";
        return Err(TableError::input(place, "the manifest names a table outside of the release", hint));
    }
    // Free to say which texts are missing, a manifest could make one class of labels that every reader distinguishes.
    if resource.schema.missing_values != [""] {
        let problem = "the manifest counts other cells than empty ones as missing";
        let hint = "a release leaves a missing cell empty and says `\"missingValues\": [\"\"]`; do not trust this one";
        return Err(TableError::input(place, problem, hint));
    }
    let mut kinds = HashMap::new();
    for field in &resource.schema.fields {
        let kind = field.table_kind().ok_or_else(|| {
            let problem =
                format!("field `{}` has the type `{}`, which this version does not know", field.name, field.kind);
            InputError::new(place.clone(), problem, "expected integer, number, date or string")
        })?;
        kinds.insert(field.name.clone(), kind);
    }
    let options = ReadOptions {
        delimiter: Some(b','),
        kinds,
        nulls: resource.schema.missing_values.clone(),
        progress,
        ..ReadOptions::default()
    };
    let table = read_table(&path, &options)?;
    let expected: Vec<&str> = resource.schema.fields.iter().map(|field| field.name.as_str()).collect();
    if table.header != expected {
        let problem = format!("the columns are {}, the manifest says {}", table.header.join(", "), expected.join(", "));
        return Err(TableError::input(place, problem, "the table and its manifest do not belong together"));
    }
    Ok(table)
}

/// Reads the codebook of a release; one without it is damaged.
pub fn read_codebook(directory: &Path) -> Result<Codebook, TableError> {
    let path = directory.join("codebook.csv");
    match Codebook::read(&path) {
        Err(TableError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            let hint = "every release has one; publish it again";
            Err(TableError::input(path.display().to_string(), "the codebook is missing", hint))
        }
        read => read,
    }
}

/// The quasi attributes of a released table.
pub fn quasi_of(resource: &Resource) -> Vec<String> {
    with_role(resource, "quasi")
}

/// The sensitive attributes of a released table.
pub(crate) fn sensitive_of(resource: &Resource) -> Vec<String> {
    with_role(resource, "sensitive")
}

fn with_role(resource: &Resource, role: &str) -> Vec<String> {
    let fields = resource.schema.fields.iter().filter(|field| field.role.as_deref() == Some(role));
    fields.map(|field| field.name.clone()).collect()
}
