//! Errors of a generalized release: cells cover values, and a class is a combination of cells.

use hashbrown::HashMap;
use hedgerow_table::Codes;

use super::{Gathered, NumberError, Pairs, by_value, deviation, key, numbers, of_everyone};
use crate::attribute::{AuditedAttribute, Unchanged};
use crate::classes::QuasiClasses;
use crate::matching::{Fits, matching};

/// The errors of a generalized release, for every sensitive attribute that is a number or a date.
pub(crate) fn of_cells(
    quasi: &[AuditedAttribute<'_>],
    sensitive: &[Unchanged<'_>],
    classes: &QuasiClasses,
) -> Vec<NumberError> {
    let measured = sensitive.iter().enumerate().filter_map(|(index, attribute)| {
        let numbers = numbers(&attribute.source.domain)?;
        let everyone =
            of_everyone(&numbers, &attribute.released.counts(), |code| attribute.source_code[code as usize])?;
        Some(NumberError {
            attribute: attribute.source.name.clone(),
            deviation: deviation(&numbers, &attribute.source.counts()),
            by_class: by_class(quasi, attribute, &numbers, everyone, (classes, &classes.entry_values[index])),
            by_value: (quasi.iter())
                .map(|quasi| (quasi.name.to_owned(), by_cell(quasi, attribute, &numbers, everyone)))
                .collect(),
        })
    });
    measured.collect()
}

fn by_cell(
    quasi: &AuditedAttribute<'_>,
    sensitive: &Unchanged<'_>,
    numbers: &[Option<f64>],
    everyone: [f64; 4],
) -> [f64; 4] {
    let truth = Pairs::of_columns(&quasi.source.codes, quasi.source.domain.cardinality(), &sensitive.source.codes);
    let labels = quasi.released.domain.cardinality();
    let released = Pairs::of_columns(&quasi.released.codes, labels, &sensitive.released.codes);
    let mut covering: Vec<Vec<u32>> = vec![Vec::new(); quasi.source.domain.cardinality()];
    for (label, cell) in (0..).zip(&quasi.cells) {
        cell.codes.iter().for_each(|&code| covering[code as usize].push(label));
    }
    let alike = |value: usize| covering[value].as_slice();
    by_value(numbers, &truth, everyone, alike, |value, gathered| {
        for &label in &covering[value] {
            let share = 1.0 / quasi.cells[label as usize].codes.len() as f64;
            for &(code, count) in released.of(label as usize) {
                gathered.add(sensitive.source_code[code as usize], f64::from(count) * share);
            }
        }
    })
}

fn by_class(
    quasi: &[AuditedAttribute<'_>],
    sensitive: &Unchanged<'_>,
    numbers: &[Option<f64>],
    everyone: [f64; 4],
    (classes, entry_values): (&QuasiClasses, &[u32]),
) -> [f64; 4] {
    let recoded: Option<Vec<(&Codes, &[u32])>> =
        quasi.iter().map(|quasi| Some((&quasi.source.codes, quasi.full_domain.as_ref()?.recoded.as_slice()))).collect();
    let truth = match recoded {
        Some(recoded) => in_levels(&recoded, &sensitive.source.codes, classes),
        None => in_regions(quasi, &sensitive.source.codes, classes),
    };
    let estimate = |class: usize, gathered: &mut Gathered<'_>| {
        let entries = classes.starts[class]..classes.starts[class + 1];
        for (&value, &count) in entry_values[entries.clone()].iter().zip(&classes.entry_counts[entries]) {
            gathered.add(value, f64::from(count));
        }
    };
    by_value(numbers, &truth, everyone, |class| class, estimate)
}

/// The sensitive values of the source by class, where all values of an attribute are on one level:
/// each row has one class at most.
fn in_levels(recoded: &[(&Codes, &[u32])], sensitive: &Codes, classes: &QuasiClasses) -> Pairs {
    let count = classes.sizes.len();
    let labels = |class: usize| classes.labels.iter().map(|of_class| of_class[class]).collect();
    let by_labels: HashMap<Vec<u32>, u32> = (0..count).map(|class| (labels(class), class as u32)).collect();
    let class_of = |row: usize| {
        let cells: Vec<u32> = recoded.iter().map(|(codes, recoded)| recoded[codes.get(row) as usize]).collect();
        by_labels.get(cells.as_slice()).copied().unwrap_or(count as u32)
    };
    Pairs::count(class_of, count, sensitive)
}

/// The same where every class has cells of its own: a row is counted in all classes whose cells
/// cover it.
fn in_regions(quasi: &[AuditedAttribute<'_>], sensitive: &Codes, classes: &QuasiClasses) -> Pairs {
    let codes =
        |attribute: &AuditedAttribute<'_>| attribute.cells.iter().map(|cell| cell.codes.clone()).collect::<Vec<_>>();
    let fits: Vec<Fits> =
        (0..).zip(quasi).map(|(index, attribute)| Fits::new(index, codes(attribute).into_iter())).collect();
    let people: Vec<Vec<u32>> = quasi
        .iter()
        .map(|attribute| (0..sensitive.len()).map(|row| attribute.source.codes.get(row)).collect())
        .collect();
    let found = matching(classes, &fits, &people, |row, classes| {
        classes.iter().map(|&class| key(class, sensitive.get(row))).collect::<Vec<u64>>()
    });
    Pairs::of_keys(found.into_iter().flatten().collect(), classes.sizes.len())
}
