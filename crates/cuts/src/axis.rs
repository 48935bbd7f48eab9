//! How an attribute can be cut: the values of a column in an order in which every part that a cut
//! may make is a span.
//!
//! - Numbers and dates lie on a **line**, whatever hierarchy they have. The missing value lies
//!   behind the last one and is cut off before any other cut is made, since no interval can hold
//!   it.
//! - Categories with a hierarchy are ordered along it, so that every node of the **tree** is a
//!   span; a node is cut into its children, all at once.
//! - Categories without one are cut by an **order**: the one that the policy declares, else the
//!   most frequent value first, so that frequent values keep detail and rare ones are united. The
//!   missing value is a value like the others.
//!
//! A position in that order is a *rank*. The rows of the table carry ranks in place of codes, and a
//! region is a span of ranks for every attribute.

use std::cmp::Reverse;

use hedgerow_table::date::Date;
use hedgerow_table::{Domain, Hierarchy, Kind, Values, hierarchy::Bound};

use crate::interval_share;

/// The ranks of a part of an attribute, both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub first: u32,
    pub last: u32,
}

impl Span {
    pub fn new(first: u32, last: u32) -> Span {
        Span { first, last }
    }

    pub fn ranks(self) -> usize {
        (self.last - self.first) as usize + 1
    }
}

#[derive(Debug, Clone)]
pub struct Axis {
    /// From codes to ranks; `None` when they are the same.
    ranks: Option<Vec<u32>>,
    /// From ranks to codes; empty when they are the same.
    codes: Vec<u32>,
    size: u32,
    shape: Shape,
}

#[derive(Debug, Clone)]
pub enum Shape {
    Line(NumberLine),
    Order,
    Tree(Vec<HierarchyNode>),
}

/// Numbers or dates. A region between two cuts reaches from the one to the other, whether or not
/// a value occurs in it.
#[derive(Debug, Clone)]
pub struct NumberLine {
    /// How many values are present; the missing one, if any, has this rank.
    present: u32,
    /// By rank of a present value: its place between the lowest (0) and the highest (1).
    places: Vec<f64>,
    /// By rank of a present value: the cut before it; the first is never used.
    cuts: Vec<Bound>,
    /// By rank, how much of the axis lies before a region that begins there, and before the end of
    /// one that ends there.
    starts: Vec<f64>,
    ends: Vec<f64>,
}

/// A node of a hierarchy under which more than one value occurs; the first is the root.
#[derive(Debug, Clone)]
pub struct HierarchyNode {
    pub span: Span,
    /// The lowest level on which all values under it share a label.
    pub level: usize,
    /// The place of the node above it; the root's is its own.
    parent: usize,
    /// The spans of its children, in order.
    pub children: Vec<Span>,
}

impl Axis {
    /// `in_tree` says whether a category is cut along its hierarchy; `order` has the codes of a
    /// category that is not, in the order in which it is cut.
    pub fn new(domain: &Domain, hierarchy: &Hierarchy, in_tree: bool, order: impl FnOnce() -> Vec<u32>) -> Axis {
        let size = domain.cardinality() as u32;
        match domain.kind() {
            Kind::Category if in_tree && size > 1 => {
                let (codes, nodes) = grow(hierarchy, size);
                Axis { ranks: Some(ranks_of(&codes)), codes, size, shape: Shape::Tree(nodes) }
            }
            Kind::Category => {
                let codes = order();
                debug_assert_eq!(codes.len(), size as usize);
                Axis { ranks: Some(ranks_of(&codes)), codes, size, shape: Shape::Order }
            }
            _ => Axis { ranks: None, codes: Vec::new(), size, shape: Shape::Line(NumberLine::new(domain)) },
        }
    }

    /// Whether the region of a class is narrowed to the rows inside. A node of a tree and a set of
    /// categories have no ends that could identify an individual; an interval has, and keeps its
    /// cuts unless tight cells are required.
    pub fn is_narrowed(&self, tight: bool) -> bool {
        tight || !matches!(self.shape, Shape::Line(_))
    }

