//! The limits of a run: agreed on by all before it starts, and part of its question, so
//! that no custodian can make the others work or wait for more than they agreed to.

/// The bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Rounds of messages.
    pub rounds_max: u32,
    /// Words of one vector.
    pub words_max: u64,
    /// Rows of all custodians together.
    pub rows_max: u64,
    /// Parts that a joint run divides the rows into.
    pub parts_max: u64,
    /// Bytes of all onions of a shuffle together.
    pub batch_bytes_max: u64,
    /// Bytes that wait for their round, from one custodian.
    pub inbox_bytes_max: u64,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits {
            rounds_max: 1 << 14,
            words_max: 1 << 22,
            rows_max: 1 << 32,
            parts_max: 1 << 26,
            batch_bytes_max: 1 << 31,
            inbox_bytes_max: 1 << 27,
        }
    }
}

impl RunLimits {
    pub(crate) fn bytes(&self) -> [u8; 48] {
        // Every field by its name: one that is added does not compile until it is here.
        let RunLimits { rounds_max, words_max, rows_max, parts_max, batch_bytes_max, inbox_bytes_max } = *self;
        let numbers = [u64::from(rounds_max), words_max, rows_max, parts_max, batch_bytes_max, inbox_bytes_max];
        let mut bytes = [0; 48];
        bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers).for_each(|(eight, number)| *eight = number.to_le_bytes());
        bytes
    }
}
