//! `method = "mondrian"`: a part is cut at its median along the attribute on which its people lie
//! farthest apart, and so on until no cut leaves classes that keep every rule.
//!
//! LeFevre, DeWitt, Ramakrishnan: *Mondrian multidimensional k-anonymity*, 2006. What is decided is
//! in `decide.rs`; here the numbers are found that it decides by. Extents are inherited from the
//! part above and counted only for the attribute that seems the widest: mostly one count and one
//! move for each part, O(n log n) in all.
//!
//! With a guarantee that does not survive merging, a part could be cut although one of its children
//! fails, if theirs did not; such cuts are given up, and so is everything when the whole table
//! fails. Every class that is made was judged.

use std::cmp::Ordering;

use hedgerow_table::frequency::KeyField;

use super::partition::{Class, Divide, Fields, Packed, PackedKey, Pile, RegionRows, Scratch, move_apart, move_left};
use super::rules::Rules;
use hedgerow_cuts::decide::{self, Cut, Median};
use hedgerow_cuts::{Axis, Shape, Span};

#[derive(Debug)]
pub struct Mondrian<'a> {
    pub axes: &'a [Axis],
    pub fields: &'a Fields,
    pub rules: &'a Rules<'a>,
    /// How much the cells of each attribute count.
    pub weights: &'a [f64],
    pub strict: bool,
    /// Cells are described by the values inside, not by the cuts around them.
    pub tight: bool,
}

impl<const W: usize> Divide<W> for Mondrian<'_> {
    fn divide(
        &self,
        keys: &mut [PackedKey<W>],
        part: &RegionRows<W>,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        self.divide_pile(keys, part, scratch)
    }

    fn finish(&self, keys: &[PackedKey<W>], part: &RegionRows<W>) -> Class<W> {
        finish(self.axes, self.fields, self.tight, keys, part)
    }
}

/// Nodes of a tree are narrowed to the lowest one over the rows, sets of categories to those that
/// occur; intervals stay as they were cut, unless tight ones are required.
pub(super) fn finish<const W: usize, P: Packed<W>>(
    axes: &[Axis],
    fields: &Fields,
    tight: bool,
    keys: &[P],
    part: &RegionRows<W>,
) -> Class<W> {
    let mut class = Class { rows: part.rows as u32, low: part.low, high: part.high };
    for (axis, &field) in axes.iter().zip(&fields.judged) {
        let region = part.region(field);
        if region.first == region.last || !axis.is_narrowed(tight) {
            continue;
        }
        let ranks = keys.iter().map(|packed| field.get(packed.key()));
        let people = ranks.fold((u32::MAX, 0), |(first, last), rank| (first.min(rank), last.max(rank)));
        let cell = axis.cell(Span::new(people.0, people.1));
        field.set(&mut class.low, cell.first);
        field.set(&mut class.high, cell.last);
    }
    class
}

/// From the lowest to the highest value that occurs.
pub(super) fn found(values: &[(u32, u32)]) -> Span {
    Span::new(values.first().map_or(0, |value| value.0), values.last().map_or(0, |value| value.0))
}

