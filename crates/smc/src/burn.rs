//! The burn rule: masks are used once, and rows that took part in a run take part in no other.
//!
//! Suppose five custodians learn a total, and then four of them learn the same total without the
//! fifth: the difference is what the fifth holds, and no mask helps. The same happens when all five
//! ask again after one of them has added a row, or when the terms change a little. It is enough
//! that *one custodian* may have opened the first total, and that is possible as soon as we have
//! sent anything. So a run is burned when it starts, not when it ends: a run that failed counts.
//!
//! A book belongs to one source of rows: whatever runs are in it are taken to be about overlapping
//! rows, since no list of values can prove that two rows are of different people. The same plan
//! (terms, custodians, all rows) may be run again with new masks; any other plan is
//! refused. An operator who insists is shown first what the difference of the two answers would
//! show ([`BurnBook::differences`]); only that makes what [`BurnBook::permit_despite`] asks for.
//!
//! The rule is a type. A run takes a [`Permit`], which only a book makes and which cannot be
//! copied. The book must outlive the process: [`BurnBook::encode`] is what a custodian keeps on
//! disk *before* the first message leaves. It is a chain of entries with a checksum; its [`Head`],
//! kept somewhere else, shows whether an older copy was put in its place
//! ([`BurnBook::decode_after`]). A book holds fingerprints of rows, and is as private as the rows.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::coins::Coins;
use crate::fault::{Fault, WireFault};
use crate::inbox::RunPlace;
use crate::limits::RunLimits;
use crate::message::{Digest, SessionId};
use crate::plan::{Difference, Differences, Insisted, Plan, Snapshot};
use crate::roster::{CUSTODIANS_MAX, Member, Question, Roster};
use crate::secret::Secret;
use crate::wire::{Reader, Writer};

/// The first bytes of a book, and the version of its own format.
const MAGIC: &[u8; 8] = b"hedgbook";
const BOOK_VERSION: u8 = 1;
/// The most bytes of an entry: fingerprints of a hundred million rows.
const ENTRY_BYTES_MAX: usize = 1 << 30;
const TEXT_BYTES_MAX: usize = 1 << 10;

/// The runs of one custodian with the rows of one source.
pub struct BurnBook {
    secret: Secret,
    plans: Vec<Burned>,
    sessions: Vec<(SessionId, Digest)>,
    entries: Vec<Vec<u8>>,
    /// The hash over no entry, over the first, over the first two, and so on.
    chain: Vec<Digest>,
}

/// A plan that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Burned {
    digest: Digest,
    terms: Digest,
    members: Vec<Member>,
    commitments: Vec<Digest>,
    /// `None` when the rows are not known.
    own: Option<Snapshot>,
    /// The operator who insisted, where one had to.
    insisted: String,
}

/// The right to start one run, once.
#[derive(Debug)]
pub struct Permit {
    pub(crate) session: SessionId,
    pub(crate) question: Question,
    pub(crate) roster: Roster,
}

impl Permit {
    pub(crate) fn place(&self, me: u16) -> Result<RunPlace, Fault> {
        let count = self.roster.count() as u16;
        if me >= count {
            return Err(Fault::Stranger { sender: me });
        }
        let (session, question, limits) = (self.session, self.question.digest(), self.question.limits);
        Ok(RunPlace { session, question, me, count, limits })
    }
}

/// Where a book stands: how many entries it has, and a hash over all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub entries: u64,
    pub digest: Digest,
}

impl BurnBook {
    /// An empty book. The coins make the fingerprints in it worthless to a reader who has only
    /// them.
    pub fn new(coins: &mut Coins) -> BurnBook {
        BurnBook::with_secret(coins.secret())
    }

    fn with_secret(secret: Secret) -> BurnBook {
        let chain = vec![Sha256::digest([&b"hedgerow book 1"[..], secret.bytes()].concat()).into()];
        BurnBook { secret, plans: Vec::new(), sessions: Vec::new(), entries: Vec::new(), chain }
    }

    /// Adds an entry to the chain, which is never hashed anew: entries hold fingerprints of all
    /// rows.
    fn push(&mut self, entry: Vec<u8>) {
        let mut hash = Sha256::new();
        hash.update(self.head().digest);
        hash.update(&entry);
        self.chain.push(hash.finalize().into());
        self.entries.push(entry);
    }

