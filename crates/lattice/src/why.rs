//! Why a full-domain release is as coarse as it is: for every generalized attribute what one level
//! less would break, and for every suppressed group which guarantee it broke and which classes were
//! nearest. It describes private rows and is for the custodian alone.

use std::cmp::Reverse;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::error::PublishError;
use hedgerow_privacy::Judge;
use hedgerow_privacy::judge::{Achieved, Finest};
use hedgerow_table::{Codes, Progress, with_words};
use hedgerow_verify::check::claim;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::full_domain::codes_at;

/// The largest groups that are described.
const GROUPS_MAX: usize = 12;
/// Classes that are named as nearest to a group.
const NEAREST_MAX: usize = 2;

/// Why a release is as coarse as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// For every attribute above level 0, what one level less would mean.
    pub finer: Vec<Finer>,
    /// How many groups of rows were suppressed.
    pub groups: u64,
    /// The largest of them.
    pub suppressed: Vec<SuppressedGroup>,
}

/// One attribute on one level less.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finer {
    /// The attribute.
    pub attribute: String,
    /// One less than the level in the release.
    pub level: u8,
    /// Whether every rule would hold there, with suppression as the policy allows it.
    pub holds: bool,
    /// Rows that would be suppressed, where it holds.
    pub suppressed: Option<u64>,
    /// The guarantees that classes break there, before any row is suppressed.
    pub breaks: Vec<Broken>,
}

/// A guarantee that some classes break.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Broken {
    /// The privacy model.
    pub model: String,
    /// The parameters in the policy.
    pub required: Map<String, Value>,
    /// The strongest parameters that hold.
    pub achieved: Map<String, Value>,
    /// The protected attribute; `None` for models that protect none.
    pub protect: Option<String>,
    /// Rows in the classes that break it.
    pub rows: u64,
}

/// Suppressed rows that agree on every quasi attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuppressedGroup {
    /// The value of each quasi-identifier, on the levels of the release.
    pub cells: Map<String, Value>,
    /// The number of rows.
    pub rows: u64,
    /// Empty where the group broke nothing by itself, but after others were suppressed.
    pub breaks: Vec<Broken>,
    /// Classes that were released and differ from the group in the fewest attributes.
    pub nearest: Vec<NearClass>,
}

/// A released class near a suppressed group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearClass {
    /// The label of each quasi-identifier.
    pub cells: Map<String, Value>,
    /// The number of rows.
    pub rows: u64,
    /// The attributes in which it differs.
    pub differs: Vec<String>,
}

/// Explains the release at these levels. It can be canceled between two of them.
pub fn why(bound: &Bound<'_>, levels: &[u8], progress: &dyn Progress) -> Result<Why, PublishError> {
    let judge = bound.judge()?;
    let raised: Vec<usize> = (0..levels.len()).filter(|&attribute| levels[attribute] > 0).collect();
    progress.stage("explaining", Some(raised.len() as u64 + 1));
    let finer = raised.into_iter().map(|attribute| {
        progress.check()?;
        let mut lower = levels.to_vec();
        lower[attribute] -= 1;
        let finer = finer(bound, &judge, attribute, &lower);
        progress.advance(1);
        Ok(finer)
    });
    let finer = finer.collect::<Result<_, PublishError>>()?;
    let (groups, suppressed) = suppressed(bound, &judge, levels);
    Ok(Why { finer, groups, suppressed })
}

fn finer(bound: &Bound<'_>, judge: &Judge, attribute: usize, levels: &[u8]) -> Finer {
    let columns = codes_at(bound, levels);
    let columns: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
    let (verdict, breaks) = with_words!(judge.layout().words(), W => {
        let table = judge.count_rows::<W>(&columns, bound.table.rows, bound.row_counts()).on_levels(levels);
        (judge.judge_counted(&table), broken(bound, judge, &table, |_| vec![true; table.set.len()]))
    });
    Finer {
        attribute: bound.quasi[attribute].attribute.name.clone(),
        level: levels[attribute],
        holds: verdict.kept.is_some(),
        suppressed: verdict.kept.is_some().then_some(verdict.suppressed),
        breaks,
    }
}

