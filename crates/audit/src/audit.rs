//! The audit: every adversary against some releases, alone and together. It trusts tables and never
//! claims.

mod shown_rows;
mod together;

use std::borrow::Borrow;

use hashbrown::HashSet;
use hedgerow_release::{JointShare, Release, ReleaseTables, ReleasedClasses};
use hedgerow_table::{NoProgress, Progress, Table, TableError};
use serde::Serialize;

use self::shown_rows::rows_of;
use self::together::{shared, together};
use crate::Adversary;
use crate::adversaries::correlation::Weights;
use crate::adversaries::intersection::Question;
use crate::adversaries::minimality::HowMade;
use crate::adversaries::worlds::{Attacker, Columns, Released};
use crate::adversaries::{attribute, consistency, definetti, difference, intersection, linker, minimality, worlds};
use crate::finding::Finding;
use crate::kinds::{Joinable, kind};
use crate::linked::{Linked, ROWS_COUNTED, ROWS_COUNTED_LINKED};
use crate::people::is_known;
use crate::unread::unread_labels;

/// The options of an audit.
#[derive(Debug, Clone)]
pub struct AuditOptions<'a> {
    /// The people to look for: their quasi-identifiers, and their sensitive value where hits are to
    /// be counted.
    pub people: Option<&'a Table>,
    /// All when empty.
    pub adversaries: Vec<Adversary>,
    /// Only those who conclude from the tables alone ([`CERTAIN`]): neither by the likeliest model
    /// nor by how a release was made.
    pub certain_only: bool,
    /// A person left with fewer sensitive values is a breach; 2 when absent.
    pub l: Option<u64>,
    /// Of these sensitive attributes, fewer values than this are a breach, where it is more than
    /// `l`.
    pub required: Vec<(String, u64)>,
    /// A person who matches fewer rows is a breach.
    pub k: Option<u64>,
    /// A higher confidence in a person's sensitive value is a breach, also that of adversaries who
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
    /// The attacker's knowledge of columns that the people's table lacks.
    pub columns: Columns,
    /// How likely each sensitive value is beforehand, by its text, for the worlds that are counted;
    /// every world counts the same when empty.
    pub prior: Vec<(String, f64)>,
    /// Known relations between attributes of several releases, for an attacker who has no list
    /// of people: with people, such an attacker is one more.
    pub joint: Vec<JointShare>,
    pub progress: &'a dyn Progress,
}

impl Default for AuditOptions<'_> {
    fn default() -> Self {
        AuditOptions {
            people: None,
            adversaries: Vec::new(),
            certain_only: false,
            l: None,
            required: Vec::new(),
            k: None,
            confidence: None,
            weights: Weights::Exact,
            table: false,
            own: Vec::new(),
            made: None,
            columns: Columns::Listed,
            prior: Vec::new(),
            joint: Vec::new(),
            progress: &NoProgress,
        }
    }
}

/// The adversaries who rule out only what the tables rule out. They do not guess: what they leave
/// to a person is all that can be true.
pub const CERTAIN: [Adversary; 8] = [
    Adversary::Attribute,
    Adversary::Independence,
    Adversary::Correlation,
    Adversary::Composition,
    Adversary::Difference,
    Adversary::Intersection,
    Adversary::Consistency,
    Adversary::Worlds,
];

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audited {
    /// The finding of each adversary.
    #[serde(rename = "adversaries")]
    pub findings: Vec<Finding>,
    /// When true, the exit code of the command is 4.
    pub breach: bool,
    /// Statements of releases that exclude each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
    /// Labels of foreign tables that could not be read, each with the name of its table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The assumption about who is in which release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<String>,
    /// Whether people were looked for; else rows and cells were counted.
    #[serde(skip)]
    pub people_named: bool,
}

/// Where a release contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// The release's name.
    pub release: String,
    /// Two statements that exclude each other.
    pub problem: String,
}

pub fn audit<R: Borrow<Release>>(releases: &[R], options: &AuditOptions<'_>) -> Result<Audited, TableError> {
    let releases: Vec<&Release> = releases.iter().map(R::borrow).collect();
    let mut with_classes: Vec<OpenedRelease<'_>> = Vec::new();
    for release in releases {
        with_classes.push(OpenedRelease { release, name: release.name(), tables: release.classes()? });
    }
    let warnings = unread_labels(&with_classes, options.people)?;
    Ok(Audited { warnings, ..run(&with_classes, options)? })
}

