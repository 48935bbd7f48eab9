//! Classes of units for which a rule fails in what is released are merged with near ones, before
//! units are suppressed: with the nearest in which enough rows fit by the combinations of values
//! that occur, and else with the nearest.

use hashbrown::HashMap;
use hedgerow_draft::consistent::FittingClasses;
use hedgerow_policy::Method;
use hedgerow_table::{Codes, parallel};

use super::{Ordered, UnitRegions};

impl Ordered<'_> {
    /// By unit, whether too few rows fit it by the combinations of values that occur even where all
    /// units with as many rows are one class. `kept` says by row whether it is released.
    pub(super) fn hidden_by_no_class(&self, parts: &[UnitRegions], kept: &[bool]) -> Option<Vec<bool>> {
        let consistent = self.bound.consistent()?;
        let mut numbers: HashMap<(usize, usize), u32> = HashMap::new();
        let mut of_row = vec![0u32; kept.len()];
        for &unit in parts.iter().flat_map(|part| &part.units) {
            let rows = &self.rows[unit as usize];
            for (place, &row) in rows.iter().enumerate() {
                let next = numbers.len() as u32;
                of_row[row as usize] = *numbers.entry((rows.len(), place)).or_insert(next);
            }
        }
        let classes = Codes::from_iter(numbers.len().max(1), of_row);
        let mut columns = self.bound.judged_codes();
        columns[..self.axes.len()].iter_mut().for_each(|column| *column = &classes);
        let failing_rows = consistent.failing(&columns, Some(kept));
        let fails = |rows: &Vec<u32>| rows.iter().any(|&row| failing_rows[row as usize]);
        let failing: Vec<bool> = self.rows.iter().map(fails).collect();
        failing.contains(&true).then_some(failing)
    }

    /// The parts, each with a failing unit joined with another of units with as many rows; `None`
    /// where there is none to join. Cuts divide the space, and are not undone.
    pub(super) fn merged(&self, parts: &[UnitRegions], failing: &[bool]) -> Option<Vec<UnitRegions>> {
        if self.method != Method::Cluster {
            return None;
        }
        let fails = |part: &UnitRegions| part.units.iter().any(|&unit| failing[unit as usize]);
        let failing: Vec<usize> = (0..parts.len()).filter(|&part| fails(&parts[part])).collect();
        let fitting = FittingParts::new(self, parts);
        let costs: Vec<f64> = parallel::map(parts.len(), |part| self.class_cost(&parts[part].units));
        let partners = parallel::map(failing.len(), |index| {
            let part = failing[index];
            let is_other = |other: &usize| *other != part && parts[*other].regions.len() == parts[part].regions.len();
            let mut others: Vec<(f64, usize)> = (0..parts.len())
                .filter(is_other)
                .map(|other| {
                    let together = [parts[part].units.as_slice(), &parts[other].units].concat();
                    (self.class_cost(&together) - costs[part] - costs[other], other)
                })
                .collect();
            others.sort_unstable_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)));
            let enough = others.iter().find(|(_, other)| fitting.hold_with(part, *other));
            enough.or(others.first()).map(|(_, other)| *other)
        });
        if partners.iter().all(Option::is_none) {
            return None;
        }
        // The group that each part belongs to, by the first of its parts.
        let mut group: Vec<usize> = (0..parts.len()).collect();
        for (part, other) in failing.into_iter().zip(partners).filter_map(|(part, other)| Some((part, other?))) {
            let (low, high) = (group[part].min(group[other]), group[part].max(group[other]));
            group.iter_mut().filter(|group| **group == high).for_each(|group| *group = low);
        }
        let mut merged: Vec<Option<UnitRegions>> = vec![None; parts.len()];
        for (part, group) in parts.iter().zip(group) {
            match &mut merged[group] {
                Some(merged) => merged.units.extend_from_slice(&part.units),
                none => *none = Some(part.clone()),
            }
        }
        Some(merged.into_iter().flatten().collect())
    }
}

/// The classes of parts, one for each place, for rules with `consistent = true`.
struct FittingParts<'a> {
    classes: Option<FittingClasses<'a>>,
    /// By part, the first of its classes and how many there are.
    of_part: Vec<(usize, usize)>,
}

impl<'a> FittingParts<'a> {
    fn new(ordered: &'a Ordered<'_>, parts: &[UnitRegions]) -> FittingParts<'a> {
        let mut of_part = Vec::with_capacity(parts.len());
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for part in parts {
            of_part.push((rows.len(), part.regions.len()));
            for place in 0..part.regions.len() {
                rows.push(part.units.iter().map(|&unit| ordered.rows[unit as usize][place]).collect());
            }
        }
        let bound = ordered.bound;
        let classes =
            bound.consistent().map(|consistent| FittingClasses::new(consistent, &bound.judged_codes(), &rows));
        FittingParts { classes, of_part }
    }

    /// Whether enough rows fit, once two parts with as many places are one.
    fn hold_with(&self, part: usize, other: usize) -> bool {
        let Some(classes) = &self.classes else { return true };
        let ((first, places), (other, _)) = (self.of_part[part], self.of_part[other]);
        (0..places).all(|place| classes.hold_with(first + place, other + place))
    }
}
