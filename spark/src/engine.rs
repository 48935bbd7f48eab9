//! A table on the cluster, as a search sees it: the values of its columns and its distinct rows.
//!
//! On the cluster a cell is the text of its value. Which texts are which value, and which are
//! missing, is decided here as for files, so that every engine leads to the same release.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use hedgerow_release::CountReleased;
use hedgerow_release::manifest::Resource;
use hedgerow_release::read::{refuse_other_columns, released_options};
use hedgerow_table::engine::{ColumnProfile, Distinct, EngineAnswer, Visit};
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{Codes, Counted, Domain, Engine, InputError, Progress, TableBuilder, TableError, TableProfile};

use crate::column::{SparkType, Strings};
use crate::session::Session;
use crate::sql;

/// Values of one column, and distinct rows, that are brought here.
const VALUES_MAX: usize = 50_000_000;
const DISTINCT_MAX: usize = 200_000_000;

/// A view of the session, with the values of its columns.
#[derive(Debug)]
pub(crate) struct SparkTable<'s> {
    pub(crate) session: &'s Session,
    pub(crate) view: String,
    profile: TableProfile,
    /// As the profile has its columns.
    texts: Vec<Texts>,
}

/// The texts of a column on the cluster, and the code of each.
#[derive(Default)]
pub(crate) struct Texts {
    codes: HashMap<String, u32>,
    /// The code of NULL, where it occurs.
    null: Option<u32>,
}

impl std::fmt::Debug for Texts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

impl Texts {
    fn code(&self, text: Option<&str>) -> Option<u32> {
        match text {
            Some(text) => self.codes.get(text).copied(),
            None => self.null,
        }
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = (Option<&str>, u32)> {
        let texts = self.codes.iter().map(|(text, &code)| (Some(text.as_str()), code));
        texts.chain(self.null.map(|code| (None, code)))
    }
}

impl<'s> SparkTable<'s> {
    /// A view of the session. `place` names it in errors.
    pub(crate) fn of(
        session: &'s Session,
        view: String,
        place: &str,
        strings: Strings,
        options: &ReadOptions<'_>,
    ) -> Result<SparkTable<'s>, TableError> {
        let found = session.columns(&view, options.progress)?;
        let header: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
        refuse_ambiguous(&header, place)?;
        let (mut columns, mut texts, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        let mut rows = None;
        for (name, declared) in found.iter().filter(|(name, _)| options.names(name)) {
            let cells = SparkType::of(declared, strings).map_err(|found| {
                let problem = format!("column `{name}` has the type {found}, which cannot be read");
                let hint = "a table holds single values: omit the column, or turn it into text, a number or a date";
                InputError::new(place, problem, hint)
            })?;
            let (column, of_column) = profile_of(session, &view, place, name, cells, options, &mut warnings)?;
            let counted: u64 = column.counts.iter().sum();
            if *rows.get_or_insert(counted) != counted {
                return Err(changed(place));
            }
            columns.push(column);
            texts.push(of_column);
        }
        let Some(rows) = rows else {
            let hint = "check the table and the names of the attributes";
            return Err(TableError::input(place, "no column of the policy is there", hint));
        };
        let profile = TableProfile { rows: rows as usize, header, columns, warnings };
        Ok(SparkTable { session, view, profile, texts })
    }

    fn name(&self, column: usize) -> &str {
        &self.profile.columns[column].name
    }

    /// A column with its texts.
    pub(crate) fn column(&self, name: &str) -> Result<(&ColumnProfile, &Texts), TableError> {
        let mut columns = self.profile.columns.iter().zip(&self.texts);
        let found = columns.find(|(column, _)| column.name == name);
        found.ok_or_else(|| TableError::Internal("a column that was not read".to_owned()))
    }
}

impl Engine for SparkTable<'_> {
    fn profile(&self) -> &TableProfile {
        &self.profile
    }

