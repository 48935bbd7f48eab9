//! `hedgerow-studio`: a web application on loopback in which a policy is made and tried. Its
//! document is the policy file: every change is written there at once.

mod address;
mod arguments;
mod assets;
mod atomic_file;
mod confine;
mod delayed_parts;
mod document;
mod doorway;
mod edit;
mod engine;
mod form;
mod groups;
mod guard;
mod hierarchy_text;
mod history;
mod http;
mod job;
mod line_diff;
mod memory;
mod pages;
mod patience;
mod reach;
mod routes;
mod rule_text;
mod server;
mod studio;
mod upload;

use std::ffi::OsString;
use std::io::Write as _;

use clap::Parser as _;

/// A wrong argument, or a file that cannot be used.
const USAGE: u8 = 2;

/// Serves until the process is ended, or gives the exit code. On Linux the process starts once more
/// first, in an environment that has the allocator return memory. `arguments` start with the name
/// of the program.
pub fn run(arguments: &[OsString]) -> u8 {
    memory::start_returning();
    hide_panics();
    let parsed = match arguments::Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(message) => {
            // Help and versions come this way too. A closed terminal is not a failure.
            let _ = message.print();
            return u8::try_from(message.exit_code()).unwrap_or(USAGE);
        }
    };
    match http::run(&parsed) {
        Ok(()) => 0,
        Err(problem) => {
            say(&format!("error: {problem}"));
            USAGE
        }
    }
}

/// A line on standard error. Unlike `eprintln!` it does not panic when the terminal is gone.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A panic's message may carry a value from the private table, so only its place is printed.
fn hide_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place =
            panic.location().map_or_else(|| "an unknown place".to_owned(), |at| format!("{}:{}", at.file(), at.line()));
        say(&format!("error: internal error at {place} (this is a bug in hedgerow; nothing was published)"));
    }));
}
