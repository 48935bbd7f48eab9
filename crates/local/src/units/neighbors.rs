//! `method = "cluster"` where rows belong to units: classes of units that are near in all their
//! rows, each place described by the values that occur in it.
//!
//! Units with the same number of rows are cut as `best-cut` would cut them, into pieces of bounded
//! size. In a piece a class grows from the first unit that is left, by the unit that widens its
//! cells the least, until it keeps every rule (Byun, Kamra, Bertino, Li 2007); what is left joins
//! the classes that it widens the least. Where cutting the piece on costs less, it is cut.

use hedgerow_cuts::{Axis, Shape, Span};
use hedgerow_policy::Summary;

use super::{Ordered, UnitRegions};
use crate::LocalRecoding;
use crate::cells::{AttributeCells, cells};
use crate::cluster::ends::Ends;
use crate::set_cells::set_cells;

/// A piece has at most this many units, or this multiple of the fewest of a class.
const PIECE_UNITS: usize = 64;
const CLASSES_OF_PIECE: usize = 8;

/// The values of a class's units in one place of one attribute.
#[derive(Debug, Clone)]
struct Extent {
    span: Span,
    /// Distinct ranks, ascending, where cells are sets.
    values: Vec<u32>,
}

impl Ordered<'_> {
    pub(super) fn piece_units(&self) -> usize {
        PIECE_UNITS.max(CLASSES_OF_PIECE * self.strict_minimum as usize)
    }

    /// A part as classes of near units, or as cuts divide it where that costs less.
    pub(super) fn classes_of_neighbors(&self, part: UnitRegions) -> Vec<UnitRegions> {
        let mut cut: Vec<UnitRegions> = Vec::new();
        let mut open = vec![part.clone()];
        while let Some(part) = open.pop() {
            match self.cut(&part) {
                Some(children) => open.extend(children),
                None => cut.push(part),
            }
        }
        let cost = |classes: &[Vec<u32>]| classes.iter().map(|class| self.class_cost(class)).sum::<f64>();
        let of_cuts: Vec<Vec<u32>> = cut.iter().map(|part| part.units.clone()).collect();
        match self.greedy(&part.units) {
            Some(classes) if cost(&classes) < cost(&of_cuts) => {
                classes.into_iter().map(|units| UnitRegions { units, regions: part.regions.clone() }).collect()
            }
            _ => cut,
        }
    }

    /// `None` where some unit finds no class that it leaves intact.
    fn greedy(&self, units: &[u32]) -> Option<Vec<Vec<u32>>> {
        let mut left = units.to_vec();
        let ranks =
            |unit: &u32| -> Vec<u32> { self.rows[*unit as usize].iter().flat_map(|&row| self.ranks_of(row)).collect() };
        left.sort_by_cached_key(|unit| (ranks(unit), *unit));
        let mut classes: Vec<(Vec<u32>, Vec<Extent>)> = Vec::new();
        while left.len() as u64 >= self.strict_minimum.max(1) && !left.is_empty() {
            let mut class = vec![left.remove(0)];
            let mut extents = self.extents(&class);
            while (class.len() as u64) < self.strict_minimum || !self.holds(&class) {
                let nearest = (0..left.len()).min_by(|&a, &b| {
                    self.widened(&extents, left[a]).total_cmp(&self.widened(&extents, left[b])).then(a.cmp(&b))
                });
                let Some(nearest) = nearest else {
                    left = std::mem::take(&mut class);
                    break;
                };
                let unit = left.remove(nearest);
                self.widen(&mut extents, unit);
                class.push(unit);
            }
            if class.is_empty() {
                break;
            }
            classes.push((class, extents));
        }
        for unit in left {
            let mut order: Vec<(f64, usize)> = classes
                .iter()
                .enumerate()
                .map(|(place, (class, extents))| {
                    let size = class.len() as f64;
                    let more = self.widened(extents, unit) * (size + 1.0) - self.cost_of(extents) * size;
                    (more, place)
                })
                .collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let joined = order.into_iter().find(|&(_, place)| {
                let mut class = classes[place].0.clone();
                class.push(unit);
                self.holds(&class)
            });
            let (class, extents) = &mut classes[joined?.1];
            class.push(unit);
            self.widen(extents, unit);
        }
        (!classes.is_empty()).then(|| classes.into_iter().map(|(class, _)| class).collect())
    }

    fn ranks_of(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        self.ranks.iter().map(move |ranks| ranks[row as usize])
    }

    /// Of some units, at least one; by place and attribute.
    fn extents(&self, units: &[u32]) -> Vec<Extent> {
        let rows = self.rows[units[0] as usize].iter();
        let mut extents: Vec<Extent> = rows
            .flat_map(|&row| self.ranks_of(row))
            .map(|rank| Extent { span: Span::new(rank, rank), values: vec![rank] })
            .collect();
        units[1..].iter().for_each(|&unit| self.widen(&mut extents, unit));
        extents
    }

    fn widen(&self, extents: &mut [Extent], unit: u32) {
        let rows = self.rows[unit as usize].iter();
        for (extent, rank) in extents.iter_mut().zip(rows.flat_map(|&row| self.ranks_of(row))) {
            extent.span = Span::new(extent.span.first.min(rank), extent.span.last.max(rank));
            if let Err(place) = extent.values.binary_search(&rank) {
                extent.values.insert(place, rank);
            }
        }
    }

    fn cost_of(&self, extents: &[Extent]) -> f64 {
        let cell = |(place, extent): (usize, &Extent)| {
            let attribute = place % self.axes.len();
            self.weights[attribute] * self.cell_cost(attribute, extent.span, extent.values.len())
        };
        extents.iter().enumerate().map(cell).sum()
    }

    /// The cost of a row of the class with one more unit in it.
    fn widened(&self, extents: &[Extent], unit: u32) -> f64 {
        let ranks = self.rows[unit as usize].iter().flat_map(|&row| self.ranks_of(row));
        let cell = |(place, (extent, rank)): (usize, (&Extent, u32))| {
            let attribute = place % self.axes.len();
            let span = Span::new(extent.span.first.min(rank), extent.span.last.max(rank));
            let values = extent.values.len() + usize::from(extent.values.binary_search(&rank).is_err());
            self.weights[attribute] * self.cell_cost(attribute, span, values)
        };
        extents.iter().zip(ranks).enumerate().map(cell).sum()
    }

    fn cell_cost(&self, attribute: usize, span: Span, values: usize) -> f64 {
        let axis = &self.axes[attribute];
        match axis.shape() {
            Shape::Order if !self.is_ordered(attribute) => match values {
                0 | 1 => 0.0,
                several => several as f64 / f64::from(axis.size()),
            },
            Shape::Line(line) if span.last >= line.present() && span.first < line.present() => 1.0,
            _ => axis.weight(axis.cell(span)),
        }
    }

    pub(super) fn class_cost(&self, units: &[u32]) -> f64 {
        if units.is_empty() { 0.0 } else { units.len() as f64 * self.cost_of(&self.extents(units)) }
    }

    /// Whether the policy declares an order of its texts.
    fn is_ordered(&self, attribute: usize) -> bool {
        self.bound.quasi[attribute].attribute.declared.order.is_some()
    }

    /// A class for every place of every part, described by what occurs in it.
    pub(super) fn recoding_of_neighbors(&self, parts: &[UnitRegions], rows: usize) -> LocalRecoding {
        let mut of_row = vec![0u32; rows];
        let mut sizes: Vec<u64> = Vec::new();
        for part in parts {
            for place in 0..part.regions.len() {
                for &unit in &part.units {
                    of_row[self.rows[unit as usize][place] as usize] = sizes.len() as u32;
                }
                sizes.push(part.units.len() as u64);
            }
        }
        let cells = (0..self.axes.len()).map(|attribute| self.cells_of(parts, attribute)).collect();
        LocalRecoding { of_row, pieces: None, sizes, cells }.with_equal_classes_merged()
    }

    fn cells_of(&self, parts: &[UnitRegions], attribute: usize) -> AttributeCells {
        let (axis, quasi) = (&self.axes[attribute], &self.bound.quasi[attribute]);
        let counts = self.bound.counts_of_quasi(attribute);
        let places = parts.iter().flat_map(|part| (0..part.regions.len()).map(move |place| (part, place)));
        if matches!(axis.shape(), Shape::Order) && !self.is_ordered(attribute) {
            let sets =
                places.map(|(part, place)| part.units.iter().map(move |&unit| self.rank(unit, place, attribute)));
            return set_cells(quasi, axis, counts, sets);
        }
        let tight = self.bound.policy.publish.summarise == Summary::Tight;
        let ends = match axis.shape() {
            Shape::Line(_) if !tight => self.ends(parts, axis, attribute),
            _ => None,
        };
        let region = |(part, place): (&UnitRegions, usize)| {
            let found = self.people(part, place, attribute);
            match axis.shape() {
                // No interval holds the missing value.
                Shape::Line(line) if found.last >= line.present() && found.first < line.present() => axis.whole(),
                Shape::Line(line) if found.last < line.present() => ends.map_or(found, |ends| ends.reached(found)),
                _ => axis.cell(found),
            }
        };
        cells(quasi, axis, counts, tight, places.map(region))
    }

    /// A bound has as many units beyond it as the smallest class: those with a lower row below it,
    /// those with a higher one above.
    fn ends(&self, parts: &[UnitRegions], axis: &Axis, attribute: usize) -> Option<Ends> {
        let Shape::Line(line) = axis.shape() else { return None };
        let fewest = parts.iter().map(|part| part.units.len() as u64).min().unwrap_or_default().max(2);
        let (mut lowest, mut highest) = (vec![0u64; axis.size() as usize], vec![0u64; axis.size() as usize]);
        for &unit in parts.iter().flat_map(|part| &part.units) {
            let ranks = self.rows[unit as usize].iter().map(|&row| self.ranks[attribute][row as usize]);
            let present = ranks.filter(|rank| *rank < line.present());
            let ends = present.fold(None, |ends: Option<(u32, u32)>, rank| {
                Some(ends.map_or((rank, rank), |(low, high)| (low.min(rank), high.max(rank))))
            });
            if let Some((low, high)) = ends {
                lowest[low as usize] += 1;
                highest[high as usize] += 1;
            }
        }
        Some(Ends::of_sides(line, &lowest, &highest, fewest))
    }
}
