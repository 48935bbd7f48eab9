//! The part of some tables that is not a tree: what is left when variables of one table alone and
//! tables within others are taken away for as long as there are any (Graham; Yu, Ozsoyoglu, 1979).
//! Nothing is left exactly when the tables have a junction tree.
//!
//! The others hang on to the rest as branches of a tree, so only the rest has to be
//! fitted ([`super::fitting`]).

/// Tables that are connected in rings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Ring {
    /// Each table, with those of its variables that others of the ring have as well.
    pub(super) tables: Vec<(usize, Vec<usize>)>,
}

/// The rings among some tables, each a list of different variables.
pub(super) fn rings(tables: &[Vec<usize>]) -> Vec<Ring> {
    let mut left: Vec<(usize, Vec<usize>)> = tables.iter().cloned().enumerate().collect();
    loop {
        let before: usize = left.iter().map(|(_, variables)| 1 + variables.len()).sum();
        let all: Vec<usize> = left.iter().flat_map(|(_, variables)| variables).copied().collect();
        let shared = |variable: &usize| all.iter().filter(|other| *other == variable).count() > 1;
        left.iter_mut().for_each(|(_, variables)| variables.retain(shared));
        let mut place = 0;
        while place < left.len() {
            let within = |other: &(usize, Vec<usize>)| left[place].1.iter().all(|own| other.1.contains(own));
            let covered = (0..left.len()).any(|other| other != place && within(&left[other]));
            if covered || left[place].1.is_empty() {
                left.remove(place);
            } else {
                place += 1;
            }
        }
        if before == left.iter().map(|(_, variables)| 1 + variables.len()).sum::<usize>() {
            break;
        }
    }
    let mut rings: Vec<Ring> = Vec::new();
    for table in left {
        let meets = |ring: &Ring| ring.tables.iter().any(|(_, other)| other.iter().any(|one| table.1.contains(one)));
        let (joined, apart): (Vec<Ring>, Vec<Ring>) = rings.into_iter().partition(meets);
        let mut tables: Vec<(usize, Vec<usize>)> = joined.into_iter().flat_map(|ring| ring.tables).collect();
        tables.push(table);
        rings = apart.into_iter().chain([Ring { tables }]).collect();
    }
    rings
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::super::junction_tree::junction_tree;
    use super::*;

    #[test]
    fn branches_are_taken_off_a_ring() {
        // 0-1-2-3 in a ring, a branch at 0, and a further table that only shares 2.
        let tables = [vec![0, 1], vec![1, 2, 9], vec![2, 3], vec![3, 0], vec![0, 4], vec![4, 5], vec![2, 6, 7]];
        let found = rings(&tables);
        let ring = vec![(0, vec![0, 1]), (1, vec![1, 2]), (2, vec![2, 3]), (3, vec![3, 0])];
        assert_eq!(found, [Ring { tables: ring }]);
        assert_eq!(rings(&tables[..3]), []);
        assert_eq!(rings(&[]), []);
    }

    #[test]
    fn rings_apart_are_two() {
        let triangle = |first: usize| [vec![first, first + 1], vec![first + 1, first + 2], vec![first + 2, first]];
        assert_eq!(rings(&[triangle(0), triangle(3)].concat()).len(), 2);
        assert_eq!(rings(&[triangle(0).to_vec(), triangle(3).to_vec(), vec![vec![2, 3]]].concat()).len(), 1);
    }

    #[test]
    fn rings_remain_exactly_where_a_junction_tree_does_not_exist() {
        let (mut trees, mut others) = (0, 0);
        for seed in 0..2000 {
            let rng = &mut StdRng::seed_from_u64(seed);
            let tables: Vec<Vec<usize>> = (0..rng.random_range(1..6))
                .map(|_| (0..5).filter(|_| rng.random_bool(0.4)).collect::<Vec<usize>>())
                .filter(|table: &Vec<usize>| !table.is_empty())
                .collect();
            let tree = junction_tree(&tables).is_some();
            assert_eq!(rings(&tables).is_empty(), tree, "seed {seed}: {tables:?}");
            *if tree { &mut trees } else { &mut others } += 1;
        }
        assert!(trees > 500 && others > 100, "{trees} trees, {others} others");
    }
}
