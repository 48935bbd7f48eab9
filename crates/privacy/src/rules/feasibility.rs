//! Whether a rule can be kept at all. Guardian normal form takes for granted that publishing the
//! protected attribute alone is harmless; where one value is too frequent that is not so, and every
//! publication breaks the rule. For diversity this is `largest count · l ≤ rows`.

use hedgerow_table::Codes;

use crate::{Class, Context, Distribution, Model, models};

/// The distribution of a rule's protected attributes when they are published without anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feasibility {
    pub rows: u64,
    /// How often the most frequent value, or combination of values, occurs.
    pub most: u64,
    /// Different values or combinations.
    pub distinct: u64,
    /// The positions of the models, among those given, that the table breaks.
    pub broken: Vec<usize>,
}

impl Feasibility {
    pub fn holds(&self) -> bool {
        self.broken.is_empty()
    }

    /// The largest l for which no value makes up more than 1/l of the rows.
    pub fn l_max(&self) -> f64 {
        self.rows as f64 / self.most.max(1) as f64
    }
}

/// Judges the table as one class. `columns` are those of the protected combination, each with the
/// code of its missing value. Of a combination, the guarantees hold with missing as a value; of one
/// attribute, among its known values too.
pub fn feasibility(columns: &[(&Codes, Option<u32>)], rows: usize, require: &[Model]) -> Feasibility {
    let codes: Vec<&Codes> = columns.iter().map(|(codes, _)| *codes).collect();
    let mut counts = combination_counts(&codes, rows);
    let missing = match columns {
        [(codes, Some(missing))] => codes.iter().filter(|code| code == missing).count() as u32,
        _ => 0,
    };
    if let Some(place) = counts.iter().position(|&count| count == missing) {
        // Whichever value is as frequent as the missing one: only the counts matter, and the
        // missing one comes last.
        let missing = counts.remove(place);
        counts.push(missing);
    }
    let context = Context { missing: (missing > 0).then(|| counts.len() as u32 - 1), ..Context::default() };
    let values: Vec<(u32, u32)> = counts.iter().enumerate().map(|(code, &count)| (code as u32, count)).collect();
    let table = Distribution::new(counts.iter().map(|&count| u64::from(count)).collect(), None);
    let class = Class { rows: rows as u64, values: &values };
    let keeps =
        |model: &Model| rows > 0 && models::guarantee(model, &context).is_ok_and(|kept| kept.holds(class, &table));
    Feasibility {
        rows: rows as u64,
        most: counts.iter().map(|&count| u64::from(count)).max().unwrap_or(0),
        distinct: counts.len() as u64,
        broken: (0..require.len()).filter(|&index| !keeps(&require[index])).collect(),
    }
}

/// How often each combination occurs, in no particular order.
fn combination_counts(columns: &[&Codes], rows: usize) -> Vec<u32> {
    let mut class = vec![0u32; rows];
    let mut classes = usize::from(rows > 0);
    for column in columns {
        let mut numbers = std::collections::HashMap::new();
        for (class, code) in class.iter_mut().zip(column.iter()) {
            let next = numbers.len() as u32;
            *class = *numbers.entry((*class, code)).or_insert(next);
        }
        classes = numbers.len();
    }
    let mut counts = vec![0u32; classes];
    for class in class {
        counts[class as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Ratio;

    use super::*;

    #[test]
    fn a_value_that_most_rows_carry_cannot_be_protected() {
        let disease = Codes::from_iter(3, [0, 0, 0, 1, 2]);
        let required = [Model::FrequencyLDiversity { l: Ratio::integer(2) }, Model::DistinctLDiversity { l: 3 }];
        let found = feasibility(&[(&disease, None)], 5, &required);
        assert_eq!(found, Feasibility { rows: 5, most: 3, distinct: 3, broken: vec![0] });
        assert!(found.l_max() < 2.0);
    }

    #[test]
    fn a_combination_may_be_protected_where_its_parts_are_not() {
        let (one, other) = (Codes::from_iter(2, [0, 0, 0, 1]), Codes::from_iter(2, [0, 1, 1, 1]));
        let required = [Model::FrequencyLDiversity { l: Ratio::integer(2) }];
        assert!(!feasibility(&[(&one, None)], 4, &required).holds());
        assert!(!feasibility(&[(&other, None)], 4, &required).holds());
        assert!(feasibility(&[(&one, None), (&other, None)], 4, &required).holds());
    }

    #[test]
    fn missing_values_do_not_make_a_value_rarer() {
        let disease = Codes::from_iter(3, [0, 0, 1, 2, 2]);
        let required = [Model::FrequencyLDiversity { l: Ratio::integer(2) }];
        assert!(feasibility(&[(&disease, None)], 5, &required).holds());
        assert!(!feasibility(&[(&disease, Some(2))], 5, &required).holds(), "two of three known values are alike");
        assert!(feasibility(&[(&disease, Some(1))], 5, &required).holds());
    }

    #[test]
    fn an_empty_table_keeps_nothing() {
        assert!(!feasibility(&[(&Codes::from_iter(1, []), None)], 0, &[Model::DistinctLDiversity { l: 1 }]).holds());
    }
}
