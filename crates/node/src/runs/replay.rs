//! Runs as the journal has them: after a restart a node ends a run that was executed, since its
//! keys and masks are gone, and goes on with one that was staged.

use crate::certificate::Certificate;
use crate::context::Context;
use crate::journal::{Record, What};
use crate::message::{Because, Hex, Proposal};
use crate::store::OpenError;

use super::{Ending, OpenRun, RunPhase, Runs};

/// A run that a restart found open.
struct Unfinished {
    proposal: Proposal,
    /// The digest that was approved, that of the plan in it, and the hash of the release.
    staged: Option<[Hex<32>; 3]>,
    prepared: bool,
}

impl Runs {
    pub(crate) fn replay(&mut self, cx: &mut Context, history: &[Record]) -> Result<(), OpenError> {
        let mut unfinished: Option<Unfinished> = None;
        let mut last = None;
        for record in history {
            cx.heads.replay(record);
            let Some(run) = record.run else { continue };
            let broken = |what: &str| OpenError::Journal(format!("{what} of run {run}"));
            let reached = match record.what {
                What::Burned => Some(RunPhase::Executing),
                What::Staged => Some(RunPhase::Staged),
                What::Prepared => Some(RunPhase::Prepared),
                _ => None,
            };
            self.reached.extend(reached.map(|phase| (run, phase)));
            match record.what {
                What::Proposed => {
                    let proposal = serde_json::from_str(record.detail.text()).map_err(|_| broken("a proposal"))?;
                    unfinished = Some(Unfinished { proposal, staged: None, prepared: false });
                }
                What::Staged => {
                    let open = unfinished.as_mut().filter(|open| open.proposal.run == run);
                    let mut detail = record.detail.value();
                    let mut hash = |key: &str| serde_json::from_value::<Hex<32>>(detail[key].take()).ok();
                    let hashes = [hash("plan"), hash("committed"), hash("release")];
                    let [Some(plan), Some(committed), Some(release)] = hashes else {
                        return Err(broken("the release"));
                    };
                    open.ok_or_else(|| broken("the release"))?.staged = Some([plan, committed, release]);
                }
                What::Prepared => {
                    let open = unfinished.as_mut().filter(|open| open.proposal.run == run && open.staged.is_some());
                    open.ok_or_else(|| broken("the preparation"))?.prepared = true;
                }
                What::Published => {
                    let certificate = serde_json::from_value(record.detail.value()["certificate"].take());
                    let certificate: Box<Certificate> = certificate.map_err(|_| broken("the certificate"))?;
                    let epoch = certificate.proposal.epoch;
                    last = Some((run, epoch));
                    self.epochs = epoch;
                    self.previous = Some(certificate.clone());
                    self.end(run, Ending::Published { certificate });
                    unfinished = None;
                }
                What::Blamed => {
                    self.blamed.insert(run, record.who.clone());
                }
                What::Aborted | What::Refused => {
                    let mut detail = record.detail.value();
                    let why = detail["why"].as_str().unwrap_or_default().to_owned();
                    let because: Option<Box<Because>> = serde_json::from_value(detail["because"].take()).ok().flatten();
                    self.end(run, Ending::Aborted { why, because });
                    if unfinished.as_ref().is_some_and(|open| open.proposal.run == run) {
                        cx.outbox.discard_again(run)?;
                        unfinished = None;
                    }
                }
                _ => {}
            }
        }
        if let Some((run, epoch)) = last {
            // A crash may have cut off its last step.
            cx.outbox.publish_again(run, epoch)?;
        }
        let Some(Unfinished { proposal, staged, prepared }) = unfinished else { return Ok(()) };
        let roster = proposal.roster().map_err(|fault| OpenError::Journal(fault.to_string()))?;
        let me = roster.members().iter().position(|member| member.name == cx.custodian.own.name);
        let me = me.ok_or_else(|| OpenError::Journal("a roster without this node".to_owned()))?;
        let phase = if prepared { RunPhase::Prepared } else { RunPhase::Staged };
        let mut open = OpenRun::new(proposal, roster, me as u16, phase, cx.outbox.now());
        open.in_doubt = true;
        let Some([plan, committed, release]) = staged else {
            self.open = Some(open);
            self.abort(cx, "it was restarted")?;
            // An older copy of the folder may have forgotten that the run went on.
            let held = cx.outbox.take_back();
            cx.heads.hold(held);
            return Ok(());
        };
        (open.approved, open.committed, open.release) = (Some(plan), Some(committed), Some(release));
        self.open = Some(open);
        self.repeat_outcome(cx);
        Ok(())
    }
}
