//! Writes the released rows, in random order.
//!
//! The order must betray nothing of the source's, so it is a uniformly random permutation: every
//! row draws a bucket, and every bucket is shuffled (Rao 1961, Sandelius 1962). Unlike one shuffle
//! of the whole table this works on pieces that fit the cache, on all cores, and needs four bytes
//! per row.

mod parquet;
mod scattered;

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::thread::JoinHandle;

use hedgerow_draft::rows::{ReleasedColumn, shuffle};
use hedgerow_release::quoting::quoted;
use hedgerow_table::engine::CHUNK_ROWS;
use hedgerow_table::{Codes, Progress, TableError, parallel, with_codes};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

pub(crate) use parquet::write_parquet;
pub(crate) use scattered::Scattered;

/// Rows a bucket has on average. The rows of a chunk draw buckets together.
const BUCKET_ROWS: usize = 1 << 13;

/// Buckets formatted at once before they are written.
const BUCKETS_AT_ONCE: usize = 32;

/// Takes buckets of rows, and the codes of all columns that the rows are positions in.
pub(crate) type TakeBuckets<'t> = dyn FnMut(&[&Codes], &[Vec<u32>]) -> Result<(), TableError> + 't;

/// Rows in random order, wherever they are.
pub(crate) trait InRandomOrder {
    /// Hands on all buckets in order, [`BUCKETS_AT_ONCE`] at a time.
    fn each(&mut self, take: &mut TakeBuckets<'_>) -> Result<(), TableError>;

    /// Buckets formatted at once before they are written.
    fn formatted_at_once(&self) -> usize {
        BUCKETS_AT_ONCE
    }
}

/// Rows in memory.
#[derive(Debug)]
pub(crate) struct InMemory<'a> {
    pub(crate) columns: &'a [ReleasedColumn<'a>],
    pub(crate) rows: Shuffled,
}

impl InRandomOrder for InMemory<'_> {
    fn each(&mut self, take: &mut TakeBuckets<'_>) -> Result<(), TableError> {
        let codes: Vec<&Codes> = self.columns.iter().map(|column| &*column.codes).collect();
        self.rows.buckets.chunks(BUCKETS_AT_ONCE).try_for_each(|buckets| take(&codes, buckets))
    }
}

/// The kept rows in random order, bucket after bucket.
pub(crate) struct Shuffled {
    buckets: Vec<Vec<u32>>,
}

impl std::fmt::Debug for Shuffled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shuffled").finish_non_exhaustive()
    }
}

/// The random numbers of an order: a generator for every chunk of rows, and one for every bucket.
#[derive(Debug)]
struct Chances {
    chunks: Vec<StdRng>,
    buckets: Vec<StdRng>,
}

impl Chances {
    fn new(rows: usize, rng: &mut StdRng) -> Chances {
        let chunks = (0..rows.div_ceil(CHUNK_ROWS)).map(|_| StdRng::from_rng(rng)).collect();
        let buckets = (0..rows.div_ceil(BUCKET_ROWS).max(1)).map(|_| StdRng::from_rng(rng)).collect();
        Chances { chunks, buckets }
    }
}

/// The bucket of each of some rows.
fn draw(rows: usize, buckets: usize, mut rng: StdRng) -> Vec<u32> {
    (0..rows).map(|_| rng.random_range(0..buckets as u32)).collect()
}

impl Shuffled {
    pub(crate) fn new(rows: usize, kept: Option<&[bool]>, rng: &mut StdRng) -> Shuffled {
        let chances = Chances::new(rows, rng);
        let buckets = chances.buckets.len();
        let drawn = parallel::map_items(chances.chunks, |chunk, rng| {
            draw_buckets(chunk * CHUNK_ROWS..rows.min((chunk + 1) * CHUNK_ROWS), kept, buckets, rng)
        });
        let gather = |bucket: usize, mut rng: StdRng| {
            let parts = drawn.iter().map(|(rows, starts)| &rows[starts[bucket] as usize..starts[bucket + 1] as usize]);
            let mut rows = parts.collect::<Vec<_>>().concat();
            shuffle(&mut rows, &mut rng);
            rows
        };
        Shuffled { buckets: parallel::map_items(chances.buckets, gather) }
    }
}

