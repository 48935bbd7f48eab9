//! From the regions of classes to released cells: a label for every region of an attribute, what
//! the codebook says that it covers, and what it costs.
//!
//! One label has one cover. Hierarchies may name things alike on several levels, and texts of
//! values may look like ranges: a label that is taken gets its level or a mark added.

use hashbrown::{HashMap, HashSet};
use hedgerow_draft::bind::Quasi;
use hedgerow_draft::declared_range::bounded;
use hedgerow_draft::generalized::public;
use hedgerow_release::NOT_MISSING;
use hedgerow_table::hierarchy::{Bound, interval_label};
use hedgerow_table::{Cover, Domain, Kind, Label, Values};

use hedgerow_cuts::{Axis, NumberLine, Shape, Span};

/// A set of more values names the most frequent ones and counts the others.
const NAMED_MAX: usize = 4;

/// The recoding of one attribute.
#[derive(Debug, Clone)]
pub struct AttributeCells {
    pub labels: Vec<Label>,
    /// The share of the attribute that a cell with this label hides, as `ncp` counts it.
    pub weights: Vec<f64>,
    /// For every label the ranks it covers; of a set, from the first to the last.
    pub regions: Vec<Span>,
    /// For every label what it covers of the source.
    pub covered: Vec<Covered>,
    /// Rows of every code of the column.
    pub counts: Vec<u64>,
    /// The label of every class.
    pub of_class: Vec<u32>,
    /// Whether every label is a value of the column.
    pub values_only: bool,
}

/// How many of the source's values a label covers, and how many rows have one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    pub values: u32,
    pub rows: u64,
}

/// `regions` has one region for every class, `counts` the rows of every code of the column.
pub fn cells(
    quasi: &Quasi<'_>,
    axis: &Axis,
    counts: &[u64],
    tight: bool,
    regions: impl Iterator<Item = Span>,
) -> AttributeCells {
    let mut numbers: HashMap<Span, u32> = HashMap::new();
    let mut found: Vec<Span> = Vec::new();
    let mut of_class: Vec<u32> = Vec::with_capacity(regions.size_hint().0);
    for region in regions {
        let number = *numbers.entry(region).or_insert_with(|| {
            found.push(region);
            found.len() as u32 - 1
        });
        of_class.push(number);
    }
    // In the order of the axis, so that numbers tell nothing of how classes were found.
    let mut order: Vec<u32> = (0..found.len() as u32).collect();
    order.sort_by_key(|&number| found[number as usize]);
    let mut place = vec![0u32; found.len()];
    for (new, &old) in (0u32..).zip(&order) {
        place[old as usize] = new;
    }
    of_class.iter_mut().for_each(|number| *number = place[*number as usize]);
    let regions: Vec<Span> = order.iter().map(|&number| found[number as usize]).collect();
    let teller = Teller { quasi, axis, tight };
    let mut before = vec![0u64];
    for rank in 0..axis.size() {
        before.push(before[rank as usize] + counts[axis.code(rank) as usize]);
    }
    let labels = teller.labels(&regions);
    let covered = |(region, label): (&Span, &Label)| {
        // As readers see it: with the missing value among numbers, or for all but the missing
        // value, the codebook has no words.
        let region = if label.cover == Cover::Everything { axis.whole() } else { *region };
        let rows = before[region.last as usize + 1] - before[region.first as usize];
        Covered { values: region.ranks() as u32, rows }
    };
    AttributeCells {
        covered: regions.iter().zip(&labels).map(covered).collect(),
        counts: counts.to_vec(),
        labels,
        weights: regions.iter().map(|&region| teller.weight(region)).collect(),
        values_only: regions.iter().all(|&region| teller.value(region).is_some() || teller.is_coarser_value(region)),
        regions,
        of_class,
    }
}

struct Teller<'a> {
    quasi: &'a Quasi<'a>,
    axis: &'a Axis,
    tight: bool,
}