    fn distinct(&self, columns: &[usize], progress: &dyn Progress) -> Result<EngineAnswer<Distinct>, TableError> {
        let place = self.session.place();
        if columns.is_empty() {
            let all = u32::try_from(self.profile.rows).map(|rows| vec![rows; usize::from(rows > 0)]);
            return Ok(match all {
                Ok(counts) => EngineAnswer::Exact(Distinct { columns: Vec::new(), counts }),
                Err(_) => EngineAnswer::Unsupported(TOO_OFTEN.to_owned()),
            });
        }
        let names: Vec<&str> = columns.iter().map(|&column| self.name(column)).collect();
        // Several texts can be one value, so rows can meet here that differ there.
        let mut found: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        let mut too_many = false;
        self.session.query(&sql::distinct(&self.view, &names), progress, &mut |row| {
            let (count, cells) = row.split_last().ok_or_else(|| changed(place))?;
            let mut codes = Vec::with_capacity(columns.len());
            for (cell, &column) in cells.iter().zip(columns) {
                // A text that was not there before: the source changed.
                codes.push(self.texts[column].code(cell.as_str()).ok_or_else(|| changed(place))?);
            }
            let count = count.as_i64().and_then(|count| u64::try_from(count).ok()).ok_or_else(|| changed(place))?;
            too_many |= found.len() >= DISTINCT_MAX;
            if !too_many {
                *found.entry(codes).or_insert(0) += count;
            }
            Ok(())
        })?;
        if too_many {
            return Ok(EngineAnswer::Unsupported(format!("there are more than {DISTINCT_MAX} distinct rows")));
        }
        if found.values().sum::<u64>() != self.profile.rows as u64 {
            return Err(changed(place));
        }
        let counts: Result<Vec<u32>, _> = found.values().map(|&count| u32::try_from(count)).collect();
        let Ok(counts) = counts else { return Ok(EngineAnswer::Unsupported(TOO_OFTEN.to_owned())) };
        let codes = |(index, &column): (usize, &usize)| {
            let cardinality = self.profile.columns[column].domain.cardinality();
            Codes::from_iter(cardinality, found.keys().map(|row| row[index]))
        };
        Ok(EngineAnswer::Exact(Distinct { columns: columns.iter().enumerate().map(codes).collect(), counts }))
    }

    fn scan(&self, _: &[usize], _: &dyn Progress, _: &mut Visit<'_>) -> Result<EngineAnswer<()>, TableError> {
        Ok(EngineAnswer::Unsupported("rows do not leave the cluster".to_owned()))
    }
}

const TOO_OFTEN: &str = "a combination of values occurs more than 4294967295 times";

impl CountReleased for SparkTable<'_> {
    fn count(
        &self,
        directory: &Path,
        table: &Resource,
        names: &[&str],
        progress: &dyn Progress,
    ) -> Result<Counted, TableError> {
        self.session.count(directory, table, names, progress)
    }
}

impl CountReleased for Session {
    fn count(
        &self,
        directory: &Path,
        table: &Resource,
        names: &[&str],
        progress: &dyn Progress,
    ) -> Result<Counted, TableError> {
        let (path, options) = released_options(directory, table, progress)?;
        let place = path.display().to_string();
        if table.format != "parquet" {
            let hint = "check it without a cluster: `hedgerow check`";
            return Err(TableError::input(place, "a cluster checks Parquet tables", hint));
        }
        let view = self.view_of_files("parquet", HashMap::new(), &absolute(&path)?, progress)?;
        let written = SparkTable::of(self, view, &place, Strings::Undeclared, &options)?;
        refuse_other_columns(&path, &written.profile.header, table)?;
        match Counted::of(&written, names, progress)? {
            EngineAnswer::Exact(counted) => Ok(counted),
            EngineAnswer::Unsupported(why) => Err(TableError::input(place, why, "check parts of it")),
        }
    }
}

/// A path as the cluster reads it: the cluster has another folder to start from.
pub(crate) fn absolute(path: &Path) -> Result<String, TableError> {
    let text = absolute_pattern(path)?;
    // To a cluster some characters of a path are a pattern.
    if text.contains(['*', '?', '[', ']', '{', '}', '\\']) {
        let problem = "a cluster takes some characters of the path for a pattern";
        let hint = "name a folder whose path has none of * ? [ ] { } \\";
        return Err(TableError::input(path.display().to_string(), problem, hint));
    }
    Ok(text)
}