    /// How many ranks there are.
    pub fn size(&self) -> u32 {
        self.size
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub fn whole(&self) -> Span {
        Span::new(0, self.size.saturating_sub(1))
    }

    pub fn ranks(&self) -> Option<&[u32]> {
        self.ranks.as_deref()
    }

    pub fn code(&self, rank: u32) -> u32 {
        self.codes.get(rank as usize).copied().unwrap_or(rank)
    }

    /// How far people from `first` to `last` lie apart, as a share of the whole: never more for
    /// some of them than for all. Where a missing value is among numbers nothing is known of them,
    /// so that counts as the whole.
    pub fn extent(&self, found: Span) -> f64 {
        let Span { first, last } = found;
        if first == last {
            return 0.0;
        }
        match &self.shape {
            Shape::Line(line) if last >= line.present => 1.0,
            // Two large integers can share their nearest float; they still differ.
            Shape::Line(line) => (line.places[last as usize] - line.places[first as usize]).max(f64::MIN_POSITIVE),
            Shape::Order => found.ranks() as f64 / f64::from(self.size),
            Shape::Tree(_) => self.cell(found).ranks() as f64 / f64::from(self.size),
        }
    }

    /// The same where no row has the value at a rank, such as a missing value that was declared and
    /// does not occur: it does not count, as if the domain did not have it.
    pub fn extent_without(&self, found: Span, absent: Option<u32>) -> f64 {
        let Some(absent) = absent.filter(|_| !matches!(self.shape, Shape::Line(_)) && self.size > 1) else {
            return self.extent(found);
        };
        if found.first == found.last {
            return 0.0;
        }
        let span = if matches!(self.shape, Shape::Tree(_)) { self.cell(found) } else { found };
        let counted = span.ranks() - usize::from((span.first..=span.last).contains(&absent));
        counted as f64 / f64::from(self.size - 1)
    }

    /// A region as it is cut: the missing value of a line goes to neither side when no row lacks
    /// theirs.
    pub fn clipped(&self, region: Span, people: Span) -> Span {
        match &self.shape {
            Shape::Line(line) if people.last < line.present => {
                Span::new(region.first, region.last.min(line.present - 1))
            }
            _ => region,
        }
    }

    /// The least region of the attribute's own kind over a span: the lowest node of a tree, else
    /// the span itself.
    pub fn cell(&self, found: Span) -> Span {
        if found.first == found.last {
            return found;
        }
        self.node(found).map_or(found, |node| node.span)
    }

    /// The lowest node of a tree over several ranks; `None` on other axes.
    pub fn node(&self, found: Span) -> Option<&HierarchyNode> {
        let Shape::Tree(nodes) = &self.shape else { return None };
        // Nodes stand in the order of their first rank, the wider before the narrower. All that
        // begin after the one looked for and not after `first` lie under it, so the way up from the
        // last of them leads to it.
        let mut node = &nodes[nodes.partition_point(|node| node.span.first <= found.first) - 1];
        while node.span.last < found.last {
            node = &nodes[node.parent];
        }
        Some(node)
    }

    /// The cost in `ncp` of a cell that covers this region: see the contract's definition in
    /// `loss.rs`.
    pub fn weight(&self, region: Span) -> f64 {
        match &self.shape {
            Shape::Line(line) => line.weight(region),
            _ if region.first == region.last => 0.0,
            _ => region.ranks() as f64 / f64::from(self.size),
        }
    }
}

impl NumberLine {
    fn new(domain: &Domain) -> NumberLine {
        let present = domain.present() as u32;
        let number = |rank: u32| domain.number(rank).unwrap_or(0.0);
        let ends = (number(0), number(present.saturating_sub(1)));
        let place = |rank| if ends.1 > ends.0 { (number(rank) - ends.0) / (ends.1 - ends.0) } else { 0.0 };
        let cuts: Vec<Bound> = (0..present as usize).map(|rank| cut_before(domain, rank)).collect();
        let before = |rank: u32| if rank == 0 { None } else { cuts.get(rank as usize).copied() };
        let share = |low, high| interval_share(domain, domain.kind(), low, high);
        NumberLine {
            present,
            places: (0..present).map(place).collect(),
            starts: (0..present).map(|rank| 1.0 - share(before(rank), None)).collect(),
            ends: (0..present).map(|rank| share(None, before(rank + 1))).collect(),
            cuts,
        }
    }

    pub fn present(&self) -> u32 {
        self.present
    }

    /// The bounds of a region without the missing value: open at the ends of the axis.
    pub fn bounds(&self, region: Span) -> (Option<Bound>, Option<Bound>) {
        let low = (region.first > 0).then(|| self.cuts[region.first as usize]);
        (low, self.cuts.get(region.last as usize + 1).copied())
    }

