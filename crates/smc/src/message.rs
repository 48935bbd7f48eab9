//! The messages between custodians: one versioned envelope around a dozen kinds of content.
//!
//! Layout, little-endian: version (1 byte), kind (1), session (16), question (32), sender (2),
//! round (4), content. Lists are counted with four bytes, and so are the items of a list of items.
//! Nothing follows the content. Every list has a largest length.

use crate::fault::{Reason, WireFault};
use crate::long;
use crate::roster::CUSTODIANS_MAX;
use crate::wire::{Reader, Sink, Writer};

/// Everything before the content.
pub(crate) const HEADER_BYTES: u64 = 56;
/// The version of the encoding that this code speaks.
pub(crate) const VERSION: u8 = 4;
/// The version of messages: custodians who speak another one do not start.
pub const PROTOCOL_VERSION: u8 = VERSION;
/// The longest vector in one message: 32 MiB.
pub(crate) const WORDS_MAX: usize = 1 << 22;
/// The most items (rows, layers of encryption around rows) in one message.
pub(crate) const ITEMS_MAX: usize = 1 << 20;
/// The most messages that a batch of items is cut into.
pub(crate) const CHUNKS_MAX: u32 = 1 << 20;
/// The longest item.
pub(crate) const ITEM_BYTES_MAX: usize = 1 << 14;
/// The longest message a transport should take.
pub const MESSAGE_BYTES_MAX: usize = 1 << 26;
/// The kind of a list, which is sent in one round with a batch.
const LISTED: u8 = 13;
/// The place of a list beside the chunks of a batch.
const LIST_CHUNK: u32 = CHUNKS_MAX;
/// The highest round: far beyond any tree, and low enough to count up from without a thought.
pub(crate) const ROUND_MAX: u32 = 1 << 24;

/// Names one run; drawn at random for each.
pub type SessionId = [u8; 16];
/// A hash: SHA-256 of a question or of a roster, BLAKE2b of what is long.
pub type Digest = [u8; 32];
/// An item of a union: a row as bytes.
pub type Item = Vec<u8>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub session: SessionId,
    pub question: Digest,
    /// The sender's place in the roster. The transport must know that it is true.
    pub sender: u16,
    pub round: u32,
    pub body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A public key for X25519, made for this run.
    Key([u8; 32]),
    /// One custodian's vector under its masks; and a word for each custodian about all that it has
    /// received from them so far, by which others see whether all were sent the same.
    Masked { words: Vec<u64>, seen: Vec<u64> },
    /// Ring: the sum so far, under the first one's mask.
    RingSum(Vec<u64>),
    /// Ring: the sum, announced to everyone by the first.
    RingTotal(Vec<u64>),
    /// Ring: the largest values so far, or something below them.
    RingLargest(Vec<u64>),
    /// Ring: the largest values, announced to everyone by the first.
    RingLargestFound(Vec<u64>),
    /// Ring: items on their way round, some of them dummies of the custodian that began.
    UnionItems(Vec<Item>),
    /// Ring: the union without the dummy items.
    UnionResult(Vec<Item>),
    /// Shuffle: rows under the layers of those who have not yet stripped theirs, in chunks.
    Layered(MessageChunk),
    /// Shuffle: two words for each item that the sender hands on, sorted, for all who do not get
    /// the items: everyone sees whether its own are among them.
    Listed(Vec<u64>),
    /// Shuffle: the rows, owners unknown, in chunks.
    Rows(MessageChunk),
    /// The sender has given up: why, and whom it blames.
    Abort { reason: Reason, blamed: Option<u16> },
    /// The sender's conclusion: digests of its ledger and of the common part of its output. It
    /// concludes when all have the same.
    Confirm { ledger: Digest, output: Digest, seen: Vec<u64> },
}

/// One of several messages that carry a list of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageChunk {
    /// From 0.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    pub items: Vec<Item>,
}

impl MessageChunk {
    /// Divides items into chunks of about `bytes_max` bytes at most; no items are one empty chunk.
    pub(crate) fn cut(items: Vec<Item>, bytes_max: usize) -> Vec<MessageChunk> {
        let mut chunks = vec![Vec::new()];
        let mut bytes = 0;
        for item in items {
            if bytes + item.len() + 4 > bytes_max && bytes > 0 {
                chunks.push(Vec::new());
                bytes = 0;
            }
            bytes += item.len() + 4;
            if let Some(last) = chunks.last_mut() {
                last.push(item);
            }
        }
        let of = chunks.len() as u32;
        (0..).zip(chunks).map(|(number, items)| MessageChunk { number, of, items }).collect()
    }
}

impl Body {
    fn kind(&self) -> u8 {
        match self {
            Body::Key(_) => 1,
            Body::Masked { .. } => 2,
            Body::RingSum(_) => 3,
            Body::RingTotal(_) => 4,
            Body::RingLargest(_) => 5,
            Body::RingLargestFound(_) => 6,
            Body::UnionItems(_) => 7,
            Body::UnionResult(_) => 8,
            Body::Layered(_) => 9,
            Body::Rows(_) => 10,
            Body::Abort { .. } => 11,
            Body::Confirm { .. } => 12,
            Body::Listed(_) => LISTED,
        }
    }

