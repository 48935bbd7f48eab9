//! Which protocols answer: secure sums under pairwise masks, or the ring of the paper, kept to be
//! compared with.

use hedgerow_smc::{Coins, Concluded, Failure, Fault, Inquiry, Machine, Message, Outgoing, Permit, Transition};
use hedgerow_smc::{baseline, masked};

/// Which protocols answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Secure sums: each contribution is hidden by masks that cancel out.
    #[default]
    Masked,
    /// Weaker, and for comparison only: both neighbors of a custodian together learn its part of
    /// every sum.
    Baseline,
}

impl Profile {
    /// The name in settings and outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Masked => "masked",
            Profile::Baseline => "baseline",
        }
    }

    /// Starts one custodian's side of an inquiry. `me` is its place in the roster's order of names.
    pub fn start<I: Inquiry>(
        self,
        permit: Permit,
        me: u16,
        inquiry: I,
        coins: Coins,
    ) -> Result<Transition<ProfileRun<I>>, Fault> {
        match self {
            Profile::Masked => Ok(wrapped(masked::start(permit, me, inquiry, coins)?, ProfileRun::Masked)),
            Profile::Baseline => {
                let chances = baseline::Chances::default();
                Ok(wrapped(baseline::start(permit, me, inquiry, chances, coins)?, ProfileRun::Baseline))
            }
        }
    }
}

/// One custodian's side of an inquiry, in either profile.
#[derive(Debug)]
pub enum ProfileRun<I: Inquiry> {
    Masked(masked::Run<I>),
    Baseline(baseline::Run<I>),
}

impl<I: Inquiry> Machine for ProfileRun<I> {
    type Output = Concluded<I::Output>;

    fn step(self, from: u16, message: Message) -> Result<Transition<Self>, Failure> {
        match self {
            ProfileRun::Masked(run) => Ok(wrapped(run.step(from, message)?, ProfileRun::Masked)),
            ProfileRun::Baseline(run) => Ok(wrapped(run.step(from, message)?, ProfileRun::Baseline)),
        }
    }

    fn abort(self, blamed: Option<u16>) -> Outgoing {
        match self {
            ProfileRun::Masked(run) => run.abort(blamed),
            ProfileRun::Baseline(run) => run.abort(blamed),
        }
    }

    fn waits_for(&self) -> Vec<u16> {
        match self {
            ProfileRun::Masked(run) => run.waits_for(),
            ProfileRun::Baseline(run) => run.waits_for(),
        }
    }

    fn taken_in(&self) -> usize {
        match self {
            ProfileRun::Masked(run) => run.taken_in(),
            ProfileRun::Baseline(run) => run.taken_in(),
        }
    }
}

fn wrapped<I: Inquiry, M: Machine<Output = Concluded<I::Output>>>(
    transition: Transition<M>,
    wrap: fn(M) -> ProfileRun<I>,
) -> Transition<ProfileRun<I>> {
    match transition {
        Transition::Continue(run, effects) => Transition::Continue(wrap(run), effects),
        Transition::Finish(output, effects) => Transition::Finish(output, effects),
    }
}
