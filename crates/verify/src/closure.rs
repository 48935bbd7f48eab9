//! The strength of a rule against an attacker who also knows what follows from what the rule takes
//! as known.
//!
//! An attacker who knows the county of a person knows its population density. Where the release
//! shows the density beside a county that was generalized, the rows that fit the person are those
//! of the class with that density, and not the whole class.

use std::collections::{BTreeMap, HashMap, HashSet};

use hedgerow_privacy::{
    BoundRule, Class, Distribution, Guarantee, Judge, KnownRows, Model, UnitRows, UnitTerms, models,
};
use hedgerow_release::{LabelReader, Release, ReleaseTables};
use hedgerow_table::{Codes, Column, Domain, InputError, Table, TableError, with_words};

use crate::check::{NamedRule, concerned_labels};

/// Released attributes whose texts show another one, whatever label it has: a census tract beside a
/// county that was generalized.
#[derive(Debug, Clone, Copy)]
pub struct ShownAttributes<'a> {
    pub from: &'a [String],
    pub to: &'a str,
    /// By the texts of `from`, the text of `to`.
    pub texts: &'a HashMap<Vec<String>, String>,
}

impl ShownAttributes<'_> {
    /// The text that every row shows, by number. A label that is a value is that one.
    fn column(&self, table: &Table) -> Option<(Codes, usize)> {
        let from = self.from.iter().map(|name| table.column(name)).collect::<Option<Vec<&Column>>>()?;
        let to = table.column(self.to)?;
        let is_value: HashSet<&str> = self.texts.values().map(String::as_str).collect();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut of_rows: Vec<u32> = Vec::with_capacity(table.rows);
        for row in 0..table.rows {
            let label = to.text(row);
            let cells: Vec<String> = from.iter().map(|column| column.text(row)).collect();
            let shown = if is_value.contains(label.as_str()) { Some(label) } else { self.texts.get(&cells).cloned() };
            let next = numbers.len() as u32;
            of_rows.push(*numbers.entry(shown.unwrap_or_default()).or_insert(next));
        }
        Some((Codes::from_iter(numbers.len(), of_rows), numbers.len()))
    }
}

/// Rows of a release that a rule no longer protects once the attacker knows these attributes too:
/// the rows of classes that fail when they are divided by their values. 0 for releases that do not
/// show the attributes of a row beside one another, where classes are not divided by them.
pub fn unprotected_rows(
    release: &Release,
    rule: &NamedRule,
    also: &[String],
    shown: &[ShownAttributes<'_>],
) -> Result<u64, TableError> {
    match release.tables() {
        ReleaseTables::Generalized(tables) => {
            let unprotected = UnprotectedRows { counts: tables.counts.as_deref(), also, shown };
            unprotected.count(&tables.table, rule, release.label_reader(), release.name())
        }
        ReleaseTables::Bucketized(_) | ReleaseTables::Cloned(_) | ReleaseTables::Decomposed(_) => Ok(0),
    }
}

/// The knowledge of the rows besides.
struct UnprotectedRows<'a> {
    counts: Option<&'a [u32]>,
    also: &'a [String],
    shown: &'a [ShownAttributes<'a>],
}

impl UnprotectedRows<'_> {
    fn count(&self, table: &Table, rule: &NamedRule, labels: LabelReader<'_>, place: &str) -> Result<u64, TableError> {
        let column = |name: &String| {
            let hint = format!("the table has: {}", table.header.join(", "));
            table.column(name).ok_or_else(|| InputError::new(place, format!("the table has no column `{name}`"), hint))
        };
        let known = rule.know.iter().chain(self.also).map(column).collect::<Result<Vec<&Column>, _>>()?;
        let mut known: Vec<(&Codes, usize)> =
            known.into_iter().map(|column| (&column.codes, column.domain.cardinality())).collect();
        let shown: Vec<(Codes, usize)> = self.shown.iter().filter_map(|shown| shown.column(table)).collect();
        known.extend(shown.iter().map(|(codes, values)| (codes, *values)));
        let protect = rule.protect.as_ref().map(column).transpose()?.map(|column| (&column.codes, &column.domain));
        let judged = JudgedRows { known: &known, protect, rows: table.rows, counts: self.counts };
        let mut failing = failing_rows(&judged, rule, place)?;
        for (name, values) in &rule.only_where {
            let column = column(name)?;
            let concerned = concerned_labels(column, values, labels);
            failing.iter_mut().zip(column.codes.iter()).for_each(|(fails, code)| *fails &= concerned[code as usize]);
        }
        let failing = failing.iter().enumerate().filter(|(_, fails)| **fails);
        Ok(failing.map(|(row, _)| u64::from(judged.weight(row))).sum())
    }
}

/// Rows by what an attacker knows of them, and what a rule protects.
#[derive(Debug)]
pub struct JudgedRows<'a> {
    /// The codes of each known attribute, and how many there are.
    pub known: &'a [(&'a Codes, usize)],
    pub protect: Option<(&'a Codes, &'a Domain)>,
    pub rows: usize,
    /// Where present, each row stands for as many as it says.
    pub counts: Option<&'a [u32]>,
}

