//! A policy meets its data: columns, hierarchies and rules bound to one another, or refused with a
//! place.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use hedgerow_cuts::Axis;
use hedgerow_policy::{Attribute, ClassLabels, Policy, Role};
use hedgerow_privacy::numbers::NotNumbers;
use hedgerow_privacy::{BoundRule, Community, Context, Distribution, Judge, KnownRows, Model, Tree, models};
use hedgerow_table::read::{NumberFormat, ReadOptions, read_table};
use hedgerow_table::{
    Coarsening, Codes, Column, Counted, Domain, Hierarchy, HierarchySpec, InputError, Kind, Progress, Table,
    TableError, Way,
};
use hedgerow_verify::check::{CountedUnits, NamedRule, OverUnits};
use serde_json::Value;

use crate::coarse_hulls::Hulls;
use crate::coarsen::Coarsened;
use crate::community::EarlierReleases;
use crate::consistent::Consistent;
use crate::declared_values;
use crate::error::PublishError;
use crate::loss::LossAttribute;
use crate::only_where;
use crate::rare_values;
use crate::units::Units;

pub use crate::declared_values::declared_table;

/// How the table that a policy names is read, without its identifiers; besides its released
/// attributes the columns named, where it has them.
pub fn source_options<'a>(policy: &Policy, also: &HashSet<String>, progress: &'a dyn Progress) -> ReadOptions<'a> {
    let source = &policy.source;
    let read = policy.attributes.iter().filter(|attribute| attribute.role != Role::Identifier);
    ReadOptions {
        format: source.format,
        delimiter: source.delimiter,
        quote: source.quote,
        nulls: source.nulls.clone(),
        kinds: read.clone().filter_map(|attribute| Some((attribute.name.clone(), declared_kind(attribute)?))).collect(),
        numbers: NumberFormat::new(source.decimal, source.thousands).unwrap_or_default(),
        date_formats: read
            .clone()
            .filter_map(|attribute| Some((attribute.name.clone(), attribute.declared.date_format.clone()?)))
            .collect(),
        date_format: source.date_format.clone(),
        only: Some(read.map(|attribute| &attribute.name).chain(also).cloned().collect::<HashSet<_>>()),
        progress,
        ..ReadOptions::default()
    }
}

/// How any table with the columns that a policy names is read, such as a release made
/// elsewhere.
pub fn any_options<'a>(policy: &Policy, progress: &'a dyn Progress) -> ReadOptions<'a> {
    let mut nulls = policy.source.nulls.clone();
    // A release writes a missing value as an empty cell, whatever stood for it in the source.
    nulls.push(String::new());
    // Quasi attributes may be generalized: of their declared types only that of texts stays.
    let own = policy.attributes.iter().filter(|own| own.role != Role::Quasi || own.kind == Some(Kind::Category));
    // Days that became months, or values that became labels, are texts.
    let of_source = |attribute: &&Attribute| {
        !matches!(&attribute.coarsen, Some(Coarsening { way: Way::Dates(_) | Way::Level(..), .. }))
    };
    let own = own.filter(of_source);
    let kinds = own.filter_map(|attribute| Some((attribute.name.clone(), attribute.kind?))).collect();
    ReadOptions { nulls, kinds, progress, ..ReadOptions::default() }
}

/// Rows on a cluster stay there, and only the command that speaks with clusters publishes them.
pub fn refuse_cluster(policy: &Policy) -> Result<(), InputError> {
    let Some(cluster) = &policy.source.cluster else { return Ok(()) };
    let problem = format!("the rows are on the Spark cluster {}, which this program does not reach", cluster.address);
    let hint = "use `hedgerow-spark publish` and `hedgerow-spark check`, built by `cargo install --path spark` in the \
                sources; or remove `engine`, and name a file that can be read here";
    Err(InputError::new(cluster.place.clone(), problem, hint))
}

/// Reads the file that a policy names, without its identifiers.
pub fn read_source(policy: &Policy, progress: &dyn Progress) -> Result<Table, TableError> {
    refuse_cluster(policy)?;
    read_table(&policy.source.path, &source_options(policy, &HashSet::new(), progress))
}

/// Reads any file with the columns that a policy names.
pub fn read_any(policy: &Policy, path: &Path, progress: &dyn Progress) -> Result<Table, TableError> {
    read_table(path, &any_options(policy, progress))
}

