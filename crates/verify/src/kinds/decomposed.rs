//! A decomposed release: several tables about the same people, judged by guardian normal form.
//!
//! A rule holds when what it protects is harmless alone, and nothing published connects it with what is known, or the one
//! table through which everything that connects them must pass keeps the rule bucket by bucket (see
//! [`hedgerow_privacy::rules::standings`]). Tables are read as strangers read them; what they say of an attribute must be the same in all.
//!
//! A table that tells several attributes by bucket, as combinations, keeps a rule about one of them when the rule holds in every
//! bucket even for somebody who knows the others; what is concluded from less is a mixture of that. Rows whose sensitive values are
//! not told at all tell nothing.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use hedgerow_release::bucketized::{Bucketized, GROUP};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::combined::Combined;
use hedgerow_release::manifest::{ClassSizes, Manifest};
use hedgerow_release::read::{quasi_of, read_codebook, read_released};
use hedgerow_release::shape::Shape;
use hedgerow_table::{Column, Cover, Domain, Progress, Table, TableError};

use super::{Released, refused_in_buckets};
use crate::check::{Checked, NamedRule, claim};
use hedgerow_privacy::judge::{Achieved, achieved_over};
use hedgerow_privacy::rules::{AttributeSet, Guard, Rule, Schema, Standing, standings};
use hedgerow_privacy::{Class, Distribution, Guarantee, models};

#[derive(Debug)]
pub(super) struct Decomposed {
    parts: Vec<Part>,
    /// All attributes, each once.
    names: Vec<String>,
    /// The attributes of each dependency that attackers know: a table that is out already.
    known: Vec<AttributeSet>,
    contradictions: Vec<String>,
    /// Names the release in errors.
    place: String,
}

#[derive(Debug)]
struct Part {
    folder: String,
    quasi: Vec<String>,
    tables: Tables,
}

#[derive(Debug)]
enum Tables {
    Open(Table),
    Buckets(Box<Bucketized>),
    Combined(Box<Combined>),
}

impl Part {
    fn rows(&self) -> &Table {
        match &self.tables {
            Tables::Open(table) => table,
            Tables::Buckets(tables) => &tables.quasi,
            Tables::Combined(tables) => &tables.quasi,
        }
    }

    /// What is told by bucket.
    fn sensitive(&self) -> &[String] {
        match &self.tables {
            Tables::Open(_) => &[],
            Tables::Buckets(tables) => std::slice::from_ref(&tables.sensitive),
            Tables::Combined(tables) => &tables.sensitive,
        }
    }

    /// All attributes of the table, by row or by bucket.
    fn attributes(&self) -> impl Iterator<Item = &str> {
        let open = self.rows().header.iter().map(String::as_str);
        let buckets = !self.sensitive().is_empty();
        open.filter(move |name| !buckets || *name != GROUP).chain(self.sensitive().iter().map(String::as_str))
    }

    /// The values of an attribute and how many rows have each.
    fn counts(&self, attribute: &str) -> Option<(&Domain, Vec<u64>)> {
        match &self.tables {
            Tables::Buckets(tables) if tables.sensitive == attribute => Some((&tables.domain, tables.counts())),
            Tables::Combined(tables) if tables.sensitive.iter().any(|name| name == attribute) => {
                tables.values.column(attribute).map(|column| (&column.domain, tables.counts_of(column)))
            }
            _ => self.rows().column(attribute).map(|column| (&column.domain, column.counts())),
        }
    }
}

impl Decomposed {
    pub(super) fn read(directory: &Path, manifest: &Manifest, progress: &dyn Progress) -> Result<Self, TableError> {
        let place = directory.display().to_string();
        let (mut parts, mut contradictions) = (Vec::new(), Vec::new());
        for (folder, shape) in Shape::parts(&manifest.resources).unwrap_or_default() {
            let (quasi, tables) = match shape {
                Shape::Bucketized { quasi, sensitive } if Combined::is(sensitive) => {
                    let (tables, found) = Combined::examine(directory, quasi, sensitive, progress)?;
                    contradictions.extend(found.into_iter().map(|problem| format!("{folder}: {problem}")));
                    (quasi_of(quasi), Tables::Combined(Box::new(tables)))
                }
                Shape::Bucketized { quasi, sensitive } => {
                    let (tables, found) = Bucketized::examine(directory, quasi, sensitive, progress)?;
                    contradictions.extend(found.into_iter().map(|problem| format!("{folder}: {problem}")));
                    (quasi_of(quasi), Tables::Buckets(Box::new(tables)))
                }
                Shape::Generalized { data } => {
                    (quasi_of(data), Tables::Open(read_released(directory, data, progress)?))
                }
                Shape::Cloned { .. } | Shape::Decomposed { .. } => {
                    return Err(TableError::input(
                        place,
                        "a sub-table is neither of rows nor of buckets",
                        "publish the release again",
                    ));
                }
            };
            parts.push(Part { folder: folder.to_owned(), quasi, tables });
        }
        let mut names: Vec<String> = Vec::new();
        for name in parts.iter().flat_map(Part::attributes) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        if parts.is_empty() || names.len() > AttributeSet::CAPACITY {
            let hint = format!("a decomposed release has sub-tables of at most {} attributes", AttributeSet::CAPACITY);
            return Err(TableError::input(place, "no sub-tables that can be judged", hint));
        }
        let mut read = Decomposed { parts, names, known: Vec::new(), contradictions, place };
        for dependency in &manifest.hedgerow.dependencies {
            let attributes = dependency.from.iter().chain([&dependency.to]);
            read.known.push(attributes.map(|name| read.number(name)).collect::<Result<AttributeSet, TableError>>()?);
        }
        let differing = read.attributes_that_differ(&read_codebook(directory)?);
        read.contradictions.extend(differing);
        Ok(read)
    }

