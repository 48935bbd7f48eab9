//! The errors of a file: all at once, each with its place, the text of its line, and
//! what to do.

use std::fmt;
use std::ops::Deref;

use hedgerow_table::InputError;

use crate::position::{Excerpt, Position};

/// One thing wrong. It prints as a whole message, from `error:` to `hint:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Its place is `policy.toml:LINE:COLUMN: key.path`, or the file alone when it has no text to
    /// point into.
    pub error: InputError,
    pub position: Option<Position>,
    pub excerpt: Option<Excerpt>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}: {}", self.error.place, self.error.problem)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{}", excerpt.to_string().trim_end_matches('\n'))?;
        }
        if !self.error.hint.is_empty() {
            write!(f, "\nhint: {}", self.error.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// Everything found wrong in one reading, in the order of the file. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    pub(crate) found: Vec<ConfigError>,
    pub(crate) left_off: usize,
}

impl ConfigErrors {
    pub fn one(error: ConfigError) -> Self {
        ConfigErrors { found: vec![error], left_off: 0 }
    }

    /// A complaint about the file itself, before there is a text to point into.
    pub fn about_file(place: String, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        let error = InputError::new(place, problem, hint);
        ConfigErrors::one(ConfigError { error, position: None, excerpt: None })
    }
}

impl Deref for ConfigErrors {
    type Target = [ConfigError];

    fn deref(&self) -> &[ConfigError] {
        &self.found
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.found.iter().enumerate() {
            if number > 0 {
                write!(f, "\n\n")?;
            }
            write!(f, "{error}")?;
        }
        if self.left_off > 0 {
            write!(f, "\n\n… and {} more", self.left_off)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
