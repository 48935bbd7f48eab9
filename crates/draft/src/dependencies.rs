//! The consequences of an attacker's knowledge: dependencies between the released columns, declared
//! by the policy or found in the source, and what the rules are worth with `know` closed under
//! them.
//!
//! A protected attribute that follows from what is known is refused before anything is searched.
//! Any other attribute that follows divides the classes of the release, and the release is refused
//! where a class that is so divided breaks its rule. So does an attribute that is released as it is
//! and shows what its row has of a known one: a census tract beside a county that became `*`.

mod closed;
mod exposed;
mod narrowed;

use std::collections::{BTreeSet, HashMap};

use hedgerow_policy::{Method, Policy, Role, Rule};
use hedgerow_privacy::Model;
use hedgerow_release::Release;
use hedgerow_release::manifest::KnownDependency;
use hedgerow_table::dependencies::{self, DependencySearch};
use hedgerow_table::engine::EngineAnswer;
use hedgerow_table::{Engine, InputError, Progress, TableError};
use hedgerow_verify::check::NamedRule;
use hedgerow_verify::closure::{ShownAttributes, unprotected_rows};

pub use closed::closed_policy;
use exposed::Exposed;

/// A dependency that attackers are taken to know.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    from: Vec<String>,
    to: String,
    /// Rows that deviate from it: an attacker who believes it is wrong about these.
    deviating: u64,
    declared: bool,
    /// Whether `from` is released and `to` is known: the cells of `from` show which rows have the
    /// person's value of `to`, whatever label that has. Else `from` is known and `to` follows.
    shows: bool,
    /// Where the rows are not in memory: by the texts of `from`, the text of `to`.
    texts: HashMap<Vec<String>, String>,
}

/// The dependencies of a policy and its source that are not accepted.
#[derive(Debug, Default)]
pub struct Dependencies {
    known: Vec<Known>,
    rows: u64,
    pub warnings: Vec<InputError>,
}

impl Dependencies {
    /// Those that the policy declares, and those that the source has.
    pub fn examine(policy: &Policy, engine: &dyn Engine, progress: &dyn Progress) -> Result<Dependencies, TableError> {
        let profile = engine.profile();
        let position = |name: &str| profile.columns.iter().position(|column| column.name == name);
        let mut all = Dependencies { known: Vec::new(), rows: profile.rows as u64, warnings: Vec::new() };
        let declared: Vec<_> = policy.dependencies.iter().filter(|declared| declared.accept.is_none()).collect();
        let sides: Option<Vec<(Vec<usize>, usize)>> = declared
            .iter()
            .map(|declared| {
                let from = declared.from.iter().map(|name| position(name)).collect::<Option<Vec<_>>>()?;
                Some((from, position(&declared.to)?))
            })
            .collect();
        let deviating = match &sides {
            Some(sides) => dependencies::deviating(engine, sides, progress)?,
            None => None,
        };
        for (index, declared) in declared.iter().enumerate() {
            let known = |shows: bool| Known {
                from: declared.from.clone(),
                to: declared.to.clone(),
                deviating: deviating.as_ref().map_or(0, |deviating| deviating[index]),
                declared: true,
                shows,
                texts: HashMap::new(),
            };
            all.known.push(known(false));
            // Which tables keep a declared dependency is for a decomposition to say.
            if policy.publish.method != Method::Decompose {
                all.known.push(known(true));
            }
        }
        let known: BTreeSet<&str> = policy.rules.iter().flat_map(|rule| &rule.know).map(String::as_str).collect();
        let from: Vec<usize> = known.iter().filter_map(|name| position(name)).collect();
        let is_open = |name: &str| policy.rules.iter().any(|rule| !rule.know.iter().any(|known| known == name));
        let released = policy.attributes.iter().filter(|attribute| is_released(attribute.role));
        let to: Vec<usize> = released
            .filter(|attribute| is_open(&attribute.name))
            .filter_map(|attribute| position(&attribute.name))
            .collect();
        let wanted = DependencySearch { from: &from, to: &to, tolerance: policy.publish.dependency_tolerance };
        let Some(found) = dependencies::find(engine, &wanted, progress)? else {
            let problem = "dependencies between the released attributes were not looked for: the rows do not leave where they are";
            let hint = "declare those that you know under `[[dependency]]`";
            let warning = InputError::new(policy.path.display().to_string(), problem, hint);
            all.warnings.push(warning.about("dependency", [""; 0], None));
            return Ok(all);
        };
        let name = |column: usize| profile.columns[column].name.clone();
        for found in found {
            let from: Vec<String> = found.from.iter().map(|&column| name(column)).collect();
            let to = name(found.to);
            let is_named = |declared: &hedgerow_policy::Dependency| {
                declared.to == to && declared.from.iter().all(|column| from.contains(column))
            };
            if !policy.dependencies.iter().any(is_named) {
                all.known.push(Known {
                    from,
                    to,
                    deviating: found.deviating,
                    declared: false,
                    shows: false,
                    texts: HashMap::new(),
                });
            }
        }
        // The other way round, over the same columns.
        let wanted = DependencySearch { from: &to, to: &from, tolerance: policy.publish.dependency_tolerance };
        for found in dependencies::find(engine, &wanted, progress)?.unwrap_or_default() {
            let from: Vec<String> = found.from.iter().map(|&column| name(column)).collect();
            let to = name(found.to);
            let is_declared = |known: &Known| known.shows && known.to == to && known.from == from;
            if !is_accepted(policy, &from, &to) && !all.follows_back(&from, &to) && !all.known.iter().any(is_declared) {
                let texts = HashMap::new();
                all.known.push(Known { from, to, deviating: found.deviating, declared: false, shows: true, texts });
            }
        }
        Ok(all)
    }

