//! A table that another program or a person made, described so that it can be read as a release: it
//! has no manifest, and its labels are explained by hierarchy files or by their own text.

use std::path::{Path, PathBuf};

use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Column, Progress, Table, TableError};

use crate::codebook::Codebook;
use crate::labels::Labels;
use crate::manifest;

/// The file that describes a foreign table.
pub const FILE_NAME: &str = "release.toml";

/// A table without a manifest, and what its columns are.
#[derive(Debug, Clone)]
pub struct ForeignTable {
    pub path: PathBuf,
    pub nulls: Vec<String>,
    pub delimiter: Option<u8>,
    pub quote: Option<u8>,
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
    /// The table, what its labels cover, and which labels nothing explains.
    pub(crate) fn read(&self, progress: &dyn Progress) -> Result<(Table, Codebook, Vec<String>), TableError> {
        let mut nulls = self.nulls.clone();
        nulls.push(String::new());
        let options =
            ReadOptions { nulls, delimiter: self.delimiter, quote: self.quote, progress, ..ReadOptions::default() };
        let table = read_table(&self.path, &options)?;
        let mut labels = Labels::default();
        for (name, hierarchy) in &self.quasi {
            if let Some(path) = hierarchy {
                labels.read_hierarchy(name, path)?;
            }
        }
        let mut codebook = Codebook::new();
        for (name, _) in &self.quasi {
            let column = self.column(&table, name)?;
            for text in (0..column.domain.cardinality() as u32).map(|code| column.domain.text(code)) {
                let cover = labels.cover(name, &text);
                codebook.insert(name, &text, &cover)?;
            }
        }
        for name in &self.sensitive {
            self.column(&table, name)?;
        }
        Ok((table, codebook, labels.unexplained()))
    }

    fn column<'t>(&self, table: &'t Table, name: &str) -> Result<&'t Column, TableError> {
        table.column(name).ok_or_else(|| {
            let hint = format!("the table has: {}", table.header.join(", "));
            TableError::input(self.path.display().to_string(), format!("there is no column `{name}`"), hint)
        })
    }
}
