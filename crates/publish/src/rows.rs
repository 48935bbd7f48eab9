//! Writes the released rows, in random order.
//!
//! The order must betray nothing of the source's, so it is a uniformly random permutation: every row draws a bucket, and
//! every bucket is shuffled (Rao 1961, Sandelius 1962). Unlike one shuffle of the whole table this works on pieces that
//! fit the cache, on all cores, and needs four bytes per row.

mod parquet;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread::JoinHandle;

use hedgerow_table::release::quoting::quoted;
use hedgerow_table::{Codes, Domain, Kind, Progress, TableError, parallel, with_codes};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

pub use parquet::write_parquet;

/// Rows that draw buckets together, and rows a bucket has on average.
const CHUNK_ROWS: usize = 1 << 16;
const BUCKET_ROWS: usize = 1 << 13;

/// Buckets formatted at once before they are written.
const BUCKETS_AT_ONCE: usize = 32;

/// One released column: for every code of its domain the text that stands for it.
#[derive(Debug)]
pub struct ReleasedColumn<'a> {
    pub name: &'a str,
    pub codes: &'a Codes,
    pub domain: &'a Domain,
    /// A category once its values are generalised; else the column's own kind.
    pub kind: Kind,
    pub texts: Vec<String>,
}

/// The kept rows in random order, bucket after bucket.
pub struct Shuffled {
    buckets: Vec<Vec<u32>>,
}

impl std::fmt::Debug for Shuffled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shuffled").finish_non_exhaustive()
    }
}

impl Shuffled {
    pub fn new(rows: usize, kept: Option<&[bool]>, rng: &mut StdRng) -> Shuffled {
        let buckets = rows.div_ceil(BUCKET_ROWS).max(1);
        let chunks = rows.div_ceil(CHUNK_ROWS);
        let chunk_rngs: Vec<StdRng> = (0..chunks).map(|_| StdRng::from_rng(rng)).collect();
        let drawn = parallel::map_items(chunk_rngs, |chunk, rng| {
            draw_buckets(chunk * CHUNK_ROWS..rows.min((chunk + 1) * CHUNK_ROWS), kept, buckets, rng)
        });
        let bucket_rngs: Vec<StdRng> = (0..buckets).map(|_| StdRng::from_rng(rng)).collect();
        let gather = |bucket: usize, mut rng: StdRng| {
            let parts = drawn.iter().map(|(rows, starts)| &rows[starts[bucket] as usize..starts[bucket + 1] as usize]);
            let mut rows = parts.collect::<Vec<_>>().concat();
            shuffle(&mut rows, &mut rng);
            rows
        };
        Shuffled { buckets: parallel::map_items(bucket_rngs, gather) }
    }
}

/// The kept rows of a range sorted by the bucket each drew, and where every bucket starts.
fn draw_buckets(
    range: std::ops::Range<usize>,
    kept: Option<&[bool]>,
    buckets: usize,
    mut rng: StdRng,
) -> (Vec<u32>, Vec<u32>) {
    let rows: Vec<u32> = range.filter(|&row| kept.is_none_or(|kept| kept[row])).map(|row| row as u32).collect();
    let draws: Vec<u32> = rows.iter().map(|_| rng.random_range(0..buckets as u32)).collect();
    let mut starts = vec![0u32; buckets + 1];
    for &draw in &draws {
        starts[draw as usize + 1] += 1;
    }
    for bucket in 0..buckets {
        starts[bucket + 1] += starts[bucket];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0u32; rows.len()];
    for (&row, &draw) in rows.iter().zip(&draws) {
        let place = &mut next[draw as usize];
        sorted[*place as usize] = row;
        *place += 1;
    }
    (sorted, starts)
}

pub(crate) fn shuffle(rows: &mut [u32], rng: &mut impl Rng) {
    for last in (1..rows.len()).rev() {
        rows.swap(last, rng.random_range(0..=last as u32) as usize);
    }
}

/// Bytes copied at once: most fields are shorter, and a copy of known length costs less than one of any length.
const STRIDE: usize = 16;

/// All texts of a column in one piece of memory, each followed by the byte that ends its field.
struct Fields {
    /// Padded by a stride, so that a whole one can be read from every start.
    bytes: Vec<u8>,
    starts: Vec<usize>,
    longest: usize,
}