    /// Whether one attribute follows from another by itself, so that both divide classes alike.
    fn follows_back(&self, from: &[String], to: &str) -> bool {
        let [from] = from else { return false };
        self.known.iter().any(|known| !known.shows && known.to == *from && known.from.len() == 1 && known.from[0] == to)
    }

    /// For rows that are not in memory: what the texts of attributes show of others.
    pub fn keep_texts(&mut self, engine: &dyn Engine, progress: &dyn Progress) -> Result<(), TableError> {
        let profile = engine.profile();
        let position = |name: &String| profile.columns.iter().position(|column| column.name == *name);
        for known in self.known.iter_mut().filter(|known| known.shows) {
            let Some(columns) = known.from.iter().chain([&known.to]).map(position).collect::<Option<Vec<usize>>>()
            else {
                continue;
            };
            let EngineAnswer::Exact(distinct) = engine.distinct(&columns, progress)? else { continue };
            let text = |place: usize, row: usize| {
                profile.columns[columns[place]].domain.text(distinct.columns[place].get(row))
            };
            let mut most: HashMap<Vec<String>, u32> = HashMap::new();
            for (row, &count) in distinct.counts.iter().enumerate() {
                let from: Vec<String> = (0..known.from.len()).map(|place| text(place, row)).collect();
                let most = most.entry(from.clone()).or_insert(0);
                if count > *most {
                    *most = count;
                    known.texts.insert(from, text(known.from.len(), row));
                }
            }
        }
        Ok(())
    }

    /// The dependencies by which other released attributes show those that a rule knows.
    fn shown<'a>(&'a self, know: &'a [String]) -> impl Iterator<Item = &'a Known> {
        let is_known = move |name: &String| know.contains(name);
        self.known.iter().filter(move |known| known.shows && is_known(&known.to) && !known.from.iter().any(is_known))
    }

    /// The attributes that follow from some attributes, each with the dependency that adds it.
    fn closure(&self, know: &[String]) -> Vec<&Known> {
        let mut follows: Vec<&Known> = Vec::new();
        loop {
            let is_known = |name: &String| know.contains(name) || follows.iter().any(|known| known.to == *name);
            let mut follows_next = self.known.iter().filter(|known| !known.shows);
            let next = follows_next.find(|known| !is_known(&known.to) && known.from.iter().all(is_known));
            match next {
                Some(next) => follows.push(next),
                None => return follows,
            }
        }
    }

    /// The attributes by which classes are divided, besides what rules name.
    pub fn dividing<'a>(&'a self, policy: &'a Policy) -> BTreeSet<&'a str> {
        let follows = policy.rules.iter().flat_map(|rule| self.closure(&rule.know));
        let shown = policy.rules.iter().flat_map(|rule| self.shown(&rule.know)).flat_map(|known| &known.from);
        follows.map(|known| &known.to).chain(shown).map(String::as_str).collect()
    }

