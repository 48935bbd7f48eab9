//! The classes of a release, and the risk of re-identification that follows: from
//! the released tables alone, so that any reader can recompute it.
//!
//! The prosecutor picks among the released rows that match a person's quasi-identifiers: 1 of f.
//! The mean over the rows is the marketer's share. What a journalist gains from suppressed rows
//! needs the source, and is measured against it. Where the release links the rows of a unit, the
//! prosecutor picks among the units whose rows are in the same classes, each as often.

use hashbrown::HashMap;
use hedgerow_release::generalized::Generalized;
use hedgerow_release::{Release, ReleaseTables, ReleasedClasses};
use hedgerow_table::TableError;
use serde::Serialize;

use crate::class_sizes::SizeDistribution;

/// Risks that people cite as limits: the European Medicines Agency's for clinical reports
/// (EMA/90915/2016), which writes 0.09 and means one of 11 people, and cells of 5, 11 and 20
/// people.
pub(crate) const CITED_LIMITS: [(&str, f64); 4] =
    [("k ≥ 5", 1.0 / 5.0), ("k ≥ 11", 1.0 / 11.0), ("EMA 0.09 (1/11)", 1.0 / 11.0), ("k ≥ 20", 1.0 / 20.0)];

/// One table of a release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReleasedTable {
    pub name: String,
    pub rows: u64,
    /// Whether the sizes are of buckets, whose rows and sensitive values are in two tables.
    pub buckets: bool,
    pub classes: SizeDistribution,
    pub risk: ReleasedRisk,
}

/// Chances of re-identification by the quasi-identifiers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReleasedRisk {
    pub highest: f64,
    /// Over all rows; the share of rows that a marketer links correctly.
    pub mean: f64,
    pub unique_rows: u64,
    /// The share of rows with at most this risk, ascending.
    pub distribution: Vec<RiskShare>,
    pub limits: Vec<LimitShare>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RiskShare {
    pub risk: f64,
    pub share: f64,
}

/// How many rows have a risk above a limit that people cite.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitShare {
    pub name: &'static str,
    pub limit: f64,
    pub share_above: f64,
}

/// Every table of a release.
pub fn released_risk(release: &Release) -> Result<Vec<ReleasedTable>, TableError> {
    let mut tables: Vec<ReleasedTable> =
        release.classes()?.iter().filter(|classes| !classes.is_empty()).map(of_table).collect();
    if let (ReleaseTables::Generalized(generalized), [table]) = (release.tables(), tables.as_mut_slice())
        && !generalized.units.is_empty()
    {
        table.risk = of_matching(&units_alike(generalized));
    }
    Ok(tables)
}

/// How many units have their rows in the same classes, each as often: the largest number first.
fn units_alike(tables: &Generalized) -> Vec<u64> {
    let table = &tables.table;
    let numbered = |names: &[String]| -> Vec<u32> {
        let columns: Vec<_> = names.iter().filter_map(|name| table.column(name)).collect();
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let number = |row: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(columns.iter().map(|column| column.codes.get(row)).collect()).or_insert(next)
        };
        (0..table.rows).map(number).collect()
    };
    let mut of_unit: HashMap<u32, Vec<u32>> = HashMap::new();
    for (unit, class) in numbered(&tables.units).into_iter().zip(numbered(&tables.quasi)) {
        of_unit.entry(unit).or_default().push(class);
    }
    let mut alike: HashMap<Vec<u32>, u64> = HashMap::new();
    for mut classes in of_unit.into_values() {
        classes.sort_unstable();
        *alike.entry(classes).or_default() += 1;
    }
    let mut alike: Vec<u64> = alike.into_values().collect();
    alike.sort_unstable_by(|a, b| b.cmp(a));
    alike
}

fn of_table(classes: &ReleasedClasses) -> ReleasedTable {
    let buckets = classes.buckets() < classes.len();
    let sizes = if buckets { &classes.bucket_sizes } else { &classes.sizes };
    let sizes: Vec<u64> = sizes.iter().map(|&size| u64::from(size)).filter(|&size| size > 0).collect();
    let mut matching: HashMap<&[u32], u64> = HashMap::new();
    for class in 0..classes.len() {
        *matching.entry(classes.cells(class)).or_default() += u64::from(classes.sizes[class]);
    }
    let mut matching: Vec<u64> = matching.into_values().filter(|&rows| rows > 0).collect();
    matching.sort_unstable_by(|a, b| b.cmp(a));
    ReleasedTable {
        name: classes.name.clone(),
        rows: classes.rows,
        buckets,
        classes: SizeDistribution::of(if sizes.is_empty() { &[0] } else { &sizes }),
        risk: of_matching(&matching),
    }
}

/// From the rows of every combination of quasi-identifiers, the largest first.
fn of_matching(matching: &[u64]) -> ReleasedRisk {
    let rows = matching.iter().sum::<u64>().max(1) as f64;
    let mut distribution = Vec::new();
    let mut up_to = 0;
    for same in matching.chunk_by(|a, b| a == b) {
        up_to += same.iter().sum::<u64>();
        distribution.push(RiskShare { risk: 1.0 / same[0] as f64, share: up_to as f64 / rows });
    }
    let share_above = |limit: f64| {
        let above = matching.iter().filter(|&&size| 1.0 / size as f64 > limit * (1.0 + 1e-12));
        above.sum::<u64>() as f64 / rows
    };
    ReleasedRisk {
        highest: matching.last().map_or(0.0, |&fewest| 1.0 / fewest as f64),
        mean: matching.len() as f64 / rows,
        unique_rows: matching.iter().filter(|&&size| size == 1).sum(),
        distribution: thinned(distribution),
        limits: CITED_LIMITS.map(|(name, limit)| LimitShare { name, limit, share_above: share_above(limit) }).to_vec(),
    }
}

/// At most this many steps of a distribution are kept.
const STEPS_MAX: usize = 200;

/// Few enough steps to draw: the first, the last, and those evenly between.
fn thinned(steps: Vec<RiskShare>) -> Vec<RiskShare> {
    let count = steps.len();
    if count <= STEPS_MAX {
        return steps;
    }
    (1..=STEPS_MAX).map(|place| steps[(place * count).div_ceil(STEPS_MAX) - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_as_exposed_as_the_rows_it_matches() {
        // One class of 8, one of 2.
        let risk = of_matching(&[8, 2]);
        assert_eq!((risk.highest, risk.mean, risk.unique_rows), (0.5, 0.2, 0));
        assert_eq!(risk.distribution, [(0.125, 0.8), (0.5, 1.0)].map(|(risk, share)| RiskShare { risk, share }));
        assert_eq!(risk.limits.iter().map(|limit| limit.share_above).collect::<Vec<_>>(), [0.2, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_class_of_eleven_keeps_its_limit_and_one_row_is_unique() {
        assert_eq!(of_matching(&[11]).limits[1].share_above, 0.0);
        assert_eq!(of_matching(&[11]).limits[2].share_above, 0.0, "the agency's 0.09 means 1/11");
        assert_eq!(of_matching(&[1]).unique_rows, 1);
        assert_eq!(of_matching(&[]).highest, 0.0);
    }

    #[test]
    fn many_steps_are_thinned_and_the_last_stays() {
        let sizes: Vec<u64> = (1..=1000).rev().collect();
        let risk = of_matching(&sizes);
        assert_eq!(risk.distribution.len(), STEPS_MAX);
        assert_eq!(risk.distribution.last().map(|step| (step.risk, step.share)), Some((1.0, 1.0)));
        assert!(risk.distribution.is_sorted_by(|a, b| a.risk < b.risk && a.share < b.share));
    }
}