/// A release with its classes.
pub(crate) struct OpenedRelease<'a> {
    pub(crate) release: &'a Release,
    pub(crate) name: &'a str,
    pub(crate) tables: &'a [ReleasedClasses],
}

fn run(releases: &[OpenedRelease<'_>], options: &AuditOptions<'_>) -> Result<Audited, TableError> {
    let requested = |adversary: Adversary| options.adversaries.contains(&adversary);
    let wanted = |adversary: Adversary| {
        let named = options.adversaries.is_empty() || requested(adversary);
        named && (!options.certain_only || CERTAIN.contains(&adversary))
    };
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
    // Of other tables the attacker knows columns that the list lacks: their rows are looked at.
    let is_looked_at = |classes: &ReleasedClasses| {
        options.columns == Columns::All && options.people.is_some_and(|people| !is_known(classes, people))
    };
    let of_table = releases.iter().flat_map(|release| release.tables.iter().map(move |_| release.release));
    for ((&(name, classes), all_rows), release) in tables.iter().zip(&all_rows).zip(of_table) {
        let people = options.people.filter(|_| !is_looked_at(classes));
        let linked = Linked::of(release, classes);
        if wanted(Adversary::Linker) {
            let k = options.k.unwrap_or(2);
            findings.push(match &linked {
                Some(linked) => linker::run_linked(name, classes, linked, people, k)?,
                None => linker::run(name, all_rows.as_ref().unwrap_or(classes), people, k)?,
            });
        }
        for sensitive in &classes.sensitive {
            if wanted(Adversary::Attribute) {
                let over_units = linked.as_ref().filter(|_| people.is_none());
                let over_units =
                    over_units.and_then(|linked| attribute::run_linked(name, classes, linked, &sensitive.name));
                findings.push(match over_units {
                    Some(finding) => finding,
                    None => attribute::run(name, classes, sensitive, people)?,
                });
            }
            if wanted(Adversary::Definetti) && (requested(Adversary::Definetti) || classes.len() > classes.buckets()) {
                findings.push(definetti::run(name, classes, sensitive, people)?);
            }
        }
    }
    if wanted(Adversary::Minimality) {
        findings.extend(minimal(releases, options, requested(Adversary::Minimality))?);
    }
    let released = released(releases, &named, options);
    let combined: Vec<Released<'_>> = released.iter().copied().filter(|table| !is_looked_at(table.classes)).collect();
    for protect in shared(&combined) {
        findings.extend(together(protect, &combined, options, &wanted)?);
    }
    if wanted(Adversary::Worlds) {
        findings.extend(every_world(&released, options)?);
    }
    if wanted(Adversary::Difference) {
        findings.extend(differences(releases, options, requested(Adversary::Difference)));
    }
    if wanted(Adversary::Consistency) && (options.people.is_some() || requested(Adversary::Consistency)) {
        findings.extend(consistent(releases, options)?);
    }
    if wanted(Adversary::Intersection) {
        findings.extend(joins(releases, options, requested(Adversary::Intersection))?);
    }
    findings.iter_mut().for_each(|finding| say_what_is_counted(releases, finding));
    let contradictions: Vec<Contradiction> = releases.iter().flat_map(contradictions_of).collect();
    for finding in &mut findings {
        finding.limit_confidence(options.confidence.filter(|_| finding.adversary != Adversary::Linker));
        finding.breach = is_breach(finding, options);
    }
    let breach = !contradictions.is_empty() || findings.iter().any(|finding| finding.breach);
    let assumed = findings.iter().find_map(|finding| finding.details.get("assumed")?.as_str().map(str::to_owned));
    let people_named = options.people.is_some();
    Ok(Audited { findings, contradictions, warnings: Vec::new(), breach, assumed, people_named })
}

/// Notes where rows are counted though they belong to units.
fn say_what_is_counted(releases: &[OpenedRelease<'_>], finding: &mut Finding) {
    if finding.counts_units() {
        return;
    }
    let is_named = |release: &&OpenedRelease<'_>| finding.releases.iter().any(|name| name == release.name);
    let units = releases.iter().filter(is_named).filter_map(|release| release.release.manifest()?.hedgerow.units);
    let linked: Vec<bool> = units.map(|units| units.linked).collect();
    if linked.contains(&false) {
        finding.note(ROWS_COUNTED);
    } else if !linked.is_empty() {
        finding.note(ROWS_COUNTED_LINKED);
    }
}

/// Rows of the source that are not in a release, as its manifest states.
fn rows_suppressed(release: &Release) -> u64 {
    release.manifest().map_or(0, |manifest| manifest.hedgerow.rows.suppressed)
}

/// The tables with what their manifests say of rows, and whose they are.
fn released<'a>(
    releases: &[OpenedRelease<'a>],
    named: &'a [(String, &'a ReleasedClasses)],
    options: &AuditOptions<'_>,
) -> Vec<Released<'a>> {
    // Releases that are compared with each other are of one custodian, that of the first of them.
    let mut custodian: Vec<Option<usize>> = vec![None; releases.len()];
    for own in &options.own {
        let first = own.iter().filter_map(|&release| custodian[release]).chain(own.first().copied()).min();
        own.iter().for_each(|&release| custodian[release] = first);
    }
    let mut names = named.iter();
    let mut released: Vec<Released<'_>> = Vec::with_capacity(named.len());
    for (release, &custodian) in releases.iter().zip(&custodian) {
        let suppressed = rows_suppressed(release.release);
        let (rows, units) = match release.release.tables() {
            ReleaseTables::Generalized(tables) if tables.counts.is_none() => {
                (Some(&tables.table), tables.units.as_slice())
            }
            _ => (None, &[][..]),
        };
        let (codebook, spelling) = (Some(release.release.codebook()), Some(release.release.spelling()));
        for (number, (name, classes)) in names.by_ref().take(release.tables.len()).enumerate() {
            let shown = rows_of(release.release, number);
            released.push(Released {
                suppressed,
                counterfeit: has_counterfeits(classes),
                statistics: release.release.method() == "clone" && classes.len() > 1,
                custodian,
                rows: shown.rows.or(rows),
                units,
                codebook,
                spelling,
                by_bucket: shown.by_bucket,
                ..Released::of(name, classes)
            });
        }
    }
    released
}