    /// Refuses rules that protect what follows from what they take as known.
    pub fn refuse_known_protected(&self, policy: &Policy) -> Result<(), InputError> {
        for rule in policy.rules.iter().filter(|rule| rule.require.iter().any(|model| model.needs_protect())) {
            self.refuse_showing_protected(policy, rule)?;
            let follows = self.closure(&rule.know);
            // Several protected attributes are known only when all of them are.
            let protected: Vec<&String> = rule.protected().collect();
            let leading: Vec<&&Known> = follows.iter().filter(|known| protected.contains(&&known.to)).collect();
            if protected.is_empty() || leading.len() < protected.len() {
                continue;
            }
            // Which tables keep a declared dependency is for the decomposition to say.
            if policy.publish.method == Method::Decompose && follows.iter().all(|known| known.declared) {
                continue;
            }
            let wrong = leading.iter().map(|known| known.deviating).max().unwrap_or(0);
            let Some(known) = leading.first() else { continue };
            let problem = format!(
                "`{}` follows from {}: an attacker who knows {} learns it of {} of {} people, whatever is released",
                known.to,
                listed(&known.from),
                if known.from.len() == 1 { "it" } else { "them" },
                self.rows.saturating_sub(wrong),
                self.rows,
            );
            let people = self.rows.saturating_sub(wrong);
            let names = known.from.iter().chain([&known.to]);
            return Err(InputError::new(place(policy, known), problem, ways_out(policy, known)).about(
                "dependency",
                names,
                Some(people),
            ));
        }
        Ok(())
    }

    /// Refuses rules whose protected values each show what is known of a row, where rows and
    /// protected values are released in tables of their own: who knows a person's city knows which
    /// clinics of the bucket are not the person's.
    fn refuse_showing_protected(&self, policy: &Policy, rule: &Rule) -> Result<(), InputError> {
        if !matches!(policy.publish.method, Method::Anatomy | Method::Clone | Method::Decompose) {
            return Ok(());
        }
        let protected: Vec<&String> = rule.protected().collect();
        let showing = |known: &&Known| known.from.iter().all(|name| protected.contains(&name));
        let Some(known) = self.shown(&rule.know).find(showing) else { return Ok(()) };
        let people = self.rows.saturating_sub(known.deviating);
        let problem = format!(
            "`{}` follows from {}, which is protected: an attacker who knows it excludes the protected values of a bucket \
             that show another one, for {people} of {} people",
            known.to,
            listed(&known.from),
            self.rows,
        );
        let names = known.from.iter().chain([&known.to]);
        let error = InputError::new(place(policy, known), problem, ways_out(policy, known));
        Err(error.about("dependency", names, Some(people)))
    }

    /// Refuses a release whose classes break their rules once they are divided by what follows.
    /// For rows that are not in memory: which of them deviate from a dependency is not known, and
    /// all are taken to follow it.
    pub fn refuse_exposed_rows(
        &self,
        policy: &Policy,
        rules: &[NamedRule],
        release: &Release,
    ) -> Result<(), TableError> {
        let rules = rules.iter().map(|rule| (rule, rule.know.as_slice(), rule.protect.as_ref()));
        let is_released = |name: &str| release.domain(name).is_some();
        self.refuse_worst(policy, rules, is_released, |rule, follows| {
            let (shown, follows): (Vec<&Known>, Vec<&Known>) = follows.iter().copied().partition(|known| known.shows);
            let also: Vec<String> = follows.iter().map(|known| known.to.clone()).collect();
            let shown: Vec<ShownAttributes<'_>> = shown
                .iter()
                .map(|known| ShownAttributes { from: &known.from, to: &known.to, texts: &known.texts })
                .collect();
            Ok(Exposed { people: unprotected_rows(release, rule, &also, &shown)?, of: release.rows() })
        })
    }

