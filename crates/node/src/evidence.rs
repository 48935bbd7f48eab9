//! The signed statements of the custodians of a run, or of a question, that one node has.

use std::collections::BTreeMap;

use hedgerow_smc::Roster;

use crate::message::{Hex, NOTE_BYTES_MAX, RosterEntry, RunId};
use crate::statement::{Proof, Signed, StatementSlot, contradict};

/// The most statements that one run keeps: of many rounds only the last are of use.
const STATEMENTS_MAX: usize = 1 << 14;
/// The most statements that one note shows.
pub(crate) const SHOWN_MAX: usize = 600;
/// And the most bytes of them: the note fits into a frame.
const SHOWN_BYTES_MAX: usize = NOTE_BYTES_MAX - (1 << 12);
/// How far back messages of steps are shown: a difference is found one round later.
const ROUNDS_SHOWN: u32 = 3;
/// Ended runs whose statements are kept for what others may still show.
pub(crate) const PAST_MAX: usize = 8;

/// Statements of one run or question by custodian and place.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The run, or the question.
    pub(crate) run: RunId,
    pub(crate) roster: Roster,
    statements: BTreeMap<(u16, StatementSlot), Signed>,
    /// Custodians that are convicted.
    pub(crate) convicted: BTreeMap<u16, Proof>,
    /// Custodians whose statements were looked at after the end: each once.
    pub(crate) shown_by: Vec<u16>,
}

impl Evidence {
    pub(crate) fn new(run: RunId, roster: Roster) -> Evidence {
        Evidence { run, roster, statements: BTreeMap::new(), convicted: BTreeMap::new(), shown_by: Vec::new() }
    }

    pub(crate) fn of(&self, place: u16, slot: StatementSlot) -> Option<&Signed> {
        self.statements.get(&(place, slot))
    }

    /// Adds a statement whose signature was verified; gives a proof where it contradicts another.
    pub(crate) fn add(&mut self, place: u16, signed: &Signed) -> Option<Proof> {
        let slot = signed.statement.slot(self.run).filter(|_| signed.fits())?;
        // A message in another's name is not evidence: the sender is a part of its place.
        let of_custodian =
            self.statements.range((place, StatementSlot::Proposal)..).take_while(|((of, _), _)| *of == place);
        let other = match &slot {
            StatementSlot::Step { .. } => self.statements.get(&(place, slot.clone())).into_iter().collect::<Vec<_>>(),
            _ => of_custodian.map(|(_, signed)| signed).collect(),
        };
        let other = other.into_iter().find(|other| contradict(self.run, &signed.statement, &other.statement)).cloned();
        match other {
            Some(other) => {
                let culprit = RosterEntry::of(self.roster.members().get(usize::from(place))?);
                Some(Proof { run: self.run, culprit, one: other, other: signed.clone() })
            }
            None => {
                if self.statements.len() >= STATEMENTS_MAX {
                    // Old rounds are settled; notes come before steps in the order of places.
                    // One that sends many loses its own.
                    let is_step = |(_, slot): &&(u16, StatementSlot)| matches!(slot, StatementSlot::Step { .. });
                    let mut steps = self.statements.keys().filter(is_step);
                    let own = steps.clone().find(|(of, _)| *of == place);
                    let old = own.or_else(|| steps.next()).cloned();
                    old.and_then(|old| self.statements.remove(&old));
                }
                self.statements.entry((place, slot)).or_insert_with(|| signed.clone());
                None
            }
        }
    }

    /// The statements that may help another custodian to find a contradiction: of every step the
    /// last rounds.
    pub(crate) fn shown(&self) -> Vec<Signed> {
        let mut reached: BTreeMap<Hex<16>, BTreeMap<u16, u32>> = BTreeMap::new();
        for (place, slot) in self.statements.keys() {
            if let StatementSlot::Step { session, round, .. } = slot {
                let latest = reached.entry(*session).or_default().entry(*place).or_default();
                *latest = (*latest).max(*round);
            }
        }
        // Where the second one is: a single custodian that is far ahead must not hide the others.
        let second = |of_step: &BTreeMap<u16, u32>| {
            let mut rounds: Vec<u32> = of_step.values().copied().collect();
            rounds.sort_unstable_by(|one, other| other.cmp(one));
            rounds.get(1).or(rounds.first()).copied().unwrap_or(0)
        };
        let last: BTreeMap<Hex<16>, u32> = reached.iter().map(|(step, rounds)| (*step, second(rounds))).collect();
        let of_use = |((_, slot), _): &(&(u16, StatementSlot), &Signed)| match slot {
            StatementSlot::Step { session, round, .. } => round.saturating_add(ROUNDS_SHOWN) > last[session],
            slot => *slot != StatementSlot::Aborted,
        };
        let mut bytes = 0;
        // A custodian that writes long statements does not keep those of others out.
        let fits = |signed: &&Signed| {
            let length = serde_json::to_vec(signed).map_or(SHOWN_BYTES_MAX, |json| json.len() + 1);
            let fits = bytes + length <= SHOWN_BYTES_MAX;
            bytes += if fits { length } else { 0 };
            fits
        };
        let of_use = self.statements.iter().filter(of_use).map(|(_, signed)| signed);
        of_use.filter(fits).take(SHOWN_MAX).cloned().collect()
    }

