//! Several files as one source: the cells of each are coded by its own reader, and typed together.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::ReadOptions;
use super::assemble::{AssembleError, Gathered, assemble, settle_all};
use super::csv::check_rows;
use super::source::open_file;
use super::spilled::SpilledTable;
use super::{LIMITS, header::shorten};
use crate::spill::SpillFile;
use crate::{Format, InputError, Progress, Table, TableError};

/// More files than this are a mistake in the pattern.
const FILES_MAX: usize = 10_000;

/// The cells of one file, coded but not typed yet.
pub(super) struct CodedFile<'a> {
    pub(super) header: Vec<String>,
    pub(super) columns: Vec<Gathered>,
    pub(super) rows: usize,
    pub(super) warnings: Vec<InputError>,
    /// The place of a row in errors: the file, and the line or the row in it.
    pub(super) place_of: Box<dyn Fn(usize) -> String + 'a>,
}

impl CodedFile<'_> {
    pub(super) fn into_table(self, path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
        let table = assemble(self.header, self.columns, self.rows, &path.display().to_string(), options);
        let mut table = table.map_err(|error| explain(error, &self.place_of))?;
        table.warnings.extend(self.warnings);
        Ok(table)
    }

    /// The same, its codes wherever they are; those on the disk lie in `file`.
    pub(super) fn into_spilled(
        self,
        path: &Path,
        options: &ReadOptions,
        file: Arc<SpillFile>,
    ) -> Result<SpilledTable, TableError> {
        let settled = settle_all(self.columns, &path.display().to_string(), options, Ok);
        let (columns, mut warnings) = settled.map_err(|error| explain(error, &self.place_of))?;
        warnings.extend(self.warnings);
        Ok(SpilledTable::new(self.header, columns, self.rows, warnings, file))
    }
}

fn explain(error: AssembleError, place_of: &dyn Fn(usize) -> String) -> TableError {
    match error {
        AssembleError::Table(error) => error,
        AssembleError::Unfit(unfit) => TableError::input(place_of(unfit.row), unfit.problem(), unfit.hint()),
    }
}

/// One file after the other. Their columns must be the same, in any order.
pub(super) fn join<'a>(files: &[PathBuf], parts: Vec<CodedFile<'a>>) -> Result<CodedFile<'a>, TableError> {
    let mut parts = parts.into_iter();
    let Some(mut joined) = parts.next() else {
        return Err(TableError::Internal("a source without files".to_owned()));
    };
    let mut places = vec![(joined.rows, joined.place_of)];
    for (file, part) in files[1..].iter().zip(parts) {
        check_header(&files[0], &joined.header, file, &part.header)?;
        let mut columns = part.columns;
        for column in &mut joined.columns {
            let found = columns.iter().position(|other| other.name == column.name);
            let Some(other) = found.map(|index| columns.swap_remove(index)) else {
                let problem = format!("column `{}` cannot be read here, and can in the other files", column.name);
                return Err(TableError::input(file.display().to_string(), problem, "store it alike in all files"));
            };
            append(column, other);
        }
        joined.rows += part.rows;
        joined.warnings.extend(part.warnings);
        places.push((part.rows, part.place_of));
    }
    check_rows(&files[0], joined.rows, &LIMITS)?;
    joined.place_of = Box::new(move |row| {
        let mut row = row;
        for (rows, place_of) in &places {
            if row < *rows {
                return place_of(row);
            }
            row -= rows;
        }
        String::new()
    });
    Ok(joined)
}

fn append(column: &mut Gathered, other: Gathered) {
    let workers = column.dictionaries.len();
    column.dictionaries.extend(other.dictionaries);
    column.pieces.extend(other.pieces.into_iter().map(|mut piece| {
        piece.worker += workers;
        piece
    }));
    // Where the files declare different types, the texts decide.
    if column.kind != other.kind {
        column.kind = None;
    }
    column.is_text &= other.is_text;
}

