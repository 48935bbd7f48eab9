//! Division: how many classes there are, and how many tuples of every sensitive value each one
//! takes.
//!
//! Algorithm 1 of Baig et al. 2011: the rarest value gives the number b of classes, value j with nⱼ
//! tuples gives every class γⱼ = round(nⱼ/b) of them; tuples beyond that are suppressed, missing
//! ones are counterfeits. A counterfeit carries no quasi values. Where nⱼ/b lies exactly between
//! two integers, every second such value rounds up, beginning with the first: a counterfeit costs
//! less than a suppressed tuple.
//!
//! All classes are composed alike, so they all have the same ε: the largest |nⱼ/n − γⱼ/Σγ|. The
//! paper bounds it by half the share of the rarest value; here it is computed. One class of all
//! tuples has ε = 0, so any ε can be had for few enough classes, unless values are suppressed
//! altogether: these count with the share that they had.

use hedgerow_table::Ratio;

/// The division of one sensitive value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub code: u32,
    /// In the source.
    pub rows: u64,
    /// How many each class takes: γ of the paper, at least 1.
    pub per_class: u64,
}

impl Share {
    pub fn suppressed(self, classes: u64) -> u64 {
        self.rows.saturating_sub(self.per_class * classes)
    }

    pub fn counterfeit(self, classes: u64) -> u64 {
        (self.per_class * classes).saturating_sub(self.rows)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    /// b of the paper.
    pub classes: u64,
    /// By code; values that are suppressed altogether are not among them.
    pub shares: Vec<Share>,
    /// The values that are suppressed altogether, with their rows.
    pub suppressed_values: Vec<(u32, u64)>,
}

/// A sensitive value so rare that it holds the number of classes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rare {
    pub code: u32,
    pub rows: u64,
    /// Classes there could be without this value and the rarer ones.
    pub classes_without: u64,
}

