//! How a command fails: what is said on standard error, and with which exit code.

use std::io::Write;
use std::process::ExitCode;

use hedgerow_policy::ConfigErrors;
use hedgerow_publish::PublishError;
use hedgerow_table::{InputError, TableError};

pub(crate) const BREACH: u8 = 4;
pub(crate) const UNSATISFIABLE: u8 = 3;
const USAGE: u8 = 2;
const FAILED: u8 = 1;

/// A line on standard error. Unlike `eprintln!` it does not panic when nobody listens there any more.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[derive(Debug)]
pub(crate) enum Failure {
    Publish(PublishError),
    /// Standard output was closed or full.
    Output(std::io::Error),
    Panicked,
}

impl Failure {
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Failure::Publish(error) => {
                let code = match &error {
                    PublishError::Policy(_) | PublishError::Table(TableError::Input(_)) => USAGE,
                    PublishError::Unsatisfiable(_) | PublishError::Ineligible(_) | PublishError::Community(_) => {
                        UNSATISFIABLE
                    }
                    PublishError::Breach(_) => BREACH,
                    PublishError::Table(_) | PublishError::Internal(_) => FAILED,
                };
                let prefix = if matches!(error, PublishError::Policy(_)) { "" } else { "error: " };
                (format!("{prefix}{error}"), code)
            }
            // Who reads the output has gone; there is nobody to tell.
            Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return ExitCode::from(FAILED),
            Failure::Output(error) => (format!("error: standard output: {error}"), FAILED),
            Failure::Panicked => return ExitCode::from(FAILED),
        };
        say(&message);
        ExitCode::from(code)
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        Failure::Publish(error)
    }
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        Failure::Publish(errors.into())
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Failure::Publish(error.into())
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Publish(error.into())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Output(error)
    }
}
