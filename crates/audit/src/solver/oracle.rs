//! Every world of a small problem, one by one, from the definition. It shares nothing with the
//! layers that it judges.

use std::collections::BTreeMap;

use super::problem::{ABSENT, Presence, WorldProblem};

/// The profile, whether its person may have been suppressed, and the shown buckets.
pub(crate) type ShownBuckets = (u32, bool, Vec<(u32, u32)>);

/// In how many worlds the first person of a profile has each value.
pub(crate) type Worlds = BTreeMap<ShownBuckets, BTreeMap<u32, u128>>;

struct Enumeration<'a> {
    problem: &'a WorldProblem,
    /// The profile of each person.
    people: Vec<u32>,
    /// By side, rows left of each class.
    classes: Vec<Vec<u32>>,
    /// By side, rows left of each count.
    counts: Vec<Vec<u32>>,
    absent: Vec<u64>,
    /// By person: value, and by side a class.
    chosen: Vec<(u32, Vec<u32>)>,
    worlds: Worlds,
}

/// All worlds of people whose number is known; empty when none fits.
pub(crate) fn enumerate(problem: &WorldProblem) -> Worlds {
    let people = problem.profiles.iter().enumerate();
    let people = people.flat_map(|(number, profile)| (0..profile.people.0).map(move |_| number as u32)).collect();
    let mut enumeration = Enumeration {
        problem,
        people,
        classes: problem.sides.iter().map(|side| side.sizes.clone()).collect(),
        counts: problem.sides.iter().map(|side| side.counts.iter().map(|&(_, rows)| rows).collect()).collect(),
        absent: problem.sides.iter().map(|side| side.absent).collect(),
        chosen: Vec::new(),
        worlds: Worlds::new(),
    };
    enumeration.person();
    enumeration.worlds
}

impl Enumeration<'_> {
    fn person(&mut self) {
        if self.chosen.len() == self.people.len() {
            let rows_left = |side: usize| self.classes[side].iter().map(|&rows| u64::from(rows)).sum::<u64>();
            if (0..self.classes.len()).all(|side| rows_left(side) <= self.problem.sides[side].unlisted) {
                self.count();
            }
            return;
        }
        let profile = &self.problem.profiles[self.people[self.chosen.len()] as usize];
        for value in 0..=self.problem.values {
            // Of values that the tables of this person say the same of, the first stands for all.
            if self.problem.alike(profile, value).first() != Some(&value) {
                continue;
            }
            self.chosen.push((value, Vec::new()));
            self.side(value);
            self.chosen.pop();
        }
    }

    fn side(&mut self, value: u32) {
        let problem = self.problem;
        let profile = &problem.profiles[self.people[self.chosen.len() - 1] as usize];
        let side = self.chosen[self.chosen.len() - 1].1.len();
        if side == problem.sides.len() {
            // A value that no table counts is one of people who are in no table.
            let anywhere = self.chosen[self.chosen.len() - 1].1.iter().any(|&class| class != ABSENT);
            if value < problem.values || !anywhere {
                self.person();
            }
            return;
        }
        let table = &problem.sides[side];
        if profile.presence[side] != Presence::Away {
            for &class in &table.places[profile.places[side] as usize] {
                let bucket = table.bucket_of[class as usize];
                let Some(count) = table.position(bucket, value) else { continue };
                if self.classes[side][class as usize] == 0 || self.counts[side][count] == 0 {
                    continue;
                }
                self.classes[side][class as usize] -= 1;
                self.counts[side][count] -= 1;
                self.choose(class, value);
                self.classes[side][class as usize] += 1;
                self.counts[side][count] += 1;
            }
        }
        match profile.presence[side] {
            Presence::Here => {}
            Presence::Away => self.choose(ABSENT, value),
            Presence::Either if self.absent[side] == 0 => {}
            Presence::Either => {
                self.absent[side] -= 1;
                self.choose(ABSENT, value);
                self.absent[side] += 1;
            }
        }
    }

    fn choose(&mut self, class: u32, value: u32) {
        let last = self.chosen.len() - 1;
        self.chosen[last].1.push(class);
        self.side(value);
        self.chosen[last].1.pop();
    }

    fn count(&mut self) {
        for (number, profile) in self.problem.profiles.iter().enumerate().filter(|(_, profile)| profile.people.0 > 0) {
            let first = self.people.iter().position(|&other| other as usize == number).unwrap();
            let (value, classes) = &self.chosen[first];
            let is_away = |(side, &class): (usize, &u32)| class == ABSENT && profile.presence[side] == Presence::Either;
            let in_all = !classes.iter().enumerate().any(is_away);
            let may_be_away = profile.presence.contains(&Presence::Either);
            for anyhow in [false, true].into_iter().filter(|&anyhow| if anyhow { may_be_away } else { in_all }) {
                let shown = classes.iter().enumerate().filter(|(side, class)| {
                    let is_sure = !anyhow || profile.presence[*side] == Presence::Here;
                    self.problem.sides[*side].shown && is_sure && **class != ABSENT
                });
                let shown =
                    shown.map(|(side, &class)| (side as u32, self.problem.sides[side].bucket_of[class as usize]));
                let key = (number as u32, anyhow, shown.collect());
                *self.worlds.entry(key).or_default().entry(*value).or_default() += 1;
            }
        }
    }
}