/// The policy's rules over a table of its own columns, with the hierarchies that some models
/// compare by.
pub fn rules_for(policy: &Policy, table: &Table) -> Result<Vec<NamedRule>, TableError> {
    let mut rules = Vec::new();
    for rule in &policy.rules {
        let attribute = rule.protect.as_ref().and_then(|name| policy.attribute(name));
        let column = attribute.and_then(|attribute| table.column(&attribute.name));
        let tree = match (attribute.and_then(|attribute| attribute.hierarchy.as_ref()), column) {
            (Some((spec, place)), Some(column)) => {
                Some(tree_of(&Hierarchy::build(spec, &column.name, place, &column.domain, &policy.source.nulls)?))
            }
            _ => None,
        };
        let (know, protect, require) = (rule.know.clone(), rule.protect.clone(), rule.require.clone());
        let units = units_in(policy, table, rule.rows);
        let consistent = rule.consistent;
        let only_where = rule.only_where.clone();
        rules.push(NamedRule { know, protect, require, tree, community: None, units, consistent, only_where });
    }
    Ok(rules)
}

/// How a table of the policy's columns counts units: by the columns of the policy, where it has
/// them. Only the owner of the source sees these.
fn units_in(policy: &Policy, table: &Table, rows: KnownRows) -> Option<OverUnits> {
    let names: Vec<String> = policy.units().map(|attribute| attribute.name.clone()).collect();
    let has_all = names.iter().all(|name| table.column(name).is_some());
    let counted = match (names.is_empty(), has_all) {
        (true, _) => return None,
        (false, true) => CountedUnits::Columns { names, linked: policy.publish.link },
        (false, false) => CountedUnits::Unknown,
    };
    Some(OverUnits { rows, counted })
}

fn tree_of(hierarchy: &Hierarchy) -> Tree {
    Tree { levels: hierarchy.levels()[1..].iter().map(|level| level.map.clone()).collect() }
}

/// A release writes a missing value as an empty cell, so an empty text that is not missing would
/// become missing in it.
fn refuse_empty_texts(policy: &Policy, table: &Table) -> Result<(), InputError> {
    for attribute in &policy.attributes {
        if table.column(&attribute.name).is_some_and(|column| column.domain.code_of("").is_some()) {
            let problem = format!("`{}`: the data holds empty cells that do not count as missing", attribute.name);
            let hint = "list the empty text \"\" in `null` of the source";
            return Err(InputError::new(attribute.place.clone(), problem, hint));
        }
    }
    Ok(())
}

/// A mask works on characters: what it is declared for is a code, such as a ZIP code, also when it
/// is all digits.
fn declared_kind(attribute: &Attribute) -> Option<Kind> {
    let masked = matches!(attribute.hierarchy, Some((HierarchySpec::Mask(_), _)));
    attribute.kind.or(masked.then_some(Kind::Category))
}

/// A policy bound to its table.
#[derive(Debug)]
pub struct Bound<'a> {
    pub policy: &'a Policy,
    pub table: &'a Table,
    /// The quasi attributes in the policy's order.
    pub quasi: Vec<Quasi<'a>>,
    /// The quasi attributes' columns, then those that some rule knows or protects besides.
    judged: Vec<&'a Column>,
    /// The hierarchies of protected attributes.
    protected: HashMap<String, Hierarchy>,
    /// Rows per code of each quasi attribute.
    counts: Vec<Vec<u64>>,
    /// Where equal rows of the table are held once.
    counted: Option<&'a Counted>,
    /// The unit of each row, where rows belong to units.
    units: Option<Units>,
    /// The releases that are published already.
    earlier: EarlierReleases,
    /// The attributes whose values became coarser before the policy was bound.
    pub coarsened: Coarsened,
    /// Rules that also hold for the rows that fit each person.
    consistent: Option<Consistent>,
    /// Dependencies that the source has and the policy does not declare: what determines what.
    pub dependencies_found: Vec<(Vec<String>, String)>,
    /// Warnings: what is allowed but probably not meant.
    pub warnings: Vec<InputError>,
}

#[derive(Debug)]
pub struct Quasi<'a> {
    pub attribute: &'a Attribute,
    pub column: &'a Column,
    pub hierarchy: Hierarchy,
    /// The meaning of its values, where they were made coarser before.
    pub hulls: Option<Hulls>,
}

