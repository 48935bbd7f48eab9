//! Rows that a bucketized table does not distinguish, as far as they lose by it.
//!
//! Where rows are dealt to buckets round and round ([`Round`]), the buckets of a value are
//! neighbors. So rows that look alike are put in the order of their buckets: those whose buckets
//! hold a row's value stand together then, and around that row. Which they are is found once; what
//! one more attribute changes is seen by how many of them it leaves alike, and nothing needs to be
//! divided for that.
//!
//! Rows whose buckets say the same of all their values lose nothing by looking alike, and so does
//! every part of them: they are omitted. Of the others it is known what they lose at least,
//! whatever comes to distinguish them: no bucket gives a row's value a larger share than the bucket
//! that has most of it does. Large classes lose most and are measured first, so that what cannot be
//! the best is seen early ([`Alike::least`]).

use hedgerow_table::{Codes, parallel};

use super::Groups;
use super::bucket_order::BucketOrder;
use super::groups::{BucketContent, Round};
use super::partition::{Partition, PartitionRow};

/// A row, and what a bucketized table releases of it.
#[derive(Debug, Clone, Copy)]
pub struct BucketRow {
    pub row: u32,
    pub group: u32,
    pub value: u32,
}

impl PartitionRow for BucketRow {
    fn row(self) -> u32 {
        self.row
    }
}

#[derive(Debug)]
pub struct Alike {
    /// Large classes first.
    pub chunks: Vec<ClassChunk>,
}

/// Classes that are measured at a time, each in the order of buckets where they are dealt.
#[derive(Debug)]
pub struct ClassChunk {
    pub lines: Partition<BucketRow>,
    /// The same without buckets and values.
    pub rows: Partition,
    /// For every line the lines of its class whose buckets hold its value, counted within the
    /// class: from the first number to the second, if need be round the end, and all where these
    /// are the same. [`NOT_LISTED`] in a class that is better divided.
    pub windows: Vec<(u32, u32)>,
    /// Their losses, added up.
    least: f64,
}

/// Where windows hold so many lines that it is cheaper to divide a class, or some lines more than
/// once.
pub const NOT_LISTED: (u32, u32) = (u32::MAX, u32::MAX);

/// The number of lines examined in the time in which one is divided from others.
const EXAMINED_PER_DIVISION: usize = 16;

/// The number of chunks of a large partition, and the fewest rows of a chunk; tests are
/// about small ones.
const CHUNKS: usize = 16;
const ROWS_MIN: usize = if cfg!(test) { 8 } else { 4096 };

impl Alike {
    /// Of lines that look alike.
    pub fn new(alike: &[Partition<BucketRow>], groups: &Groups) -> Alike {
        let rows: usize = alike.iter().map(|part| part.members().len()).sum();
        let longest = (rows / CHUNKS).max(ROWS_MIN);
        let mut tiers: Vec<Vec<&[BucketRow]>> = vec![Vec::new(); usize::BITS as usize];
        let classes = alike.iter().flat_map(Partition::classes);
        classes.for_each(|class| tiers[class.len().ilog2() as usize].push(class));
        let mut pieces: Vec<Vec<&[BucketRow]>> = Vec::new();
        let mut left = 0;
        for class in tiers.into_iter().rev().flatten() {
            if left == 0 {
                pieces.push(Vec::new());
                left = longest;
            }
            left = left.saturating_sub(class.len());
            pieces.last_mut().expect("just begun").push(class);
        }
        let mut chunks = parallel::map_items(pieces, |_, classes| ClassChunk::new(&classes, groups));
        chunks.retain(|chunk| chunk.lines.class_count() > 0);
        Alike { chunks }
    }

    /// The rows that one more attribute leaves alike.
    pub fn refined(&self, (column, cardinality): (&Codes, usize), groups: &Groups) -> Alike {
        let refined = |number: usize| self.chunks[number].lines.refined(column, cardinality);
        Alike::new(&parallel::map(self.chunks.len(), refined), groups)
    }

    /// A lower bound of the loss of all lines from a chunk on.
    pub fn least(&self, number: usize) -> f64 {
        self.chunks[number..].iter().map(|chunk| chunk.least).sum()
    }
}

impl ClassChunk {
    fn new(classes: &[&[BucketRow]], groups: &Groups) -> ClassChunk {
        let (lines, rows) = (Partition::empty(), Partition::empty());
        let mut chunk = ClassChunk { lines, rows, windows: Vec::new(), least: 0.0 };
        let (mut order, mut windows) = (BucketOrder::default(), Vec::new());
        for class in classes {
            let (class, least) = match &groups.held {
                BucketContent::Dealt(round) => match find_windows(round, class, &mut order, &mut windows) {
                    Some(least) => (order.lines(), least),
                    None => continue,
                },
                BucketContent::Listed(_) => {
                    windows.clear();
                    windows.resize(class.len(), NOT_LISTED);
                    (*class, f64::NEG_INFINITY)
                }
            };
            chunk.lines.push(class.iter().copied());
            chunk.rows.push(class.iter().map(|line| line.row));
            chunk.windows.extend_from_slice(&windows);
            chunk.least += least;
        }
        chunk
    }
}

/// Puts a class in the order of buckets, and finds for every line which lines are in buckets that
/// hold its value. Returns what they lose at least, added up, or `None` when they lose nothing, nor
/// any part of them.
fn find_windows(
    round: &Round,
    class: &[BucketRow],
    order: &mut BucketOrder,
    windows: &mut Vec<(u32, u32)>,
) -> Option<f64> {
    let rows = class.len();
    let longer = class.iter().filter(|line| line.group < round.longer).count();
    let same_size = longer == 0 || longer == rows;
    let first = class[0].value;
    if same_size && round.dealt(first).rounds == 0 && class.iter().all(|line| line.value == first) {
        return None;
    }
    order.put(class, round.buckets);
    windows.clear();
    let (mut even, mut once, mut looks, mut least) = (same_size, true, 0, 0.0);
    for line in order.lines() {
        let dealt = round.dealt(line.value);
        let (from, to) = (order.before(dealt.from), order.before(dealt.to));
        even &= from == to || from.abs_diff(to) == rows;
        once &= dealt.rounds == 0 || dealt.rounds == 1 && dealt.to <= dealt.from;
        // The share that the value has here, of the largest that it has anywhere.
        let (size, smallest) = (round.size(line.group), if same_size { round.size(line.group) } else { round.full });
        if size != smallest || dealt.count(line.group) != dealt.most() {
            let share = f64::from(dealt.count(line.group)) / f64::from(size);
            least += (share * f64::from(smallest) / f64::from(dealt.most())).ln();
        }
        looks += if from < to { to - from } else { rows - from + to };
        windows.push((from as u32, to as u32));
    }
    if !once || looks > EXAMINED_PER_DIVISION * rows {
        windows.fill(NOT_LISTED);
    }
    (!even).then_some(least)
}
