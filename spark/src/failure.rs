//! Errors of the cluster, split by who can act on them.

use std::io;
use std::path::PathBuf;

use hedgerow_table::TableError;
use spark_connect::SparkError;

/// An error of the cluster. What a job says when it fails may quote a value of a row, so only the
/// class of such an error is shown; the message is shown where names and statements are wrong.
pub(crate) fn failure(place: &str, error: &SparkError) -> TableError {
    let class = error.get_error_class().filter(|class| is_class(class));
    let state = error.get_sql_state().filter(|state| is_class(state)).unwrap_or_default();
    // Classes of SQLSTATE: access rules, connections, and names and syntax.
    let about_names = ["28", "42"].iter().any(|family| state.starts_with(family));
    if about_names {
        return named(place, error);
    }
    let problem = match class {
        Some(class) if !class.is_empty() => format!("the cluster stopped with {class}"),
        _ if is_lost(error) => return lost(place),
        _ => "the cluster stopped the job; its own log says why".to_owned(),
    };
    TableError::Io { path: PathBuf::from(place), source: io::Error::other(problem) }
}

/// An error before any row was read: names, types and syntax, which the user can mend.
pub(crate) fn unresolved(place: &str, error: &SparkError) -> TableError {
    if is_lost(error) { lost(place) } else { named(place, error) }
}

/// Whether the server did not answer, or the connection broke while it was answered: then the
/// client itself makes up a status that says nothing but that.
fn is_lost(error: &SparkError) -> bool {
    let message = error.get_message();
    let broke = error.get_error_class().is_none() && TRANSPORT.iter().any(|text| message.contains(text));
    error.grpc_code() == Some(UNAVAILABLE) || broke
}

fn named(place: &str, error: &SparkError) -> TableError {
    let message = error.get_message();
    let line = message.lines().next().unwrap_or_default().chars().take(MESSAGE_MAX).collect::<String>();
    TableError::input(place, line, "check `table`, `query` or `path`, and the right to read it")
}

/// The cluster stopped answering.
pub(crate) fn lost(place: &str) -> TableError {
    let problem = "the connection to the cluster was lost; nothing was published";
    TableError::Io { path: PathBuf::from(place), source: io::Error::new(io::ErrorKind::ConnectionAborted, problem) }
}

const MESSAGE_MAX: usize = 300;
/// The client's message about a broken connection.
const TRANSPORT: [&str; 3] = ["transport error", "h2 protocol error", "error reading a body from connection"];
/// The status of a call to a server that does not answer.
const UNAVAILABLE: i32 = 14;

/// Whether a text is a name such as `CAST_INVALID_INPUT` and can hold no value of a row.
fn is_class(text: &str) -> bool {
    text.len() <= 100
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_breaks_in_an_answer_is_lost() {
        for at in [failure, unresolved] {
            let broken = at("sc://host", &SparkError::connect_msg("[Unknown error] transport error"));
            assert!(matches!(broken, TableError::Io { .. }) && broken.to_string().contains("connection"), "{broken}");
        }
        let wrong = unresolved("sc://host", &SparkError::connect_msg("no such column"));
        assert!(!matches!(wrong, TableError::Io { .. }), "{wrong}");
    }

    #[test]
    fn a_failed_job_shows_its_class_and_no_value() {
        let error = SparkError::connect_msg("The value 'Ann Smith' of the type STRING cannot be cast");
        let shown = failure("sc://host", &error).to_string();
        assert!(!shown.contains("Ann Smith"), "{shown}");
        assert!(shown.starts_with("sc://host: the cluster stopped"), "{shown}");
        assert!(is_class("CAST_INVALID_INPUT") && is_class("42P01") && !is_class("Ann") && !is_class("A B"));
    }
}