    fn weight(&self, region: Span) -> f64 {
        if region.first >= self.present || (region.last < self.present && self.present == 1) {
            return 0.0;
        }
        if region.last >= self.present || region.ranks() == self.present as usize {
            return 1.0;
        }
        (self.ends[region.last as usize] - self.starts[region.first as usize]).max(0.0)
    }
}

/// The roundest point above one value and not above the next: a cut discloses as little as it can
/// about the values, and reads well.
fn cut_before(domain: &Domain, rank: usize) -> Bound {
    let below = rank.saturating_sub(1);
    match domain.values() {
        Values::Integer(values) => Bound::Integer(round_integer(values[below], values[rank])),
        Values::Float(values) => Bound::Float(round_float(values[below], values[rank])),
        Values::Date(values) => Bound::Date(round_date(values[below], values[rank])),
        Values::Category(_) => unreachable!("a category lies on no line"),
    }
}

fn round_integer(below: i64, value: i64) -> i64 {
    let (mut best, mut step) = (value, 10i64);
    loop {
        let candidate = i128::from(value).div_euclid(i128::from(step)) * i128::from(step);
        if candidate <= i128::from(below) {
            return best;
        }
        best = candidate as i64;
        let Some(next) = step.checked_mul(10) else { return best };
        step = next;
    }
}

/// In decimals of the size of the gap, so that there is one in it.
fn round_float(below: f64, value: f64) -> f64 {
    let size = (value - below).log10().floor();
    if !(-300.0..=300.0).contains(&size) {
        return value;
    }
    let candidate = if size < 0.0 {
        let times = 10f64.powf(-size);
        (value * times).floor() / times
    } else {
        let step = 10f64.powf(size);
        (value / step).floor() * step
    };
    if below < candidate && candidate <= value { candidate + 0.0 } else { value }
}

/// The first day of the year or the month, where it lies between.
fn round_date(below: Date, value: Date) -> Date {
    let (year, month, _) = value.ymd();
    let candidates = [Date::from_ymd(year, 1, 1), Date::from_ymd(year, month, 1)];
    candidates.into_iter().flatten().find(|date| *date > below).unwrap_or(value)
}

fn ranks_of(codes: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0u32; codes.len()];
    for (rank, &code) in (0u32..).zip(codes) {
        ranks[code as usize] = rank;
    }
    ranks
}

/// Orders the codes along a hierarchy and finds its nodes.
fn grow(hierarchy: &Hierarchy, size: u32) -> (Vec<u32>, Vec<HierarchyNode>) {
    let levels = hierarchy.levels();
    let label = |level: usize, code: u32| levels[level].map[code as usize];
    let mut codes: Vec<u32> = (0..size).collect();
    codes.sort_by(|&a, &b| {
        let path = |code| (0..levels.len()).rev().map(move |level| label(level, code));
        path(a).cmp(path(b))
    });
    let mut nodes = Vec::new();
    let mut waiting = vec![Span::new(0, size - 1)];
    while let Some(span) = waiting.pop() {
        let under = &codes[span.first as usize..=span.last as usize];
        let (one, other) = (under[0], under[under.len() - 1]);
        // Codes are ordered along the hierarchy: the outermost two share a label only where all do.
        let level = (0..levels.len()).find(|&level| label(level, one) == label(level, other)).expect("one top");
        if level == 0 {
            continue;
        }
        let mut children: Vec<Span> = Vec::new();
        let mut rank = span.first;
        for siblings in under.chunk_by(|&a, &b| label(level - 1, a) == label(level - 1, b)) {
            children.push(Span::new(rank, rank + siblings.len() as u32 - 1));
            rank += siblings.len() as u32;
        }
        waiting.extend(&children);
        nodes.push(HierarchyNode { span, level, parent: 0, children });
    }
    nodes.sort_by_key(|node| (node.span.first, Reverse(node.span.last)));
    let mut above: Vec<usize> = Vec::new();
    for index in 0..nodes.len() {
        while above.last().is_some_and(|&parent| nodes[parent].span.last < nodes[index].span.first) {
            above.pop();
        }
        nodes[index].parent = above.last().copied().unwrap_or(index);
        above.push(index);
    }
    (codes, nodes)
}
