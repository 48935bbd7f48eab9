//! Conclusions of an attacker who knows of everyone the columns that the list of people lacks: in
//! some way in which the people can be in the classes of these columns, or in every one.

use hedgerow_table::TableError;
use serde_json::json;

use super::attacker::Attacker;
use super::fewest::Fewest;
use super::hypothesis::Case;
use super::lacking::{CaseClasses, Lacking};
use super::left::ValuesLeft;
use super::setting::Setting;
use crate::finding::Finding;

/// Sets of assumptions that are tried.
const TRIED_MAX: usize = 8192;

pub(super) struct InWays {
    of_all: Fewest,
    /// Every way was tried.
    all: bool,
    /// The fewest people of whom one value is left, over all ways that can be.
    pub(super) exposed_anyhow: u64,
    pub(super) stayed: Option<(usize, bool)>,
}

impl<'a> Setting<'a> {
    pub(super) fn in_every_way(
        &self,
        lacking: &Lacking<'_>,
        ln_prior: &[f64],
        attacker: Attacker<'_>,
    ) -> Result<InWays, TableError> {
        let of_all = Fewest::new(self.cases.iter().map(|case| u64::from(case.people)));
        let mut found = InWays { of_all, all: true, exposed_anyhow: 0, stayed: None };
        // Who knows the columns does not know the class where buckets are alike to them.
        let is_distinguished = self.sides.iter().all(|side| side.alike.iter().all(Vec::is_empty));
        let ways = if is_distinguished { lacking.every_way(&self.cases).unwrap_or_default() } else { Vec::new() };
        let mut fewest_exposed: Option<u64> = None;
        for way in &ways {
            attacker.progress.check()?;
            let (completed, of_case) = self.completed(lacking, &way.parts);
            let examined = completed.examine(&mut found.of_all, Some(&of_case), None, ln_prior, attacker)?;
            found.stayed =
                found.stayed.into_iter().chain(examined.stayed).reduce(|one, two| (one.0 + two.0, one.1 & two.1));
            if way.is_possible {
                fewest_exposed = fewest_exposed.into_iter().chain([examined.exposed]).min();
            }
            if found.of_all.found.len() > TRIED_MAX {
                break;
            }
        }
        found.all = !ways.is_empty() && found.of_all.found.len() <= TRIED_MAX;
        found.exposed_anyhow = fewest_exposed.filter(|_| found.all).unwrap_or(0);
        Ok(found)
    }

    /// The same where it is known of all people in which classes they are; with the case that each
    /// case is part of.
    fn completed(&self, lacking: &Lacking<'_>, way: &[CaseClasses]) -> (Setting<'a>, Vec<usize>) {
        let mut sides = self.sides.clone();
        for (table, _) in &lacking.of_table {
            let side = &mut sides[*table];
            side.places = (0..side.sizes.len() as u32).map(|class| vec![class]).chain([Vec::new()]).collect();
            side.shown = false;
            side.alike = Vec::new();
        }
        let case = |(case, people, classes): &CaseClasses| {
            let mut places = self.cases[*case].places.clone();
            for ((table, _), &class) in lacking.of_table.iter().zip(classes) {
                places[*table] = class.min(sides[*table].sizes.len() as u32);
            }
            Case { places, people: *people, truth: self.cases[*case].truth.clone() }
        };
        let cases = way.iter().map(case).collect();
        let of_case: Vec<usize> = way.iter().map(|(case, ..)| *case).collect();
        let values = of_case.iter().filter_map(|&case| self.values.get(case).copied()).collect();
        let setting = self.with_cases(sides, cases, values);
        (setting, of_case)
    }
}

impl InWays {
    /// Says what is not known; `fewest` is what is left to who lacks the columns as the list does.
    pub(super) fn add_to(&self, finding: &mut Finding, fewest: &mut Fewest, lacking: &Lacking<'_>) {
        let [columns, names] = [lacking.columns().join("`, `"), lacking.names().join(" and ")];
        // Which of the ways is so is not known here: to refuse what any of them would expose would
        // refuse nearly everything beside other columns.
        let is_fewer = |(own, other): (&ValuesLeft, &ValuesLeft)| {
            !other.values.is_empty() && other.values.len() < own.values.len()
        };
        let certain =
            fewest.left.iter().zip(&self.of_all.left).filter(|both| is_fewer(*both)).map(|(own, _)| own.people);
        let more: u64 = certain.sum();
        if !self.all {
            fewest.leave_open(format!(
                "the list of people lacks `{columns}`, and not every way in which they can be in the classes \
                 of {names} was tried: an attacker who knows `{columns}` of everyone may be certain of more"
            ));
        } else if more > 0 {
            fewest.leave_open(format!(
                "the list of people lacks `{columns}`: an attacker who knows it of everyone may rule out more for {more} \
                 of them, by their classes in {names}"
            ));
        }
        if self.exposed_anyhow > 0 {
            finding.note(format!(
                "the list of people lacks `{columns}`: in whichever classes of {names} they are, an attacker who knows it \
                 of everyone is certain of the value of at least {} of them",
                self.exposed_anyhow
            ));
        }
        let details = json!({
            "columns": lacking.columns(),
            "releases": lacking.names(),
            "all": self.all && more == 0,
            "exposed_anyhow": self.exposed_anyhow,
        });
        finding.details.insert("lacking".to_owned(), details);
    }
}
