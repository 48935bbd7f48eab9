//! How many statements an analyst may send: a rate for each minute, and a quota for each day.
//!
//! Both hold whether this node answers from its own release or all custodians answer together. The
//! day is a day of UTC. After a restart the statements of the day are counted from the journal.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::refusal::{StatementRefusal, TOO_MANY};
use crate::clock::DAY_MS;

const MINUTE_MS: u64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QuotaLimits {
    pub(super) in_a_minute: u64,
    pub(super) in_a_day: u64,
}

#[derive(Debug, Default)]
pub(super) struct Quotas(Mutex<BTreeMap<String, Used>>);

#[derive(Debug, Clone, Copy, Default)]
struct Used {
    minute: u64,
    in_minute: u64,
    day: u64,
    in_day: u64,
}

impl Quotas {
    /// With the statements that were counted before, on the day of `unix_ms`.
    pub(super) fn new(counted: &BTreeMap<String, u64>, unix_ms: u64) -> Quotas {
        let used = |(name, count): (&String, &u64)| {
            (name.clone(), Used { day: unix_ms / DAY_MS, in_day: *count, ..Used::default() })
        };
        Quotas(Mutex::new(counted.iter().map(used).collect()))
    }

    /// Counts a statement of an analyst, or says why it is one too many.
    pub(super) fn take(&self, name: &str, allowed: QuotaLimits, unix_ms: u64) -> Result<(), StatementRefusal> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Names are those of the settings, so that there are few.
        let used = all.entry(name.to_owned()).or_default();
        let (minute, day) = (unix_ms / MINUTE_MS, unix_ms / DAY_MS);
        if used.minute != minute {
            (used.minute, used.in_minute) = (minute, 0);
        }
        if used.day != day {
            (used.day, used.in_day) = (day, 0);
        }
        if used.in_day >= allowed.in_a_day {
            let problem = format!("more than {} statements in a day", allowed.in_a_day);
            return Err(StatementRefusal::new(TOO_MANY, problem, "the day of the quota begins at midnight UTC"));
        }
        if used.in_minute >= allowed.in_a_minute {
            let problem = format!("more than {} statements in a minute", allowed.in_a_minute);
            return Err(StatementRefusal::new(TOO_MANY, problem, "send fewer, or wait for the next minute"));
        }
        used.in_minute += 1;
        used.in_day += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_analyst_has_a_rate_and_a_quota() {
        let counted = BTreeMap::from([("bob".to_owned(), 4)]);
        let (quotas, now) = (Quotas::new(&counted, 20_000 * DAY_MS), 20_000 * DAY_MS + 5);
        let allowed = QuotaLimits { in_a_minute: 3, in_a_day: 5 };
        let take = |name: &str, at: u64| quotas.take(name, allowed, at).is_ok();
        let taken: Vec<bool> = (0..4).map(|_| take("ada", now)).collect();
        assert_eq!(taken, [true, true, true, false], "three in a minute");
        assert!(take("bob", now) && !take("bob", now + MINUTE_MS), "four were counted before");
        assert!(take("ada", now + MINUTE_MS) && take("ada", now + MINUTE_MS));
        assert!(!take("ada", now + 2 * MINUTE_MS), "five in a day");
        assert!(take("ada", now + DAY_MS) && take("bob", now + DAY_MS));
    }
}
