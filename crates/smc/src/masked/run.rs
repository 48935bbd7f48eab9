//! Answers an inquiry by masked sums: the heart of the default profile.
//!
//! Round 0: each sends a public key made for this run. Every later round: each custodian sends its
//! vector under its masks (`keys.rs`) to all others, and adds up what it gets. A sum is one round.
//! A largest value is one round per binary digit, from the top: a custodian that is still in the
//! running and has the digit puts a *random* word where the others put 0, so that the total tells
//! whether any has it and not how many. (A total of random words is 0 with probability 2⁻⁶⁴; then a
//! digit would be missed.) An objection is found in the same way in one round.
//!
//! **What a party sees**: the public keys, one vector of words from each other party per round, and
//! hence the totals.
//!
//! **Why that can be simulated** from its own input and the totals in the ledger: take a coalition
//! that leaves out at least two parties, and take away the masks that its members share with those
//! outside. What is left of each outside vector carries the masks of pairs outside. They are the
//! output of ChaCha20 under keys from HKDF over an X25519 secret that the coalition does not have,
//! so they cannot be distinguished from uniform words; the graph of pairs outside is complete,
//! hence connected, so the vectors outside are uniform but for their sum, and that sum is the total
//! minus the coalition's own inputs. A simulator draws such vectors from the total alone.
//! `coalition.rs` tries to tell the difference. For a largest value the total of a digit is 0 or
//! uniform, so it is simulated from the digit; but a coalition that subtracts its own words also
//! learns whether a party *outside* has the digit, that is, how far the largest value outside
//! agrees with the largest of all. A party that alone holds the largest value learns the same of
//! all others.
//!
//! **A split view** (a party sends the others different vectors) is found before the next total
//! opens: every message says what its sender has received (`transcript.rs`), and the masks of a
//! round depend on all messages before it. After the last round each confirms what it opened
//! and concluded; a run concludes when all have confirmed the same.
//!
//! **What it does not protect against**: n − 1 parties together learn the last one's input from the
//! total, whatever the protocol. A party that lies about its input shifts the total. A party that
//! stops, stops the run: nothing is opened that the ledger does not list, but the others must start
//! again under the burn rule. Who takes part, when, and how long vectors are, is public.

use std::fmt;

use super::keys::{KeyPair, Keyring};
use super::transcript::Transcript;
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::{Fault, Reason};
use crate::inbox::{Inbox, RunPlace};
use crate::inquiry::{Ask, Inquiry, Operation, Thresholds, Turn};
use crate::ledger::{Ledger, OpenedKind, Opens};
use crate::long;
use crate::machine::{self, Concluded, Effects, Engine, Failure, Machine, Outgoing, To, Transition};
use crate::message::{Body, Digest, Message};
use crate::packed::{pack, unpack};
use crate::secret::Private;

/// One custodian's side of a masked run.
pub struct Run<I: Inquiry> {
    place: RunPlace,
    roster: Digest,
    keys: KeyPair,
    keyring: Option<Keyring>,
    coins: Coins,
    inbox: Inbox,
    transcript: Transcript,
    round: u32,
    announced: Vec<OpenedKind>,
    inquiry: Option<I>,
    pending: Option<Pending>,
    /// The message that we sent in this round: our share of the total, and its digest.
    sent: Vec<u64>,
    sent_digest: Digest,
    /// The output, while all confirm.
    concluded: Option<(I::Output, [Digest; 2])>,
    ledger: Ledger,
    /// How many entries of the ledger have been handed out.
    journaled: usize,
    send: Vec<Outgoing>,
}

#[derive(Debug)]
struct Pending {
    operation: Operation,
    opens: Vec<Opens>,
    thresholds: Vec<Thresholds>,
    own: Private,
    /// For a largest value: what is known of the largest ones, and the digit being requested.
    found: Vec<u64>,
    digit: u8,
}

/// The kinds of values that such a run can open: to be agreed on before it starts.
pub fn may_open<I: Inquiry>(inquiry: &I) -> Vec<OpenedKind> {
    let mut kinds = inquiry.may_open();
    if kinds.contains(&OpenedKind::Largest) && !kinds.contains(&OpenedKind::Digits) {
        kinds.push(OpenedKind::Digits);
    }
    kinds
}

