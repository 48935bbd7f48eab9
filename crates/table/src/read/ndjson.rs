//! Newline-delimited JSON: one object per line, its keys the columns.
//!
//! The columns are the keys of all lines, in the order in which they first appear; a key that a
//! line lacks is missing there, as is null. Numbers keep the digits they are written with.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::assemble::{Gathered, WorkerCodes, widen};
use super::blocks::{Block, Blocks};
use super::csv::{OpenSource, check_rows, no_rows};
use super::header::{check_names, shorten};
use super::interner::{ABSENT, Interner};
use super::part::CodedFile;
use super::source::skip_byte_order_mark;
use super::workers::share;
use super::{ReadLimits, ReadOptions};
use crate::spill::Kept;
use crate::{Codes, InputError, TableError};

pub(super) fn read<'a>(
    open: Box<OpenSource<'a>>,
    path: &'a Path,
    options: &'a ReadOptions<'a>,
    limits: ReadLimits,
) -> Result<CodedFile<'a>, TableError> {
    let blocks = Blocks::new(skip_byte_order_mark(open()?)?, None, &limits);
    let rows = AtomicUsize::new(0);
    let new_worker =
        || Worker { options, limits: &limits, columns: Vec::new(), by_name: HashMap::new(), blocks: Vec::new() };
    let workers = share(blocks, new_worker, |worker: &mut Worker, block| {
        let added = worker.read(block, path)?;
        options.progress.check()?;
        check_rows(path, rows.fetch_add(added, Ordering::Relaxed) + added, &limits)
    })?;
    let rows = rows.into_inner();
    if rows == 0 {
        return Err(no_rows(path));
    }
    let (header, columns) = gather(workers);
    check_names(&path.display().to_string(), &header, &limits)?;
    let place_of = move |row| match line_of_row(&open, &limits, row) {
        Some(line) => format!("{}:{line}", path.display()),
        None => format!("{}: row {}", path.display(), row + 1),
    };
    Ok(CodedFile { header, columns, rows, warnings: Vec::new(), place_of: Box::new(place_of) })
}

/// Where a key first stood: block, row in the block, place in the object. Smaller is earlier in the
/// file.
type Appearance = (usize, usize, usize);

struct JsonColumn {
    name: String,
    first: Appearance,
    wanted: bool,
    /// Whether it was asked for, whatever it holds.
    is_named: bool,
    dictionary: Interner,
    /// Codes of the block at hand, up to the last row that has the key.
    codes: Codes,
    /// One more than the last row of the block that has the key.
    rows: usize,
}

struct CodedBlock {
    index: usize,
    rows: usize,
    columns: Vec<Kept>,
}

struct Worker<'a> {
    options: &'a ReadOptions<'a>,
    limits: &'a ReadLimits,
    columns: Vec<JsonColumn>,
    by_name: HashMap<String, usize>,
    blocks: Vec<CodedBlock>,
}

