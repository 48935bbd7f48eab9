//! A table that another program or a person made, described so that it can be read as a release: it
//! has no manifest, and its labels are explained by hierarchy files or by their own text.

use std::path::{Path, PathBuf};

use hedgerow_table::read::{NumberFormat, ReadOptions, read_table};
use hedgerow_table::{Column, DateFormat, Format, Progress, Table, TableError};

use crate::codebook::Codebook;
use crate::kinds::texts;
use crate::labels::HierarchyLabels;
use crate::manifest;
use crate::notation::Notation;

/// The file that describes a foreign table.
pub const FILE_NAME: &str = "release.toml";

/// A table without a manifest, and what its columns are.
#[derive(Debug, Clone)]
pub struct ForeignTable {
    pub path: PathBuf,
    pub nulls: Vec<String>,
    pub delimiter: Option<u8>,
    pub quote: Option<u8>,
    /// By the file's suffix when `None`.
    pub format: Option<Format>,
    /// How numbers are written, also within labels.
    pub numbers: NumberFormat,
    /// How dates are written within labels, when not as `2024-02-29`.
    pub date_format: Option<DateFormat>,
    /// Each with a hierarchy file that explains its labels, where there is one.
    pub quasi: Vec<(String, Option<PathBuf>)>,
    pub sensitive: Vec<String>,
}

/// The file that describes a foreign table, when `path` is one or is a directory that holds one and
/// no manifest.
pub fn description_of(path: &Path) -> Option<PathBuf> {
    let inside = path.join(FILE_NAME);
    if path.is_file() && path.extension().is_some_and(|suffix| suffix == "toml") {
        Some(path.to_path_buf())
    } else {
        (!path.join(manifest::FILE_NAME).exists() && inside.is_file()).then_some(inside)
    }
}

impl ForeignTable {
    /// The table, what its labels cover, and warnings of labels that nothing explains.
    pub(crate) fn read(&self, progress: &dyn Progress) -> Result<(Table, Codebook, Vec<String>), TableError> {
        let mut nulls = self.nulls.clone();
        nulls.push(String::new());
        let (numbers, date_format) = (self.numbers, self.date_format.clone());
        let options = ReadOptions {
            format: self.format,
            delimiter: self.delimiter,
            quote: self.quote,
            nulls,
            numbers,
            date_format: date_format.clone(),
            progress,
            ..ReadOptions::default()
        };
        let table = read_table(&self.path, &options)?;
        let mut labels = HierarchyLabels::new(Notation { numbers, dates: date_format });
        for (name, hierarchy) in &self.quasi {
            if let Some(path) = hierarchy {
                labels.read_hierarchy(name, path)?;
            }
        }
        let place = self.path.display().to_string();
        let mut codebook = Codebook::new();
        for (name, _) in &self.quasi {
            let domain = &self.column(&table, name)?.domain;
            let texts = texts(domain);
            for (text, cover) in texts.iter().zip(labels.covers(&place, name, &texts, domain.kind())?) {
                codebook.insert(name, text, &cover)?;
            }
        }
        for name in &self.sensitive {
            self.column(&table, name)?;
        }
        Ok((table, codebook, labels.into_warnings()))
    }

    fn column<'t>(&self, table: &'t Table, name: &str) -> Result<&'t Column, TableError> {
        table.column(name).ok_or_else(|| {
            let hint = format!("the table has: {}", table.header.join(", "));
            TableError::input(self.path.display().to_string(), format!("the table has no column `{name}`"), hint)
        })
    }
}
