//! The cluster writes the released rows: what becomes of them goes there as tables.
//!
//! For every column there is a dictionary from texts to values. Where the class of a row decides,
//! the dictionaries also turn its texts into numbers that add up to the row's key, and more tables
//! lead from keys to classes and from classes to labels. Where single rows are dealt, keys lead to
//! kinds, rows of a kind are numbered at random, and a table leads from numbers to classes.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_publish::remote::{ClassOfRows, ClassesBy, RecodedColumn, RecodedTable, Remote, Suppressed};
use hedgerow_table::{Codes, Kind, Progress, TableError, Values};
use spark_connect::row::Value;

use crate::column::sql_type;
use crate::engine::{SparkTable, absolute, changed};
use crate::{parts, sql};

impl Remote for SparkTable<'_> {
    fn write(&self, table: &RecodedTable<'_>, path: &Path, progress: &dyn Progress) -> Result<u64, TableError> {
        let decides = table.columns.iter().any(|column| column.of_class.is_some());
        let statement = match table.classes.as_ref().filter(|_| decides) {
            Some(classes) => self.by_class(table, classes, progress)?,
            None => self.by_value(table, progress)?,
        };
        let folder = path.with_extension("writing");
        self.session.write(&statement, &absolute(&folder)?, progress)?;
        parts::collect(&folder, path)?;
        let written = self.session.view_of_files("parquet", HashMap::new(), &absolute(path)?, progress)?;
        let mut rows = None;
        self.session.query(&sql::count(&written), progress, &mut |row| {
            rows = row.first().and_then(Value::as_i64).and_then(|rows| u64::try_from(rows).ok());
            Ok(())
        })?;
        rows.ok_or_else(|| changed(self.session.place()))
    }
}

