//! TOML files read with the place of every value: what policies, the descriptions of foreign tables
//! and the settings of a custodian have in common.
//!
//! A file's words are declared as tables of [`Word`]s, so that reading, hints and documents agree.
//! Reading collects everything that is wrong in one run, and every error states its place (line,
//! column, key path), what was found and expected, and what to do.
//!
//! ```
//! use hedgerow_config::{FileKind, Word, parse};
//!
//! const KIND: FileKind =
//!     FileKind { noun: "settings file", absent: "write one", too_large: "keep it small" };
//! const WORDS: &[Word] = &[Word::key("port", "port = 8000", "where to listen").required()];
//!
//! let port = |text: &str| {
//!     parse(text, "node.toml".as_ref(), KIND, |reader, root| {
//!         let fields = reader.table(root, WORDS, "port = 8000")?;
//!         reader.whole(fields.get("port")?, 1, 65_535)
//!     })
//! };
//! assert_eq!(port("port = 8000").unwrap(), 8000);
//! let errors = port("prot = 8000").unwrap_err();
//! assert!(errors.to_string().contains("hint: did you mean `port`?"));
//! ```

pub mod cluster;
pub mod database;
mod error;
pub mod number;
pub mod position;
mod reader;
pub mod source;
mod syntax;
mod tree;
mod word;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use cluster::{Cluster, ClusterAddress};
pub use database::{Address, Database, Engine, Selection};
pub use error::{ConfigError, ConfigErrors};
pub use position::{Excerpt, Position, quoted};
pub use reader::{Field, Fields, Reader, WrongTable};
pub use source::SourceSettings;
pub use tree::{At, Data, TomlNode, key_text};
pub use word::{Word, listed, nearest_word};

/// Such files are written by hand; anything larger is the wrong file.
const BYTES_MAX: u64 = 1 << 20;

/// The name of a file in messages about the file itself.
#[derive(Debug, Clone, Copy)]
pub struct FileKind {
    /// Without its article: `policy`.
    pub noun: &'static str,
    /// The hint when the file does not exist.
    pub absent: &'static str,
    /// The hint when the file is too large.
    pub too_large: &'static str,
}

/// Reads the file and hands its tree to `read`, which returns `None` after having refused
/// something.
pub fn load<T>(
    path: &Path,
    kind: FileKind,
    read: impl FnOnce(&mut Reader<'_>, &TomlNode) -> Option<T>,
) -> Result<T, ConfigErrors> {
    parse(&read_text(path, kind)?, path, kind, read)
}

/// As [`load`], from a text. `path` names the file in messages.
pub fn parse<T>(
    text: &str,
    path: &Path,
    kind: FileKind,
    read: impl FnOnce(&mut Reader<'_>, &TomlNode) -> Option<T>,
) -> Result<T, ConfigErrors> {
    if text.len() as u64 > BYTES_MAX {
        let problem = format!("larger than 1 MiB, which no {} is", kind.noun);
        return Err(ConfigErrors::about_file(path.display().to_string(), problem, kind.too_large));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::new(text, path);
    let value = match TomlNode::parse(text) {
        Ok(root) => read(&mut reader, &root),
        Err(error) => {
            syntax::refuse(&mut reader, &error);
            None
        }
    };
    reader.finish(value)
}

fn read_text(path: &Path, kind: FileKind) -> Result<String, ConfigErrors> {
    let bytes = read_bytes(path).map_err(|error| unreadable(path, kind, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let start = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let line = start.matches('\n').count() + 1;
        let column = start.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let place = format!("{}:{line}:{column}", path.display());
        let hint = format!("a {} is a text file: save it with the encoding UTF-8", kind.noun);
        ConfigErrors::about_file(place, "not valid UTF-8", hint)
    })
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed, so that too large a file is noticed without being read.
    File::open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, kind: FileKind, error: &io::Error) -> ConfigErrors {
    let (problem, hint) = match error.kind() {
        io::ErrorKind::NotFound => ("no such file".to_owned(), kind.absent.to_owned()),
        io::ErrorKind::IsADirectory => {
            ("a folder, not a file".to_owned(), format!("name the {} in it, such as `policy.toml`", kind.noun))
        }
        io::ErrorKind::PermissionDenied => ("may not be read".to_owned(), "get permission to read the file".to_owned()),
        _ => (format!("cannot be read: {error}"), "check the path and the disk".to_owned()),
    };
    ConfigErrors::about_file(path.display().to_string(), problem, hint)
}
