//! Sets of units judged one by one and whole, beside the search that settles most of them by a few
//! units.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::judge::BoundRule;
use crate::models::{Context, guarantee};
use crate::{Distribution, Model};

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

/// Two known attributes and a protected one; rules over units.
struct Case {
    of_row: Vec<u32>,
    units: usize,
    columns: [Vec<u32>; 3],
    judge: Judge,
    terms: UnitTerms,
}

const VALUES: u32 = 6;

fn random_case(seed: u64) -> Case {
    let mut rng = StdRng::seed_from_u64(seed);
    let units = rng.random_range(1..60usize);
    let rows = units + [0, 5, 60, 150][rng.random_range(0..4)];
    let of_row: Vec<u32> =
        (0..rows).map(|row| (if row < units { row } else { rng.random_range(0..units) }) as u32).collect();
    let one_value = rng.random_bool(0.2);
    let missing = rng.random_bool(0.4).then_some(VALUES - 1);
    let values = rng.random_range(1..=VALUES);
    let first = rng.random_range(1..5u32);
    let mut random = |below: u32| -> Vec<u32> { (0..rows).map(|_| rng.random_range(0..below)).collect() };
    let columns = [random(first), random(3), random(values)];
    let [known, also_known, mut protected] = columns;
    if one_value {
        protected = of_row.iter().map(|&unit| unit * 7 % values).collect();
    }
    let context = Context { missing, ..Context::default() };
    let bound = |know: Vec<usize>, models: &[Model]| BoundRule {
        know,
        protect: Some(2),
        guarantees: models.iter().map(|model| guarantee(model, &context).unwrap()).collect(),
        source: None,
        tree: None,
        concerned: Vec::new(),
    };
    let distinct = Model::DistinctLDiversity { l: rng.random_range(1..5) };
    let enough = Model::KAnonymity { k: rng.random_range(1..5) };
    let share = Model::FrequencyLDiversity { l: hedgerow_table::Ratio::from_decimal(1.5).unwrap() };
    let rules = match rng.random_range(0..4) {
        0 => vec![bound(vec![0, 1], &[distinct])],
        1 => vec![bound(vec![0, 1], &[enough]), bound(vec![0], &[distinct])],
        2 => vec![bound(vec![0, 1], &[enough, distinct])],
        _ => vec![bound(vec![0, 1], &[share]), bound(vec![0, 1], &[distinct])],
    };
    let several = UnitRows::has_several_values(&of_row, units, &Codes::from_iter(VALUES as usize, protected.clone()));
    let terms = UnitTerms {
        rows: rules.iter().map(|_| KnownRows::ALL[rng.random_range(0..2)]).collect(),
        missing: vec![missing; rules.len()],
        several_values: vec![several; rules.len()],
        linked: rng.random_bool(0.2),
        allowed: rng.random_range(0..=units as u64),
    };
    let allowed = rng.random_range(0..=rows as u64);
    let judge = Judge::new(vec![4, 3, VALUES as usize], 2, rules, allowed).unwrap().over_units(terms.clone());
    Case { of_row, units, columns: [known, also_known, protected], judge, terms }
}

/// A set of units, each with its values, and those that it is about.
type UnitSet = (Vec<Vec<u32>>, Vec<usize>);

impl Case {
    fn rows_of(&self, unit: usize) -> Vec<usize> {
        (0..self.of_row.len()).filter(|&row| self.of_row[row] as usize == unit).collect()
    }

    fn class_of(&self, rule: &BoundRule, row: usize) -> Vec<u32> {
        rule.know.iter().map(|&attribute| self.columns[attribute][row]).collect()
    }

    /// The rows of a unit by their classes, ascending.
    fn signature(&self, rule: &BoundRule, unit: usize) -> Vec<Vec<u32>> {
        let mut classes: Vec<Vec<u32>> = self.rows_of(unit).into_iter().map(|row| self.class_of(rule, row)).collect();
        classes.sort();
        classes
    }

    /// All sets that a rule must hold for.
    fn sets(&self, number: usize, kept: &[bool]) -> Vec<UnitSet> {
        let rule = &self.judge.rules()[number];
        let kept_units: Vec<usize> = (0..self.units).filter(|&unit| kept[unit]).collect();
        let in_class = |unit: usize, class: &[u32]| -> Vec<u32> {
            let rows = self.rows_of(unit).into_iter().filter(|&row| self.class_of(rule, row) == class);
            rows.map(|row| self.columns[2][row]).collect()
        };
        let whole = |unit: usize| self.rows_of(unit).into_iter().map(|row| self.columns[2][row]).collect::<Vec<u32>>();
        let shows_others = self.terms.linked && self.terms.several_values[number];
        let mut sets: Vec<UnitSet> = Vec::new();
        let signatures: Vec<Vec<Vec<u32>>> = (0..self.units).map(|unit| self.signature(rule, unit)).collect();
        let mut classes: Vec<Vec<u32>> = kept_units.iter().flat_map(|&unit| signatures[unit].clone()).collect();
        classes.sort();
        classes.dedup();
        for class in &classes {
            let units: Vec<usize> =
                kept_units.iter().copied().filter(|&unit| signatures[unit].contains(class)).collect();
            sets.push((units.iter().map(|&unit| in_class(unit, class)).collect(), units.clone()));
            if shows_others {
                sets.push((units.iter().map(|&unit| whole(unit)).collect(), units));
            }
        }
        if self.terms.rows[number] == KnownRows::One {
            return sets;
        }
        for &own in &kept_units {
            let times = |unit: usize, class: &Vec<u32>| signatures[unit].iter().filter(|other| *other == class).count();
            let fits = |other: usize| {
                let holds = signatures[own].iter().all(|class| times(other, class) >= times(own, class));
                holds && (!self.terms.linked || signatures[other] == signatures[own])
            };
            let fitting: Vec<usize> = kept_units.iter().copied().filter(|&other| fits(other)).collect();
            for class in &signatures[own] {
                sets.push((fitting.iter().map(|&unit| in_class(unit, class)).collect(), vec![own]));
            }
            if shows_others {
                sets.push((fitting.iter().map(|&unit| whole(unit)).collect(), vec![own]));
            }
        }
        sets
    }

