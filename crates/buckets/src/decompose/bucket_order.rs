//! Rows that look alike in the order of their buckets. They are spread evenly over the buckets,
//! being dealt at random: so they are put into about as many cells of neighboring buckets as there
//! are rows, and little is left to be sorted, or to be looked for.

use super::alike::BucketRow;

/// Made once and used for many classes.
#[derive(Debug, Default)]
pub(super) struct BucketOrder {
    lines: Vec<BucketRow>,
    /// Where each cell begins, and behind the last where it ends.
    starts: Vec<u32>,
    /// A bucket's cell is its number without these digits.
    shift: u32,
}

impl BucketOrder {
    /// Puts the rows of one class in order, for the given number of buckets.
    pub(super) fn put(&mut self, class: &[BucketRow], buckets: u32) {
        let digits = u32::BITS - buckets.leading_zeros();
        self.shift = digits.saturating_sub(class.len().ilog2());
        let cell = |line: &BucketRow| (line.group >> self.shift) as usize;
        // One more than the cell of the bucket behind the last.
        let cells = (buckets >> self.shift) as usize + 1;
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        class.iter().for_each(|line| self.starts[cell(line)] += 1);
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.lines.clear();
        self.lines.resize(class.len(), class[0]);
        // From behind, so that cells end up with where they begin.
        for line in class.iter().rev() {
            let place = &mut self.starts[cell(line)];
            *place -= 1;
            self.lines[*place as usize] = *line;
        }
        for bounds in self.starts.windows(2).filter(|bounds| bounds[1] - bounds[0] > 1) {
            self.lines[bounds[0] as usize..bounds[1] as usize].sort_unstable_by_key(|line| line.group);
        }
    }

    pub(super) fn lines(&self) -> &[BucketRow] {
        &self.lines
    }

    /// How many rows are in buckets before some, or before all.
    pub(super) fn before(&self, bucket: u32) -> usize {
        let cell = (bucket >> self.shift) as usize;
        let (start, end) = (self.starts[cell] as usize, self.starts[cell + 1] as usize);
        start + self.lines[start..end].iter().take_while(|line| line.group < bucket).count()
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn rows_are_sorted_and_found() {
        let mut order = BucketOrder::default();
        for seed in 0..500 {
            let rng = &mut StdRng::seed_from_u64(seed);
            let buckets = rng.random_range(1..200);
            let within = rng.random_range(1..=buckets);
            let lines: Vec<BucketRow> = (0..rng.random_range(1..80))
                .map(|row| BucketRow { row, group: rng.random_range(0..within), value: rng.random_range(0..9) })
                .collect();
            order.put(&lines, buckets);
            let fields = |line: &BucketRow| (line.group, line.row, line.value);
            let mut expected: Vec<_> = lines.iter().map(fields).collect();
            let mut found: Vec<_> = order.lines().iter().map(fields).collect();
            assert!(found.is_sorted_by_key(|line| line.0), "seed {seed}");
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "seed {seed}");
            for bucket in 0..buckets {
                let before = lines.iter().filter(|line| line.group < bucket).count();
                assert_eq!(order.before(bucket), before, "seed {seed}, bucket {bucket}");
            }
        }
    }
}
