//! The audit: every adversary against some releases, alone and together. It trusts tables and never claims.

use hedgerow_table::release::classes::ReleasedClasses;
use hedgerow_table::release::open::Opened;
use hedgerow_table::{Table, TableError};
use serde_json::{Value, json};

use crate::adversaries::correlation::Weights;
use crate::adversaries::intersection::sub_tables;
use crate::adversaries::{
    attribute, composition, correlation, definetti, difference, independence, intersection, linker, minimality,
};
use crate::finding::Finding;
use crate::side_by_side::{Combination, Group, SideBySide};

/// What the caller chooses.
#[derive(Debug, Clone)]
pub struct AuditOptions<'a> {
    /// The people to look for: their quasi attributes, and their sensitive value where hits are to be told.
    pub people: Option<&'a Table>,
    /// By name; all when empty.
    pub adversaries: Vec<String>,
    /// Anybody left with fewer sensitive values is a breach; 2 when absent.
    pub l: Option<u64>,
    /// Anybody among fewer rows is a breach.
    pub k: Option<u64>,
    pub weights: Weights,
    /// Tell the whole probabilistic table of the independence adversary.
    pub table: bool,
}

impl Default for AuditOptions<'_> {
    fn default() -> Self {
        AuditOptions { people: None, adversaries: Vec::new(), l: None, k: None, weights: Weights::Exact, table: false }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    pub findings: Vec<Finding>,
    /// Where a release contradicts itself, and which.
    pub contradictions: Vec<(String, String)>,
    pub breach: bool,
}

impl Audited {
    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "adversaries": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
            "breach": self.breach,
        });
        if !self.contradictions.is_empty() {
            let told = self.contradictions.iter();
            object["contradictions"] =
                told.map(|(release, problem)| json!({ "release": release, "problem": problem })).collect();
        }
        object
    }
}

pub fn audit(releases: &[Opened], options: &AuditOptions<'_>) -> Result<Audited, TableError> {
    let wanted = |name: &str| options.adversaries.is_empty() || options.adversaries.iter().any(|wanted| wanted == name);
    let mut named: Vec<(String, &ReleasedClasses)> = Vec::new();
    for release in releases {
        for table in &release.tables {
            let name = if release.tables.len() == 1 {
                release.name.clone()
            } else {
                format!("{}/{}", release.name, table.name)
            };
            named.push((name, table));
        }
    }
    let tables: Vec<(&str, &ReleasedClasses)> = named.iter().map(|(name, table)| (name.as_str(), *table)).collect();
    let mut findings = Vec::new();
    for &(name, classes) in &tables {
        if wanted("linker") {
            findings.push(linker::run(name, classes, options.k.unwrap_or(2)));
        }
        for sensitive in &classes.sensitive {
            if wanted("attribute") {
                findings.push(attribute::run(name, classes, sensitive));
            }
            if wanted("definetti") && classes.len() > classes.buckets() {
                findings.push(definetti::run(name, classes, sensitive));
            }
        }
    }
    if wanted("minimality") {
        findings.extend(minimal(releases, options.people)?);
    }
    for protect in shared(&tables) {
        findings.extend(together(protect, &tables, options, &wanted)?);
    }
    // Only a custodian's own releases are about the same people but for those who came and went.
    if options.adversaries.iter().any(|name| name == "difference") {
        findings.extend(differences(&tables));
    }
    if wanted("intersection") {
        findings.extend(joins(releases, options.adversaries.iter().any(|name| name == "intersection")));
    }
    let contradictions: Vec<(String, String)> = releases
        .iter()
        .flat_map(|release| release.contradictions.iter().map(|problem| (release.name.clone(), problem.clone())))
        .collect();
    let breach = !contradictions.is_empty() || findings.iter().any(|finding| is_breach(finding, options));
    Ok(Audited { findings, contradictions, breach })
}

/// Releases of Mondrian, beside the people: what was asked of it is what its manifest says.
fn minimal(releases: &[Opened], people: Option<&Table>) -> Result<Vec<Finding>, TableError> {
    let mut findings = Vec::new();
    let Some(people) = people else { return Ok(findings) };
    for release in releases.iter().filter(|release| release.method == "mondrian") {
        let claims = release.manifest.as_ref().map_or(&[][..], |manifest| &manifest.hedgerow.guarantees);
        let asked = |model: &str, key: &str, protect: Option<&String>| {
            let of = claims.iter().filter(|claim| claim.model == model && claim.protect.as_ref() == protect);
            of.filter_map(|claim| claim.required.get(key)?.as_u64()).max().unwrap_or(1)
        };
        for table in &release.tables {
            for sensitive in &table.sensitive {
                let l = asked("distinct-l-diversity", "l", Some(&sensitive.name));
                let k = asked("k-anonymity", "k", None);
                let asked = minimality::Asked { k, l };
                findings.push(minimality::run(&release.name, table, sensitive, people, asked)?);
            }
        }
    }
    Ok(findings)
}

