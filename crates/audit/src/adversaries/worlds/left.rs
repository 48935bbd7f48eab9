//! The remainder for people: records, and the values that the records have.

use hashbrown::HashMap;

use super::tables::AttributeTables;

/// The records that are left for some people.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftRecords {
    /// Each with its share of the worlds where they were counted, and whether it is known to be
    /// possible.
    pub(crate) records: Vec<(u32, Option<f64>, bool)>,
}

impl LeftRecords {
    /// The values of these records, as far as the tables say them that the people are in.
    pub(super) fn grouped(
        self,
        tables: &AttributeTables<'_>,
        people: u64,
        is_in: impl Fn(usize) -> bool,
    ) -> ValuesLeft {
        let mut values: Vec<(u32, Option<f64>, bool)> = Vec::new();
        let mut at: HashMap<u32, usize> = HashMap::new();
        for &(record, share, is_possible) in &self.records {
            let value = tables.value(record, &is_in);
            match at.get(&value) {
                None => {
                    at.insert(value, values.len());
                    values.push((value, share, is_possible));
                }
                Some(&known) => {
                    let (_, before, possible) = &mut values[known];
                    *before = before.zip(share).map(|(one, two)| one + two);
                    *possible |= is_possible;
                }
            }
        }
        // Who was suppressed in every table that says the value, and is linked to no row of them.
        // So it is where all that they say of it is that it may be any.
        if let [(value, ..)] = values[..]
            && (value == u32::MAX || tables.is_any(value))
        {
            return ValuesLeft { is_unsaid: true, ..ValuesLeft::nothing(people) };
        }
        ValuesLeft {
            people,
            is_unsaid: false,
            is_decided: values.len() <= 1 || values.iter().all(|(_, _, is_possible)| *is_possible),
            values: values.into_iter().map(|(value, share, _)| (value, share)).collect(),
            records: self.records.into_iter().map(|(record, _, _)| record).collect(),
        }
    }
}

/// The values that are left for some people.
#[derive(Debug, Clone)]
pub(crate) struct ValuesLeft {
    pub(crate) people: u64,
    /// Values that are not ruled out, each with its share of the worlds where they were counted.
    pub(crate) values: Vec<(u32, Option<f64>)>,
    /// The records behind them.
    pub(crate) records: Vec<u32>,
    pub(crate) is_decided: bool,
    /// No table that they are in says the value: it may be any.
    pub(crate) is_unsaid: bool,
}

impl ValuesLeft {
    pub(super) fn nothing(people: u64) -> ValuesLeft {
        ValuesLeft { people, values: Vec::new(), records: Vec::new(), is_decided: true, is_unsaid: false }
    }

    /// Takes what other assumptions leave to the same people where it is fewer values; whether it
    /// is. Where something is open under either, still fewer values may be possible than are left.
    pub(super) fn take_fewer(&mut self, other: ValuesLeft) -> bool {
        let [before, count] = [&*self, &other].map(|left| left.values.len());
        let is_decided = self.is_decided && other.is_decided;
        let is_fewer = count > 0 && (before == 0 || count < before);
        self.is_unsaid |= other.is_unsaid;
        if is_fewer {
            *self = ValuesLeft { people: self.people, ..other };
        }
        self.is_decided = match self.values.len() {
            1 => self.is_decided,
            _ => is_decided,
        };
        is_fewer
    }

    /// The confidence in the likeliest value: counted, or the least that it must be.
    pub(crate) fn confidence(&self) -> f64 {
        let counted = self.values.iter().filter_map(|(_, share)| *share).fold(0.0, f64::max);
        match self.values.len() {
            0 => 0.0,
            1 => 1.0,
            several => counted.max(1.0 / several as f64),
        }
    }
}