impl Teller<'_> {
    fn domain(&self) -> &Domain {
        &self.quasi.column.domain
    }

    /// The code of the one value that a region is released as. A region between two cuts is a value
    /// only where no other value can lie there, or where the whole table has no other.
    fn value(&self, region: Span) -> Option<u32> {
        if let Shape::Line(line) = self.axis.shape() {
            let missing = region.first == line.present();
            let is_point = || matches!(self.interval(line, region).1, Cover::Point(_));
            let single = || is_point() || line.present() == 1 && self.quasi.hulls.is_none();
            return (missing || (region.last < line.present() && single())).then_some(region.first);
        }
        (region.first == region.last).then(|| self.axis.code(region.first))
    }

    /// The cost of a cell.
    fn weight(&self, region: Span) -> f64 {
        match self.axis.shape() {
            Shape::Line(line) if region.last < line.present() && self.tight => self.axis.extent(region),
            _ if self.value(region).is_some() || self.is_coarser_value(region) => 0.0,
            _ => self.axis.weight(region),
        }
    }

    /// Whether a region is one value that was made coarser before, which stands for several.
    fn is_coarser_value(&self, region: Span) -> bool {
        self.quasi.hulls.is_some() && region.first == region.last
    }

    /// Values keep their text, then the whole; what is left gives way.
    fn labels(&self, regions: &[Span]) -> Vec<Label> {
        let is_value = |region: Span| self.value(region).is_some();
        let mut order: Vec<usize> = (0..regions.len()).collect();
        order.sort_by_key(|&index| (!is_value(regions[index]), regions[index] != self.axis.whole()));
        let mut labels: Vec<Option<Label>> = vec![None; regions.len()];
        let mut taken: HashSet<String> = HashSet::new();
        for index in order {
            let region = regions[index];
            let (mut label, level) = self.label(region);
            let is_foreign = |text: &str| {
                !is_value(region) && self.domain().kind() == Kind::Category && self.domain().code_of(text).is_some()
            };
            if taken.contains(&label.text) || is_foreign(&label.text) {
                label.text = match level {
                    Some(level) => format!("{} (level {level})", label.text),
                    None => format!("{} (several)", label.text),
                };
            }
            while taken.contains(&label.text) || is_foreign(&label.text) {
                label.text.push('\'');
            }
            taken.insert(label.text.clone());
            labels[index] = Some(label);
        }
        labels.into_iter().flatten().collect()
    }

    /// And the level, where it is one of a hierarchy.
    fn label(&self, region: Span) -> (Label, Option<usize>) {
        let levels = self.quasi.hierarchy.levels();
        if let Some(code) = self.value(region) {
            return (self.explained(levels[0].labels[code as usize].clone()), Some(0));
        }
        let leaves = region.ranks() as u64;
        match self.axis.shape() {
            Shape::Line(line) if region.last < line.present() => {
                let (text, cover) = self.interval(line, region);
                let all_but_missing = cover == Cover::Everything && self.domain().missing_code().is_some();
                let text = if all_but_missing { NOT_MISSING.to_owned() } else { text };
                (Label { text, cover, leaves }, None)
            }
            Shape::Tree(_) => {
                let node = self.axis.node(region).expect("a region of a tree is a node");
                let level = &levels[node.level];
                let label = &level.labels[level.map[self.axis.code(region.first) as usize] as usize];
                (self.explained(public(self.quasi, label)), Some(node.level))
            }
            Shape::Order if region != self.axis.whole() => (self.explained(self.several(region)), None),
            _ => (Label { text: "*".to_owned(), cover: Cover::Everything, leaves }, None),
        }
    }

    /// Of values that were made coarser before, what they stand for.
    fn explained(&self, label: Label) -> Label {
        match &self.quasi.hulls {
            Some(hulls) => hulls.explained(label),
            None => label,
        }
    }

    fn interval(&self, line: &NumberLine, region: Span) -> (String, Cover) {
        let kind = self.domain().kind();
        if let Some(hulls) = &self.quasi.hulls {
            return hulls.interval(self.quasi.attribute, kind, line, region);
        }
        if !self.tight {
            let (low, high) = bounded(self.quasi.attribute, kind, line.bounds(region));
            return interval_label(low, high, kind);
        }
        let (first, last) = (region.first as usize, region.last as usize);
        match self.domain().values() {
            Values::Integer(values) => {
                let (low, high) = (Bound::Integer(values[first]), values[last].checked_add(1).map(Bound::Integer));
                interval_label(Some(low), high, kind)
            }
            Values::Date(values) => {
                let (low, after) = (values[first], hedgerow_table::date::Date(values[last].0.saturating_add(1)));
                interval_label(Some(Bound::Date(low)), Some(Bound::Date(after)), kind)
            }
            Values::Float(values) if first == last => {
                (values[first].to_string(), Cover::Point(Bound::Float(values[first])))
            }
            Values::Float(values) => {
                let (low, high) = (values[first], values[last].next_up());
                let cover = Cover::Interval { low: Some(Bound::Float(low)), high: Some(Bound::Float(high)) };
                (format!("{low} to {}", values[last]), cover)
            }
            Values::Category(_) => unreachable!("a category lies on no line"),
        }
    }

    /// Neighbors in the order of a category: a range where the order is declared, else a set.
    fn several(&self, region: Span) -> Label {
        let domain = self.domain();
        // Codes follow the texts: neither label nor codebook lists the values by frequency.
        let in_text_order = |mut codes: Vec<u32>| {
            codes.sort_unstable();
            codes.into_iter().map(|code| domain.text(code)).collect::<Vec<String>>()
        };
        let codes: Vec<u32> = (region.first..=region.last).map(|rank| self.axis.code(rank)).collect();
        let present: Vec<u32> = codes.iter().copied().filter(|&code| domain.missing_code() != Some(code)).collect();
        let mut named = match present.as_slice() {
            [first, .., last] if self.quasi.attribute.declared.order.is_some() => {
                let (first, last) = (domain.text(*first), domain.text(*last));
                // Bands such as "0 to 17" have the word already.
                let to = if first.contains(" to ") || last.contains(" to ") { "through" } else { "to" };
                vec![format!("{first} {to} {last}")]
            }
            few if few.len() <= NAMED_MAX => in_text_order(few.to_vec()),
            many => {
                let mut named = in_text_order(many[..NAMED_MAX - 1].to_vec());
                named.push(format!("{} others", many.len() + 1 - NAMED_MAX));
                named
            }
        };
        if present.len() < codes.len() {
            named.push("missing".to_owned());
        }
        let last = named.pop().unwrap_or_default();
        let text = if named.is_empty() { last } else { format!("{} or {last}", named.join(", ")) };
        let leaves = in_text_order(codes);
        Label { text, leaves: leaves.len() as u64, cover: Cover::Leaves(leaves) }
    }
}
