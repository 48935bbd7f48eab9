//! The settings of a connection: SET, RESET and SHOW. No setting changes what others see, and
//! nothing set raises a limit of the node.

use std::time::Duration;

use super::refusal::{BAD_VALUE, READ_ONLY, StatementRefusal, UNKNOWN_SETTING, UNSUPPORTED};

/// The version of PostgreSQL that answers conform to.
pub(super) const SERVER_VERSION: &str = "15.0";
const VALUE_BYTES_MAX: usize = 1000;

/// Known names with their values at the beginning, and whether a client is sent a change.
const KNOWN: &[(&str, &str, bool)] = &[
    ("application_name", "", true),
    ("backslash_quote", "safe_encoding", false),
    ("bytea_output", "hex", false),
    ("client_encoding", "UTF8", true),
    ("client_min_messages", "notice", false),
    ("datestyle", "ISO, MDY", true),
    ("default_table_access_method", "heap", false),
    ("default_tablespace", "", false),
    ("default_transaction_isolation", "repeatable read", false),
    ("default_transaction_read_only", "on", true),
    ("escape_string_warning", "on", false),
    ("extra_float_digits", "1", false),
    ("hedgerow.bounds", "on", false),
    ("hedgerow.epoch", "last", false),
    ("idle_in_transaction_session_timeout", "0", false),
    ("idle_session_timeout", "0", false),
    ("integer_datetimes", "on", true),
    ("intervalstyle", "postgres", true),
    ("jit", "off", false),
    ("lc_collate", "C", false),
    ("lc_ctype", "C", false),
    ("lc_messages", "C", false),
    ("lc_monetary", "C", false),
    ("lc_numeric", "C", false),
    ("lc_time", "C", false),
    ("lock_timeout", "0", false),
    ("max_identifier_length", "63", false),
    ("max_index_keys", "32", false),
    ("row_security", "on", false),
    ("search_path", "\"$user\", public", false),
    ("server_encoding", "UTF8", true),
    ("server_version", SERVER_VERSION, true),
    ("server_version_num", "150000", false),
    ("standard_conforming_strings", "on", true),
    ("statement_timeout", "0", false),
    ("synchronize_seqscans", "on", false),
    ("timezone", "UTC", true),
    ("transaction_isolation", "repeatable read", false),
    ("transaction_read_only", "on", false),
    ("xmloption", "content", false),
];

/// Those that say what the node is, and not what a client wants.
const FIXED: &[&str] = &[
    "integer_datetimes",
    "lc_collate",
    "lc_ctype",
    "max_identifier_length",
    "max_index_keys",
    "server_encoding",
    "server_version",
    "server_version_num",
];

#[derive(Debug, Clone)]
pub(super) struct Variables(Vec<String>);

impl Default for Variables {
    fn default() -> Variables {
        Variables(KNOWN.iter().map(|(_, value, _)| (*value).to_owned()).collect())
    }
}

