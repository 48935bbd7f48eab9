//! `method = "best-cut"`: of all cuts along all attributes, the one that wins the most for what it
//! spends.
//!
//! A part of n people can be divided until classes have k: each of them has log2(n/k) bits of
//! anonymity to spend. A cut into sides of n₁ and n₂ spends n₁·log2(n/n₁) + n₂·log2(n/n₂) of them,
//! and wins what the `ncp` of all their cells falls by. The cut with the best ratio is made,
//! wherever it lies: a tail is cut off early, because all others gain from the shorter range and
//! few bits are spent on it. Mondrian spends a whole bit for each cut at a median, whatever it
//! wins.
//!
//! Hierarchies are cut into their children, or one child is taken out; children too small for a
//! class, or in which a rule breaks, stay together under their node. So one class may lie in the
//! region of another, as with relaxed cuts.
//!
//! Cost: every part counts each attribute once. A cut leaves at least one in [`SIDE_SHARE_MIN`] on
//! each side of a large part, so that uneven cuts cannot follow one another for long: O(n log n) in
//! all for a fixed number of attributes.

use hedgerow_table::frequency::KeyField;

use super::mondrian::{finish, found, rows_in};
use super::partition::{Class, Divide, Fields, PackedKey, RegionRows, Scratch, move_apart, move_left};
use super::rules::Rules;
use hedgerow_cuts::decide;
use hedgerow_cuts::{Axis, Shape, Span};

/// Of more people than [`SMALL_ROWS_MAX`], a side has at least this share.
const SIDE_SHARE_MIN: u64 = 64;
const SMALL_ROWS_MAX: u64 = 2048;

/// Cuts of one attribute that are tried before others, where rules can refuse them.
const TRIED: usize = 6;

#[derive(Debug)]
pub struct BestCut<'a> {
    pub axes: &'a [Axis],
    pub fields: &'a Fields,
    pub rules: &'a Rules<'a>,
    /// How much the cells of each attribute count.
    pub weights: &'a [f64],
    pub tight: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    score: f64,
    attribute: usize,
    cut: AxisCut,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum AxisCut {
    /// Values from this rank on go to the right.
    Before(u32),
    /// Into the children of a node.
    Apart,
    /// One child, and the others under their node.
    Out(Span),
}

