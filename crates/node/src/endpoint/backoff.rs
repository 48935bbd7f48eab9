//! How long a client waits after wrong passwords: longer with each of them, for one name from one
//! network address. Another address is not held up, so that an attacker cannot lock an analyst out
//! from elsewhere. Names that do not exist are treated alike.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::places::client_network;

/// Wrong passwords without a wait: people mistype.
const FREE: u32 = 3;
const WAIT_FIRST: Duration = Duration::from_secs(1);
const WAIT_LAST: Duration = Duration::from_secs(60);
/// After this long without an attempt, earlier ones are forgotten.
const FORGET: Duration = Duration::from_secs(900);
/// Above it, the oldest attempts are forgotten first.
const ENTRIES_MAX: usize = 4096;
/// The longest part of a name that is compared.
const NAME_CHARACTERS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Backoff(Mutex<BTreeMap<(String, IpAddr), Failures>>);

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn wait(self) -> Duration {
        match self.count.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(more) => WAIT_FIRST.saturating_mul(1 << more.min(10)).min(WAIT_LAST),
        }
    }
}

fn key(name: &str, address: IpAddr) -> (String, IpAddr) {
    (name.chars().take(NAME_CHARACTERS_MAX).collect(), client_network(address))
}

impl Backoff {
    /// The time until this name may be tried again from this address, if it has to wait.
    pub(super) fn wait(&self, name: &str, address: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.lock().get(&key(name, address)).copied()?;
        let until = failures.last + failures.wait();
        Some(until.saturating_duration_since(now)).filter(|wait| !wait.is_zero())
    }

    pub(super) fn failed(&self, name: &str, address: IpAddr, now: Instant) {
        let mut all = self.lock();
        if all.len() >= ENTRIES_MAX {
            all.retain(|_, failures| now.saturating_duration_since(failures.last) < FORGET);
        }
        if all.len() >= ENTRIES_MAX {
            let oldest = all.iter().min_by_key(|(_, failures)| failures.last).map(|(key, _)| key.clone());
            oldest.map(|oldest| all.remove(&oldest));
        }
        let failures = all.entry(key(name, address)).or_insert(Failures { count: 0, last: now });
        let forgotten = now.saturating_duration_since(failures.last) >= FORGET;
        *failures = Failures { count: if forgotten { 1 } else { failures.count.saturating_add(1) }, last: now };
    }

    pub(super) fn succeeded(&self, name: &str, address: IpAddr) {
        self.lock().remove(&key(name, address));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, IpAddr), Failures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_and_is_for_one_name_and_address() {
        let (backoff, began) = (Backoff::default(), Instant::now());
        let [here, there] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().unwrap());
        let mut now = began;
        let mut waits = Vec::new();
        for _ in 0..12 {
            backoff.failed("ada", here, now);
            let wait = backoff.wait("ada", here, now).unwrap_or_default();
            waits.push(wait.as_secs());
            now += wait;
            assert_eq!(backoff.wait("ada", here, now), None, "the wait is over");
        }
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        backoff.failed("ada", here, now);
        assert_eq!(backoff.wait("ada", there, now), None, "another address");
        assert_eq!(backoff.wait("bob", here, now), None, "another name");
        backoff.succeeded("ada", here);
        assert_eq!(backoff.wait("ada", here, now), None, "the right password");
    }

    #[test]
    fn memory_is_bounded() {
        let (backoff, now) = (Backoff::default(), Instant::now());
        for number in 0..2 * ENTRIES_MAX as u32 {
            backoff.failed("ada", IpAddr::V4(number.into()), now);
        }
        assert!(backoff.lock().len() <= ENTRIES_MAX);
    }
}
