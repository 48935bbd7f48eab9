//! Progress on standard error: a bar on a terminal, a line now and then elsewhere, nothing for
//! work that is over quickly.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hedgerow::{Monitor, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Talk;
use crate::failure::say;
use crate::interrupt;

/// Work that is over sooner shows nothing.
const BAR_AFTER: Duration = Duration::from_secs(1);
const FIRST_LINE_AFTER: Duration = Duration::from_secs(5);
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A bar has as many steps as the library reports.
const STEPS: u64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Hidden,
    Bar,
    Lines,
}

/// The progress display of long work; removed when dropped.
pub(crate) struct ProgressDisplay {
    mode: Mode,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    bar: Option<ProgressBar>,
    phase: String,
    phase_started: Instant,
    last_line: Option<Instant>,
    /// The best that a search has found so far.
    found: Option<String>,
}

impl ProgressDisplay {
    pub(crate) fn new(talk: &Talk) -> ProgressDisplay {
        let mode = match (talk.no_progress || talk.quiet, std::io::stderr().is_terminal()) {
            (true, _) => Mode::Hidden,
            (false, true) => Mode::Bar,
            (false, false) => Mode::Lines,
        };
        let now = Instant::now();
        let state = State { bar: None, phase: String::new(), phase_started: now, last_line: None, found: None };
        ProgressDisplay { mode, started: now, state: Mutex::new(state) }
    }

    /// The monitor of a call of the library; an interrupt of the command cancels it.
    pub(crate) fn monitor(&self) -> Monitor<'_> {
        let found = |what: &str| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.found = Some(format!("best so far {what}"));
        };
        Monitor::default().on_progress(|progress| self.update(progress)).on_found(found).cancel_by(interrupt::cancel())
    }

    fn update(&self, progress: Progress<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.phase != progress.phase || progress.fraction == Some(0.0) {
            progress.phase.clone_into(&mut state.phase);
            state.found = None;
            state.phase_started = Instant::now();
            if let Some(bar) = state.bar.take() {
                bar.finish_and_clear();
            }
        }
        match self.mode {
            Mode::Hidden => {}
            Mode::Bar if self.started.elapsed() > BAR_AFTER => draw(&mut state, progress),
            Mode::Bar => {}
            Mode::Lines => {
                let due = match state.last_line {
                    Some(last) => last.elapsed() > LINE_EVERY,
                    None => self.started.elapsed() > FIRST_LINE_AFTER,
                };
                if due {
                    state.last_line = Some(Instant::now());
                    say(&line(progress, state.found.as_deref(), state.phase_started.elapsed()));
                }
            }
        }
    }
}

fn draw(state: &mut State, progress: Progress<'_>) {
    let message = message(progress.phase, state.found.as_deref());
    let bar = state.bar.get_or_insert_with(|| {
        let known = progress.fraction.is_some();
        let bar = ProgressBar::with_draw_target(known.then_some(STEPS), ProgressDrawTarget::stderr());
        let template =
            if known { "{msg:>20} {wide_bar} {percent:>3}% {eta:>5}" } else { "{msg:>20} {spinner} {elapsed}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    });
    bar.set_message(message);
    if let Some(fraction) = progress.fraction {
        bar.set_position((fraction * STEPS as f64) as u64);
    }
}

/// The phase, and what was found so far.
fn message(phase: &str, found: Option<&str>) -> String {
    found.map_or_else(|| phase.to_owned(), |found| format!("{phase} ({found})"))
}

/// Phase, share done and time left, as one line.
fn line(progress: Progress<'_>, found: Option<&str>, elapsed: Duration) -> String {
    let phase = message(progress.phase, found);
    match progress.fraction {
        Some(fraction) if fraction > 0.0 => {
            let left = elapsed.as_secs_f64() * (1.0 - fraction) / fraction;
            format!("{phase}: {:.0} % done, about {} left", fraction * 100.0, duration(left))
        }
        Some(_) => format!("{phase}: 0 % done"),
        None => format!("{phase}: for {}", duration(elapsed.as_secs_f64())),
    }
}

fn duration(seconds: f64) -> String {
    match seconds.round() as u64 {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = self.state.get_mut().unwrap_or_else(PoisonError::into_inner).bar.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_phase_share_and_time_left() {
        let at = |fraction| Progress { phase: "searching", fraction };
        assert_eq!(line(at(Some(0.25)), None, Duration::from_secs(10)), "searching: 25 % done, about 30 s left");
        assert_eq!(line(at(Some(0.01)), None, Duration::from_secs(20)), "searching: 1 % done, about 33 min left");
        assert_eq!(line(at(Some(0.0)), None, Duration::from_secs(9)), "searching: 0 % done");
        assert_eq!(line(at(None), None, Duration::from_secs(12)), "searching: for 12 s");
        let found = Some("best so far levels 1.0");
        let shown = line(at(Some(0.25)), found, Duration::from_secs(10));
        assert_eq!(shown, "searching (best so far levels 1.0): 25 % done, about 30 s left");
        assert_eq!(duration(7200.0), "2.0 h");
    }
}
