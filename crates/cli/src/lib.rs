//! The `hedgerow` command: arguments become settings, and each verb is one file.
//!
//! Data and results go to standard output, talk to standard error. Exit codes: 0 done; 1 failed; 2
//! usage or policy error; 3 no release can meet the policy; 4 a check found a breach.

mod args;
#[cfg(test)]
mod documented;
mod failure;
mod interrupt;
mod memory;
mod mixups;
mod progress;
mod text;
mod verbs;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::Parser;

use args::{Arguments, Verb};
use failure::{Failure, say};

/// How the command was started, by which programs beside it are found.
static STARTED_AS: OnceLock<PathBuf> = OnceLock::new();

/// Runs the command to its end and gives the exit code. `arguments` start with the name of the
/// program, by which others beside it are found. Once in a process: it listens for signals and sets
/// up threads for the whole of it.
pub fn run(arguments: &[OsString]) -> u8 {
    hide_panics();
    if let Some(own) = arguments.first() {
        let _ = STARTED_AS.set(PathBuf::from(own));
    }
    let code = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => number(run_verb(&parsed, arguments)),
        Err(message) => match mixups::of_line(&message, arguments.get(1).and_then(|word| word.to_str())) {
            Some((text, code)) => {
                say(&text);
                code
            }
            None => {
                // Help and versions come this way too. A closed terminal is not a failure.
                let _ = message.print();
                u8::try_from(message.exit_code()).unwrap_or(failure::USAGE)
            }
        },
    };
    // Within another program, such as Python, nothing else flushes it.
    let _ = std::io::stdout().flush();
    code
}

fn run_verb(arguments: &Arguments, words: &[OsString]) -> ExitCode {
    memory::keep_little(&arguments.talk);
    interrupt::listen();
    clear_leftovers(words);
    let run_verb = || match &arguments.verb {
        Verb::Init(init) => verbs::init::run(init, &arguments.talk),
        Verb::Publish(publish) => verbs::publish::run(publish, &arguments.talk),
        Verb::Check(check) => verbs::check::run(check, &arguments.talk),
        Verb::Measure(measure) => verbs::measure::run(measure, &arguments.talk),
        Verb::Studio(studio) => verbs::studio::run(studio),
        Verb::Report(report) => verbs::report::run(report, &arguments.talk),
        Verb::Explore(explore) => verbs::explore::run(explore, &arguments.talk),
        Verb::Query(query) => verbs::query::run(query, &arguments.talk),
        Verb::Catalog(catalog) => verbs::catalog::run(&catalog.what, &arguments.talk),
        Verb::Audit(audit) => verbs::audit::run(audit, &arguments.talk),
        Verb::Federation(federation) => verbs::federation::run(federation, &arguments.talk),
        Verb::Rules(rules) => verbs::rules::run(rules, &arguments.talk),
        Verb::Synth(synth) => verbs::synth::run(synth, &arguments.talk),
        Verb::Completions(completions) => verbs::completions::run(completions),
    };
    if let Some(threads) = arguments.talk.threads {
        // Fails only when a pool exists already, which nothing before this line can have made.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global();
    }
    let run = || {
        memory::watch(&arguments.talk, matches!(arguments.verb, Verb::Publish(_)))?;
        run_verb()
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or(Err(Failure::Panicked));
    if let (true, Some(bytes)) = (arguments.talk.verbose, memory::peak_bytes()) {
        say(&format!("memory   {:.1} MiB at most", bytes as f64 / (1 << 20) as f64));
    }
    match outcome {
        Ok(code) => code,
        Err(failure) => mixups::explained(&arguments.verb, failure).report(),
    }
}

/// The number of an exit code, which the standard library keeps to itself.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(failure::FAILED)
}

/// A run that was killed could not clean up after itself: the next one that names a path there
/// does.
fn clear_leftovers(words: &[OsString]) {
    let mut folders = vec![PathBuf::from(".")];
    for argument in words.iter().skip(1) {
        let path = PathBuf::from(argument);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_path_buf);
        folders.extend(parent.into_iter().chain([path]).filter(|folder| folder.is_dir()));
    }
    folders.sort_unstable();
    folders.dedup();
    folders.iter().for_each(hedgerow::clear_leftovers);
    hedgerow::clear_scratch();
}

/// A panic's message may carry a value from the private table, so only its place is printed.
fn hide_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place =
            panic.location().map_or_else(|| "an unknown place".to_owned(), |at| format!("{}:{}", at.file(), at.line()));
        say(&format!("error: internal error at {place} (this is a bug in hedgerow; nothing was published)"));
    }));
}