/// Starts one custodian's side of a run. `me` is its place in the roster's order of names.
pub fn start<I: Inquiry>(permit: Permit, me: u16, inquiry: I, mut coins: Coins) -> Result<Transition<Run<I>>, Fault> {
    let place = permit.place(me)?;
    let keys = KeyPair::draw(&mut coins);
    let hello = place.message(0, Body::Key(keys.public()));
    let run = Run {
        place,
        roster: permit.roster.digest(),
        keys,
        keyring: None,
        coins,
        inbox: Inbox::new(place),
        transcript: Transcript::new(place.count),
        round: 0,
        announced: inquiry.may_open(),
        inquiry: Some(inquiry),
        pending: None,
        sent: Vec::new(),
        sent_digest: hello.digest(),
        concluded: None,
        ledger: Ledger::default(),
        journaled: 0,
        send: Vec::new(),
    };
    let send = vec![Outgoing { to: To::Others, message: hello }];
    Ok(Transition::Continue(run, Effects { opened: Vec::new(), send }))
}

impl<I: Inquiry> Machine for Run<I> {
    type Output = Concluded<I::Output>;

    fn step(self, from: u16, message: Message) -> Result<Transition<Self>, Failure> {
        machine::step(self, from, message)
    }

    fn abort(self, blamed: Option<u16>) -> Outgoing {
        machine::farewell(&self, Reason::GaveUp, blamed)
    }

    fn taken_in(&self) -> usize {
        self.inbox.taken_in()
    }

    fn waits_for(&self) -> Vec<u16> {
        self.inbox.missing(self.round)
    }
}

impl<I: Inquiry> Engine for Run<I> {
    fn place(&self) -> RunPlace {
        self.place
    }

    fn round(&self) -> u32 {
        self.round
    }

    fn take_effects(&mut self) -> Effects {
        let opened = self.ledger.entries()[self.journaled..].to_vec();
        self.journaled += opened.len();
        Effects { opened, send: std::mem::take(&mut self.send) }
    }

    fn advance(&mut self, from: u16, message: Message) -> Result<Option<Self::Output>, Fault> {
        self.inbox.accept(from, message, self.round)?;
        while let Some(bodies) = self.inbox.all_single(self.round)? {
            // Before anything else is judged: custodians with other transcripts may well ask
            // otherwise.
            for (sender, body) in &bodies {
                if let Body::Masked { seen, .. } | Body::Confirm { seen, .. } = body {
                    self.transcript.compare(self.place.me, *sender, self.round, seen)?;
                }
            }
            if let Some((output, digests)) = self.concluded.take() {
                self.confirmed(&bodies, digests)?;
                return Ok(Some(Concluded { output, ledger: self.ledger.clone() }));
            }
            let answer = if self.round == 0 {
                self.meet(bodies)?;
                self.close_round()?;
                Some(Vec::new())
            } else {
                let totals = self.open(bodies)?;
                self.close_round()?;
                self.absorb(totals)?
            };
            match answer {
                Some(answer) => match self.turn(answer)? {
                    Some(output) => self.conclude(output)?,
                    None => self.ask()?,
                },
                None => self.ask()?,
            }
        }
        Ok(None)
    }
}

impl<I: Inquiry> Run<I> {
    /// Round 0 is complete: the keys of all others are there.
    fn meet(&mut self, bodies: Vec<(u16, Body)>) -> Result<(), Fault> {
        let mut publics = vec![self.keys.public(); usize::from(self.place.count)];
        for (sender, body) in bodies {
            let Body::Key(public) = body else { return Err(Fault::OutOfPlace { sender, round: 0 }) };
            publics[usize::from(sender)] = public;
        }
        self.keyring = Some(Keyring::agree(&self.keys, &publics, self.place, &self.roster)?);
        Ok(())
    }

    /// Adds the messages of this round to the transcript.
    fn close_round(&mut self) -> Result<(), Fault> {
        let digest = |custodian: u16| match custodian == self.place.me {
            true => Ok(self.sent_digest),
            false => self.inbox.digest(self.round, custodian).ok_or(Fault::Internal("a message without digest")),
        };
        let sent: Vec<Digest> = (0..self.place.count).map(digest).collect::<Result<_, Fault>>()?;
        self.transcript.extend(&sent);
        Ok(())
    }

    fn open(&mut self, bodies: Vec<(u16, Body)>) -> Result<Vec<u64>, Fault> {
        let mut totals = std::mem::take(&mut self.sent);
        for (sender, body) in bodies {
            match body {
                Body::Masked { words, .. } if words.len() == totals.len() => {
                    totals.iter_mut().zip(words).for_each(|(total, word)| *total = total.wrapping_add(word));
                }
                _ => return Err(Fault::OutOfPlace { sender, round: self.round }),
            }
        }
        Ok(totals)
    }

