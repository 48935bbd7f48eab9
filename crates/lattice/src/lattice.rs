//! The generalization lattice: one level per quasi attribute; a node is coarser than another when
//! every level is.

/// The levels of a node, one per quasi attribute.
pub type Levels = Vec<u8>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lattice {
    tops: Vec<u8>,
    /// How far apart the numbers of two nodes are that differ by one level of an attribute; absent
    /// when the lattice has too many nodes to number.
    strides: Option<Vec<u64>>,
    nodes: Option<u64>,
}

impl Lattice {
    pub fn new(tops: Vec<u8>) -> Lattice {
        let mut strides = Vec::with_capacity(tops.len());
        let mut nodes = Some(1u64);
        for &top in &tops {
            strides.push(nodes.unwrap_or(0));
            nodes = nodes.and_then(|nodes| nodes.checked_mul(u64::from(top) + 1));
        }
        Lattice { tops, strides: nodes.map(|_| strides), nodes }
    }

    pub fn tops(&self) -> &[u8] {
        &self.tops
    }

    /// `None` beyond 64 bits.
    pub fn nodes(&self) -> Option<u64> {
        self.nodes
    }

    pub fn bottom(&self) -> Levels {
        vec![0; self.tops.len()]
    }

    pub fn top(&self) -> Levels {
        self.tops.clone()
    }

    /// The number of a node. Only for lattices whose nodes can be numbered.
    pub fn number(&self, levels: &[u8]) -> u64 {
        let strides = self.strides.as_ref().expect("a lattice with numbered nodes");
        levels.iter().zip(strides).map(|(&level, &stride)| u64::from(level) * stride).sum()
    }

    pub fn levels(&self, mut number: u64, levels: &mut Levels) {
        levels.clear();
        for &top in &self.tops {
            let width = u64::from(top) + 1;
            levels.push((number % width) as u8);
            number /= width;
        }
    }

    /// The numbers of the nodes one step coarser.
    pub fn coarser<'a>(&'a self, number: u64, levels: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
        let strides = self.strides.as_ref().expect("a lattice with numbered nodes");
        let steps = levels.iter().zip(&self.tops).zip(strides);
        steps.filter(|((level, top), _)| level < top).map(move |(_, stride)| number + stride)
    }

    /// The numbers of the nodes one step finer.
    pub fn finer<'a>(&'a self, number: u64, levels: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
        let strides = self.strides.as_ref().expect("a lattice with numbered nodes");
        levels.iter().zip(strides).filter(|(level, _)| **level > 0).map(move |(_, stride)| number - stride)
    }
}

/// Whether `fine` is at most as coarse as `coarse` in every attribute.
pub fn is_finer_or_equal(fine: &[u8], coarse: &[u8]) -> bool {
    fine.iter().zip(coarse).all(|(fine, coarse)| fine <= coarse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_levels_are_two_names_of_a_node() {
        let lattice = Lattice::new(vec![1, 3, 0, 2]);
        assert_eq!(lattice.nodes(), Some(24));
        let mut levels = Vec::new();
        for number in 0..24 {
            lattice.levels(number, &mut levels);
            assert_eq!(lattice.number(&levels), number);
            let (mut up, mut down) = (0, 0);
            let mut other = Vec::new();
            for coarser in lattice.coarser(number, &levels) {
                lattice.levels(coarser, &mut other);
                assert!(is_finer_or_equal(&levels, &other));
                up += 1;
            }
            for finer in lattice.finer(number, &levels) {
                lattice.levels(finer, &mut other);
                assert!(is_finer_or_equal(&other, &levels));
                down += 1;
            }
            assert_eq!(up, levels.iter().zip(lattice.tops()).filter(|(level, top)| level < top).count());
            assert_eq!(down, levels.iter().filter(|level| **level > 0).count());
        }
        assert_eq!(Lattice::new(vec![9; 30]).nodes(), None);
    }
}
