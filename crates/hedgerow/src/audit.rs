//! Attacking releases as adversaries would, alone and combined.

use std::borrow::Cow;
use std::path::Path;

use hedgerow_audit::adversaries::correlation::Weights;
use hedgerow_audit::adversaries::minimality::HowMade;
use hedgerow_audit::{AuditOptions, Audited};
use hedgerow_policy::{Attribute, Policy};
use hedgerow_publish::bind::any_options;
use hedgerow_publish::catalog::Catalog;
use hedgerow_release::Release;
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{Hierarchy, HierarchySpec, Table, TableError};
use hedgerow_verify::release_check::broken_claims;

use crate::{Error, Monitor, source};

/// Runs every adversary against the releases, alone and combined.
pub fn audit(releases: Vec<Release>) -> Result<Audited, Error> {
    Audit::new(releases)?.run()
}

/// An audit with options. No claim of a release is trusted: every guarantee is recomputed, and the
/// adversaries see tables alone.
#[derive(Debug)]
#[must_use = "nothing is audited before `run`"]
pub struct Audit<'a> {
    releases: Vec<Release>,
    /// Releases of one custodian, by position, oldest first.
    own: Vec<Vec<usize>>,
    people: Option<Cow<'a, Table>>,
    policy: Option<&'a Policy>,
    adversaries: Vec<String>,
    l: Option<u64>,
    k: Option<u64>,
    confidence: Option<f64>,
    weights: Weights,
    table: bool,
}

impl<'a> Audit<'a> {
    /// An audit of these releases.
    pub fn new(releases: Vec<Release>) -> Result<Audit<'a>, Error> {
        let mut audit = Audit {
            releases: Vec::with_capacity(releases.len()),
            own: Vec::new(),
            people: None,
            policy: None,
            adversaries: Vec::new(),
            l: None,
            k: None,
            confidence: None,
            weights: Weights::Exact,
            table: false,
        };
        for release in releases {
            if audit.releases.iter().any(|other| other.name() == release.name()) {
                let hint = "name every release once";
                return Err(TableError::input(release.name(), "the release is named twice", hint).into());
            }
            audit.releases.push(with_broken_claims(release));
        }
        Ok(audit)
    }

    /// Adds all releases of a catalog; those of one custodian are also compared by difference.
    pub fn catalog(mut self, folder: &Path, monitor: &Monitor<'_>) -> Result<Self, Error> {
        let catalog = Catalog::load(folder)?;
        let mut own: Vec<(&str, Vec<usize>)> = Vec::new();
        for entry in &catalog.entries {
            let mut release = with_broken_claims(Release::open(&catalog.path(entry), monitor)?);
            if release.digest()? != entry.digest {
                release.contradict("its files differ from those that were added to the catalog".to_owned());
            }
            if let Some(custodian) = &entry.custodian {
                match own.iter_mut().find(|(name, _)| name == custodian) {
                    Some((_, theirs)) => theirs.push(self.releases.len()),
                    None => own.push((custodian, vec![self.releases.len()])),
                }
            }
            self.releases.push(release.named(&entry.name));
        }
        self.own.extend(own.into_iter().map(|(_, theirs)| theirs).filter(|theirs| theirs.len() > 1));
        Ok(self)
    }

    /// How the releases were made, how their publishers spell values (`[community.values]`), and
    /// how a file of people is read: set before [`Audit::people`].
    pub fn policy(mut self, policy: &'a Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The people to look for: one row each, with the quasi-identifiers under their names. Each is
    /// taken to be in every release. A file, or the address of a database.
    pub fn people(mut self, file: &Path, monitor: &Monitor<'_>) -> Result<Self, Error> {
        let options = match self.policy {
            Some(policy) => any_options(policy, monitor),
            None => ReadOptions { progress: monitor, ..ReadOptions::default() },
        };
        let table = source::read(file, &options)?;
        self.people = Some(Cow::Owned(table));
        Ok(self)
    }

    /// As [`Audit::people`], from memory.
    pub fn people_table(mut self, people: &'a Table) -> Self {
        self.people = Some(Cow::Borrowed(people));
        self
    }

    /// Only these adversaries, by name; all when empty.
    pub fn adversaries(mut self, names: Vec<String>) -> Self {
        self.adversaries = names;
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
    pub fn run(mut self) -> Result<Audited, Error> {
        if let Some(spelling) = self.policy.map(|policy| policy.community.spelling()).filter(|known| !known.is_empty())
        {
            self.releases = self.releases.into_iter().map(|release| release.spelled(spelling.clone())).collect();
        }
        let hierarchies = match (self.policy, &self.people) {
            (Some(policy), Some(people)) => hierarchies_over(policy, people),
            _ => Vec::new(),
        };
        let hierarchies: Vec<(String, &Hierarchy)> =
            hierarchies.iter().map(|(name, hierarchy)| (name.clone(), hierarchy)).collect();
        let options = AuditOptions {
            people: self.people.as_deref(),
            adversaries: self.adversaries,
            certain_only: false,
            l: self.l,
            k: self.k,
            confidence: self.confidence,
            weights: self.weights,
            table: self.table,
            own: self.own,
            made: self.policy.map(|policy| HowMade {
                hierarchies: &hierarchies,
                suppression: policy.publish.suppression.numerator > 0,
                loss: Some(policy.publish.loss.name()),
            }),
        };
        Ok(hedgerow_audit::audit(&self.releases, &options)?)
    }
}

fn with_broken_claims(mut release: Release) -> Release {
    broken_claims(&release).into_iter().for_each(|problem| release.contradict(problem));
    release
}

/// The policy's hierarchies over the values of these people, where they cover them.
fn hierarchies_over(policy: &Policy, people: &Table) -> Vec<(String, Hierarchy)> {
    let of = |attribute: &Attribute| {
        let column = people.column(&attribute.name)?;
        let none = (HierarchySpec::None, attribute.place.clone());
        let (spec, place) = attribute.hierarchy.as_ref().unwrap_or(&none);
        let built = Hierarchy::build(spec, &attribute.name, place, &column.domain, &policy.source.nulls);
        Some((attribute.name.clone(), built.ok()?))
    };
    policy.quasi().filter_map(of).collect()
}
