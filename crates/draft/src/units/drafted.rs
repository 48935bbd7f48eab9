//! The units of a draft: how many there are, what the rules achieve over them, and the random
//! numbers that link their rows.

use std::borrow::Cow;

use hedgerow_policy::{Policy, Role};
use hedgerow_privacy::judge::Achieved;
use hedgerow_privacy::{Judge, UnitRows};
use hedgerow_release::manifest::{FieldDescriptor, UnitCounts};
use hedgerow_table::{Codes, Domain, Kind, Values, with_words};
use hedgerow_verify::check::{CountedUnits, NamedRule, OverUnits};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::Units;
use crate::bind::Bound;
use crate::draft::{Draft, DraftContent};
use crate::rows::ReleasedColumn;

/// The released units, counted from the recoded rows and not by the search.
#[derive(Debug)]
pub struct DraftUnits {
    pub counts: UnitCounts,
    /// By rule and model.
    achieved: Vec<Vec<Achieved>>,
}

impl DraftUnits {
    /// Counts the units of the rows that are kept, with the judged columns as they are released.
    pub fn count(
        bound: &Bound<'_>,
        judge: &Judge,
        columns: Vec<Cow<'_, Codes>>,
        kept_rows: Option<&[bool]>,
    ) -> Option<DraftUnits> {
        let units = bound.units()?;
        let columns: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
        DraftUnits::of_columns(units, judge, &columns, bound.table.rows, kept_rows)
    }

    /// The same of columns by themselves.
    pub fn of_columns(
        units: &Units,
        judge: &Judge,
        columns: &[&Codes],
        rows: usize,
        kept_rows: Option<&[bool]>,
    ) -> Option<DraftUnits> {
        let terms = judge.unit_terms()?;
        let kept = units.kept(kept_rows);
        let achieved = with_words!(judge.layout().words(), W => {
            let counted = judge.count_rows::<W>(columns, rows, None);
            let rows = UnitRows::new(judge, &counted.set, columns, &units.of_row, units.count);
            judge.achieved_over_units(terms, &counted.set, &rows, &kept)
        });
        let out = kept.iter().filter(|kept| **kept).count() as u64;
        let source = units.count as u64;
        let counts = UnitCounts { source, out, suppressed: source - out, linked: terms.linked };
        Some(DraftUnits { counts, achieved })
    }

    /// The levels that the rules achieve over units, by rule and model.
    pub fn into_achieved(self) -> Vec<Vec<Achieved>> {
        self.achieved
    }

    /// Has the rules of the gate count units: from the released numbers where rows are linked, else
    /// as counted here.
    pub fn state(&self, bound: &Bound<'_>, rules: &mut [NamedRule]) {
        for ((rule, achieved), policy) in rules.iter_mut().zip(&self.achieved).zip(&bound.policy.rules) {
            let counted = match self.counts.linked {
                true => CountedUnits::Columns { names: vec![linked_name(bound.policy).to_owned()], linked: true },
                false => CountedUnits::Stated(achieved.clone()),
            };
            rule.units = Some(OverUnits { rows: policy.rows, counted });
        }
    }
}

/// The name of the column of random numbers: that of the unit, or `unit` where several columns tell
/// units apart.
fn linked_name(policy: &Policy) -> &str {
    let mut units = policy.units();
    match (units.next(), units.next()) {
        (Some(unit), None) => &unit.name,
        _ => "unit",
    }
}

/// Adds a random number for each released unit to the table of a draft, where rows are linked.
pub fn link<'a>(draft: &mut Draft<'a>, bound: &'a Bound<'_>, rng: &mut StdRng) {
    let (Some(counted), Some(units)) = (&draft.units, bound.units()) else { return };
    let Some(table) = draft.tables.first_mut().filter(|_| counted.counts.linked) else { return };
    let DraftContent::Columns { columns, kept } = &mut table.content else { return };
    // Numbers without gaps, in random order: suppressed units have the last.
    let is_kept = units.kept(kept.as_deref());
    let mut order: Vec<u32> = (0..units.count as u32).collect();
    order.shuffle(rng);
    order.sort_by_key(|&unit| !is_kept[unit as usize]);
    let mut numbers = vec![0u32; units.count];
    (0u32..).zip(&order).for_each(|(number, &unit)| numbers[unit as usize] = number);
    let codes = Codes::from_iter(units.count, units.of_row.iter().map(|&unit| numbers[unit as usize]));
    let domain = Domain::new(Values::Integer((1..=units.count as i64).collect()), false);
    let name = linked_name(bound.policy);
    table.fields.insert(0, FieldDescriptor::new(name, Kind::Integer, Some(Role::Unit.name())));
    let (codes, domain) = (Cow::Owned(codes), Cow::Owned(domain));
    columns.insert(0, ReleasedColumn { name, codes, domain, kind: Kind::Integer, texts: Vec::new() });
}
