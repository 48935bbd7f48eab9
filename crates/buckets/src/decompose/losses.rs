//! The losses of bucketized tables, cached. A table that holds one attribute more than one that is
//! remembered is measured from there ([`super::likelihood`]), and only as far as is needed to see
//! that another is better.

use std::sync::Arc;

use hashbrown::HashMap;
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::parallel;

use super::alike::Alike;
use super::entropies::Entropies;
use super::likelihood::{LikelihoodProgress, Own};
use super::{DecompositionProblem, Groups, Subtable};

/// A table with buckets.
pub type Guarded<'t> = (&'t Subtable, &'t Arc<Groups>);

/// A table by the address of its buckets, and what it releases by row.
pub type TableKey = (usize, AttributeSet);

pub fn key((table, groups): Guarded<'_>) -> TableKey {
    (address(groups), table.open())
}

fn address(groups: &Arc<Groups>) -> usize {
    Arc::as_ptr(groups) as usize
}

#[derive(Debug)]
pub struct Losses<'a> {
    problem: &'a DecompositionProblem<'a>,
    /// The statement of each table by its buckets alone, by their address, which the buckets kept
    /// here hold.
    own: HashMap<usize, (Arc<Groups>, Own<'a>)>,
    known: HashMap<TableKey, f64>,
    /// The rows that the cached tables leave alike.
    alike: HashMap<TableKey, Arc<Alike>>,
    /// Tables with one attribute more that are measured in part, and that attribute.
    begun: HashMap<TableKey, (usize, LikelihoodProgress)>,
}

