//! The messages of all custodians, as one hash.
//!
//! Every vector goes to all others, so all custodians should have the same transcript. It enters
//! the keys of the next round's masks: custodians who were sent different messages have masks that
//! do not cancel, and the totals are noise. And every message carries a word about what its sender
//! has received from each, so that the others see whom it was that sent different messages.

use sha2::{Digest as _, Sha256};

use crate::fault::Fault;
use crate::message::Digest;

#[derive(Debug, Clone)]
pub(crate) struct Transcript {
    /// By custodian, over all messages that it sent.
    chains: Vec<Digest>,
}

impl Transcript {
    pub(crate) fn new(count: u16) -> Transcript {
        Transcript { chains: vec![[0; 32]; usize::from(count)] }
    }

    /// Adds a round: what each custodian sent.
    pub(crate) fn extend(&mut self, sent: &[Digest]) {
        for (chain, sent) in self.chains.iter_mut().zip(sent) {
            let mut hash = Sha256::new();
            hash.update(b"hedgerow chain 1");
            hash.update(*chain);
            hash.update(sent);
            *chain = hash.finalize().into();
        }
    }

    /// The whole transcript.
    pub(crate) fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow transcript 1");
        self.chains.iter().for_each(|chain| hash.update(chain));
        hash.finalize().into()
    }

    /// A word about what was received from each. The masks depend on all of the transcript, so a
    /// sender that finds two messages with one such word is not named, but makes noise all the
    /// same.
    pub(crate) fn seen(&self) -> Vec<u64> {
        let word = |chain: &Digest| chain.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
        self.chains.iter().map(word).collect()
    }

    /// Holds what `from` has seen against what we have.
    pub(crate) fn compare(&self, me: u16, from: u16, round: u32, theirs: &[u64]) -> Result<(), Fault> {
        let ours = self.seen();
        if ours.len() != theirs.len() {
            return Err(Fault::OutOfPlace { sender: from, round });
        }
        match (0u16..).zip(ours.iter().zip(theirs)).find(|(_, (ours, theirs))| ours != theirs) {
            None => Ok(()),
            // We know what we sent.
            Some((sender, _)) if sender == me => Err(Fault::OutOfPlace { sender: from, round }),
            Some((sender, _)) => Err(Fault::Split { sender, witness: from }),
        }
    }
}
