//! The full-domain search against brute force: random small tables under random policies, every
//! node of the lattice judged row by row from the definitions, in other data structures and other
//! arithmetic than the search uses.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish oracle` replays that
//! case alone.

mod by_file;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use hedgerow_policy::{Loss, Rule};
use hedgerow_privacy::{Distance, Model, NumberCloseness};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::loss::LossModel;
use hedgerow_publish::search::explore::{HoldingNode, best_with, explore};
use hedgerow_publish::search::{Budget, FullDomain, SearchOutcome, search};
use hedgerow_table::{Bound as Point, Cover, Hierarchy, Kind, Level, NoProgress};

use by_file::cell_loss_by_file;

use crate::beliefs::belief_change;
use crate::known_values::{may_be, name_known_values};
use crate::random_case::{Case, random_case};

const CASES: u64 = 4000;

#[test]
fn the_search_agrees_with_brute_force() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        check_case(seed);
        return;
    }
    for seed in 0..CASES {
        check_case(seed);
    }
}

fn check_case(seed: u64) {
    let mut case = random_case(seed);
    name_known_values(&mut case, seed);
    let Case { table, policy, .. } = &case;
    let context = || format!("seed {seed}\n{:?}\n{:#?}", policy.rules, policy.publish);
    let bound = Bound::with_earlier(policy, table, case.earlier.clone())
        .unwrap_or_else(|error| panic!("{error}\n{}", context()));
    let judge = bound.judge().unwrap();
    let loss = LossModel::new(policy.publish.loss, &bound.loss_attributes(), table.rows as u64, bound.k());
    let (columns, hierarchies) = (bound.judged_codes(), bound.hierarchies());
    let problem = FullDomain {
        columns: &columns,
        rows: table.rows,
        counts: None,
        hierarchies: &hierarchies,
        judge: &judge,
        loss: &loss,
        measured: &[],
        budget: Budget::default(),
        candidates: true,
        units: None,
        consistent: None,
        progress: &NoProgress,
    };
    let outcome: SearchOutcome = search(problem);
    assert!(outcome.proven, "{}", context());
    counts_add_up(&outcome, &context());
    let budget = Budget { nodes_max: Some(seed % 17), time_max: None };
    let hurried = search(FullDomain { budget, candidates: seed.is_multiple_of(2), ..problem });
    counts_add_up(&hurried, &context());
    if hurried.proven {
        assert_eq!(
            hurried.best.map(|best| best.cost),
            outcome.best.as_ref().map(|best| best.cost),
            "proven within {budget:?}, {}",
            context()
        );
    }
    let oracle = Oracle::new(&case, bound.hierarchies());
    let judged = oracle.judged();
    let holding = judged.values().flatten().count();
    let best = judged.values().flatten().map(|(_, loss)| *loss).reduce(f64::min);
    assert_eq!(outcome.candidates, Some(holding as u64), "nodes that hold, {}", context());
    let explored = FullDomain { measured: std::slice::from_ref(&loss), ..problem };
    explored_agrees(explored, &oracle, &judged, seed, &context());
    let Some(found) = &outcome.best else {
        assert_eq!(best, None, "a release exists, {}", context());
        return;
    };
    let levels: Vec<usize> = found.levels.iter().map(|&level| level as usize).collect();
    let (kept, at_found) =
        judged[&levels].as_ref().unwrap_or_else(|| panic!("{levels:?} does not hold, {}", context()));
    assert!(
        (at_found - best.unwrap()).abs() < 1e-9,
        "{levels:?} loses {at_found}, the least is {best:?}, {}",
        context()
    );
    assert!(
        (loss.loss(found.cost) - at_found).abs() < 1e-9,
        "reported {}, is {at_found}, {}",
        loss.loss(found.cost),
        context()
    );
    let kept_by_search = found.kept_rows.clone().unwrap_or_else(|| vec![true; table.rows]);
    assert_eq!(kept_by_search, *kept, "rows kept at {levels:?}, {}", context());
    assert_eq!(found.suppressed, kept.iter().filter(|kept| !**kept).count() as u64, "{}", context());
    if policy.publish.loss != Loss::AverageClass && policy.publish.loss != Loss::Discernibility {
        // The answer does not depend on how the work is divided.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        if seed.is_multiple_of(50) {
            let alone = pool.install(|| search(problem));
            assert_eq!(alone.best.map(|best| best.levels), Some(found.levels.clone()), "{}", context());
            assert_eq!(alone.explain, outcome.explain, "{}", context());
        }
    }
}

