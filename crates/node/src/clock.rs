//! The time of day, for the journal and the log.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hedgerow_table::date::Date;

pub const DAY_MS: u64 = 86_400_000;

/// When something happens: for deadlines, and for the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Time {
    /// Milliseconds that never go back.
    pub steady_ms: u64,
    /// Milliseconds since 1970.
    pub unix_ms: u64,
}

pub fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Both clocks of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
}

impl Clock {
    pub fn start() -> Clock {
        Clock { started: Instant::now() }
    }

    pub fn now(&self) -> Time {
        Time { steady_ms: self.started.elapsed().as_millis() as u64, unix_ms: unix_ms() }
    }
}

/// As people read it: `2026-11-16T12:30:05Z`.
pub fn text(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (day, rest) = (seconds / 86_400, seconds % 86_400);
    format!("{}T{:02}:{:02}:{:02}Z", Date(day as i32), rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_time_is_written_out() {
        assert_eq!(super::text(0), "1970-01-01T00:00:00Z");
        assert_eq!(super::text(1_794_832_205_999), "2026-11-16T12:30:05Z");
    }
}