/// The kept rows of a range sorted by the bucket each drew, and where every bucket starts.
fn draw_buckets(
    range: std::ops::Range<usize>,
    kept: Option<&[bool]>,
    buckets: usize,
    rng: StdRng,
) -> (Vec<u32>, Vec<u32>) {
    let rows: Vec<u32> = range.filter(|&row| kept.is_none_or(|kept| kept[row])).map(|row| row as u32).collect();
    let draws = draw(rows.len(), buckets, rng);
    sorted_by(&rows, &draws, buckets)
}

/// Numbers in the order of their places, of which there are `places`, and where every place starts.
/// Equal ones stay in their order.
fn sorted_by(numbers: &[u32], place_of: &[u32], places: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; places + 1];
    for &place in place_of {
        starts[place as usize + 1] += 1;
    }
    for place in 0..places {
        starts[place + 1] += starts[place];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0u32; numbers.len()];
    for (&number, &place) in numbers.iter().zip(place_of) {
        let next = &mut next[place as usize];
        sorted[*next as usize] = number;
        *next += 1;
    }
    (sorted, starts)
}

/// Bytes copied at once: most fields are shorter, and a copy of known length costs less than one of
/// any length.
const STRIDE: usize = 16;

/// The most combinations of neighboring fields that are written as one.
const FUSED_MAX: usize = 1 << 10;

/// Neighboring columns written as one: all combinations of their texts in one piece of memory, each
/// field followed by the byte that ends it. Generalized columns have few labels, and one copy of
/// three fields costs less than three.
struct Fused {
    /// The first of the columns, and how many texts each has.
    first: usize,
    texts: Vec<u32>,
    /// Padded by a stride, so that whole ones can be read from every start.
    bytes: Vec<u8>,
    starts: Vec<usize>,
    longest: usize,
}