    /// The answer to the pending ask, if these totals complete it; what was opened goes into the
    /// ledger.
    fn absorb(&mut self, totals: Vec<u64>) -> Result<Option<Vec<u64>>, Fault> {
        let mut pending = self.pending.take().ok_or(Fault::Internal("totals of no ask"))?;
        let words = pending.own.0.len();
        let any = |totals: Vec<u64>| totals.into_iter().map(|total| u64::from(total != 0)).collect::<Vec<_>>();
        let layout = pending.operation.layout(words).ok_or(Fault::Internal("more flags than words"))?;
        let opened = match pending.operation {
            Operation::Sum => totals,
            Operation::Count { bits } => unpack(&totals, bits, words),
            Operation::Any => any(totals),
            Operation::Tally { bits, .. } => {
                let mut totals = totals;
                let raised = any(totals.split_off(totals.len() - layout.flags.len()));
                let mut opened = unpack(&totals, bits, layout.flags.start);
                opened.extend(raised);
                opened
            }
            Operation::Max { .. } => {
                let digits = any(totals);
                let digit = pending.digit;
                pending.found.iter_mut().zip(&digits).for_each(|(found, one)| *found |= one << digit);
                self.ledger.record(self.round, OpenedKind::Digits, "a binary digit, the highest first", digits);
                if digit > 0 {
                    pending.digit -= 1;
                    self.pending = Some(pending);
                    return Ok(None);
                }
                std::mem::take(&mut pending.found)
            }
        };
        self.ledger.record_all(self.round, &pending.opens, &opened, layout.compared.clone(), &pending.thresholds);
        Ok(Some(layout.answer(opened, &pending.thresholds)))
    }

    /// Lets the inquiry go on until it has something to ask of the others, or is done.
    fn turn(&mut self, mut answer: Vec<u64>) -> Result<Option<I::Output>, Fault> {
        loop {
            let inquiry = self.inquiry.take().ok_or(Fault::Internal("no inquiry"))?;
            let (inquiry, ask) = match inquiry.next(&answer) {
                Turn::Done(output) => return Ok(Some(output)),
                Turn::Impossible(what) => return Err(Fault::Impossible { what }),
                Turn::Exceeds { what, found, max } => return Err(Fault::Limit { what, found, max }),
                Turn::Ask(inquiry, ask) => (inquiry, ask),
            };
            self.inquiry = Some(inquiry);
            ask.check(&self.announced, &self.place.limits)?;
            let Ask { operation, words, opens, thresholds } = ask;
            let own = Private(words);
            let (found, digit) = match operation {
                Operation::Max { bits: 0 } => {
                    answer = vec![0; own.0.len()];
                    continue;
                }
                Operation::Max { bits } => (vec![0; own.0.len()], bits.min(64) - 1),
                Operation::Sum | Operation::Count { .. } | Operation::Any | Operation::Tally { .. } => (Vec::new(), 0),
            };
            self.pending = Some(Pending { operation, opens, thresholds, own, found, digit });
            return Ok(None);
        }
    }

    /// Our vector for the next round, under its masks.
    fn ask(&mut self) -> Result<(), Fault> {
        let pending = self.pending.as_ref().ok_or(Fault::Internal("nothing to send"))?;
        let own = &pending.own.0;
        let layout = pending.operation.layout(own.len()).ok_or(Fault::Internal("more flags than words"))?;
        let mut words: Vec<u64> = match pending.operation {
            Operation::Sum => own.clone(),
            Operation::Count { bits } => pack(own, bits),
            Operation::Any => own.iter().map(|word| self.coins.flag(*word != 0)).collect(),
            Operation::Tally { bits, .. } => {
                let mut words = pack(&own[..layout.flags.start], bits);
                words.extend(own[layout.flags.clone()].iter().map(|word| self.coins.flag(*word != 0)));
                words
            }
            Operation::Max { .. } => {
                let digit = pending.digit;
                // In the running and with this digit: what is found so far has neither it nor the
                // ones below.
                let in_running = |own: u64, found: u64| own >> digit == (found >> digit) | 1;
                let lanes = own.iter().zip(&pending.found);
                lanes.map(|(own, found)| self.coins.flag(in_running(*own, *found))).collect()
            }
        };
        self.next_round()?;
        #[cfg(test)]
        super::mutants::covering(self.round, words.len().checked_sub(layout.flags.len()));
        let keyring = self.keyring.as_mut().ok_or(Fault::Internal("no keys"))?;
        keyring.mask(self.round, &self.transcript.digest())?.cover(&mut words);
        self.sent.clone_from(&words);
        let seen = self.transcript.seen();
        self.tell(Body::Masked { words, seen });
        Ok(())
    }

