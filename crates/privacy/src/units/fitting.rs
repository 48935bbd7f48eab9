//! The groups that fit one: found one by one, since some may be enough, and kept for the next
//! class.

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
}