    /// All sub-tables are about the same people, so they say the same of an attribute, unless it is generalized in one.
    fn attributes_that_differ(&self, codebook: &Codebook) -> Vec<String> {
        let mut contradictions = Vec::new();
        for name in &self.names {
            let one_value = |label: &str| match codebook.cover(name, label) {
                None | Some(Cover::Missing | Cover::Point(_)) => true,
                Some(Cover::Leaves(leaves)) => leaves.len() == 1 && !label.contains('*'),
                Some(Cover::Everything | Cover::Interval { .. }) => false,
            };
            let exact = |domain: &Domain| (0..domain.cardinality() as u32).all(|code| one_value(&domain.text(code)));
            let told = self.parts.iter().filter_map(|part| Some((part, part.counts(name)?)));
            let told = told.filter(|(_, (domain, _))| exact(domain));
            let mut told = told.map(|(part, (domain, counts))| {
                let texts = (0..domain.cardinality() as u32).map(|code| domain.text(code));
                let counted = texts.zip(counts).filter(|(_, count)| *count > 0);
                (part, counted.collect::<BTreeMap<String, u64>>())
            });
            let Some((first, expected)) = told.next() else { continue };
            for (part, _) in told.filter(|(_, found)| *found != expected) {
                contradictions.push(format!("{} and {} tell different values of `{name}`", first.folder, part.folder));
            }
        }
        let rows: Vec<usize> = self.parts.iter().map(|part| part.rows().rows).collect();
        if rows.iter().any(|&count| count != rows[0]) {
            contradictions.push("the sub-tables have different numbers of rows".to_owned());
        }
        contradictions
    }

