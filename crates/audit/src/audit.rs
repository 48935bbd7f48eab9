//! The audit: every adversary against some releases, alone and together. It trusts tables and never
//! claims.

use std::borrow::Borrow;

use hedgerow_release::{Release, ReleasedClasses};
use hedgerow_table::{Table, TableError};
use serde::Serialize;

use crate::adversaries::correlation::Weights;
use crate::adversaries::minimality::HowMade;
use crate::adversaries::{
    attribute, composition, correlation, definetti, difference, independence, intersection, linker, minimality,
};
use crate::combined_view::{CombinedView, Group, pairs};
use crate::finding::{Finding, Needs, WorstPair};
use crate::kinds::{Joinable, kind};
use crate::unread::unread_labels;

/// What the caller chooses.
#[derive(Debug, Clone)]
pub struct AuditOptions<'a> {
    /// The people to look for: their quasi-identifiers, and their sensitive value where hits are to
    /// be counted.
    pub people: Option<&'a Table>,
    /// By name; all when empty.
    pub adversaries: Vec<String>,
    /// Only those who conclude from the tables alone ([`CERTAIN`]): neither by the likeliest model
    /// nor by how a release was made.
    pub certain_only: bool,
    /// Anybody left with fewer sensitive values is a breach; 2 when absent.
    pub l: Option<u64>,
    /// Anybody among fewer rows is a breach.
    pub k: Option<u64>,
    /// A higher confidence in anybody's sensitive value is a breach, also that of adversaries who
    /// can only believe. The linker's confidence is about rows: `k` limits it.
    pub confidence: Option<f64>,
    pub weights: Weights,
    /// Report the probabilistic table of the independence adversary.
    pub table: bool,
    /// Releases of one custodian, by position, oldest first: about the same people but for those
    /// who came and went.
    pub own: Vec<Vec<usize>>,
    /// How the releases were made, where a policy says it.
    pub made: Option<HowMade<'a>>,
}

impl Default for AuditOptions<'_> {
    fn default() -> Self {
        AuditOptions {
            people: None,
            adversaries: Vec::new(),
            certain_only: false,
            l: None,
            k: None,
            confidence: None,
            weights: Weights::Exact,
            table: false,
            own: Vec::new(),
            made: None,
        }
    }
}

/// The adversaries who rule out what the tables rule out. What they leave to nobody is a breach by
/// itself.
pub const CERTAIN: [&str; 6] =
    ["attribute", "independence", "correlation", "composition", "difference", "intersection"];

/// What the audit found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audited {
    #[serde(rename = "adversaries")]
    pub findings: Vec<Finding>,
    pub breach: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
    /// Labels of foreign tables that could not be read, each with the name of its table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Whether people were looked for; else rows and cells were counted.
    #[serde(skip)]
    pub people_named: bool,
}

/// Where a release contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    pub release: String,
    pub problem: String,
}

pub fn audit<R: Borrow<Release>>(releases: &[R], options: &AuditOptions<'_>) -> Result<Audited, TableError> {
    let releases: Vec<&Release> = releases.iter().map(R::borrow).collect();
    let mut with_classes: Vec<Opened<'_>> = Vec::new();
    for release in releases {
        with_classes.push(Opened { release, name: release.name(), tables: release.classes()? });
    }
    let warnings = unread_labels(&with_classes, options.people)?;
    Ok(Audited { warnings, ..run(&with_classes, options)? })
}

/// A release with its classes.
pub(crate) struct Opened<'a> {
    pub(crate) release: &'a Release,
    pub(crate) name: &'a str,
    pub(crate) tables: &'a [ReleasedClasses],
}

