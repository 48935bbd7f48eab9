//! The beginnings of combinations of values as a tree: which combinations of the first attributes
//! still occur, answered without building a key.

use hashbrown::HashMap;

/// A beginning of some combinations, by number. All combinations begin with [`Beginnings::EMPTY`].
pub(super) type Beginning = u32;

/// Combinations of values of the same attributes, from which some can be removed.
pub(super) struct Beginnings {
    longer: HashMap<(Beginning, u32), Beginning>,
    /// For every beginning the one that is shorter by a value.
    shorter: Vec<Beginning>,
    /// How many combinations begin so.
    count: Vec<u32>,
    /// For every beginning the last combination that begins so: for a whole combination, itself.
    combination: Vec<u32>,
}

impl Beginnings {
    pub(super) const EMPTY: Beginning = 0;

    /// Of distinct combinations of one length.
    pub(super) fn new<'c>(combinations: impl Iterator<Item = &'c [u32]>) -> Beginnings {
        let mut all = Beginnings { longer: HashMap::new(), shorter: vec![0], count: vec![0], combination: vec![0] };
        for (number, codes) in (0..).zip(combinations) {
            let mut at = Beginnings::EMPTY;
            all.seen(at, number);
            for &code in codes {
                let next = all.shorter.len() as Beginning;
                let longer = *all.longer.entry((at, code)).or_insert(next);
                if longer == next {
                    all.shorter.push(at);
                    all.count.push(0);
                    all.combination.push(0);
                }
                at = longer;
                all.seen(at, number);
            }
        }
        all
    }

    fn seen(&mut self, at: Beginning, combination: u32) {
        self.count[at as usize] += 1;
        self.combination[at as usize] = combination;
    }

    /// Whether a combination that begins so was not removed; nothing is begun with the empty one.
    pub(super) fn occurs(&self, beginning: Beginning) -> bool {
        beginning == Beginnings::EMPTY || self.count[beginning as usize] > 0
    }

    /// The beginning with one more value, if it still occurs.
    pub(super) fn longer(&self, beginning: Beginning, value: u32) -> Option<Beginning> {
        self.longer.get(&(beginning, value)).copied().filter(|&longer| self.occurs(longer))
    }

    /// The number of a whole combination, in the order of [`Beginnings::new`].
    pub(super) fn combination(&self, whole: Beginning) -> usize {
        self.combination[whole as usize] as usize
    }

    /// Removes a whole combination that still occurs.
    pub(super) fn remove(&mut self, whole: Beginning) {
        let mut at = whole;
        while at != Beginnings::EMPTY {
            self.count[at as usize] -= 1;
            at = self.shorter[at as usize];
        }
    }
}
