//! Long work away from Python: the interpreter is free while it runs, progress is reported and
//! Ctrl-C is noticed on the calling thread.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use hedgerow::{Cancel, Error, Monitor};
use pyo3::prelude::*;

use crate::error::{exception, internal};

/// How often signals are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own. `progress` is called with the phase and the share done; an
/// exception there, or a signal, cancels the work and is raised when it has ended.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    threads: Option<usize>,
    work: impl FnOnce(&Monitor<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    // A pool for each call: the threads of a pool do not survive a fork.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().map_err(internal)?;
    let cancel = Cancel::new();
    let (sender, mut receiver) = mpsc::channel::<(String, Option<f64>)>();
    std::thread::scope(|scope| {
        let watched = cancel.clone();
        let worker = scope.spawn(move || {
            let monitor = Monitor::default().cancel_by(&watched).on_progress(|progress| {
                // The receiver is dropped only after the last report.
                let _ = sender.send((progress.phase.to_owned(), progress.fraction));
            });
            pool.install(|| work(&monitor))
        });
        let mut raised: Option<PyErr> = None;
        loop {
            let receiver = &mut receiver;
            let event = py.detach(move || receiver.recv_timeout(LOOK_EVERY));
            let outcome = match event {
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => py.check_signals(),
                Ok((phase, fraction)) => match progress.filter(|_| raised.is_none()) {
                    Some(progress) => progress.call1((phase, fraction)).map(drop).and_then(|()| py.check_signals()),
                    None => py.check_signals(),
                },
            };
            if let Err(error) = outcome {
                cancel.cancel();
                raised.get_or_insert(error);
            }
        }
        let outcome = py.detach(|| worker.join());
        match (raised, outcome) {
            (Some(error), _) => Err(error),
            (None, Ok(Ok(value))) => Ok(value),
            (None, Ok(Err(error))) => Err(exception(py, &error)),
            (None, Err(_)) => Err(panicked()),
        }
    })
}

/// Runs `work`, which only reads and has no place at which it could stop: after a signal it is left
/// to end by itself, and what it finds is dropped.
pub(crate) fn run_detached<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().build().map_err(internal)?;
    let (sender, mut receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // The receiver is dropped after a signal.
        let _ = sender.send(pool.install(work));
    });
    loop {
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(LOOK_EVERY)) {
            Ok(outcome) => return outcome.map_err(|error| exception(py, &error)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
        }
    }
}

/// An error without the text of the panic, which may hold a private value.
fn panicked() -> PyErr {
    internal("internal error: a panic (this is a bug in hedgerow; nothing was published)")
}
