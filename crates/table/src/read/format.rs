//! Which format a file is in, by its name.

use std::path::Path;

use crate::TableError;

/// The format of a file with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Fields with a separator: commas, or what the policy says.
    Csv,
    /// Fields separated by tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// One JSON object in each line.
    Ndjson,
    /// A workbook of Excel, of which the first sheet is read.
    Excel,
    /// A data set of Stata.
    Stata,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 6] =
        [Format::Csv, Format::Tsv, Format::Parquet, Format::Ndjson, Format::Excel, Format::Stata];

    /// As it stands in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Parquet => "parquet",
            Format::Ndjson => "ndjson",
            Format::Excel => "excel",
            Format::Stata => "stata",
        }
    }

    /// The format with a name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether fields are separated by a character that can be chosen.
    pub fn has_delimiter(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv)
    }

    /// By the suffix, after one of compression: `people.csv`, `people.tsv.gz`.
    pub fn of(path: &Path) -> Result<Format, TableError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let bare = [".gz", ".zst", ".zstd"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
        match bare.rsplit_once('.').map(|(_, suffix)| suffix) {
            Some("csv" | "txt") => Ok(Format::Csv),
            Some("tsv" | "tab") => Ok(Format::Tsv),
            Some("parquet" | "pq") => Ok(Format::Parquet),
            Some("ndjson" | "jsonl") => Ok(Format::Ndjson),
            Some("xlsx" | "xlsm") => Ok(Format::Excel),
            Some("dta") => Ok(Format::Stata),
            suffix => Err(TableError::input(
                path.display().to_string(),
                "the suffix of the name is not that of a known format",
                match suffix {
                    Some("xls" | "xlsb" | "ods") => "save the sheet as .xlsx or as .csv",
                    Some("sav" | "zsav" | "por") => {
                        "SPSS files are not read: save the data as .dta (Stata) or .csv (SAVE TRANSLATE in SPSS, haven in R)"
                    }
                    Some("sas7bdat" | "xpt") => {
                        "SAS files are not read: export the data as .dta (Stata) or .csv (PROC EXPORT in SAS, haven in R)"
                    }
                    _ => {
                        "expected a name ending in .csv, .tsv, .parquet, .ndjson, .xlsx or .dta (text files may be compressed: \
                         .gz or .zst after it)"
                    }
                },
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_states_the_format() {
        let cases = [
            ("a.csv", Format::Csv),
            ("dir.tsv/A.CSV", Format::Csv),
            ("a.txt", Format::Csv),
            ("a.tsv", Format::Tsv),
            ("a.tab.gz", Format::Tsv),
            ("a.csv.zst", Format::Csv),
            ("a.ndjson.zstd", Format::Ndjson),
            ("a.jsonl", Format::Ndjson),
            ("a.b.parquet", Format::Parquet),
            ("a.pq", Format::Parquet),
            ("a.XLSX", Format::Excel),
            ("a.dta", Format::Stata),
        ];
        for (name, format) in cases {
            assert_eq!(Format::of(Path::new(name)).unwrap(), format, "{name}");
        }
    }

    #[test]
    fn an_unknown_suffix_is_refused() {
        for name in ["a.xls", "a.sav", "a.sas7bdat", "csv", "a.gz", "", "a.csv.bak"] {
            assert!(matches!(Format::of(Path::new(name)), Err(TableError::Input(_))), "{name}");
        }
    }
}
