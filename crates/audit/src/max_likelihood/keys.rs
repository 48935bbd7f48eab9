//! Rows of several columns as one number each, comparable between tables.

use hashbrown::HashMap;

/// For each table (a list of columns, the same attributes in the same order) the keys of its rows:
/// equal where all codes are.
pub(super) fn packed(tables: &[Vec<&[u32]>], rows: &[usize]) -> Vec<Vec<u64>> {
    let mut keys: Vec<Vec<u64>> = rows.iter().map(|&rows| vec![0; rows]).collect();
    let mut keys_max = 0u64;
    for column in 0..tables.first().map_or(0, Vec::len) {
        let highest = tables.iter().flat_map(|table| table[column]).max().copied().unwrap_or(0);
        let values = u64::from(highest) + 1;
        if (keys_max + 1).checked_mul(values).is_none() {
            keys_max = renumber(&mut keys);
        }
        for (keys, table) in keys.iter_mut().zip(tables) {
            keys.iter_mut().zip(table[column]).for_each(|(key, code)| *key = *key * values + u64::from(*code));
        }
        keys_max = (keys_max + 1) * values - 1;
    }
    keys
}

/// Numbers the keys that occur from 0, and says the highest number.
fn renumber(keys: &mut [Vec<u64>]) -> u64 {
    let mut numbers: HashMap<u64, u64> = HashMap::new();
    for key in keys.iter_mut().flatten() {
        let next = numbers.len() as u64;
        *key = *numbers.entry(*key).or_insert(next);
    }
    numbers.len() as u64
}

/// Keys as numbers from 0 in the order in which they first occur.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    known: HashMap<u64, u32>,
}

impl Numbers {
    /// The numbers of some keys, new ones among them.
    pub(super) fn of(&mut self, keys: &[u64]) -> Vec<u32> {
        let number = |key: &u64| {
            let next = self.known.len() as u32;
            *self.known.entry(*key).or_insert(next)
        };
        keys.iter().map(number).collect()
    }

    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.known.get(&key).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_equal_where_all_codes_are() {
        // Five columns of codes up to 2³²−2 do not fit into 64 bits: keys are numbered on the way.
        let large = u32::MAX - 1;
        let one: Vec<Vec<u32>> =
            vec![vec![large, 0, large], vec![1, large, 1], vec![large; 3], vec![7, 7, 7], vec![large, 3, large]];
        let other: Vec<Vec<u32>> = vec![vec![0], vec![large], vec![large], vec![7], vec![3]];
        let columns = |table: &[Vec<u32>]| -> Vec<Vec<u32>> { table.to_vec() };
        let (one, other) = (columns(&one), columns(&other));
        let tables = [one.iter().map(Vec::as_slice).collect(), other.iter().map(Vec::as_slice).collect()];
        let keys = packed(&tables, &[3, 1]);
        assert_eq!(keys[0][0], keys[0][2]);
        assert_ne!(keys[0][0], keys[0][1]);
        assert_eq!(keys[0][1], keys[1][0]);
        let mut numbers = Numbers::default();
        assert_eq!(numbers.of(&keys[0]), [0, 1, 0]);
        assert_eq!((numbers.find(keys[1][0]), numbers.find(u64::MAX), numbers.len()), (Some(1), None, 2));
    }
}