impl<'a> Bound<'a> {
    pub fn new(policy: &'a Policy, table: &'a Table) -> Result<Bound<'a>, PublishError> {
        Bound::with_earlier(policy, table, EarlierReleases::default())
    }

    /// A policy bound to its table and to the releases that are published already.
    pub fn with_earlier(
        policy: &'a Policy,
        table: &'a Table,
        earlier: EarlierReleases,
    ) -> Result<Bound<'a>, PublishError> {
        Bound::bind(policy, table, None, earlier)
    }

    /// A policy bound to a table whose equal rows are held once.
    pub fn to_counted(
        policy: &'a Policy,
        counted: &'a Counted,
        earlier: EarlierReleases,
    ) -> Result<Bound<'a>, PublishError> {
        Bound::bind(policy, &counted.table, Some(counted), earlier)
    }

    fn bind(
        policy: &'a Policy,
        table: &'a Table,
        counted: Option<&'a Counted>,
        earlier: EarlierReleases,
    ) -> Result<Bound<'a>, PublishError> {
        for attribute in &policy.attributes {
            if !table.header.contains(&attribute.name) {
                let hint =
                    match hedgerow_table::spelling::nearest(&attribute.name, table.header.iter().map(String::as_str)) {
                        Some(name) => format!("did you mean `{name}`?"),
                        None => format!("the columns are: {}", table.header.join(", ")),
                    };
                let problem = format!("{} has no column `{}`", policy.source.path.display(), attribute.name);
                return Err(InputError::new(attribute.place.clone(), problem, hint).into());
            }
        }
        let column = |name: &str| {
            let lost = || PublishError::Internal(format!("internal error: the column `{name}` was not read"));
            table.column(name).ok_or_else(lost)
        };
        refuse_empty_texts(policy, table)?;
        declared_values::refuse_others(policy, table)?;
        let build = |attribute: &Attribute, column: &Column| {
            let none = (HierarchySpec::None, attribute.place.clone());
            let (spec, place) = attribute.hierarchy.as_ref().unwrap_or(&none);
            Hierarchy::build(spec, &attribute.name, place, &column.domain, &policy.source.nulls)
        };
        let mut quasi = Vec::new();
        for attribute in policy.quasi() {
            let column = column(&attribute.name)?;
            quasi.push(Quasi { attribute, column, hierarchy: build(attribute, column)?, hulls: None });
        }
        let mut judged: Vec<&Column> = quasi.iter().map(|quasi| quasi.column).collect();
        let mut protected = HashMap::new();
        for rule in &policy.rules {
            for name in rule.know.iter().chain(&rule.protect) {
                if judged.iter().all(|column| column.name != *name) {
                    judged.push(column(name)?);
                }
            }
            let Some(attribute) = rule.protect.as_ref().and_then(|name| policy.attribute(name)) else { continue };
            if attribute.hierarchy.is_some() && !protected.contains_key(&attribute.name) {
                protected.insert(attribute.name.clone(), build(attribute, column(&attribute.name)?)?);
            }
        }
        let counts = quasi.iter().map(|quasi| counts_of(quasi.column, counted)).collect();
        let units = Units::bind(policy, table, counted)?;
        let warnings = policy.warnings.iter().chain(&table.warnings).chain(&earlier.warnings).cloned().collect();
        let coarsened = Coarsened::default();
        let mut bound = Bound {
            policy,
            table,
            quasi,
            judged,
            protected,
            counts,
            counted,
            units,
            earlier,
            coarsened,
            consistent: None,
            dependencies_found: Vec::new(),
            warnings,
        };
        let rare = rare_values::warnings(&bound);
        bound.warnings.extend(rare);
        bound.warn_of_omitted_columns();
        bound.check_limited_values()?;
        only_where::check_values(&mut bound)?;
        bound.refuse_texts_to_measure()?;
        bound.consistent = Consistent::new(&bound)?;
        Ok(bound)
    }

    /// All rows of the table.
    pub fn rows(&self) -> u64 {
        self.counted.map_or(self.table.rows as u64, |counted| counted.rows)
    }

    /// Where equal rows of the table are held once: how often each occurs.
    pub fn row_counts(&self) -> Option<&'a [u32]> {
        self.counted.map(|counted| counted.counts.as_slice())
    }

    /// The unit of each row, where rows belong to units.
    pub fn units(&self) -> Option<&Units> {
        self.units.as_ref()
    }

    /// The rules that also hold for the rows that fit each person, which are no longer asked for.
    pub fn take_consistent(&mut self) -> Option<Consistent> {
        self.consistent.take()
    }

    /// Rules that also hold for the rows that fit each person.
    pub fn consistent(&self) -> Option<&Consistent> {
        self.consistent.as_ref()
    }

    /// The largest class size that some rule asks for.
    pub fn k(&self) -> u64 {
        let models = self.policy.rules.iter().flat_map(|rule| &rule.require);
        let sizes = models.map(|model| match model {
            Model::KAnonymity { k } | Model::AlphaKAnonymity { k, .. } => *k,
            _ => 1,
        });
        sizes.max().unwrap_or(1)
    }

    pub fn judged_codes(&self) -> Vec<&'a Codes> {
        self.judged.iter().map(|column| &column.codes).collect()
    }

    pub fn judged_cardinalities(&self) -> Vec<usize> {
        self.judged.iter().map(|column| column.domain.cardinality()).collect()
    }

    /// The attributes that rules look at, the quasi-identifiers first, with their values.
    pub fn judged_domains(&self) -> Vec<(&'a str, &'a Domain)> {
        self.judged.iter().map(|column| (column.name.as_str(), &column.domain)).collect()
    }

    /// How every quasi attribute can be cut.
    pub fn axes(&self) -> Vec<Axis> {
        self.axes_with(ClassLabels::Hierarchy)
    }

    /// How every quasi attribute can be cut; with sets for labels, categories along no hierarchy.
    pub fn axes_with(&self, labels: ClassLabels) -> Vec<Axis> {
        let axis = |quasi: &Quasi<'_>, counts: &[u64]| {
            let spec = quasi.attribute.hierarchy.as_ref().map(|(spec, _)| spec);
            let in_tree = labels == ClassLabels::Hierarchy
                && (matches!(spec, Some(HierarchySpec::File(_) | HierarchySpec::Mask(_)))
                    || quasi.hulls.as_ref().is_some_and(Hulls::in_tree));
            let order = || order_of_cuts(quasi, counts);
            Axis::new(&quasi.column.domain, &quasi.hierarchy, in_tree, order)
        };
        self.quasi.iter().zip(&self.counts).map(|(quasi, counts)| axis(quasi, counts)).collect()
    }

    pub fn hierarchies(&self) -> Vec<&Hierarchy> {
        self.quasi.iter().map(|quasi| &quasi.hierarchy).collect()
    }

    /// The quasi attributes as a loss sees them, weighted as the policy says.
    pub fn loss_attributes(&self) -> Vec<LossAttribute<'_>> {
        let quasi = self.quasi.iter().zip(&self.counts).zip(self.weights());
        quasi
            .map(|((quasi, counts), weight)| LossAttribute {
                domain: &quasi.column.domain,
                hierarchy: &quasi.hierarchy,
                counts,
                weight,
            })
            .collect()
    }

    /// How many rows carry each code of a quasi attribute.
    pub fn counts_of_quasi(&self, index: usize) -> &[u64] {
        &self.counts[index]
    }

    /// How many rows carry each code of a column.
    pub fn counts_of(&self, column: &Column) -> Vec<u64> {
        counts_of(column, self.counted)
    }

    /// How much the cells of every quasi attribute count.
    pub fn weights(&self) -> Vec<f64> {
        self.quasi.iter().map(|quasi| self.policy.publish.weight(&quasi.attribute.name)).collect()
    }

    /// The rules over the source's codes.
    pub fn judge(&self) -> Result<Judge, PublishError> {
        let cardinalities = self.judged_cardinalities();
        let position = |name: &String| self.judged.iter().position(|column| column.name == *name).expect("bound above");
        let mut rules = Vec::with_capacity(self.policy.rules.len());
        for rule in &self.policy.rules {
            let tree = rule.protect.as_ref().and_then(|name| self.tree(name));
            let protect = rule.protect.as_ref().map(position);
            let domain = protect.map(|index| &self.judged[index].domain);
            let mut guarantees = Vec::with_capacity(rule.require.len());
            for (model, place) in rule.require.iter().zip(&rule.require_places) {
                let name = rule.protect.as_deref().unwrap_or_default();
                let refused = |unfit: NotNumbers| unfit.refusal(name, model.name(), place.clone());
                let community = self.community(name);
                let context = Context { protect: domain, tree: tree.as_ref(), community, missing: None };
                guarantees.push(models::guarantee(model, &context).map_err(refused)?);
            }
            let (guarantees, concerned) = only_where::about(self, rule, guarantees);
            rules.push(BoundRule {
                know: rule.know.iter().map(position).collect(),
                protect,
                guarantees,
                source: protect
                    .map(|index| Distribution::new(counts_of(self.judged[index], self.counted), tree.as_ref())),
                tree,
                concerned,
            });
        }
        let allowed = self.policy.publish.suppression.floor_of(self.rows());
        let judge = Judge::new(cardinalities, self.quasi.len(), rules, allowed).ok_or_else(|| {
            let hint = "make some of them `plain` or `identifier`, or give fewer rules";
            InputError::new(self.policy.path.display().to_string(), "too many attributes to search at once", hint)
        })?;
        let Some(units) = &self.units else { return Ok(judge) };
        let terms = units.terms(self.policy, self.table);
        Ok(judge.over_units(terms))
    }

    /// The disclosure of a protected attribute by earlier releases.
    pub fn community(&self, protect: &str) -> Option<&Arc<Community>> {
        self.earlier.communities.get(protect)
    }

    pub fn tree(&self, protect: &str) -> Option<Tree> {
        self.protected.get(protect).map(tree_of)
    }

    /// For the manifest: every released value of a protected attribute with its labels up to the
    /// top.
    pub fn paths(&self, protect: &str, released: &Domain) -> Option<Value> {
        let hierarchy = self.protected.get(protect)?;
        let source = self.table.column(protect)?;
        let path = |code: u32| {
            let text = released.text(code);
            let own = source.domain.code_of(&text).or(source.domain.missing_code())? as usize;
            let above = hierarchy.levels()[1..].iter().map(|level| level.labels[level.map[own] as usize].text.clone());
            Some(Value::from_iter(std::iter::once(text).chain(above)))
        };
        (0..released.cardinality() as u32).map(path).collect::<Option<Vec<Value>>>().map(Value::Array)
    }

    /// The rules by name, as a reader of the release can recompute them. `released` is the table
    /// read back.
    pub fn named_rules(&self, trees: &HashMap<String, Tree>) -> Vec<NamedRule> {
        let rules = self.policy.rules.iter();
        rules
            .map(|rule| NamedRule {
                know: rule.know.clone(),
                protect: rule.protect.clone(),
                require: rule.require.clone(),
                tree: rule.protect.as_ref().and_then(|name| trees.get(name)).cloned(),
                community: rule.protect.as_ref().and_then(|name| self.community(name)).cloned(),
                units: None,
                consistent: rule.consistent,
                only_where: rule.only_where.clone(),
            })
            .collect()
    }

    /// A misspelled value would limit nothing, unnoticed.
    fn check_limited_values(&mut self) -> Result<(), PublishError> {
        for rule in &self.policy.rules {
            let Some(column) = rule.protect.as_ref().and_then(|name| self.table.column(name)) else { continue };
            for (model, place) in rule.require.iter().zip(&rule.require_places) {
                let named = model.named_values();
                let named = named.iter().flat_map(|(key, values)| values.iter().map(move |value| (*key, value)));
                for (key, value) in named.filter(|(_, value)| column.domain.code_of(value).is_none()) {
                    if value.is_empty() || self.policy.source.nulls.contains(value) {
                        let problem = format!("`{key}` names {value:?}, which counts as missing");
                        let hint =
                            format!("leave `{key}` out to limit every value, the missing one too, or change `null`");
                        return Err(InputError::new(place.clone(), problem, hint).into());
                    }
                    let problem = format!("no row has {value:?} as its `{}`: naming it limits nothing", column.name);
                    let hint = "write the value exactly as it stands in the data";
                    self.warnings.push(InputError::new(place.clone(), problem, hint));
                }
            }
        }
        Ok(())
    }

    /// Models that measure distances need numbers, dates or an order; said here, before any search.
    fn refuse_texts_to_measure(&self) -> Result<(), InputError> {
        for rule in &self.policy.rules {
            let Some(column) = rule.protect.as_ref().and_then(|name| self.table.column(name)) else { continue };
            for (model, place) in rule.require.iter().zip(&rule.require_places) {
                if model.measures_distances() && !rule.also_protect.is_empty() {
                    // A combination of attributes has no order of its own.
                    let names = rule.protected().map(String::as_str).collect::<Vec<_>>().join(", ");
                    return Err(NotNumbers::NoOrder.refusal(&names, model.name(), place.clone()));
                }
                if model.measures_distances() {
                    models::guarantee(model, &Context { protect: Some(&column.domain), ..Context::default() })
                        .map_err(|unfit| unfit.refusal(&column.name, model.name(), place.clone()))?;
                }
            }
        }
        Ok(())
    }

    fn warn_of_omitted_columns(&mut self) {
        let unnamed = self.table.header.iter().filter(|name| self.policy.attribute(name).is_none());
        let names: Vec<String> = unnamed.map(|name| format!("`{name}`")).collect();
        if !names.is_empty() {
            let others = match names.len() {
                ..=NAMED_MAX => String::new(),
                count => format!(" and {} other columns", count - NAMED_MAX),
            };
            let named = names[..names.len().min(NAMED_MAX)].join(", ");
            let problem = format!("not in the policy, so not released: {named}{others}");
            let hint = "give each a role under [attributes] to release it";
            let warning = InputError::new(self.policy.source.path.display().to_string(), problem, hint);
            let unnamed = self.table.header.iter().filter(|name| self.policy.attribute(name).is_none());
            self.warnings.push(warning.about("omitted", unnamed, None));
        }
    }
}