    /// The state of the custodian's rows, each as bytes that are the same whenever the row is.
    pub fn snapshot<'a>(&self, rows: impl IntoIterator<Item = &'a [u8]>) -> Snapshot {
        let digest = |row: &[u8]| -> Digest {
            let mut hash = Sha256::new();
            hash.update(b"hedgerow row 1");
            hash.update(self.secret.bytes());
            hash.update(row);
            hash.finalize().into()
        };
        let mut digests: Vec<Digest> = rows.into_iter().map(digest).collect();
        digests.sort_unstable();
        let mut hash = Sha256::new();
        hash.update(b"hedgerow snapshot 1");
        hash.update(self.secret.bytes());
        digests.iter().for_each(|digest| hash.update(digest));
        let word = |digest: &Digest| digest.first_chunk().map_or(0, |eight| u64::from_be_bytes(*eight));
        Snapshot { commitment: hash.finalize().into(), fingerprints: digests.iter().map(word).collect() }
    }

    /// The right to one step of a plan: to be kept on disk before it is used.
    pub fn permit_run(&mut self, session: SessionId, plan: &Plan, step: &str) -> Result<Permit, Fault> {
        let burned = Burned::of(plan);
        self.burn(session, plan.question(step), &plan.roster, burned)
    }

    /// The same for a plan that the book refuses, for an operator who has seen what it would show.
    pub fn permit_despite(
        &mut self,
        session: SessionId,
        plan: &Plan,
        step: &str,
        insisted: Insisted,
    ) -> Result<Permit, Fault> {
        let seen = self.differences(plan);
        if insisted.plan != seen.plan || insisted.seen != seen.differences.len() {
            return Err(Fault::Burned);
        }
        let burned = Burned { insisted: insisted.operator, ..Burned::of(plan) };
        self.burn(session, plan.question(step), &plan.roster, burned)
    }

    /// The right to a single question over rows that the book knows nothing of, so that it takes
    /// them to be the same as those of any other.
    pub fn permit(&mut self, session: SessionId, question: Question, roster: &Roster) -> Result<Permit, Fault> {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow question alone 1");
        hash.update(question.digest());
        hash.update(roster.digest());
        let (digest, terms, members) = (hash.finalize().into(), question.digest(), roster.members().to_vec());
        let burned = Burned { digest, terms, members, commitments: Vec::new(), own: None, insisted: String::new() };
        self.burn(session, question, roster, burned)
    }

    /// The right to ask about what a run of a plan has published in parts. The book must have the
    /// plan; it needs no new entry, since the answer follows from what that run released, and keys
    /// are drawn anew whenever something is started. `about` is everything that makes it this
    /// question.
    pub fn permit_answer(
        &self,
        session: SessionId,
        plan: &Digest,
        about: &[u8],
        limits: RunLimits,
    ) -> Result<Permit, Fault> {
        let unknown = Fault::Internal("an answer about a run that the book does not have");
        let burned = self.plans.iter().find(|burned| burned.digest == *plan).ok_or(unknown)?;
        let roster = Roster::new(burned.members.clone())?;
        let question = Question::new("answer", &[&plan[..], about].concat()).within(limits);
        Ok(Permit { session, question, roster })
    }

    fn burn(
        &mut self,
        session: SessionId,
        question: Question,
        roster: &Roster,
        burned: Burned,
    ) -> Result<Permit, Fault> {
        if self.sessions.iter().any(|(used, _)| *used == session) {
            return Err(Fault::SessionUsed);
        }
        if !self.plans.iter().any(|plan| plan.digest == burned.digest) {
            if !self.plans.is_empty() && burned.insisted.is_empty() {
                return Err(Fault::Burned);
            }
            self.push(burned.encode());
            self.plans.push(burned);
        }
        self.push(encode_session(&session, &question.digest()));
        self.sessions.push((session, question.digest()));
        Ok(Permit { session, question, roster: roster.clone() })
    }

    /// The differences that a plan would disclose together with each earlier run of another plan.
    pub fn differences(&self, plan: &Plan) -> Differences {
        let digest = plan.digest();
        let earlier = self.plans.iter().enumerate().filter(|(_, burned)| burned.digest != digest);
        let differences = earlier.map(|(place, burned)| burned.difference(place, plan)).collect();
        Differences { plan: digest, differences }
    }

    pub fn head(&self) -> Head {
        Head { entries: self.entries.len() as u64, digest: self.chain[self.entries.len()] }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.bytes(MAGIC);
        writer.u8(BOOK_VERSION);
        writer.bytes(self.secret.bytes());
        writer.u64(self.entries.len() as u64);
        for entry in &self.entries {
            writer.u32(entry.len() as u32);
            writer.bytes(entry);
        }
        writer.bytes(&self.head().digest);
        writer.finish()
    }

    /// Reads what [`BurnBook::encode`] wrote; anything else is refused, since a book with gaps
    /// protects no custodian.
    pub fn decode(bytes: &[u8]) -> Result<BurnBook, WireFault> {
        let mut reader = Reader::new(bytes);
        if reader.array::<8>()? != *MAGIC {
            return Err(WireFault::Kind(0));
        }
        let version = reader.u8()?;
        if version != BOOK_VERSION {
            return Err(WireFault::Version(version));
        }
        let mut book = BurnBook::with_secret(Secret::new(reader.array()?));
        for _ in 0..reader.u64()? {
            let length = reader.count(ENTRY_BYTES_MAX)?;
            let entry = reader.take(length)?;
            book.read_entry(entry)?;
            book.push(entry.to_vec());
        }
        let head: Digest = reader.array()?;
        reader.end()?;
        if head == book.head().digest { Ok(book) } else { Err(WireFault::Checksum) }
    }

    /// The same for a book that once stood at `head`: an older copy, or another book, is refused.
    pub fn decode_after(bytes: &[u8], head: &Head) -> Result<BurnBook, WireFault> {
        let book = BurnBook::decode(bytes)?;
        let then = usize::try_from(head.entries).ok().and_then(|entries| book.chain.get(entries));
        if then != Some(&head.digest) {
            return Err(WireFault::RolledBack { found: book.entries.len() as u64, expected: head.entries });
        }
        Ok(book)
    }

    fn read_entry(&mut self, entry: &[u8]) -> Result<(), WireFault> {
        let mut reader = Reader::new(entry);
        match reader.u8()? {
            0 => {
                let (session, question) = (reader.array()?, reader.array()?);
                if self.sessions.iter().any(|(used, _)| *used == session) {
                    return Err(WireFault::Range);
                }
                self.sessions.push((session, question));
            }
            // Entries of kind 1 were written before custodians signed.
            1 => self.plans.push(Burned::read(&mut reader, false)?),
            2 => self.plans.push(Burned::read(&mut reader, true)?),
            kind => return Err(WireFault::Kind(kind)),
        }
        reader.end()
    }
}

