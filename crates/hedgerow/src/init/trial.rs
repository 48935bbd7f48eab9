//! A proposed policy, tried on a part of the rows before it is written.

use std::borrow::Cow;
use std::collections::HashMap;

use hedgerow_audit::impossible::Impossible;
use hedgerow_policy::propose::Proposal;
use hedgerow_policy::{Method, Policy, Role};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::coarsen::coarsen_table;
use hedgerow_publish::people_whom_no_class_hides;
use hedgerow_table::{Column, Domain, Kind, Table, TableError};

use crate::folder::Folder;
use crate::{Adversary, Audit, Compare, Compared, Error, ErrorKind, MeasureOptions, Monitor, Publish};

/// Rows on which the methods are tried.
const TRIED_ROWS: usize = 1000;

/// An audit compares every person with every row that matches, and takes longer than a search.
pub(super) const EXAMINED_ROWS_MAX: usize = 200_000;

/// Whether some value of what others may know does not go with some value that is released beside
/// it, once that was made coarser: exact amounts are all different, and tell nothing of one
/// another.
pub(super) fn combinations_are_missing(table: &Table, proposed: &Proposal) -> Result<bool, Error> {
    let Some(trial) = PolicyTrial::of_rows(table, proposed, table.rows)? else { return Ok(false) };
    let Ok((rows, _)) = coarsen_table(&trial.policy, Cow::Borrowed(&trial.rows)) else { return Ok(false) };
    let of = |wanted: &[Role]| -> Vec<&Column> {
        let attributes = trial.policy.attributes.iter().filter(|attribute| wanted.contains(&attribute.role));
        attributes.filter_map(|attribute| rows.column(&attribute.name)).collect()
    };
    Ok(Impossible::new(&of(&[Role::Quasi]), &of(&[Role::Sensitive, Role::Plain])).count() > 0)
}

/// The people whom combinations that cannot occur leave too few rows or one value.
pub(super) struct Exposed {
    pub(super) people: u64,
    /// The protected attributes of which this is so.
    pub(super) attributes: Vec<String>,
    /// How many were examined, where it was not everyone.
    pub(super) examined: Option<u64>,
}

/// A proposed policy over a sample of the rows.
pub(super) struct PolicyTrial {
    pub(super) policy: Policy,
    rows: Table,
    /// How many rows they are, and of how many.
    part: (u64, u64),
    /// The hierarchy files.
    folder: Folder,
}

impl PolicyTrial {
    /// `None` where the policy cannot be tried.
    pub(super) fn new(table: &Table, proposed: &Proposal) -> Result<Option<PolicyTrial>, Error> {
        PolicyTrial::of_rows(table, proposed, TRIED_ROWS)
    }

    pub(super) fn of_rows(table: &Table, proposed: &Proposal, rows: usize) -> Result<Option<PolicyTrial>, Error> {
        const NODES_MAX: u64 = 2000;
        let folder = Folder::new()?;
        for (path, text) in &proposed.files {
            let path = folder.path().join(path);
            let parent = path.parent().unwrap_or(folder.path());
            std::fs::create_dir_all(parent).map_err(|error| TableError::io(parent, error))?;
            std::fs::write(&path, text).map_err(|error| TableError::io(&path, error))?;
        }
        let path = folder.path().join("policy.toml");
        let Ok(mut policy) = Policy::parse(&proposed.policy, &path) else { return Ok(None) };
        policy.publish.max_nodes = Some(NODES_MAX);
        policy.publish.max_seconds = None;
        let rows = as_declared(some_rows(table, proposed.unit.as_deref(), rows), &policy);
        let part = (rows.rows as u64, table.rows as u64);
        Ok(Some(PolicyTrial { policy, rows, part, folder }))
    }

    /// The result of each method.
    pub(super) fn all_methods(&self, monitor: &Monitor<'_>) -> Result<Option<Vec<Compared>>, Error> {
        self.compared(&self.policy, None, monitor)
    }

