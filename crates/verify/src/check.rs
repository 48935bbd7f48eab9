//! Recomputes guarantees from a released table, by its own bytes and nothing else.

use std::sync::Arc;

use hedgerow_release::manifest::{Claim, ClassSizes};
use hedgerow_release::{KnownValues, LabelReader};
use hedgerow_table::{Codes, Column, Domain, InputError, Table, TableError, with_words};
use serde_json::{Value, json};

use crate::units;
use hedgerow_privacy::guarantee::ClassMeasure;
use hedgerow_privacy::judge::Achieved;
use hedgerow_privacy::{
    BoundRule, Community, ConcernedLabels, Context, Judge, KnownRows, Model, Tree, about_some_classes, models,
};

/// A rule in terms of a table's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRule {
    pub know: Vec<String>,
    pub protect: Option<String>,
    pub require: Vec<Model>,
    /// The protected attribute's hierarchy over the table's own domain, where a model requires it.
    pub tree: Option<Tree>,
    /// The disclosure of the protected attribute by earlier releases, where a model requires it.
    pub community: Option<Arc<Community>>,
    /// Where rows belong to units.
    pub units: Option<OverUnits>,
    /// Whether it also holds for the rows that no impossible combination of values excludes, by the
    /// word of the publisher: which combinations occur is counted in the source.
    pub consistent: bool,
    /// Of these known attributes the rule is about some values alone.
    pub only_where: KnownValues,
}

/// How a rule counts units.
#[derive(Debug, Clone, PartialEq)]
pub struct OverUnits {
    /// Which rows of a unit the attacker knows.
    pub rows: KnownRows,
    pub counted: CountedUnits,
}

/// The source of the units: who knows which rows are of one unit.
#[derive(Debug, Clone, PartialEq)]
pub enum CountedUnits {
    /// These columns of the table say it. Where they are released, an attacker knows it too.
    Columns { names: Vec<String>, linked: bool },
    /// The publisher, who counted what every model of the rule achieves.
    Stated(Vec<Achieved>),
    /// Not known: only rows can be counted.
    Unknown,
}

impl NamedRule {
    /// The data that judges the rule's models. `protect` holds the protected attribute's values.
    pub fn context<'a>(&'a self, protect: Option<&'a Domain>) -> Context<'a> {
        Context { protect, tree: self.tree.as_ref(), community: self.community.as_ref(), missing: None }
    }

    /// A guarantee of the rule as a manifest and a report have it.
    pub fn claim(&self, model: &Model, achieved: &Achieved) -> Claim {
        let mut claim = claim(model, &self.know, self.protect.as_ref(), achieved);
        claim.consistent = self.consistent;
        claim.only_where.clone_from(&self.only_where);
        claim.rows = self.units.as_ref().map(|units| units.rows.name().to_owned());
        if let (Model::CrossReleaseLDiversity { .. }, Some(community)) = (model, &self.community) {
            let digests = community.releases.iter().map(|release| Value::from(release.digest.as_str()));
            claim.required.insert("releases".to_owned(), digests.collect());
            if !community.spelled.is_empty() {
                let texts = community.spelled.iter().map(|(theirs, ours)| (theirs.clone(), Value::from(ours.as_str())));
                claim.required.insert("values".to_owned(), Value::Object(texts.collect()));
            }
            if !community.joint.is_empty() {
                claim.required.insert("joint".to_owned(), Value::from(community.joint.clone()));
            }
        }
        claim
    }
}

/// A guarantee as a report has it, without the releases that it was judged with.
pub fn claim(model: &Model, know: &[String], protect: Option<&String>, achieved: &Achieved) -> Claim {
    let measures = achieved.measures.iter();
    Claim {
        model: model.name().to_owned(),
        required: model.required(),
        achieved: measures.map(|measure| (measure.name.to_owned(), rounded(measure))).collect(),
        know: know.to_vec(),
        protect: protect.filter(|_| model.needs_protect()).cloned(),
        rows: None,
        consistent: false,
        only_where: KnownValues::new(),
        holds: achieved.holds,
    }
}

/// The achieved parameters of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub claims: Vec<Claim>,
    /// Over all quasi attributes.
    pub classes: ClassSizes,
    /// The squares of the sizes of classes, added up; of sub-classes where the release is cloned.
    pub squares: u128,
    pub rows: u64,
    /// Where the table says whom its rows are about: how many units there are.
    pub units: Option<u64>,
}

impl Checked {
    pub fn holds(&self) -> bool {
        self.claims.iter().all(|claim| claim.holds)
    }
}

/// Judges a table as it stands: nothing may be suppressed. `place` names the table in errors. Its
/// labels are read by how they are written.
pub fn check_table(table: &Table, quasi: &[String], rules: &[NamedRule], place: &str) -> Result<Checked, TableError> {
    check_counted(table, None, quasi, rules, LabelReader::Notation(None), place)
}

