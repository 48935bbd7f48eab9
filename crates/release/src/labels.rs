//! The covers of a foreign table's labels: by the hierarchy file of their attribute, else by
//! their own text in one of the notations of [`crate::notation`].
//!
//! A column is read as a whole. Where some labels are intervals, any other label is a warning:
//! a person with the value that it stands for would seem not to be in the table. Where most labels
//! fit nothing, the table is refused.

use std::path::Path;

use hashbrown::{HashMap, HashSet};

use hedgerow_table::hierarchy::{Bound, Cover};
use hedgerow_table::records::{Records, detect_delimiter, read_text};
use hedgerow_table::{InputError, Kind, TableError};

use crate::notation::{Notation, looks_like_interval, year};

const BYTES_MAX: u64 = 256 << 20;

/// The labels of hierarchy files, and the notation of others.
#[derive(Debug, Default)]
pub(crate) struct HierarchyLabels {
    notation: Notation,
    /// By attribute, then by label: the leaves under it.
    files: HashMap<String, HashMap<String, Vec<String>>>,
    warnings: Vec<String>,
}

impl HierarchyLabels {
    pub(crate) fn new(notation: Notation) -> HierarchyLabels {
        HierarchyLabels { notation, ..HierarchyLabels::default() }
    }

    /// A hierarchy file in ARX's layout: `leaf;level 1;…;top`, one row per leaf.
    pub(crate) fn read_hierarchy(&mut self, attribute: &str, path: &Path) -> Result<(), TableError> {
        let text = read_text(path, BYTES_MAX)?;
        let mut labels: HashMap<String, Vec<String>> = HashMap::new();
        for record in Records::new(&text, detect_delimiter(&text)) {
            let record = record.map_err(|malformed| malformed.in_file(path))?;
            let Some(leaf) = record.fields.first() else { continue };
            for label in record.fields.iter().collect::<HashSet<_>>() {
                labels.entry(label.to_string()).or_default().push(leaf.to_string());
            }
        }
        if labels.is_empty() {
            let hint = "write one row per leaf: `leaf;level 1;…;top`";
            return Err(InputError::new(path.display().to_string(), "the hierarchy is empty", hint).into());
        }
        self.files.insert(attribute.to_owned(), labels);
        Ok(())
    }

    /// The cover of each label of a column; `kind` is what the column was read as. Refuses a column
    /// of which most labels fit nothing; `place` names the table.
    pub(crate) fn covers(
        &mut self,
        place: &str,
        attribute: &str,
        labels: &[String],
        kind: Kind,
    ) -> Result<Vec<Cover>, TableError> {
        // Numbers and dates have been read already, and are written anew.
        let as_read = Notation::default();
        let notation = if kind == Kind::Category { &self.notation } else { &as_read };
        let file = self.files.get(attribute);
        let leaves = |label: &String| file.and_then(|file| file.get(label)).map(|leaves| Cover::Leaves(leaves.clone()));
        let mut read: Vec<Option<Cover>> =
            labels.iter().map(|label| leaves(label).or_else(|| notation.read(label))).collect();
        read_years(&mut read);
        let is_interval = |cover: &Option<Cover>| matches!(cover, Some(Cover::Interval { .. }));
        let has_intervals = read.iter().any(is_interval);
        // A text by itself is a category like any other; among intervals, or in the shape of one,
        // it is a notation that was not understood.
        let is_unread = |label: &str| file.is_some() || has_intervals || looks_like_interval(label);
        let texts = labels.iter().zip(&read).filter(|(_, cover)| cover.is_none()).map(|(label, _)| label.as_str());
        let unread: Vec<&str> = texts.filter(|label| is_unread(label)).collect();
        if let Some(example) = unread.first() {
            let hiding = |cover: &&Option<Cover>| matches!(cover, Some(Cover::Everything | Cover::Missing));
            let telling = read.len() - read.iter().filter(hiding).count();
            let in_file = if file.is_some() { "its hierarchy file lacks them and " } else { "" };
            let (count, known) = (unread.len(), format!("{in_file}no known notation fits"));
            if 2 * count > telling {
                let problem = format!(
                    "{count} of {telling} labels of `{attribute}` cannot be read, such as `{example}`: {known}"
                );
                let hint = format!(
                    "name a file that says what they cover, `leaf;label` in every row: \
                     `{attribute} = {{ role = \"quasi\", hierarchy = \"{attribute}.csv\" }}`"
                );
                return Err(TableError::input(place, problem, hint));
            }
            self.warnings.push(format!(
                "{count} of {telling} labels of `{attribute}` cannot be read, such as `{example}`: {known}; \
                 each is taken for a value of its own"
            ));
        }
        let own = |label: &String| Cover::Leaves(vec![label.clone()]);
        Ok(read.into_iter().zip(labels).map(|(cover, label)| cover.unwrap_or_else(|| own(label))).collect())
    }

