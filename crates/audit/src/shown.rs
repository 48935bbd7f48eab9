//! The values that a release shows beside its classes, as the codes of the people's table.

use hashbrown::HashMap;
use hedgerow_release::ReleasedClasses;
use hedgerow_release::generalized::Generalized;
use hedgerow_table::{Column, Domain, Table};

/// The rows of a class: what is released beside it, as the people's codes, and how many there are.
pub(crate) type Entries = Vec<(Vec<Option<u32>>, u64)>;

/// The columns of a table beside its classes.
pub(crate) struct ShownColumns<'a> {
    /// The columns of the people's table that are released too.
    pub(crate) attributes: Vec<&'a Column>,
    pub(crate) by_bucket: Vec<Entries>,
}

impl ShownColumns<'_> {
    /// Whether a row of a bucket shows these values.
    pub(crate) fn has_row(&self, bucket: u32, values: &[Option<u32>]) -> bool {
        let entries = &self.by_bucket[bucket as usize];
        entries.binary_search_by(|(shown, _)| shown.as_slice().cmp(values)).is_ok()
    }
}

/// Rows show every attribute that is not a quasi-identifier. The numbers of units are random.
pub(crate) fn of_rows<'a>(classes: &ReleasedClasses, tables: &Generalized, people: &'a Table) -> ShownColumns<'a> {
    let table = &tables.table;
    let is_value =
        |name: &String| classes.quasi.iter().all(|quasi| quasi.name != *name) && !tables.units.contains(name);
    let released = table.columns.iter().filter(|column| is_value(&column.name) && !column.codes.is_empty());
    let both: Vec<(&Column, &Column)> =
        released.filter_map(|column| Some((column, people.column(&column.name)?))).collect();
    let codes: Vec<Vec<Option<u32>>> = both.iter().map(|(column, person)| translated(column, &person.domain)).collect();
    let mut class_of: HashMap<&[u32], usize> = HashMap::new();
    (0..classes.len()).for_each(|class| {
        class_of.insert(classes.cells(class), class);
    });
    let labels: Vec<Vec<u32>> = classes
        .quasi
        .iter()
        .map(|quasi| {
            let numbers: HashMap<&str, u32> = quasi.labels.iter().map(String::as_str).zip(0..).collect();
            let number = |text: String| numbers.get(text.as_str()).copied().unwrap_or(u32::MAX);
            let domain = table.column(&quasi.name).map(|column| &column.domain);
            let codes = 0..domain.map_or(0, Domain::cardinality) as u32;
            codes.filter_map(|code| Some(number(domain?.text(code)))).collect()
        })
        .collect();
    let quasi: Vec<Option<&Column>> = classes.quasi.iter().map(|quasi| table.column(&quasi.name)).collect();
    let mut entries: Vec<HashMap<Vec<Option<u32>>, u64>> = vec![HashMap::new(); classes.buckets()];
    let mut key = vec![0u32; quasi.len()];
    for row in 0..table.rows {
        for ((cell, column), labels) in key.iter_mut().zip(&quasi).zip(&labels) {
            *cell = column.map_or(u32::MAX, |column| labels[column.codes.get(row) as usize]);
        }
        let Some(&class) = class_of.get(key.as_slice()) else { continue };
        let values =
            both.iter().zip(&codes).map(|((column, _), codes)| codes[column.codes.get(row) as usize]).collect();
        let rows = tables.counts.as_ref().map_or(1, |counts| u64::from(counts[row]));
        *entries[classes.bucket_of[class] as usize].entry(values).or_insert(0) += rows;
    }
    let sorted = |entries: HashMap<Vec<Option<u32>>, u64>| {
        let mut entries: Entries = entries.into_iter().collect();
        entries.sort_unstable();
        entries
    };
    ShownColumns {
        attributes: both.into_iter().map(|(_, person)| person).collect(),
        by_bucket: entries.into_iter().map(sorted).collect(),
    }
}

/// Buckets show how often each value of an attribute occurs in them.
pub(crate) fn of_buckets<'a>(classes: &ReleasedClasses, protect: Option<&str>, people: &'a Table) -> ShownColumns<'a> {
    let sensitive = protect.and_then(|name| classes.sensitive(name));
    let (Some(sensitive), Some(column)) = (sensitive, protect.and_then(|name| people.column(name))) else {
        return ShownColumns { attributes: Vec::new(), by_bucket: vec![Vec::new(); classes.buckets()] };
    };
    let codes: Vec<Option<u32>> = sensitive.values.iter().map(|text| code_of(text, &column.domain)).collect();
    let entries = |bucket: u32| {
        let values = sensitive.of_bucket(bucket).iter();
        values.map(|&(value, rows)| (vec![codes[value as usize]], u64::from(rows))).collect()
    };
    ShownColumns { attributes: vec![column], by_bucket: (0..classes.buckets() as u32).map(entries).collect() }
}

fn translated(released: &Column, domain: &Domain) -> Vec<Option<u32>> {
    (0..released.domain.cardinality() as u32).map(|code| code_of(&released.domain.text(code), domain)).collect()
}

/// The code of a released text among the people's values.
pub(crate) fn code_of(text: &str, domain: &Domain) -> Option<u32> {
    if text.is_empty() { domain.missing_code() } else { domain.code_of(text) }
}