impl JudgedRows<'_> {
    fn weight(&self, row: usize) -> u32 {
        self.counts.map_or(1, |counts| counts[row])
    }

    /// The protected values of all rows.
    fn distribution(&self, rule: &NamedRule) -> Distribution {
        let Some((codes, domain)) = self.protect else { return Distribution::default() };
        let mut all = vec![0u64; domain.cardinality()];
        (0..self.rows).for_each(|row| all[codes.get(row) as usize] += u64::from(self.weight(row)));
        Distribution::new(all, rule.tree.as_ref())
    }

    /// The guarantees of a rule. Other releases are combined with the classes that the release
    /// shows, and not with these.
    fn guarantees(&self, rule: &NamedRule, place: &str) -> Result<Vec<Box<dyn Guarantee>>, InputError> {
        let models = rule.require.iter().filter(|model| !matches!(model, Model::CrossReleaseLDiversity { .. }));
        let guarantees = models.map(|model| {
            models::guarantee(model, &rule.context(self.protect.map(|(_, domain)| domain)))
                .map_err(|unfit| unfit.refusal(rule.protect.as_deref().unwrap_or_default(), model.name(), place))
        });
        guarantees.collect()
    }
}

/// By row, whether a rule fails for the rows that agree with it on all that is known, also where
/// the rule is not about them.
pub fn failing_rows(judged: &JudgedRows<'_>, rule: &NamedRule, place: &str) -> Result<Vec<bool>, TableError> {
    let weight = |row: usize| judged.weight(row);
    let class_of = classes(judged.known.iter().map(|(codes, _)| *codes), judged.rows);
    let class_count = class_of.iter().max().map_or(0, |&last| last as usize + 1);
    let mut sizes = vec![0u64; class_count];
    class_of.iter().enumerate().for_each(|(row, &class)| sizes[class as usize] += u64::from(weight(row)));
    let (starts, values) = match judged.protect {
        Some((codes, _)) => values_by_class(&class_of, class_count, codes, weight),
        None => (vec![0; class_count + 1], Vec::new()),
    };
    let of_table = judged.distribution(rule);
    let mut fails = vec![false; class_count];
    for guarantee in judged.guarantees(rule, place)? {
        for (class, fails) in fails.iter_mut().enumerate() {
            let class = Class { rows: sizes[class], values: &values[starts[class]..starts[class + 1]] };
            *fails |= !guarantee.holds(class, &of_table);
        }
    }
    Ok(class_of.into_iter().map(|class| fails[class as usize]).collect())
}

/// Which rows may be whose, besides that they agree on what is known: a person with a known value
/// and a row whose other cells leave several values, among them or not the person's own.
#[derive(Clone, Copy)]
pub struct RowFitting<'a> {
    /// By row: the kind of the person whose it is, and the kind of the row.
    pub person: &'a [u32],
    pub row: &'a [u32],
    /// Whether a row of a kind may be a person's of a kind.
    pub fits: &'a dyn Fn(u32, u32) -> bool,
}

impl std::fmt::Debug for RowFitting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fitting").field("person", &self.person).field("row", &self.row).finish_non_exhaustive()
    }
}

/// By row, whether a rule fails for the rows that agree with it on all that is known and may be the
/// person's.
pub fn failing_people(
    judged: &JudgedRows<'_>,
    fitting: RowFitting<'_>,
    rule: &NamedRule,
    place: &str,
) -> Result<Vec<bool>, TableError> {
    let guarantees = judged.guarantees(rule, place)?;
    let of_table = judged.distribution(rule);
    let class_of = classes(judged.known.iter().map(|(codes, _)| *codes), judged.rows);
    let mut order: Vec<usize> = (0..judged.rows).collect();
    order.sort_unstable_by_key(|&row| (class_of[row], fitting.row[row], row));
    let mut failing = vec![false; judged.rows];
    for class in order.chunk_by(|&a, &b| class_of[a] == class_of[b]) {
        let mut people: HashMap<u32, bool> = HashMap::new();
        for &row in class {
            let person = fitting.person[row];
            failing[row] = *people.entry(person).or_insert_with(|| {
                let kinds = class.chunk_by(|&a, &b| fitting.row[a] == fitting.row[b]);
                let left = kinds.filter(|rows| (fitting.fits)(person, fitting.row[rows[0]])).flatten();
                let (mut rows, mut values) = (0u64, BTreeMap::new());
                for &row in left {
                    rows += u64::from(judged.weight(row));
                    if let Some((codes, _)) = judged.protect {
                        *values.entry(codes.get(row)).or_insert(0u32) += judged.weight(row);
                    }
                }
                let values: Vec<(u32, u32)> = values.into_iter().collect();
                let class = Class { rows, values: &values };
                !guarantees.iter().all(|guarantee| guarantee.holds(class, &of_table))
            });
        }
    }
    Ok(failing)
}