impl SparkTable<'_> {
    /// Values decide what is released, and their labels which rows are not.
    fn by_value(&self, table: &RecodedTable<'_>, progress: &dyn Progress) -> Result<String, TableError> {
        let (mut source, mut released) = (Vec::new(), Vec::new());
        for (place, column) in table.columns.iter().enumerate() {
            let labels = table.suppressed.iter().flat_map(|suppressed| &suppressed.labels);
            let labels = labels.filter(|(name, _)| name == column.name).map(|(_, labels)| labels.as_slice()).next();
            let label = |code: u32| labels.and_then(|labels| labels.get(code as usize)).map(|&label| i64::from(label));
            let dictionary = self.send_dictionary(column.name, Some(column), label, progress)?;
            source.push(sql::SourceColumn { name: column.name, dictionary });
            released.push((column.name, sql::Origin::Value(place)));
        }
        let suppressed = table.suppressed.as_ref().filter(|suppressed| !suppressed.rows.is_empty());
        let rows = match suppressed {
            Some(suppressed) => self.send_suppressed(suppressed, table, progress)?,
            None => sql::RowSelection::All,
        };
        Ok(sql::recode(&self.view, &source, &released, &rows))
    }

    /// Classes decide what is released of some columns, and values of the others.
    fn by_class(
        &self,
        table: &RecodedTable<'_>,
        classes: &ClassOfRows<'_>,
        progress: &dyn Progress,
    ) -> Result<String, TableError> {
        let mut cardinalities = Vec::with_capacity(classes.distinct.len());
        for (name, _) in &classes.distinct {
            cardinalities.push(self.column(name)?.0.domain.cardinality());
        }
        let key = RowKey::new(&cardinalities);
        let (mut source, mut released) = (Vec::new(), Vec::new());
        for (&(name, _), &(_, weight)) in classes.distinct.iter().zip(&key.places) {
            let column = table.columns.iter().find(|column| column.name == name && column.of_class.is_none());
            let number = |code: u32| Some(weight * i64::from(code));
            source.push(sql::SourceColumn { name, dictionary: self.send_dictionary(name, column, number, progress)? });
        }
        for column in &table.columns {
            let known = source.iter().position(|source| source.name == column.name);
            let origin = match (column.of_class, known) {
                (Some(_), _) => sql::Origin::Class,
                (None, Some(place)) => sql::Origin::Value(place),
                (None, None) => {
                    let dictionary = self.send_dictionary(column.name, Some(column), |_| None, progress)?;
                    source.push(sql::SourceColumn { name: column.name, dictionary });
                    sql::Origin::Value(source.len() - 1)
                }
            };
            released.push((column.name, origin));
        }
        let (pieces, by) = self.send_pieces(classes, &key, progress)?;
        let rows = sql::RowSelection::InClasses {
            words: key.words(),
            pieces,
            by,
            classes: self.send_classes(table, progress)?,
        };
        Ok(sql::recode(&self.view, &source, &released, &rows))
    }

    /// For every text of a column the value that is released, if one is, and a number.
    fn send_dictionary(
        &self,
        name: &str,
        column: Option<&RecodedColumn<'_>>,
        number: impl Fn(u32) -> Option<i64>,
        progress: &dyn Progress,
    ) -> Result<String, TableError> {
        let (_, texts) = self.column(name)?;
        let rows = texts.each().map(|(text, code)| {
            let text = text.map_or(Value::Null, |text| Value::String(text.to_owned()));
            let value = column.map_or(Value::Null, |column| released(column, code));
            vec![text, value, number(code).map_or(Value::Null, Value::Long)]
        });
        let kind = column.map_or(Kind::Category, |column| column.kind);
        self.session.send(&format!("t string, v {}, l bigint", sql_type(kind)), rows, progress)
    }

    fn send_suppressed(
        &self,
        suppressed: &Suppressed,
        table: &RecodedTable<'_>,
        progress: &dyn Progress,
    ) -> Result<sql::RowSelection, TableError> {
        let mut places = Vec::new();
        for (name, _) in &suppressed.labels {
            let place = table.columns.iter().position(|column| column.name == *name);
            places.push(place.ok_or_else(|| TableError::Internal("a rule looks at what is not released".to_owned()))?);
        }
        let columns: Vec<String> = (0..places.len()).map(|label| format!("l{label} bigint")).collect();
        let rows = suppressed.rows.iter().map(|row| row.iter().map(|&label| Value::Long(label.into())).collect());
        Ok(sql::RowSelection::But { suppressed: self.session.send(&columns.join(", "), rows, progress)?, places })
    }

    /// For every distinct row its key and what leads to its class.
    fn send_pieces(
        &self,
        classes: &ClassOfRows<'_>,
        key: &RowKey,
        progress: &dyn Progress,
    ) -> Result<(String, sql::ClassLookup), TableError> {
        let codes: Vec<&Codes> = classes.distinct.iter().map(|&(_, codes)| codes).collect();
        let of = |distinct: u32, more: &[u32]| {
            let mut row = key.of(codes.iter().map(|codes| codes.get(distinct as usize)));
            row.extend(more.iter().map(|&number| Value::Long(number.into())));
            row
        };
        let schema = |more: &str| {
            let keys: String = (0..key.words).map(|word| format!("k{word} bigint, ")).collect();
            keys + more
        };
        match &classes.by {
            ClassesBy::Value(pieces) if pieces.part_equal_rows() => {
                let rows = pieces.each().map(|piece| of(piece.distinct, &[piece.before, piece.until, piece.class]));
                let view = self.session.send(&schema("a bigint, b bigint, c bigint"), rows, progress)?;
                Ok((view, sql::ClassLookup::Parted))
            }
            ClassesBy::Value(pieces) => {
                let rows = pieces.each().map(|piece| of(piece.distinct, &[piece.class]));
                Ok((self.session.send(&schema("c bigint"), rows, progress)?, sql::ClassLookup::Whole))
            }
            ClassesBy::Number { kinds, classes } => {
                let rows = (0..).zip(kinds).map(|(distinct, kind)| of(distinct, &[kind.start, kind.end]));
                let view = self.session.send(&schema("a bigint, z bigint"), rows, progress)?;
                let rows =
                    (1..).zip(*classes).map(|(number, &class)| vec![Value::Long(number), Value::Long(class.into())]);
                let numbers = self.session.send("b bigint, c bigint", rows, progress)?;
                Ok((view, sql::ClassLookup::Numbered(numbers)))
            }
        }
    }

    /// For every class what is released of the columns that it decides.
    fn send_classes(&self, table: &RecodedTable<'_>, progress: &dyn Progress) -> Result<String, TableError> {
        let columns = table.columns.iter().enumerate();
        let decided: Vec<(usize, &RecodedColumn<'_>, &[u32])> =
            columns.filter_map(|(place, column)| Some((place, column, column.of_class?))).collect();
        let count = decided.first().map_or(0, |(_, _, of_class)| of_class.len());
        let rows = (0..count).map(|class| {
            let values = decided.iter().map(|(_, column, of_class)| released(column, of_class[class]));
            std::iter::once(Value::Long(class as i64)).chain(values).collect()
        });
        let mut schema = vec!["c bigint".to_owned()];
        schema.extend(decided.iter().map(|(place, column, _)| format!("v{place} {}", sql_type(column.kind))));
        self.session.send(&schema.join(", "), rows, progress)
    }
}