/// The guarantees that fail among some entries, which may differ from rule to rule.
fn broken<const W: usize>(
    bound: &Bound<'_>,
    judge: &Judge,
    table: &Finest<W>,
    among: impl Fn(&[usize]) -> Vec<bool>,
) -> Vec<Broken> {
    let mut all = Vec::new();
    let mut known: Vec<(&[usize], Vec<Vec<Achieved>>)> = Vec::new();
    for (index, rule) in bound.policy.rules.iter().enumerate() {
        let know = judge.rules()[index].know.as_slice();
        if known.iter().all(|(other, _)| *other != know) {
            known.push((know, judge.achieved_among(table, &among(know))));
        }
        let achieved = known.iter().find(|(other, _)| *other == know).map(|(_, achieved)| &achieved[index]);
        for (model, achieved) in
            rule.require.iter().zip(achieved.into_iter().flatten()).filter(|(_, found)| !found.holds)
        {
            let claim = claim(model, &rule.know, rule.protect.as_ref(), achieved);
            all.push(Broken {
                model: claim.model,
                required: claim.required,
                achieved: claim.achieved,
                protect: claim.protect,
                rows: achieved.failing_rows,
            });
        }
    }
    all
}

fn suppressed(bound: &Bound<'_>, judge: &Judge, levels: &[u8]) -> (u64, Vec<SuppressedGroup>) {
    let columns = codes_at(bound, levels);
    let columns: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
    with_words!(judge.layout().words(), W => {
        let table = judge.count_rows::<W>(&columns, bound.table.rows, bound.row_counts()).on_levels(levels);
        groups(bound, judge, levels, &table)
    })
}

fn groups<const W: usize>(
    bound: &Bound<'_>,
    judge: &Judge,
    levels: &[u8],
    table: &Finest<W>,
) -> (u64, Vec<SuppressedGroup>) {
    let Some(kept) = judge.judge_counted(table).kept else { return (0, Vec::new()) };
    let (set, layout) = (&table.set, judge.layout());
    let quasi = 0..bound.quasi.len();
    let classes = set.classes(&layout.mask_of::<W>(quasi.clone()));
    let mut rows = vec![[0u64; 2]; classes.sizes.len()];
    let mut first_entry = vec![0usize; classes.sizes.len()];
    for (entry, &class) in classes.of_entry.iter().enumerate() {
        rows[class as usize][usize::from(kept[entry])] += u64::from(set.counts()[entry]);
        first_entry[class as usize] = entry;
    }
    let codes = |class: usize| -> Vec<u32> {
        let key = &set.keys()[first_entry[class]];
        quasi.clone().map(|attribute| layout.field(attribute).get(key)).collect()
    };
    let cells = |class: usize| -> Map<String, Value> {
        let label = |(quasi, (&level, code)): (&hedgerow_draft::bind::Quasi<'_>, (&u8, u32))| {
            let label = &quasi.hierarchy.levels()[level as usize].labels[code as usize];
            (quasi.attribute.name.clone(), Value::from(label.text.as_str()))
        };
        bound.quasi.iter().zip(levels.iter().zip(codes(class))).map(label).collect()
    };
    let mut out: Vec<usize> = (0..rows.len()).filter(|&class| rows[class][0] > 0).collect();
    out.sort_by_key(|&class| (Reverse(rows[class][0]), codes(class)));
    let count = out.len() as u64;
    let released: Vec<(usize, Vec<u32>)> =
        (0..rows.len()).filter(|&class| rows[class][1] > 0).map(|class| (class, codes(class))).collect();
    let describe = |&class: &usize| {
        let own = codes(class);
        let key = set.keys()[first_entry[class]];
        let alike = |know: &[usize]| -> Vec<bool> {
            let fields: Vec<_> = know.iter().map(|&attribute| layout.field(attribute)).collect();
            set.keys().iter().map(|other| fields.iter().all(|field| field.get(other) == field.get(&key))).collect()
        };
        let differs = |other: &[u32]| own.iter().zip(other).filter(|(own, other)| own != other).count();
        let mut near: Vec<(usize, Reverse<u64>, usize)> =
            released.iter().map(|(other, codes)| (differs(codes), Reverse(rows[*other][1]), *other)).collect();
        near.sort_unstable();
        let nearest = near.iter().take(NEAREST_MAX).map(|&(_, _, other)| {
            let names = bound.quasi.iter().zip(own.iter().zip(codes(other)));
            let differs = names.filter(|(_, (own, other))| *own != other);
            NearClass {
                cells: cells(other),
                rows: rows[other][1],
                differs: differs.map(|(quasi, _)| quasi.attribute.name.clone()).collect(),
            }
        });
        SuppressedGroup {
            cells: cells(class),
            rows: rows[class][0],
            breaks: broken(bound, judge, table, alike),
            nearest: nearest.collect(),
        }
    };
    (count, out.iter().take(GROUPS_MAX).map(describe).collect())
}