    fn next_round(&mut self) -> Result<(), Fault> {
        self.round += 1;
        let (found, max) = (u64::from(self.round), u64::from(self.place.limits.rounds_max));
        if found > max { Err(Fault::Limit { what: "rounds", found, max }) } else { Ok(()) }
    }

    fn tell(&mut self, body: Body) {
        let message = self.place.message(self.round, body);
        self.sent_digest = message.digest();
        self.send.push(Outgoing { to: To::Others, message });
    }

    /// The inquiry is done: each says what it concludes.
    fn conclude(&mut self, output: I::Output) -> Result<(), Fault> {
        self.next_round()?;
        let (ledger, shared) = (self.ledger.digest(), long::digest(&I::shared(&output)));
        self.tell(Body::Confirm { ledger, output: shared, seen: self.transcript.seen() });
        self.concluded = Some((output, [ledger, shared]));
        Ok(())
    }

    fn confirmed(&self, bodies: &[(u16, Body)], [own_ledger, own_output]: [Digest; 2]) -> Result<(), Fault> {
        for (sender, body) in bodies {
            let sender = *sender;
            let Body::Confirm { ledger, output, .. } = body else {
                return Err(Fault::OutOfPlace { sender, round: self.round });
            };
            if *ledger != own_ledger {
                return Err(Fault::Disagrees { sender, what: "ledger" });
            }
            if *output != own_output {
                return Err(Fault::Disagrees { sender, what: "output" });
            }
        }
        Ok(())
    }
}

