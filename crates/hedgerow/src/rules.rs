//! The implications of a policy's rules: which are unsatisfiable, and which tables satisfy them.

use hedgerow_privacy::rules::{Dependency, NormalFormStanding};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::coarsen::Coarsened;
use hedgerow_publish::decompose::choice::{Chosen, Unchosen};
use hedgerow_publish::decompose::{self, DecompositionProblem as Decomposition, Rules};
use hedgerow_report::rules_graph::{GraphTable, RulesGraph};
use hedgerow_table::InputError;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Error, Monitor, Policy, Problem, Source};

/// The implications of a policy's rules. Serialized, it is the output of `hedgerow rules --json`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RulesReport {
    /// The policy's rules, then those that dependencies add.
    pub rules: Vec<RuleReport>,
    /// Why some rules are unsatisfiable, one line each.
    pub impossible: Vec<String>,
    /// The functional dependencies that the policy declares.
    pub dependencies: Vec<DependencyReport>,
    /// Further functional dependencies in the data.
    pub dependencies_found: Vec<DependencyReport>,
    /// The tables that would satisfy the rules, where there are any.
    #[serde(flatten)]
    pub chosen: Option<ChosenTables>,
    /// Warnings: what is allowed but probably unintended.
    pub warnings: Vec<Problem>,
    #[serde(skip)]
    svg: String,
}

/// One rule: an attacker who knows some attributes must not learn others.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RuleReport {
    /// Its number, from 1.
    pub rule: usize,
    /// The attributes that the attacker knows.
    pub know: Vec<String>,
    /// The attributes that must not be learned.
    pub protect: Vec<String>,
    /// The models that must hold.
    pub require: Vec<Requirement>,
    /// Whether it follows from a rule of the policy and a dependency.
    pub added: bool,
    /// The rule that implies it.
    pub implied_by: Option<usize>,
    /// The number of rows with the most frequent combination of protected values.
    pub most_frequent: u64,
    /// The number of rows.
    pub rows: u64,
    /// Whether publishing the protected attributes alone would satisfy it.
    pub possible: bool,
    /// The rule as one line: `age, sex ⇸ disease`.
    #[serde(skip)]
    pub text: String,
    /// For an added rule: the rule and the dependency that it comes from.
    #[serde(skip)]
    pub origin: Option<(usize, DependencyReport)>,
}

/// A privacy model with its parameters.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Requirement {
    /// The model's name in a policy.
    pub model: &'static str,
    /// Its parameters by name.
    pub required: Map<String, Value>,
}

/// An attacker who knows the attributes `from` of a person knows `to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DependencyReport {
    /// The determining attributes.
    pub from: Vec<String>,
    /// The determined attribute.
    pub to: String,
}

/// Tables that together satisfy the rules.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ChosenTables {
    /// The algorithm that found them.
    pub algorithm: &'static str,
    /// Their Kullback–Leibler divergence from the source, where it can be computed.
    pub kl: Option<f64>,
    /// The tables.
    pub tables: Vec<ChosenTable>,
    /// How they satisfy every rule that no other implies.
    pub standings: Vec<RuleStanding>,
}

/// One table of a decomposition.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ChosenTable {
    /// All its attributes.
    pub attributes: Vec<String>,
    /// Those of them that are released by bucket or by class only.
    pub sensitive: Vec<String>,
    /// Whether the other attributes are generalized.
    #[serde(skip)]
    pub generalized: bool,
}

/// How the tables satisfy one rule.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RuleStanding {
    /// The rule's number.
    pub rule: usize,
    /// `not reachable`, `guarded` or `broken`.
    pub standing: &'static str,
    /// The number of its guardian table.
    pub table: Option<usize>,
}

/// Reports what a policy's rules imply for its source. [`ExamineRules`] has options.
///
/// ```
/// let policy = hedgerow::Policy::load("../../examples/six-patients/decompose.toml")?;
/// let report = hedgerow::rules(&policy)?;
/// assert!(report.impossible.is_empty());
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn rules(policy: &Policy) -> Result<RulesReport, Error> {
    ExamineRules::new(policy).run()
}

/// Examining a policy's rules, with options.
#[derive(Debug)]
#[must_use = "nothing is examined before `run`"]
pub struct ExamineRules<'a> {
    policy: &'a Policy,
    source: Source<'a>,
}

impl<'a> ExamineRules<'a> {
    /// Examines the rules of `policy` over its source.
    pub fn new(policy: &'a Policy) -> ExamineRules<'a> {
        ExamineRules { policy, source: Source::of_policy() }
    }

    /// Takes the rows from `source` instead of what the policy names.
    pub fn source(mut self, source: impl Into<Source<'a>>) -> Self {
        self.source = source.into();
        self
    }

    /// Examines.
    pub fn run(self) -> Result<RulesReport, Error> {
        self.run_with(&Monitor::default())
    }

    /// Examines, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<RulesReport, Error> {
        let (table, coarsened) = self.source.read_coarsened(self.policy.inner(), monitor)?;
        examine(self.policy.inner(), &table, coarsened)
    }
}

