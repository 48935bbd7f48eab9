//! How far an interval reaches at the ends of its axis.
//!
//! Cuts divide all rows, so each side of a cut holds a class at least. Classes of neighbors
//! overlap: the next value above a class may be that of the one oldest person, and a bound before
//! it would follow that person. An interval is therefore bounded only where at least as many rows
//! lie beyond the bound as the smallest class has, and is open otherwise, as a cell of cuts would
//! be.

use hedgerow_cuts::{NumberLine, Span};

/// The ranks at the two ends of a line before and after which no interval is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The lowest rank that an interval may begin at, other than the first.
    low: u32,
    /// The highest rank that an interval may end at, other than the last; none where negative.
    high: i64,
    last: u32,
}

impl Ends {
    /// `counts` has the rows of every rank, `rows_min` how many must lie beyond a bound.
    pub(crate) fn of(line: &NumberLine, counts: &[u64], rows_min: u64) -> Ends {
        Ends::of_sides(line, counts, counts, rows_min)
    }

    /// The same where those below a bound are counted by `lowest`, and those above it by
    /// `highest`, both by rank.
    pub(crate) fn of_sides(line: &NumberLine, lowest: &[u64], highest: &[u64], rows_min: u64) -> Ends {
        let (lowest, highest) = (&lowest[..line.present() as usize], &highest[..line.present() as usize]);
        let last = line.present().saturating_sub(1);
        // A bound lies between two ranks; this counts those on the far side of it.
        let beyond = |counts: &mut dyn Iterator<Item = &u64>| {
            let mut rows = 0u64;
            let short = |count: &&u64| {
                rows += **count;
                rows < rows_min
            };
            counts.take_while(short).count() as u32 + 1
        };
        let low = beyond(&mut lowest.iter());
        let high = i64::from(last) - i64::from(beyond(&mut highest.iter().rev()));
        Ends { low, high, last }
    }

    /// The interval over the values of a class.
    pub(crate) fn reached(self, found: Span) -> Span {
        let first = if found.first < self.low { 0 } else { found.first };
        let last = if i64::from(found.last) > self.high { self.last } else { found.last };
        Span::new(first, last)
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_cuts::{Axis, Shape};
    use hedgerow_table::hierarchy::HierarchySpec;
    use hedgerow_table::{Domain, Hierarchy, Kind};

    use super::*;

    fn ends(counts: &[u64], rows_min: u64) -> Ends {
        let texts: Vec<String> = (0..counts.len()).map(|value| (value * 10).to_string()).collect();
        let (domain, _) = Domain::from_texts(&texts, false, Some(Kind::Integer)).unwrap();
        let hierarchy = Hierarchy::build(&HierarchySpec::None, "age", "", &domain, &[]).unwrap();
        let axis = Axis::new(&domain, &hierarchy, false, Vec::new);
        let Shape::Line(line) = axis.shape() else { panic!("a line") };
        Ends::of(line, counts, rows_min)
    }

    /// From the definition: the bound after a rank needs enough rows above it, the bound before a
    /// rank enough below.
    #[test]
    fn a_bound_has_a_class_beyond_it() {
        for counts in [vec![1, 1, 1, 1, 1], vec![5, 1, 1, 5], vec![1, 9, 1], vec![2, 2], vec![7], vec![1, 1]] {
            for rows_min in 1..=6 {
                let (ends, last) = (ends(&counts, rows_min), counts.len() as u32 - 1);
                for first in 0..=last {
                    for end in first..=last {
                        let below: u64 = counts[..first as usize].iter().sum();
                        let above: u64 = counts[end as usize + 1..].iter().sum();
                        let expected = Span::new(
                            if below < rows_min { 0 } else { first },
                            if above < rows_min { last } else { end },
                        );
                        let context = format!("{counts:?}, {rows_min}, {first} to {end}");
                        assert_eq!(ends.reached(Span::new(first, end)), expected, "{context}");
                    }
                }
            }
        }
    }
}