impl Mondrian<'_> {
    /// Divides a part in place: the children's rows lie one after the other. `None` when it stays
    /// whole.
    pub(super) fn divide_pile<const W: usize, P: Pile<W> + ?Sized>(
        &self,
        pile: &mut P,
        part: &RegionRows<W>,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        if !decide::can_divide(part.rows as u64, self.rules.minimum()) {
            return None;
        }
        scratch.extents.clone_from(&part.extents);
        let (mut tried, mut counted) = (vec![false; self.axes.len()], vec![false; self.axes.len()]);
        loop {
            let Scratch { extents, weighted, .. } = &mut *scratch;
            weighted.clear();
            weighted.extend(extents.iter().zip(self.weights).map(|(extent, weight)| extent * weight));
            let attribute = decide::widest(weighted, &tried)?;
            let (axis, field) = (&self.axes[attribute], self.fields.judged[attribute]);
            if !counted[attribute] {
                counted[attribute] = true;
                scratch.count(pile.packed(), field, part.region(field), attribute);
                scratch.extents[attribute] = axis.extent(found(&scratch.values[attribute]));
                continue;
            }
            tried[attribute] = true;
            if let Some(children) = self.cut(pile, part, attribute, scratch) {
                return Some(children);
            }
        }
    }

    fn cut<const W: usize, P: Pile<W> + ?Sized>(
        &self,
        pile: &mut P,
        part: &RegionRows<W>,
        attribute: usize,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        let (axis, minimum) = (&self.axes[attribute], self.rules.minimum());
        let values = &scratch.values[attribute];
        let people = found(values);
        if let Some(node) = axis.node(people) {
            let children = rows_in(&node.children, values);
            let sizes: Vec<u64> = children.iter().map(|&(_, rows)| rows).collect();
            return decide::enough_in_children(&sizes, minimum)
                .then(|| self.cut_apart(pile, part, attribute, &children, scratch))?;
        }
        let field = self.fields.judged[attribute];
        if let Shape::Line(line) = axis.shape()
            && people.last == line.present()
        {
            // Only a cut that leaves no missing value among the numbers can be described by
            // numbers.
            let missing = values.last().map_or(0, |value| u64::from(value.1));
            let present = part.rows as u64 - missing;
            let allowed = decide::enough_in_children(&[present, missing], minimum) && present > 0;
            let cut = Cut::Before(line.present());
            return allowed.then(|| self.cut_in_two(pile, part, attribute, field, cut, scratch))?;
        }
        let cuts = decide::cuts_at(Median::of(values)?, self.strict, minimum);
        cuts.into_iter().find_map(|cut| self.cut_in_two(pile, part, attribute, field, cut, scratch))
    }

    fn cut_in_two<const W: usize, P: Pile<W> + ?Sized>(
        &self,
        pile: &mut P,
        part: &RegionRows<W>,
        attribute: usize,
        field: KeyField,
        cut: Cut,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        let axis = &self.axes[attribute];
        let people = found(&scratch.values[attribute]);
        let region = axis.clipped(part.region(field), people);
        let (left_last, right_first, left) = match cut {
            Cut::Before(rank) => (rank - 1, rank, move_left(pile.packed_mut(), |key| field.get(key) < rank)),
            Cut::Through { rank, left } => {
                let keys = pile.packed_mut();
                let below = move_left(keys, |key| field.get(key) < rank);
                // Those at the median come next; as many of them as are needed stay on the left.
                // Who stays is settled by all their values and not by where they stood, so that
                // custodians who never see each other's rows settle it alike.
                let at = move_left(&mut keys[below..], |key| field.get(key) == rank);
                let need = left - P::Packed::rows(&keys[..below]);
                let by_values = |a: &PackedKey<W>, b: &PackedKey<W>| {
                    let orders = self.fields.judged.iter().map(|field| field.get(a).cmp(&field.get(b)));
                    orders.fold(Ordering::Equal, Ordering::then).then_with(|| a.cmp(b))
                };
                (rank, rank, below + pile.move_least(below..below + at, need, by_values))
            }
        };
        let (left_keys, right_keys) = pile.packed().split_at(left);
        if !self.rules.hold(left_keys, scratch) || !self.rules.hold(right_keys, scratch) {
            return None;
        }
        let left = P::Packed::rows(left_keys) as usize;
        let side = |span: Span, within: Span, rows: usize| {
            let extent = axis.extent(Span::new(within.first.min(within.last), within.last));
            part.within(&scratch.extents, attribute, field, span, extent, rows)
        };
        Some(vec![
            side(Span::new(region.first, left_last), Span::new(people.first, left_last), left),
            side(Span::new(right_first, region.last), Span::new(right_first, people.last), part.rows - left),
        ])
    }

    /// Into the children that are not empty.
    fn cut_apart<const W: usize, P: Pile<W> + ?Sized>(
        &self,
        pile: &mut P,
        part: &RegionRows<W>,
        attribute: usize,
        children: &[(Span, u64)],
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        let (axis, field) = (&self.axes[attribute], self.fields.judged[attribute]);
        move_apart(pile.packed_mut(), field, children);
        let mut rest = pile.packed();
        if !self.rules.by_size_alone() {
            for &(_, rows) in children {
                let (child, after) = rest.split_at(P::Packed::holding(rest, rows));
                if !self.rules.hold(child, scratch) {
                    return None;
                }
                rest = after;
            }
        }
        let child = |&(span, rows): &(Span, u64)| {
            part.within(&scratch.extents, attribute, field, span, axis.extent(span), rows as usize)
        };
        Some(children.iter().map(child).collect())
    }
}

/// The children that are not empty, and how many.
pub(super) fn rows_in(children: &[Span], values: &[(u32, u32)]) -> Vec<(Span, u64)> {
    let mut filled: Vec<(Span, u64)> = Vec::with_capacity(children.len().min(values.len()));
    let mut children = children.iter();
    for &(rank, count) in values {
        match filled.last_mut() {
            Some((child, rows)) if child.last >= rank => *rows += u64::from(count),
            _ => {
                let child = children.find(|child| child.last >= rank).expect("children cover their node");
                filled.push((*child, u64::from(count)));
            }
        }
    }
    filled
}
