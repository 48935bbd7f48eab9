//! Small independent parts of a system, solution by solution: which values are possible, and in how
//! many worlds.

use hashbrown::HashMap;
use hedgerow_table::TableError;

use super::bounds::{Contradiction, Index};
use super::done::Done;
use super::query::{Scenario, WorldAnswer, WorldQuery};
use super::system::System;

/// Parts of more variables are left to the bounds.
pub(crate) const VARIABLES_MAX: usize = 300;

/// Members of sums that are looked at to list all solutions of one part, and to answer one question
/// about it.
const LIST_MAX: u64 = 2_000_000;
const ASK_MAX: u64 = 400_000;

/// The same, for all parts together.
const TOTAL_MAX: u64 = 1_500_000_000;

/// The results about all parts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    /// Parts that were too large to be looked at, or took too long.
    pub(crate) open: usize,
    /// The largest part.
    pub(crate) largest: usize,
    /// Some part has no solution.
    pub(crate) contradiction: bool,
}

/// A sum over the variables of one part.
#[derive(Debug, Clone)]
struct LocalSum {
    low: i64,
    high: i64,
    members: Vec<(u32, bool)>,
}

/// One part, by itself.
struct Component {
    /// The variables' numbers in the system.
    variables: Vec<u32>,
    low: Vec<u32>,
    high: Vec<u32>,
    sums: Vec<LocalSum>,
    sums_of: Vec<Vec<u32>>,
    trail: Vec<(u32, u32, u32)>,
    work: u64,
}

/// Too much work.
struct Exhausted;

/// Answers the questions about every part that is small enough.
pub(crate) fn solve(
    system: &System,
    index: &Index,
    scenarios: &mut [Scenario],
    ln_prior: &[f64],
    done: &mut Done<'_>,
) -> Result<Exact, TableError> {
    let (part_of, parts) = parts(system);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&part| parts[part].len());
    let mut requested: Vec<Vec<(u32, u32)>> = vec![Vec::new(); parts.len()];
    for (number, scenario) in scenarios.iter_mut().enumerate() {
        for query in scenario.queries.iter_mut().filter(|query| query.is_ruled_out(system)) {
            query.answer = WorldAnswer::Impossible;
        }
        // The open variables of a profile are of one part; what is fixed counts in its shares too.
        let variables = scenario.left().flat_map(WorldQuery::variables);
        let part = variables.map(|variable| part_of[variable as usize]).find(|&part| part != u32::MAX);
        for (at, query) in scenario.queries.iter_mut().enumerate() {
            match part {
                _ if query.answer == WorldAnswer::Impossible => {}
                Some(part) => requested[part as usize].push((number as u32, at as u32)),
                None => query.answer = WorldAnswer::Possible,
            }
        }
    }
    let mut found = Exact { largest: order.last().map_or(0, |&part| parts[part].len()), ..Exact::default() };
    let mut total = 0;
    let ln = LnFactorials::new();
    for (number, part) in order.into_iter().enumerate() {
        done.parts(number, parts.len())?;
        if parts[part].len() > VARIABLES_MAX || total > TOTAL_MAX {
            found.open += 1;
            continue;
        }
        let mut local = Component::new(system, index, &parts[part]);
        let queries = &requested[part];
        match local.list(system, scenarios, queries, &ln, ln_prior) {
            Ok(true) => {}
            Ok(false) => found.contradiction = true,
            Err(Exhausted) => found.open += usize::from(!local.ask_each(system, scenarios, queries)),
        }
        total += local.work;
    }
    // What is left of one kind is the same in all worlds.
    for query in scenarios.iter_mut().flat_map(|scenario| &mut scenario.queries) {
        if query.answer == WorldAnswer::Open && query.is_forced(system) {
            query.answer = WorldAnswer::Possible;
        }
    }
    shares_of_fixed(system, scenarios);
    Ok(found)
}

/// Shares of scenarios without any open variable.
fn shares_of_fixed(system: &System, scenarios: &mut [Scenario]) {
    for scenario in scenarios {
        let fixed = |query: &WorldQuery| {
            query.variables().all(|variable| system.low[variable as usize] == system.high[variable as usize])
        };
        if !scenario.queries.iter().all(fixed) {
            continue;
        }
        let people: Vec<f64> = scenario.queries.iter().map(|q| q.people(|v| system.low[v as usize])).collect();
        let all: f64 = people.iter().sum();
        for (query, people) in scenario.queries.iter_mut().zip(people).filter(|_| all > 0.0) {
            query.share = Some(people / all);
        }
    }
}