fn run(releases: &[Opened<'_>], options: &AuditOptions<'_>) -> Result<Audited, TableError> {
    let wanted = |name: &str| {
        let named = options.adversaries.is_empty() || options.adversaries.iter().any(|wanted| wanted == name);
        named && (!options.certain_only || CERTAIN.contains(&name))
    };
    let requested = |name: &str| options.adversaries.iter().any(|requested| requested == name);
    let mut named: Vec<(String, &ReleasedClasses)> = Vec::new();
    let mut all_rows: Vec<Option<ReleasedClasses>> = Vec::new();
    for release in releases {
        let mut more = kind(release.release).all_rows(release.release)?.into_iter();
        for table in release.tables {
            all_rows.push(more.next().flatten());
            let name = if release.tables.len() == 1 {
                release.name.to_owned()
            } else {
                format!("{}/{}", release.name, table.name)
            };
            named.push((name, table));
        }
    }
    let tables: Vec<(&str, &ReleasedClasses)> = named.iter().map(|(name, table)| (name.as_str(), *table)).collect();
    let mut findings = Vec::new();
    for (&(name, classes), all_rows) in tables.iter().zip(&all_rows) {
        if wanted("linker") {
            let classes = all_rows.as_ref().unwrap_or(classes);
            findings.push(linker::run(name, classes, options.people, options.k.unwrap_or(2))?);
        }
        for sensitive in &classes.sensitive {
            if wanted("attribute") {
                findings.push(attribute::run(name, classes, sensitive, options.people)?);
            }
            if wanted("definetti") && (requested("definetti") || classes.len() > classes.buckets()) {
                findings.push(definetti::run(name, classes, sensitive, options.people)?);
            }
        }
    }
    if wanted("minimality") {
        findings.extend(minimal(releases, options, requested("minimality"))?);
    }
    for protect in shared(&tables) {
        findings.extend(together(protect, &tables, options, &wanted)?);
    }
    if wanted("difference") {
        findings.extend(differences(releases, options, requested("difference")));
    }
    if wanted("intersection") {
        findings.extend(joins(releases, requested("intersection"))?);
    }
    let contradictions: Vec<Contradiction> = releases.iter().flat_map(contradictions_of).collect();
    for finding in &mut findings {
        finding.limit_confidence(options.confidence.filter(|_| finding.adversary != "linker"));
        finding.breach = is_breach(finding, options);
    }
    let breach = !contradictions.is_empty() || findings.iter().any(|finding| finding.breach);
    Ok(Audited { findings, contradictions, warnings: Vec::new(), breach, people_named: options.people.is_some() })
}

fn contradictions_of(release: &Opened<'_>) -> impl Iterator<Item = Contradiction> {
    let problems = release.release.contradictions().iter();
    problems.map(|problem| Contradiction { release: release.name.to_owned(), problem: problem.clone() })
}

/// Releases whose method is known to generalize only as far as needed; what was required of it is
/// what the manifest says.
fn minimal(releases: &[Opened<'_>], options: &AuditOptions<'_>, requested: bool) -> Result<Vec<Finding>, TableError> {
    let mut findings = Vec::new();
    for release in releases {
        let Some(manifest) = release.release.manifest() else { continue };
        let known = options.people.is_some() && matches!(release.release.method(), "mondrian" | "full-domain");
        for table in release.tables.iter().filter(|_| requested || known) {
            for sensitive in &table.sensitive {
                findings.push(minimality::run(
                    release.name,
                    release.release.method(),
                    &manifest.hedgerow.guarantees,
                    table,
                    sensitive,
                    options.people,
                    options.made,
                )?);
            }
        }
    }
    Ok(findings)
}

/// A custodian's own releases, each against the one before it; all of them, when that is requested
/// by name.
fn differences(releases: &[Opened<'_>], options: &AuditOptions<'_>, requested: bool) -> Vec<Finding> {
    let everything = vec![(0..releases.len()).collect()];
    let custodians: &[Vec<usize>] = if requested && options.own.is_empty() { &everything } else { &options.own };
    let mut findings = Vec::new();
    for pair in custodians.iter().flat_map(|own| own.windows(2)) {
        let [older, newer] = [&releases[pair[0]], &releases[pair[1]]];
        for (old, new) in older.tables.iter().zip(newer.tables) {
            for sensitive in &new.sensitive {
                findings.extend(difference::run((older.name, old), (newer.name, new), &sensitive.name));
            }
        }
    }
    findings
}

fn is_breach(finding: &Finding, options: &AuditOptions<'_>) -> bool {
    let few = |least: Option<u64>, wanted: u64| least.is_some_and(|least| least < wanted);
    let values = options.l.unwrap_or(2);
    let confident = options.confidence.is_some_and(|limit| finding.max_confidence > limit);
    match finding.adversary {
        "linker" => options.k.is_some_and(|k| few(finding.effective_k, k)),
        // What these believe rests on more than the release: it is reported, and judged by people.
        "definetti" | "minimality" => confident,
        _ => {
            let pair = finding.worst_pair.as_ref().and_then(|pair| pair.effective_l);
            few(finding.effective_l, values) || few(pair, values) || confident
        }
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
    let mut combined = CombinedView::new(protect, tables);
    let (all, two) = match options.people {
        Some(people) => {
            let all = combined.people(people)?;
            let two = if all.sides.len() > 2 {
                pairs(all.sides.len()).map(|pair| all.only(pair)).collect()
            } else {
                Vec::new()
            };
            (all, two)
        }
        None => combined.cells(),
    };
    let mut findings = Vec::new();
    if wanted("independence") {
        let mut finding = independence::run(&combined, &all, options.table);
        finding.worst_pair = worst_pair(&two, |pair| independence::run(&combined, pair, false));
        findings.push(finding);
    }
    if wanted("correlation") && options.people.is_some() {
        findings.extend(pairs(all.sides.len()).map(|pair| correlation::run(&combined, &all, pair, options.weights)));
    } else if options.adversaries.iter().any(|name| name == "correlation") {
        let mut finding = Finding::new("correlation", combined.names(&all.sides), Some(protect));
        finding.note_needs(Needs::People, "this adversary knows how many people are in each two cells");
        findings.push(finding);
    }
    if wanted("composition") {
        let mut finding = composition::run(&combined, &all);
        finding.worst_pair = worst_pair(&two, |pair| composition::run(&combined, pair));
        findings.push(finding);
    }
    for finding in &mut findings {
        finding.count_below(options.l);
    }
    Ok(findings)
}

/// The two releases that leave the fewest values, or expose the most people.
fn worst_pair(two: &[Group], run: impl Fn(&Group) -> Finding) -> Option<WorstPair> {
    let found = two.iter().map(run).filter(|finding| finding.effective_l.is_some());
    let worst = found.min_by_key(|finding| (finding.effective_l, u64::MAX - finding.at_risk))?;
    Some(WorstPair { releases: worst.releases, at_risk: worst.at_risk, effective_l: worst.effective_l })
}

/// The tables of each release joined; and, when requested by name, those of all releases, as views
/// of one custodian. Every table takes part whose labels are values, also one that hides nothing.
fn joins(releases: &[Opened<'_>], requested: bool) -> Result<Vec<Finding>, TableError> {
    let join = |names: Vec<String>, releases: &[&Opened<'_>]| {
        let mut all = Joinable::default();
        for release in releases {
            let found = kind(release.release).joinable(release.release)?;
            all.tables.extend(found.tables);
            all.generalized.extend(found.generalized);
        }
        let mut finding = match all.tables.len() {
            0 | 1 => Finding::new("intersection", names, None),
            _ => intersection::run(names, &all.tables),
        };
        if !all.generalized.is_empty() {
            let tables = all.generalized.join(", ");
            finding.note(format!(
                "generalized cells do not compare value by value: composition combines them instead ({tables})"
            ));
        }
        Ok(finding)
    };
    let several = releases.iter().filter(|release| release.tables.len() > 1);
    let mut findings: Vec<Finding> =
        several.map(|release| join(vec![release.name.to_owned()], &[release])).collect::<Result<_, TableError>>()?;
    if requested && releases.len() > 1 {
        let names = releases.iter().map(|release| release.name.to_owned()).collect();
        findings.push(join(names, &releases.iter().collect::<Vec<_>>())?);
    }
    Ok(findings)
}

#[cfg(test)]
mod tests;
