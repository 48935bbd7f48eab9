//! Recomputes guarantees from a released table, by its own bytes and nothing else.

use hedgerow_release::manifest::{Claim, ClassSizes};
use hedgerow_table::frequency::{FrequencySet, Layout};
use hedgerow_table::{Codes, InputError, Table, TableError, with_words};
use serde_json::{Map, Value, json};

use hedgerow_privacy::guarantee::Measure;
use hedgerow_privacy::judge::Achieved;
use hedgerow_privacy::{Judge, Model, Rule, Tree, models};

/// A rule in terms of a table's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRule {
    pub know: Vec<String>,
    pub protect: Option<String>,
    pub require: Vec<Model>,
    /// The protected attribute's hierarchy over the table's own domain, where a model asks for it.
    pub tree: Option<Tree>,
}

/// What a table reaches.
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

/// Judges a table as it stands: nothing may be left out. `place` names the table in errors.
pub fn check_table(table: &Table, quasi: &[String], rules: &[NamedRule], place: &str) -> Result<Checked, TableError> {
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
    let Some(layout) = Layout::new(&cardinalities) else {
        return Err(TableError::input(place, "too many attributes to compare rows by", "name fewer quasi attributes"));
    };
    let position = |name: &String| names.iter().position(|known| known == name).expect("collected above");
    let mut bound = Vec::with_capacity(rules.len());
    for rule in rules {
        let domain = rule.protect.as_ref().map(|name| &columns[position(name)].domain);
        let guarantee = |model: &Model| {
            models::guarantee(model, domain, rule.tree.as_ref())
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
    let judge = Judge::new(layout, cardinalities, bound, 0);
    let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
    let (achieved, classes) = with_words!(judge.layout().words(), W => {
        let set = FrequencySet::<W>::of_rows(judge.layout(), &codes, table.rows);
        let classes = set.classes(&judge.layout().mask_of::<W>(0..quasi.len()));
        let sizes = ClassSizes::of(classes.sizes.iter().map(|&size| u64::from(size)));
        (judge.achieved(&set, &vec![true; set.len()]), sizes)
    });
    let claims = rules.iter().zip(&achieved).flat_map(|(rule, achieved)| {
        rule.require
            .iter()
            .zip(achieved)
            .map(|(model, achieved)| claim(model, &rule.know, rule.protect.as_ref(), achieved))
    });
    Ok(Checked { claims: claims.collect(), classes, rows: table.rows as u64 })
}

/// A guarantee as a manifest and a report tell it.
pub fn claim(model: &Model, know: &[String], protect: Option<&String>, achieved: &Achieved) -> Claim {
    Claim {
        model: model.name().to_owned(),
        required: model.required(),
        achieved: achieved
            .measures
            .iter()
            .map(|measure| (measure.name.to_owned(), rounded(measure)))
            .collect::<Map<_, _>>(),
        know: know.to_vec(),
        protect: protect.filter(|_| model.needs_protect()).cloned(),
        holds: achieved.holds,
    }
}

/// Distribution numbers as such; others to twelve places, towards the worse side so that a claim never flatters.
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