impl<'a> Losses<'a> {
    pub fn new(problem: &'a DecompositionProblem<'a>) -> Losses<'a> {
        let (own, known, alike, begun) = (HashMap::new(), HashMap::new(), HashMap::new(), HashMap::new());
        Losses { problem, own, known, alike, begun }
    }

    /// Remembers some tables: those that hold one attribute more are measured from there.
    pub fn start_from(&mut self, mut tables: Vec<Guarded<'_>>, entropies: &Entropies<'_>) {
        tables.retain(|(table, _)| table.regions.is_none());
        self.prepare(tables.clone());
        let alike = parallel::map_items(tables, |_, table| (key(table), self.alike(table, entropies)));
        self.alike = alike.into_iter().collect();
        let alike = &self.alike;
        self.begun.retain(|key, (attribute, _)| alike.contains_key(&(key.0, key.1.without(*attribute))));
    }

    /// The rows to divide for caching some tables.
    pub fn undivided(&self, tables: &[Guarded<'_>]) -> Vec<AttributeSet> {
        let new = tables.iter().filter(|(table, _)| table.regions.is_none()).map(|&table| key(table));
        let new = new.filter(|key| !self.alike.contains_key(key) && self.one_less(*key).is_none());
        new.map(|(_, open)| open).collect()
    }

    /// A table that is remembered and holds one attribute less than another, and that attribute.
    fn one_less(&self, (groups, open): TableKey) -> Option<(usize, &Arc<Alike>)> {
        open.iter().find_map(|attribute| Some((attribute, self.alike.get(&(groups, open.without(attribute)))?)))
    }

    /// Of a table that was measured before: of what it releases by bucket, given what it releases
    /// by row, and of all that a generalized one releases.
    pub fn of(&self, table: Guarded<'_>) -> f64 {
        self.known[&key(table)]
    }

    /// A lower bound of the loss, and whether it is exact; `None` where it has to be measured at
    /// once.
    pub fn bound(&self, table: Guarded<'_>) -> Option<(f64, bool)> {
        if let Some(&known) = self.known.get(&key(table)) {
            return Some((known, true));
        }
        let (attribute, measure) = self.begun.get(&key(table))?;
        let alike = &self.alike[&(address(table.1), table.0.open().without(*attribute))];
        Some(self.own[&address(table.1)].1.bound(alike, measure))
    }

    /// Begins with those of some tables that need not be measured at once; the others are.
    pub fn begin(&mut self, mut tables: Vec<Guarded<'_>>, entropies: &Entropies<'_>) {
        self.prepare(tables.clone());
        tables.retain(|&table| {
            let last = self.one_less(key(table)).filter(|_| table.0.regions.is_none());
            let is_left = last.is_none();
            if let Some((last, _)) = last
                && !self.known.contains_key(&key(table))
            {
                self.begun.entry(key(table)).or_insert((last, LikelihoodProgress::default()));
            }
            is_left
        });
        self.measure(tables, entropies);
    }

    /// Goes on with some that were begun, on all cores.
    pub fn advance(&mut self, tables: Vec<Guarded<'_>>) {
        let found = parallel::map_items(tables, |_, table| {
            let (groups, open) = key(table);
            let (attribute, mut measure) = self.begun[&(groups, open)];
            let alike = &self.alike[&(groups, open.without(attribute))];
            let own = &self.own[&groups].1;
            own.advance(table.1, alike, self.problem.column(attribute), &mut measure);
            let (loss, complete) = own.bound(alike, &measure);
            ((groups, open), (attribute, measure), complete.then_some(loss))
        });
        for (key, begun, known) in found {
            match known {
                Some(loss) => {
                    self.begun.remove(&key);
                    self.known.insert(key, loss);
                }
                None => {
                    self.begun.insert(key, begun);
                }
            }
        }
    }

    /// Measures some tables, on all cores.
    pub fn measure(&mut self, mut tables: Vec<Guarded<'_>>, entropies: &Entropies<'_>) {
        tables.retain(|&table| !self.known.contains_key(&key(table)));
        tables.sort_by_key(|&table| key(table));
        tables.dedup_by_key(|table| key(*table));
        self.prepare(tables.clone());
        let found = parallel::map_items(tables, |_, (table, groups)| {
            let own = &self.own[&address(groups)].1;
            let loss = match &table.regions {
                Some(regions) => own.region_loss(groups, &regions.volumes()),
                None => own.loss(groups, &self.alike((table, groups), entropies)),
            };
            (key((table, groups)), loss)
        });
        self.known.extend(found);
    }

    /// Finds what tables say by their buckets alone, where it is not known yet.
    fn prepare(&mut self, mut tables: Vec<Guarded<'_>>) {
        tables.retain(|(_, groups)| !self.own.contains_key(&address(groups)));
        tables.sort_by_key(|(_, groups)| address(groups));
        tables.dedup_by_key(|(_, groups)| address(groups));
        let found = parallel::map_items(tables, |_, (table, groups)| {
            (address(groups), (Arc::clone(groups), Own::new(self.problem, table, groups)))
        });
        self.own.extend(found);
    }

    /// The rows that a table leaves alike; from one with one attribute less, if there is one.
    fn alike(&self, table: Guarded<'_>, entropies: &Entropies<'_>) -> Arc<Alike> {
        let (groups, open) = key(table);
        if let Some(alike) = self.alike.get(&(groups, open)) {
            return Arc::clone(alike);
        }
        Arc::new(match self.one_less((groups, open)) {
            Some((attribute, alike)) => alike.refined(self.problem.column(attribute), table.1),
            None => Alike::new(&[self.own[&groups].1.lines(table.1, &entropies.partition(open))], table.1),
        })
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_privacy::{Context, Distribution, Model, models};
    use hedgerow_table::{Codes, Ratio};
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::anatomy::BucketGuarantees;

    /// By its definition: the share of a row's value in the buckets of all rows that look like it.
    fn by_hand(columns: &[Vec<u32>], open: &[usize], values: &[u32], cardinality: usize, groups: &Groups) -> f64 {
        let rows = values.len();
        let share = |group: u32, value: u32| {
            let members: Vec<usize> = (0..rows).filter(|&row| groups.of_row[row] == group).collect();
            let with = members.iter().filter(|&&row| values[row] == value).count();
            match group {
                Groups::NONE => 1.0 / cardinality as f64,
                _ => with as f64 / members.len() as f64,
            }
        };
        let looks = |row: usize| open.iter().map(|&column| columns[column][row]).collect::<Vec<_>>();
        let loss = |row: usize| {
            let alike: Vec<usize> = (0..rows).filter(|&other| looks(other) == looks(row)).collect();
            let likelihood: f64 = alike.iter().map(|&other| share(groups.of_row[other], values[row])).sum();
            -(likelihood / alike.len() as f64).ln()
        };
        (0..rows).map(loss).sum::<f64>() / rows as f64
    }

    fn random_groups(rng: &mut StdRng, values: &[u32], cardinality: usize) -> Option<Groups> {
        if rng.random_bool(0.8) {
            let model = match rng.random_range(0..3) {
                0 => Model::DistinctLDiversity { l: rng.random_range(1..3) },
                _ => Model::FrequencyLDiversity { l: Ratio::integer(rng.random_range(1..5)) },
            };
            let allowed = BucketGuarantees::new(
                vec![models::guarantee(&model, &Context::default()).unwrap()],
                Distribution::default(),
            );
            return Groups::dealt(&Codes::from_iter(cardinality, values.iter().copied()), cardinality, &allowed, rng);
        }
        let buckets = rng.random_range(1..6);
        let of_row: Vec<u32> = values
            .iter()
            .map(|_| if rng.random_bool(0.1) { Groups::NONE } else { rng.random_range(0..buckets) })
            .collect();
        let members: Vec<Vec<(u32, u32)>> = (0..buckets)
            .map(|bucket| {
                let with = |value| of_row.iter().zip(values).filter(|&pair| pair == (&bucket, &value)).count() as u32;
                (0..cardinality as u32).map(|value| (value, with(value))).filter(|counted| counted.1 > 0).collect()
            })
            .collect();
        Some(Groups::of(of_row, members.into_iter()))
    }

    #[test]
    fn losses_are_at_least_their_bounds_and_equal_at_the_end() {
        let (mut measured, mut early) = (0, 0);
        for seed in 0..600 {
            let rng = &mut StdRng::seed_from_u64(seed);
            let rows = rng.random_range(1..150);
            let cardinalities: Vec<usize> = (0..4).map(|_| rng.random_range(1..=12)).collect();
            let mut columns: Vec<Vec<u32>> = Vec::new();
            for &cardinality in &cardinalities {
                let leans = columns.first().cloned().filter(|_| rng.random_bool(0.3));
                let skewed = |rng: &mut StdRng| (rng.random::<f64>().powi(2) * cardinality as f64) as u32;
                let cell = |row: usize| match &leans {
                    Some(before) if rng.random_bool(0.8) => before[row] % cardinality as u32,
                    _ => skewed(rng),
                };
                columns.push((0..rows).map(cell).collect());
            }
            let Some(groups) = random_groups(rng, &columns[3], cardinalities[3]) else { continue };
            let groups = Arc::new(groups);
            let codes: Vec<Codes> = columns
                .iter()
                .zip(&cardinalities)
                .map(|(column, &size)| Codes::from_iter(size, column.iter().copied()))
                .collect();
            let problem =
                DecompositionProblem::new(codes.iter().collect(), cardinalities.clone(), rows, Vec::new(), &[]);
            let entropies = Entropies::new(&problem);
            let table = |open: &[usize]| Subtable {
                sensitive: AttributeSet::of(3),
                groups: Some(Arc::clone(&groups)),
                ..Subtable::plain(open.iter().copied().chain([3]).collect())
            };
            let by_hand = |open: &[usize]| by_hand(&columns, open, &columns[3], cardinalities[3], &groups);
            let mut losses = Losses::new(&problem);
            let mut open = vec![0];
            for next in [1, 2] {
                let start = table(&open);
                losses.start_from(vec![(&start, &groups)], &entropies);
                losses.measure(vec![(&start, &groups)], &entropies);
                assert!((losses.of((&start, &groups)) - by_hand(&open)).abs() < 1e-9, "seed {seed}: {open:?}");
                open.push(next);
                let (grown, wanted) = (table(&open), by_hand(&open));
                let grown = (&grown, &groups);
                losses.begin(vec![grown], &entropies);
                let mut before = f64::NEG_INFINITY;
                loop {
                    let (bound, complete) = losses.bound(grown).unwrap();
                    assert!(bound >= before - 1e-9 && bound <= wanted + 1e-9, "seed {seed}: {bound}, not {wanted}");
                    early += usize::from(!complete && bound > wanted - 0.1);
                    before = bound;
                    if complete {
                        break;
                    }
                    losses.advance(vec![grown]);
                }
                assert!((before - wanted).abs() < 1e-9, "seed {seed}: {before}, not {wanted}");
                measured += 1;
            }
        }
        assert!(measured > 500 && early > 100, "{measured} measured, {early} nearly known early");
    }
}