    pub(super) fn compared(
        &self,
        policy: &Policy,
        methods: Option<&'static [Method]>,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Vec<Compared>>, Error> {
        let mut options = MeasureOptions::default();
        options.queries.count = 0;
        let policy = policy.clone().into();
        let mut compare = Compare::new(&policy).source(&self.rows).queries(options).part(self.part);
        if let Some(methods) = methods {
            compare = compare.methods(methods);
        }
        match compare.run_with(monitor) {
            Ok(kept) => Ok(Some(kept)),
            Err(error) if matches!(error.kind(), ErrorKind::Canceled | ErrorKind::Io) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The people whom the adversary `consistency` would find in a release of `policy`, this draft,
    /// when it knows everyone; `None` where that is not known.
    pub(super) fn exposed(&self, policy: &str, monitor: &Monitor<'_>) -> Result<Option<Exposed>, Error> {
        let path = self.folder.path().join("policy.toml");
        let Ok(policy) = crate::Policy::parse(policy, &path) else { return Ok(None) };
        let released = Publish::new(&policy, self.folder.path().join("release")).source(&self.rows).run_with(monitor);
        let release = match released.and_then(|published| published.open()) {
            Ok(release) => release,
            Err(error) if matches!(error.kind(), ErrorKind::Canceled | ErrorKind::Io) => return Err(error),
            Err(_) => return Ok(None),
        };
        let audit = Audit::new(&[release]).policy(&policy).people(&self.rows).adversaries([Adversary::Consistency]);
        let findings = audit.run_with(monitor)?.findings;
        let mut people: Vec<u32> = findings.iter().flat_map(|finding| finding.people_at_risk.iter().copied()).collect();
        people.sort_unstable();
        people.dedup();
        let at_risk = findings.iter().filter(|finding| finding.at_risk > 0);
        let attributes = at_risk.filter_map(|finding| finding.protect.clone()).collect();
        // The adversary stops after many comparisons, where labels overlap.
        let examined = findings.iter().map(|finding| finding.people).min();
        let examined = examined.filter(|examined| *examined < self.rows.rows as u64);
        let people = people.len() as u64;
        Ok((examined.is_none() || people > 0).then_some(Exposed { people, attributes, examined }))
    }

    /// The protected attributes to leave out so that classes can hide everyone, the least worth
    /// first, each with the people whom no classes hide as long as it is there. `protected` ends
    /// with what should rather go; `spared` people may be left. `None` where leaving out does not
    /// help.
    pub(super) fn telling(&self, protected: &[String], spared: u64) -> Option<Vec<(String, u64)>> {
        let mut omitted: Vec<(String, u64)> = Vec::new();
        loop {
            let names: Vec<&str> = omitted.iter().map(|(name, _)| name.as_str()).collect();
            let people = self.people_whom_no_class_hides(&names)?;
            if people <= spared {
                return Some(omitted);
            }
            let mut best: Option<(u64, &String)> = None;
            for name in protected.iter().rev().filter(|name| !names.contains(&name.as_str())) {
                let left = self.people_whom_no_class_hides(&[names.as_slice(), &[name]].concat())?;
                if best.is_none_or(|(least, _)| left < least) {
                    best = Some((left, name));
                }
                if left <= spared {
                    break;
                }
            }
            match best {
                Some((_, name)) if omitted.len() + 1 < protected.len() => omitted.push((name.clone(), people)),
                _ => return None,
            }
        }
    }

    /// The people whom rules with `consistent` expose however the rows are divided, when some
    /// protected attributes are omitted.
    fn people_whom_no_class_hides(&self, omitted: &[&str]) -> Option<u64> {
        let policy = self.without(omitted);
        let (rows, _) = coarsen_table(&policy, Cow::Borrowed(&self.rows)).ok()?;
        Some(people_whom_no_class_hides(&Bound::new(&policy, &rows).ok()?) as u64)
    }

    /// The policy without some attributes and their rules.
    fn without(&self, omitted: &[&str]) -> Policy {
        let mut policy = self.policy.clone();
        policy.rules.retain(|rule| !rule.protected().any(|protected| omitted.contains(&protected.as_str())));
        policy.attributes.retain(|attribute| !omitted.contains(&attribute.name.as_str()));
        policy
    }

    /// Those of the protected attributes whose rules make the others lose more than half. They are
    /// added in their order, and stay while the release is worth something.
    pub(super) fn costly(
        &self,
        protected: &[String],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<(String, Option<f64>)>, Error> {
        let mut omitted: Vec<(String, Option<f64>)> = protected.iter().map(|name| (name.clone(), None)).collect();
        for name in protected {
            let others: Vec<&str> =
                omitted.iter().map(|(other, _)| other.as_str()).filter(|other| other != name).collect();
            let policy = self.without(&others);
            if policy.rules.is_empty() {
                return Ok(Vec::new());
            }
            let kept = self.compared(&policy, Some(&[Method::Cluster]), monitor)?;
            let loss = kept.and_then(|kept| kept.into_iter().find_map(|compared| compared.loss)).map(|loss| loss.ncp);
            match loss {
                Some(ncp) if ncp <= HALF => omitted.retain(|(other, _)| other != name),
                loss => omitted.iter_mut().filter(|(other, _)| other == name).for_each(|(_, lost)| *lost = loss),
            }
        }
        // Where none can stay, it is not the rules that cost.
        Ok(if omitted.len() == protected.len() { Vec::new() } else { omitted })
    }
}

/// The share of what a release can lose from which another method, or fewer rules, are worth a try.
pub(super) const HALF: f64 = 0.5;

pub(super) fn all_lose_more_than_half(kept: &[Compared]) -> bool {
    kept.iter().all(|compared| compared.loss.as_ref().is_none_or(|loss| loss.ncp > HALF))
}

/// Rows with the types that a policy declares, as publishing reads them: codes that are numbers are
/// texts, which have no neighbors.
fn as_declared(mut rows: Table, policy: &Policy) -> Table {
    let codes = |name: &str| policy.attribute(name).is_some_and(|found| found.kind == Some(Kind::Category));
    for column in rows.columns.iter_mut().filter(|column| codes(&column.name)) {
        let domain = &column.domain;
        if domain.kind() == Kind::Category {
            continue;
        }
        let texts: Vec<String> = (0..domain.present() as u32).map(|code| domain.text(code)).collect();
        let missing = domain.missing_code();
        let Ok((domain, mut map)) = Domain::from_texts(&texts, missing.is_some(), Some(Kind::Category)) else {
            continue;
        };
        // The missing value is the last one.
        map.extend(domain.missing_code());
        column.codes = column.codes.mapped(&map, domain.cardinality());
        column.domain = domain;
    }
    rows
}

/// Evenly spread rows; where they belong to units, all rows of evenly spread units.
fn some_rows(table: &Table, unit: Option<&str>, count: usize) -> Table {
    let step = table.rows.div_ceil(count).max(1) as u32;
    let unit = unit.and_then(|name| table.column(name));
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let number = |row: u32| match unit {
        Some(column) => {
            let next = numbers.len() as u32;
            *numbers.entry(column.codes.get(row as usize)).or_insert(next)
        }
        None => row,
    };
    let numbered: Vec<u32> = (0..table.rows as u32).map(number).collect();
    let rows: Vec<u32> = (0..table.rows as u32).filter(|&row| numbered[row as usize].is_multiple_of(step)).collect();
    table.of_rows(&rows)
}
