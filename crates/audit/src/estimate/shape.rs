//! How the values of a numeric attribute are distributed, estimated from all released cells
//! together. It serves cells that do not say how far they extend: those that are open at an end,
//! end cells of a declared range, and the top `*`.
//!
//! **Inside**, between the outermost ends that labels have, each bin gets the mass that explains
//! the counts of the cells best: the self-consistent estimate for interval-censored data (Turnbull:
//! *The empirical distribution function with arbitrarily grouped, censored and truncated data*,
//! 1976), by expectation–maximization. Within a bin values are spread evenly.
//!
//! **Beyond** the outermost ends the density continues as it is next to them and falls off
//! exponentially, as steeply as the mass beyond requires. Of positive numbers the tail ends at
//! zero, of any at the end of a known range. Where no cell has two ends and no range is known,
//! nothing is estimated.
//!
//! Whole numbers fill the unit from themselves to the next, so that every cell is an interval of
//! reals.
//!
//! Cost: linear in cells and bins for each of a fixed number of rounds.

/// More ends than these are thinned out evenly.
const EDGES_MAX: usize = 257;

const ROUNDS: usize = 40;

/// Below this share of the scale an exponential piece is as good as even.
const EVEN: f64 = 1e-4;

/// One cell: from the first end (inclusive) to the second (exclusive), `None` open, and how many
/// rows have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CountedCell {
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) rows: f64,
}

/// The known bounds of the least and of the greatest value, whatever the cells.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Limits {
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// Ascending; the masses lie between neighbors.
    edges: Vec<f64>,
    masses: Vec<f64>,
    lower: Tail,
    upper: Tail,
}

/// The distribution beyond an outermost edge, by the distance from it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tail {
    mass: f64,
    /// To the end of what is possible.
    width: f64,
    /// Of the exponential; infinite where the tail is even, not a number where nothing tells.
    scale: f64,
}

impl Shape {
    /// `ends_at_zero` says that positive values do not continue below zero, nor negative ones above
    /// it.
    pub(crate) fn of(cells: &[CountedCell], limits: Limits, ends_at_zero: bool) -> Option<Shape> {
        let ends = cells.iter().flat_map(|cell| [cell.low, cell.high]);
        let mut edges: Vec<f64> = ends.flatten().filter(|end| end.is_finite()).collect();
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup();
        let (Some(&first), Some(&last)) = (edges.first(), edges.last()) else {
            let (low, high) = (limits.low?, limits.high?);
            let nothing = Tail { mass: 0.0, width: 0.0, scale: f64::INFINITY };
            return (low < high).then(|| Shape {
                edges: vec![low, high],
                masses: vec![1.0],
                lower: nothing,
                upper: nothing,
            });
        };
        if edges.len() > EDGES_MAX {
            edges = (0..EDGES_MAX).map(|place| edges[place * (edges.len() - 1) / (EDGES_MAX - 1)]).collect();
        }
        let low = limits.low.or((ends_at_zero && first > 0.0).then_some(0.0));
        let high = limits.high.or((ends_at_zero && last < 0.0).then_some(0.0));
        let widths = [
            low.map_or(f64::INFINITY, |low| (first - low).max(0.0)),
            high.map_or(f64::INFINITY, |high| (high - last).max(0.0)),
        ];
        let masses = self_consistent(cells, &edges, widths);
        let (inside, lengths) =
            (&masses[1..masses.len() - 1], edges.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>());
        let bins = || inside.iter().copied().zip(lengths.iter().copied());
        let lower = Tail::new(masses[0], (widths[0], limits.low.is_some()), &mut bins());
        let upper = Tail::new(masses[masses.len() - 1], (widths[1], limits.high.is_some()), &mut bins().rev());
        Some(Shape { masses: inside.to_vec(), edges, lower, upper })
    }

