//! The tables of a cloned release. Numbers of classes and sub-classes are random, and so is their
//! order.

use std::io::{self, Write};

use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::{DraftContent, DraftTable};
use hedgerow_draft::rows::shuffle;
use hedgerow_policy::Role;
use hedgerow_release::bucketized::COUNT;
use hedgerow_release::cloned::{CLASS, STATISTICS, kind_of};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::FieldDescriptor;
use hedgerow_release::quoting::write_record;
use hedgerow_table::{Column, Kind, TableError};
use rand::rngs::StdRng;

use super::assignment::ClassCut;
use super::division::{Division, Share};
use super::{Sizes, statistics};

/// The statistics, the sensitive values and the codebook.
pub(super) fn tables<'a>(
    bound: &'a Bound<'_>,
    sensitive: &'a Column,
    division: &Division,
    cut: Vec<ClassCut>,
    sizes: &Sizes,
    rng: &mut StdRng,
) -> Result<(Vec<DraftTable<'a>>, Codebook), TableError> {
    let random = |count: usize, rng: &mut StdRng| {
        let mut numbers: Vec<u32> = (1..=count as u32).collect();
        shuffle(&mut numbers, rng);
        numbers
    };
    let class_numbers = random(cut.len(), rng);
    let part_numbers = random(cut.iter().map(|(_, parts)| parts.len()).sum(), rng);
    let codebook = codebook(bound, &cut)?;
    let values = values(sensitive, division, &cut, &class_numbers);
    let lambda = sizes.lambda as usize;
    let statistics = DraftTable {
        of_other_rows: false,
        folder: None,
        name: "statistics",
        fields: STATISTICS.map(|name| FieldDescriptor::new(name, kind_of(name), None)).to_vec(),
        content: DraftContent::Records(Box::new(move |out, _| {
            statistics::write(out, bound, &parts(&cut, &class_numbers, part_numbers), lambda)
        })),
    };
    Ok((vec![statistics, values], codebook))
}

/// The sub-classes in the order of their random numbers.
fn parts<'c>(cut: &'c [ClassCut], class_numbers: &[u32], part_numbers: Vec<u32>) -> Vec<statistics::SubClass<'c>> {
    let mut parts = Vec::with_capacity(part_numbers.len());
    let mut numbers = part_numbers.into_iter();
    for ((_, of_class), &class) in cut.iter().zip(class_numbers) {
        for ((rows, counterfeits), number) in of_class.iter().zip(numbers.by_ref()) {
            parts.push(statistics::SubClass { class, number, rows, counterfeits: *counterfeits });
        }
    }
    parts.sort_unstable_by_key(|part| part.number);
    parts
}

/// How many tuples of every value each class has, in the order of their random numbers.
fn values<'a>(sensitive: &'a Column, division: &Division, cut: &[ClassCut], class_numbers: &[u32]) -> DraftTable<'a> {
    let mut units: Vec<(u32, u64)> =
        class_numbers.iter().zip(cut).map(|(&number, (class, _))| (number, class.units)).collect();
    units.sort_unstable();
    let value = |share: &Share| (sensitive.domain.text(share.code), share.per_class);
    let values: Vec<(String, u64)> = division.shares.iter().map(value).collect();
    let write = move |mut out: &mut dyn Write| -> io::Result<()> {
        write_record(&mut out, &[CLASS, &sensitive.name, COUNT])?;
        for (class, units) in &units {
            let class = class.to_string();
            for (value, per_class) in &values {
                write_record(&mut out, &[&class, value, &(per_class * units).to_string()])?;
            }
        }
        Ok(())
    };
    let fields = vec![
        FieldDescriptor::new(CLASS, Kind::Integer, None),
        FieldDescriptor::new(&sensitive.name, sensitive.domain.kind(), Some(Role::Sensitive.name())),
        FieldDescriptor::new(COUNT, Kind::Integer, None),
    ];
    DraftTable {
        of_other_rows: false,
        folder: None,
        name: "sensitive",
        fields,
        content: DraftContent::Records(Box::new(move |out, _| write(out))),
    }
}

/// The codebook of the released tuples' categories; a value that only suppressed tuples have would
/// disclose them.
fn codebook(bound: &Bound<'_>, cut: &[ClassCut]) -> Result<Codebook, TableError> {
    let mut codebook = Codebook::new();
    for quasi in bound.quasi.iter().filter(|quasi| quasi.column.domain.kind() == Kind::Category) {
        let domain = &quasi.column.domain;
        let mut released = vec![false; domain.cardinality()];
        for &row in cut.iter().flat_map(|(class, _)| &class.rows) {
            released[quasi.column.codes.get(row as usize) as usize] = true;
        }
        let values = &quasi.hierarchy.levels()[0];
        for (code, _) in
            (0..).zip(&released).filter(|&(code, &is_released)| is_released && Some(code) != domain.missing_code())
        {
            codebook.add(&quasi.attribute.name, &values.labels[values.map[code as usize] as usize])?;
        }
    }
    Ok(codebook)
}