/// The subjects of the rows.
#[derive(Debug, Clone, Copy)]
pub struct UnitsJudged<'a> {
    /// The number of the unit of each row.
    pub of_row: &'a [u32],
    pub count: usize,
    /// Which rows of a unit the attacker knows.
    pub rows: KnownRows,
    pub linked: bool,
}

/// By unit, whether a rule fails for it when all of this is known of its rows.
pub fn failing_units(
    judged: &JudgedRows<'_>,
    rule: &NamedRule,
    units: UnitsJudged<'_>,
    place: &str,
) -> Result<Vec<bool>, TableError> {
    let mut codes: Vec<&Codes> = judged.known.iter().map(|(codes, _)| *codes).collect();
    let mut cardinalities: Vec<usize> = judged.known.iter().map(|(_, values)| *values).collect();
    let protect = judged.protect.map(|(protected, domain)| {
        codes.push(protected);
        cardinalities.push(domain.cardinality());
        codes.len() - 1
    });
    let several =
        judged.protect.is_some_and(|(protected, _)| UnitRows::has_several_values(units.of_row, units.count, protected));
    let terms = UnitTerms {
        rows: vec![units.rows],
        missing: vec![judged.protect.and_then(|(_, domain)| domain.missing_code())],
        several_values: vec![several],
        linked: units.linked,
        allowed: 0,
    };
    let known = judged.known.len();
    let rule = BoundRule {
        know: (0..known).collect(),
        protect,
        guarantees: judged.guarantees(rule, place)?,
        source: None,
        tree: rule.tree.clone(),
        // No rule with known values counts units.
        concerned: Vec::new(),
    };
    let judge = Judge::new(cardinalities, known, vec![rule], 0).ok_or_else(|| {
        InputError::new(place, "too many attributes to compare rows by", "name fewer quasi-identifiers")
    })?;
    Ok(with_words!(judge.layout().words(), W => {
        let counted = judge.count_rows::<W>(&codes, judged.rows, None);
        let rows = UnitRows::new(&judge, &counted.set, &codes, units.of_row, units.count);
        judge.failing_units(&terms, &counted.set, &rows, &vec![true; units.count])
    }))
}

/// The class of every row: rows that agree on all columns share one.
fn classes<'a>(columns: impl Iterator<Item = &'a Codes>, rows: usize) -> Vec<u32> {
    let mut class_of = vec![0u32; rows];
    for codes in columns {
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        for (class, code) in class_of.iter_mut().zip(codes.iter()) {
            let next = numbers.len() as u32;
            *class = *numbers.entry((*class, code)).or_insert(next);
        }
    }
    class_of
}

/// Where the values of each class begin, and the values that occur with their rows, ascending.
fn values_by_class(
    class_of: &[u32],
    class_count: usize,
    codes: &Codes,
    weight: impl Fn(usize) -> u32,
) -> (Vec<usize>, Vec<(u32, u32)>) {
    let mut all: Vec<(u32, u32, u32)> =
        class_of.iter().enumerate().map(|(row, &class)| (class, codes.get(row), weight(row))).collect();
    all.sort_unstable();
    let mut starts = vec![0; class_count + 1];
    let mut values: Vec<(u32, u32)> = Vec::new();
    let mut last = None;
    for (class, code, rows) in all {
        if last == Some((class, code)) {
            if let Some((_, count)) = values.last_mut() {
                *count += rows;
            }
        } else {
            values.push((code, rows));
            last = Some((class, code));
        }
        starts[class as usize + 1] = values.len();
    }
    (starts, values)
}

#[cfg(test)]
mod tests {
    use hedgerow_release::Codebook;

    use super::*;

    fn rule(protect: Option<&str>, model: Model) -> NamedRule {
        let know = vec!["county".to_owned()];
        NamedRule {
            know,
            protect: protect.map(str::to_owned),
            require: vec![model],
            tree: None,
            community: None,
            units: None,
            consistent: false,
            only_where: Default::default(),
        }
    }

    /// Six people under one label, two of whom live where no one else does.
    #[test]
    fn rows_of_a_class_are_divided_by_what_follows() {
        let rows = [
            ["*", "10", "flu"],
            ["*", "10", "hiv"],
            ["*", "10", "flu"],
            ["*", "20", "flu"],
            ["*", "20", "flu"],
            ["*", "30", ""],
        ];
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let table = Table::from_texts(&["county", "density", "disease"], &rows);
        let (quasi, sensitive) = (vec!["county".to_owned()], vec!["disease".to_owned()]);
        let release = Release::of_table("r", table, quasi, sensitive, Codebook::new()).unwrap();
        let unprotected = |rule: &NamedRule| unprotected_rows(&release, rule, &["density".to_owned()], &[]).unwrap();
        assert_eq!(unprotected(&rule(None, Model::KAnonymity { k: 2 })), 1);
        assert_eq!(unprotected(&rule(None, Model::KAnonymity { k: 3 })), 3);
        assert_eq!(unprotected(&rule(Some("disease"), Model::DistinctLDiversity { l: 2 })), 3);
        assert_eq!(unprotected_rows(&release, &rule(None, Model::KAnonymity { k: 3 }), &[], &[]).unwrap(), 0);
    }
}