/// Exploring lists every node that holds with its numbers, the one that the search finds first; and
/// with one level fixed it finds the best of the rest.
fn explored_agrees(problem: FullDomain<'_>, oracle: &Oracle<'_>, judged: &Judged, seed: u64, context: &str) {
    let attributes = problem.hierarchies.len();
    let explored = explore(problem, &vec![None; attributes]);
    let mut listed: BTreeMap<Vec<usize>, &HoldingNode> = BTreeMap::new();
    for node in &explored.holding {
        listed.insert(node.levels.iter().map(|&level| level as usize).collect(), node);
    }
    assert_eq!(listed.len(), explored.holding.len(), "a node twice, {context}");
    let fixed_attribute = seed as usize % attributes.max(1);
    let fixed_level = seed / 7 % 3;
    let mut best_fixed: Option<f64> = None;
    for (levels, judged) in judged {
        let found = listed.get(levels);
        let Some((kept, loss)) = judged else {
            assert!(found.is_none(), "{levels:?} does not hold, {context}");
            continue;
        };
        let found = found.unwrap_or_else(|| panic!("{levels:?} holds and is not listed, {context}"));
        assert!((found.losses[0] - loss).abs() < 1e-9, "{levels:?} loses {loss}, not {}, {context}", found.losses[0]);
        let out = kept.iter().filter(|kept| **kept).count() as u64;
        assert_eq!(found.suppressed, kept.len() as u64 - out, "{levels:?}, {context}");
        let mut sizes: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
        for row in (0..kept.len()).filter(|&row| kept[row]) {
            *sizes.entry(oracle.cells(levels, row)).or_default() += 1;
        }
        let classes = &found.classes;
        let ends = (sizes.values().min().copied(), sizes.values().max().copied());
        assert_eq!(
            (classes.count, Some(classes.min), Some(classes.max)),
            (sizes.len() as u64, ends.0, ends.1),
            "{context}"
        );
        if levels.get(fixed_attribute) == Some(&(fixed_level as usize)) {
            best_fixed = Some(best_fixed.map_or(*loss, |best| best.min(*loss)));
        }
    }
    assert!(explored.holding.is_sorted_by(|a, b| a.losses[0] <= b.losses[0] + 1e-12), "{context}");
    if attributes > 0 && fixed_level <= problem.hierarchies[fixed_attribute].top() as u64 {
        let mut fixed = vec![None; attributes];
        fixed[fixed_attribute] = Some(fixed_level as u8);
        let found = best_with(problem, &fixed).map(|found| found.losses[0]);
        let agree = match (found, best_fixed) {
            (Some(found), Some(best)) => (found - best).abs() < 1e-9,
            (found, best) => found.is_none() && best.is_none(),
        };
        assert!(agree, "with {fixed:?}: {found:?}, not {best_fixed:?}, {context}");
    }
}

/// Every node of the lattice was judged, or passed over for one reason.
fn counts_add_up(outcome: &SearchOutcome, context: &str) {
    let explain = &outcome.explain;
    let judged = explain.judged_first + explain.judged_proof;
    let passed_over =
        explain.pruned_by_loss + explain.pruned_by_guarantee + explain.pruned_by_suppression + explain.not_reached;
    assert_eq!(Some(judged + passed_over), explain.nodes, "{explain:?}, {context}");
    assert!(explain.judged_holding <= judged, "{explain:?}, {context}");
    assert!(!outcome.proven || explain.not_reached == 0, "{explain:?}, {context}");
}

/// Judges nodes from the definitions, on texts.
pub(crate) struct Oracle<'a> {
    case: &'a Case,
    hierarchies: Vec<&'a Hierarchy>,
    quasi: Vec<String>,
    /// The texts of the source by column and row, written once.
    texts: BTreeMap<&'a str, Vec<String>>,
    /// Of attributes whose hierarchy is a distance, by name.
    distances: BTreeMap<&'a str, OnceCell<Hierarchy>>,
}