/// The same of a source, which may be a pattern, and may have an address of the cluster's own, such
/// as `s3a://…`.
pub(crate) fn absolute_pattern(path: &Path) -> Result<String, TableError> {
    if let Some(address) = path.to_str().filter(|text| text.contains("://")) {
        return Ok(address.to_owned());
    }
    let absolute = std::path::absolute(path).map_err(|error| TableError::io(path, error))?;
    absolute.into_os_string().into_string().map_err(|_| {
        let problem = "the path is not valid UTF-8, and cannot be sent to a cluster";
        TableError::input(path.display().to_string(), problem, "rename the file or the folder")
    })
}

/// Spark takes names that differ in case alone for one.
fn refuse_ambiguous(header: &[String], place: &str) -> Result<(), TableError> {
    let mut seen = HashSet::new();
    match header.iter().find(|name| !seen.insert(name.to_lowercase())) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("two columns are named `{name}`, or differ in case alone");
            Err(TableError::input(place, problem, "rename one of them in a query"))
        }
    }
}

/// The values of one column and how often each occurs, typed as in a file.
fn profile_of(
    session: &Session,
    view: &str,
    place: &str,
    name: &str,
    cells: SparkType,
    options: &ReadOptions<'_>,
    warnings: &mut Vec<InputError>,
) -> Result<(ColumnProfile, Texts), TableError> {
    let mut found: Vec<(Option<String>, u64)> = Vec::new();
    session.query(&sql::distinct(view, &[name]), options.progress, &mut |row| {
        let [text, count] = row.as_slice() else { return Err(changed(place)) };
        let count = count.as_i64().and_then(|count| u64::try_from(count).ok()).ok_or_else(|| changed(place))?;
        if found.len() >= VALUES_MAX {
            let problem = format!("column `{name}` has more than {VALUES_MAX} different values");
            return Err(TableError::input(place, problem, "round them, or omit the column"));
        }
        found.push((text.as_str().map(str::to_owned), count));
        Ok(())
    })?;
    // In one order, whatever order the cluster has.
    found.sort_unstable();
    let placed = |error: TableError| match error {
        TableError::Input(error) => {
            let place = format!("{place}: column `{name}`");
            TableError::from(InputError { place, ..*error })
        }
        error => error,
    };
    // Texts in files are read as people write them; others are as a program stored them.
    let mut builder = match cells {
        SparkType::Undeclared | SparkType::Written => TableBuilder::new([name]).map_err(placed)?,
        _ => TableBuilder::of_rows(vec![(name.to_owned(), cells.kind())], place).map_err(placed)?,
    };
    for (text, _) in &found {
        match cells {
            SparkType::Undeclared => builder.push_record([text.as_deref()]).map_err(placed)?,
            SparkType::Written => builder.push_record([Some(text.as_deref().unwrap_or_default())]).map_err(placed)?,
            _ => builder.push_cells(&[cells.cell(text.as_deref())]).map_err(placed)?,
        }
    }
    let table = builder.finish(options).map_err(placed)?;
    warnings.extend(table.warnings);
    let Some(column) = table.columns.into_iter().next() else {
        return Err(TableError::Internal("a column without values".to_owned()));
    };
    let domain: Domain = column.domain;
    let mut counts = vec![0u64; domain.cardinality()];
    let mut texts = Texts::default();
    for ((text, count), code) in found.into_iter().zip(column.codes.iter()) {
        counts[code as usize] += count;
        match text {
            Some(text) => drop(texts.codes.insert(text, code)),
            None => texts.null = Some(code),
        }
    }
    Ok((ColumnProfile { name: name.to_owned(), domain, counts }, texts))
}

pub(crate) fn changed(place: &str) -> TableError {
    let hint = "publish again while no program writes to it; a query must answer the same each time";
    TableError::input(place, "the data changed while it was read", hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_travel_from_the_root() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(absolute(Path::new("data/a.csv")).unwrap(), here.join("data/a.csv").to_str().unwrap());
        let parts = Path::new("data/*.parquet");
        assert_eq!(absolute_pattern(parts).unwrap(), here.join(parts).to_str().unwrap());
        assert!(absolute(parts).unwrap_err().to_string().contains("pattern"));
        assert_eq!(absolute_pattern(Path::new("s3a://bucket/a")).unwrap(), "s3a://bucket/a");
    }
}