/// The problem with a line, and a hint.
type LineProblem = (String, &'static str);

impl Worker<'_> {
    /// How many rows the block has.
    fn read(&mut self, block: &Block, path: &Path) -> Result<usize, TableError> {
        let mut rows = 0;
        for (number, line) in block.bytes().split_inclusive(|&byte| byte == b'\n').enumerate() {
            let refuse = |(problem, hint): LineProblem| {
                TableError::from(InputError::at_line(path, block.first_line + number as u64, problem, hint))
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            self.read_line(line, block.index, rows).map_err(refuse)?;
            rows += 1;
        }
        let columns = self.columns.iter_mut().map(|column| column.finish_block(rows)).collect();
        let columns = self.options.keep_all(columns)?;
        self.blocks.push(CodedBlock { index: block.index, rows, columns });
        Ok(rows)
    }

    fn read_line(&mut self, line: &[u8], block: usize, row: usize) -> Result<(), LineProblem> {
        let text = std::str::from_utf8(line)
            .map_err(|_| ("bytes that are not UTF-8".to_owned(), "JSON is written in UTF-8: convert the file"))?;
        if !text.trim_ascii_start().starts_with('{') {
            let problem = format!("expected an object, found `{}`", shorten(text.trim_ascii()));
            return Err((problem, "write one object per line: {\"age\": 31, \"sex\": \"f\"}"));
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let mut object = ObjectVisitor { worker: self, block, row, refusal: None };
        let outcome = json.deserialize_map(&mut object);
        match (object.refusal.take(), outcome.and_then(|()| json.end())) {
            (Some(refusal), _) => Err(refusal),
            (None, Err(error)) => {
                Err((format!("not sound JSON: {}", without_place(&error)), "write one whole object per line"))
            }
            (None, Ok(())) => Ok(()),
        }
    }

    /// The column of a key. Objects mostly repeat the keys of the line before, so the expected one
    /// is tried first.
    fn column(&mut self, name: &str, first: Appearance) -> Result<usize, LineProblem> {
        if self.columns.get(first.2).is_some_and(|column| column.name == name) {
            return Ok(first.2);
        }
        if let Some(&index) = self.by_name.get(name) {
            return Ok(index);
        }
        if self.columns.len() == self.limits.columns {
            let problem = format!("more than {} different keys", self.limits.columns);
            return Err((problem, "use the same keys on every line"));
        }
        if name.trim().is_empty() {
            return Err(("a key is empty".to_owned(), "give every value a name"));
        }
        let index = self.columns.len();
        let mut dictionary = Interner::with_keys(self.limits.keys);
        dictionary.forget_beyond(self.options.values_max(name));
        self.columns.push(JsonColumn {
            name: name.to_owned(),
            first,
            wanted: self.options.wants(name),
            is_named: self.options.names(name),
            dictionary,
            codes: Codes::with_capacity(1, 0),
            rows: 0,
        });
        self.by_name.insert(name.to_owned(), index);
        Ok(index)
    }

    fn take(&mut self, appearance: Appearance, name: &str, value: &str) -> Result<(), LineProblem> {
        let index = self.column(name, appearance)?;
        let row = appearance.1;
        let limit = self.limits.field_bytes;
        let column = &mut self.columns[index];
        if column.rows > row {
            return Err((format!("the key `{}` stands twice", shorten(name)), "give every key one value"));
        }
        if !column.wanted {
            column.rows = row + 1;
            return Ok(());
        }
        let code = match column.code(name, value, limit) {
            // A value that cannot be read matters where the column was asked for.
            Err(_) if !column.is_named => ABSENT,
            code => code?,
        };
        column.push(row, code);
        Ok(())
    }
}

impl JsonColumn {
    fn code(&mut self, name: &str, value: &str, limit: usize) -> Result<u32, LineProblem> {
        match value.as_bytes().first() {
            Some(b'"') => {
                let text = unquote(value)?;
                if text.len() > limit {
                    return Err((format!("a text of over {limit} bytes"), "omit the column, or shorten the text"));
                }
                if text.contains('\0') {
                    return Err((format!("key `{}`: a NUL character", shorten(name)), "take it out of the text"));
                }
                Ok(self.dictionary.code(text.as_bytes()))
            }
            Some(b'{' | b'[') => {
                let problem = format!("key `{}` holds an object or a list", shorten(name));
                Err((problem, "a table holds single values: spread it over several keys, or omit it"))
            }
            Some(b'n') => Ok(ABSENT),
            _ => Ok(self.dictionary.code(value.as_bytes())),
        }
    }

    fn push(&mut self, row: usize, code: u32) {
        self.pad(row);
        widen(&mut self.codes, self.dictionary.cardinality());
        self.dictionary.absent |= code == ABSENT;
        self.codes.push(code);
        self.rows = row + 1;
    }

    /// Marks the rows since the last one with the key as absent.
    fn pad(&mut self, row: usize) {
        for _ in self.codes.len()..row {
            self.dictionary.absent = true;
            self.codes.push(ABSENT);
        }
    }

    fn finish_block(&mut self, rows: usize) -> Codes {
        if self.wanted {
            self.pad(rows);
        }
        self.rows = 0;
        std::mem::replace(&mut self.codes, Codes::with_capacity(self.dictionary.cardinality(), 0))
    }
}

struct ObjectVisitor<'w, 'a> {
    worker: &'w mut Worker<'a>,
    block: usize,
    row: usize,
    refusal: Option<LineProblem>,
}

#[derive(serde::Deserialize)]
struct ObjectKey<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for &mut ObjectVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut place = 0;
        while let Some((ObjectKey(name), value)) = map.next_entry::<ObjectKey<'de>, &'de RawValue>()? {
            if let Err(refusal) = self.worker.take((self.block, self.row, place), &name, value.get()) {
                self.refusal = Some(refusal);
                return Err(A::Error::custom("refused"));
            }
            place += 1;
        }
        Ok(())
    }
}

