//! The intersection attack on the tables of a decomposition, before any of them is written: every
//! individual is in every table, so only what all of them allow together can be true. By normal
//! form it must find nothing; if it does, nothing is published.
//!
//! Every attribute that some table releases by bucket is attacked, by an adversary who has all
//! tables and the dependencies that attackers know. Where a table releases several by bucket, the
//! adversary knows all of them but the one in question. A rule that protects a combination is kept
//! by one attribute of it ([`super::Rules::representative`]), which is attacked like any other:
//! an attacker who cannot infer its value cannot infer the combination.
//!
//! Tables that share no attribute, directly or by way of others, say nothing of each other, so each
//! set of connected tables is attacked by itself. What only one table holds rules nothing out
//! either, and is dropped before they are joined. Of a large set, those tables are joined that hold
//! the attribute in question, one attribute after the other; buckets of other attributes are
//! ignored. In normal form the guardian of an attribute shares nothing else with them, so that a
//! million rows come down to their buckets. Attributes that always stand together are compared as
//! one.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use hedgerow_audit::adversaries::intersection::{SubTable, SubTableBucket, join};
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::Column;

use super::divergence::{classes, sensitive_values};
use super::{DecompositionProblem, Groups, Subtable};

/// The limits by memory.
#[derive(Debug, Clone, Copy)]
pub struct AttackLimits {
    /// Pairing people keeps, for every row of every table, which values and buckets are left;
    /// beyond this many 64-bit words of them connected tables are joined for one attribute after
    /// the other.
    pub words: usize,
    /// Cells that are joined at once; tables of more are not.
    pub cells: usize,
}

impl Default for AttackLimits {
    fn default() -> AttackLimits {
        AttackLimits { words: 1 << 24, cells: 1 << 24 }
    }
}

/// The outcome of the attack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attacked {
    /// Every row is left with as many values as its rules require.
    Passed,
    /// In words.
    Breached(String),
    /// Nothing was found, but what the words say was not tried.
    Partial(String),
}

pub fn attack(
    problem: &DecompositionProblem<'_>,
    columns: &[&Column],
    tables: &[Subtable],
    limits: AttackLimits,
) -> Attacked {
    let known = problem.known_tables();
    let all: Vec<&Subtable> = tables.iter().chain(&known).collect();
    let mut outcome = Attacked::Passed;
    for connected in connected(&all) {
        if problem.progress.is_canceled() {
            return Attacked::Partial("canceled".to_owned());
        }
        match attack_connected(problem, columns, &connected, limits) {
            Attacked::Passed => {}
            partial @ Attacked::Partial(_) => outcome = partial,
            breached @ Attacked::Breached(_) => return breached,
        }
    }
    outcome
}

fn attack_connected(
    problem: &DecompositionProblem<'_>,
    columns: &[&Column],
    tables: &[&Subtable],
    limits: AttackLimits,
) -> Attacked {
    let hidden = tables.iter().fold(AttributeSet::EMPTY, |all, table| all | table.sensitive);
    if hidden.is_empty() {
        return Attacked::Passed;
    }
    let words: usize = problem.cardinalities.iter().map(|values| values.div_ceil(64)).sum::<usize>()
        + tables.iter().filter_map(|table| table.groups.as_ref()).map(|one| one.len().div_ceil(64)).sum::<usize>();
    if problem.rows.saturating_mul(words).saturating_mul(2 * tables.len()) <= limits.words {
        return attack_joined(problem, columns, tables, hidden, limits);
    }
    let mut outcome = Attacked::Passed;
    for attribute in hidden.iter() {
        if problem.progress.is_canceled() {
            return Attacked::Partial("canceled".to_owned());
        }
        problem.progress.advance(1);
        let holding: Vec<&Subtable> =
            tables.iter().copied().filter(|table| table.attributes.contains(attribute)).collect();
        match attack_joined(problem, columns, &holding, AttributeSet::of(attribute), limits) {
            Attacked::Passed => {}
            partial @ Attacked::Partial(_) => outcome = partial,
            breached @ Attacked::Breached(_) => return breached,
        }
    }
    outcome
}