impl Fields {
    fn new(texts: &[String], end: u8, only: bool) -> Fields {
        let mut fields = Fields { bytes: Vec::new(), starts: vec![0], longest: 0 };
        for text in texts {
            // A record of one empty field would be a blank line.
            let field = if only && text.is_empty() { "\"\"".into() } else { quoted(text) };
            fields.bytes.extend_from_slice(field.as_bytes());
            fields.bytes.push(end);
            fields.starts.push(fields.bytes.len());
            fields.longest = fields.longest.max(field.len() + 1);
        }
        fields.bytes.resize(fields.bytes.len() + STRIDE, 0);
        fields
    }

    /// Writes a field at a place that has room for the longest and a stride more; returns where it ends.
    #[inline]
    fn put(&self, code: usize, text: &mut [u8], at: usize) -> usize {
        let (start, end) = (self.starts[code], self.starts[code + 1]);
        text[at..at + STRIDE].copy_from_slice(&self.bytes[start..start + STRIDE]);
        if end - start > STRIDE {
            text[at..at + end - start].copy_from_slice(&self.bytes[start..end]);
        }
        at + end - start
    }
}

/// The disk at work on what was written; to be waited for before the release is placed.
#[derive(Debug)]
pub struct Flushing(JoinHandle<std::io::Result<()>>);

impl Flushing {
    pub fn wait(self, path: &Path) -> Result<(), TableError> {
        match self.0.join() {
            Ok(result) => result.map_err(|error| TableError::io(path, error)),
            Err(_) => Err(TableError::Internal("the thread that writes the table failed".to_owned())),
        }
    }
}

/// Writes the rows as CSV: commas, line feeds, a header. All rows are in the file when this returns; the disk may still be
/// at work.
pub fn write_csv(
    path: &Path,
    columns: &[ReleasedColumn<'_>],
    rows: &Shuffled,
    progress: &dyn Progress,
) -> Result<Flushing, TableError> {
    let failed = |error| TableError::io(path, error);
    let mut out = File::create_new(path).map_err(failed)?;
    let header: Vec<_> = columns.iter().map(|column| quoted(column.name)).collect();
    out.write_all(format!("{}\n", header.join(",")).as_bytes()).map_err(failed)?;
    // The disk starts on the first rows while the last ones are formatted and checked.
    let (written, to_flush) = std::sync::mpsc::sync_channel::<()>(1);
    let flushed = out.try_clone().map_err(failed)?;
    let flushing = Flushing(std::thread::spawn(move || {
        for () in to_flush {
            flushed.sync_data()?;
        }
        flushed.sync_all()
    }));
    let last = columns.len() - 1;
    let fields: Vec<Fields> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| Fields::new(&column.texts, if index == last { b'\n' } else { b',' }, last == 0))
        .collect();
    for buckets in rows.buckets.chunks(BUCKETS_AT_ONCE) {
        let texts: Vec<Vec<u8>> = parallel::map(buckets.len(), |index| format_rows(columns, &fields, &buckets[index]));
        for text in texts {
            out.write_all(&text).map_err(failed)?;
        }
        // Full only while the disk is busy, or gone after it failed, which waiting for it will tell.
        let _ = written.try_send(());
        progress.advance(buckets.iter().map(|bucket| bucket.len() as u64).sum());
    }
    Ok(flushing)
}

#[allow(clippy::useless_conversion)] // One of the three widths is 32 bits already.
fn format_rows(columns: &[ReleasedColumn<'_>], fields: &[Fields], rows: &[u32]) -> Vec<u8> {
    // Column by column first: a bucket's rows lie all over the table, but in one narrow column at a time.
    let width = columns.len();
    let mut codes = vec![0u32; rows.len() * width];
    for (index, column) in columns.iter().enumerate() {
        with_codes!(column.codes, source => for (place, &row) in codes[index..].iter_mut().step_by(width).zip(rows) {
            *place = u32::from(source[row as usize]);
        });
    }
    let longest: usize = fields.iter().map(|fields| fields.longest).sum();
    let mut text = Vec::new();
    let mut at = 0;
    for record in codes.chunks_exact(width) {
        if text.len() < at + longest + STRIDE {
            text.resize((at + longest + STRIDE) * 2, 0);
        }
        for (field, &code) in fields.iter().zip(record) {
            at = field.put(code as usize, &mut text, at);
        }
    }
    text.truncate(at);
    text
}