impl Division {
    /// The division of values with their rows, all above 0, into at least one class; `None` when a
    /// value would be in no class, or there is none.
    pub fn into_classes(counts: &[(u32, u64)], suppressed_values: &[(u32, u64)], classes: u64) -> Option<Division> {
        let mut up = false;
        let mut shares = Vec::with_capacity(counts.len());
        for &(code, rows) in counts {
            let (quotient, rest) = (rows / classes, rows % classes);
            let rounds_up = match (rest * 2).cmp(&classes) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Equal => {
                    up = !up;
                    up
                }
            };
            let per_class = quotient + u64::from(rounds_up);
            if per_class == 0 {
                return None;
            }
            shares.push(Share { code, rows, per_class });
        }
        (!shares.is_empty()).then(|| Division { classes, shares, suppressed_values: suppressed_values.to_vec() })
    }

    /// The division into the most classes that `keeps` what must hold, from the paper's number
    /// downwards: beyond it, tuples of the rarest value would be counterfeit.
    pub fn largest(
        counts: &[(u32, u64)],
        suppressed_values: &[(u32, u64)],
        keeps: impl Fn(&Division) -> bool,
    ) -> Option<Division> {
        let rarest = counts.iter().map(|&(_, rows)| rows).min()?;
        // ε does not fall steadily with the number of classes, so each is tried. Every value has at
        // least `rarest` tuples, so that all tries together cost no more than looking at every
        // tuple once.
        let divisions =
            (1..=rarest).rev().filter_map(|classes| Division::into_classes(counts, suppressed_values, classes));
        divisions.into_iter().find(|division| keeps(division))
    }

    /// Tuples in a class.
    pub fn class_size(&self) -> u64 {
        self.shares.iter().map(|share| share.per_class).sum()
    }

    /// Rows of the source.
    pub fn rows(&self) -> u64 {
        let suppressed: u64 = self.suppressed_values.iter().map(|&(_, rows)| rows).sum();
        suppressed + self.shares.iter().map(|share| share.rows).sum::<u64>()
    }

    /// Tuples suppressed because classes take equal numbers; those of values suppressed altogether
    /// come on top.
    pub fn suppressed(&self) -> u64 {
        self.shares.iter().map(|share| share.suppressed(self.classes)).sum()
    }

    pub fn counterfeits(&self) -> u64 {
        self.shares.iter().map(|share| share.counterfeit(self.classes)).sum()
    }

    /// Tuples suppressed or counterfeit so that classes take equal numbers.
    pub fn distorted(&self) -> u64 {
        self.suppressed() + self.counterfeits()
    }

    /// The largest |nⱼ·Σγ − γⱼ·n| over n·Σγ.
    fn epsilon_parts(&self) -> (u128, u128) {
        let (rows, size) = (u128::from(self.rows()), u128::from(self.class_size()));
        let off = |share: &Share| (u128::from(share.rows) * size).abs_diff(u128::from(share.per_class) * rows);
        let suppressed = self.suppressed_values.iter().map(|&(_, rows)| u128::from(rows) * size);
        (self.shares.iter().map(off).chain(suppressed).max().unwrap_or(0), rows * size)
    }

    /// The true ε of every class, against the source.
    pub fn epsilon(&self) -> f64 {
        let (above, below) = self.epsilon_parts();
        above as f64 / below as f64
    }

    /// Whether ε is at most this, exactly.
    pub fn keeps(&self, epsilon: Ratio) -> bool {
        let (above, below) = self.epsilon_parts();
        // A table has fewer than 2^32 rows, so neither product overflows.
        above * u128::from(epsilon.denominator) <= u128::from(epsilon.numerator) * below
    }

    /// For every value the share in a class and the share in the source.
    pub fn distributions(&self) -> Vec<(f64, f64)> {
        let (rows, size) = (self.rows() as f64, self.class_size() as f64);
        let kept = self.shares.iter().map(|share| (share.per_class as f64 / size, share.rows as f64 / rows));
        kept.chain(self.suppressed_values.iter().map(|&(_, lost)| (0.0, lost as f64 / rows))).collect()
    }
}