#[cfg(any(test, feature = "danger-seeded"))]
impl Default for BurnBook {
    /// For tests and simulations.
    fn default() -> BurnBook {
        BurnBook::new(&mut Coins::danger_from_seed(0))
    }
}

impl fmt::Debug for BurnBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BurnBook")
            .field("plans", &self.plans.len())
            .field("sessions", &self.sessions.len())
            .finish_non_exhaustive()
    }
}

impl PartialEq for BurnBook {
    fn eq(&self, other: &Self) -> bool {
        self.secret == other.secret && self.entries == other.entries
    }
}

fn encode_session(session: &SessionId, question: &Digest) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.u8(0);
    writer.bytes(session);
    writer.bytes(question);
    writer.finish()
}

impl Burned {
    fn of(plan: &Plan) -> Burned {
        Burned {
            digest: plan.digest(),
            terms: plan.terms,
            members: plan.roster.members().to_vec(),
            commitments: plan.commitments.clone(),
            own: Some(plan.own.clone()),
            insisted: String::new(),
        }
    }

    fn difference(&self, earlier: usize, plan: &Plan) -> Difference {
        let (then, now) = (&self.members, plan.roster.members());
        let missing = |from: &[Member], of: &[Member]| -> Vec<String> {
            let there = |member: &&Member| !from.iter().any(|other| other.is(member));
            of.iter().filter(there).map(|member| member.name.clone()).collect()
        };
        let commitment = |members: &[Member], commitments: &[Digest], member: &Member| {
            let place = members.iter().position(|other| other.is(member))?;
            commitments.get(place).copied()
        };
        let own = plan.own.commitment;
        let changed = |member: &&Member| {
            let now = commitment(now, &plan.commitments, member);
            let then = commitment(then, &self.commitments, member);
            now.is_some() && now != Some(own) && then.is_some() && then != now
        };
        Difference {
            earlier,
            same_terms: self.terms == plan.terms,
            left: missing(now, then),
            joined: missing(then, now),
            changed: then.iter().filter(changed).map(|member| member.name.clone()).collect(),
            own_rows: self.own.as_ref().map(|then| then.changes_to(&plan.own)),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u8(2);
        writer.bytes(&self.digest);
        writer.bytes(&self.terms);
        writer.u32(self.members.len() as u32);
        for member in &self.members {
            writer.items(&[member.name.as_bytes().to_vec()]);
            writer.bytes(&member.key);
            writer.bytes(&member.signing_key);
        }
        writer.u32(self.commitments.len() as u32);
        self.commitments.iter().for_each(|commitment| writer.bytes(commitment));
        writer.u8(u8::from(self.own.is_some()));
        if let Some(own) = &self.own {
            writer.bytes(&own.commitment);
            writer.words(&own.fingerprints);
        }
        writer.items(&[self.insisted.as_bytes().to_vec()]);
        writer.finish()
    }

    fn read(reader: &mut Reader<'_>, signing: bool) -> Result<Burned, WireFault> {
        let text = |reader: &mut Reader<'_>| -> Result<String, WireFault> {
            let mut items = reader.items(1, TEXT_BYTES_MAX)?;
            String::from_utf8(items.pop().ok_or(WireFault::Range)?).map_err(|_| WireFault::Range)
        };
        let (digest, terms) = (reader.array()?, reader.array()?);
        let mut members = Vec::new();
        for _ in 0..reader.count(CUSTODIANS_MAX)? {
            let (name, key) = (text(reader)?, reader.array()?);
            let signing_key = if signing { reader.array()? } else { [0; 32] };
            members.push(Member { name, key, signing_key });
        }
        let mut commitments = Vec::new();
        for _ in 0..reader.count(CUSTODIANS_MAX)? {
            commitments.push(reader.array()?);
        }
        let own = match reader.u8()? {
            0 => None,
            1 => Some(Snapshot { commitment: reader.array()?, fingerprints: reader.words(ENTRY_BYTES_MAX / 8)? }),
            _ => return Err(WireFault::Range),
        };
        Ok(Burned { digest, terms, members, commitments, own, insisted: text(reader)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::RunLimits;

    fn plan(book: &BurnBook, terms: u8, roster: &Roster, rows: &[&[u8]], others: u8) -> Plan {
        let own = book.snapshot(rows.iter().copied());
        let mut commitments = vec![[others; 32]; roster.count()];
        commitments[0] = own.commitment();
        Plan::new([terms; 32], RunLimits::default(), roster.clone(), commitments, own).unwrap()
    }

    #[test]
    fn the_same_plan_may_be_run_again_and_every_other_one_is_refused() {
        let mut book = BurnBook::default();
        let (five, four) = (Roster::numbered(5).unwrap(), Roster::numbered(4).unwrap());
        let rows: [&[u8]; 3] = [b"a", b"b", b"b"];
        let first = plan(&book, 1, &five, &rows, 7);
        assert!(book.permit_run([1; 16], &first, "classes").is_ok());
        assert_eq!(book.permit_run([1; 16], &first, "classes").unwrap_err(), Fault::SessionUsed);
        assert!(book.permit_run([2; 16], &first, "classes").is_ok(), "the same again, with new masks");
        assert!(book.permit_run([3; 16], &first, "rows").is_ok(), "another step of the same run");
        let others = [
            ("changed rows of our own", plan(&book, 1, &five, &rows[..2], 7)),
            ("changed rows of others", plan(&book, 1, &five, &rows, 8)),
            ("one custodian less", plan(&book, 1, &four, &rows, 7)),
            ("other terms", plan(&book, 2, &five, &rows, 7)),
        ];
        for (what, other) in &others {
            assert_eq!(book.permit_run([4; 16], other, "classes").unwrap_err(), Fault::Burned, "{what}");
        }
        let shown = |plan: &Plan| book.differences(plan).all()[0].to_string();
        assert!(shown(&others[0].1).contains("0 new and 1 removed rows of our own"), "{}", shown(&others[0].1));
        assert!(shown(&others[1].1).contains("what has changed at custodian 0001"), "{}", shown(&others[1].1));
        assert!(shown(&others[2].1).contains("all rows of custodian 0004"), "{}", shown(&others[2].1));
        assert!(shown(&others[3].1).contains("nothing but the terms"), "{}", shown(&others[3].1));
    }

    #[test]
    fn a_custodian_that_insists_has_seen_what_it_would_disclose_and_is_recorded() {
        let mut book = BurnBook::default();
        let roster = Roster::numbered(3).unwrap();
        let (one, two) = (plan(&book, 1, &roster, &[b"a"], 7), plan(&book, 2, &roster, &[b"a"], 7));
        let three = plan(&book, 3, &roster, &[b"a"], 7);
        book.permit_run([1; 16], &one, "classes").unwrap();
        let of_another = book.differences(&two).insist("ada");
        assert_eq!(book.permit_despite([2; 16], &three, "classes", of_another).unwrap_err(), Fault::Burned);
        let early = book.differences(&three).insist("ada");
        let seen = book.differences(&two).insist("ada");
        book.permit_despite([2; 16], &two, "classes", seen).unwrap();
        assert!(book.permit_run([3; 16], &two, "rows").is_ok());
        assert_eq!(book.permit_despite([4; 16], &three, "classes", early).unwrap_err(), Fault::Burned, "one run later");
        assert!(String::from_utf8_lossy(&book.encode()).contains("ada"));
    }

    #[test]
    fn a_single_question_is_burned_with_everything_else() {
        let mut book = BurnBook::default();
        let (five, four) = (Roster::numbered(5).unwrap(), Roster::numbered(4).unwrap());
        let sizes = Question::new("sizes", b"2026");
        assert!(book.permit([1; 16], sizes, &five).is_ok());
        assert_eq!(book.permit([2; 16], sizes, &four).unwrap_err(), Fault::Burned);
        assert_eq!(book.permit([2; 16], Question::new("sizes", b"2027"), &five).unwrap_err(), Fault::Burned);
        assert!(book.permit([2; 16], sizes, &five).is_ok());
    }

    #[test]
    fn answers_are_permitted_about_plans_that_the_book_has_and_differ_in_what_they_are_about() {
        let mut book = BurnBook::default();
        let roster = Roster::numbered(3).unwrap();
        let (first, other) = (plan(&book, 1, &roster, &[b"a"], 7), plan(&book, 2, &roster, &[b"a"], 7));
        let answer = |book: &BurnBook, plan: &Plan, about: &[u8]| {
            book.permit_answer([9; 16], &plan.digest(), about, RunLimits::default())
        };
        assert!(matches!(answer(&book, &first, b""), Err(Fault::Internal(_))), "nothing was run");
        book.permit_run([1; 16], &first, "classes").unwrap();
        let head = book.head();
        let [one, two] = [&b"flu"[..], b"gout"].map(|about| answer(&book, &first, about).unwrap());
        assert_eq!(one.roster, roster);
        assert_ne!(one.question.digest(), two.question.digest());
        assert!(matches!(answer(&book, &other, b""), Err(Fault::Internal(_))));
        assert_eq!(book.head(), head);
    }

    #[test]
    fn a_damaged_or_an_older_book_is_refused() {
        let mut book = BurnBook::default();
        let roster = Roster::numbered(3).unwrap();
        let plan = plan(&book, 1, &roster, &[b"a", b"b"], 7);
        book.permit_run([1; 16], &plan, "classes").unwrap();
        let (older, head) = (book.encode(), book.head());
        book.permit_run([2; 16], &plan, "rows").unwrap();
        let bytes = book.encode();
        assert_eq!(BurnBook::decode_after(&bytes, &head).as_ref(), Ok(&book));
        let rolled_back = WireFault::RolledBack { found: 2, expected: 3 };
        assert_eq!(BurnBook::decode_after(&older, &book.head()), Err(rolled_back));
        let mut other = BurnBook::default();
        for session in 1..4u8 {
            other.permit_run([session; 16], &plan, "other").unwrap();
        }
        assert!(matches!(BurnBook::decode_after(&other.encode(), &head), Err(WireFault::RolledBack { .. })));
        for end in 0..bytes.len() {
            assert!(BurnBook::decode(&bytes[..end]).is_err());
        }
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            assert!(BurnBook::decode(&damaged).is_err(), "byte {place}");
        }
    }

    #[test]
    fn a_printed_book_discloses_no_rows() {
        let book = BurnBook::default();
        let plan = plan(&book, 1, &Roster::numbered(3).unwrap(), &[b"secret"], 7);
        let fingerprint = plan.own.fingerprints[0].to_string();
        assert!(!format!("{plan:?} {book:?}").contains(&fingerprint));
        assert_ne!(
            book.snapshot([&b"a"[..]]).commitment(),
            BurnBook::new(&mut Coins::danger_from_seed(9)).snapshot([&b"a"[..]]).commitment(),
            "two custodians with the same rows"
        );
    }
}
