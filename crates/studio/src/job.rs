//! Work that takes long: it runs on a thread of its own, says how far it is, and can be canceled.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hedgerow::{Cancel, Error, ErrorKind, Monitor};

/// The status of a job on a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobStatus {
    pub(crate) phase: String,
    pub(crate) fraction: Option<f64>,
    /// The best result of a search so far, in words.
    pub(crate) found: Option<String>,
    pub(crate) is_done: bool,
    /// Why it ended without a result.
    pub(crate) problem: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Job {
    /// The name of the work, as a heading: `Publishing`.
    pub(crate) name: String,
    /// The page whose result it is.
    pub(crate) page: &'static str,
    /// Whether a search can end with the best found so far.
    pub(crate) can_finish_early: bool,
    started: Instant,
    pub(crate) cancel: Cancel,
    standing: Mutex<JobStatus>,
    ended: Condvar,
}

impl Job {
    /// Runs `work` on a thread of its own.
    pub(crate) fn start(
        name: &str,
        page: &'static str,
        can_finish_early: bool,
        work: impl FnOnce(&Monitor<'_>) -> Result<(), Error> + Send + 'static,
    ) -> Arc<Job> {
        Job::start_by(Cancel::new(), name, page, can_finish_early, work)
    }

    /// The same, which another holder of `cancel` can cancel too.
    pub(crate) fn start_by(
        cancel: Cancel,
        name: &str,
        page: &'static str,
        can_finish_early: bool,
        work: impl FnOnce(&Monitor<'_>) -> Result<(), Error> + Send + 'static,
    ) -> Arc<Job> {
        let job = Arc::new(Job {
            name: name.to_owned(),
            page,
            can_finish_early,
            started: Instant::now(),
            cancel,
            standing: Mutex::default(),
            ended: Condvar::new(),
        });
        let running = Arc::clone(&job);
        std::thread::spawn(move || running.run(work));
        job
    }

    fn run(&self, work: impl FnOnce(&Monitor<'_>) -> Result<(), Error>) {
        let monitor = Monitor::default().cancel_by(&self.cancel).on_progress(|progress| {
            let mut standing = self.lock();
            progress.phase.clone_into(&mut standing.phase);
            standing.fraction = progress.fraction;
        });
        let monitor = monitor.on_found(|what| self.lock().found = Some(what.to_owned()));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&monitor)));
        let mut standing = self.lock();
        standing.problem = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(error)) if error.kind() == ErrorKind::Canceled => Some("Canceled: nothing was written.".to_owned()),
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("Internal error: this is a bug in hedgerow. Nothing was published.".to_owned()),
        };
        standing.is_done = true;
        self.ended.notify_all();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, JobStatus> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn standing(&self) -> JobStatus {
        self.lock().clone()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.lock().is_done
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Waits a little for the end, so that quick work shows its result at once.
    pub(crate) fn wait(&self, most: Duration) -> bool {
        let standing = self.lock();
        let waited = self.ended.wait_timeout_while(standing, most, |standing| !standing.is_done);
        waited.map(|(standing, _)| standing.is_done).unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_ends_with_its_result_its_problem_or_a_panic() {
        let ended = |work: fn(&Monitor<'_>) -> Result<(), Error>| {
            let job = Job::start("Trying", "data", false, work);
            assert!(job.wait(Duration::from_secs(10)));
            job.standing().problem
        };
        assert_eq!(ended(|_| Ok(())), None);
        assert!(ended(|_| Err(Error::canceled())).unwrap().contains("Canceled"));
        assert!(ended(|_| panic!("a private value")).unwrap().contains("Internal error"));
        let slow = Job::start("Waiting", "data", false, |_| {
            std::thread::sleep(Duration::from_millis(200));
            Ok(())
        });
        assert!(!slow.wait(Duration::from_millis(1)));
    }
}