impl<const W: usize> Divide<W> for BestCut<'_> {
    fn divide(
        &self,
        keys: &mut [PackedKey<W>],
        part: &RegionRows<W>,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        if !decide::can_divide(keys.len() as u64, self.rules.minimum()) {
            return None;
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        scratch.extents.clone_from(&part.extents);
        for attribute in (0..self.axes.len()).filter(|&attribute| part.extents[attribute] > 0.0) {
            let field = self.fields.judged[attribute];
            scratch.count(keys, field, part.region(field), attribute);
            scratch.extents[attribute] = self.axes[attribute].extent(found(&scratch.values[attribute]));
            if scratch.extents[attribute] > 0.0 {
                self.weigh(
                    attribute,
                    part.region(field),
                    keys.len() as u64,
                    &scratch.values[attribute],
                    &mut candidates,
                );
            }
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        candidates.into_iter().find_map(|candidate| {
            let Candidate { attribute, cut, .. } = candidate;
            let field = self.fields.judged[attribute];
            match cut {
                AxisCut::Before(rank) => self.cut_in_two(keys, part, attribute, field, rank, scratch),
                AxisCut::Apart => self.cut_apart(keys, part, attribute, None, scratch),
                AxisCut::Out(child) => self.cut_apart(keys, part, attribute, Some(child), scratch),
            }
        })
    }

    fn finish(&self, keys: &[PackedKey<W>], part: &RegionRows<W>) -> Class<W> {
        finish(self.axes, self.fields, self.tight, keys, part)
    }
}

/// The gain of an attribute's cells by a cut, for each bit of anonymity that it spends.
fn score(rows: u64, weight: f64, sides: impl Iterator<Item = (u64, f64)>) -> f64 {
    let bits = |rows: u64| rows as f64 * (rows as f64).log2();
    let (mut won, mut spent) = (rows as f64 * weight, bits(rows));
    for (rows, weight) in sides {
        won -= rows as f64 * weight;
        spent -= bits(rows);
    }
    if won > 0.0 { won / spent.max(f64::MIN_POSITIVE) } else { 0.0 }
}

impl BestCut<'_> {
    /// The fewest rows that a side of a cut may have.
    fn least(&self, rows: u64) -> u64 {
        let share = if rows > SMALL_ROWS_MAX { rows / SIDE_SHARE_MIN } else { 0 };
        self.rules.minimum().max(share)
    }

    /// Adds the best cuts of one attribute to the candidates.
    fn weigh(&self, attribute: usize, region: Span, rows: u64, values: &[(u32, u32)], candidates: &mut Vec<Candidate>) {
        let axis = &self.axes[attribute];
        let mut own: Vec<Candidate> = Vec::new();
        let mut add = |score: f64, cut: AxisCut| {
            if score > 0.0 {
                own.push(Candidate { score: score * self.weights[attribute], attribute, cut });
            }
        };
        if let Some(node) = axis.node(found(values)) {
            self.weigh_children(axis, node.span, &rows_in(&node.children, values), rows, values, &mut add);
        } else if let Shape::Line(line) = axis.shape()
            && found(values).last == line.present()
        {
            let missing = values.last().map_or(0, |value| u64::from(value.1));
            if missing.min(rows - missing) >= self.rules.minimum() {
                // Nothing else can be cut before; half is a guess at what the others then win.
                let sides = [(missing, 0.0), (rows - missing, 0.5)];
                add(score(rows, 1.0, sides.into_iter()), AxisCut::Before(line.present()));
            }
        } else {
            self.weigh_between(axis, region, rows, values, &mut add);
        }
        own.sort_by(|a, b| b.score.total_cmp(&a.score));
        own.truncate(if self.rules.by_size_alone() { 1 } else { TRIED });
        candidates.extend(own);
    }

    /// All cuts between two values that occur. The gap goes to the side with fewer people.
    fn weigh_between(
        &self,
        axis: &Axis,
        region: Span,
        rows: u64,
        values: &[(u32, u32)],
        add: &mut impl FnMut(f64, AxisCut),
    ) {
        let (weight, least) = (axis.weight(region), self.least(rows));
        let region = axis.clipped(region, found(values));
        let mut left = 0;
        for pair in values.windows(2) {
            left += u64::from(pair[0].1);
            if left < least || rows - left < least {
                continue;
            }
            let rank = if 2 * left > rows { pair[0].0 + 1 } else { pair[1].0 };
            let sides = [
                (left, axis.weight(Span::new(region.first, rank - 1))),
                (rows - left, axis.weight(Span::new(rank, region.last))),
            ];
            add(score(rows, weight, sides.into_iter()), AxisCut::Before(rank));
        }
    }

    fn weigh_children(
        &self,
        axis: &Axis,
        node: Span,
        children: &[(Span, u64)],
        rows: u64,
        values: &[(u32, u32)],
        add: &mut impl FnMut(f64, AxisCut),
    ) {
        let weight = axis.weight(node);
        let least = self.least(rows);
        let mut sides: Vec<(u64, f64)> = Vec::with_capacity(children.len());
        let mut rest = 0;
        for &(child, size) in children {
            let cell = axis.weight(axis.cell(people_in(child, values)));
            if size < self.rules.minimum() {
                rest += size;
                continue;
            }
            sides.push((size, cell));
            if children.len() > 2 && size >= least && rows - size >= least {
                add(score(rows, weight, [(size, cell), (rows - size, weight)].into_iter()), AxisCut::Out(child));
            }
        }
        if rest > 0 {
            // The smallest join those that are too few.
            sides.sort_by_key(|&(size, _)| std::cmp::Reverse(size));
            while rest < self.rules.minimum() {
                let Some((size, _)) = sides.pop() else { return };
                rest += size;
            }
            sides.push((rest, weight));
        }
        if sides.len() > 1 {
            add(score(rows, weight, sides.into_iter()), AxisCut::Apart);
        }
    }

    fn cut_in_two<const W: usize>(
        &self,
        keys: &mut [PackedKey<W>],
        part: &RegionRows<W>,
        attribute: usize,
        field: KeyField,
        rank: u32,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        let (axis, people) = (&self.axes[attribute], found(&scratch.values[attribute]));
        let region = axis.clipped(part.region(field), people);
        let left = move_left(keys, |key| field.get(key) < rank);
        let (left_keys, right_keys) = keys.split_at(left);
        if !self.rules.hold(left_keys, scratch) || !self.rules.hold(right_keys, scratch) {
            return None;
        }
        let side = |region: Span, people: Span, rows: usize| {
            part.within(&scratch.extents, attribute, field, region, axis.extent(people), rows)
        };
        Some(vec![
            side(Span::new(region.first, rank - 1), Span::new(people.first, rank - 1), left),
            side(Span::new(rank, region.last), Span::new(rank.min(people.last), people.last), keys.len() - left),
        ])
    }

    /// Into children; the rest, if any, comes first and stays under the node. With `only`, all
    /// others are the rest.
    fn cut_apart<const W: usize>(
        &self,
        keys: &mut [PackedKey<W>],
        part: &RegionRows<W>,
        attribute: usize,
        only: Option<Span>,
        scratch: &mut Scratch,
    ) -> Option<Vec<RegionRows<W>>> {
        let (axis, field) = (&self.axes[attribute], self.fields.judged[attribute]);
        let node = axis.node(found(&scratch.values[attribute]))?;
        let children = rows_in(&node.children, &scratch.values[attribute]);
        move_apart(keys, field, &children);
        let mut alone: Vec<bool> = Vec::with_capacity(children.len());
        let mut rest = &*keys;
        for &(child, rows) in &children {
            let (of_child, after) = rest.split_at(rows as usize);
            alone.push(only.is_none_or(|only| only == child) && self.rules.hold(of_child, scratch));
            rest = after;
        }
        let mut smallest: Vec<usize> = (0..children.len()).filter(|&index| alone[index]).collect();
        smallest.sort_by_key(|&index| std::cmp::Reverse(children[index].1));
        let left = loop {
            if smallest.is_empty() {
                return None;
            }
            if alone.iter().all(|&alone| alone) {
                break 0;
            }
            let child_of = |key: &PackedKey<W>| {
                let rank = field.get(key);
                children.partition_point(|(child, _)| child.last < rank)
            };
            let left = move_left(keys, |key| !alone[child_of(key)]);
            if self.rules.hold(&keys[..left], scratch) {
                break left;
            }
            alone[smallest.pop()?] = false;
        };
        let own: Vec<(Span, u64)> =
            children.iter().zip(&alone).filter(|(_, alone)| **alone).map(|(child, _)| *child).collect();
        if own.len() + usize::from(left > 0) < 2 {
            return None;
        }
        move_apart(&mut keys[left..], field, &own);
        let stays = (left > 0)
            .then(|| part.within(&scratch.extents, attribute, field, node.span, axis.extent(node.span), left));
        let own = own.into_iter().map(|(child, rows)| {
            let people = people_in(child, &scratch.values[attribute]);
            part.within(&scratch.extents, attribute, field, child, axis.extent(people), rows as usize)
        });
        Some(stays.into_iter().chain(own).collect())
    }
}

/// From the lowest to the highest value that occurs in a span.
fn people_in(span: Span, values: &[(u32, u32)]) -> Span {
    let from = values.partition_point(|value| value.0 < span.first);
    let to = values.partition_point(|value| value.0 <= span.last);
    found(&values[from..to])
}
