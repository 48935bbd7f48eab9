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
pub(super) struct Backoff(Mutex<All>);

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
        wait(&self.lock(), &key(name, address), now)
    }

    /// The outcome of an attempt; the wait instead, if others failed while it was under way: many
    /// that begin at the same time are not more guesses than one after the other.
    pub(super) fn attempted(&self, name: &str, address: IpAddr, now: Instant, proven: bool) -> Option<Duration> {
        let mut all = self.lock();
        let wait = wait(&all, &key(name, address), now);
        match wait {
            Some(_) => {}
            None if proven => drop(all.remove(&key(name, address))),
            None => fail(&mut all, key(name, address), now),
        }
        wait
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type All = BTreeMap<(String, IpAddr), Failures>;

fn wait(all: &All, key: &(String, IpAddr), now: Instant) -> Option<Duration> {
    let failures = all.get(key)?;
    let until = failures.last + failures.wait();
    Some(until.saturating_duration_since(now)).filter(|wait| !wait.is_zero())
}

fn fail(all: &mut All, key: (String, IpAddr), now: Instant) {
    if all.len() >= ENTRIES_MAX {
        all.retain(|_, failures| now.saturating_duration_since(failures.last) < FORGET);
    }
    if all.len() >= ENTRIES_MAX {
        let oldest = all.iter().min_by_key(|(_, failures)| failures.last).map(|(key, _)| key.clone());
        oldest.map(|oldest| all.remove(&oldest));
    }
    let failures = all.entry(key).or_insert(Failures { count: 0, last: now });
    let forgotten = now.saturating_duration_since(failures.last) >= FORGET;
    *failures = Failures { count: if forgotten { 1 } else { failures.count.saturating_add(1) }, last: now };
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
            assert_eq!(backoff.attempted("ada", here, now, false), None);
            let wait = backoff.wait("ada", here, now).unwrap_or_default();
            waits.push(wait.as_secs());
            now += wait;
            assert_eq!(backoff.wait("ada", here, now), None, "the wait is over");
        }
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        assert_eq!(backoff.attempted("ada", here, now, false), None);
        assert_eq!(backoff.wait("ada", there, now), None, "another address");
        assert_eq!(backoff.wait("bob", here, now), None, "another name");
        now += WAIT_LAST;
        assert_eq!(backoff.attempted("ada", here, now, true), None);
        assert_eq!(backoff.wait("ada", here, now), None, "the right password");
    }

    #[test]
    fn attempts_that_begin_together_are_judged_one_after_the_other() {
        let (backoff, now) = (Backoff::default(), Instant::now());
        let here = "192.0.2.1".parse().unwrap();
        // All of them were let in, since none had failed yet.
        assert_eq!(backoff.wait("ada", here, now), None);
        let judged: Vec<_> = (0..50).map(|_| backoff.attempted("ada", here, now, false)).collect();
        assert_eq!(judged.iter().filter(|wait| wait.is_none()).count(), FREE as usize);
        assert!(backoff.attempted("ada", here, now, true).is_some(), "nor does the right one tell itself apart");
    }

    #[test]
    fn memory_is_bounded() {
        let (backoff, now) = (Backoff::default(), Instant::now());
        for number in 0..2 * ENTRIES_MAX as u32 {
            backoff.attempted("ada", IpAddr::V4(number.into()), now, false);
        }
        assert!(backoff.lock().len() <= ENTRIES_MAX);
    }
}
