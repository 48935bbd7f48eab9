//! Rows in random order that never are in memory together.
//!
//! The order is the same as in memory: every row draws a bucket, and every bucket is shuffled. Rows
//! are dealt to groups of neighboring buckets, which lie on the disk in blocks; then one group
//! after the other is brought back, its rows are put into their buckets, and these are shuffled.

use hedgerow_draft::rows::shuffle;
use hedgerow_table::engine::CodeChunk;
use hedgerow_table::spill::{SHORT_OF_MEMORY, SpillFile};
use hedgerow_table::{Codes, Spill, TableError, parallel};
use rand::rngs::StdRng;

use super::{BUCKETS_AT_ONCE, Chances, InRandomOrder, TakeBuckets, draw, sorted_by};

/// The share of the memory in which rows wait for others of their group.
const WAITING_SHARE: u64 = 16;

/// Buckets whose texts are formatted at a time where memory is short.
const FORMATTED_WHEN_SHORT: usize = 2;

/// Rows dealt to groups of buckets.
#[derive(Debug)]
pub(crate) struct Scattered {
    file: SpillFile,
    /// An empty column of codes, as wide as they are.
    empty: Vec<Codes>,
    chunks: std::vec::IntoIter<StdRng>,
    buckets: Vec<StdRng>,
    groups: Vec<ScatteredGroup>,
    /// Rows that wait before they go to the disk together.
    waiting_max: usize,
}

#[derive(Debug)]
struct ScatteredGroup {
    waiting: DealtRows,
    /// Where its blocks lie, with their rows.
    blocks: Vec<(u64, usize)>,
}

/// Rows of one group: the bucket of each within the group, and its codes.
#[derive(Debug, Clone)]
struct DealtRows {
    buckets: Vec<u8>,
    columns: Vec<Codes>,
}

impl Scattered {
    /// For a table with the given number of rows, whose columns are as wide as those in `empty`.
    pub(crate) fn new(rows: usize, empty: Vec<Codes>, spill: &Spill, rng: &mut StdRng) -> Scattered {
        let Chances { chunks, buckets } = Chances::new(rows, rng);
        let groups = buckets.len().div_ceil(BUCKETS_AT_ONCE);
        let row_bytes = 1 + empty.iter().map(Codes::width).sum::<usize>() as u64;
        let waiting_max = (spill.memory() / WAITING_SHARE / groups as u64 / row_bytes).clamp(64, 1 << 16) as usize;
        let nothing = DealtRows { buckets: Vec::new(), columns: empty.clone() };
        let groups = vec![nothing; groups].into_iter().map(|waiting| ScatteredGroup { waiting, blocks: Vec::new() });
        let (file, groups) = (spill.file(), groups.collect());
        Scattered { file, empty, chunks: chunks.into_iter(), buckets, groups, waiting_max }
    }

    /// Deals the next chunks of the table. `columns` takes the released columns of a chunk, `kept`
    /// which of its rows stay.
    pub(crate) fn deal(
        &mut self,
        chunks: Vec<CodeChunk>,
        positions: &[usize],
        kept: impl Fn(&CodeChunk) -> Option<Vec<bool>> + Sync,
    ) -> Result<(), TableError> {
        let (buckets, groups) = (self.buckets.len(), self.groups.len());
        let chances: Vec<StdRng> = self.chunks.by_ref().take(chunks.len()).collect();
        let dealt = parallel::map_items(chunks.into_iter().zip(chances), |_, (chunk, rng)| {
            let rows = chunk.first().map_or(0, Codes::len) as u32;
            let rows: Vec<u32> = match kept(&chunk) {
                Some(kept) => (0..rows).filter(|&row| kept[row as usize]).collect(),
                None => (0..rows).collect(),
            };
            let draws = draw(rows.len(), buckets, rng);
            let group_of: Vec<u32> = draws.iter().map(|&bucket| bucket / BUCKETS_AT_ONCE as u32).collect();
            let (order, starts) = sorted_by(&(0..rows.len() as u32).collect::<Vec<_>>(), &group_of, groups);
            let within = |&place: &u32| (draws[place as usize] % BUCKETS_AT_ONCE as u32) as u8;
            let buckets = order.iter().map(within).collect();
            let order: Vec<u32> = order.iter().map(|&place| rows[place as usize]).collect();
            let columns = positions.iter().map(|&position| chunk[position].of_rows(&order)).collect();
            (DealtRows { buckets, columns }, starts)
        });
        for (dealt, starts) in dealt {
            for (index, bounds) in starts.windows(2).enumerate() {
                let range = bounds[0] as usize..bounds[1] as usize;
                let waiting = &mut self.groups[index].waiting;
                waiting.buckets.extend_from_slice(&dealt.buckets[range.clone()]);
                for (column, codes) in waiting.columns.iter_mut().zip(&dealt.columns) {
                    column.extend(codes, range.clone());
                }
                if waiting.buckets.len() >= self.waiting_max {
                    self.put_away(index)?;
                }
            }
        }
        Ok(())
    }

