//! A decomposed release: several tables about the same people, judged by guardian normal form.
//!
//! A rule holds when what it protects is harmless alone, and nothing published connects it with
//! what is known, or the one table through which everything that connects them must pass keeps the
//! rule bucket by bucket (see [`hedgerow_privacy::rules::standings`]). Tables are read as strangers
//! read them; what they say of an attribute must be the same in all.
//!
//! A table that publishes several attributes by bucket, as combinations, keeps a rule about one of
//! them when the rule holds in every bucket even for an attacker who knows the others; what is
//! concluded from less is a mixture of that. Rows without a sensitive value disclose nothing.

use std::collections::HashMap;

use hedgerow_release::Release;
use hedgerow_release::decomposed::{Decomposed, Form, SubTable};
use hedgerow_release::manifest::ClassSizes;
use hedgerow_table::{Table, TableError};

use super::{Judged, refused_in_buckets};
use crate::check::{Checked, NamedRule};
use hedgerow_privacy::judge::{Achieved, achieved_over};
use hedgerow_privacy::rules::{AttributeSet, Guard, NormalFormStanding, Rule, Schema, standings};
use hedgerow_privacy::{Class, Distribution, Guarantee, models};

/// A decomposed release with its attributes numbered.
struct Numbered<'a> {
    release: &'a Release,
    tables: &'a [SubTable],
    /// All attributes, each once.
    names: Vec<&'a str>,
    /// The attributes of each dependency that attackers know: a table that is out already.
    known: Vec<AttributeSet>,
    /// Names the release in errors.
    place: &'a str,
}