    /// Labels that fit nothing, counted by attribute, with an example each.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }
}

/// Among dates, `2020` is a year.
fn read_years(read: &mut [Option<Cover>]) {
    let is_date = |cover: &Option<Cover>| match cover {
        Some(Cover::Point(point)) => matches!(point, Bound::Date(_)),
        Some(Cover::Interval { low, high }) => low.or(*high).is_some_and(|bound| matches!(bound, Bound::Date(_))),
        _ => false,
    };
    if !read.iter().any(is_date) {
        return;
    }
    for cover in read.iter_mut().flatten() {
        if let Cover::Point(point) = cover
            && let Some(days) = year(*point)
        {
            *cover = days;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|label| (*label).to_owned()).collect()
    }

    fn leaves(leaves: &[&str]) -> Cover {
        Cover::Leaves(texts(leaves))
    }

    #[test]
    fn a_hierarchy_file_explains_its_labels_and_misses_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.csv");
        std::fs::write(&path, "single;alone;*\nwidowed;alone;*\nmarried;married;*\n").unwrap();
        let mut labels = HierarchyLabels::default();
        labels.read_hierarchy("status", &path).unwrap();
        let covers =
            labels.covers("t", "status", &texts(&["alone", "married", "divorced", ""]), Kind::Category).unwrap();
        let expected = [leaves(&["single", "widowed"]), leaves(&["married"]), leaves(&["divorced"]), Cover::Missing];
        assert_eq!(covers, expected);
        let refused =
            labels.covers("t", "status", &texts(&["divorced", "other"]), Kind::Category).unwrap_err().to_string();
        assert!(refused.contains("2 of 2 labels of `status` cannot be read, such as `divorced`"), "{refused}");
        let [warning] = labels.into_warnings().try_into().unwrap();
        assert!(warning.starts_with("1 of 3 labels of `status` cannot be read, such as `divorced`"), "{warning}");
    }

    #[test]
    fn a_text_among_intervals_is_a_warning_and_most_are_an_error() {
        let mut labels = HierarchyLabels::default();
        labels.covers("t", "age", &texts(&["(20, 40]", "40+", "twenty or so"]), Kind::Category).unwrap();
        labels.covers("t", "status", &texts(&["Never-married", "single", "V57", "428"]), Kind::Category).unwrap();
        let error = labels
            .covers("t", "age", &texts(&["<20 to <40>", "[40 : 60]", "*"]), Kind::Category)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("t: 2 of 2 labels of `age` cannot be read, such as `<20 to <40>`"), "{error}");
        assert!(error.contains("hierarchy = \"age.csv\""), "{error}");
        let warnings = labels.into_warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("1 of 3 labels of `age` cannot be read, such as `twenty or so`"));
    }

    #[test]
    fn a_bare_year_among_dates_is_all_its_days() {
        let mut labels = HierarchyLabels::default();
        let covers = labels.covers("t", "born", &texts(&["1980", "1981-02"]), Kind::Category).unwrap();
        let days = |from, to| Cover::Interval { low: Bound::parse(from), high: Bound::parse(to) };
        assert_eq!(covers, [days("1980-01-01", "1981-01-01"), days("1981-02-01", "1981-03-01")]);
        let covers = labels.covers("t", "n", &texts(&["1980", "7"]), Kind::Category).unwrap();
        assert_eq!(covers[0], Cover::Point(Bound::Integer(1980)));
    }
}
