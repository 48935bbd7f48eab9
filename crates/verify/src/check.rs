//! Recomputes guarantees from a released table, by its own bytes and nothing else.

use std::sync::Arc;

use hedgerow_release::manifest::{Claim, ClassSizes};
use hedgerow_table::{Codes, Domain, InputError, Table, TableError, with_words};
use serde_json::{Value, json};

use hedgerow_privacy::guarantee::Measure;
use hedgerow_privacy::judge::Achieved;
use hedgerow_privacy::{Community, Context, Judge, Model, Rule, Tree, models};

/// A rule in terms of a table's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRule {
    pub know: Vec<String>,
    pub protect: Option<String>,
    pub require: Vec<Model>,
    /// The protected attribute's hierarchy over the table's own domain, where a model requires it.
    pub tree: Option<Tree>,
    /// What earlier releases disclose of the protected attribute, where a model requires it.
    pub community: Option<Arc<Community>>,
}

impl NamedRule {
    /// What the rule's models are judged with. `protect` holds the protected attribute's values.
    pub fn context<'a>(&'a self, protect: Option<&'a Domain>) -> Context<'a> {
        Context { protect, tree: self.tree.as_ref(), community: self.community.as_ref(), missing: None }
    }

    /// A guarantee of the rule as a manifest and a report have it.
    pub fn claim(&self, model: &Model, achieved: &Achieved) -> Claim {
        let mut claim = claim(model, &self.know, self.protect.as_ref(), achieved);
        if let (Model::CrossReleaseLDiversity { .. }, Some(community)) = (model, &self.community) {
            let digests = community.releases.iter().map(|release| Value::from(release.digest.as_str()));
            claim.required.insert("releases".to_owned(), digests.collect());
            if !community.spelled.is_empty() {
                let texts = community.spelled.iter().map(|(theirs, ours)| (theirs.clone(), Value::from(ours.as_str())));
                claim.required.insert("values".to_owned(), Value::Object(texts.collect()));
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
        holds: achieved.holds,
    }
}

/// What a table achieves.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub claims: Vec<Claim>,
    /// Over all quasi attributes.
    pub classes: ClassSizes,
    pub rows: u64,
}

impl Checked {
    pub fn holds(&self) -> bool {
        self.claims.iter().all(|claim| claim.holds)
    }
}

/// Judges a table as it stands: nothing may be suppressed. `place` names the table in errors.
pub fn check_table(table: &Table, quasi: &[String], rules: &[NamedRule], place: &str) -> Result<Checked, TableError> {
    check_counted(table, None, quasi, rules, place)
}

/// The same; where `counts` is present, each row stands for as many as it says.
pub fn check_counted(
    table: &Table,
    counts: Option<&[u32]>,
    quasi: &[String],
    rules: &[NamedRule],
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
            InputError::new(place, format!("there is no column `{name}`"), hint)
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
        bound.push(Rule {
            know: rule.know.iter().map(position).collect(),
            protect: rule.protect.as_ref().map(position),
            guarantees: rule.require.iter().map(guarantee).collect::<Result<_, InputError>>()?,
            source: None,
            tree: rule.tree.clone(),
        });
    }
    let Some(judge) = Judge::new(cardinalities, quasi.len(), bound, 0) else {
        return Err(TableError::input(place, "too many attributes to compare rows by", "name fewer quasi attributes"));
    };
    let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
    let (achieved, classes) = with_words!(judge.layout().words(), W => {
        let counted = judge.count_rows::<W>(&codes, table.rows, counts);
        let classes = counted.set.classes(&judge.layout().mask_of::<W>(0..quasi.len()));
        let sizes = ClassSizes::of(classes.sizes.iter().map(|&size| u64::from(size)));
        (judge.achieved(&counted), sizes)
    });
    let claims = rules.iter().zip(&achieved).flat_map(|(rule, achieved)| {
        rule.require.iter().zip(achieved).map(|(model, achieved)| rule.claim(model, achieved))
    });
    let rows = counts.map_or(table.rows as u64, |counts| counts.iter().map(|&count| u64::from(count)).sum());
    Ok(Checked { claims: claims.collect(), classes, rows })
}

/// Whole numbers as such; others to twelve places, towards the worse side so that a claim never
/// flatters.
fn rounded(measure: &Measure) -> Value {
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
