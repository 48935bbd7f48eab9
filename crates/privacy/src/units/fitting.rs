//! The groups that fit one: found one by one, since some may be enough, and kept for the next class.

use super::by_class::MembersOf;
use super::looks::Looks;
use super::value_limits::ClassLimits;

pub(super) struct Fitting<'f, I> {
    pub(super) found: &'f mut Vec<u32>,
    pub(super) more: I,
}

impl<I: Iterator<Item = u32>> Fitting<'_, I> {
    pub(super) fn get(&mut self, place: usize) -> Option<u32> {
        if place == self.found.len() {
            self.found.push(self.more.next()?);
        }
        Some(self.found[place])
    }

    /// Whether the units that fit are enough whatever values they have. Asked each time that they
    /// are twice as many.
    pub(super) fn are_enough_by_number(
        &mut self,
        members: &MembersOf,
        limits: ClassLimits<'_>,
        looks: &mut dyn Looks,
    ) -> bool {
        let (mut units, mut asked_at, mut values) = (0, 1, Vec::new());
        for place in 0.. {
            let Some(other) = self.get(place) else { break };
            units += members.of(other).len() as u64;
            if units >= asked_at {
                asked_at = 2 * units;
                if looks.is_enough(limits.class(units, &mut values)) {
                    return true;
                }
            }
        }
        looks.is_enough(limits.class(units, &mut values))
    }
}