impl<'a> Numbered<'a> {
    fn new(release: &'a Release, tables: &'a Decomposed) -> Result<Numbered<'a>, TableError> {
        let (place, names) = (release.name(), tables.attributes());
        if names.len() > AttributeSet::CAPACITY {
            return Err(too_many(place));
        }
        let mut numbered = Numbered { release, tables: &tables.tables, names, known: Vec::new(), place };
        let stated = release.manifest().into_iter().flat_map(|manifest| &manifest.hedgerow.dependencies);
        for dependency in stated.filter(|dependency| dependency.accept.is_none()) {
            let attributes = dependency.from.iter().chain([&dependency.to]);
            // One that no table holds can still lead from one attribute to another.
            for name in attributes.clone() {
                numbered.add(name)?;
            }
            let known = attributes.map(|name| numbered.number(name)).collect::<Result<AttributeSet, TableError>>()?;
            numbered.known.push(known);
        }
        Ok(numbered)
    }

    fn add(&mut self, name: &'a str) -> Result<(), TableError> {
        if self.names.contains(&name) {
            return Ok(());
        }
        if self.names.len() == AttributeSet::CAPACITY {
            return Err(too_many(self.place));
        }
        self.names.push(name);
        Ok(())
    }

    fn number(&self, name: &str) -> Result<usize, TableError> {
        self.names.iter().position(|known| *known == name).ok_or_else(|| {
            let problem = format!("a rule is about `{name}`, which no sub-table holds");
            TableError::input(self.place, problem, "the tables and their manifest do not belong together")
        })
    }

    fn schemas(&self, rule: &NamedRule, guarantees: &[Box<dyn Guarantee>], protect: usize) -> Vec<Schema> {
        let of_part = |part: &SubTable| {
            let attributes: AttributeSet =
                part.attributes().filter_map(|name| self.names.iter().position(|known| *known == name)).collect();
            let keeps = self.in_buckets(part, protect, guarantees).is_some_and(|all| all.iter().all(|a| a.holds));
            let guard = keeps.then(|| Guard {
                know: attributes.without(protect),
                protect: AttributeSet::of(protect),
                require: rule.require.clone(),
            });
            Schema { attributes, guards: guard.into_iter().collect() }
        };
        let known = self.known.iter().map(|&attributes| Schema { attributes, guards: Vec::new() });
        self.tables.iter().map(of_part).chain(known).collect()
    }

    /// The parameters that the buckets of a sub-table achieve, if it publishes the attribute by
    /// bucket; in a table of rows, which may be generalized, what classes of rows achieve that
    /// agree in all else.
    fn in_buckets(&self, part: &SubTable, protect: usize, guarantees: &[Box<dyn Guarantee>]) -> Option<Vec<Achieved>> {
        let name = self.names[protect];
        // Labels are not values: a table that generalizes the attribute guards nothing of it.
        if !part.is_exact(name, self.release.codebook()) {
            return None;
        }
        let table = Distribution::new(part.counts(name)?.1, None);
        let classes: Vec<Vec<(u32, u32)>> = match &part.form {
            Form::Rows(tables) => classes_of(&tables.table, name),
            _ if !part.sensitive().iter().any(|sensitive| sensitive == name) => return None,
            Form::Buckets(tables) => (0..tables.len()).map(|bucket| tables.values(bucket).to_vec()).collect(),
            Form::Combined(tables) => tables.given_the_others(name),
        };
        let classes = || classes.iter().filter(|values| !values.is_empty()).map(|values| class(values));
        Some(guarantees.iter().map(|one| achieved_over(one.as_ref(), None, &table, classes())).collect())
    }

    /// A table that holds an attribute as it is; where every table generalizes it, the first of
    /// these.
    fn most_exact(&self, name: &str) -> Option<&'a SubTable> {
        let holding = || self.tables.iter().filter(|part| part.domain(name).is_some());
        holding().find(|part| part.is_exact(name, self.release.codebook())).or_else(|| holding().next())
    }

    /// The parameters that the attribute achieves when nothing else is known.
    fn alone(&self, protect: usize, guarantees: &[Box<dyn Guarantee>]) -> Vec<Achieved> {
        let counts = self.most_exact(self.names[protect]).and_then(|part| part.counts(self.names[protect]));
        let counts = counts.map(|(_, counts)| counts).unwrap_or_default();
        let occurring = (0..).zip(&counts).filter(|(_, count)| **count > 0);
        let values: Vec<(u32, u32)> = occurring.map(|(code, &count)| (code, count as u32)).collect();
        let table = Distribution::new(counts.clone(), None);
        let classes = || (!values.is_empty()).then(|| class(&values)).into_iter();
        guarantees.iter().map(|one| achieved_over(one.as_ref(), None, &table, classes())).collect()
    }

    /// The achieved parameters of the rule's guarantees, and how the schemas keep it, in words.
    fn judge_rule(&self, rule: &NamedRule) -> Result<(Vec<Achieved>, String), TableError> {
        let Some(name) = &rule.protect else {
            let problem = "a rule protects no attribute";
            return Err(TableError::input(self.place, problem, "a decomposed release cannot promise that"));
        };
        let protect = self.number(name)?;
        let domain = self.most_exact(name).and_then(|part| part.domain(name));
        let mut guarantees: Vec<Box<dyn Guarantee>> = Vec::new();
        for model in &rule.require {
            let guarantee = models::guarantee(model, &rule.context(domain))
                .map_err(|unfit| unfit.refusal(name, model.name(), self.place))?;
            if let Some(why) = refused_in_buckets(guarantee.as_ref()) {
                let problem = format!("a decomposed release cannot promise {}: it {why}", model.name());
                return Err(TableError::input(self.place, problem, "do not trust this release in that point"));
            }
            guarantees.push(guarantee);
        }
        let know = rule.know.iter().map(|name| self.number(name)).collect::<Result<AttributeSet, TableError>>()?;
        let bound = Rule { know, protect: AttributeSet::of(protect), require: rule.require.clone() };
        let standing = standings(&[bound], &self.schemas(rule, &guarantees, protect)).remove(0);
        let mut alone = self.alone(protect, &guarantees);
        let described = self.described(&standing);
        let achieved = match standing {
            NormalFormStanding::NotReachable => alone,
            NormalFormStanding::Guarded(table) => {
                let mut inside = self.in_buckets(&self.tables[table], protect, &guarantees).unwrap_or_default();
                for (inside, alone) in inside.iter_mut().zip(&alone) {
                    inside.holds &= alone.holds;
                }
                inside
            }
            NormalFormStanding::Broken(_) => {
                alone.iter_mut().for_each(|achieved| achieved.holds = false);
                alone
            }
        };
        Ok((achieved, described))
    }

    /// `guarded by table-2`, or the way on which the rule is broken.
    fn described(&self, standing: &NormalFormStanding) -> String {
        match standing {
            NormalFormStanding::NotReachable => "not reachable".to_owned(),
            NormalFormStanding::Guarded(table) => format!("guarded by {}", self.tables[*table].name),
            NormalFormStanding::Broken(way) => {
                let start = way.first().map_or("", |hop| self.names[hop.from]);
                let table = |table: usize| match self.tables.get(table) {
                    Some(part) => &part.name,
                    None => "a known dependency",
                };
                let hops = way.iter().map(|hop| format!(" by {} to {}", table(hop.table), self.names[hop.to]));
                format!("broken: from {start}{}", hops.collect::<String>())
            }
        }
    }
}

