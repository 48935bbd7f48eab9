//! Parts of a page that may take longer than the rest. Each is worked out on a thread of its own
//! and fetched until it is there; work that no page asks for any more is canceled. One part at a
//! time is worked out: each may take as much memory as the table.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hedgerow::{Cancel, Error, Monitor};
use maud::{Markup, PreEscaped, html};

use crate::job::Job;
use crate::patience::Patience;

/// A page that is open asks more often than this.
const ABANDONED_AFTER: Duration = Duration::from_secs(3);
/// How often work that waits for its turn looks whether it was canceled.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Parts that are remembered.
const KEPT_MAX: usize = 24;

/// Everything that is being worked out or was, the newest last.
#[derive(Debug, Default)]
pub(crate) struct DelayedParts {
    kept: Mutex<Vec<Arc<DelayedPart>>>,
    turn: Arc<Turn>,
}

/// Lets one at a time work.
#[derive(Debug, Default)]
struct Turn {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// Gives the turn back, also when the work panics.
struct Taken<'t>(&'t Turn);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *lock(&self.0.is_taken) = false;
        self.0.freed.notify_one();
    }
}

impl Turn {
    /// Waits until no other works; fails when the work is canceled meanwhile.
    fn take(&self, cancel: &Cancel) -> Result<Taken<'_>, Error> {
        let mut is_taken = lock(&self.is_taken);
        while *is_taken {
            if cancel.is_canceled() {
                return Err(Error::canceled());
            }
            is_taken = self.freed.wait_timeout(is_taken, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_taken = true;
        Ok(Taken(self))
    }
}

#[derive(Debug)]
struct DelayedPart {
    /// The part, its data and its policy.
    key: String,
    path: String,
    job: Arc<Job>,
    result: Arc<Mutex<Option<String>>>,
    wanted: Mutex<Instant>,
}

/// A part of a page: its address, from which it is fetched, and the words while it is not there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PagePart<'a> {
    pub(crate) key: &'a str,
    pub(crate) path: &'a str,
    pub(crate) words: &'a str,
    /// Whether work that was canceled is to be done after all.
    pub(crate) again: bool,
    /// Quick work is waited for, so that its result is the first answer.
    pub(crate) patience: Patience,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DelayedParts {
    /// The part, or how far it is.
    pub(crate) fn part(
        &self,
        wanted: PagePart<'_>,
        work: impl FnOnce(&Monitor<'_>) -> Result<Markup, Error> + Send + 'static,
    ) -> Markup {
        let side = self.find_or_start(wanted, work);
        *lock(&side.wanted) = Instant::now();
        side.job.wait(wanted.patience.left());
        side.shown(wanted)
    }

    /// Cancels the part that an address shows.
    pub(crate) fn cancel(&self, key: &str) {
        let side = lock(&self.kept).iter().find(|side| side.key == key).map(Arc::clone);
        if let Some(side) = side {
            side.job.cancel.cancel();
        }
    }

    fn find_or_start(
        &self,
        wanted: PagePart<'_>,
        work: impl FnOnce(&Monitor<'_>) -> Result<Markup, Error> + Send + 'static,
    ) -> Arc<DelayedPart> {
        let mut kept = lock(&self.kept);
        if let Some(place) = kept.iter().position(|side| side.key == wanted.key) {
            if !(wanted.again && kept[place].job.is_done() && lock(&kept[place].result).is_none()) {
                return Arc::clone(&kept[place]);
            }
            kept.remove(place);
        }
        kept.retain(|side| {
            // Of the same place on a page there is another one now, such as after a change.
            let is_abandoned = side.path == wanted.path || lock(&side.wanted).elapsed() > ABANDONED_AFTER;
            let is_abandoned = is_abandoned && !side.job.is_done();
            if is_abandoned {
                side.job.cancel.cancel();
            }
            !is_abandoned
        });
        if kept.len() >= KEPT_MAX {
            kept.remove(0).job.cancel.cancel();
        }
        let result: Arc<Mutex<Option<String>>> = Arc::default();
        let into = Arc::clone(&result);
        let (turn, cancel) = (Arc::clone(&self.turn), Cancel::new());
        let job = Job::start_by(cancel.clone(), wanted.words, "", false, move |monitor| {
            let _taken = turn.take(&cancel)?;
            *lock(&into) = Some(work(monitor)?.into_string());
            Ok(())
        });
        let (key, path) = (wanted.key.to_owned(), wanted.path.to_owned());
        let side = Arc::new(DelayedPart { key, path, job, result, wanted: Mutex::new(Instant::now()) });
        kept.push(Arc::clone(&side));
        side
    }
}

impl DelayedPart {
    fn shown(&self, wanted: PagePart<'_>) -> Markup {
        let standing = self.job.standing();
        let separator = if wanted.path.contains('?') { '&' } else { '?' };
        let id: String = wanted.path.chars().filter(char::is_ascii_alphanumeric).collect();
        if !standing.is_done {
            let percent = standing.fraction.map(|fraction| (fraction * 100.0).round() as u32);
            return html! {
                div.side hx-get=(wanted.path) hx-trigger="load delay:300ms" hx-target="this" hx-swap="outerHTML" {
                    p { (wanted.words) " … " @if let Some(percent) = percent { (percent) " % " } span.soft { (format!("{:.0} s", self.job.seconds())) } }
                    @match standing.fraction {
                        Some(fraction) => progress max="1" value=(fraction) aria-label=(wanted.words) {},
                        None => progress aria-label=(wanted.words) {},
                    }
                    button.small #{ "cancel-" (id) } disabled[self.job.cancel.is_canceled()] hx-get={ (wanted.path) (separator) "cancel=yes" } hx-target="closest .side" hx-swap="outerHTML" { "Cancel" }
                }
            };
        }
        if let Some(result) = &*lock(&self.result) {
            return PreEscaped(result.clone());
        }
        html! {
            div.side {
                p.soft { (standing.problem.unwrap_or_default()) }
                button.small #{ "again-" (id) } hx-get={ (wanted.path) (separator) "again=yes" } hx-target="closest .side" hx-swap="outerHTML" { "Try again" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn wanted<'a>(key: &'a str, again: bool) -> PagePart<'a> {
        PagePart { key, path: "/part?x=1", words: "Counting", again, patience: Patience::from_now() }
    }

    #[test]
    fn a_part_is_worked_out_once() {
        let (sides, runs) = (DelayedParts::default(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..3 {
            let runs = Arc::clone(&runs);
            let part = sides.part(wanted("a", false), move |_| {
                runs.fetch_add(1, Ordering::Relaxed);
                Ok(html! { p { "done" } })
            });
            assert_eq!(part.into_string(), "<p>done</p>");
        }
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_part_that_takes_long_shows_how_far_it_is_and_can_be_canceled() {
        let sides = DelayedParts::default();
        let until_canceled = |monitor: &Monitor<'_>| loop {
            check(monitor)?;
            std::thread::sleep(Duration::from_millis(5));
        };
        let part = sides.part(wanted("a", false), until_canceled).into_string();
        assert!(part.contains("Counting …") && part.contains("cancel=yes") && part.contains("<progress"), "{part}");
        sides.cancel("a");
        let part = sides.part(wanted("a", false), |_| Ok(html! { "again" })).into_string();
        assert!(part.contains("Canceled") && part.contains("again=yes"), "{part}");
        assert_eq!(sides.part(wanted("a", true), |_| Ok(html! { "again" })).into_string(), "again");
    }

    #[test]
    fn one_part_at_a_time_is_worked_out_and_none_that_was_replaced() {
        let (sides, at_once, most) = (DelayedParts::default(), Arc::new(AtomicUsize::new(0)), Arc::default());
        let start = |key: &str, path: &str, milliseconds: u64| {
            let (at_once, most): (_, Arc<AtomicUsize>) = (Arc::clone(&at_once), Arc::clone(&most));
            let patience = Patience::from_now();
            sides.part(PagePart { key, path, words: "Counting", again: false, patience }, move |monitor| {
                most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let ended = Instant::now() + Duration::from_millis(milliseconds);
                let outcome = loop {
                    match check(monitor) {
                        Ok(()) if Instant::now() < ended => std::thread::sleep(Duration::from_millis(5)),
                        outcome => break outcome,
                    }
                };
                at_once.fetch_sub(1, Ordering::SeqCst);
                outcome.map(|()| html! { "done" })
            })
        };
        // An hour of work, which a change replaces; and work for other places.
        start("a before", "/a", 3_600_000);
        let replaced = Arc::clone(&lock(&sides.kept)[0].job);
        for key in ["a after", "b", "c"] {
            start(key, &format!("/{}", &key[..1]), 100);
        }
        assert!(replaced.wait(Duration::from_secs(10)));
        let jobs: Vec<Arc<Job>> = lock(&sides.kept).iter().map(|side| Arc::clone(&side.job)).collect();
        assert_eq!(jobs.len(), 3);
        for job in jobs {
            assert!(job.wait(Duration::from_secs(10)) && job.standing().problem.is_none());
        }
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert_eq!(start("b", "/b", 0).into_string(), "done");
    }

    #[test]
    fn work_that_no_page_asks_for_is_canceled() {
        let sides = DelayedParts::default();
        sides.part(wanted("a", false), |monitor| {
            loop {
                check(monitor)?;
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let job = Arc::clone(&lock(&sides.kept)[0].job);
        *lock(&lock(&sides.kept)[0].wanted) = Instant::now() - 2 * ABANDONED_AFTER;
        sides.part(wanted("b", false), |_| Ok(html! {}));
        assert!(job.wait(Duration::from_secs(10)), "it ended");
    }

    /// Fails once the work is canceled, as every long loop of the library does.
    fn check(monitor: &Monitor<'_>) -> Result<(), Error> {
        let table = hedgerow::Table::from_records(["a"], [[Some("1")]], &hedgerow::ReadOptions::default()).unwrap();
        hedgerow::uniqueness(&table, &["a"], monitor).map(drop)
    }
}