fn examine(
    policy: &hedgerow_policy::Policy,
    table: &hedgerow_table::Table,
    coarsened: Coarsened,
) -> Result<RulesReport, Error> {
    // For its complaints about columns that do not exist.
    let mut bound = Bound::new(policy, table)?;
    // Generalized guardians cover what coarser values stand for, as when they are published.
    bound.coarsened = coarsened;
    let rules = Rules::new(policy, table)?;
    if rules.own.is_empty() {
        let hint = "add `protect` to a rule; rules about rows alone need no decomposition";
        return Err(InputError::new(policy.path.display().to_string(), "no rule protects an attribute", hint).into());
    }
    let mut impossible = rules.impossible();
    let problem = rules.problem();
    // Nothing of this is published: the tables are the same in every run.
    let rng = &mut StdRng::seed_from_u64(1);
    let chosen = match impossible.is_empty().then(|| decompose::chosen(&bound, &rules, &problem, rng)) {
        Some(Err(Unchosen::Failed(error))) => return Err((*error).into()),
        Some(Err(Unchosen::Unsatisfiable(rule))) => {
            let rule = rules.describe(rules.reduced.kept[rule.0]);
            impossible.push(format!("{rule}: declared dependencies alone lead from one side to the other"));
            None
        }
        Some(Ok(chosen)) => Some(chosen),
        Some(Err(Unchosen::Breached(reason))) => {
            impossible.push(reason);
            None
        }
        Some(Err(Unchosen::NoBuckets)) | None => None,
    };
    let warnings = bound.warnings.iter().chain(&rules.warnings).cloned().map(Problem::warning).collect();
    Ok(RulesReport {
        rules: (0..rules.rules.len()).map(|index| rule_report(&rules, index)).collect(),
        impossible,
        dependencies: rules.dependencies.iter().map(|known| dependency_report(&rules, known)).collect(),
        dependencies_found: rules.dependencies_found().iter().map(|known| dependency_report(&rules, known)).collect(),
        svg: svg(&rules, &problem, chosen.as_ref()),
        chosen: chosen.as_ref().map(|chosen| chosen_tables(&rules, chosen)),
        warnings,
    })
}

impl RulesReport {
    /// The rules graph as SVG: attributes, rules as arrows, tables as hulls.
    pub fn svg(&self) -> &str {
        &self.svg
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn rule_report(rules: &Rules<'_>, index: usize) -> RuleReport {
    let rule = &rules.rules[index];
    let alone = &rules.alone[index];
    let added = index.checked_sub(rules.own.len());
    let origin = added.and_then(|number| rules.added.iter().filter(|added| added.rule.is_some()).nth(number));
    RuleReport {
        rule: index + 1,
        know: owned(rules.names(rule.know)),
        protect: owned(rules.names(rule.protect)),
        require: rule
            .require
            .iter()
            .map(|model| Requirement { model: model.name(), required: model.required() })
            .collect(),
        added: added.is_some(),
        implied_by: rules.reduced.implied.iter().find(|implied| implied.rule == index).map(|implied| implied.by + 1),
        most_frequent: alone.combination.most,
        rows: alone.combination.rows,
        possible: alone.harmless().next().is_some(),
        text: rules.describe(index),
        origin: origin.map(|added| (added.of + 1, dependency_report(rules, &rules.dependencies[added.dependency]))),
    }
}

fn dependency_report(rules: &Rules<'_>, dependency: &Dependency) -> DependencyReport {
    DependencyReport { from: owned(rules.names(dependency.from)), to: rules.columns[dependency.to].name.clone() }
}

fn chosen_tables(rules: &Rules<'_>, chosen: &Chosen) -> ChosenTables {
    let standings = chosen.standings.iter().zip(&rules.reduced.kept).map(|(standing, &rule)| {
        let (standing, table) = match standing {
            NormalFormStanding::NotReachable => ("not reachable", None),
            NormalFormStanding::Guarded(table) => ("guarded", Some(table + 1)),
            NormalFormStanding::Broken(_) => ("broken", None),
        };
        RuleStanding { rule: rule + 1, standing, table }
    });
    ChosenTables {
        algorithm: chosen.algorithm.name(),
        kl: chosen.kl,
        tables: chosen
            .tables
            .iter()
            .map(|table| ChosenTable {
                attributes: owned(rules.names(table.attributes)),
                sensitive: owned(rules.names(table.sensitive)),
                generalized: table.regions.is_some(),
            })
            .collect(),
        standings: standings.collect(),
    }
}

fn svg(rules: &Rules<'_>, problem: &Decomposition<'_>, chosen: Option<&Chosen>) -> String {
    let names: Vec<&str> = rules.columns.iter().map(|column| column.name.as_str()).collect();
    let (tables, standings) = chosen.map_or((&[][..], &[][..]), |chosen| (&chosen.tables, &chosen.standings));
    // As in the text: an unsatisfiable rule is not drawn, and does not renumber the others.
    let drawn = rules.reduced.kept.iter().filter(|&&rule| rules.representative(rule).is_some());
    let numbers: Vec<usize> = drawn.map(|rule| rule + 1).collect();
    let tables: Vec<GraphTable> = tables
        .iter()
        .map(|table| GraphTable {
            attributes: table.attributes,
            sensitive: table.sensitive,
            generalized: table.regions.is_some(),
        })
        .collect();
    RulesGraph { names: &names, rules: &problem.rules, numbers: &numbers, standings, tables: &tables }.to_svg()
}
