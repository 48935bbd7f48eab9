//! A policy's rules over its table: as given, with what dependencies add, reduced, and compared
//! with the data.

use hashbrown::HashMap;
use hedgerow_draft::error::PublishError;
use hedgerow_policy::Policy;
use hedgerow_privacy::rules::{
    Added, AttributeSet, Dependency, Feasibility, Reduced, Rule, expand, feasibility, reduce,
};
use hedgerow_table::{Codes, Column, InputError, Layout, Table, parallel};

use super::DecompositionProblem;

/// The rules of a policy, bound to columns by number.
#[derive(Debug)]
pub struct Rules<'a> {
    /// All released attributes, in the policy's order.
    pub columns: Vec<&'a Column>,
    pub rows: usize,
    /// As in the policy, then those that dependencies add.
    pub rules: Vec<Rule>,
    /// For the policy's own rules, which come first, their position in the policy. A rule that
    /// protects nothing in particular is not among them.
    pub own: Vec<usize>,
    pub dependencies: Vec<Dependency>,
    pub added: Vec<Added>,
    pub reduced: Reduced,
    /// For every rule how its combination looks when it is published alone, and for each attribute
    /// of it.
    pub alone: Vec<Alone>,
    pub warnings: Vec<InputError>,
}

/// The effect of publishing the protected attributes of a rule without anything else.
#[derive(Debug, Clone, PartialEq)]
pub struct Alone {
    pub combination: Feasibility,
    pub attributes: Vec<(usize, Feasibility)>,
}

impl Alone {
    /// The attributes that are harmless alone. Hiding one of them hides the combination.
    pub fn harmless(&self) -> impl Iterator<Item = usize> {
        self.attributes.iter().filter(|(_, found)| found.holds()).map(|(attribute, _)| *attribute)
    }
}

impl<'a> Rules<'a> {
    pub fn new(policy: &Policy, table: &'a Table) -> Result<Rules<'a>, PublishError> {
        Rules::with_found(policy, table, &[])
    }

    /// The same, with dependencies that the policy does not declare and attackers know all the
    /// same: what determines what.
    pub(crate) fn with_found(
        policy: &Policy,
        table: &'a Table,
        found: &[(Vec<String>, String)],
    ) -> Result<Rules<'a>, PublishError> {
        let released = policy.attributes.iter().filter(|attribute| attribute.role.is_released());
        let columns: Vec<&Column> = released.filter_map(|attribute| table.column(&attribute.name)).collect();
        refuse_too_many(policy, &columns)?;
        let number = |name: &String| columns.iter().position(|column| column.name == *name);
        let set = |names: &mut dyn Iterator<Item = &String>| names.filter_map(number).collect::<AttributeSet>();
        let own: Vec<usize> = (0..policy.rules.len()).filter(|&rule| policy.rules[rule].protect.is_some()).collect();
        let of_policy = own.iter().map(|&rule| &policy.rules[rule]);
        let mut rules: Vec<Rule> = of_policy
            .map(|rule| Rule {
                know: set(&mut rule.know.iter()),
                protect: set(&mut rule.protected()),
                require: rule.require.clone(),
            })
            .collect();
        // Dependencies that the publisher accepts are ignored.
        let declared = policy.dependencies.iter().filter(|known| known.accept.is_none());
        let declared = declared.map(|declared| (&declared.from, &declared.to));
        let dependencies: Vec<Dependency> = declared
            .chain(found.iter().map(|(from, to)| (from, to)))
            .filter_map(|(from, to)| Some(Dependency { from: set(&mut from.iter()), to: number(to)? }))
            .collect();
        let added = expand(&rules, &dependencies);
        rules.extend(added.iter().filter_map(|added| added.rule.clone()));
        let reduced = reduce(&rules);
        let codes = |attributes: AttributeSet| -> Vec<(&Codes, Option<u32>)> {
            let columns = attributes.iter().map(|attribute| columns[attribute]);
            columns.map(|column| (&column.codes, column.domain.missing_code())).collect()
        };
        let alone = rules.iter().map(|rule| Alone {
            combination: feasibility(&codes(rule.protect), table.rows, &rule.require),
            attributes: (rule.protect.iter())
                .map(|attribute| {
                    (attribute, feasibility(&codes(AttributeSet::of(attribute)), table.rows, &rule.require))
                })
                .collect(),
        });
        let alone = alone.collect();
        let mut bound =
            Rules { columns, rows: table.rows, rules, own, dependencies, added, reduced, alone, warnings: Vec::new() };
        bound.warn_of_wrong_dependencies(policy);
        Ok(bound)
    }

