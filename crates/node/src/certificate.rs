//! The certificate of a run: every custodian's signature that it is prepared, for one plan and
//! one release. Nothing else publishes a run, and a custodian that has signed does not give up.

use serde::{Deserialize, Serialize};

use crate::message::{Hex, Note, Proposal, RosterEntry};
use crate::statement::{Signed, Statement};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The proposal: its roster names everyone who has to sign.
    pub proposal: Proposal,
    /// The digest of terms, custodians and their commitments to rows. With the proposal it is what
    /// all operators approved, so that no shorter roster fits the same signatures.
    pub committed: Hex<32>,
    /// The hash of what is released: the same bytes at all custodians.
    pub release: Hex<32>,
    /// By custodian, in the roster's order.
    pub signatures: Vec<Hex<64>>,
}

impl Certificate {
    /// The statement that every custodian signed.
    fn statement(&self) -> Statement {
        let Certificate { proposal, release, .. } = self;
        let Proposal { run, epoch, .. } = *proposal;
        let plan = self.approved();
        Statement::Note { note: Note::Prepared { run, epoch, plan, release: *release } }
    }

    /// The digest that all operators approved.
    pub fn approved(&self) -> Hex<32> {
        Hex(self.proposal.approval(&self.committed.0))
    }

    /// Whether all custodians of its roster signed. The caller knows the roster.
    pub fn holds(&self) -> bool {
        let statement = self.statement();
        let signed = |(named, signature): (&RosterEntry, &Hex<64>)| {
            Signed { statement: statement.clone(), signature: *signature }.verifies(&named.signing_key.0)
        };
        let Proposal { roster, .. } = &self.proposal;
        self.proposal.roster().is_ok()
            && roster.len() == self.signatures.len()
            && roster.iter().zip(&self.signatures).all(signed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_smc::SigningKey;

    #[test]
    fn a_certificate_needs_every_signature_over_the_same_words() {
        let keys: Vec<SigningKey> = (1..4u8).map(|seed| SigningKey::from_bytes(&[seed; 32])).collect();
        let named = |(place, key): (usize, &SigningKey)| RosterEntry {
            name: format!("site-{place}"),
            key: Hex([place as u8; 32]),
            signing_key: Hex(key.public()),
        };
        let roster: Vec<RosterEntry> = keys.iter().enumerate().map(named).collect();
        let (run, terms, by) = (Hex([1; 16]), Hex([5; 32]), "site-0".to_owned());
        let proposal = Proposal { run, epoch: 3, terms, roster, by };
        let (committed, release) = (Hex([2; 32]), Hex([4; 32]));
        let empty = Certificate { proposal, committed, release, signatures: Vec::new() };
        let signatures = keys.iter().map(|key| empty.statement().sign(key).signature).collect();
        let whole = Certificate { signatures, ..empty.clone() };
        assert!(whole.holds());
        assert!(!empty.holds());
        let mut fewer = whole.clone();
        fewer.signatures.pop();
        assert!(!fewer.holds());
        let mut twice = whole.clone();
        twice.signatures[2] = twice.signatures[1];
        assert!(!twice.holds(), "one signature in two places");
        let changed = |change: fn(&mut Certificate)| {
            let mut certificate = whole.clone();
            change(&mut certificate);
            certificate.holds()
        };
        assert!(changed(|_| {}));
        assert!(!changed(|certificate| certificate.proposal.epoch = 4));
        assert!(!changed(|certificate| certificate.proposal.run = Hex([9; 16])));
        assert!(!changed(|certificate| certificate.proposal.terms = Hex([9; 32])));
        assert!(!changed(|certificate| certificate.proposal.by = "site-1".to_owned()));
        assert!(!changed(|certificate| certificate.committed = Hex([9; 32])));
        assert!(!changed(|certificate| certificate.release = Hex([9; 32])));
        // The last custodian never signed: neither does a roster without it fit.
        assert!(!changed(|certificate| {
            certificate.proposal.roster.pop();
            certificate.signatures.pop();
        }));
    }

    #[test]
    fn one_custodian_alone_certifies_nothing() {
        let key = SigningKey::from_bytes(&[1; 32]);
        let named = |name: &str, key_byte: u8| {
            let name = name.to_owned();
            RosterEntry { name, key: Hex([key_byte; 32]), signing_key: Hex(key.public()) }
        };
        for roster in [
            Vec::new(),
            vec![named("site-0", 1)],
            vec![named("site-0", 1), named("site-0", 1), named("site-0", 1)],
            vec![named("site-0", 1), named("site-1", 2), named("site-2", 3)],
        ] {
            let signers = roster.len();
            let (run, terms, by) = (Hex([1; 16]), Hex([5; 32]), "site-0".to_owned());
            let proposal = Proposal { run, epoch: u64::MAX - 1, terms, roster, by };
            let (committed, release) = (Hex([2; 32]), Hex([4; 32]));
            let mut certificate = Certificate { proposal, committed, release, signatures: Vec::new() };
            certificate.signatures = vec![certificate.statement().sign(&key).signature; signers];
            assert!(!certificate.holds(), "{signers} signatures of one custodian");
        }
    }
}
