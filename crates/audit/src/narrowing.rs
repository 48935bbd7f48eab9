//! How releases narrow down a person's sensitive value, release by release: what each of the
//! combined classes leaves by itself. From the released tables alone.

use hedgerow_release::{Release, ReleasedClasses};
use hedgerow_table::TableError;
use serde::Serialize;

use crate::finding::{Exposure, Finding, ReleaseCells};

/// The way to what is left for some people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Narrowing {
    pub protect: String,
    /// People, or rows, whose cells these are.
    pub people: u64,
    pub steps: Vec<NarrowingStep>,
    /// The values that all releases leave together.
    pub left: Vec<String>,
}

/// One release's class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NarrowingStep {
    pub release: String,
    pub cells: serde_json::Map<String, serde_json::Value>,
    /// Rows of the class; of its bucket, where sensitive values are in buckets.
    pub rows: u64,
    /// The sensitive values that occur there.
    pub values: Vec<String>,
}

/// The ways behind a finding's worst exposures that combine several releases.
pub fn narrowings(releases: &[Release], finding: &Finding) -> Result<Vec<Narrowing>, TableError> {
    let Some(protect) = finding.protect.as_deref() else { return Ok(Vec::new()) };
    let mut tables: Vec<(String, &ReleasedClasses)> = Vec::new();
    for release in releases {
        let classes = release.classes()?;
        for table in classes {
            let name = if classes.len() == 1 {
                release.name().to_owned()
            } else {
                format!("{}/{}", release.name(), table.name)
            };
            tables.push((name, table));
        }
    }
    let several = finding.worst.iter().filter(|exposure| exposure.cells.len() > 1);
    Ok(several.filter_map(|exposure| narrowing(&tables, protect, exposure)).collect())
}

fn narrowing(tables: &[(String, &ReleasedClasses)], protect: &str, exposure: &Exposure) -> Option<Narrowing> {
    let mut left: Option<Vec<String>> = None;
    let mut steps = Vec::new();
    for ReleaseCells { release, cells } in &exposure.cells {
        let (_, table) = tables.iter().find(|(name, _)| name == release)?;
        let sensitive = table.sensitive(protect)?;
        let is_here = |class: &usize| {
            let labels = table.describe(*class);
            cells.iter().all(|(name, label)| labels.contains(&(name.as_str(), label.as_str())))
        };
        let class = (0..table.len()).find(is_here)?;
        let bucket = table.bucket_of[class];
        let values = sensitive.of_bucket(bucket).iter().map(|&(value, _)| sensitive.values[value as usize].clone());
        let values: Vec<String> = values.collect();
        match &mut left {
            Some(left) => left.retain(|value| values.contains(value)),
            None => left = Some(values.clone()),
        }
        let cells = cells.iter().map(|(name, label)| (name.clone(), label.as_str().into())).collect();
        let rows = u64::from(table.bucket_sizes[bucket as usize]);
        steps.push(NarrowingStep { release: release.clone(), cells, rows, values });
    }
    Some(Narrowing { protect: protect.to_owned(), people: exposure.people, steps, left: left? })
}