/// Where no people are listed: by profile, the values that some solution gives to at least one of
/// it.
pub(crate) fn enumerate_cells(problem: &WorldProblem) -> BTreeMap<u32, Vec<u32>> {
    let mut cells: Vec<(u32, u32)> =
        (0..problem.profiles.len() as u32).flat_map(|p| (0..problem.values).map(move |value| (p, value))).collect();
    cells.retain(|&(p, value)| problem.alike(&problem.profiles[p as usize], value).first() == Some(&value));
    let mut state = WorldCells {
        problem,
        cells,
        classes: problem.sides.iter().map(|side| side.sizes.clone()).collect(),
        counts: problem.sides.iter().map(|side| side.counts.iter().map(|&(_, rows)| rows).collect()).collect(),
        chosen: Vec::new(),
        found: BTreeMap::new(),
    };
    state.next();
    state.found
}

struct WorldCells<'a> {
    problem: &'a WorldProblem,
    cells: Vec<(u32, u32)>,
    classes: Vec<Vec<u32>>,
    counts: Vec<Vec<u32>>,
    chosen: Vec<u32>,
    found: BTreeMap<u32, Vec<u32>>,
}

impl WorldCells<'_> {
    fn next(&mut self) {
        let Some(&(number, value)) = self.cells.get(self.chosen.len()) else {
            let rows_left = |side: usize| self.classes[side].iter().map(|&rows| u64::from(rows)).sum::<u64>();
            if (0..self.classes.len()).all(|side| rows_left(side) <= self.problem.sides[side].unlisted) {
                for (&(number, value), &people) in self.cells.iter().zip(&self.chosen) {
                    let values = self.found.entry(number).or_default();
                    if people > 0 && !values.contains(&value) {
                        values.push(value);
                        values.sort_unstable();
                    }
                }
            }
            return;
        };
        let profile = &self.problem.profiles[number as usize];
        let place = |side: usize| -> Option<(usize, usize)> {
            let table = &self.problem.sides[side];
            let class = table.places[profile.places[side] as usize][0];
            Some((class as usize, table.position(table.bucket_of[class as usize], value)?))
        };
        let places: Option<Vec<(usize, usize)>> = (0..self.classes.len()).map(place).collect();
        let used = |people: u32| {
            self.chosen.iter().zip(&self.cells).filter(|(_, c)| c.0 == number).map(|(n, _)| n).sum::<u32>() + people
        };
        let mut most = profile.people.1 - used(0);
        for (side, places) in (0..).zip(places.iter().flatten()).collect::<Vec<(usize, &(usize, usize))>>() {
            most = most.min(self.classes[side][places.0]).min(self.counts[side][places.1]);
        }
        let most = if places.is_some() { most } else { 0 };
        let places = places.unwrap_or_default();
        for people in 0..=most {
            self.chosen.push(people);
            for (side, &(class, count)) in places.iter().enumerate() {
                self.classes[side][class] -= people;
                self.counts[side][count] -= people;
            }
            self.next();
            for (side, &(class, count)) in places.iter().enumerate() {
                self.classes[side][class] += people;
                self.counts[side][count] += people;
            }
            self.chosen.pop();
        }
    }
}