/// The same; where `counts` is present, each row stands for as many as it says.
pub fn check_counted(
    table: &Table,
    counts: Option<&[u32]>,
    quasi: &[String],
    rules: &[NamedRule],
    labels: LabelReader<'_>,
    place: &str,
) -> Result<Checked, TableError> {
    let mut names: Vec<&str> = quasi.iter().map(String::as_str).collect();
    for name in rules.iter().flat_map(|rule| rule.know.iter().chain(&rule.protect)) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut columns = Vec::with_capacity(names.len());
    for name in &names {
        columns.push(table.column(name).ok_or_else(|| {
            let hint = format!("the table has: {}", table.header.join(", "));
            InputError::new(place, format!("the table has no column `{name}`"), hint)
        })?);
    }
    let cardinalities: Vec<usize> = columns.iter().map(|column| column.domain.cardinality()).collect();
    let position = |name: &String| names.iter().position(|known| known == name).expect("collected above");
    let mut bound = Vec::with_capacity(rules.len());
    for rule in rules {
        let domain = rule.protect.as_ref().map(|name| &columns[position(name)].domain);
        let guarantee = |model: &Model| {
            models::guarantee(model, &rule.context(domain))
                .map_err(|unfit| unfit.refusal(rule.protect.as_deref().unwrap_or_default(), model.name(), place))
        };
        let mut guarantees = rule.require.iter().map(guarantee).collect::<Result<Vec<_>, InputError>>()?;
        if !rule.only_where.is_empty() {
            guarantees = guarantees.into_iter().map(about_some_classes).collect();
        }
        let concerned = rule.only_where.iter().map(|(name, values)| ConcernedLabels {
            attribute: position(name),
            by_level: vec![concerned_labels(columns[position(name)], values, labels)],
        });
        bound.push(BoundRule {
            know: rule.know.iter().map(position).collect(),
            protect: rule.protect.as_ref().map(position),
            guarantees,
            source: None,
            tree: rule.tree.clone(),
            concerned: concerned.collect(),
        });
    }
    let Some(judge) = Judge::new(cardinalities, quasi.len(), bound, 0) else {
        return Err(TableError::input(place, "too many attributes to compare rows by", "name fewer quasi-identifiers"));
    };
    let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
    let units = units::of_table(table, counts.is_some(), rules, place)?;
    let missing = rules.iter().map(|rule| columns[position(rule.protect.as_ref()?)].domain.missing_code()).collect();
    let (achieved, (classes, squares)) = with_words!(judge.layout().words(), W => {
        let counted = judge.count_rows::<W>(&codes, table.rows, counts);
        let classes = counted.set.classes(&judge.layout().mask_of::<W>(0..quasi.len()));
        let sizes = || classes.sizes.iter().map(|&size| u64::from(size));
        let mut achieved = judge.achieved(&counted);
        if let Some(units) = &units {
            let over_units = units.achieved(&judge, rules, &counted.set, &codes, missing);
            units::combine(&mut achieved, rules, &over_units);
        }
        (achieved, (ClassSizes::of(sizes()), squares(sizes())))
    });
    let mut achieved = achieved;
    units::combine_stated(&mut achieved, rules);
    let claims = rules.iter().zip(&achieved).flat_map(|(rule, achieved)| {
        rule.require.iter().zip(achieved).map(|(model, achieved)| rule.claim(model, achieved))
    });
    let rows = counts.map_or(table.rows as u64, |counts| counts.iter().map(|&count| u64::from(count)).sum());
    let units = units.map(|units| units.count as u64);
    Ok(Checked { claims: claims.collect(), classes, squares, rows, units })
}

/// By code, whether a released label may stand for one of the values.
pub(crate) fn concerned_labels(column: &Column, values: &[String], labels: LabelReader<'_>) -> Vec<bool> {
    let codes = 0..column.domain.cardinality() as u32;
    codes.map(|code| labels.may_stand_for(&column.name, &column.domain.text(code), values)).collect()
}

/// Added up without overflow.
pub(crate) fn squares(sizes: impl Iterator<Item = u64>) -> u128 {
    sizes.map(|size| u128::from(size) * u128::from(size)).sum()
}

/// Whole numbers as such; others to twelve places, towards the worse side so that a claim never
/// flatters.
fn rounded(measure: &ClassMeasure) -> Value {
    let value = measure.value;
    if value.is_finite() && value.fract() == 0.0 && value.abs() < 1e15 {
        return json!(value as i64);
    }
    let scaled = value * 1e12;
    if scaled.abs() > 1e15 {
        return json!(value);
    }
    json!(if measure.smaller_is_worse { scaled.floor() } else { scaled.ceil() } / 1e12)
}