    fn class(&self, number: usize, set: &UnitSet) -> UnitClass {
        let mut class = UnitClass::new(self.terms.missing[number]);
        set.0.iter().for_each(|values| class.add(&mut values.clone()));
        class.count();
        class
    }

    /// The units of classes of which the rows fail.
    fn failing_by_rows(&self, rule: &BoundRule, kept: &[bool]) -> Vec<usize> {
        let mut rows: Vec<(Vec<u32>, u32, usize)> = (0..self.of_row.len())
            .filter(|&row| kept[self.of_row[row] as usize])
            .map(|row| (self.class_of(rule, row), self.columns[2][row], self.of_row[row] as usize))
            .collect();
        rows.sort();
        let mut failing = Vec::new();
        for of_class in rows.chunk_by(|a, b| a.0 == b.0) {
            let values: Vec<(u32, u32)> =
                of_class.chunk_by(|a, b| a.1 == b.1).map(|equal| (equal[0].1, equal.len() as u32)).collect();
            let class = crate::Class { rows: of_class.len() as u64, values: &values };
            if !rule.guarantees.iter().all(|guarantee| guarantee.holds(class, &Distribution::default())) {
                failing.extend(of_class.iter().map(|(_, _, unit)| *unit));
            }
        }
        failing
    }

    /// The units that stay, where few enough go.
    fn kept_plainly(&self) -> Option<Vec<bool>> {
        let mut kept = vec![true; self.units];
        loop {
            let mut failing: Vec<usize> = Vec::new();
            for (number, rule) in self.judge.rules().iter().enumerate() {
                failing.extend(self.failing_by_rows(rule, &kept));
                for set in self.sets(number, &kept) {
                    let class = self.class(number, &set);
                    let nothing = Distribution::default();
                    if !rule.guarantees.iter().all(|guarantee| class.holds(guarantee.as_ref(), &nothing)) {
                        failing.extend(&set.1);
                    }
                }
            }
            failing.iter().for_each(|&unit| kept[unit] = false);
            let lost: Vec<usize> = (0..self.units).filter(|&unit| !kept[unit]).collect();
            let lost_rows: usize = lost.iter().map(|&unit| self.rows_of(unit).len()).sum();
            if lost_rows as u64 > self.judge.allowed()
                || lost.len() as u64 > self.terms.allowed
                || lost.len() == self.units
            {
                return None;
            }
            if failing.is_empty() {
                return Some(kept);
            }
        }
    }
}

/// Whether each unit stays, and what is achieved, with all sets looked at as a whole.
#[test]
fn deciding_by_few_units_agrees_with_deciding_by_all() {
    let (mut suppressing, mut failing, mut differing) = (0, 0, 0);
    for seed in seeds(1500) {
        let case = random_case(seed);
        let codes: Vec<Codes> = [4, 3, VALUES]
            .iter()
            .zip(&case.columns)
            .map(|(&values, column)| Codes::from_iter(values as usize, column.iter().copied()))
            .collect();
        let codes: Vec<&Codes> = codes.iter().collect();
        let counted = case.judge.count::<1>(&codes, case.of_row.len());
        let rows = UnitRows::new(&case.judge, &counted.set, &codes, &case.of_row, case.units);
        let places: Vec<u32> = (0..counted.set.len() as u32).collect();
        let verdict = case.judge.judge_units(&case.terms, &counted.set, &rows, &places);
        let expected = case.kept_plainly();
        assert_eq!(verdict.kept, expected, "seed {seed}");
        failing += usize::from(expected.is_none());
        suppressing += usize::from(expected.as_ref().is_some_and(|kept| kept.contains(&false)));
        let kept = expected.unwrap_or_else(|| (0..case.units).map(|unit| unit % 5 != 1).collect());
        let achieved = case.judge.achieved_over_units(&case.terms, &counted.set, &rows, &kept);
        for (number, rule) in case.judge.rules().iter().enumerate() {
            let sets = case.sets(number, &kept);
            for (place, guarantee) in rule.guarantees.iter().enumerate() {
                let (mut measures, mut fails) = (Vec::new(), vec![false; case.units]);
                for set in &sets {
                    let class = case.class(number, set);
                    let here = class.measure(guarantee.as_ref(), &Distribution::default());
                    measures = crate::guarantee::ClassMeasure::worse_of(measures, here);
                    if !class.holds(guarantee.as_ref(), &Distribution::default()) {
                        set.1.iter().for_each(|&unit| fails[unit] = true);
                    }
                }
                let found = &achieved[number][place];
                assert_eq!(found.measures, measures, "seed {seed}, rule {number}");
                assert_eq!(found.holds, !fails.contains(&true), "seed {seed}, rule {number}");
                let rows = case.of_row.iter().filter(|&&unit| fails[unit as usize]).count() as u64;
                assert_eq!(found.failing_rows, rows, "seed {seed}, rule {number}");
                differing += usize::from(!found.holds);
            }
        }
    }
    if std::env::var("HEDGEROW_SEED").is_err() {
        assert!(suppressing > 50 && failing > 50 && differing > 50, "{suppressing} {failing} {differing}");
    }
}
