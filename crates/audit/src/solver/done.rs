//! How far the layers are, as a listener sees it.

use hedgerow_table::{Progress, TableError};

/// All layers together.
const WHOLE: u64 = 1000;

/// Where each layer ends, in thousandths: who can be in which class, bounds and flows, small parts.
const MEMBERSHIP: u64 = 100;
const NARROWED: u64 = 700;

/// A share that never falls and ends at 1.
pub(crate) struct Done<'a> {
    progress: &'a dyn Progress,
    thousandths: u64,
}

impl<'a> Done<'a> {
    pub(crate) fn new(progress: &'a dyn Progress) -> Done<'a> {
        progress.stage("every world", Some(WHOLE));
        Done { progress, thousandths: 0 }
    }

    fn reach(&mut self, thousandths: u64) -> Result<(), TableError> {
        self.progress.check()?;
        if thousandths > self.thousandths {
            self.progress.advance(thousandths - self.thousandths);
            self.thousandths = thousandths;
        }
        Ok(())
    }

    /// So many of all sides are looked at.
    pub(crate) fn membership(&mut self, sides: usize, all: usize) -> Result<(), TableError> {
        self.reach(part(0, MEMBERSHIP, sides, all))
    }

    /// In this pass, so many of all blocks are settled. How many passes follow is not known: each
    /// takes half of what is left.
    pub(crate) fn blocks(&mut self, pass: usize, blocks: usize, all: usize) -> Result<(), TableError> {
        let left = |pass: usize| (NARROWED - MEMBERSHIP) >> pass.min(20);
        self.reach(part(NARROWED - left(pass), NARROWED - left(pass + 1), blocks, all))
    }

    /// So many of all parts are counted through.
    pub(crate) fn parts(&mut self, parts: usize, all: usize) -> Result<(), TableError> {
        self.reach(part(NARROWED, WHOLE, parts, all))
    }

    pub(crate) fn finish(mut self) -> Result<(), TableError> {
        self.reach(WHOLE)
    }

    pub(crate) fn check(&self) -> Result<(), TableError> {
        self.progress.check()
    }
}

fn part(from: u64, to: u64, done: usize, all: usize) -> u64 {
    from + (to - from) * done as u64 / all.max(1) as u64
}
