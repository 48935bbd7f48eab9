//! Errors of a cloned release: every class holds the same shares of the sensitive values, so the
//! estimate for any group of people is the estimate for everyone. As in a bucketized release, the
//! people of a class are those who share all quasi values.

use hashbrown::HashMap;
use hedgerow_table::{Column, TableError};

use super::{NumberError, Pairs, by_value, deviation, key, numbers, of_everyone};
use crate::query_error::clones::{Clones, source_codes};

/// For the sensitive attribute, if it is a number or a date.
pub(crate) fn of_clones(release: &Clones<'_>) -> Result<Vec<NumberError>, TableError> {
    let sensitive = release.sensitive;
    let Some(numbers) = numbers(&sensitive.domain) else { return Ok(Vec::new()) };
    let codes = source_codes(release)?;
    let Some(everyone) = of_everyone(&numbers, &release.read.counts(), |code| codes[code as usize]) else {
        return Ok(Vec::new());
    };
    let errors = |columns: &[&Column]| {
        let (groups, count) = groups(columns, sensitive.codes.len());
        let truth = Pairs::count(|row| groups[row], count, &sensitive.codes);
        by_value(&numbers, &truth, everyone, |_| (), |_, _| ())
    };
    let quasi: Vec<&Column> = release.quasi.iter().map(|(column, _)| *column).collect();
    Ok(vec![NumberError {
        attribute: sensitive.name.clone(),
        deviation: deviation(&numbers, &sensitive.counts()),
        by_class: errors(&quasi),
        by_value: quasi.iter().map(|column| (column.name.clone(), errors(&[column]))).collect(),
    }])
}

/// Which rows agree in all columns: a number for each, and how many there are.
fn groups(columns: &[&Column], rows: usize) -> (Vec<u32>, usize) {
    let (mut groups, mut count) = (vec![0u32; rows], 1);
    for column in columns {
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        for (row, group) in groups.iter_mut().enumerate() {
            let next = numbers.len() as u32;
            *group = *numbers.entry(key(*group, column.codes.get(row))).or_insert(next);
        }
        count = numbers.len();
    }
    (groups, count)
}