/// The value that is released for a code, or for a label.
fn released(column: &RecodedColumn<'_>, code: u32) -> Value {
    let index = code as usize;
    let value = match (column.kind, column.domain.values()) {
        (Kind::Integer, Values::Integer(values)) => values.get(index).map(|&value| Value::Long(value)),
        (Kind::Float, Values::Float(values)) => values.get(index).map(|&value| Value::Double(value)),
        (Kind::Date, Values::Date(values)) => values.get(index).map(|date| Value::Date(date.0)),
        _ => column.texts.get(index).filter(|text| !text.is_empty()).map(|text| Value::String(text.clone())),
    };
    value.unwrap_or(Value::Null)
}

/// How the codes of a row become the few numbers that a table is joined by: in each, a code is a
/// digit, and its weight is how many combinations the digits below it have.
#[derive(Debug, PartialEq, Eq)]
struct RowKey {
    /// For every column the number that it is a digit of, and its weight.
    places: Vec<(usize, i64)>,
    /// How many numbers there are; at least one.
    words: usize,
}

impl RowKey {
    fn new(cardinalities: &[usize]) -> RowKey {
        let (mut words, mut combinations) = (1, 1i64);
        let mut places = Vec::with_capacity(cardinalities.len());
        for &cardinality in cardinalities {
            let digits = i64::try_from(cardinality.max(1)).unwrap_or(i64::MAX);
            let weight = combinations;
            combinations = combinations.checked_mul(digits).unwrap_or_default();
            if combinations == 0 {
                words += 1;
                combinations = digits;
                places.push((words - 1, 1));
            } else {
                places.push((words - 1, weight));
            }
        }
        RowKey { places, words }
    }

    /// For every number the places of its columns.
    fn words(&self) -> Vec<Vec<usize>> {
        let of = |word: usize| (0..self.places.len()).filter(|&place| self.places[place].0 == word).collect();
        (0..self.words).map(of).collect()
    }

    fn of(&self, codes: impl Iterator<Item = u32>) -> Vec<Value> {
        let mut numbers = vec![0i64; self.words];
        for (&(word, weight), code) in self.places.iter().zip(codes) {
            numbers[word] += weight * i64::from(code);
        }
        numbers.into_iter().map(Value::Long).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn numbers(key: &RowKey, codes: &[u32]) -> Vec<i64> {
        key.of(codes.iter().copied()).iter().filter_map(Value::as_i64).collect()
    }

    #[test]
    fn a_key_tells_every_row_from_every_other() {
        let cardinalities = [3, 1, 4, 2];
        let key = RowKey::new(&cardinalities);
        let mut seen = HashSet::new();
        for row in 0..24u32 {
            let codes = [row % 3, 0, row / 3 % 4, row / 12];
            assert!(seen.insert(numbers(&key, &codes)), "{codes:?}");
        }
        assert_eq!(key.words(), [vec![0, 1, 2, 3]]);
        assert_eq!(numbers(&RowKey::new(&[]), &[]), [0]);
    }

    #[test]
    fn keys_continue_in_the_next_word() {
        let many = u32::MAX as usize;
        let key = RowKey::new(&[many, 2, 1 << 31, many, many, 7]);
        assert_eq!(key.words(), [vec![0, 1], vec![2, 3], vec![4, 5]]);
        let highest = numbers(&key, &[u32::MAX - 1, 1, (1 << 31) - 1, u32::MAX - 1, u32::MAX - 1, 6]);
        let all = |digits: &[usize]| digits.iter().map(|&digits| digits as i64).product::<i64>() - 1;
        assert_eq!(highest, [all(&[many, 2]), all(&[1 << 31, many]), all(&[many, 7])]);
    }
}
