//! Places whose cells look alike: where the stays of a patient agree in what others know, readers
//! see one class with several rows of each unit, and a unit may stand for any of its values there.

use hedgerow_cuts::Span;
use hedgerow_table::Codes;

use super::Ordered;

impl Ordered<'_> {
    /// Whether a rule holds for the rows of all places together whose cells its attacker cannot
    /// tell apart.
    pub(super) fn places_alike_hold(&self, number: usize, values: &Option<&Codes>, units: &[u32]) -> bool {
        let (Some(codes), Some(terms)) = (values, self.judge.unit_terms()) else { return true };
        let places = units.first().map_or(0, |&unit| self.rows[unit as usize].len());
        if places < 2 || !terms.several_values[number] {
            return true;
        }
        let known: Vec<usize> =
            self.judge.rules()[number].know.iter().copied().filter(|&column| column < self.axes.len()).collect();
        let mut groups: Vec<(Vec<Span>, Vec<usize>)> = Vec::new();
        for place in 0..places {
            let spans = known.iter().map(|&attribute| self.reached(units, place, attribute)).collect();
            match groups.iter_mut().find(|(own, _)| *own == spans) {
                Some((_, places)) => places.push(place),
                None => groups.push((spans, vec![place])),
            }
        }
        groups.iter().filter(|(_, places)| places.len() > 1).all(|(_, places)| {
            let values_of = |unit: &u32| -> Vec<u32> {
                let rows = &self.rows[*unit as usize];
                places.iter().map(|&place| codes.get(rows[place] as usize)).collect()
            };
            let values: Vec<Vec<u32>> = units.iter().map(values_of).collect();
            self.judge.holds_for_any_of_values(number, terms, &values)
        })
    }
}