/// The rarest values, ascending, that together have at most `allowed` rows and without which there
/// could be at least twice as many classes: what `rare = "suppress"` suppresses, and `"keep"`
/// reports the cost of.
pub fn rare_values(counts: &[(u32, u64)], allowed: u64) -> Vec<Rare> {
    let mut ascending = counts.to_vec();
    ascending.sort_unstable_by_key(|&(code, rows)| (rows, code));
    let mut rare = Vec::new();
    let (mut until, mut together) = (0, 0u64);
    for pair in ascending.windows(2) {
        let [(code, rows), (_, next)] = [pair[0], pair[1]];
        together += rows;
        if together > allowed {
            break;
        }
        rare.push(Rare { code, rows, classes_without: next });
        if next >= rows.saturating_mul(2) {
            until = rare.len();
        }
    }
    rare.truncate(until);
    rare
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn per_class(division: &Division) -> Vec<u64> {
        division.shares.iter().map(|share| share.per_class).collect()
    }

    /// Hospital 3 of the paper: B 7, G 3, J 5, L 4.
    #[test]
    fn hospital_3_as_in_the_paper() {
        let division = Division::largest(&[(0, 7), (1, 3), (2, 5), (3, 4)], &[], |_| true).unwrap();
        assert_eq!((division.classes, per_class(&division)), (3, vec![2, 1, 2, 1]));
        let counterfeits: Vec<u64> = division.shares.iter().map(|share| share.counterfeit(3)).collect();
        let suppressed: Vec<u64> = division.shares.iter().map(|share| share.suppressed(3)).collect();
        assert_eq!((counterfeits, suppressed), (vec![0, 0, 1, 0], vec![1, 0, 0, 1]));
        assert!((division.epsilon() - 8.0 / 114.0).abs() < 1e-15);
    }

    #[test]
    fn between_two_integers_every_second_value_rounds_up() {
        let division = Division::largest(&[(0, 2), (1, 5), (2, 7), (3, 3), (4, 4)], &[], |_| true).unwrap();
        assert_eq!(per_class(&division), [1, 3, 3, 2, 2]);
    }

    /// ε by its definition on shares, the number of classes by trying all of them.
    #[test]
    fn a_limit_is_kept_by_as_many_classes_as_can_be() {
        for seed in 0..2000 {
            let mut rng = StdRng::seed_from_u64(seed);
            let values = rng.random_range(1..6u32);
            let counts: Vec<(u32, u64)> = (0..values).map(|code| (code, rng.random_range(1..40))).collect();
            let suppressed_values: Vec<(u32, u64)> =
                (0..rng.random_range(0..2)).map(|code| (90 + code, rng.random_range(1..4))).collect();
            let limit = [0.0, 0.01, 0.05, 0.2][rng.random_range(0..4usize)];
            let rows: u64 = counts.iter().chain(&suppressed_values).map(|&(_, rows)| rows).sum();
            let epsilon = |division: &Division| {
                let size: u64 = per_class(division).iter().sum();
                let off =
                    |share: &Share| (share.rows as f64 / rows as f64 - share.per_class as f64 / size as f64).abs();
                let lost = suppressed_values.iter().map(|&(_, lost)| lost as f64 / rows as f64);
                division.shares.iter().map(off).chain(lost).fold(0.0, f64::max)
            };
            let rarest = counts.iter().map(|&(_, rows)| rows).min().unwrap();
            let most = (1..=rarest)
                .filter(|&classes| {
                    epsilon(&Division::into_classes(&counts, &suppressed_values, classes).unwrap()) <= limit + 1e-12
                })
                .max();
            let found = Division::largest(&counts, &suppressed_values, |division| {
                division.keeps(Ratio::from_decimal(limit).unwrap())
            });
            assert_eq!(
                found.as_ref().map(|found| found.classes),
                most,
                "seed {seed}: {counts:?} {suppressed_values:?} at {limit}"
            );
            assert!(most.is_some() || !suppressed_values.is_empty(), "seed {seed}: one class is the table itself");
            let Some(found) = found else { continue };
            assert!((found.epsilon() - epsilon(&found)).abs() < 1e-12, "seed {seed}");
            let lost: u64 = suppressed_values.iter().map(|&(_, lost)| lost).sum();
            let placed = found.class_size() * found.classes;
            assert_eq!(placed + found.suppressed() + lost, rows + found.counterfeits(), "seed {seed}");
            for share in &found.shares {
                let off = share.suppressed(found.classes) + share.counterfeit(found.classes);
                assert!(2 * off <= found.classes, "seed {seed}: more than the paper's bound (8)");
            }
        }
    }

    #[test]
    fn a_rare_value_is_found_with_what_it_costs() {
        let counts = [(0, 500), (1, 2), (2, 300), (3, 3), (4, 400)];
        let costs = |allowed: u64| -> Vec<(u32, u64, u64)> {
            rare_values(&counts, allowed).iter().map(|rare| (rare.code, rare.rows, rare.classes_without)).collect()
        };
        assert_eq!(costs(5), [(1, 2, 3), (3, 3, 300)]);
        assert_eq!(costs(400), [(1, 2, 3), (3, 3, 300)], "without 300 rows there would not be twice as many classes");
        assert_eq!(costs(4), [], "without the value of two rows alone, three would still hold it down");
        assert_eq!(rare_values(&[(0, 10), (1, 12)], 100), []);
        assert_eq!(rare_values(&[(0, 10), (1, 20)], 10).len(), 1);
        assert_eq!(rare_values(&[(0, 10)], 100), [], "the only value stays");
        assert_eq!(rare_values(&[], 100), []);
    }
}
