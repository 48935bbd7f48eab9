//! How the values of a numeric attribute are distributed, estimated from all released cells
//! together. It serves cells that do not say how far they extend: those that are open at an end,
//! end cells of a declared range, and the top `*`. Within a cell that has two ends, values are
//! spread evenly.
//!
//! **Inside**, between the outermost ends that labels have, the rows of every cell are spread
//! evenly over its length; what lies beyond the outermost end counts as one bin of the mean length.
//! Cells of local recoding overlap, and not by chance: a class is wide where people are
//! few. The distribution that explains the counts best (Turnbull, 1976) takes it for chance, moves
//! the rows of every wide cell to where many cells overlap, and leaves the ends of the axis empty;
//! so it is not sought. Cells that cover everything say nothing.
//!
//! **Beyond** the outermost ends the density continues as it is next to them and falls off
//! exponentially, as steeply as the mass beyond requires. Of positive numbers the tail ends at
//! zero, of any at the end of a known range. Where no cell has two ends and no range is known,
//! nothing is estimated.
//!
//! Whole numbers fill the unit from themselves to the next, so that every cell is an interval of
//! reals.
//!
//! Cost: linear in cells and bins.

/// More ends than these are thinned out evenly.
const EDGES_MAX: usize = 257;

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
pub(crate) struct ValueLimits {
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumberShape {
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

impl NumberShape {
    /// `ends_at_zero` says that positive values do not continue below zero, nor negative ones above
    /// it.
    pub(crate) fn of(cells: &[CountedCell], limits: ValueLimits, ends_at_zero: bool) -> Option<NumberShape> {
        let ends = cells.iter().flat_map(|cell| [cell.low, cell.high]);
        let mut edges: Vec<f64> = ends.flatten().filter(|end| end.is_finite()).collect();
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup();
        let (Some(&first), Some(&last)) = (edges.first(), edges.last()) else {
            let (low, high) = (limits.low?, limits.high?);
            let nothing = Tail { mass: 0.0, width: 0.0, scale: f64::INFINITY };
            return (low < high).then(|| NumberShape {
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
        let masses = masses(cells, &edges, widths);
        let (inside, lengths) =
            (&masses[1..masses.len() - 1], edges.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>());
        let bins = || inside.iter().copied().zip(lengths.iter().copied());
        let lower = Tail::new(masses[0], (widths[0], limits.low.is_some()), &mut bins());
        let upper = Tail::new(masses[masses.len() - 1], (widths[1], limits.high.is_some()), &mut bins().rev());
        Some(NumberShape { masses: inside.to_vec(), edges, lower, upper })
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
fn masses(cells: &[CountedCell], edges: &[f64], widths: [f64; 2]) -> Vec<f64> {
    let bins = edges.len() + 1;
    let lengths = lengths(edges, widths);
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
    let span = |cell: &CountedCell| (place(cell.low, (0, 0.0)), place(cell.high, (bins - 1, 1.0)), cell.rows);
    let spans = |with_all: bool| {
        let says = |cell: &&CountedCell| cell.rows > 0.0 && (with_all || cell.low.is_some() || cell.high.is_some());
        cells.iter().filter(says).map(span).filter(|(start, end, _)| start < end).collect::<Vec<_>>()
    };
    let spans = Some(spans(false)).filter(|spans| !spans.is_empty()).unwrap_or_else(|| spans(true));
    let mut before = vec![0.0; bins + 1];
    lengths.iter().enumerate().for_each(|(bin, length)| before[bin + 1] = before[bin] + length);
    // How many rows there are on a unit of length: added where a cell begins, taken where it ends.
    let mut steps = vec![0.0; bins + 1];
    let mut parts = vec![0.0; bins];
    let mut rows = 0.0;
    for &((start, cut), (end, kept), count) in &spans {
        let covered = before[end] + kept * lengths[end] - before[start] - cut * lengths[start];
        if covered <= 0.0 {
            continue;
        }
        let density = count / covered;
        rows += count;
        steps[start] += density;
        steps[end] -= density;
        parts[start] -= density * cut;
        parts[end] += density * kept;
    }
    let mut density = 0.0;
    let mass = |bin: usize| {
        density += steps[bin];
        if rows > 0.0 { (lengths[bin] * (density + parts[bin]) / rows).max(0.0) } else { 0.0 }
    };
    (0..bins).map(mass).collect()
}

/// The lengths of the bins. A tail is as long as others are in the mean, or as it can be.
fn lengths(edges: &[f64], widths: [f64; 2]) -> Vec<f64> {
    let inside = (edges.len() - 1) as f64;
    let mean = (edges[edges.len() - 1] - edges[0]) / inside;
    let tail = |width: f64| if mean > 0.0 && mean.is_finite() { mean.min(width) } else { width.min(1.0) };
    let bins = edges.windows(2).map(|pair| pair[1] - pair[0]);
    std::iter::once(tail(widths[0])).chain(bins).chain([tail(widths[1])]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn cell(low: Option<f64>, high: Option<f64>, rows: f64) -> CountedCell {
        CountedCell { low, high, rows }
    }

    const NOTHING: ValueLimits = ValueLimits { low: None, high: None };

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{found}, expected {expected}");
    }

    /// Stays of 1 to 2 days in a cell of ten rows, five rows from 3 days on: the density is 5 a
    /// day, so that the mean excess is a day.
    #[test]
    fn a_tail_continues_the_density_inside() {
        let cells = [cell(Some(1.0), Some(3.0), 10.0), cell(Some(3.0), None, 5.0)];
        let shape = NumberShape::of(&cells, NOTHING, true).unwrap();
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
        let shape = NumberShape::of(&cells, NOTHING, true).unwrap();
        assert_eq!(shape.between(f64::NEG_INFINITY, 0.0).0, 0.0);
        close(shape.between(0.0, 2.0).0, 0.9);
        close(shape.between(0.0, 2.0).1, 1.0);
        let below = NumberShape::of(&cells, NOTHING, false).unwrap();
        assert!(below.between(f64::NEG_INFINITY, 0.0).0 > 0.5, "dates have no zero");
        let mirrored: Vec<CountedCell> =
            cells.iter().map(|one| cell(one.high.map(|high| -high), one.low.map(|low| -low), one.rows)).collect();
        let shape = NumberShape::of(&mirrored, NOTHING, true).unwrap();
        assert_eq!(shape.between(0.0, f64::INFINITY).0, 0.0);
        close(shape.between(-2.0, 0.0).1, -1.0);
    }

    #[test]
    fn a_known_range_ends_the_tail() {
        let limits = ValueLimits { low: Some(0.0), high: Some(10.0) };
        let cells = [cell(None, Some(4.0), 8.0), cell(Some(4.0), Some(6.0), 4.0), cell(Some(6.0), None, 2.0)];
        let shape = NumberShape::of(&cells, limits, true).unwrap();
        close(shape.between(6.0, 10.0).0, 2.0 / 14.0);
        assert!(shape.between(6.0, 10.0).1 < 8.0, "few rows lie close to where the many are");
        assert_eq!(shape.between(10.0, 99.0).0, 0.0);
        let only = NumberShape::of(&[cell(None, None, 3.0)], limits, true).unwrap();
        assert_eq!(only.between(0.0, 10.0), (1.0, 5.0));
        assert_eq!(NumberShape::of(&[cell(None, None, 3.0)], NOTHING, true), None);
    }

    /// One cut, and nothing says how far either side extends.
    #[test]
    fn an_estimate_without_data_is_unknown() {
        let cells = [cell(None, Some(2.0), 3.0), cell(Some(2.0), None, 4.0)];
        let shape = NumberShape::of(&cells, NOTHING, true).unwrap();
        assert!(shape.between(2.0, f64::INFINITY).0.is_nan() && shape.between(f64::NEG_INFINITY, 2.0).0.is_nan());
        let shape = NumberShape::of(&cells, ValueLimits { low: Some(0.0), high: Some(10.0) }, true).unwrap();
        close(shape.between(2.0, 10.0).1, 6.0);
    }

    /// By its definition: bin by bin, what each cell has of its rows there.
    #[test]
    fn rows_are_spread_evenly_over_cells_that_overlap() {
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
            let masses = masses(&cells, &edges, [f64::INFINITY; 2]);
            // All bins have the length 1, those beyond the ends included.
            let covers = |cell: &CountedCell, bin: usize| {
                let (from, to) = (bin as f64 - 1.0, bin as f64);
                cell.low.is_none_or(|low| low <= from && bin > 0) && cell.high.is_none_or(|high| to <= high && bin < 13)
            };
            cells.retain(|cell| cell.low.is_some() || cell.high.is_some());
            let rows: f64 = cells.iter().map(|cell| cell.rows).sum();
            let mut expected = vec![0.0; 14];
            for cell in &cells {
                let covered: Vec<usize> = (0..14).filter(|bin| covers(cell, *bin)).collect();
                covered.iter().for_each(|bin| expected[*bin] += cell.rows / covered.len() as f64 / rows);
            }
            masses.iter().zip(&expected).for_each(|(found, expected)| close(*found, *expected));
        }
    }

    /// The youngest are in cells that overlap with those of others and are open below, as classes
    /// of neighbors are. The overlap does not draw them all to itself.
    #[test]
    fn the_end_of_the_axis_is_not_left_empty() {
        let cells = [
            cell(None, Some(26.0), 40.0),
            cell(None, Some(30.0), 40.0),
            cell(Some(20.0), Some(30.0), 40.0),
            cell(Some(22.0), Some(34.0), 40.0),
            cell(Some(24.0), Some(40.0), 40.0),
            cell(Some(34.0), None, 40.0),
        ];
        let shape = NumberShape::of(&cells, NOTHING, true).unwrap();
        // A class at least lies below every end that is stated.
        let below = shape.between(f64::NEG_INFINITY, 20.0).0;
        assert!(below > 0.08, "{below}");
        let all = shape.between(f64::NEG_INFINITY, f64::INFINITY).0;
        close(all, 1.0);
        // Cells that cover everything change nothing.
        let with_all = [cells.as_slice(), &[cell(None, None, 500.0)]].concat();
        assert_eq!(NumberShape::of(&with_all, NOTHING, true).unwrap(), shape);
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