type Counts = BTreeMap<String, usize>;

/// The nodes by their levels: the rows kept, and the loss, where a node holds.
type Judged = BTreeMap<Vec<usize>, Option<(Vec<bool>, f64)>>;

impl<'a> Oracle<'a> {
    pub(crate) fn new(case: &'a Case, hierarchies: Vec<&'a Hierarchy>) -> Self {
        let quasi = case.policy.quasi().map(|attribute| attribute.name.clone()).collect();
        let columns = &case.table.columns;
        let texts = columns
            .iter()
            .map(|column| (column.name.as_str(), (0..case.table.rows).map(|row| column.text(row)).collect()));
        let distances = columns.iter().map(|column| (column.name.as_str(), OnceCell::new()));
        Oracle { case, hierarchies, quasi, texts: texts.collect(), distances: distances.collect() }
    }

    /// Every node is judged once, from the definitions.
    fn judged(&self) -> Judged {
        let judge = |levels: Vec<usize>| {
            let judged = self.kept(&levels).map(|kept| {
                let loss = self.loss(&levels, &kept);
                (kept, loss)
            });
            (levels, judged)
        };
        self.nodes().into_iter().map(judge).collect()
    }

    fn nodes(&self) -> Vec<Vec<usize>> {
        self.hierarchies.iter().fold(vec![Vec::new()], |nodes, hierarchy| {
            let extended =
                |node: Vec<usize>| (0..=hierarchy.top()).map(move |level| [node.clone(), vec![level]].concat());
            nodes.into_iter().flat_map(extended).collect()
        })
    }

    fn cells(&self, levels: &[usize], row: usize) -> Vec<&str> {
        self.quasi.iter().map(|name| self.cell(levels, name, row)).collect()
    }

    fn level(&self, levels: &[usize], name: &str) -> Option<&Level> {
        let index = self.quasi.iter().position(|quasi| quasi == name)?;
        Some(&self.hierarchies[index].levels()[levels[index]])
    }

    /// A released cell.
    fn cell(&self, levels: &[usize], name: &str, row: usize) -> &str {
        let Some(level) = self.level(levels, name) else { return self.value(name, row) };
        let column = self.case.table.column(name).unwrap();
        &level.labels[level.map[column.codes.get(row) as usize] as usize].text
    }

    fn cells_of(&self, levels: &[usize], name: &str) -> Vec<&str> {
        let texts = || self.texts[name].iter().map(String::as_str).collect();
        let Some(level) = self.level(levels, name) else { return texts() };
        let column = self.case.table.column(name).unwrap();
        let label = |row: usize| &level.labels[level.map[column.codes.get(row) as usize] as usize];
        (0..self.case.table.rows).map(|row| label(row).text.as_str()).collect()
    }

    fn value(&self, name: &str, row: usize) -> &str {
        &self.texts[name][row]
    }

    fn counts(&self, name: &str, rows: &[usize]) -> Counts {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let texts = &self.texts[name];
        for &row in rows {
            *counts.entry(&texts[row]).or_default() += 1;
        }
        counts.into_iter().map(|(text, count)| (text.to_owned(), count)).collect()
    }

    /// The rows that stay, when few enough go and some stay.
    fn kept(&self, levels: &[usize]) -> Option<Vec<bool>> {
        let n = self.case.table.rows;
        let mut kept = vec![true; n];
        let columns = |rule: &Rule| rule.know.iter().map(|name| self.cells_of(levels, name)).collect::<Vec<_>>();
        let known: Vec<Vec<Vec<&str>>> = self.case.policy.rules.iter().map(columns).collect();
        loop {
            let mut failing = BTreeSet::new();
            for (rule, known) in self.case.policy.rules.iter().zip(&known) {
                let mut classes: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
                for row in (0..n).filter(|&row| kept[row]) {
                    let key = known.iter().map(|cells| cells[row]).collect();
                    classes.entry(key).or_default().push(row);
                }
                let released: Vec<usize> = (0..n).filter(|&row| kept[row]).collect();
                let concerned = classes.values().filter(|rows| self.is_concerned(levels, rule, rows[0]));
                for rows in concerned.filter(|rows| !self.rule_holds(rule, rows, &released)) {
                    failing.extend(rows.iter().copied());
                }
            }
            if failing.is_empty() {
                break;
            }
            for row in failing {
                kept[row] = false;
            }
        }
        let out = kept.iter().filter(|kept| !**kept).count();
        let suppression = self.case.policy.publish.suppression;
        let within = out as u128 * u128::from(suppression.denominator) <= n as u128 * u128::from(suppression.numerator);
        (within && out < n).then_some(kept)
    }

