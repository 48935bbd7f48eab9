//! Attacking releases as adversaries would, alone and combined.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hedgerow_audit::adversaries::correlation::Weights;
use hedgerow_audit::adversaries::minimality::HowMade;
use hedgerow_audit::{Adversary, AuditOptions, Audited};
use hedgerow_policy::Attribute;
use hedgerow_publish::bind::{any_options, source_options};
use hedgerow_publish::catalog::{Catalog, as_the_gate};
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{Hierarchy, HierarchySpec, Table, TableError};
use hedgerow_verify::release_check::broken_claims;

use crate::{Error, Monitor, Policy, Release, Source};

/// Runs every adversary against the releases, alone and combined. [`Audit`] has options.
pub fn audit(releases: &[Release]) -> Result<Audited, Error> {
    Audit::new(releases).run()
}

/// An audit with options. No claim of a release is trusted: every guarantee is recomputed, and the
/// adversaries see tables alone.
///
/// ```
/// use hedgerow::{Audit, Policy};
///
/// # let folder = tempfile::tempdir()?;
/// let policy = Policy::load("../../examples/hospital/policy.toml")?;
/// let release = hedgerow::publish(&policy, folder.path().join("release"))?.open()?;
/// let audited = Audit::new(&[release]).people("../../examples/hospital/patients.csv").policy(&policy).run()?;
/// for finding in &audited.findings {
///     println!("{}: {} of {} at risk", finding.adversary, finding.at_risk, finding.people);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is audited before `run`"]
pub struct Audit<'a> {
    releases: Vec<Release>,
    catalog: Option<PathBuf>,
    people: Option<Source<'a>>,
    policy: Option<&'a Policy>,
    adversaries: Vec<Adversary>,
    l: Option<u64>,
    k: Option<u64>,
    confidence: Option<f64>,
    weights: Weights,
    table: bool,
}

impl<'a> Audit<'a> {
    /// An audit of these releases.
    pub fn new(releases: &[Release]) -> Audit<'a> {
        Audit {
            releases: releases.to_vec(),
            catalog: None,
            people: None,
            policy: None,
            adversaries: Vec::new(),
            l: None,
            k: None,
            confidence: None,
            weights: Weights::Exact,
            table: false,
        }
    }

    /// Adds all releases of a catalog; those of one custodian are also compared by difference. With
    /// people, the verdict is that of the gate which audits a new release: the attacker knows all
    /// columns that any release uses, also those that the people's table lacks.
    pub fn catalog(mut self, folder: impl AsRef<Path>) -> Self {
        self.catalog = Some(folder.as_ref().to_path_buf());
        self
    }

    /// How the releases were made, how their publishers spell values (`[community.values]`), and
    /// how a file of people is read.
    pub fn policy(mut self, policy: &'a Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The people to look for: one row each, with the quasi-identifiers under their names. Each is
    /// taken to be in every release. By default the adversaries look at released rows.
    pub fn people(mut self, people: impl Into<Source<'a>>) -> Self {
        self.people = Some(people.into());
        self
    }

    /// Only these adversaries, by name; all when empty.
    pub fn adversaries(mut self, adversaries: impl IntoIterator<Item = Adversary>) -> Self {
        self.adversaries = adversaries.into_iter().collect();
        self
    }

    /// Fewer sensitive values left for anyone are a breach; 2 when not set.
    pub fn l(mut self, l: Option<u64>) -> Self {
        self.l = l;
        self
    }

    /// Fewer rows left for anyone are a breach.
    pub fn k(mut self, k: Option<u64>) -> Self {
        self.k = k;
        self
    }

    /// A higher confidence in anyone's sensitive value is a breach.
    pub fn confidence(mut self, limit: Option<f64>) -> Self {
        self.confidence = limit;
        self
    }

    /// How the correlation adversary weighs what is possible.
    pub fn weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// Also reports the probabilistic table of the independence adversary.
    pub fn table(mut self, table: bool) -> Self {
        self.table = table;
        self
    }

    /// Runs the adversaries.
    pub fn run(self) -> Result<Audited, Error> {
        self.run_with(&Monitor::default())
    }

    /// Runs the adversaries, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Audited, Error> {
        let (mut releases, custodians) = self.open_all(monitor)?;
        let policy = self.policy.map(Policy::inner);
        if let Some(spelling) = policy.map(|policy| policy.community.spelling()).filter(|known| !known.is_empty()) {
            releases = releases.into_iter().map(|release| release.spelled(spelling.clone())).collect();
        }
        let people = self.people.as_ref().map(|people| read_people(people, policy, monitor)).transpose()?;
        // What the policy makes coarser stays as it is: people have the values of the source, and
        // each release says what its own cover.
        let hierarchies = match (policy, &people) {
            (Some(policy), Some(people)) => hierarchies_over(policy, people),
            _ => Vec::new(),
        };
        let hierarchies: Vec<(String, &Hierarchy)> =
            hierarchies.iter().map(|(name, hierarchy)| (name.clone(), hierarchy)).collect();
        let custodians: Vec<Option<&str>> = custodians.iter().map(Option::as_deref).collect();
        let base = match self.catalog {
            Some(_) => as_the_gate(policy, &custodians, people.as_deref()),
            None => AuditOptions {
                people: people.as_deref(),
                joint: policy.map_or_else(Vec::new, |policy| policy.community.joint.clone()),
                ..AuditOptions::default()
            },
        };
        let options = AuditOptions {
            adversaries: self.adversaries,
            l: self.l,
            k: self.k,
            confidence: self.confidence,
            weights: self.weights,
            table: self.table,
            progress: monitor,
            made: policy.map(|policy| HowMade {
                hierarchies: &hierarchies,
                suppression: policy.publish.suppression.numerator > 0,
                loss: Some(policy.publish.loss.name()),
            }),
            ..base
        };
        Ok(hedgerow_audit::audit(&releases, &options)?)
    }

    /// All releases with what contradicts their claims, and the custodian of each.
    #[allow(clippy::type_complexity)]
    fn open_all(&self, monitor: &Monitor<'_>) -> Result<(Vec<hedgerow_release::Release>, Vec<Option<String>>), Error> {
        let mut releases: Vec<hedgerow_release::Release> = Vec::with_capacity(self.releases.len());
        for release in &self.releases {
            if releases.iter().any(|other| other.name() == release.name()) {
                let hint = "name every release once";
                return Err(TableError::input(release.name(), "the release is named twice", hint).into());
            }
            releases.push(with_broken_claims(release.inner().clone()));
        }
        let mut custodians = vec![None; releases.len()];
        let Some(folder) = &self.catalog else { return Ok((releases, custodians)) };
        let catalog = Catalog::load(folder)?;
        for entry in &catalog.entries {
            let opened = hedgerow_release::Release::open(&catalog.path(entry), monitor)?;
            let mut release = with_broken_claims(opened);
            if release.digest()? != entry.digest {
                release.contradict("its files differ from those that were added to the catalog".to_owned());
            }
            custodians.push(entry.custodian.clone());
            releases.push(release.named(&entry.name));
        }
        Ok((releases, custodians))
    }
}

