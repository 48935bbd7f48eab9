//! Whether rows of a piece can be a class, and which rows would help where they cannot.

use hedgerow_table::frequency::KeyField;

use super::piece::Piece;
use crate::partition::{PackedKey, Scratch};
use crate::rules::{Needed, Rules};

/// The rules, with the memory that one thread judges with.
#[derive(Debug)]
pub struct Checked<'a, const W: usize> {
    rules: &'a Rules<'a>,
    scratch: Scratch,
    keys: Vec<PackedKey<W>>,
}

/// The rows or values that a class that breaks a rule lacks.
#[derive(Debug)]
pub struct ClassLack {
    field: KeyField,
    /// By value of the protected attribute.
    helps: Vec<bool>,
}

impl ClassLack {
    pub fn is_helped_by<const W: usize>(&self, key: &PackedKey<W>) -> bool {
        self.helps.get(self.field.get(key) as usize).is_none_or(|&helps| helps)
    }
}

impl<'a, const W: usize> Checked<'a, W> {
    pub fn new(rules: &'a Rules<'a>) -> Self {
        Checked { rules, scratch: Scratch::new(0), keys: Vec::new() }
    }

    /// The fewest rows that a class can have.
    pub fn minimum(&self) -> u64 {
        self.rules.minimum().max(1)
    }

    /// Whether sizes alone decide.
    pub fn by_size_alone(&self) -> bool {
        self.rules.by_size_alone()
    }

    pub fn hold(&mut self, piece: &Piece<'_, W>, class: &[u16]) -> bool {
        if self.rules.by_size_alone() {
            return class.len() as u64 >= self.minimum();
        }
        self.gather(piece, class);
        self.rules.hold(&self.keys, &mut self.scratch)
    }

    /// The rows or values that a class lacks; `None` when it keeps every rule.
    ///
    /// Where a rule compares with the table, values that are rarer in the class than there; else
    /// values that the class lacks.
    pub fn wanted(&mut self, piece: &Piece<'_, W>, class: &[u16]) -> Option<ClassLack> {
        if self.rules.by_size_alone() {
            return None;
        }
        self.gather(piece, class);
        let Needed { field, cardinality, source } = self.rules.needed(&self.keys, &mut self.scratch)?;
        let mut counts = vec![0u64; cardinality];
        for key in &self.keys {
            counts[field.get(key) as usize] += 1;
        }
        let size = class.len() as u128;
        let helps = match source {
            Some(source) => {
                let rows: u128 = source.iter().map(|&rows| u128::from(rows)).sum();
                let rarer = |(&here, &there): (&u64, &u64)| u128::from(here) * rows < u128::from(there) * size;
                counts.iter().zip(source).map(rarer).collect()
            }
            None => counts.iter().map(|&count| count == 0).collect(),
        };
        Some(ClassLack { field, helps })
    }

    fn gather(&mut self, piece: &Piece<'_, W>, class: &[u16]) {
        self.keys.clear();
        self.keys.extend(class.iter().map(|&row| piece.keys[row as usize]));
    }
}
