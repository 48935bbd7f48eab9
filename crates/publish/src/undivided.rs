//! Why the classes of a local recoding are as large as they are, as far as released table and rules
//! show it: which classes no method could divide, and because of which guarantee.
//!
//! Every part of a class must keep what a guarantee requires of rows and of different values
//! ([`Absorbing`]). Two parts need twice the rows, and twice the different values, where a value
//! that occurs once can be in one of them only. So a class below either cannot be divided, whatever
//! its rows are. Nor can one whose cells are all single values. Of the others the release alone
//! does not say why they were not divided: no cut may leave two sides that hold.

use std::cmp::Reverse;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::error::PublishError;
use hedgerow_privacy::{Absorbing, Guarantee, Judge};
use hedgerow_release::Release;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::Cover;
use serde::Serialize;
use serde_json::{Map, Value};

/// The largest classes that are listed.
const CLASSES_MAX: usize = 12;

/// Why classes were not divided further.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undivided {
    pub classes: u64,
    /// The guarantees that rule out any division, each with the classes it does so for. A class is
    /// counted for every such guarantee.
    pub settled_by: Vec<Settled>,
    /// Classes and rows that some guarantee rules out to divide, each counted once.
    pub settled: UndividedClasses,
    /// Classes whose cells are all single values, and that no guarantee settles.
    pub single_valued: UndividedClasses,
    /// All others: they were not divided because no cut that the method tried leaves sides that
    /// hold.
    pub open: UndividedClasses,
    pub attributes: Vec<Generalized>,
    /// The largest classes that are open.
    pub largest: Vec<OpenClass>,
}

/// A number of classes, and their number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct UndividedClasses {
    pub classes: u64,
    pub rows: u64,
}

/// A guarantee that keeps classes from being divided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settled {
    pub model: String,
    pub required: Map<String, Value>,
    pub protect: Option<String>,
    #[serde(flatten)]
    pub counted: UndividedClasses,
}

/// In how many classes an attribute is generalized.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Generalized {
    pub attribute: String,
    #[serde(flatten)]
    pub counted: UndividedClasses,
    /// Of these, in how many no division was possible.
    pub settled: u64,
}

/// A class that might have been divided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpenClass {
    pub cells: Map<String, Value>,
    pub rows: u64,
    /// The attributes that could be cut: their cells hold several values.
    pub wide: Vec<String>,
}

/// Explains the classes of a release that was made by local recoding.
pub fn undivided(bound: &Bound<'_>, release: &Release) -> Result<Option<Undivided>, PublishError> {
    let judge = bound.judge()?;
    let [classes] = release.classes()? else { return Ok(None) };
    let wide: Vec<Vec<bool>> =
        classes.quasi.iter().map(|quasi| quasi.covers.iter().map(|cover| !is_single(cover)).collect()).collect();
    let is_wide = |class: usize, attribute: usize| wide[attribute][classes.cells(class)[attribute] as usize];
    let mut settled_by: Vec<Settled> = Vec::new();
    let mut is_settled = vec![false; classes.len()];
    for (index, guarantee, protect) in over_all(bound, &judge) {
        let mut counted = UndividedClasses::default();
        for (class, is_settled) in is_settled.iter_mut().enumerate() {
            if !may_be_divided(classes, class, protect, guarantee.core()) {
                counted.add(classes.sizes[class]);
                *is_settled = true;
            }
        }
        let model = &bound.policy.rules[index.0].require[index.1];
        let (model, required) = (model.name().to_owned(), model.required());
        settled_by.push(Settled { model, required, protect: protect.map(str::to_owned), counted });
    }
    let (mut settled, mut single_valued, mut open) =
        (UndividedClasses::default(), UndividedClasses::default(), UndividedClasses::default());
    let mut largest: Vec<usize> = Vec::new();
    for (class, &rows) in classes.sizes.iter().enumerate() {
        if is_settled[class] {
            settled.add(rows);
        } else if (0..classes.quasi.len()).any(|attribute| is_wide(class, attribute)) {
            open.add(rows);
            largest.push(class);
        } else {
            single_valued.add(rows);
        }
    }
    largest.sort_by_key(|&class| (Reverse(classes.sizes[class]), classes.cells(class)));
    largest.truncate(CLASSES_MAX);
    let attributes = classes.quasi.iter().enumerate().map(|(attribute, quasi)| {
        let (mut counted, mut settled) = (UndividedClasses::default(), 0);
        for class in (0..classes.len()).filter(|&class| is_wide(class, attribute)) {
            counted.add(classes.sizes[class]);
            settled += u64::from(is_settled[class]);
        }
        Generalized { attribute: quasi.name.clone(), counted, settled }
    });
    let attributes = attributes.collect();
    let describe = |&class: &usize| OpenClass {
        cells: classes.describe(class).into_iter().map(|(name, label)| (name.to_owned(), label.into())).collect(),
        rows: u64::from(classes.sizes[class]),
        wide: (0..classes.quasi.len())
            .filter(|&attribute| is_wide(class, attribute))
            .map(|attribute| classes.quasi[attribute].name.clone())
            .collect(),
    };
    let largest = largest.iter().map(describe).collect();
    let classes = classes.len() as u64;
    Ok(Some(Undivided { classes, settled_by, settled, single_valued, open, attributes, largest }))
}

impl UndividedClasses {
    fn add(&mut self, rows: u32) {
        self.classes += 1;
        self.rows += u64::from(rows);
    }
}

/// The guarantees of rules that know every quasi attribute, by rule and place, each with what it
/// protects: under the others, released classes are united.
fn over_all<'a>(
    bound: &'a Bound<'_>,
    judge: &'a Judge,
) -> impl Iterator<Item = ((usize, usize), &'a dyn Guarantee, Option<&'a str>)> {
    let quasi = bound.quasi.len();
    let rules = judge.rules().iter().enumerate();
    let knows_all = move |know: &[usize]| (0..quasi).all(|attribute| know.contains(&attribute));
    rules.filter(move |(_, rule)| knows_all(&rule.know)).flat_map(move |(index, rule)| {
        let protect = bound.policy.rules[index].protect.as_deref();
        let guarantees = rule.guarantees.iter().enumerate();
        guarantees.map(move |(place, guarantee)| ((index, place), guarantee.as_ref(), protect))
    })
}

/// Whether two parts could each have the rows and the different values that are required.
fn may_be_divided(classes: &ReleasedClasses, class: usize, protect: Option<&str>, needed: Absorbing) -> bool {
    if u64::from(classes.sizes[class]) < needed.rows.saturating_mul(2) {
        return false;
    }
    let Some(values) = protect.and_then(|name| classes.sensitive(name)) else { return true };
    let in_two_parts: u64 = values.of_bucket(classes.bucket_of[class]).iter().map(|&(_, n)| u64::from(n.min(2))).sum();
    needed.distinct <= 1 || in_two_parts >= needed.distinct.saturating_mul(2)
}

fn is_single(cover: &Cover) -> bool {
    match cover {
        Cover::Missing | Cover::Point(_) => true,
        Cover::Leaves(leaves) => leaves.len() <= 1,
        Cover::Everything | Cover::Interval { .. } => false,
    }
}