    /// The mass from one place to another, and the mean there. The mean is NaN where the mass is
    /// zero; both are NaN where nothing is known.
    pub(crate) fn between(&self, from: f64, to: f64) -> (f64, f64) {
        let (first, last) = (self.edges[0], self.edges[self.edges.len() - 1]);
        let (below, depth) = self.lower.between(first - to, first - from);
        let (above, excess) = self.upper.between(from - last, to - last);
        let (mut mass, mut sum) = (below + above, weighted(below, first - depth) + weighted(above, last + excess));
        let start = self.edges.partition_point(|edge| *edge <= from).saturating_sub(1);
        for (pair, inside) in self.edges.windows(2).zip(&self.masses).skip(start) {
            let (low, high) = (pair[0].max(from), pair[1].min(to));
            if pair[0] >= to {
                break;
            }
            if high > low {
                let part = inside * (high - low) / (pair[1] - pair[0]);
                mass += part;
                sum += weighted(part, f64::midpoint(low, high));
            }
        }
        (mass, sum / mass)
    }
}

/// Nothing of the unknown is nothing.
fn weighted(mass: f64, value: f64) -> f64 {
    if mass == 0.0 { 0.0 } else { mass * value }
}

impl Tail {
    /// `known` says that the width is that of a known range. `bins` are those inside with their
    /// lengths, beginning with the one next to the edge.
    fn new(mass: f64, (width, known): (f64, bool), bins: &mut dyn Iterator<Item = (f64, f64)>) -> Tail {
        if mass == 0.0 || width == 0.0 {
            return Tail { mass: 0.0, width, scale: f64::INFINITY };
        }
        // As far inward as holds what the tail holds: one bin may be empty by chance.
        let (mut near, mut length) = (0.0, 0.0);
        for (mass_inside, width_inside) in bins {
            (near, length) = (near + mass_inside, length + width_inside);
            if near >= mass {
                break;
            }
        }
        if near == 0.0 {
            let scale = if known { f64::INFINITY } else { f64::NAN };
            return Tail { mass, width, scale };
        }
        Tail { mass, width, scale: scale_of(mass * length / near, width) }
    }

    /// The mass between two distances from the edge, and the mean distance there.
    fn between(&self, from: f64, to: f64) -> (f64, f64) {
        let (from, to) = (from.max(0.0), to.min(self.width));
        if self.mass == 0.0 || from >= to {
            return (0.0, 0.0);
        }
        if self.scale.is_infinite() {
            return (self.mass * (to - from) / self.width, f64::midpoint(from, to));
        }
        let beyond = |distance: f64| (-distance / self.scale).exp();
        let mass = self.mass * (beyond(from) - beyond(to)) / (1.0 - beyond(self.width));
        let length = to - from;
        let mean = if length.is_infinite() {
            from + self.scale
        } else if length < EVEN * self.scale {
            f64::midpoint(from, to)
        } else {
            from + self.scale - length / ((length / self.scale).exp() - 1.0)
        };
        (mass, mean)
    }
}