/// People in the formats of a policy's source, or as releases are written.
fn read_people<'p>(
    people: &Source<'p>,
    policy: Option<&hedgerow_policy::Policy>,
    monitor: &Monitor<'_>,
) -> Result<Cow<'p, Table>, TableError> {
    let Some(policy) = policy else {
        return people.read_as(None, &ReadOptions { progress: monitor, ..ReadOptions::default() });
    };
    let of_source = source_options(policy, &HashSet::new(), monitor);
    if is_source(people, policy) {
        return people.read_as(Some(policy), &ReadOptions { only: None, ..of_source });
    }
    let plain = any_options(policy, monitor);
    let spelled = ReadOptions {
        numbers: of_source.numbers,
        date_formats: of_source.date_formats,
        date_format: of_source.date_format,
        ..plain.clone()
    };
    let is_plain = spelled.date_formats.is_empty() && spelled.date_format.is_none();
    if is_plain && spelled.numbers == plain.numbers {
        return people.read_as(Some(policy), &plain);
    }
    people.read_as(Some(policy), &spelled).or_else(|_| people.read_as(Some(policy), &plain))
}

/// Whether the people are the rows that a policy names, which are then read as publishing reads
/// them.
fn is_source(people: &Source<'_>, policy: &hedgerow_policy::Policy) -> bool {
    let whole = |path: &Path| std::fs::canonicalize(path).ok();
    let named = people.path().and_then(whole);
    named.is_some() && policy.source.database.is_none() && named == whole(&policy.source.path)
}

fn with_broken_claims(mut release: hedgerow_release::Release) -> hedgerow_release::Release {
    broken_claims(&release).into_iter().for_each(|problem| release.contradict(problem));
    release
}

/// The policy's hierarchies over the values of these people, where they cover them.
fn hierarchies_over(policy: &hedgerow_policy::Policy, people: &Table) -> Vec<(String, Hierarchy)> {
    let of = |attribute: &Attribute| {
        let column = people.column(&attribute.name)?;
        let none = (HierarchySpec::None, attribute.place.clone());
        let (spec, place) = attribute.hierarchy.as_ref().unwrap_or(&none);
        let built = Hierarchy::build(spec, &attribute.name, place, &column.domain, &policy.source.nulls);
        Some((attribute.name.clone(), built.ok()?))
    };
    policy.quasi().filter_map(of).collect()
}
