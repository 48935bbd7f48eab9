//! Assumptions about who is in which table that are tried one after the other.

use hedgerow_table::{Progress, TableError};

use super::hypothesis::{Assumption, Case, WhoFitsNothing, can_be_there, everyone, standing};
use super::setting::Setting;
use super::ways::{Ways, ways_to_stay};

impl Setting<'_> {
    pub(super) fn standings(&self, cases: &[Case], progress: &dyn Progress) -> Result<Vec<Assumption>, TableError> {
        let others = WhoFitsNothing::MayBeElsewhere;
        (0..self.sides.len()).map(|table| self.standing(table, cases, others, progress)).collect()
    }

    fn standing(
        &self,
        table: usize,
        cases: &[Case],
        others: WhoFitsNothing,
        progress: &dyn Progress,
    ) -> Result<Assumption, TableError> {
        let (side, released) = (&self.sides[table], &self.tables.tables[table]);
        let own = standing(side, table, cases, released.suppressed, others);
        let is_possible = match own {
            Assumption::Everyone { absent, .. } => {
                can_be_there(side, table, cases, &everyone(cases), absent, progress)?
            }
            _ => true,
        };
        Ok(if is_possible { own } else { Assumption::Target })
    }

    /// The same where everyone who is listed is in every table: people whom no row of one fits are
    /// among its suppressed rows, and fewer of the others are. Empty where that is so anyway; else
    /// as true values, where they are known, allow it, or as an attacker believes who does not know
    /// them (`false`).
    pub(super) fn with_suppressed(
        &self,
        standings: &[Assumption],
        believed: Option<&[Assumption]>,
        progress: &dyn Progress,
    ) -> Result<Vec<(Vec<Assumption>, bool)>, TableError> {
        let mut all: Vec<(Vec<Assumption>, bool)> = Vec::new();
        let fits_nothing = |table: usize| {
            self.cases.iter().any(|case| self.sides[table].places[case.places[table] as usize].is_empty())
        };
        let is_open = |table: &usize| self.tables.tables[*table].suppressed > 0 && fits_nothing(*table);
        let open: Vec<usize> = (0..standings.len()).filter(is_open).collect();
        if open.is_empty() {
            return Ok(all);
        }
        let unknown = self.without_truth();
        let is_true = self.cases.first().is_some_and(|case| case.truth.is_some());
        let ways = [(&self.cases, standings, true), (&unknown, believed.unwrap_or(standings), false)];
        for (cases, before, by_truth) in ways.into_iter().take(1 + usize::from(is_true)) {
            let mut with = before.to_vec();
            for &table in &open {
                let strict = match with[table] {
                    Assumption::Everyone { absent: 1.., .. } => {
                        self.standing(table, cases, WhoFitsNothing::WasSuppressed, progress)?
                    }
                    _ => continue,
                };
                if strict != Assumption::Target {
                    with[table] = strict;
                }
            }
            if with != before && all.iter().all(|(known, _)| *known != with) {
                all.push((with, by_truth));
            }
        }
        Ok(all)
    }

    fn without_truth(&self) -> Vec<Case> {
        self.cases.iter().map(|case| Case { truth: None, ..case.clone() }).collect()
    }

    /// The assumptions of an attacker who does not know the true values, where these deny them:
    /// that everyone is in a table which could hold them, had they other values. The conclusions
    /// may be true all the same.
    pub(super) fn believed(
        &self,
        standings: &[Assumption],
        progress: &dyn Progress,
    ) -> Result<Option<Vec<Assumption>>, TableError> {
        let is_true = self.cases.first().is_some_and(|case| case.truth.is_some());
        if !is_true || !standings.contains(&Assumption::Target) {
            return Ok(None);
        }
        let believed = self.standings(&self.without_truth(), progress)?;
        Ok(Some(believed).filter(|believed| believed != standings))
    }

    /// Earlier releases of the newest one's custodian that not everyone is in: who can have stayed.
    /// `None` when there is none, or true values are not known.
    pub(super) fn ways_to_stay(
        &self,
        standings: &[Assumption],
        progress: &dyn Progress,
    ) -> Result<Option<Ways>, TableError> {
        let newest = self.tables.tables.last().and_then(|newest| newest.custodian);
        let is_true = self.cases.first().is_some_and(|case| case.truth.is_some());
        let is_own = |table: &usize| {
            let released = &self.tables.tables[*table];
            let is_open = standings[*table] == Assumption::Target && !self.tables.is_rows(*table);
            is_open && released.custodian == newest && !released.counterfeit
        };
        let own: Vec<usize> = (0..standings.len()).filter(is_own).collect();
        if newest.is_none() || !is_true || own.is_empty() {
            return Ok(None);
        }
        ways_to_stay(&self.sides, &self.cases, &own, standings, progress).map(Some)
    }
}