    /// Whether a rule is about the class of a row: its labels may stand for the named values.
    fn is_concerned(&self, levels: &[usize], rule: &Rule, row: usize) -> bool {
        rule.only_where.iter().all(|(name, values)| {
            let text = self.value(name, row);
            let Some(level) = self.level(levels, name) else { return values.iter().any(|value| value == text) };
            let column = self.case.table.column(name).unwrap();
            let label = &level.labels[level.map[column.codes.get(row) as usize] as usize];
            values.iter().any(|value| may_be(&label.text, &label.cover, value))
        })
    }

    pub(crate) fn rule_holds(&self, rule: &Rule, rows: &[usize], released: &[usize]) -> bool {
        let all_rows: Vec<usize> = (0..self.case.table.rows).collect();
        let protect = rule.protect.as_deref();
        let texts = protect.map(|name| &self.texts[name]);
        let known = |rows: &[usize]| -> Vec<usize> {
            let known = |row: &&usize| texts.is_none_or(|texts| !texts[**row].is_empty());
            rows.iter().filter(known).copied().collect()
        };
        let (known_rows, known_all_rows) = (known(rows), known(&all_rows));
        rule.require.iter().all(|model| {
            let model = match model {
                Model::Conditional { model, having, below } => {
                    let value = |row: usize| self.value(protect.unwrap(), row);
                    let has =
                        |listed: &Vec<String>| rows.iter().any(|&row| listed.iter().any(|one| *one == value(row)));
                    if below.is_some_and(|below| rows.len() as u64 >= below) || !having.as_ref().is_none_or(has) {
                        return true;
                    }
                    &**model
                }
                model => model,
            };
            // With missing as a value of its own, and among the rows whose value is known.
            let has_missing = known_all_rows.len() < all_rows.len();
            let again = has_missing && !matches!(model, Model::KAnonymity { .. }) && !known_rows.is_empty();
            self.model_holds(model, protect, rows, [&all_rows, released])
                && (!again || self.model_holds(model, protect, &known_rows, [&known_all_rows, &known(released)]))
        })
    }