    /// Which chunk it is, of how many.
    pub(crate) fn chunk(&self) -> (u32, u32) {
        match self {
            Body::Layered(chunk) | Body::Rows(chunk) => (chunk.number, chunk.of),
            _ => (0, 1),
        }
    }

    /// Its size in memory, in bytes.
    pub fn bytes(&self) -> u64 {
        let items = |items: &[Item]| items.iter().map(|item| item.len() as u64 + 32).sum::<u64>();
        64 + match self {
            Body::Masked { words, seen } => 8 * (words.len() + seen.len()) as u64,
            Body::RingSum(words)
            | Body::RingTotal(words)
            | Body::RingLargest(words)
            | Body::RingLargestFound(words)
            | Body::Listed(words)
            | Body::Confirm { seen: words, .. } => 8 * words.len() as u64,
            Body::UnionItems(list) | Body::UnionResult(list) => items(list),
            Body::Layered(chunk) | Body::Rows(chunk) => items(&chunk.items),
            Body::Key(_) | Body::Abort { .. } => 0,
        }
    }
}

impl Message {
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new(Vec::with_capacity(HEADER_BYTES as usize + self.body.bytes() as usize));
        self.write(&mut writer);
        writer.finish()
    }

    /// A hash of the encoding: two messages with one digest are the same message.
    pub(crate) fn digest(&self) -> Digest {
        let mut hash = long::hasher();
        self.write(&mut hash);
        hash.digest()
    }

    fn write<S: Sink>(&self, writer: &mut Writer<S>) {
        writer.u8(VERSION);
        writer.u8(self.body.kind());
        writer.bytes(&self.session);
        writer.bytes(&self.question);
        writer.u16(self.sender);
        writer.u32(self.round);
        match &self.body {
            Body::Key(public) => writer.bytes(public),
            Body::Masked { words, seen } => {
                writer.words(words);
                writer.words(seen);
            }
            Body::RingSum(words)
            | Body::RingTotal(words)
            | Body::RingLargest(words)
            | Body::RingLargestFound(words)
            | Body::Listed(words) => writer.words(words),
            Body::UnionItems(items) | Body::UnionResult(items) => writer.items(items),
            Body::Layered(chunk) | Body::Rows(chunk) => {
                writer.u32(chunk.number);
                writer.u32(chunk.of);
                writer.items(&chunk.items);
            }
            Body::Abort { reason, blamed } => {
                writer.u8(*reason as u8);
                writer.u16(blamed.unwrap_or(u16::MAX));
            }
            Body::Confirm { ledger, output, seen } => {
                writer.bytes(ledger);
                writer.bytes(output);
                writer.words(seen);
            }
        }
    }

    /// Where an encoded message belongs: session, sender, round and chunk. A custodian that follows
    /// the protocol sends one message for each such place.
    pub fn place_of(bytes: &[u8]) -> Option<(SessionId, u16, u32, u32)> {
        let session = Message::session_of(bytes)?;
        let sender = u16::from_le_bytes(bytes.get(50..52)?.try_into().ok()?);
        let round = u32::from_le_bytes(bytes.get(52..56)?.try_into().ok()?);
        if round > ROUND_MAX {
            return None;
        }
        let chunk = match bytes.get(1)? {
            9 | 10 => u32::from_le_bytes(bytes.get(56..60)?.try_into().ok()?),
            &LISTED => LIST_CHUNK,
            _ => 0,
        };
        Some((session, sender, round, chunk))
    }

    /// The session of an encoded message, by which a transport finds the run that it belongs to.
    pub fn session_of(bytes: &[u8]) -> Option<SessionId> {
        bytes.get(2..18)?.try_into().ok()
    }

    pub fn decode(bytes: &[u8]) -> Result<Message, WireFault> {
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(WireFault::Range);
        }
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(WireFault::Version(version));
        }
        let kind = reader.u8()?;
        let session = reader.array()?;
        let question = reader.array()?;
        let sender = reader.u16()?;
        let round = reader.u32()?;
        if usize::from(sender) >= CUSTODIANS_MAX || round > ROUND_MAX {
            return Err(WireFault::Range);
        }
        let body = match kind {
            1 => Body::Key(reader.array()?),
            2 => Body::Masked { words: reader.words(WORDS_MAX)?, seen: reader.words(CUSTODIANS_MAX)? },
            3 => Body::RingSum(reader.words(WORDS_MAX)?),
            4 => Body::RingTotal(reader.words(WORDS_MAX)?),
            5 => Body::RingLargest(reader.words(WORDS_MAX)?),
            6 => Body::RingLargestFound(reader.words(WORDS_MAX)?),
            7 => Body::UnionItems(reader.items(ITEMS_MAX, ITEM_BYTES_MAX)?),
            8 => Body::UnionResult(reader.items(ITEMS_MAX, ITEM_BYTES_MAX)?),
            9 => Body::Layered(chunk(&mut reader)?),
            10 => Body::Rows(chunk(&mut reader)?),
            11 => {
                let reason = Reason::ALL.get(usize::from(reader.u8()?)).copied().ok_or(WireFault::Range)?;
                let blamed = Some(reader.u16()?).filter(|blamed| *blamed != u16::MAX);
                if blamed.is_some_and(|blamed| usize::from(blamed) >= CUSTODIANS_MAX) {
                    return Err(WireFault::Range);
                }
                Body::Abort { reason, blamed }
            }
            12 => {
                let (ledger, output) = (reader.array()?, reader.array()?);
                Body::Confirm { ledger, output, seen: reader.words(CUSTODIANS_MAX)? }
            }
            LISTED => Body::Listed(reader.words(WORDS_MAX)?),
            other => return Err(WireFault::Kind(other)),
        };
        reader.end()?;
        Ok(Message { session, question, sender, round, body })
    }
}