impl Fused {
    fn all(columns: &[ReleasedColumn<'_>]) -> Vec<Fused> {
        let mut fused = Vec::new();
        let mut start = 0;
        while start < columns.len() {
            let mut combinations = columns[start].values();
            let mut end = start + 1;
            while end < columns.len() && combinations.saturating_mul(columns[end].values()) <= FUSED_MAX {
                combinations *= columns[end].values();
                end += 1;
            }
            fused.push(Fused::new(columns, start..end));
            start = end;
        }
        fused
    }

    fn new(all: &[ReleasedColumn<'_>], range: Range<usize>) -> Fused {
        let (first, last, only) = (range.start, range.end == all.len(), all.len() == 1);
        let columns = &all[range];
        let texts: Vec<u32> = columns.iter().map(|column| column.values() as u32).collect();
        let (mut bytes, mut starts, mut longest) = (Vec::new(), vec![0], 0);
        let mut codes = vec![0; columns.len()];
        for combination in 0..texts.iter().map(|&texts| texts as usize).product::<usize>() {
            let mut rest = combination;
            for (code, &texts) in codes.iter_mut().zip(&texts).rev() {
                *code = rest % texts as usize;
                rest /= texts as usize;
            }
            let start = bytes.len();
            for (index, (column, &code)) in columns.iter().zip(&codes).enumerate() {
                let text = column.text(code);
                // A record of one empty field would be a blank line.
                let field = if only && text.is_empty() { "\"\"".into() } else { quoted(&text) };
                bytes.extend_from_slice(field.as_bytes());
                bytes.push(if last && index + 1 == columns.len() { b'\n' } else { b',' });
            }
            longest = longest.max(bytes.len() - start);
            starts.push(bytes.len());
        }
        bytes.resize(bytes.len() + STRIDE, 0);
        Fused { first, texts, bytes, starts, longest }
    }

    /// The combination in every row, into every `width`th place.
    #[allow(clippy::useless_conversion)] // One of the three widths is 32 bits already.
    fn gather(&self, codes: &[&Codes], rows: &[u32], places: &mut [u32], width: usize) {
        for (&texts, codes) in self.texts.iter().zip(&codes[self.first..]) {
            with_codes!(codes, source => for (place, &row) in places.iter_mut().step_by(width).zip(rows) {
                *place = *place * texts + u32::from(source[row as usize]);
            });
        }
    }

    /// Writes a combination at a place that has room for the longest and a stride more; returns
    /// where it ends.
    #[inline]
    fn put(&self, combination: usize, text: &mut [u8], at: usize) -> usize {
        let (start, end) = (self.starts[combination], self.starts[combination + 1]);
        let mut done = 0;
        while done < end - start {
            text[at + done..at + done + STRIDE].copy_from_slice(&self.bytes[start + done..start + done + STRIDE]);
            done += STRIDE;
        }
        at + end - start
    }
}

/// The disk at work on what was written; to be waited for before the release is placed.
#[derive(Debug)]
pub(crate) struct Flushing(JoinHandle<std::io::Result<()>>);

impl Flushing {
    /// Starts to flush a file that is written.
    pub(crate) fn of(file: File) -> Flushing {
        Flushing(std::thread::spawn(move || file.sync_all()))
    }

    pub(crate) fn wait(self, path: &Path) -> Result<(), TableError> {
        match self.0.join() {
            Ok(result) => result.map_err(|error| TableError::io(path, error)),
            Err(_) => Err(TableError::Internal("the thread that writes the table failed".to_owned())),
        }
    }
}

/// Writes the rows as CSV: commas, line feeds, a header. All rows are in the file when this
/// returns; the disk may still be at work.
pub(crate) fn write_csv(
    path: &Path,
    columns: &[ReleasedColumn<'_>],
    rows: &mut dyn InRandomOrder,
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
    let fused = Fused::all(columns);
    // One thread writes what the others formatted, while they go on.
    std::thread::scope(|scope| {
        let (formatted, to_write) = std::sync::mpsc::sync_channel::<(Vec<Vec<u8>>, u64)>(1);
        let writing = scope.spawn(move || -> std::io::Result<()> {
            for (texts, rows) in to_write {
                texts.iter().try_for_each(|text| out.write_all(text))?;
                // Full only while the disk is busy, or gone after it failed, which waiting for it
                // will tell.
                let _ = written.try_send(());
                progress.advance(rows);
            }
            Ok(())
        });
        let at_once = rows.formatted_at_once();
        let handed_on = rows.each(&mut |codes, buckets| {
            for buckets in buckets.chunks(at_once) {
                let texts = parallel::map(buckets.len(), |index| format_rows(&fused, codes, &buckets[index]));
                let rows = buckets.iter().map(|bucket| bucket.len() as u64).sum();
                // Refused only after writing failed, which joining it shows.
                if progress.is_canceled() || formatted.send((texts, rows)).is_err() {
                    return Err(TableError::Canceled);
                }
            }
            Ok(())
        });
        drop(formatted);
        match writing.join() {
            Ok(result) => result.map_err(failed)?,
            Err(_) => return Err(TableError::Internal("the thread that writes the table failed".to_owned())),
        }
        handed_on
    })?;
    progress.check()?;
    Ok(flushing)
}

fn format_rows(fused: &[Fused], codes: &[&Codes], rows: &[u32]) -> Vec<u8> {
    // Column by column first: a bucket's rows lie all over the table, but in one narrow column at a
    // time.
    let width = fused.len();
    let mut combinations = vec![0u32; rows.len() * width];
    for (index, fused) in fused.iter().enumerate() {
        fused.gather(codes, rows, combinations.get_mut(index..).unwrap_or_default(), width);
    }
    let longest: usize = fused.iter().map(|fused| fused.longest).sum();
    let mut text = Vec::new();
    let mut at = 0;
    for record in combinations.chunks_exact(width) {
        if text.len() < at + longest + STRIDE {
            text.resize((at + longest + STRIDE) * 2, 0);
        }
        for (fused, &combination) in fused.iter().zip(record) {
            at = fused.put(combination as usize, &mut text, at);
        }
    }
    text.truncate(at);
    text
}