    fn model_holds(&self, model: &Model, protect: Option<&str>, rows: &[usize], tables: [&[usize]; 2]) -> bool {
        let n = rows.len() as f64;
        let counts = protect.map_or_else(Counts::new, |name| self.counts(name, rows));
        let mut sorted: Vec<f64> = counts.values().map(|&count| count as f64).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        const SLACK: f64 = 1e-9;
        match model {
            Model::KAnonymity { k } => rows.len() as u64 >= *k,
            Model::DistinctLDiversity { l } => counts.len() as u64 >= *l,
            Model::FrequencyLDiversity { l } => sorted[0] / n <= 1.0 / l.as_f64() + SLACK,
            Model::EntropyLDiversity { l } => {
                let entropy: f64 = sorted.iter().map(|count| -(count / n) * (count / n).ln()).sum();
                entropy >= l.as_f64().ln() - SLACK
            }
            Model::RecursiveLDiversity { c, l } => {
                let tail: f64 = sorted.iter().skip(*l as usize - 1).sum();
                sorted[0] < c.as_f64() * tail - SLACK
            }
            Model::TCloseness { t, distance, .. } => {
                let name = protect.unwrap();
                tables.iter().all(|whole| self.distance(*distance, name, rows, whole) <= t.as_f64() + SLACK)
            }
            Model::EpsilonClone { epsilon } => tables.iter().all(|whole| {
                let there = self.counts(protect.unwrap(), whole);
                there.iter().all(|(value, &count)| {
                    let share = counts.get(value).map_or(f64::INFINITY, |&count| count as f64 / n);
                    (share - count as f64 / whole.len() as f64).abs() <= epsilon.as_f64() + SLACK
                })
            }),
            Model::RhoBreach { prior, posterior, values } => tables.iter().all(|whole| {
                let there = self.counts(protect.unwrap(), whole);
                counts.iter().all(|(value, &count)| {
                    let limited = values.as_ref().is_none_or(|values| values.contains(value));
                    let rare = there[value] as f64 / whole.len() as f64 <= prior.as_f64() + SLACK;
                    !limited || !rare || count as f64 / n < posterior.as_f64() - SLACK
                })
            }),
            Model::BeliefChange { b, change, values } => tables.iter().all(|whole| {
                let there = self.counts(protect.unwrap(), whole);
                belief_change(*change, values.as_deref(), &counts, &there) <= b.as_f64() + SLACK
            }),
            Model::Conditional { .. } => unreachable!("conditions are looked at before"),
            Model::CrossReleaseLDiversity { l } => {
                let community = &self.case.earlier.communities[protect.unwrap()];
                // Every combination of one class from each release.
                let known = counts.keys().filter(|value| !value.is_empty());
                let mut left: Vec<BTreeSet<&str>> = vec![known.map(String::as_str).collect()];
                for release in &community.releases {
                    let classes = release.classes.iter().map(|(values, _)| -> BTreeSet<&str> {
                        values.iter().map(|&value| community.vocabulary[value as usize].as_str()).collect()
                    });
                    let classes: Vec<_> = classes.collect();
                    left = left.iter().flat_map(|set| classes.iter().map(move |class| set & class)).collect();
                }
                left.iter().all(|set| set.len() as u64 >= *l)
            }
            Model::AlphaKAnonymity { alpha, k, values } => {
                let limited = |value: &String| values.as_ref().is_none_or(|values| values.contains(value));
                let most =
                    counts.iter().filter(|(value, _)| limited(value)).map(|(_, &count)| count).max().unwrap_or(0);
                rows.len() as u64 >= *k && most as f64 / n <= alpha.as_f64() + SLACK
            }
            Model::EpsilonMAnonymity { epsilon, m, relative } => {
                let reach = |x: f64| if *relative { epsilon.as_f64() * x.abs() } else { epsilon.as_f64() };
                self.largest_neighborhood(protect.unwrap(), rows, |x, y| (y - x).abs() <= reach(x)) * m.as_f64()
                    <= n + SLACK
            }
            Model::DeltaLDiversity { delta, l, reading } => {
                let from = if *reading == NumberCloseness::Window { 0.0 } else { -2.0 * delta.as_f64() };
                let close = |x: f64, y: f64| (from..=2.0 * delta.as_f64()).contains(&(y - x));
                self.largest_neighborhood(protect.unwrap(), rows, close) * l.as_f64() <= n + SLACK
            }
        }
    }

    /// Rows close to one of them, at most. All numbers and bounds here are halves and quarters,
    /// which floats hold exactly.
    fn largest_neighborhood(&self, name: &str, rows: &[usize], close: impl Fn(f64, f64) -> bool) -> f64 {
        let column = self.case.table.column(name).unwrap();
        let number = |row: usize| column.domain.number(column.codes.get(row));
        let near = |center: usize| {
            let near = |other: &&usize| match (number(center), number(**other)) {
                (Some(x), Some(y)) => close(x, y),
                (x, y) => x.is_none() && y.is_none(),
            };
            rows.iter().filter(near).count()
        };
        rows.iter().map(|&center| near(center)).max().unwrap() as f64
    }

