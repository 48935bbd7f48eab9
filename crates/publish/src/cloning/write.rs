//! Writes the tables of a cloned release. Numbers of classes and sub-classes are random, and so is their order.

use std::io::{BufWriter, Write};
use std::path::Path;

use hedgerow_policy::Role;
use hedgerow_release::bucketized::COUNT;
use hedgerow_release::cloned::{CLASS, STATISTICS, kind_of};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::{Field, Resource};
use hedgerow_release::quoting::write_record;
use hedgerow_table::{Column, Kind, TableError};
use rand::rngs::StdRng;

use super::assignment::Cut;
use super::division::Division;
use super::{Sizes, statistics};
use crate::bind::Bound;
use crate::rows::shuffle;

/// Writes the statistics, the sensitive values and the codebook; returns the two tables as the manifest lists them.
pub(super) fn tables(
    bound: &Bound<'_>,
    sensitive: &Column,
    division: &Division,
    cut: &[Cut],
    sizes: &Sizes,
    directory: &Path,
    rng: &mut StdRng,
) -> Result<Vec<Resource>, TableError> {
    let random = |count: usize, rng: &mut StdRng| {
        let mut numbers: Vec<u32> = (1..=count as u32).collect();
        shuffle(&mut numbers, rng);
        numbers
    };
    let class_numbers = random(cut.len(), rng);
    let part_numbers = random(cut.iter().map(|(_, parts)| parts.len()).sum(), rng);
    let mut numbers = part_numbers.into_iter();
    let mut parts: Vec<statistics::Part<'_>> = Vec::with_capacity(numbers.len());
    for ((_, of_class), &class) in cut.iter().zip(&class_numbers) {
        for ((rows, counterfeits), number) in of_class.iter().zip(numbers.by_ref()) {
            parts.push(statistics::Part { class, number, rows, counterfeits: *counterfeits });
        }
    }
    parts.sort_unstable_by_key(|part| part.number);
    let fields = STATISTICS.map(|name| Field::new(name, kind_of(name), None)).to_vec();
    let statistics_table = Resource::csv("statistics", fields);
    statistics::write(&directory.join(&statistics_table.path), bound, &parts, sizes.lambda as usize)?;
    let role = Some(Role::Sensitive.name());
    let values = Resource::csv(
        "sensitive",
        vec![
            Field::new(CLASS, Kind::Integer, None),
            Field::new(&sensitive.name, sensitive.domain.kind(), role),
            Field::new(COUNT, Kind::Integer, None),
        ],
    );
    write_values(&directory.join(&values.path), sensitive, division, cut, &class_numbers)?;
    write_codebook(&directory.join("codebook.csv"), bound, cut)?;
    Ok(vec![statistics_table, values])
}

fn write_values(
    path: &Path,
    sensitive: &Column,
    division: &Division,
    cut: &[Cut],
    class_numbers: &[u32],
) -> Result<(), TableError> {
    let mut order: Vec<usize> = (0..cut.len()).collect();
    order.sort_unstable_by_key(|&class| class_numbers[class]);
    let texts: Vec<String> = division.shares.iter().map(|share| sensitive.domain.text(share.code)).collect();
    let failed = |error| TableError::io(path, error);
    let mut out = BufWriter::new(std::fs::File::create_new(path).map_err(failed)?);
    write_record(&mut out, &[CLASS, &sensitive.name, COUNT]).map_err(failed)?;
    for class in order {
        let number = class_numbers[class].to_string();
        for (share, text) in division.shares.iter().zip(&texts) {
            let count = (share.per_class * cut[class].0.units).to_string();
            write_record(&mut out, &[&number, text, &count]).map_err(failed)?;
        }
    }
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
}

/// What the categories of released tuples mean; a value that only suppressed tuples have would disclose them.
fn write_codebook(path: &Path, bound: &Bound<'_>, cut: &[Cut]) -> Result<(), TableError> {
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
    let failed = |error| TableError::io(path, error);
    let mut out = BufWriter::new(std::fs::File::create_new(path).map_err(failed)?);
    codebook.write(&mut out).map_err(failed)?;
    out.flush().map_err(failed)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
}
