//! Progress bars for anything longer than a second, on a terminal and nowhere else.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hedgerow_table::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Talk;

const QUIET_FOR: Duration = Duration::from_secs(1);

pub(crate) struct Bars {
    drawn: bool,
    started: Instant,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bars {
    pub(crate) fn new(talk: &Talk) -> Bars {
        let drawn = !talk.no_progress && !talk.quiet && std::io::stderr().is_terminal();
        Bars { drawn, started: Instant::now(), bar: Mutex::new(None) }
    }
}

impl Progress for Bars {
    fn stage(&self, name: &str, total: Option<u64>) {
        if !self.drawn {
            return;
        }
        let bar = match total {
            Some(total) => ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        let template = if total.is_some() {
            "{msg:>20} {wide_bar} {percent:>3}% {eta:>5}"
        } else {
            "{msg:>20} {spinner} {elapsed}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(name.to_owned());
        if self.started.elapsed() > QUIET_FOR {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        let mut current = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(previous) = current.replace(bar) {
            previous.finish_and_clear();
        }
    }

    fn advance(&self, amount: u64) {
        if !self.drawn {
            return;
        }
        let current = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(bar) = current.as_ref() else { return };
        if bar.is_hidden() && self.started.elapsed() > QUIET_FOR {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar.inc(amount);
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}
