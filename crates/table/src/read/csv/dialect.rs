//! Which byte separates fields and which quotes them.

use std::path::Path;

use crate::read::blocks::Quoting;
use crate::read::delimiter::{self, SAMPLE_BYTES};
use crate::read::{Format, ReadOptions};
use crate::{InputError, TableError};

/// The delimiters of data files; when a file could be read with several, the first one here is
/// taken.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// How much of the name of an unsplit header an error shows.
const NAME_SHOWN: usize = 24;

/// The dialect of a file that begins with `sample`: as given, as the file states, or detected.
pub(super) fn dialect(
    path: &Path,
    sample: &[u8],
    format: Format,
    stated: Option<u8>,
    options: &ReadOptions,
) -> Result<Quoting, TableError> {
    let quote = options.quote.unwrap_or(b'"');
    let delimiter = match (options.delimiter.or(stated), format) {
        (Some(delimiter), _) => delimiter,
        (None, Format::Tsv) => b'\t',
        _ => delimiter::detect(sample, sample.len() < SAMPLE_BYTES, quote, &DELIMITERS),
    };
    for (what, byte) in [("delimiter", delimiter), ("quote", quote)] {
        if !byte.is_ascii() || matches!(byte, b'\n' | b'\r' | 0) {
            let problem = format!("the {what} must be an ASCII character other than a line end");
            return Err(refuse(path, problem));
        }
    }
    if delimiter == quote {
        return Err(refuse(path, format!("`{}` is given as both delimiter and quote", char::from(quote))));
    }
    Ok(Quoting { delimiter, quote })
}

fn refuse(path: &Path, problem: String) -> TableError {
    InputError::new(path.display().to_string(), problem, "give a delimiter such as `;` and a quote such as `\"`").into()
}

/// Refuses a header that is one unquoted name with another delimiter in it: the file was not split.
pub(super) fn check_split(path: &Path, sample: &[u8], header: &[String], quoting: Quoting) -> Result<(), TableError> {
    let [name] = header else { return Ok(()) };
    let other = DELIMITERS.into_iter().find(|&mark| mark != quoting.delimiter && name.contains(char::from(mark)));
    let Some(other) = other.filter(|_| sample.first() != Some(&quoting.quote)) else { return Ok(()) };
    let shown = match name.char_indices().nth(NAME_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.clone(),
    };
    let given = delimiter::name(quoting.delimiter);
    Err(InputError::at_line(
        path,
        1,
        format!("one column named `{shown}`: is {given} the delimiter?"),
        format!("set `delimiter` to {}, or quote the name if it is one column", delimiter::name(other)),
    )
    .into())
}

/// The delimiter that a first line `sep=;` states, as Excel writes it, and the length of that line.
pub(super) fn stated(sample: &[u8]) -> Option<(u8, usize)> {
    let end = memchr::memchr(b'\n', sample)?;
    let line = sample[..end].strip_suffix(b"\r").unwrap_or(&sample[..end]);
    let bare = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match bare.split_at_checked(4)? {
        (key, &[delimiter]) if key.eq_ignore_ascii_case(b"sep=") => Some((delimiter, end + 1)),
        _ => None,
    }
}