impl<I: Inquiry> fmt::Debug for Run<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("me", &self.place.me).field("round", &self.round).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BurnBook, Extremes, Medians, Question, Roster, Sums, UnionCounts, simulate};

    fn run<I: Inquiry>(inquiries: Vec<I>, seed: u64) -> Vec<Concluded<I::Output>> {
        let roster = Roster::numbered(inquiries.len()).unwrap();
        let start = |(me, inquiry)| {
            let permit = BurnBook::default().permit([seed as u8; 16], Question::new("test", b""), &roster).unwrap();
            start(permit, me as u16, inquiry, Coins::danger_from_seed(seed * 1000 + me as u64)).unwrap()
        };
        simulate::run(inquiries.into_iter().enumerate().map(start).collect(), seed).unwrap().0
    }

    #[test]
    fn only_the_total_opens_and_every_custodian_has_it() {
        for count in 3..9u64 {
            let inquiries = (0..count).map(|me| Sums::new(vec![me, 100 * me, u64::MAX])).collect();
            for concluded in run(inquiries, count) {
                let sum = count * (count - 1) / 2;
                assert_eq!(concluded.output, vec![sum, 100 * sum, count.wrapping_neg()]);
                assert_eq!(concluded.ledger.counts(), vec![(OpenedKind::Totals, 3)]);
            }
        }
    }

    #[test]
    fn smallest_and_largest_agree_with_looking_at_everything() {
        let mut coins = Coins::danger_from_seed(3);
        for case in 0..40 {
            let (count, domain, lanes) = (3 + coins.below(5), 1 + coins.below(70), coins.below(4) as usize);
            let mut lane = || {
                let (one, other) = (coins.below(domain), coins.below(domain));
                (coins.below(3) > 0).then(|| (one.min(other), one.max(other)))
            };
            let inputs: Vec<Vec<_>> = (0..count).map(|_| (0..lanes).map(|_| lane()).collect()).collect();
            let expected: Vec<_> = (0..lanes)
                .map(|lane| {
                    let values: Vec<(u64, u64)> = inputs.iter().filter_map(|input| input[lane]).collect();
                    Some((values.iter().map(|value| value.0).min()?, values.iter().map(|value| value.1).max()?))
                })
                .collect();
            let inquiries = inputs.iter().map(|input| Extremes::new(input.clone(), domain)).collect();
            for concluded in run(inquiries, case) {
                assert_eq!(concluded.output, expected, "case {case}");
                let digits = concluded.ledger.entries().iter().filter(|entry| entry.kind == OpenedKind::Digits);
                assert_eq!(digits.count(), usize::from(Extremes::bits(domain)), "one round for each digit");
            }
        }
    }

    #[test]
    fn medians_agree_with_sorting_everything() {
        let mut coins = Coins::danger_from_seed(4);
        for case in 0..40 {
            let (count, groups) = (3 + coins.below(4), coins.below(4) as usize);
            let domains: Vec<u64> = (0..groups).map(|_| 1 + coins.below(40)).collect();
            let mut values = |domain: &u64| {
                let rows = coins.below(6);
                ((0..rows).map(|_| coins.below(*domain)).collect::<Vec<u64>>(), *domain)
            };
            let inputs: Vec<Vec<_>> = (0..count).map(|_| domains.iter().map(&mut values).collect()).collect();
            let expected: Vec<Option<u64>> = (0..groups)
                .map(|group| {
                    let mut all: Vec<u64> = inputs.iter().flat_map(|input| input[group].0.clone()).collect();
                    all.sort_unstable();
                    (!all.is_empty()).then(|| all[(all.len() - 1) / 2])
                })
                .collect();
            let inquiries = inputs.iter().map(|input| Medians::new(input.clone())).collect();
            for concluded in run(inquiries, case) {
                assert_eq!(concluded.output, expected, "case {case}");
            }
        }
    }

    #[test]
    fn a_union_of_rows_is_their_counts() {
        let inputs = [vec![(0, 1), (0, 1), (2, 0)], vec![], vec![(0, 1), (1, 1)]];
        let inquiries = inputs.into_iter().map(|rows| UnionCounts::new(rows, 3, 2)).collect();
        for concluded in run(inquiries, 5) {
            assert_eq!(concluded.output, vec![(0, 1, 3), (1, 1, 1), (2, 0, 1)]);
        }
    }

    #[test]
    fn ledgers_of_all_custodians_agree() {
        let inquiries = (0..4).map(|me| Medians::new(vec![(vec![me, me + 3], 9)])).collect();
        let concluded = run(inquiries, 6);
        assert!(concluded.iter().all(|one| one.ledger == concluded[0].ledger));
    }

    #[test]
    fn the_total_of_a_digit_tells_whether_and_not_how_many() {
        // What opens on the wire, not what the ledger makes of it: the sums of all words of a
        // round, lane by lane.
        let inquiry = |me: u64| Extremes::new(vec![Some((3, 5)), (me == 0).then_some((3, 5))], 8);
        let roster = Roster::numbered(4).unwrap();
        let start = |me: u64| {
            let permit = BurnBook::default().permit([4; 16], Question::new("test", b""), &roster).unwrap();
            start(permit, me as u16, inquiry(me), Coins::danger_from_seed(me)).unwrap()
        };
        let mut totals = std::collections::BTreeMap::<u32, Vec<u64>>::new();
        let watcher = |delivery: &simulate::Delivery| {
            if let Body::Masked { words, .. } = &delivery.message.body
                && delivery.to == (delivery.message.sender + 1) % 4
            {
                let total = totals.entry(delivery.message.round).or_insert_with(|| vec![0; words.len()]);
                total.iter_mut().zip(words).for_each(|(total, word)| *total = total.wrapping_add(*word));
            }
        };
        simulate::watch((0..4).map(start).collect(), 1, watcher).unwrap();
        let (mut none, mut some) = (0, 0);
        for total in totals.into_values().flatten() {
            // A random word below 2³² comes once in four thousand million times.
            assert!(total == 0 || total > u64::from(u32::MAX), "{total} custodians have a digit");
            if total == 0 { none += 1 } else { some += 1 }
        }
        assert!(none > 0 && some > 0);
    }

    /// Asks for sizes without having announced them.
    struct Curious;

    impl Inquiry for Curious {
        type Output = ();

        fn may_open(&self) -> Vec<OpenedKind> {
            vec![OpenedKind::Totals]
        }

        fn next(self, _: &[u64]) -> Turn<Self> {
            Turn::Ask(self, Ask::one(Operation::Sum, vec![1], OpenedKind::Sizes, "all"))
        }

        fn shared((): &()) -> Vec<u8> {
            Vec::new()
        }
    }

    #[test]
    fn unannounced_kinds_are_not_opened() {
        let roster = Roster::numbered(3).unwrap();
        let start = |me| {
            let permit = BurnBook::default().permit([0; 16], Question::new("test", b""), &roster).unwrap();
            start(permit, me, Curious, Coins::danger_from_seed(u64::from(me))).unwrap()
        };
        let outcome = simulate::run((0..3).map(start).collect(), 1);
        assert_eq!(outcome.unwrap_err(), Fault::NotAnnounced(OpenedKind::Sizes));
    }
}