/// Some tables combined, by an adversary who infers some attributes.
fn attack_joined(
    problem: &DecompositionProblem<'_>,
    columns: &[&Column],
    joined: &[&Subtable],
    targets: AttributeSet,
    limits: AttackLimits,
) -> Attacked {
    let views: Vec<AttackedTable<'_>> =
        (0..joined.len()).flat_map(|index| AttackedTable::of(joined, index, targets)).collect();
    let names = |set: AttributeSet| {
        let names: Vec<&str> = set.iter().map(|attribute| columns[attribute].name.as_str()).collect();
        names.join(", ")
    };
    if let [_] = joined {
        let breach = views.iter().find_map(|view| view.breach_alone(problem).map(|breach| (view, breach)));
        return breach.map_or(Attacked::Passed, |(view, alone)| {
            breached(&columns[view.hidden].name, &names(view.table.open()), alone, problem.values_left(view.hidden))
        });
    }
    let compared = compared(&views);
    let of_view = |view: &AttackedTable<'_>| compared.iter().filter(|set| set.is_subset(view.quasi)).count();
    let cells: usize = views.iter().map(|view| problem.rows.saturating_mul(of_view(view))).sum();
    if cells > limits.cells {
        return Attacked::Partial(format!("the tables that share {} were not joined", names(shared(joined))));
    }
    let compared: Vec<ComparedAttributes> =
        compared.into_iter().map(|set| ComparedAttributes::new(problem, set)).collect();
    let seen: Vec<SubTable> = views.iter().map(|view| view.seen(problem, &compared)).collect();
    let found = join(&seen);
    for row in &found.rows {
        let view = &views[row.table];
        let needed = problem.values_left(view.hidden);
        if view.groups.is_some()
            && (row.values.len() as u64) < needed
            && !view.is_without_value(row.bucket, &seen[row.table])
        {
            let left = LeftInBucket { values: row.values.len(), of: row.of, rows: row.rows };
            return breached(&columns[view.hidden].name, &names(view.table.open()), left, needed);
        }
    }
    // What no other table holds is not ruled out; and where a guardian shares nothing but what it
    // hides, the rows of a bucket cannot be distinguished.
    let mut shared_guardians = views.iter().filter(|view| view.groups.is_some() && view.released_elsewhere);
    match found.complete || shared_guardians.all(|view| view.quasi.is_empty()) {
        true => Attacked::Passed,
        false => Attacked::Partial(format!(
            "the tables that share {} are too large to be joined person by person; the combinations that they hold were compared",
            names(shared(joined))
        )),
    }
}

/// How many of a bucket's values are left to some of its rows.
struct LeftInBucket {
    values: usize,
    of: usize,
    rows: u64,
}

fn breached(hidden: &str, open: &str, left: LeftInBucket, needed: u64) -> Attacked {
    let LeftInBucket { values, of, rows } = left;
    Attacked::Breached(format!(
        "combined, the tables leave {values} of {of} values of `{hidden}` for {rows} rows of the table of {open}, and \
         {needed} are required"
    ))
}

/// The attributes that more than one of some tables hold.
fn shared(tables: &[&Subtable]) -> AttributeSet {
    let (_, shared) = tables.iter().fold((AttributeSet::EMPTY, AttributeSet::EMPTY), |(all, shared), table| {
        (all | table.attributes, shared | (all & table.attributes))
    });
    shared
}

