//! The program `hedgerow`: all of it is in the library, which the package for Python has as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(hedgerow_cli::run(&std::env::args_os().collect::<Vec<_>>()))
}
