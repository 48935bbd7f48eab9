//! The people of a list, and what was assumed of them, as a reader is shown them.

use super::hypothesis::{Assumption, Case};
use super::left::ValuesLeft;
use super::setting::Setting;
use crate::finding::{Exposure, ReleaseCells, likeliest_first, shown_in_list};

impl Setting<'_> {
    pub(super) fn listed(&self, values: &[(u32, Option<f64>)]) -> String {
        let texts: Vec<String> =
            values.iter().take(8).map(|&(value, _)| shown_in_list(&self.tables.text(value))).collect();
        let more = values.len().saturating_sub(8);
        if more > 0 { format!("{} and {more} more", texts.join(", ")) } else { texts.join(", ") }
    }

    /// The assumptions in words.
    pub(super) fn assumed(&self, standings: &[Assumption]) -> String {
        let names = |wanted: &dyn Fn(&Assumption) -> bool| -> Vec<&str> {
            let tables = self.tables.released().filter(|(table, _)| wanted(&standings[*table]));
            let mut names: Vec<&str> = tables.map(|(_, table)| table.name).collect();
            names.dedup();
            names
        };
        let strong = names(&|standing| *standing != Assumption::Target);
        let weak = names(&|standing| *standing == Assumption::Target);
        let mut parts = Vec::new();
        if !strong.is_empty() {
            parts.push(format!("every person who fits {} is in it, but for suppressed rows", strong.join(" and ")));
        }
        let reduced = names(&|standing| matches!(standing, Assumption::Everyone { absent: 1.., .. }));
        if !reduced.is_empty() {
            parts.push(format!(
                "the person looked for is not among the suppressed rows of {}, unless they must be",
                reduced.join(" and ")
            ));
        }
        if !weak.is_empty() {
            parts.push(format!(
                "not all people can be in {}, so only the person looked for is taken to be in it",
                weak.join(" and ")
            ));
        }
        let shown = self.sides.iter().zip(&self.tables.tables).filter(|(side, _)| side.shown);
        let mut shown: Vec<&str> = shown.map(|(_, table)| table.name).collect();
        shown.dedup();
        if !shown.is_empty() {
            parts.push(format!(
                "the attacker also knows columns of {} that the list of people lacks, so every class that a person can \
                 be in counts",
                shown.join(" and ")
            ));
        }
        parts.join("; ")
    }

    pub(super) fn exposure(&self, case: &Case, left: &ValuesLeft) -> Exposure {
        let cells = self.tables.shown().map(|(table, released)| {
            let class = self.sides[table].places[case.places[table] as usize].first();
            let cells = class.map_or_else(Vec::new, |&class| released.classes.describe(class as usize));
            ReleaseCells::new(released.name, cells)
        });
        let least = left.confidence();
        let values = left.values.iter().map(|&(value, share)| {
            let share = if left.values.len() == 1 { 1.0 } else { share.unwrap_or(least) };
            (self.tables.text(value), share)
        });
        let mut values: Vec<(String, f64)> = values.collect();
        likeliest_first(&mut values);
        let why = match left.values.len() {
            1 => "every table that fits the releases gives them this value".to_owned(),
            count => format!("the tables that fit the releases leave them {count} values"),
        };
        Exposure { cells: cells.collect(), values, people: left.people, why }
    }
}
