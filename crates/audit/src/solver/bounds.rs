//! Bounds of variables from bounds of sums: what the others leave, until nothing changes.

use hedgerow_table::TableError;

use super::done::Done;
use super::system::System;

/// Bounds that still move after this number of passes stay as they are: looser, and as sound.
const PASSES_MAX: usize = 200;

/// No solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contradiction;

/// The sums to look at next, each once.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    is_pending: Vec<bool>,
    sums: Vec<u32>,
}

impl Pending {
    pub(crate) fn all(sums: usize) -> Pending {
        Pending { is_pending: vec![true; sums], sums: (0..sums as u32).collect() }
    }

    pub(crate) fn push(&mut self, sum: u32) {
        if !std::mem::replace(&mut self.is_pending[sum as usize], true) {
            self.sums.push(sum);
        }
    }

    fn take(&mut self) -> Vec<u32> {
        self.sums.iter().for_each(|&sum| self.is_pending[sum as usize] = false);
        std::mem::take(&mut self.sums)
    }
}

/// Which sums each variable is in.
#[derive(Debug)]
pub(crate) struct Index {
    starts: Vec<u32>,
    sums: Vec<u32>,
}

impl Index {
    pub(crate) fn new(system: &System) -> Index {
        let (starts, sums) = system.sums_of_variables();
        Index { starts, sums }
    }

    pub(crate) fn of(&self, variable: usize) -> &[u32] {
        &self.sums[self.starts[variable] as usize..self.starts[variable + 1] as usize]
    }
}

/// Narrows the bounds pass by pass; `changed` learns which.
pub(crate) fn propagate(
    system: &mut System,
    index: &Index,
    pending: &mut Pending,
    changed: &mut dyn FnMut(usize),
    done: &Done<'_>,
) -> Result<Result<(), Contradiction>, TableError> {
    for _ in 0..PASSES_MAX {
        done.check()?;
        let sums = pending.take();
        if sums.is_empty() {
            break;
        }
        for sum in sums {
            let narrowed = narrow(system, sum as usize, |variable| {
                changed(variable);
                index.of(variable).iter().for_each(|&sum| pending.push(sum));
            });
            if narrowed.is_err() {
                return Ok(Err(Contradiction));
            }
        }
    }
    pending.take();
    Ok(Ok(()))
}

/// Narrows the variables of one sum; `changed` learns which.
pub(crate) fn narrow(system: &mut System, sum: usize, mut changed: impl FnMut(usize)) -> Result<(), Contradiction> {
    let range = system.starts[sum] as usize..system.starts[sum + 1] as usize;
    let (mut least, mut most) = (0i64, 0i64);
    for &member in &system.members[range.clone()] {
        let (low, high) = (i64::from(system.low[member.variable()]), i64::from(system.high[member.variable()]));
        let (low, high) = if member.is_subtracted() { (-high, -low) } else { (low, high) };
        (least, most) = (least + low, most + high);
    }
    let bounds = system.sums[sum];
    if least > bounds.high || most < bounds.low {
        return Err(Contradiction);
    }
    if least >= bounds.low && most <= bounds.high {
        return Ok(());
    }
    for at in range {
        let member = system.members[at];
        let variable = member.variable();
        let (low, high) = (i64::from(system.low[variable]), i64::from(system.high[variable]));
        // What the others leave for this one.
        let (own_low, own_high) = if member.is_subtracted() { (-high, -low) } else { (low, high) };
        let (from, to) = (bounds.low - (most - own_high), bounds.high - (least - own_low));
        let (from, to) = if member.is_subtracted() { (-to, -from) } else { (from, to) };
        let (new_low, new_high) = (low.max(from), high.min(to));
        if new_low > new_high {
            return Err(Contradiction);
        }
        if (new_low, new_high) != (low, high) {
            (system.low[variable], system.high[variable]) = (new_low as u32, new_high as u32);
            changed(variable);
        }
    }
    Ok(())
}