/// Attributes that the same views release by row: comparing one of them compares all. What
/// some view hides is by itself.
fn compared(views: &[AttackedTable<'_>]) -> Vec<AttributeSet> {
    let released = views.iter().fold(AttributeSet::EMPTY, |all, view| all | view.quasi);
    let hidden: AttributeSet = views.iter().map(|view| view.hidden).collect();
    let mut sets: BTreeMap<(Option<usize>, Vec<bool>), AttributeSet> = BTreeMap::new();
    for attribute in released.iter() {
        let released_by = views.iter().map(|view| view.quasi.contains(attribute)).collect();
        let set =
            sets.entry((hidden.contains(attribute).then_some(attribute), released_by)).or_insert(AttributeSet::EMPTY);
        *set = set.with(attribute);
    }
    sets.into_values().collect()
}

/// Attributes that are compared as one, in codes: those of one attribute are its own, by which it
/// is known where it is hidden.
struct ComparedAttributes {
    set: AttributeSet,
    of_row: Vec<u32>,
}

impl ComparedAttributes {
    fn new(problem: &DecompositionProblem<'_>, set: AttributeSet) -> ComparedAttributes {
        ComparedAttributes { set, of_row: sensitive_values(problem, set).0.iter().collect() }
    }

    fn name(&self) -> String {
        self.set.iter().map(|attribute| attribute.to_string()).collect::<Vec<_>>().join(" ")
    }
}

/// Tables that are connected by shared attributes.
fn connected<'t>(tables: &[&'t Subtable]) -> Vec<Vec<&'t Subtable>> {
    let mut sets: Vec<Vec<&Subtable>> = Vec::new();
    for table in tables {
        let meets = |set: &Vec<&Subtable>| set.iter().any(|other| other.attributes.meets(table.attributes));
        let (mut joined, apart): (Vec<_>, Vec<_>) = sets.into_iter().partition(meets);
        joined.push(vec![table]);
        sets = apart;
        sets.push(joined.concat());
    }
    sets
}

/// A table as the attack on one of its attributes takes it: what other tables hold too is released
/// by row, the attribute by bucket.
struct AttackedTable<'t> {
    table: &'t Subtable,
    /// Its buckets, where they can bear on what is inferred.
    groups: Option<&'t Groups>,
    quasi: AttributeSet,
    hidden: usize,
    /// The attacker's additional knowledge: the other attributes that the table releases by bucket.
    known_besides: AttributeSet,
    /// Some other table holds the attribute too.
    released_elsewhere: bool,
}