/// The scale of an exponential that begins with density 1 and has this area up to a width: s with
/// s·(1 − e^(−width/s)) = area.
fn scale_of(area: f64, width: f64) -> f64 {
    if width.is_infinite() {
        return area;
    }
    if area >= width {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, area);
    while high * -(-width / high).exp_m1() < area {
        (low, high) = (high, high * 2.0);
        if high > width / EVEN {
            return f64::INFINITY;
        }
    }
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if middle * -(-width / middle).exp_m1() < area { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The share of the rows in each bin: below the first edge, between edges, from the last one on.
fn self_consistent(cells: &[CountedCell], edges: &[f64], widths: [f64; 2]) -> Vec<f64> {
    let bins = edges.len() + 1;
    // Where a cell begins and ends, as a bin and the share of it that lies before.
    let place = |value: Option<f64>, open: (usize, f64)| -> (usize, f64) {
        let Some(value) = value else { return open };
        let bin = edges.partition_point(|edge| *edge <= value);
        match bin {
            0 => (0, 0.0),
            _ if bin == edges.len() => (bin, if value > edges[bin - 1] { 1.0 } else { 0.0 }),
            _ => (bin, (value - edges[bin - 1]) / (edges[bin] - edges[bin - 1])),
        }
    };
    let tails = [if widths[0] > 0.0 { (0, 0.0) } else { (1, 0.0) }, (bins - 1, f64::from(u8::from(widths[1] > 0.0)))];
    let spans: Vec<_> = cells
        .iter()
        .map(|cell| (place(cell.low, tails[0]), place(cell.high, tails[1]), cell.rows))
        .filter(|(start, end, rows)| *rows > 0.0 && start < end)
        .collect();
    let rows: f64 = spans.iter().map(|(_, _, rows)| rows).sum();
    let mut masses = vec![if rows > 0.0 { 1.0 / bins as f64 } else { 0.0 }; bins];
    for _ in 0..ROUNDS {
        // What lies before each bin, and how much each unit of a bin's mass is to grow: added where
        // a cell begins, taken where it ends.
        let mut before = vec![0.0; bins + 1];
        masses.iter().enumerate().for_each(|(bin, mass)| before[bin + 1] = before[bin] + mass);
        let mut steps = vec![0.0; bins + 1];
        let mut parts = vec![0.0; bins];
        for &((start, cut), (end, kept), rows) in &spans {
            let covered = before[end] + kept * masses[end] - before[start] - cut * masses[start];
            if covered <= 0.0 {
                continue;
            }
            let growth = rows / covered;
            steps[start] += growth;
            steps[end] -= growth;
            parts[start] -= growth * cut;
            parts[end] += growth * kept;
        }
        let mut growth = 0.0;
        for (bin, mass) in masses.iter_mut().enumerate() {
            growth += steps[bin];
            *mass *= ((growth + parts[bin]) / rows).max(0.0);
        }
    }
    masses
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn cell(low: Option<f64>, high: Option<f64>, rows: f64) -> CountedCell {
        CountedCell { low, high, rows }
    }

    const NOTHING: Limits = Limits { low: None, high: None };

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{found}, expected {expected}");
    }

    /// Stays of 1 to 2 days in a cell of ten rows, five rows from 3 days on: the density is 5 a
    /// day, so that the mean excess is a day.
    #[test]
    fn a_tail_continues_the_density_inside() {
        let cells = [cell(Some(1.0), Some(3.0), 10.0), cell(Some(3.0), None, 5.0)];
        let shape = Shape::of(&cells, NOTHING, true).unwrap();
        let (mass, mean) = shape.between(3.0, f64::INFINITY);
        close(mass, 1.0 / 3.0);
        close(mean, 4.0);
        close(shape.between(1.0, 3.0).0, 2.0 / 3.0);
        close(shape.between(f64::NEG_INFINITY, f64::INFINITY).0, 1.0);
        assert_eq!(shape.between(f64::NEG_INFINITY, 1.0).0, 0.0);
        close(shape.between(4.0, f64::INFINITY).0, (-1.0f64).exp() / 3.0);
    }

    #[test]
    fn a_tail_never_crosses_zero() {
        let cells = [cell(None, Some(2.0), 90.0), cell(Some(2.0), Some(3.0), 5.0), cell(Some(3.0), None, 5.0)];
        let shape = Shape::of(&cells, NOTHING, true).unwrap();
        assert_eq!(shape.between(f64::NEG_INFINITY, 0.0).0, 0.0);
        close(shape.between(0.0, 2.0).0, 0.9);
        close(shape.between(0.0, 2.0).1, 1.0);
        let below = Shape::of(&cells, NOTHING, false).unwrap();
        assert!(below.between(f64::NEG_INFINITY, 0.0).0 > 0.5, "dates have no zero");
        let mirrored: Vec<CountedCell> =
            cells.iter().map(|one| cell(one.high.map(|high| -high), one.low.map(|low| -low), one.rows)).collect();
        let shape = Shape::of(&mirrored, NOTHING, true).unwrap();
        assert_eq!(shape.between(0.0, f64::INFINITY).0, 0.0);
        close(shape.between(-2.0, 0.0).1, -1.0);
    }

    #[test]
    fn a_known_range_ends_the_tail() {
        let limits = Limits { low: Some(0.0), high: Some(10.0) };
        let cells = [cell(None, Some(4.0), 8.0), cell(Some(4.0), Some(6.0), 4.0), cell(Some(6.0), None, 2.0)];
        let shape = Shape::of(&cells, limits, true).unwrap();
        close(shape.between(6.0, 10.0).0, 2.0 / 14.0);
        assert!(shape.between(6.0, 10.0).1 < 8.0, "few rows lie close to where the many are");
        assert_eq!(shape.between(10.0, 99.0).0, 0.0);
        let only = Shape::of(&[cell(None, None, 3.0)], limits, true).unwrap();
        assert_eq!(only.between(0.0, 10.0), (1.0, 5.0));
        assert_eq!(Shape::of(&[cell(None, None, 3.0)], NOTHING, true), None);
    }

    /// One cut, and nothing says how far either side extends.
    #[test]
    fn an_estimate_without_data_is_unknown() {
        let cells = [cell(None, Some(2.0), 3.0), cell(Some(2.0), None, 4.0)];
        let shape = Shape::of(&cells, NOTHING, true).unwrap();
        assert!(shape.between(2.0, f64::INFINITY).0.is_nan() && shape.between(f64::NEG_INFINITY, 2.0).0.is_nan());
        let shape = Shape::of(&cells, Limits { low: Some(0.0), high: Some(10.0) }, true).unwrap();
        close(shape.between(2.0, 10.0).1, 6.0);
    }

    /// Cells that overlap: the masses explain the counts of all of them, as each round of the
    /// definition leaves them.
    #[test]
    fn masses_are_self_consistent() {
        let mut rng = StdRng::seed_from_u64(5);
        for _ in 0..200 {
            let mut cells: Vec<CountedCell> = (0..rng.random_range(2..9))
                .map(|_| {
                    let low = f64::from(rng.random_range(0..8));
                    let high = low + f64::from(rng.random_range(1..5));
                    let rows = f64::from(rng.random_range(1..20));
                    cell(rng.random_bool(0.8).then_some(low), rng.random_bool(0.8).then_some(high), rows)
                })
                .collect();
            cells.push(cell(Some(0.0), Some(12.0), 1.0));
            let edges: Vec<f64> = (0..=12).map(f64::from).collect();
            let masses = self_consistent(&cells, &edges, [f64::INFINITY; 2]);
            // The same by its definition, bin by bin.
            let covers = |cell: &CountedCell, bin: usize| {
                let (from, to) = (bin as f64 - 1.0, bin as f64);
                cell.low.is_none_or(|low| low <= from && bin > 0) && cell.high.is_none_or(|high| to <= high && bin < 13)
            };
            let rows: f64 = cells.iter().map(|cell| cell.rows).sum();
            let mut expected = vec![1.0 / 14.0; 14];
            for _ in 0..ROUNDS {
                let mut next = vec![0.0; 14];
                for cell in &cells {
                    let covered: f64 = (0..14).filter(|bin| covers(cell, *bin)).map(|bin| expected[bin]).sum();
                    (0..14)
                        .filter(|bin| covers(cell, *bin))
                        .for_each(|bin| next[bin] += cell.rows * expected[bin] / covered / rows);
                }
                expected = next;
            }
            masses.iter().zip(&expected).for_each(|(found, expected)| close(*found, *expected));
        }
    }

    #[test]
    fn a_scale_gives_the_area() {
        for (area, width) in [(1.0, 2.0), (0.1, 100.0), (1.9, 2.0), (1e-6, 1.0)] {
            let scale: f64 = scale_of(area, width);
            close(scale * (1.0 - (-width / scale).exp()), area);
        }
        assert_eq!(scale_of(3.0, f64::INFINITY), 3.0);
        assert_eq!(scale_of(3.0, 2.0), f64::INFINITY);
    }
}
