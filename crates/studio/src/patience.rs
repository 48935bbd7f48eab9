//! How long a request waits for work that it started or asks about: quick work is the answer to the
//! click. All waits of one request share one limit, so that a click that meets several, such as a
//! job and a part of the page beside it, is not answered later than one that meets one.

use std::time::{Duration, Instant};

/// With what a page takes itself, a click is answered in less than 100 ms.
const MOST: Duration = Duration::from_millis(50);

/// The time until which a request may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    until: Instant,
}

impl Patience {
    /// That of a request that comes now.
    pub(crate) fn from_now() -> Patience {
        Patience { until: Instant::now() + MOST }
    }

    /// The time that is left; none once all of it was waited.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;

    #[test]
    fn several_waits_take_no_longer_than_one() {
        let slow = || {
            Job::start("Waiting", "data", false, |_| {
                std::thread::sleep(Duration::from_secs(20));
                Ok(())
            })
        };
        let (first, second) = (slow(), slow());
        let (started, patience) = (Instant::now(), Patience::from_now());
        assert!(!first.wait(patience.left()) && !second.wait(patience.left()));
        assert!(started.elapsed() >= MOST);
        assert_eq!(patience.left(), Duration::ZERO);
    }
}