    /// The earth mover's distance by its definition: a minimum-cost flow, here by the closed forms
    /// of each metric over all values.
    fn distance(&self, distance: Distance, name: &str, class: &[usize], whole: &[usize]) -> f64 {
        let column = self.case.table.column(name).unwrap();
        let mut q: BTreeMap<u32, f64> = BTreeMap::new();
        let mut p: BTreeMap<u32, f64> = BTreeMap::new();
        for &row in whole {
            *q.entry(column.codes.get(row)).or_default() += 1.0 / whole.len() as f64;
        }
        for &row in class {
            *p.entry(column.codes.get(row)).or_default() += 1.0 / class.len() as f64;
        }
        let extra = |code: u32| p.get(&code).unwrap_or(&0.0) - q.get(&code).unwrap_or(&0.0);
        match distance {
            Distance::Equal => q.keys().map(|&code| extra(code).abs()).sum::<f64>() / 2.0,
            Distance::Ordered => {
                let mut cumulated = 0.0;
                let mut sum = 0.0;
                let declared = self.case.policy.attribute(name).unwrap().declared.order.as_ref();
                let place = |code: u32| {
                    let text = column.domain.text(code);
                    declared.and_then(|order| order.values.iter().position(|value| *value == text))
                };
                let mut codes: Vec<u32> = q.keys().copied().collect();
                // The missing value comes last.
                codes.sort_by_key(|&code| (declared.is_some() && place(code).is_none(), place(code), code));
                for code in codes {
                    cumulated += extra(code);
                    sum += f64::abs(cumulated);
                }
                sum / (q.len() as f64 - 1.0).max(1.0)
            }
            Distance::Hierarchical => {
                let hierarchy = self.distances[name].get_or_init(|| {
                    let attribute = self.case.policy.attribute(name).unwrap();
                    let (spec, place) = attribute.hierarchy.as_ref().unwrap();
                    Hierarchy::build(spec, name, place, &column.domain, &[String::new()]).unwrap()
                });
                let height = hierarchy.top();
                let mut sum = 0.0;
                for level in 1..=height {
                    let above = &hierarchy.levels()[level].map;
                    let below = &hierarchy.levels()[level - 1].map;
                    let mut children: BTreeMap<(u32, u32), f64> = BTreeMap::new();
                    for &code in q.keys() {
                        *children.entry((above[code as usize], below[code as usize])).or_default() += extra(code);
                    }
                    let nodes: BTreeSet<u32> = children.keys().map(|(node, _)| *node).collect();
                    for node in nodes {
                        let extras =
                            children.iter().filter(|((parent, _), _)| *parent == node).map(|(_, extra)| *extra);
                        let (plus, minus) =
                            extras.fold((0.0, 0.0), |(a, b), x: f64| (a + x.max(0.0), b + (-x).max(0.0)));
                        sum += level as f64 / height as f64 * f64::min(plus, minus);
                    }
                }
                sum
            }
        }
    }

    fn loss(&self, levels: &[usize], kept: &[bool]) -> f64 {
        let n = kept.len() as f64;
        let mut classes: BTreeMap<Vec<&str>, f64> = BTreeMap::new();
        for row in (0..kept.len()).filter(|&row| kept[row]) {
            *classes.entry(self.cells(levels, row)).or_default() += 1.0;
        }
        let out: f64 = classes.values().sum();
        match self.case.policy.publish.loss {
            Loss::Discernibility => classes.values().map(|size| size * size).sum::<f64>() + n * (n - out),
            Loss::AverageClass => {
                let models = self.case.policy.rules.iter().flat_map(|rule| &rule.require);
                let k = models.map(|model| match model {
                    Model::KAnonymity { k } | Model::AlphaKAnonymity { k, .. } => *k,
                    _ => 1,
                });
                out / classes.len() as f64 / k.max().unwrap() as f64
            }
            Loss::Entropy => {
                let by_attribute = self.quasi.iter().map(|name| self.weight(name) * self.entropy(levels, name, kept));
                by_attribute.sum::<f64>() / self.quasi.iter().map(|name| self.weight(name)).sum::<f64>()
            }
            cellwise => {
                let mut sum = 0.0;
                for (row, &kept) in kept.iter().enumerate() {
                    for (index, name) in self.quasi.iter().enumerate() {
                        let cell = if kept { self.cell_loss(cellwise, index, levels[index], name, row) } else { 1.0 };
                        sum += self.weight(name) * cell;
                    }
                }
                sum / n / self.quasi.iter().map(|name| self.weight(name)).sum::<f64>()
            }
        }
    }