    pub fn names(&self, attributes: AttributeSet) -> Vec<&str> {
        attributes.iter().map(|attribute| self.columns[attribute].name.as_str()).collect()
    }

    /// Why no publication keeps some of the rules, one sentence for each; empty when all can be
    /// kept.
    pub fn impossible(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        for added in self.added.iter().filter(|added| added.rule.is_none()) {
            let rule = &self.rules[added.of];
            let dependency = self.dependencies[added.dependency];
            reasons.push(format!(
                "{}: an attacker who knows {} knows `{}` by a dependency",
                self.describe(added.of),
                listed(&self.names(dependency.from & rule.know)),
                self.columns[dependency.to].name,
            ));
        }
        for (index, alone) in self.alone.iter().enumerate().filter(|(_, alone)| alone.harmless().next().is_none()) {
            let Alone { combination, attributes } = alone;
            let share = |found: &Feasibility| {
                let percent = 100.0 * found.most as f64 / found.rows.max(1) as f64;
                format!("{} of {} rows ({percent:.1} %)", found.most, found.rows)
            };
            let shares: Vec<String> = (attributes.iter())
                .map(|(attribute, found)| {
                    format!("one value of `{}` is in {}", self.columns[*attribute].name, share(found))
                })
                .collect();
            let mut reason = format!("{}: {}", self.describe(index), shares.join(", "));
            if attributes.len() > 1 {
                let also = if combination.holds() { ", which would do, but no table hides only that" } else { "" };
                reason.push_str(&format!(", the most frequent combination in {}{also}", share(combination)));
            }
            reasons.push(reason);
        }
        reasons
    }

    /// `age, icd ⇸ race`
    pub fn describe(&self, rule: usize) -> String {
        let Rule { know, protect, .. } = &self.rules[rule];
        format!("{} ⇸ {}", self.names(*know).join(", "), self.names(*protect).join(", "))
    }

    /// The attribute that stands for what a rule protects: of those that are harmless alone the one
    /// that most rules are about, and for a rule that follows from another that one's.
    pub fn representative(&self, rule: usize) -> Option<usize> {
        let implied = self.reduced.implied.iter().find(|implied| implied.rule == rule);
        let rule = implied.map_or(rule, |implied| implied.by);
        let protected = |attribute: usize| self.rules.iter().filter(|rule| rule.protect.contains(attribute)).count();
        let harmless = self.alone[rule].harmless();
        harmless.max_by_key(|&attribute| (protected(attribute), usize::MAX - attribute))
    }