fn unquote(value: &str) -> Result<Cow<'_, str>, LineProblem> {
    let inside = &value[1..value.len() - 1];
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(inside));
    }
    let owned: Result<String, _> = serde_json::from_str(value);
    owned.map(Cow::Owned).map_err(|error| {
        (format!("not a sound JSON text: {}", without_place(&error)), "mend the escapes (\\n, \\\", \\u00e9)")
    })
}

/// The parser counts lines from the start of what it is given, which is one line of the file.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => format!("{} (column {})", &message[..end], error.column()),
        None => message,
    }
}

/// Columns in the order of their first appearance in any part.
fn gather(workers: Vec<Worker>) -> (Vec<String>, Vec<Gathered>) {
    let mut firsts: HashMap<String, Appearance> = HashMap::new();
    for column in workers.iter().flat_map(|worker| &worker.columns) {
        let first = firsts.entry(column.name.clone()).or_insert(column.first);
        *first = column.first.min(*first);
    }
    let mut header: Vec<(Appearance, String)> = firsts.into_iter().map(|(name, first)| (first, name)).collect();
    header.sort_unstable();
    let header: Vec<String> = header.into_iter().map(|(_, name)| name).collect();

    let mut dictionaries: Vec<HashMap<String, (usize, Interner)>> = Vec::new();
    let mut blocks: Vec<(usize, CodedBlock)> = Vec::new();
    let mut wanted: Vec<String> = Vec::new();
    for (number, worker) in workers.into_iter().enumerate() {
        blocks.extend(worker.blocks.into_iter().map(|block| (number, block)));
        wanted.extend(worker.columns.iter().filter(|column| column.wanted).map(|column| column.name.clone()));
        let named = worker.columns.into_iter().enumerate();
        dictionaries.push(named.map(|(index, column)| (column.name, (index, column.dictionary))).collect());
    }
    blocks.sort_unstable_by_key(|(_, block)| block.index);
    let wanted: std::collections::HashSet<String> = wanted.into_iter().collect();
    let kept = header.iter().filter(|name| wanted.contains(*name));
    let columns = kept.map(|name| gather_column(name, &mut dictionaries, &mut blocks)).collect();
    (header, columns)
}

fn gather_column(
    name: &str,
    dictionaries: &mut [HashMap<String, (usize, Interner)>],
    blocks: &mut [(usize, CodedBlock)],
) -> Gathered {
    let mut own_index = Vec::new();
    let mut own = Vec::new();
    for known in dictionaries {
        let (index, dictionary) = known.remove(name).unzip();
        own_index.push(index);
        own.push(dictionary);
    }
    let piece = |(worker, block): &mut (usize, CodedBlock)| {
        // A block read before its worker met the key has no such column.
        let codes = own_index[*worker].and_then(|index: usize| block.columns.get_mut(index));
        let codes = codes.map(|codes| std::mem::replace(codes, Kept::Memory(Codes::with_capacity(1, 0))));
        WorkerCodes { worker: *worker, rows: block.rows, codes }
    };
    let pieces = blocks.iter_mut().map(piece).collect();
    Gathered { name: name.to_owned(), kind: None, is_text: false, dictionaries: own, pieces }
}

/// The line of a row, found by reading the source once more. `None` if it changed meanwhile.
fn line_of_row(open: &OpenSource<'_>, limits: &ReadLimits, row: usize) -> Option<u64> {
    let mut blocks = Blocks::new(skip_byte_order_mark(open().ok()?).ok()?, None, limits);
    let mut block = Block::default();
    let mut before = row;
    while blocks.next_into(&mut block).ok()? {
        for (number, line) in block.bytes().split_inclusive(|&byte| byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            if before == 0 {
                return Some(block.first_line + number as u64);
            }
            before -= 1;
        }
    }
    None
}