/// Each release against the one named before it.
fn differences(tables: &[(&str, &ReleasedClasses)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for pair in tables.windows(2) {
        for sensitive in &pair[1].1.sensitive {
            findings.extend(difference::run(pair[0], pair[1], &sensitive.name));
        }
    }
    findings
}

fn is_breach(finding: &Finding, options: &AuditOptions<'_>) -> bool {
    let few = |least: Option<u64>, wanted: u64| least.is_some_and(|least| least < wanted);
    match finding.adversary {
        "linker" => options.k.is_some_and(|k| few(finding.effective_k, k)),
        // What these believe rests on more than the release: it is told, and judged by people.
        "definetti" | "minimality" => false,
        _ => few(finding.effective_l, options.l.unwrap_or(2)),
    }
}

/// The sensitive attributes that at least two of the tables hold.
fn shared<'a>(tables: &[(&'a str, &'a ReleasedClasses)]) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        tables.iter().flat_map(|(_, table)| table.sensitive.iter().map(|sensitive| sensitive.name.as_str())).collect();
    names.sort_unstable();
    let mut shared: Vec<&str> =
        names.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect();
    shared.dedup();
    shared
}

fn together<'a>(
    protect: &'a str,
    tables: &[(&'a str, &'a ReleasedClasses)],
    options: &AuditOptions<'_>,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Finding>, TableError> {
    let mut beside = SideBySide::new(protect, tables);
    let groups = match options.people {
        Some(people) => vec![beside.people(people)?],
        None => beside.pairs(),
    };
    let mut findings = Vec::new();
    for group in &groups {
        if wanted("independence") {
            findings.push(independence::run(&beside, group, options.table));
        }
        if wanted("correlation") && options.people.is_some() {
            for (first, second) in pairs(group.sides.len()) {
                findings.push(correlation::run(&beside, group, [first, second], options.weights));
            }
        }
        if wanted("composition") {
            let mut finding = composition::run(&beside, group);
            if group.sides.len() > 2 {
                finding.details.insert("worst_pair".to_owned(), worst_pair(&beside, group));
            }
            findings.push(finding);
        }
    }
    Ok(findings)
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| (first, second)))
}

/// The two releases that leave the fewest values, or expose the most people.
fn worst_pair(beside: &SideBySide<'_>, group: &Group) -> Value {
    let findings = pairs(group.sides.len()).map(|(first, second)| {
        let combinations = group.combinations.iter().map(|combination| Combination {
            views: vec![combination.views[first], combination.views[second]],
            ..combination.clone()
        });
        let sides = vec![group.sides[first], group.sides[second]];
        composition::run(beside, &Group { sides, combinations: combinations.collect(), cut: group.cut })
    });
    let worst = findings.min_by_key(|finding| (finding.effective_l, u64::MAX - finding.at_risk));
    worst.map_or(
        Value::Null,
        |worst| json!({ "releases": worst.releases, "at_risk": worst.at_risk, "effective_l": worst.effective_l }),
    )
}

/// The sub-tables of each release joined; and, when asked for by name, those of all releases, as views of one custodian.
fn joins(releases: &[Opened], asked: bool) -> Vec<Finding> {
    let join = |name: Vec<String>, releases: &[&Opened]| {
        let tables: Option<Vec<_>> = releases
            .iter()
            .flat_map(|release| release.tables.iter().map(|table| (&release.name, table)))
            .map(|(name, table)| sub_tables(&format!("{name}/{}", table.name), table))
            .collect();
        match tables {
            Some(tables) => intersection::run(name, &tables.concat()),
            None => {
                let mut finding = Finding::new("intersection", name, None);
                let note =
                    "generalised cells do not compare value by value: lay them side by side instead (composition)";
                finding.notes.push(note.to_owned());
                finding
            }
        }
    };
    let mut findings: Vec<Finding> = releases
        .iter()
        .filter(|release| release.tables.len() > 1)
        .map(|release| join(vec![release.name.clone()], &[release]))
        .collect();
    if asked && releases.len() > 1 {
        let names = releases.iter().map(|release| release.name.clone()).collect();
        findings.push(join(names, &releases.iter().collect::<Vec<_>>()));
    }
    findings
}

#[cfg(test)]
mod tests;