/// Variables that are not fixed, in parts that no sum connects.
fn parts(system: &System) -> (Vec<u32>, Vec<Vec<u32>>) {
    let open = |variable: usize| system.low[variable] != system.high[variable];
    let mut above: Vec<u32> = (0..system.low.len() as u32).collect();
    fn find(above: &mut [u32], mut of: u32) -> u32 {
        while above[of as usize] != of {
            above[of as usize] = above[above[of as usize] as usize];
            of = above[of as usize];
        }
        of
    }
    for sum in 0..system.sums.len() {
        let mut members = system.members_of(sum).iter().map(|member| member.variable()).filter(|&v| open(v));
        let Some(first) = members.next() else { continue };
        for other in members {
            let (one, other) = (find(&mut above, first as u32), find(&mut above, other as u32));
            above[one.max(other) as usize] = one.min(other);
        }
    }
    // Variables of one profile belong together, so that its shares are of one count.
    for variables in &system.profiles {
        let own = variables.values.iter().map(|&(_, w)| w);
        let spread = variables.spread.iter().flat_map(|spread| &spread.buckets);
        let all = own.chain(spread.flat_map(|(_, values)| values).map(|&(_, z)| z));
        let mut all = all.filter(|&variable| open(variable as usize));
        let Some(first) = all.next() else { continue };
        for other in all {
            let (one, other) = (find(&mut above, first), find(&mut above, other));
            above[one.max(other) as usize] = one.min(other);
        }
    }
    let mut part_of = vec![u32::MAX; above.len()];
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for variable in (0..above.len()).filter(|&variable| open(variable)) {
        let root = find(&mut above, variable as u32);
        let part = *numbers.entry(root).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() as u32 - 1
        });
        part_of[variable] = part;
        parts[part as usize].push(variable as u32);
    }
    (part_of, parts)
}