fn check_header(first: &Path, expected: &[String], file: &Path, found: &[String]) -> Result<(), TableError> {
    let lacks = |names: &[String], name: &String| !names.contains(name);
    let problem = if let Some(name) = expected.iter().find(|name| lacks(found, name)) {
        format!("the column `{}` of {} is not here", shorten(name), first.display())
    } else if let Some(name) = found.iter().find(|name| lacks(expected, name)) {
        format!("the column `{}` is not in {}", shorten(name), first.display())
    } else {
        return Ok(());
    };
    Err(TableError::input(file.display().to_string(), problem, "files that are one source have the same columns"))
}

/// The files that a path means: itself, all that match a pattern such as `parts/*.parquet`, or all
/// in a folder, in the order of their names.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, TableError> {
    if path.is_dir() {
        return in_folder(path);
    }
    let is_pattern = |part: &Component<'_>| part.as_os_str().to_str().is_some_and(|name| name.contains(['*', '?']));
    if path.exists() || !path.components().any(|part| is_pattern(&part)) {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        if is_pattern(&part) {
            let name = part.as_os_str().to_string_lossy();
            let mut within = Vec::new();
            for folder in &found {
                within.extend(
                    entries(folder)?.into_iter().filter(|entry| matches(&name, entry)).map(|entry| folder.join(entry)),
                );
                check_count(path, within.len())?;
            }
            found = within;
        } else {
            found.iter_mut().for_each(|found| found.push(part));
        }
    }
    found.retain(|found| found.is_file());
    found.sort_unstable();
    if found.is_empty() {
        let hint = "check the pattern; `*` stands for any part of a name, `?` for one character";
        return Err(TableError::input(path.display().to_string(), "no file matches the pattern", hint));
    }
    Ok(found)
}

/// The files in a folder. Hidden ones and the marks of other programs (`_SUCCESS`) hold no rows.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, TableError> {
    let names = entries(folder)?.into_iter().filter(|name| !name.starts_with(['.', '_']));
    let mut found: Vec<PathBuf> = names.map(|name| folder.join(name)).filter(|path| path.is_file()).collect();
    found.sort_unstable();
    check_count(folder, found.len())?;
    if found.is_empty() {
        let hint = "name the folder that holds the files themselves, or a pattern such as `parts/*.csv`";
        return Err(TableError::input(folder.display().to_string(), "the folder holds no files", hint));
    }
    Ok(found)
}

fn check_count(path: &Path, count: usize) -> Result<(), TableError> {
    if count <= FILES_MAX {
        return Ok(());
    }
    let problem = format!("more than {FILES_MAX} files are meant");
    Err(TableError::input(path.display().to_string(), problem, "join them into fewer files"))
}

/// The names in a folder; none if the folder does not exist.
fn entries(folder: &Path) -> Result<Vec<String>, TableError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let listed = match std::fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(TableError::io(folder, error)),
    };
    let mut names = Vec::new();
    for entry in listed {
        let entry = entry.map_err(|error| TableError::io(folder, error))?;
        names.extend(entry.file_name().into_string());
    }
    Ok(names)
}

/// The format that all files have by their names.
pub(super) fn format_of(files: &[PathBuf]) -> Result<Format, TableError> {
    let first = files.first().ok_or_else(|| TableError::Internal("a source without files".to_owned()))?;
    let format = Format::of(first)?;
    for file in files {
        let other = Format::of(file)?;
        if other != format {
            let (found, expected) = (other.name(), format.name());
            let problem = format!("is {found} by its name, where {} is {expected}", first.display());
            let hint = "files that are one source have one format: name them by a pattern such as `parts/*.csv`";
            return Err(TableError::input(file.display().to_string(), problem, hint));
        }
    }
    Ok(format)
}

/// Whether a name matches a pattern of `*` and `?`. A leading dot must be written out, as in a
/// shell.
fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    // Where the last `*` is, and how far its text goes so far.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&mark) if mark == '?' || mark == name[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((place, end)) = star else { return false };
                star = Some((place, end + 1));
                at = place + 1;
                from = end + 1;
            }
        }
    }
    pattern[at..].iter().all(|&mark| mark == '*')
}

/// Progress over all files: the phase begins once, with the bytes of all.
pub(super) struct OverFiles<'a>(pub(super) &'a dyn Progress);

