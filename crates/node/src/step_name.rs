//! The steps of a run, and the session of each, which all custodians know.

use hedgerow_smc::SessionId;
use sha2::{Digest as _, Sha256};

use crate::message::RunId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StepName {
    Classes,
    Rows,
    Batch,
    Shuffle,
}

impl StepName {
    const ALL: [StepName; 4] = [StepName::Classes, StepName::Rows, StepName::Batch, StepName::Shuffle];

    pub(crate) fn name(self) -> &'static str {
        match self {
            StepName::Classes => "classes",
            StepName::Rows => "rows",
            StepName::Batch => "batch",
            StepName::Shuffle => "shuffle",
        }
    }

    /// Every step of every run has a session of its own, which all custodians know.
    pub(crate) fn session(self, run: RunId) -> SessionId {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow step 1");
        hash.update(run.0);
        hash.update(self.name());
        let digest: [u8; 32] = hash.finalize().into();
        std::array::from_fn(|place| digest[place])
    }

    /// The step that a session belongs to.
    pub(crate) fn of_session(run: RunId, session: &SessionId) -> Option<StepName> {
        StepName::ALL.into_iter().find(|step| step.session(run) == *session)
    }
}

/// The session of a question, which all custodians know.
pub(crate) fn question_session(id: RunId) -> SessionId {
    let digest: [u8; 32] = Sha256::digest([&b"hedgerow answer session 1"[..], &id.0].concat()).into();
    std::array::from_fn(|place| digest[place])
}