impl Component {
    fn new(system: &System, index: &Index, variables: &[u32]) -> Component {
        let local: HashMap<u32, u32> = variables.iter().copied().zip(0..).collect();
        let (starts, sums) = (&system.starts, &system.sums);
        let mut wanted: Vec<u32> = Vec::new();
        for &variable in variables {
            wanted.extend(index.of(variable as usize));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let mut own: Vec<LocalSum> = Vec::with_capacity(wanted.len());
        for sum in wanted {
            let (mut low, mut high) = (sums[sum as usize].low, sums[sum as usize].high);
            let mut members = Vec::new();
            for member in &system.members[starts[sum as usize] as usize..starts[sum as usize + 1] as usize] {
                let variable = member.variable() as u32;
                match local.get(&variable) {
                    Some(&variable) => members.push((variable, member.is_subtracted())),
                    None => {
                        let fixed = i64::from(system.low[variable as usize]);
                        let fixed = if member.is_subtracted() { -fixed } else { fixed };
                        (low, high) = (low - fixed, high - fixed);
                    }
                }
            }
            own.push(LocalSum { low, high, members });
        }
        let mut sums_of = vec![Vec::new(); variables.len()];
        for (number, sum) in own.iter().enumerate() {
            sum.members.iter().for_each(|&(variable, _)| sums_of[variable as usize].push(number as u32));
        }
        let bounds = |of: &[u32]| variables.iter().map(|&variable| of[variable as usize]).collect();
        Component {
            variables: variables.to_vec(),
            low: bounds(&system.low),
            high: bounds(&system.high),
            sums: own,
            sums_of,
            trail: Vec::new(),
            work: 0,
        }
    }

    /// Lists every solution and answers all questions. `false` when there is none.
    fn list(
        &mut self,
        system: &System,
        scenarios: &mut [Scenario],
        queries: &[(u32, u32)],
        ln: &LnFactorials,
        ln_prior: &[f64],
    ) -> Result<bool, Exhausted> {
        let local: HashMap<u32, u32> = self.variables.iter().copied().zip(0..).collect();
        let factorials: Vec<&Vec<u32>> =
            system.factorials.iter().filter(|sum| sum.iter().any(|variable| local.contains_key(variable))).collect();
        let priors = self.ln_priors(scenarios, queries, ln_prior);
        let mut people = vec![0.0; queries.len()];
        let mut shared: HashMap<u32, f64> = HashMap::new();
        let mut possible = vec![false; queries.len()];
        let mut reference: Option<f64> = None;
        let mut solutions = 0u64;
        let limit = self.work + LIST_MAX;
        let known: Vec<WorldQuery> =
            queries.iter().map(|&(number, at)| scenarios[number as usize].queries[at as usize].clone()).collect();
        self.search(limit, &mut |part: &Component| {
            let value = |variable: u32| match local.get(&variable) {
                Some(&own) => part.low[own as usize],
                None => system.low[variable as usize],
            };
            let mut weight = 0.0;
            for (own, &variable) in part.variables.iter().enumerate() {
                let number = part.low[own];
                weight += f64::from(system.weight[variable as usize]) * ln.of(number);
                weight += f64::from(number) * priors[own];
            }
            for sum in &factorials {
                weight += ln.of(sum.iter().map(|&variable| value(variable)).sum());
            }
            let against = *reference.get_or_insert(weight);
            let weight = (weight - against).exp();
            for (at, query) in known.iter().enumerate() {
                let now = query.people(value);
                possible[at] |= now > 0.0;
                people[at] += weight * now;
            }
            solutions += 1;
            true
        })?;
        if solutions == 0 {
            return Ok(false);
        }
        for (&(number, _), people) in queries.iter().zip(&people) {
            *shared.entry(number).or_default() += people;
        }
        for ((&(number, at), people), possible) in queries.iter().zip(people).zip(possible) {
            let query = &mut scenarios[number as usize].queries[at as usize];
            query.answer = if possible { WorldAnswer::Possible } else { WorldAnswer::Impossible };
            let all = shared[&number];
            query.share = (all > 0.0 && all.is_finite()).then(|| people / all);
        }
        Ok(true)
    }

    fn ln_priors(&self, scenarios: &[Scenario], queries: &[(u32, u32)], ln_prior: &[f64]) -> Vec<f64> {
        let mut priors = vec![0.0; self.variables.len()];
        if ln_prior.is_empty() {
            return priors;
        }
        for &(number, at) in queries {
            let query = &scenarios[number as usize].queries[at as usize];
            if let Ok(own) = self.variables.binary_search(&query.w) {
                priors[own] = ln_prior.get(query.value as usize).copied().unwrap_or(0.0);
            }
        }
        priors
    }

    /// Looks for one solution for each question. `false` when one was not answered.
    fn ask_each(&mut self, system: &System, scenarios: &mut [Scenario], queries: &[(u32, u32)]) -> bool {
        let local: HashMap<u32, u32> = self.variables.iter().copied().zip(0..).collect();
        let mut all = true;
        for position in 0..queries.len() {
            let (number, at) = queries[position];
            let query = scenarios[number as usize].queries[at as usize].clone();
            if query.answer != WorldAnswer::Open {
                continue;
            }
            let mut found: Option<Vec<u32>> = None;
            let requested = self.with_question(system, &query, &local, |part, limit| {
                part.search(limit, &mut |part: &Component| {
                    found = Some(part.low.clone());
                    false
                })
            });
            match (requested, &found) {
                (_, Some(solution)) => {
                    // One solution answers every question that it is an example of.
                    for &(number, at) in &queries[position..] {
                        let query = &mut scenarios[number as usize].queries[at as usize];
                        let value = |variable: u32| match local.get(&variable) {
                            Some(&own) => solution[own as usize],
                            None => system.low[variable as usize],
                        };
                        if query.answer == WorldAnswer::Open && query.people(value) > 0.0 {
                            query.answer = WorldAnswer::Possible;
                        }
                    }
                }
                (Ok(()), None) => {
                    scenarios[number as usize].queries[at as usize].answer = WorldAnswer::Impossible;
                }
                (Err(Exhausted), None) => all = false,
            }
        }
        all
    }

    /// Runs with a question as further sums.
    fn with_question(
        &mut self,
        system: &System,
        query: &WorldQuery,
        local: &HashMap<u32, u32>,
        run: impl FnOnce(&mut Component, u64) -> Result<(), Exhausted>,
    ) -> Result<(), Exhausted> {
        let first = self.sums.len();
        for factor in std::iter::once(&vec![query.w]).chain(&query.factors) {
            let members: Vec<(u32, bool)> =
                factor.iter().filter_map(|variable| local.get(variable)).map(|&own| (own, false)).collect();
            let fixed = factor.iter().filter(|variable| !local.contains_key(*variable));
            if fixed.map(|&variable| system.low[variable as usize]).sum::<u32>() == 0 {
                for &(variable, _) in &members {
                    self.sums_of[variable as usize].push(self.sums.len() as u32);
                }
                self.sums.push(LocalSum { low: 1, high: i64::MAX / 4, members });
            }
        }
        let limit = self.work + ASK_MAX;
        let found = run(self, limit);
        for sum in self.sums.drain(first..) {
            for (variable, _) in sum.members {
                self.sums_of[variable as usize].retain(|&other| (other as usize) < first);
            }
        }
        found
    }

    /// Every solution, until `found` says that it is enough.
    fn search(&mut self, limit: u64, found: &mut dyn FnMut(&Component) -> bool) -> Result<(), Exhausted> {
        let start = self.trail.len();
        let all: Vec<u32> = (0..self.sums.len() as u32).collect();
        let result = match self.propagate(all) {
            Ok(()) => self.branch(limit, found).map(drop),
            Err(Contradiction) => Ok(()),
        };
        self.undo(start);
        result
    }

    /// `false` when enough was found.
    fn branch(&mut self, limit: u64, found: &mut dyn FnMut(&Component) -> bool) -> Result<bool, Exhausted> {
        if self.work > limit {
            return Err(Exhausted);
        }
        let open = (0..self.low.len()).filter(|&variable| self.low[variable] < self.high[variable]);
        let Some(variable) = open.min_by_key(|&variable| self.high[variable] - self.low[variable]) else {
            return Ok(found(self));
        };
        for value in self.low[variable]..=self.high[variable] {
            let start = self.trail.len();
            self.trail.push((variable as u32, self.low[variable], self.high[variable]));
            (self.low[variable], self.high[variable]) = (value, value);
            let next = match self.propagate(self.sums_of[variable].clone()) {
                Ok(()) => self.branch(limit, found),
                Err(Contradiction) => Ok(true),
            };
            self.undo(start);
            if !next? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn undo(&mut self, start: usize) {
        for (variable, low, high) in self.trail.drain(start..).rev() {
            (self.low[variable as usize], self.high[variable as usize]) = (low, high);
        }
    }

    fn propagate(&mut self, mut pending: Vec<u32>) -> Result<(), Contradiction> {
        let mut is_pending = vec![false; self.sums.len()];
        pending.iter().for_each(|&sum| is_pending[sum as usize] = true);
        while let Some(number) = pending.pop() {
            is_pending[number as usize] = false;
            let members = std::mem::take(&mut self.sums[number as usize].members);
            let narrowed = self.narrow(number, &members, &mut |sum| {
                if !std::mem::replace(&mut is_pending[sum as usize], true) {
                    pending.push(sum);
                }
            });
            self.sums[number as usize].members = members;
            narrowed?;
        }
        Ok(())
    }

    fn narrow(&mut self, number: u32, members: &[(u32, bool)], push: &mut dyn FnMut(u32)) -> Result<(), Contradiction> {
        self.work += members.len() as u64;
        let (bound_low, bound_high) = (self.sums[number as usize].low, self.sums[number as usize].high);
        let ends = |part: &Component, variable: u32, subtracted: bool| {
            let (low, high) = (i64::from(part.low[variable as usize]), i64::from(part.high[variable as usize]));
            if subtracted { (-high, -low) } else { (low, high) }
        };
        let (mut least, mut most) = (0i64, 0i64);
        for &(variable, subtracted) in members {
            let (low, high) = ends(self, variable, subtracted);
            (least, most) = (least + low, most + high);
        }
        if least > bound_high || most < bound_low {
            return Err(Contradiction);
        }
        if least >= bound_low && most <= bound_high {
            return Ok(());
        }
        for &(variable, subtracted) in members {
            let (low, high) = ends(self, variable, subtracted);
            let (new_low, new_high) = (low.max(bound_low - (most - high)), high.min(bound_high - (least - low)));
            if new_low > new_high {
                return Err(Contradiction);
            }
            if (new_low, new_high) != (low, high) {
                let (from, to) = if subtracted { (-new_high, -new_low) } else { (new_low, new_high) };
                let own = variable as usize;
                self.trail.push((variable, self.low[own], self.high[own]));
                (self.low[own], self.high[own]) = (from as u32, to as u32);
                (least, most) = (least + new_low - low, most + new_high - high);
                for at in 0..self.sums_of[own].len() {
                    push(self.sums_of[own][at]);
                }
            }
        }
        Ok(())
    }
}

/// ln(n!) of the numbers that are small enough for Stirling's series to be inexact.
struct LnFactorials(Vec<f64>);

impl LnFactorials {
    const LISTED: u32 = 1024;

    fn new() -> LnFactorials {
        let mut table = vec![0.0];
        for n in 1..Self::LISTED {
            table.push(table[n as usize - 1] + f64::from(n).ln());
        }
        LnFactorials(table)
    }

    fn of(&self, n: u32) -> f64 {
        match self.0.get(n as usize) {
            Some(&ln) => ln,
            // The next term is below 1e-18 from here on.
            None => {
                let x = f64::from(n);
                let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3));
                x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + series
            }
        }
    }
}