    /// Brings what waits of a group to the disk.
    fn put_away(&mut self, index: usize) -> Result<(), TableError> {
        let group = &mut self.groups[index];
        let DealtRows { buckets, columns } = &mut group.waiting;
        let mut bytes = std::mem::take(buckets);
        let rows = bytes.len();
        for (column, empty) in columns.iter_mut().zip(&self.empty) {
            bytes.extend_from_slice(&std::mem::replace(column, empty.clone()).to_bytes());
        }
        group.blocks.push((self.file.append(&bytes)?, rows));
        Ok(())
    }

    /// All rows of a group, in the order in which they were dealt. They are not needed again.
    fn bring_back(&mut self, index: usize) -> Result<DealtRows, TableError> {
        let group = &mut self.groups[index];
        let mut all = DealtRows { buckets: Vec::new(), columns: self.empty.clone() };
        let row_bytes = 1 + self.empty.iter().map(Codes::width).sum::<usize>();
        for (offset, rows) in std::mem::take(&mut group.blocks) {
            let mut bytes = vec![0u8; rows * row_bytes];
            self.file.read(offset, &mut bytes)?;
            let (buckets, mut rest) = bytes.split_at(rows);
            all.buckets.extend_from_slice(buckets);
            for column in &mut all.columns {
                let (own, others) = rest.split_at(rows * column.width());
                column.extend(&Codes::from_bytes(column.width(), own.to_vec()), 0..rows);
                rest = others;
            }
        }
        let waiting =
            std::mem::replace(&mut group.waiting, DealtRows { buckets: Vec::new(), columns: self.empty.clone() });
        all.buckets.extend_from_slice(&waiting.buckets);
        for (column, codes) in all.columns.iter_mut().zip(&waiting.columns) {
            column.extend(codes, 0..codes.len());
        }
        Ok(all)
    }
}

impl InRandomOrder for Scattered {
    fn each(&mut self, take: &mut TakeBuckets<'_>) -> Result<(), TableError> {
        let mut chances = std::mem::take(&mut self.buckets).into_iter();
        for index in 0..self.groups.len() {
            let chances: Vec<StdRng> = chances.by_ref().take(BUCKETS_AT_ONCE).collect();
            let DealtRows { buckets, columns } = self.bring_back(index)?;
            let rows: Vec<u32> = (0..buckets.len() as u32).collect();
            let buckets: Vec<u32> = buckets.iter().map(|&bucket| u32::from(bucket)).collect();
            let (rows, starts) = sorted_by(&rows, &buckets, chances.len());
            let shuffled = parallel::map_items(chances, |bucket, mut rng| {
                let mut rows = rows[starts[bucket] as usize..starts[bucket + 1] as usize].to_vec();
                shuffle(&mut rows, &mut rng);
                rows
            });
            take(&columns.iter().collect::<Vec<_>>(), &shuffled)?;
        }
        Ok(())
    }

    fn formatted_at_once(&self) -> usize {
        if self.file.memory() < SHORT_OF_MEMORY { FORMATTED_WHEN_SHORT } else { BUCKETS_AT_ONCE }
    }
}