impl<'t> AttackedTable<'t> {
    /// One for each attribute that the table releases by bucket. A table that is published as it is
    /// has a bucket for each combination of all but one; and so has one whose buckets hold nothing
    /// that is inferred, nor anything that other tables hold.
    fn of(tables: &[&'t Subtable], index: usize, targets: AttributeSet) -> Vec<AttackedTable<'t>> {
        let table = tables[index];
        let others = tables.iter().enumerate().filter(|(other, _)| *other != index);
        let elsewhere = others.fold(AttributeSet::EMPTY, |all, (_, other)| all | other.attributes);
        let groups = table.groups.as_deref().filter(|_| table.sensitive.meets(targets | elsewhere));
        let hidden = match groups {
            Some(_) => table.sensitive,
            None => (table.attributes & elsewhere).iter().last().map_or(AttributeSet::EMPTY, AttributeSet::of),
        };
        let view = |hidden: usize| AttackedTable {
            table,
            groups,
            quasi: (table.attributes & elsewhere).without(hidden),
            hidden,
            known_besides: table.sensitive.without(hidden),
            released_elsewhere: elsewhere.contains(hidden),
        };
        hidden.iter().map(view).collect()
    }

    /// In codes, since it is not printed.
    fn seen(&self, problem: &DecompositionProblem<'_>, compared: &[ComparedAttributes]) -> SubTable {
        let own: Vec<&ComparedAttributes> =
            compared.iter().filter(|compared| compared.set.is_subset(self.quasi)).collect();
        let (quasi, combinations) = classes(problem, self.quasi);
        let mut codes: Vec<Vec<String>> = vec![Vec::new(); combinations];
        for (row, &number) in quasi.iter().enumerate() {
            let texts = &mut codes[number as usize];
            if texts.is_empty() {
                texts.extend(own.iter().map(|compared| compared.of_row[row].to_string()));
            }
        }
        let bucket = self.buckets(problem, &quasi);
        let hidden = problem.columns[self.hidden];
        let mut rows: Vec<(u32, u32)> = bucket.iter().copied().zip(quasi.iter().copied()).collect();
        let mut values: Vec<(u32, u32)> = bucket.iter().copied().zip(hidden.iter()).collect();
        rows.sort_unstable();
        values.sort_unstable();
        let count = bucket.iter().max().map_or(0, |&last| last as usize + 1);
        let mut buckets = vec![SubTableBucket::default(); count];
        for run in rows.chunk_by(|one, other| one == other) {
            let (bucket, combination) = run[0];
            buckets[bucket as usize].rows.push((codes[combination as usize].clone(), run.len() as u64));
        }
        for run in values.chunk_by(|one, other| one == other) {
            let (bucket, value) = run[0];
            buckets[bucket as usize].values.push((value.to_string(), run.len() as u64));
        }
        SubTable {
            name: String::new(),
            quasi: own.iter().map(|compared| compared.name()).collect(),
            sensitive: Some(self.hidden.to_string()),
            buckets,
        }
    }

    /// The bucket of every row; rows without a sensitive value share the last.
    fn buckets(&self, problem: &DecompositionProblem<'_>, quasi: &[u32]) -> Vec<u32> {
        let Some(groups) = self.groups else { return quasi.to_vec() };
        let without_value = |row: &usize| groups.of_row[*row] == Groups::NONE;
        if self.known_besides.is_empty() {
            let last = groups.len() as u32;
            return groups.of_row.iter().map(|&group| if group == Groups::NONE { last } else { group }).collect();
        }
        let (known_besides, _) = classes(problem, self.known_besides);
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        let mut of_row = vec![0; problem.rows];
        for row in (0..problem.rows).filter(|row| !without_value(row)) {
            let next = numbers.len() as u32;
            of_row[row] = *numbers.entry((groups.of_row[row], known_besides[row])).or_insert(next);
        }
        (0..problem.rows).filter(without_value).for_each(|row| of_row[row] = numbers.len() as u32);
        of_row
    }

    /// A bucket with too few values by itself, of a table that no other says anything about: then
    /// nothing is ruled out, and each of its rows may have any of them.
    fn breach_alone(&self, problem: &DecompositionProblem<'_>) -> Option<LeftInBucket> {
        let groups = self.groups?;
        let bucket = self.buckets(problem, &[]);
        let without_value = groups.of_row.contains(&Groups::NONE);
        // Rows without a value share the last bucket.
        let last = bucket.iter().max().copied().filter(|_| without_value);
        let pairs = bucket.iter().zip(problem.columns[self.hidden].iter());
        let mut pairs: Vec<u64> = pairs.map(|(&bucket, value)| u64::from(bucket) << 32 | u64::from(value)).collect();
        pairs.sort_unstable();
        let needed = problem.values_left(self.hidden);
        let values = |bucket: &[u64]| bucket.chunk_by(|one, other| one == other).count();
        let mut buckets = pairs.chunk_by(|one, other| one >> 32 == other >> 32);
        let few = buckets.find(|bucket| Some((bucket[0] >> 32) as u32) != last && (values(bucket) as u64) < needed)?;
        Some(LeftInBucket { values: values(few), of: values(few), rows: few.len() as u64 })
    }

    /// Whether an attacker cannot know what the rows of a bucket have: their values are not
    /// released, and no other table gives the rest.
    fn is_without_value(&self, bucket: usize, seen: &SubTable) -> bool {
        let without_value = self.groups.is_some_and(|groups| groups.of_row.contains(&Groups::NONE));
        without_value && !self.released_elsewhere && bucket + 1 == seen.buckets.len()
    }
}