fn too_many(place: &str) -> TableError {
    let hint = format!("a decomposed release has sub-tables of at most {} attributes", AttributeSet::CAPACITY);
    TableError::input(place, "no sub-tables that can be judged", hint)
}

/// The values of an attribute in every class of rows that agree in all others.
fn classes_of(table: &Table, attribute: &str) -> Vec<Vec<(u32, u32)>> {
    let mut class_of = vec![0u32; table.rows];
    for column in table.columns.iter().filter(|column| column.name != attribute) {
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        for (class, code) in class_of.iter_mut().zip(column.codes.iter()) {
            let next = numbers.len() as u32;
            *class = *numbers.entry((*class, code)).or_insert(next);
        }
    }
    let Some(column) = table.column(attribute) else { return Vec::new() };
    let mut pairs: Vec<(u32, u32)> = class_of.into_iter().zip(column.codes.iter()).collect();
    pairs.sort_unstable();
    let runs: Vec<(u32, u32, u32)> =
        pairs.chunk_by(|one, other| one == other).map(|run| (run[0].0, run[0].1, run.len() as u32)).collect();
    let classes = runs.chunk_by(|one, other| one.0 == other.0);
    classes.map(|class| class.iter().map(|&(_, code, count)| (code, count)).collect()).collect()
}

fn class(values: &[(u32, u32)]) -> Class<'_> {
    Class { rows: values.iter().map(|&(_, count)| u64::from(count)).sum(), values }
}

impl Judged for Decomposed {
    fn judge(&self, release: &Release, rules: &[NamedRule]) -> Result<Checked, TableError> {
        let numbered = Numbered::new(release, self)?;
        let mut claims = Vec::new();
        for rule in rules {
            let (achieved, standing) = numbered.judge_rule(rule)?;
            for (model, achieved) in rule.require.iter().zip(&achieved) {
                let mut claim = rule.claim(model, achieved);
                // (α,1)-anonymity would state the size of buckets as if rows were hidden among so
                // many.
                claim.achieved.shift_remove("k");
                claim.achieved.insert("standing".to_owned(), standing.clone().into());
                claims.push(claim);
            }
        }
        let buckets = self.tables.iter().filter_map(|table| match &table.form {
            Form::Buckets(tables) => Some(&tables.sizes),
            Form::Combined(tables) => Some(&tables.sizes),
            Form::Rows(_) => None,
        });
        let classes = ClassSizes::of(buckets.flatten().map(|&size| u64::from(size)));
        Ok(Checked { claims, classes, squares: 0, rows: release.rows(), units: None })
    }
}
