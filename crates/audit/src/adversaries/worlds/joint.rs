//! Shares of people, such as P(age >= 40 | zip >= 20000) = 4/9, as numbers of people in
//! combinations of cells.

use hedgerow_release::JointShare;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_release::joint::{Condition, Holds};

use super::attacker::Released;
use super::tables::AttributeTables;
use crate::solver::KnownPeople;

/// How many people are in the combinations that each share speaks of. A share that speaks of an
/// attribute which no table has says nothing.
pub(super) fn known_people(
    tables: &AttributeTables<'_>,
    combinations: &[Vec<u32>],
    joint: &[JointShare],
) -> Vec<KnownPeople> {
    let classes: Vec<&ReleasedClasses> = tables.tables.iter().map(|table| table.classes).collect();
    let suppressed: u64 = tables.tables.iter().map(|table| table.suppressed).sum();
    let mut known = Vec::new();
    for share in joint {
        let has = |name: &str| classes.iter().any(|table| table.quasi.iter().any(|quasi| quasi.name == name));
        if !share.attributes().all(has) {
            continue;
        }
        let (least, most) = given(tables, share);
        let part = |people: u64| u128::from(people) * u128::from(share.numerator);
        let under = u128::from(share.denominator);
        // Who was suppressed anywhere is in no combination.
        let least = ((part(least) / under) as u64).saturating_sub(suppressed);
        let most = part(most).div_ceil(under) as u64;
        let (mut sure, mut possible) = (Vec::new(), Vec::new());
        for (number, combination) in (0..).zip(combinations) {
            let of = |condition: &Condition| of_combination(&classes, combination, condition);
            match share.of.iter().chain(&share.given).map(of).min().unwrap_or(Holds::OfAll) {
                Holds::OfNone => {}
                Holds::OfSome => possible.push(number),
                Holds::OfAll => {
                    sure.push(number);
                    possible.push(number);
                }
            }
        }
        known.push(KnownPeople { profiles: sure, people: (0, most) });
        known.push(KnownPeople { profiles: possible, people: (least, u64::MAX >> 8) });
    }
    known
}

/// At least and at most this many people meet the condition of a share, by the tables that have its
/// attributes.
fn given(tables: &AttributeTables<'_>, share: &JointShare) -> (u64, u64) {
    let source = |table: &Released<'_>| table.classes.rows + table.suppressed;
    let (mut least, mut most) = (0, tables.tables.iter().map(source).max().unwrap_or(0));
    if share.given.is_empty() {
        return (tables.tables.iter().map(source).min().unwrap_or(0), most);
    }
    for table in &tables.tables {
        let classes = table.classes;
        let has = |condition: &Condition| classes.quasi.iter().any(|quasi| quasi.name == condition.attribute);
        if !share.given.iter().all(has) {
            continue;
        }
        let (mut all, mut some) = (0, table.suppressed);
        for (class, &rows) in classes.sizes.iter().enumerate() {
            let of = |condition: &Condition| of_class(classes, class as u32, condition).unwrap_or(Holds::OfSome);
            let holds = share.given.iter().map(of).min().unwrap_or(Holds::OfAll);
            all += if holds == Holds::OfAll { u64::from(rows) } else { 0 };
            some += if holds == Holds::OfNone { 0 } else { u64::from(rows) };
        }
        (least, most) = (least.max(all), most.min(some));
    }
    (least, most)
}

/// Of how many people in a combination a condition is true: one cell that decides is enough.
fn of_combination(tables: &[&ReleasedClasses], combination: &[u32], condition: &Condition) -> Holds {
    let cells = tables.iter().zip(combination);
    let found = cells.filter_map(|(table, &class)| of_class(table, class, condition));
    found.filter(|holds| *holds != Holds::OfSome).min().unwrap_or(Holds::OfSome)
}

fn of_class(table: &ReleasedClasses, class: u32, condition: &Condition) -> Option<Holds> {
    let index = table.quasi.iter().position(|quasi| quasi.name == condition.attribute)?;
    Some(condition.holds(&table.quasi[index].covers[table.cells(class as usize)[index] as usize]))
}