impl<'a> OverFiles<'a> {
    pub(super) fn begin(files: &[PathBuf], progress: &'a dyn Progress) -> Result<OverFiles<'a>, TableError> {
        let lengths: Result<Vec<u64>, TableError> =
            files.iter().map(|file| open_file(file).map(|(_, length)| length)).collect();
        progress.stage("read", Some(lengths?.iter().sum()));
        Ok(OverFiles(progress))
    }
}

impl Progress for OverFiles<'_> {
    fn advance(&self, amount: u64) {
        self.0.advance(amount);
    }
    fn is_canceled(&self) -> bool {
        self.0.is_canceled()
    }
    fn finishes_early(&self) -> bool {
        self.0.finishes_early()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::Kind;
    use crate::read::read_table;
    use crate::read::tests::{input_error, texts};

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    #[test]
    fn files_that_match_a_pattern_are_one_source_typed_together() {
        let folder = folder(&[
            ("part-2.csv", "age,zip\n7,02139\n"),
            ("part-1.csv", "zip,age\n10001,31\n10002,\n"),
            (".part-0.csv", "other\n1\n"),
            ("notes.txt", "other\n1\n"),
        ]);
        let table = read_table(&folder.path().join("part-*.csv"), &ReadOptions::default()).unwrap();
        assert_eq!(table.header, ["zip", "age"], "as in the first file");
        assert_eq!((table.rows, texts(&table, "age")), (3, vec!["31".into(), String::new(), "7".into()]));
        assert_eq!(texts(&table, "zip"), ["10001", "10002", "02139"], "`02139` makes the column text in all files");
        assert_eq!(table.column("age").unwrap().domain.kind(), Kind::Integer);
    }

    #[test]
    fn errors_name_the_file_and_its_line() {
        let folder = folder(&[("a.csv", "n\n1\n2\n"), ("b.csv", "n\n3\nx\n"), ("c.csv", "m\n1\n")]);
        let kinds = HashMap::from([("n".to_owned(), Kind::Integer)]);
        let options = ReadOptions { kinds, ..ReadOptions::default() };
        let error = input_error(read_table(&folder.path().join("?.csv"), &options));
        assert!(error.place.ends_with("c.csv") && error.problem.contains("the column `n` of"), "{error}");
        std::fs::remove_file(folder.path().join("c.csv")).unwrap();
        let error = input_error(read_table(&folder.path().join("?.csv"), &options));
        assert!(error.place.ends_with("b.csv:3") && error.problem.contains("`x` is not an integer"), "{error}");
        let error = input_error(read_table(&folder.path().join("*.parquet"), &options));
        assert!(error.problem.contains("no file matches the pattern"), "{error}");
    }

    #[test]
    fn a_folder_is_one_source_and_so_are_files_in_folders_that_match() {
        let folder = folder(&[("a.csv", "n\n1\n"), ("b.csv", "n\n2\n"), ("_SUCCESS", ""), (".crc", "")]);
        let inner = folder.path().join("year=2020");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("a.csv"), "n\n7\n").unwrap();
        let read = |path: &Path| read_table(path, &ReadOptions::default());
        assert_eq!(texts(&read(folder.path()).unwrap(), "n"), ["1", "2"]);
        assert_eq!(texts(&read(&folder.path().join("year=*/*.csv")).unwrap(), "n"), ["7"]);
        let error = input_error(read(&folder.path().join("month=*/*.csv")));
        assert!(error.problem.contains("no file matches the pattern"), "{error}");
        std::fs::write(folder.path().join("c.ndjson"), "{\"n\": 3}\n").unwrap();
        let error = input_error(read(folder.path()));
        assert!(error.place.ends_with("c.ndjson") && error.problem.contains("is ndjson by its name"), "{error}");
        std::fs::remove_file(inner.join("a.csv")).unwrap();
        assert!(input_error(read(&inner)).problem.contains("holds no files"));
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("*", "a.csv", true),
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("?.csv", "a.csv", true),
            ("?.csv", "ab.csv", false),
            ("*", ".hidden", false),
            (".*", ".hidden", true),
            ("é*", "éa", true),
            ("a", "a", true),
            ("a", "b", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
