//! All custodians in one process: to see what a joint run would find, open and send, before the
//! custodians run it.

use std::sync::Arc;

use hedgerow_smc::simulate::{self, Traffic};
use hedgerow_smc::{
    BurnBook, Coins, Concluded, Fault, Inquiry, Item, Ledger, Permit, Question, Roster, UnionCounts, masked,
};

use super::rows::{Batch, BatchFitting, JointRow};
use crate::{AgreedRef, Joint, JointResult, Profile, Share};

/// The result of rehearsing the search for classes.
#[derive(Debug)]
pub struct Rehearsed {
    /// By custodian; `None` when even the whole breaks a rule.
    pub joined: Option<Vec<JointResult>>,
    pub ledger: Ledger,
    pub traffic: Traffic,
}

/// The result of rehearsing a whole release.
#[derive(Debug)]
pub struct RehearsedRelease {
    pub joined: Vec<JointResult>,
    /// The rows of the union, in an order that tells nothing.
    pub rows: Vec<JointRow>,
    /// Everything that was opened, from the first question to the last row.
    pub ledger: Ledger,
    pub traffic: Traffic,
}

/// Finds the classes with seeded randomness: never for confidential rows.
pub fn rehearse(profile: Profile, agreed: &AgreedRef, shares: Vec<Share>, seed: u64) -> Result<Rehearsed, Fault> {
    let stage = RehearsalStage { profile, roster: Roster::numbered(shares.len())?, seed };
    stage.classes(agreed, shares)
}

/// Finds the classes and brings the rows together. `None` when even the whole breaks a rule.
pub fn rehearse_release(
    profile: Profile,
    agreed: &AgreedRef,
    shares: &[Share],
    seed: u64,
) -> Result<Option<RehearsedRelease>, Fault> {
    let stage = RehearsalStage { profile, roster: Roster::numbered(shares.len())?, seed };
    let Rehearsed { joined, mut ledger, mut traffic } = stage.classes(agreed, shares.to_vec())?;
    let Some(joined) = joined else { return Ok(None) };
    let classes = joined.first().map_or(0, |joined| joined.classes.len());
    let total = joined.first().map_or(0, |joined| joined.classes.iter().map(|class| class.rows).sum());
    let own = || shares.iter().zip(&joined);
    let rows = match agreed.countable(classes) {
        Some(values) => {
            let counts: Vec<UnionCounts> =
                own().map(|(share, joined)| agreed.count_rows(share, joined, values, total)).collect();
            let counts = stage.ask("rows", counts, &mut ledger, &mut traffic)?;
            let counted = agreed.counted_rows(counts.into_iter().next().unwrap_or_default(), &joined[0]);
            counted.ok_or(Fault::Impossible { what: "rows of a class by their values" })?
        }
        None => {
            let items: Vec<Vec<Item>> = own().map(|(share, joined)| agreed.pack_rows(share, joined)).collect();
            let fitting = items.iter().map(|items| BatchFitting::new(items)).collect();
            let batch = stage.ask("batch", fitting, &mut ledger, &mut traffic)?[0];
            let shuffled = stage.shuffle(items, batch, &mut ledger, &mut traffic)?;
            let rows = shuffled.iter().map(|item| agreed.unpack_row(item, classes)).collect::<Option<_>>();
            rows.ok_or(Fault::Internal("a row that no custodian of these classes has"))?
        }
    };
    Ok(Some(RehearsedRelease { joined, rows, ledger, traffic }))
}

/// Where a rehearsal takes place.
struct RehearsalStage {
    profile: Profile,
    roster: Roster,
    seed: u64,
}

impl RehearsalStage {
    /// Every step is a question and a session of its own.
    fn permit(&self, step: &str) -> Result<Permit, Fault> {
        let mut session = [0; 16];
        session[..8].copy_from_slice(&self.seed.to_le_bytes());
        session.iter_mut().skip(8).zip(step.bytes()).for_each(|(byte, letter)| *byte = letter);
        BurnBook::default().permit(session, Question::new(step, &self.seed.to_le_bytes()), &self.roster)
    }

    fn own_seed(&self, me: usize) -> u64 {
        self.seed.wrapping_mul(1_000_003).wrapping_add(me as u64)
    }

    fn coins(&self, me: usize) -> Coins {
        Coins::danger_from_seed(self.own_seed(me))
    }

    fn classes(&self, agreed: &AgreedRef, shares: Vec<Share>) -> Result<Rehearsed, Fault> {
        let joint = |(me, share)| Joint::new(Arc::clone(agreed), share, Coins::danger_from_seed(!self.own_seed(me)));
        let (mut ledger, mut traffic) = (Ledger::default(), Traffic::default());
        let inquiries = shares.into_iter().enumerate().map(joint).collect();
        let outputs = self.ask("classes", inquiries, &mut ledger, &mut traffic)?;
        Ok(Rehearsed { joined: outputs.into_iter().collect(), ledger, traffic })
    }

    /// Lets the profile answer; what is opened and sent is added to what was before.
    fn ask<I: Inquiry>(
        &self,
        step: &str,
        inquiries: Vec<I>,
        ledger: &mut Ledger,
        traffic: &mut Traffic,
    ) -> Result<Vec<I::Output>, Fault> {
        let inquiries = inquiries.into_iter().enumerate();
        let start = |(me, inquiry)| self.profile.start(self.permit(step)?, me as u16, inquiry, self.coins(me));
        let (concluded, sent) = simulate::run(inquiries.map(start).collect::<Result<_, Fault>>()?, self.seed)?;
        *traffic = traffic.then(sent);
        Ok(outputs(concluded, ledger))
    }

    fn shuffle(
        &self,
        items: Vec<Vec<Item>>,
        batch: Batch,
        ledger: &mut Ledger,
        traffic: &mut Traffic,
    ) -> Result<Vec<Item>, Fault> {
        let start = |(me, items)| {
            masked::start_shuffle(
                self.permit("shuffle")?,
                me as u16,
                items,
                batch.rows,
                batch.row_bytes,
                self.coins(me),
            )
        };
        let starts = items.into_iter().enumerate().map(start).collect::<Result<_, Fault>>()?;
        let (concluded, sent) = simulate::run(starts, self.seed)?;
        *traffic = traffic.then(sent);
        Ok(outputs(concluded, ledger).into_iter().next().unwrap_or_default())
    }
}

/// All custodians' outputs; the ledger, which is the same for all, goes to what was opened before.
fn outputs<T>(concluded: Vec<Concluded<T>>, ledger: &mut Ledger) -> Vec<T> {
    let mut ledgers = Vec::with_capacity(concluded.len());
    let mut outputs = Vec::with_capacity(concluded.len());
    for concluded in concluded {
        ledgers.push(concluded.ledger);
        outputs.push(concluded.output);
    }
    ledger.append(ledgers.swap_remove(0));
    outputs
}
