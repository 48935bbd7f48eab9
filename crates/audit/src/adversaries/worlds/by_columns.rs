//! Where no table fits the releases as their columns link the rows, the protected attribute alone
//! is compared: more tables fit then than there are. The columns still say something of each
//! person alone, and what they deny is not said.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use hedgerow_table::{Table, TableError};

use super::attacker::Attacker;
use super::fewest::Fewest;
use super::group::{Alternative, Shown, crossed};
use super::left::ValuesLeft;
use super::setting::Setting;
use super::tables::AttributeTables;

/// The people with the rows that fit them in every column.
pub(super) struct ByColumns<'a> {
    setting: Setting<'a>,
    /// By row of the list, what followed where the columns link the rows of some tables.
    certain: &'a [Option<String>],
}

impl<'a> ByColumns<'a> {
    pub(super) fn new(
        tables: &'a AttributeTables<'a>,
        (people, certain): (&Table, &'a [Option<String>]),
        attacker: Attacker<'_>,
    ) -> Result<ByColumns<'a>, TableError> {
        Ok(ByColumns { setting: Setting::new(tables, people, attacker)?, certain })
    }

    /// Leaves nothing to people of whom one value is left that no rows have which can be theirs in
    /// all tables at once: how many they are. Who looks alike without the columns is judged
    /// together.
    pub(super) fn leave_out_denied(&self, setting: &Setting<'_>, fewest: &mut Fewest) -> u64 {
        // By case, those who are in it as the columns tell them apart, with what followed there.
        type Own<'o> = BTreeSet<(u32, Option<&'o str>)>;
        let mut own: HashMap<u32, Own<'_>> = HashMap::new();
        for (row, (&case, &here)) in setting.of_person.iter().zip(&self.setting.of_person).enumerate() {
            let certain = self.certain.get(row).and_then(Option::as_deref);
            own.entry(case).or_default().insert((here, certain));
        }
        let mut people = 0;
        let mut known: HashMap<u32, BTreeSet<String>> = HashMap::new();
        for (case, left) in (0..).zip(&mut fewest.left) {
            let &[(value, _)] = left.values.as_slice() else { continue };
            let value = setting.tables.text(value);
            let mut is_said = |&(here, certain): &(u32, Option<&str>)| {
                let values = || self.values(here as usize);
                certain == Some(value.as_str()) || known.entry(here).or_insert_with(values).contains(&value)
            };
            if !own.get(&case).into_iter().flatten().all(&mut is_said) {
                people += left.people;
                *left = ValuesLeft { is_decided: false, is_unsaid: true, ..ValuesLeft::nothing(left.people) };
            }
        }
        people
    }

    /// The values of a person of a case in any rows that can be theirs together.
    fn values(&self, case: usize) -> BTreeSet<String> {
        let setting = &self.setting;
        let can_meet = |shown: &[Shown]| setting.can_meet(shown);
        let mut left: Option<Vec<Alternative>> = None;
        for own in (0..setting.sides.len()).filter_map(|table| setting.weak(case, table, true)) {
            left = Some(match left {
                None => own,
                Some(before) => crossed(&before, &own, &can_meet).0,
            });
        }
        let records = left.iter().flatten().flat_map(|alternative| &alternative.left.records);
        records.map(|&(record, ..)| setting.tables.text(setting.tables.value(record, |_| true))).collect()
    }
}