    /// Refuses by the rule that exposes the most people. Rules come with what they know and
    /// protect; `exposed` counts the people whom a rule fails for with what follows.
    fn refuse_worst<'r, R>(
        &self,
        policy: &Policy,
        rules: impl Iterator<Item = (&'r R, &'r [String], Option<&'r String>)>,
        is_released: impl Fn(&str) -> bool,
        exposed: impl Fn(&R, &[&Known]) -> Result<Exposed, TableError>,
    ) -> Result<(), TableError>
    where
        R: Requires + 'r,
    {
        let mut worst: Option<(Exposed, Vec<&Known>, &R)> = None;
        for (rule, know, protect) in rules {
            let divides = |known: &&Known| Some(&known.to) != protect && is_released(&known.to);
            let mut follows: Vec<&Known> = self.closure(know).into_iter().filter(divides).collect();
            follows.extend(self.shown(know).filter(|known| known.from.iter().all(|name| is_released(name))));
            if follows.is_empty() {
                continue;
            }
            let all = exposed(rule, &follows)?;
            if all.people == 0 {
                continue;
            }
            // Those that do it alone are named; else all that do it together.
            let mut alone = Vec::new();
            for known in &follows {
                if follows.len() == 1 || exposed(rule, &[known])?.people > 0 {
                    alone.push(*known);
                }
            }
            let named = if alone.is_empty() { follows } else { alone };
            if worst.as_ref().is_none_or(|(most, ..)| all.people > most.people) {
                worst = Some((all, named, rule));
            }
        }
        let Some((Exposed { people, of }, named, rule)) = worst else { return Ok(()) };
        let follows: Vec<String> =
            named.iter().map(|known| format!("`{}` follows from {}", known.to, listed(&known.from))).collect();
        let models: Vec<&str> = rule.require().iter().map(|model| model.name()).collect();
        let problem = format!(
            "{}: an attacker who knows the one knows the other. {people} of {of} people would then be in classes that break \
             {}",
            follows.join("; "),
            models.join(", "),
        );
        let names: BTreeSet<&String> = named.iter().flat_map(|known| known.from.iter().chain([&known.to])).collect();
        let error = InputError::new(place(policy, named[0]), problem, ways_out(policy, named[0]));
        Err(error.about("dependency", names, Some(people)).into())
    }

    /// The dependencies that the source has and the policy does not declare.
    pub fn found(&self) -> impl Iterator<Item = (&[String], &String)> {
        let found = self.known.iter().filter(|known| !known.declared && !known.shows);
        found.map(|known| (known.from.as_slice(), &known.to))
    }
}

/// A rule, with the names of a policy or of a release.
trait Requires {
    fn require(&self) -> &[Model];
}

impl Requires for NamedRule {
    fn require(&self) -> &[Model] {
        &self.require
    }
}

impl Requires for Rule {
    fn require(&self) -> &[Model] {
        &self.require
    }
}

/// The manifest's statement of a policy's dependencies between released attributes.
pub fn stated(policy: &Policy) -> Vec<KnownDependency> {
    // The statistics of a cloned release have no plain attributes.
    let clones = policy.publish.method == Method::Clone;
    let is_in_tables = |role: Role| is_released(role) && !(clones && role == Role::Plain);
    let released = |name: &String| policy.attribute(name).is_some_and(|attribute| is_in_tables(attribute.role));
    let declared = policy.dependencies.iter();
    let declared = declared.filter(|declared| declared.from.iter().chain([&declared.to]).all(released));
    declared
        .map(|declared| KnownDependency {
            from: declared.from.clone(),
            to: declared.to.clone(),
            accept: declared.accept.clone(),
        })
        .collect()
}

fn is_released(role: Role) -> bool {
    matches!(role, Role::Quasi | Role::Sensitive | Role::Plain)
}

/// `a`, `b` and `c`
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// The attribute that is released beside what is known.
fn released_beside(known: &Known) -> &String {
    if known.shows { &known.from[0] } else { &known.to }
}

/// Whether a policy accepts that one attribute shows another, or that it follows from it: either
/// says that both may stand beside each other.
fn is_accepted(policy: &Policy, from: &[String], to: &str) -> bool {
    let mut accepted = policy.dependencies.iter().filter(|declared| declared.accept.is_some());
    accepted.any(|declared| {
        let same = declared.to == to && declared.from.iter().all(|name| from.contains(name));
        let back = from.len() == 1 && from[0] == declared.to && declared.from.len() == 1 && declared.from[0] == to;
        same || back
    })
}

fn place(policy: &Policy, known: &Known) -> String {
    policy
        .attribute(released_beside(known))
        .map_or_else(|| policy.path.display().to_string(), |attribute| attribute.place.clone())
}

fn ways_out(policy: &Policy, known: &Known) -> String {
    let beside = released_beside(known);
    let counted = match policy.attribute(beside).map(|attribute| attribute.role) {
        Some(Role::Quasi) => format!("add `{beside}` to `know` of the rule so that it counts it"),
        _ => format!("give `{beside}` the role `quasi` so that the rules count it"),
    };
    format!(
        "{counted}; or give it the role `identifier`, so that it is not released; or accept it: \
         `[[dependency]]` with `from = {from:?}`, `to = {to:?}` and `accept = \"why this is harmless\"`",
        to = known.to,
        from = known.from,
    )
}
