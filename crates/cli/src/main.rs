//! The `hedgerow` command: arguments become settings, and each verb is one file.
//!
//! Data and results go to standard output, talk to standard error. Exit codes: 0 done; 1 failed; 2
//! usage or policy error; 3 no release can meet the policy; 4 a check found a breach.

mod args;
mod failure;
mod interrupt;
mod memory;
mod progress;
mod text;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Verb};
use failure::{Failure, say};

fn main() -> ExitCode {
    hide_panics();
    let arguments = Arguments::parse();
    memory::keep_little(&arguments.talk);
    interrupt::listen();
    // A run that was killed could not clean up after itself.
    hedgerow::clear_leftovers(std::path::Path::new("."));
    let run_verb = || match &arguments.verb {
        Verb::Init(init) => verbs::init::run(init, &arguments.talk),
        Verb::Publish(publish) => verbs::publish::run(publish, &arguments.talk),
        Verb::Check(check) => verbs::check::run(check, &arguments.talk),
        Verb::Measure(measure) => verbs::measure::run(measure, &arguments.talk),
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
        memory::watch(&arguments.talk)?;
        run_verb()
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or(Err(Failure::Panicked));
    if let (true, Some(bytes)) = (arguments.talk.verbose, memory::peak_bytes()) {
        say(&format!("memory   {:.1} MiB at most", bytes as f64 / (1 << 20) as f64));
    }
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// A panic's message may carry a value from the private table, so only its place is printed.
fn hide_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place =
            panic.location().map_or_else(|| "an unknown place".to_owned(), |at| format!("{}:{}", at.file(), at.line()));
        say(&format!("error: internal error at {place} (this is a bug in hedgerow; nothing was published)"));
    }));
}
