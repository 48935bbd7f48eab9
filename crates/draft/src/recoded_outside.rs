//! The recoding of rows that are not in memory, by the class of each.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hedgerow_table::{Codes, TableError};

use crate::pieces::Pieces;

/// The kind of every row, from the columns that decide it.
pub type KindsOfRows = dyn Fn(&[&Codes]) -> Result<Vec<u32>, TableError> + Send + Sync;

/// How the kind is recognized that a row is of.
pub struct RowKinds {
    /// The columns that decide it.
    pub names: Vec<String>,
    pub of_rows: Box<KindsOfRows>,
}

impl fmt::Debug for RowKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kinds").field("names", &self.names).finish_non_exhaustive()
    }
}

/// The recoding of rows by their class.
#[derive(Debug)]
pub struct RecodedOutside {
    /// Which rows of each kind are in which class.
    pub pieces: Pieces,
    /// Absent where rows are of a kind that are equal in all that rules look at.
    pub kinds: Option<RowKinds>,
    /// Attributes with the label of every class, and how many labels there are. The other
    /// attributes keep their values.
    pub labels: Vec<(String, Vec<u32>, usize)>,
}

/// Finds the number of each of some keys. `None` when two are equal.
pub fn find_by<K: Hash + Eq>(keys: Vec<K>) -> Option<impl Fn(&K) -> Option<u32>> {
    let hasher = FixedState::default();
    let mut table: HashTable<u32> = HashTable::with_capacity(keys.len());
    for (number, key) in (0..).zip(&keys) {
        let hash = hasher.hash_one(key);
        if table.find(hash, |&other| keys[other as usize] == *key).is_some() {
            return None;
        }
        table.insert_unique(hash, number, |&number| hasher.hash_one(&keys[number as usize]));
    }
    Some(move |key: &K| table.find(hasher.hash_one(key), |&other| keys[other as usize] == *key).copied())
}