    /// The problem of a decomposition: the reduced rules, each for the attribute that stands for
    /// what it protects.
    pub fn problem(&self) -> DecompositionProblem<'a> {
        let rules = self.reduced.kept.iter().filter_map(|&kept| {
            let protect = self.representative(kept)?;
            Some(Rule { protect: AttributeSet::of(protect), ..self.rules[kept].clone() })
        });
        let columns = self.columns.iter().map(|column| &column.codes).collect();
        let cardinalities = self.columns.iter().map(|column| column.domain.cardinality()).collect();
        let missing = self.columns.iter().map(|column| column.domain.missing_code()).collect();
        DecompositionProblem::with_missing(
            columns,
            cardinalities,
            missing,
            self.rows,
            rules.collect(),
            &self.dependencies,
        )
    }

    /// Dependencies that the table has and the policy does not name, about attributes that some
    /// rule protects: on one other attribute, or on two of which neither does alone. What nearly
    /// distinguishes all rows determines everything and is omitted.
    pub fn dependencies_found(&self) -> Vec<Dependency> {
        let protected = self.rules.iter().fold(AttributeSet::EMPTY, |all, rule| all | rule.protect);
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let pairs =
            all.iter().flat_map(|&one| all[one + 1..].iter().map(move |&other| AttributeSet::of(one).with(other)));
        let candidates: Vec<AttributeSet> = all.iter().map(|&one| AttributeSet::of(one)).chain(pairs).collect();
        let of = |to: usize| {
            let mut found: Vec<Dependency> = Vec::new();
            for &from in candidates.iter().filter(|from| !from.contains(to)) {
                let known = self.dependencies.iter().chain(&found);
                let follows = known.into_iter().any(|known| known.to == to && known.from.is_subset(from));
                if !follows && self.determines(from, to) {
                    found.push(Dependency { from, to });
                }
            }
            found
        };
        let protected: Vec<usize> =
            protected.iter().filter(|&attribute| self.columns[attribute].domain.cardinality() > 1).collect();
        parallel::map_items(protected, |_, to| of(to)).concat()
    }

    /// Whether rows that agree on some attributes agree on another, and more than half of the rows
    /// agree with one before them.
    fn determines(&self, from: AttributeSet, to: usize) -> bool {
        let from: Vec<&Column> = from.iter().map(|attribute| self.columns[attribute]).collect();
        let mut images: HashMap<(u32, u32), u32> = HashMap::new();
        let key = |row: usize| (from[0].codes.get(row), from.get(1).map_or(0, |column| column.codes.get(row)));
        let codes = &self.columns[to].codes;
        (0..self.rows).all(|row| *images.entry(key(row)).or_insert(codes.get(row)) == codes.get(row))
            && images.len() * 2 <= self.rows
    }

    fn warn_of_wrong_dependencies(&mut self, policy: &Policy) {
        let declared = policy.dependencies.iter().filter(|known| known.accept.is_none());
        for (dependency, declared) in self.dependencies.iter().zip(declared) {
            let from: Vec<&Column> = dependency.from.iter().map(|attribute| self.columns[attribute]).collect();
            let wrong = exceptions(&from, self.columns[dependency.to], self.rows);
            if wrong > 0 {
                let problem = format!("{wrong} rows do not follow this dependency");
                let hint = "attackers who believe it will be wrong about some; it is taken as known all the same";
                self.warnings.push(InputError::new(declared.place.clone(), problem, hint));
            }
        }
    }
}

fn refuse_too_many(policy: &Policy, columns: &[&Column]) -> Result<(), InputError> {
    let cardinalities: Vec<usize> = columns.iter().map(|column| column.domain.cardinality()).collect();
    let limit = AttributeSet::CAPACITY;
    if columns.len() > limit || Layout::new(&cardinalities).is_none() {
        let problem = format!("{} attributes are too many to decompose", columns.len());
        let hint = format!("at most {limit} can be released; make some of them `identifier`");
        return Err(InputError::new(policy.publish.place.clone(), problem, hint));
    }
    Ok(())
}

/// In how many rows an attribute is not the first value seen with the same values of others.
fn exceptions(from: &[&Column], to: &Column, rows: usize) -> usize {
    let mut images = HashMap::new();
    let differs = |&row: &usize| {
        let key: Vec<u32> = from.iter().map(|column| column.codes.get(row)).collect();
        let value = to.codes.get(row);
        *images.entry(key).or_insert(value) != value
    };
    (0..rows).filter(differs).count()
}

/// `a`, `b` and `c`
pub fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => "nothing".to_owned(),
    }
}