fn place(name: &str) -> Result<usize, StatementRefusal> {
    let folded = name.to_lowercase();
    let known = KNOWN.iter().position(|(known, _, _)| *known == folded);
    known.ok_or_else(|| {
        let problem = format!("there is no setting {}", shortened(&folded));
        StatementRefusal::new(UNKNOWN_SETTING, problem, "SHOW ALL lists those that there are")
    })
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

impl Variables {
    pub(super) fn get(&self, name: &str) -> Result<&str, StatementRefusal> {
        place(name).map(|at| self.0[at].as_str())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        KNOWN.iter().zip(&self.0).map(|((name, _, _), value)| (*name, value.as_str()))
    }

    /// Those that a client is sent at the beginning, under the names that it knows.
    pub(super) fn reported(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let sent = KNOWN.iter().zip(&self.0).filter(|((_, _, sent), _)| *sent);
        sent.map(|((name, _, _), value)| (spelled(name), value.as_str()))
    }

    /// Sets a value, or the one of the beginning; whether the client is sent the change.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) -> Result<Option<&'static str>, StatementRefusal> {
        let at = place(name)?;
        let (name, first, sent) = KNOWN[at];
        let value = value.unwrap_or(first);
        let refused = |code, hint: &str| {
            Err(StatementRefusal::new(code, format!("{name} cannot be set to \"{}\"", shortened(value)), hint))
        };
        let on = matches!(value.to_lowercase().as_str(), "on" | "true" | "1" | "yes");
        let folded: String = value.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        match name {
            _ if value.len() > VALUE_BYTES_MAX => return refused(BAD_VALUE, "it is too long"),
            _ if FIXED.contains(&name) && value != first => return refused(BAD_VALUE, "it is what the node has"),
            "client_encoding" if !matches!(folded.as_str(), "utf8" | "unicode") => {
                return refused(UNSUPPORTED, "everything is sent in UTF8");
            }
            "standard_conforming_strings" if !on => return refused(UNSUPPORTED, "it is on"),
            "datestyle" if !folded.starts_with("iso") => return refused(UNSUPPORTED, "dates are ISO"),
            "default_transaction_read_only" | "transaction_read_only" if !on => {
                return refused(READ_ONLY, "a release cannot be changed");
            }
            "hedgerow.epoch" if value != "last" && value.parse::<u64>().is_err() => {
                return refused(BAD_VALUE, "give the number of a published run, or last");
            }
            "hedgerow.bounds" if !on && !matches!(folded.as_str(), "off" | "false" | "0" | "no") => {
                return refused(BAD_VALUE, "give on or off");
            }
            "statement_timeout" if milliseconds(value).is_none() => {
                return refused(BAD_VALUE, "give milliseconds, or a time such as 5s");
            }
            "hedgerow.bounds" => self.0[at] = if on { "on" } else { "off" }.to_owned(),
            "client_encoding" => self.0[at] = "UTF8".to_owned(),
            "datestyle" => self.0[at] = first.to_owned(),
            _ => self.0[at] = value.to_owned(),
        }
        Ok(sent.then(|| spelled(name)))
    }

    /// The time that a statement may take: what was set, and never more than the node allows.
    pub(super) fn timeout(&self, most: Duration) -> Duration {
        match self.get("statement_timeout").ok().and_then(milliseconds) {
            None | Some(0) => most,
            Some(set) => most.min(Duration::from_millis(set)),
        }
    }
}

/// As clients spell it.
fn spelled(name: &'static str) -> &'static str {
    match name {
        "datestyle" => "DateStyle",
        "intervalstyle" => "IntervalStyle",
        "timezone" => "TimeZone",
        name => name,
    }
}

fn milliseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_shown_and_limits_stay() {
        let mut variables = Variables::default();
        assert_eq!(variables.set("Application_Name", Some("psql")).unwrap(), Some("application_name"));
        assert_eq!(variables.get("APPLICATION_NAME").unwrap(), "psql");
        variables.set("application_name", None).unwrap();
        assert_eq!(variables.get("application_name").unwrap(), "");
        let most = Duration::from_secs(30);
        assert_eq!(variables.timeout(most), most);
        variables.set("statement_timeout", Some("5s")).unwrap();
        assert_eq!(variables.timeout(most), Duration::from_secs(5));
        variables.set("statement_timeout", Some("2h")).unwrap();
        assert_eq!(variables.timeout(most), most);
        let mut code = |name: &str, value: &str| variables.set(name, Some(value)).unwrap_err().code;
        assert_eq!(code("transaction_read_only", "off"), READ_ONLY);
        assert_eq!(code("client_encoding", "LATIN1"), UNSUPPORTED);
        assert_eq!(code("server_version", "16"), BAD_VALUE);
        assert_eq!(code("hedgerow.epoch", "-1"), BAD_VALUE);
        assert_eq!(code("shared_buffers", "1"), UNKNOWN_SETTING);
        assert_eq!(code("statement_timeout", "soon"), BAD_VALUE);
        let mut known: Vec<&str> = KNOWN.iter().map(|(name, _, _)| *name).collect();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), KNOWN.len());
    }
}
