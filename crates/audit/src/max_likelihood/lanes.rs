//! Sixty-four queries at once: every code of an attribute has a word with one bit for each query
//! that selects it, so that a row is tested against all of them by one AND for each attribute.

pub(super) const LANES: usize = 64;

/// Rows whose words are kept in the nearest cache.
const BLOCK: usize = 2048;

/// For every attribute of a query, by number, which of its values are selected.
pub type Selected = Vec<(usize, Vec<bool>)>;

#[derive(Debug)]
pub(crate) struct Selection {
    queries: usize,
    /// By attribute: the queries that select each code, where some query uses the attribute; and
    /// which queries those are.
    masks: Vec<Option<(Vec<u64>, u64)>>,
    /// By attribute, the share of its values that each query selects.
    shares: Vec<Vec<f64>>,
}

impl Selection {
    pub(crate) const LANES: usize = LANES;

    /// At most [`LANES`] queries.
    pub(crate) fn new(queries: &[Selected], cardinalities: &[usize]) -> Selection {
        let mut masks: Vec<Option<(Vec<u64>, u64)>> = vec![None; cardinalities.len()];
        let mut shares: Vec<Vec<f64>> = vec![Vec::new(); cardinalities.len()];
        for (lane, query) in queries.iter().enumerate() {
            for (attribute, wanted) in query {
                let cardinality = cardinalities[*attribute];
                let (words, users) = masks[*attribute].get_or_insert_with(|| (vec![u64::MAX; cardinality], 0));
                *users |= 1 << lane;
                words
                    .iter_mut()
                    .zip(wanted)
                    .filter(|(_, wanted)| !**wanted)
                    .for_each(|(word, _)| *word &= !(1 << lane));
                let selected = wanted.iter().filter(|&&wanted| wanted).count() as f64;
                shares[*attribute].resize(LANES, 1.0);
                shares[*attribute][lane] = selected / cardinality.max(1) as f64;
            }
        }
        Selection { queries: queries.len(), masks, shares }
    }

    /// The queries that use an attribute; the number of a bucket is not an attribute.
    pub(super) fn uses(&self, attribute: usize) -> u64 {
        self.masks.get(attribute).and_then(Option::as_ref).map_or(0, |(_, users)| *users)
    }

    pub(super) fn masks(&self, attribute: usize) -> Option<&[u64]> {
        self.masks.get(attribute)?.as_ref().map(|(words, _)| words.as_slice())
    }

    pub(super) fn share(&self, attribute: usize, lane: usize) -> f64 {
        self.shares[attribute].get(lane).copied().unwrap_or(1.0)
    }

    /// How many rows of a table each query selects, by the columns that the table has; a row stands
    /// for as many as `counts` says, or for one.
    pub(crate) fn counts_of(&self, columns: &[(usize, Vec<u32>)], counts: Option<&[u32]>) -> [u64; LANES] {
        let rows = columns.first().map_or(0, |(_, codes)| codes.len());
        let used: Vec<(&[u32], &[u64])> =
            columns.iter().filter_map(|(own, codes)| Some((codes.as_slice(), self.masks(*own)?))).collect();
        let all = u64::MAX >> (LANES - self.queries.max(1));
        let mut selected = [0u64; LANES];
        for row in 0..rows {
            let word = used.iter().fold(all, |word, (codes, masks)| word & masks[codes[row] as usize]);
            let count = counts.map_or(1, |counts| u64::from(counts[row]));
            for_each_lane(word, |lane| selected[lane] += count);
        }
        selected
    }

    /// How many rows of the source each query selects.
    pub(super) fn counts(&self, source: &[Vec<u32>]) -> [u64; LANES] {
        let rows = source.first().map_or(0, Vec::len);
        let used: Vec<(&[u32], &[u64])> = source
            .iter()
            .enumerate()
            .filter_map(|(attribute, codes)| Some((codes.as_slice(), self.masks(attribute)?)))
            .collect();
        let all = u64::MAX >> (LANES - self.queries.max(1));
        let mut counts = [0u64; LANES];
        let mut words = [0u64; BLOCK];
        for start in (0..rows).step_by(BLOCK) {
            let end = (start + BLOCK).min(rows);
            let words = &mut words[..end - start];
            words.fill(all);
            for (codes, masks) in &used {
                words.iter_mut().zip(&codes[start..end]).for_each(|(word, &code)| *word &= masks[code as usize]);
            }
            words.iter().for_each(|&word| for_each_lane(word, |lane| counts[lane] += 1));
        }
        counts
    }
}

#[inline]
pub(super) fn for_each_lane(mut word: u64, mut visit: impl FnMut(usize)) {
    while word != 0 {
        visit(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}