    pub(crate) fn place_of(&self, name: &str) -> Option<u16> {
        let place = self.roster.members().iter().position(|member| member.name == name)?;
        Some(place as u16)
    }

    /// Drops evidence that is too old to be of use.
    pub(crate) fn forget(&mut self) {
        self.statements.clear();
    }

    /// The custodian of the roster that a statement is signed by.
    pub(crate) fn signer(&self, signed: &Signed) -> Option<u16> {
        let signs = |member: &hedgerow_smc::Member| signed.verifies(&member.signing_key);
        self.roster.members().iter().position(signs).map(|place| place as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Certificate;
    use crate::message::{Frame, FrameContent, Note, Proposal};
    use crate::statement::Statement;
    use crate::step_name::StepName;
    use hedgerow_smc::{Member, SigningKey};

    fn key(place: u16) -> SigningKey {
        SigningKey::from_bytes(&[place as u8 + 1; 32])
    }

    fn evidence() -> Evidence {
        let member = |place: u16| Member {
            name: format!("site-{place}"),
            key: [place as u8 + 1; 32],
            signing_key: key(place).public(),
        };
        Evidence::new(Hex([7; 16]), Roster::new((0..3).map(member).collect()).unwrap())
    }

    fn step(step: StepName, place: u16, round: u32, digest: u8) -> Signed {
        let session = Hex(step.session(Hex([7; 16])));
        Statement::Step { session, sender: place, round, chunk: 0, digest: Hex([digest; 32]) }.sign(&key(place))
    }

    #[test]
    fn the_last_rounds_of_every_step_are_shown_whatever_round_one_custodian_claims() {
        let mut evidence = evidence();
        for round in 0..90 {
            for place in [1, 2] {
                assert!(evidence.add(place, &step(StepName::Classes, place, round, 1)).is_none());
            }
        }
        for place in [1, 2] {
            evidence.add(place, &step(StepName::Rows, place, 0, 1));
        }
        // A round that no run reaches, so that nothing else would be among the last ones.
        evidence.add(2, &step(StepName::Classes, 2, u32::MAX, 1));
        evidence.add(2, &step(StepName::Rows, 2, u32::MAX - 1, 1));
        let shown = evidence.shown();
        let has = |name, place, round| shown.contains(&step(name, place, round, 1));
        for place in [1, 2] {
            assert!(has(StepName::Classes, place, 89) && has(StepName::Classes, place, 87));
            assert!(!has(StepName::Classes, place, 80));
            assert!(has(StepName::Rows, place, 0), "a later step has fewer rounds than the one before");
        }
    }

    #[test]
    fn a_custodian_that_sends_many_messages_loses_its_own_and_not_those_of_others() {
        let mut evidence = evidence();
        evidence.add(0, &step(StepName::Classes, 0, 4, 1));
        let [many, first] = [step(StepName::Classes, 2, 0, 2), step(StepName::Classes, 1, 0, 1)];
        evidence.add(1, &first);
        for round in 0..STATEMENTS_MAX as u32 + 10 {
            let Statement::Step { session, sender, chunk, digest, .. } = many.statement.clone() else { panic!() };
            let statement = Statement::Step { session, sender, round, chunk, digest };
            evidence.add(2, &Signed { statement, signature: many.signature });
        }
        assert!(evidence.statements.len() <= STATEMENTS_MAX);
        assert!(evidence.add(1, &step(StepName::Classes, 1, 0, 9)).is_some(), "site 1 is convicted still");
        assert!(evidence.add(0, &step(StepName::Classes, 0, 4, 9)).is_some());
    }

    /// A certificate in a proposal can be as long as a statement may be.
    #[test]
    fn one_custodian_with_long_statements_does_not_keep_those_of_others_from_being_shown() {
        let mut evidence = evidence();
        let run = evidence.run;
        let named = RosterEntry { name: "site-0".to_owned(), key: Hex([0; 32]), signing_key: Hex([0; 32]) };
        let (terms, by) = (Hex([0; 32]), "site-0".to_owned());
        let short = Proposal { run, epoch: 1, terms, roster: Vec::new(), by };
        let proposal = Proposal { roster: vec![named; 2500], ..short.clone() };
        let (committed, release) = (Hex([0; 32]), Hex([0; 32]));
        let previous = Box::new(Certificate { proposal, committed, release, signatures: Vec::new() });
        for place in 0..3 {
            let (proposal, previous) = (short.clone(), Some(previous.clone()));
            let long = Statement::Note { note: Note::Propose { proposal, previous } }.sign(&key(place));
            let approved = Statement::Note { note: Note::Approved { run, plan: Hex([7; 32]) } }.sign(&key(place));
            assert!(long.fits());
            for signed in [long, approved, step(StepName::Classes, place, 0, 1)] {
                assert!(evidence.add(place, &signed).is_none());
            }
        }
        let statements = evidence.shown();
        let has = |slot| statements.iter().filter(|signed| signed.statement.slot(run).as_ref() == Some(&slot)).count();
        assert_eq!((has(StatementSlot::Proposal), has(StatementSlot::Approved)), (2, 3));
        assert_eq!(statements.len(), 8, "and the steps");
        let note = FrameContent::Note(Note::Shown { run, statements });
        let frame = Frame::sign(note.clone(), &key(0)).encode();
        assert_eq!(Frame::decode(&frame[4..]).unwrap().content, note, "the others can read it");
    }
}