/// Whether its buckets have more values than its classes have people.
pub(crate) fn has_counterfeits(classes: &ReleasedClasses) -> bool {
    classes.bucket_sizes.iter().map(|&values| u64::from(values)).sum::<u64>() > classes.rows
}

/// The attacker who misses nothing, for every sensitive attribute.
fn every_world(released: &[Released<'_>], options: &AuditOptions<'_>) -> Result<Vec<Finding>, TableError> {
    let mut protected: Vec<&str> =
        released.iter().flat_map(|table| &table.classes.sensitive).map(|sensitive| sensitive.name.as_str()).collect();
    protected.sort_unstable();
    protected.dedup();
    let attacker = Attacker {
        people: options.people,
        columns: options.columns,
        prior: &options.prior,
        joint: &options.joint,
        progress: options.progress,
    };
    let by_shares = Attacker { people: None, ..attacker };
    let mut findings = Vec::new();
    for protect in protected {
        findings.extend(worlds::run(protect, released, attacker)?);
        if options.people.is_some() && !options.joint.is_empty() {
            findings.extend(worlds::run(protect, released, by_shares)?);
        }
    }
    findings.iter_mut().for_each(|finding| finding.count_below(options.l));
    Ok(findings)
}

fn contradictions_of(release: &OpenedRelease<'_>) -> impl Iterator<Item = Contradiction> {
    let problems = release.release.contradictions().iter();
    problems.map(|problem| Contradiction { release: release.name.to_owned(), problem: problem.clone() })
}

/// Releases whose method is known to generalize only as far as needed; the manifest says what
/// was required of it.
fn minimal(
    releases: &[OpenedRelease<'_>],
    options: &AuditOptions<'_>,
    requested: bool,
) -> Result<Vec<Finding>, TableError> {
    let mut findings = Vec::new();
    for release in releases {
        let Some(manifest) = release.release.manifest() else { continue };
        let known = options.people.is_some() && matches!(release.release.method(), "mondrian" | "full-domain");
        let examined = release.tables.iter().filter(|table| is_examined(table, options));
        for table in examined.filter(|_| requested || known) {
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

/// Nothing follows for people of whom a table's attributes are not known.
fn is_examined(table: &ReleasedClasses, options: &AuditOptions<'_>) -> bool {
    options.columns != Columns::All || options.people.is_none_or(|people| is_known(table, people))
}

/// Each table with the combinations of values that do not occur.
fn consistent(releases: &[OpenedRelease<'_>], options: &AuditOptions<'_>) -> Result<Vec<Finding>, TableError> {
    let mut findings = Vec::new();
    for release in releases {
        for table in release.tables.iter().filter(|table| is_examined(table, options)) {
            let name = match release.tables.len() {
                1 => release.name.to_owned(),
                _ => format!("{}/{}", release.name, table.name),
            };
            findings.extend(consistency::run(&name, release.release, table, options.people, options.k.unwrap_or(2))?);
        }
    }
    Ok(findings)
}

/// A custodian's own releases, each against the one before it; all of them, when that is requested
/// by name.
fn differences(releases: &[OpenedRelease<'_>], options: &AuditOptions<'_>, requested: bool) -> Vec<Finding> {
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
    let of_protect = options.required.iter().filter(|(name, _)| finding.protect.as_ref() == Some(name));
    let values = options.l.into_iter().chain(of_protect.map(|(_, l)| *l)).max().unwrap_or(2);
    let confident = options.confidence.is_some_and(|limit| finding.max_confidence.max(finding.believed) > limit);
    match finding.adversary {
        Adversary::Linker => options.k.is_some_and(|k| few(finding.effective_k, k)),
        // What these believe rests on more than the release: it is reported, and judged by people.
        Adversary::Definetti | Adversary::Minimality => confident,
        // Too few rows that fit are a breach as too few values are.
        Adversary::Consistency => finding.at_risk > 0 || confident,
        _ => {
            let pair = finding.worst_pair.as_ref().and_then(|pair| pair.effective_l);
            few(finding.effective_l, values) || few(pair, values) || confident
        }
    }
}

/// The tables of each release joined; and, when requested by name, those of all releases, as views
/// of one custodian. Every table takes part whose labels are values, also one that hides nothing.
fn joins(
    releases: &[OpenedRelease<'_>],
    options: &AuditOptions<'_>,
    requested: bool,
) -> Result<Vec<Finding>, TableError> {
    let join = |names: Vec<String>, releases: &[&OpenedRelease<'_>]| {
        let mut all = Joinable::default();
        for release in releases {
            let found = kind(release.release).joinable(release.release)?;
            all.tables.extend(found.tables);
            all.generalized.extend(found.generalized);
        }
        let mut finding = match all.tables.len() {
            0 | 1 => Finding::new(Adversary::Intersection, names, None),
            _ if options.certain_only => intersection::run(names, &all.tables, &[], None),
            _ => intersection::run(names, &all.tables, &rules_of(releases, &all.tables), options.people),
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
        // Not everyone is in the tables of a release with suppressed rows.
        let (lacking, whole): (Vec<&OpenedRelease<'_>>, Vec<&OpenedRelease<'_>>) =
            releases.iter().partition(|release| rows_suppressed(release.release) > 0);
        let names = |of: &[&OpenedRelease<'_>]| of.iter().map(|release| release.name.to_owned()).collect();
        let mut finding = match whole.len() {
            0 | 1 => Finding::new(Adversary::Intersection, names(&releases.iter().collect::<Vec<_>>()), None),
            _ => join(names(&whole), &whole)?,
        };
        finding.note("every person is taken to be in the tables of all these releases");
        if !lacking.is_empty() {
            let lacking: Vec<&str> = lacking.iter().map(|release| release.name).collect();
            let lacking = lacking.join(" and ");
            finding
                .note(format!("rows of {lacking} were suppressed, so that not everyone is in it: it was not joined"));
        }
        findings.push(finding);
    }
    Ok(findings)
}

/// The rules that releases claim to keep; where none does, what each table lists by bucket must not
/// follow from what it lists by row.
fn rules_of(releases: &[&OpenedRelease<'_>], tables: &[intersection::SubTable]) -> Vec<Question> {
    let manifests = releases.iter().filter_map(|release| release.release.manifest());
    let claims = manifests.flat_map(|manifest| &manifest.hedgerow.guarantees);
    let mut rules: Vec<Question> = claims
        .filter_map(|claim| Some(Question { know: claim.know.clone(), protect: claim.protect.clone()? }))
        .collect();
    if rules.is_empty() {
        let named = tables.iter().filter_map(|table| Some((table.quasi.clone(), table.sensitive.clone()?)));
        rules.extend(named.map(|(know, protect)| Question { know, protect }));
    }
    let mut seen = HashSet::new();
    rules.retain(|rule| seen.insert(rule.clone()));
    rules
}

#[cfg(test)]
mod every_world_tests;
#[cfg(test)]
mod suppressed_tests;
#[cfg(test)]
mod tests;