/// Columns that a warning names; the others are counted.
const NAMED_MAX: usize = 5;

/// How many rows carry each code of a column.
fn counts_of(column: &Column, counted: Option<&Counted>) -> Vec<u64> {
    match counted.and_then(|counted| counted.values(&column.name)) {
        Some(counts) => counts.to_vec(),
        None => column.counts(),
    }
}

/// The codes of a category without a hierarchy in the order in which it is cut: as declared, the
/// missing value last; else the most frequent first.
fn order_of_cuts(quasi: &Quasi<'_>, counts: &[u64]) -> Vec<u32> {
    let domain = &quasi.column.domain;
    let mut codes: Vec<u32> = (0..domain.cardinality() as u32).collect();
    match &quasi.attribute.declared.order {
        Some(order) => {
            let mut places = vec![usize::MAX; codes.len()];
            for (place, value) in order.values.iter().enumerate() {
                if let Some(code) = domain.code_of(value) {
                    places[code as usize] = place;
                }
            }
            codes.sort_by_key(|&code| places[code as usize]);
        }
        None => codes.sort_by_key(|&code| Reverse(counts[code as usize])),
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(attributes: &str) -> Policy {
        let text = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\n{attributes}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = 3 }}\n"
        );
        Policy::parse(&text, Path::new("policy.toml")).unwrap()
    }

    fn people(wards: &[&str]) -> Table {
        let rows: Vec<Vec<&str>> = wards.iter().map(|ward| vec!["40", ward]).collect();
        Table::from_texts(&["age", "ward"], &rows)
    }

    #[test]
    fn a_plain_attribute_that_nearly_identifies_people_is_warned_about() {
        let policy = policy("age = { role = \"quasi\" }\nward = { role = \"plain\" }");
        let unique = people(&["a", "b", "c", "d", "e", "f"]);
        let warnings = Bound::new(&policy, &unique).unwrap().warnings;
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].place, "policy.toml:5:1: attributes.ward");
        assert!(warnings[0].problem.contains("6 of 6 rows"), "{}", warnings[0].problem);
        let shared = people(&["a", "a", "a", "b", "b", "b"]);
        assert!(Bound::new(&policy, &shared).unwrap().warnings.is_empty());
    }

    #[test]
    fn a_column_that_the_policy_does_not_name_is_reported() {
        let policy = policy("age = { role = \"quasi\" }");
        let warnings = Bound::new(&policy, &people(&["a"])).unwrap().warnings;
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].problem.contains("not released: `ward`"), "{}", warnings[0].problem);
    }

    #[test]
    fn an_attribute_that_the_data_lacks_is_refused_with_the_nearest_column() {
        let policy = policy("age = { role = \"quasi\" }\nwrad = { role = \"plain\" }");
        let error = Bound::new(&policy, &people(&["a"])).unwrap_err().to_string();
        assert!(error.starts_with("policy.toml:5:1: attributes.wrad: people.csv has no column `wrad`"), "{error}");
        assert!(error.ends_with("hint: did you mean `ward`?"), "{error}");
    }
}