fn chunk(reader: &mut Reader<'_>) -> Result<MessageChunk, WireFault> {
    let (number, of) = (reader.u32()?, reader.u32()?);
    if number >= of || of > CHUNKS_MAX {
        return Err(WireFault::Range);
    }
    Ok(MessageChunk { number, of, items: reader.items(ITEMS_MAX, ITEM_BYTES_MAX)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coins;

    fn random(coins: &mut Coins, kind: u64) -> Message {
        let count = coins.below(5) as usize;
        let words: Vec<u64> = (0..count).map(|_| coins.word()).collect();
        let items: Vec<Item> = (0..count).map(|_| vec![coins.word() as u8; coins.below(9) as usize]).collect();
        let body = match kind {
            0 => Body::Key([coins.word() as u8; 32]),
            1 => Body::Masked { seen: words.clone(), words },
            2 => Body::RingSum(words),
            3 => Body::RingTotal(words),
            4 => Body::RingLargest(words),
            5 => Body::RingLargestFound(words),
            6 => Body::UnionItems(items),
            7 => Body::UnionResult(items),
            8 => Body::Layered(MessageChunk { number: 1, of: 4, items }),
            9 => Body::Rows(MessageChunk { number: 0, of: 1, items }),
            10 => Body::Confirm { ledger: [coins.word() as u8; 32], output: [1; 32], seen: words },
            11 => Body::Listed(words),
            _ => Body::Abort { reason: Reason::Limit, blamed: (count > 2).then_some(count as u16) },
        };
        let mut session = [0; 16];
        coins.fill(&mut session);
        let mut question = [0; 32];
        coins.fill(&mut question);
        let (sender, round) = (coins.below(1000) as u16, coins.below(u64::from(ROUND_MAX)) as u32);
        Message { session, question, sender, round, body }
    }

    #[test]
    fn every_kind_survives_the_wire_and_no_shorter_or_longer_message_does() {
        let mut coins = Coins::danger_from_seed(7);
        for case in 0..200 {
            let message = random(&mut coins, case % 13);
            let bytes = message.encode();
            let chunk = if matches!(message.body, Body::Listed(_)) { LIST_CHUNK } else { message.body.chunk().0 };
            assert_eq!(Message::place_of(&bytes), Some((message.session, message.sender, message.round, chunk)));
            assert_eq!(Message::decode(&bytes), Ok(message));
            for end in 0..bytes.len() {
                assert!(Message::decode(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
            }
            let mut longer = bytes.clone();
            longer.push(0);
            assert_eq!(Message::decode(&longer), Err(WireFault::Trailing));
        }
    }

    #[test]
    fn decoded_messages_have_one_encoding() {
        let mut coins = Coins::danger_from_seed(8);
        for case in 0..2000 {
            let mut bytes = random(&mut coins, case % 13).encode();
            let place = coins.below(bytes.len() as u64) as usize;
            bytes[place] = coins.word() as u8;
            if let Ok(message) = Message::decode(&bytes) {
                assert_eq!(message.encode(), bytes);
            }
        }
    }

    #[test]
    fn versions_kinds_and_lengths_out_of_range_are_refused() {
        let good = random(&mut Coins::danger_from_seed(9), 1).encode();
        let with = |place: usize, values: &[u8]| {
            let mut bytes = good.clone();
            bytes[place..place + values.len()].copy_from_slice(values);
            Message::decode(&bytes)
        };
        assert_eq!(with(0, &[2]), Err(WireFault::Version(2)));
        assert_eq!(with(1, &[0]), Err(WireFault::Kind(0)));
        assert_eq!(with(1, &[14]), Err(WireFault::Kind(14)));
        assert_eq!(with(50, &[0xff, 0xff]), Err(WireFault::Range), "sender");
        assert_eq!(with(52, &[0xff; 4]), Err(WireFault::Range), "round");
        assert_eq!(with(56, &[0xff; 4]), Err(WireFault::Range), "number of words");
        assert_eq!(with(56, &[0, 0, 0x40, 0]), Err(WireFault::Truncated), "words that are not there");
    }
}