    fn number(&self, name: &str) -> Result<usize, TableError> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            let problem = format!("a rule or a dependency is about `{name}`, which no sub-table holds");
            TableError::input(&self.place, problem, "the tables and their manifest do not belong together")
        })
    }

    fn schemas(&self, rule: &NamedRule, guarantees: &[Box<dyn Guarantee>], protect: usize) -> Vec<Schema> {
        let of_part = |part: &Part| {
            let attributes: AttributeSet =
                part.attributes().filter_map(|name| self.names.iter().position(|known| known == name)).collect();
            let keeps = self.in_buckets(part, protect, guarantees).is_some_and(|all| all.iter().all(|a| a.holds));
            let guard = keeps.then(|| Guard {
                know: attributes.without(protect),
                protect: AttributeSet::of(protect),
                require: rule.require.clone(),
            });
            Schema { attributes, guards: guard.into_iter().collect() }
        };
        let known = self.known.iter().map(|&attributes| Schema { attributes, guards: Vec::new() });
        self.parts.iter().map(of_part).chain(known).collect()
    }

    /// What the buckets of a sub-table reach, if it tells the attribute by bucket; in a table of rows, which may be generalized,
    /// what classes of rows reach that agree in all else.
    fn in_buckets(&self, part: &Part, protect: usize, guarantees: &[Box<dyn Guarantee>]) -> Option<Vec<Achieved>> {
        let name = self.names[protect].as_str();
        let whole = Distribution::new(part.counts(name)?.1, None);
        let classes: Vec<Vec<(u32, u32)>> = match &part.tables {
            Tables::Open(table) => classes_of(table, name),
            _ if !part.sensitive().iter().any(|sensitive| sensitive == name) => return None,
            Tables::Buckets(tables) => (0..tables.len()).map(|bucket| tables.values(bucket).to_vec()).collect(),
            Tables::Combined(tables) => tables.beside_the_others(name),
        };
        let classes = || classes.iter().filter(|values| !values.is_empty()).map(|values| class(values));
        Some(guarantees.iter().map(|one| achieved_over(one.as_ref(), None, &whole, classes())).collect())
    }

    /// What the attribute reaches when nothing else is known.
    fn alone(&self, protect: usize, guarantees: &[Box<dyn Guarantee>]) -> Vec<Achieved> {
        let counts = self.parts.iter().find_map(|part| part.counts(&self.names[protect]));
        let counts = counts.map(|(_, counts)| counts).unwrap_or_default();
        let occurring = (0..).zip(&counts).filter(|(_, count)| **count > 0);
        let values: Vec<(u32, u32)> = occurring.map(|(code, &count)| (code, count as u32)).collect();
        let whole = Distribution::new(counts.clone(), None);
        let classes = || (!values.is_empty()).then(|| class(&values)).into_iter();
        guarantees.iter().map(|one| achieved_over(one.as_ref(), None, &whole, classes())).collect()
    }

    /// What the rule's guarantees reach, and how the schemas keep it, in words.
    fn judge_rule(&self, rule: &NamedRule) -> Result<(Vec<Achieved>, String), TableError> {
        let Some(name) = &rule.protect else {
            let problem = "a rule protects no attribute";
            return Err(TableError::input(&self.place, problem, "a decomposed release cannot promise that"));
        };
        let protect = self.number(name)?;
        let domain = self.domain(name);
        let mut guarantees: Vec<Box<dyn Guarantee>> = Vec::new();
        for model in &rule.require {
            let guarantee = models::guarantee(model, domain, rule.tree.as_ref())
                .map_err(|unfit| unfit.refusal(name, model.name(), &self.place))?;
            if let Some(why) = refused_in_buckets(guarantee.as_ref()) {
                let problem = format!("a decomposed release cannot promise {}: it {why}", model.name());
                return Err(TableError::input(&self.place, problem, "do not trust this release in that point"));
            }
            guarantees.push(guarantee);
        }
        let know = rule.know.iter().map(|name| self.number(name)).collect::<Result<AttributeSet, TableError>>()?;
        let bound = Rule { know, protect: AttributeSet::of(protect), require: rule.require.clone() };
        let standing = standings(&[bound], &self.schemas(rule, &guarantees, protect)).remove(0);
        let mut alone = self.alone(protect, &guarantees);
        let told = self.told(&standing);
        let reached = match standing {
            Standing::NotReachable => alone,
            Standing::Guarded(table) => {
                let mut inside = self.in_buckets(&self.parts[table], protect, &guarantees).unwrap_or_default();
                for (inside, alone) in inside.iter_mut().zip(&alone) {
                    inside.holds &= alone.holds;
                }
                inside
            }
            Standing::Broken(_) => {
                alone.iter_mut().for_each(|achieved| achieved.holds = false);
                alone
            }
        };
        Ok((reached, told))
    }

    /// `guarded by table-2`, or the way on which the rule is broken.
    fn told(&self, standing: &Standing) -> String {
        match standing {
            Standing::NotReachable => "not reachable".to_owned(),
            Standing::Guarded(table) => format!("guarded by {}", self.parts[*table].folder),
            Standing::Broken(way) => {
                let start = way.first().map_or("", |hop| self.names[hop.from].as_str());
                let table = |table: usize| match self.parts.get(table) {
                    Some(part) => &part.folder,
                    None => "a known dependency",
                };
                let hops = way.iter().map(|hop| format!(" by {} to {}", table(hop.table), self.names[hop.to]));
                format!("broken: from {start}{}", hops.collect::<String>())
            }
        }
    }
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

impl Released for Decomposed {
    fn domain(&self, attribute: &str) -> Option<&Domain> {
        self.parts.iter().find_map(|part| part.counts(attribute)).map(|(domain, _)| domain)
    }

    fn quasi(&self) -> Vec<&Column> {
        let parts = self.parts.iter();
        parts.flat_map(|part| part.quasi.iter().filter_map(|name| part.rows().column(name))).collect()
    }

    fn contradictions(&self) -> &[String] {
        &self.contradictions
    }

    fn judge(&self, rules: &[NamedRule]) -> Result<Checked, TableError> {
        let mut claims = Vec::new();
        for rule in rules {
            let (achieved, standing) = self.judge_rule(rule)?;
            for (model, achieved) in rule.require.iter().zip(&achieved) {
                let mut claim = claim(model, &rule.know, rule.protect.as_ref(), achieved);
                // (α,1)-anonymity would tell the size of buckets as if rows were hidden among so many.
                claim.achieved.shift_remove("k");
                claim.achieved.insert("standing".to_owned(), standing.clone().into());
                claims.push(claim);
            }
        }
        let buckets = self.parts.iter().filter_map(|part| match &part.tables {
            Tables::Buckets(tables) => Some(&tables.sizes),
            Tables::Combined(tables) => Some(&tables.sizes),
            Tables::Open(_) => None,
        });
        let classes = ClassSizes::of(buckets.flatten().map(|&size| u64::from(size)));
        Ok(Checked { claims, classes, rows: self.parts[0].rows().rows as u64 })
    }
}