    fn weight(&self, name: &str) -> f64 {
        let weights = &self.case.policy.publish.weights;
        weights.iter().find(|weight| weight.attribute == name).map_or(1.0, |weight| weight.weight.as_f64())
    }

    /// Non-uniform entropy row by row: −log2 of how likely a row's value is among the rows with
    /// its label, and for a suppressed row also of its label among the suppressed; over that of one
    /// `*`.
    fn entropy(&self, levels: &[usize], name: &str, kept: &[bool]) -> f64 {
        let values: Vec<&str> = (0..kept.len()).map(|row| self.value(name, row)).collect();
        let labels: Vec<&str> = (0..kept.len()).map(|row| self.cell(levels, name, row)).collect();
        fn count<'t>(texts: &[&'t str], counted: impl Fn(usize) -> bool) -> BTreeMap<&'t str, usize> {
            let mut counts = BTreeMap::new();
            for (_, text) in texts.iter().enumerate().filter(|&(row, _)| counted(row)) {
                *counts.entry(*text).or_default() += 1;
            }
            counts
        }
        let (by_value, by_label) = (count(&values, |_| true), count(&labels, |_| true));
        let out = count(&labels, |row| !kept[row]);
        let out_rows: usize = out.values().sum();
        let (mut left, mut all) = (0.0, 0.0);
        for (row, &kept) in kept.iter().enumerate() {
            let own = by_value[values[row]] as f64;
            left -= (own / by_label[labels[row]] as f64).log2();
            all -= (own / values.len() as f64).log2();
            if !kept {
                left -= (out[labels[row]] as f64 / out_rows as f64).log2();
            }
        }
        if all > 0.0 { left / all } else { 0.0 }
    }

    fn cell_loss(&self, loss: Loss, index: usize, level: usize, name: &str, row: usize) -> f64 {
        let hierarchy = self.hierarchies[index];
        let column = self.case.table.column(name).unwrap();
        let code = column.codes.get(row) as usize;
        let map = &hierarchy.levels()[level].map;
        let label = &hierarchy.levels()[level].labels[map[code] as usize];
        let covered = map.iter().filter(|label| **label == map[code]).count() as f64;
        let leaves = column.domain.cardinality() as f64;
        if let (Some(file), true) = (self.case.files.get(name), loss != Loss::Precision) {
            return cell_loss_by_file(loss, file, level, &column.domain, code as u32);
        }
        match loss {
            Loss::Precision => level as f64 / hierarchy.top() as f64,
            Loss::Granularity => (covered / leaves - 1.0 / leaves) / (1.0 - 1.0 / leaves).max(1e-300),
            _ if level == hierarchy.top() => 1.0,
            _ if level == 0 || Some(code as u32) == column.domain.missing_code() => 0.0,
            _ if column.domain.kind() == Kind::Category => {
                if covered == 1.0 {
                    0.0
                } else {
                    covered / leaves
                }
            }
            _ => {
                let ends = (
                    column.domain.number(0).unwrap(),
                    column.domain.number(column.domain.present() as u32 - 1).unwrap(),
                );
                let at = |point: &Point| match point {
                    Point::Integer(value) => *value as f64,
                    Point::Float(value) => *value,
                    Point::Date(date) => f64::from(date.0),
                };
                let (low, high) = match &label.cover {
                    Cover::Interval { low, high } => (low.as_ref().map(at), high.as_ref().map(at)),
                    Cover::Point(point) => return if ends.0 < ends.1 { 0.0 * at(point) } else { 0.0 },
                    other => panic!("a number is covered by {other:?}"),
                };
                let step = if column.domain.kind() == Kind::Float { 0.0 } else { 1.0 };
                let from = low.unwrap_or(ends.0).max(ends.0);
                let to = high.map_or(ends.1, |high| high - step).min(ends.1);
                if ends.1 > ends.0 { (to - from) / (ends.1 - ends.0) } else { 0.0 }
            }
        }
    }
}
