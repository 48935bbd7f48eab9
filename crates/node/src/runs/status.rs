//! The state of runs as an operator is shown it.

use hedgerow_smc::OpenedKind;
use serde_json::{Value, json};

use crate::context::Context;
use crate::message::Hex;
use crate::step_name::StepName;
use crate::steps::Execution;

use super::{Ending, OpenRun, Runs};

/// Ended runs that a status lists: the last ones.
const ENDED_MAX: usize = 20;

impl Runs {
    /// The open run; null where there is none.
    pub(crate) fn status<S: ?Sized>(&self, cx: &Context<S>) -> Value {
        let names = |list: Vec<String>| Value::from(list);
        let Some(open) = &self.open else { return Value::Null };
        let plan = open.plan.as_ref();
        let differences = plan.map(|plan| cx.book.differences(plan));
        let differences = differences.iter().flat_map(|all| all.all()).map(ToString::to_string);
        json!({
            "run": open.proposal.run,
            "epoch": open.proposal.epoch,
            "proposed_by": open.proposal.by,
            "phase": open.phase.name(),
            "in_doubt": open.in_doubt,
            "step": open.execution.as_ref().and_then(Execution::step).map(StepName::name),
            "custodians": open.proposal.roster,
            "plan": open.approval().map(Hex),
            "not_joined": names(open.lacking(&open.commitments, Option::is_some)),
            "not_approved": names(open.lacking(&open.approvals, Option::is_some)),
            "not_staged": names(open.behind(OpenRun::has_staged)),
            "not_prepared": names(open.behind(OpenRun::has_prepared)),
            "opens": Runs::announced(cx),
            "limits": Runs::limits(cx),
            "differences": differences.collect::<Vec<_>>(),
        })
    }

    /// How the last runs ended.
    pub(crate) fn status_of_ended(&self) -> Value {
        let recent = self.order.iter().rev().take(ENDED_MAX).rev();
        recent
            .filter_map(|run| Some((run, self.ended.get(run)?)))
            .map(|(run, ending)| match ending {
                Ending::Published { certificate } => {
                    let epoch = certificate.proposal.epoch;
                    json!({ "run": run, "ended": "published", "epoch": epoch, "release": certificate.release })
                }
                Ending::Aborted { why, .. } => {
                    json!({ "run": run, "ended": "aborted", "why": why, "blamed": self.blamed.get(run) })
                }
            })
            .collect()
    }

    /// The forecast that an operator approves: what each step can open, and to whom.
    fn announced<S: ?Sized>(cx: &Context<S>) -> Value {
        let steps = cx.custodian.agreed.announce(cx.custodian.profile);
        let kinds =
            |kinds: Vec<OpenedKind>| kinds.into_iter().map(|kind| Value::from(kind.describe())).collect::<Vec<_>>();
        steps.into_iter().map(|(step, opens)| json!({ "step": step, "opens_to_all": kinds(opens) })).collect()
    }

    fn limits<S: ?Sized>(cx: &Context<S>) -> Value {
        let limits = cx.custodian.agreed.limits;
        json!({
            "rounds": limits.rounds_max,
            "words_in_a_vector": limits.words_max,
            "rows": limits.rows_max,
            "parts": limits.parts_max,
            "bytes_in_a_shuffle": limits.batch_bytes_max,
            "bytes_waiting_from_one": limits.inbox_bytes_max,
        })
    }
}
