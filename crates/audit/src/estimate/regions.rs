//! An axis cut into regions so that no predicate changes within one, and how each label is spread
//! over the regions.
//!
//! Numbers are cut at the values that predicates name; texts are distinguished by the predicates
//! that hold for them. What the same predicates hold for is one region. Region 0 is the missing
//! value.
//!
//! Cost: each label is met with the pieces that it overlaps; each known text with every predicate.

use hashbrown::HashMap;
use hedgerow_table::date::Date;
use hedgerow_table::{Bound, InputError, Kind, TableError};

use super::axis::{Axis, Extent, SubClassValue, Under, first_whole, real};
use super::mask;
use super::predicate::Predicate;
use super::shape::Shape;

pub(crate) const MISSING: u32 = 0;

/// The most meetings of a label or text with a piece or predicate for one attribute.
const WORK_MAX: usize = 1 << 29;

/// The part of a label's values that lies in one region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) region: u32,
    /// The share of the label's values; not a number where nothing is known. It can be 0 although a
    /// value is possible there.
    pub(crate) mass: f64,
    /// Of the numbers in this part: the mean, the lowest and the highest possible.
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The only number in this part, where it is one whole number.
    pub(crate) exact: Option<i64>,
}

#[derive(Debug, Default)]
pub(crate) struct Regions {
    /// For each region, which predicates hold in it.
    pub(crate) holds: Vec<Vec<bool>>,
    /// For each label, the regions that a value under it can lie in, ascending.
    pub(crate) cells: Vec<Vec<Part>>,
    /// The same of a value of which nothing is known.
    pub(crate) anything: Vec<Part>,
}

impl Regions {
    pub(crate) fn new(axis: &Axis, predicates: &[&Predicate]) -> Result<Regions, TableError> {
        let mut builder = Builder {
            axis,
            predicates,
            holds: vec![predicates.iter().map(|predicate| predicate.holds_for_missing()).collect()],
            numbers: HashMap::new(),
            cuts: Vec::new(),
            pieces: Vec::new(),
            of_text: Vec::new(),
            any_text: Vec::new(),
            work: 0,
        };
        match axis.kind {
            Kind::Category => builder.distinguish_texts()?,
            _ => builder.cut(),
        }
        let cells = axis.under.iter().map(|under| builder.cell(under)).collect::<Result<_, _>>()?;
        let anything = builder.cell(&Under::Everything)?;
        Ok(Regions { holds: builder.holds, cells, anything })
    }
}

struct Builder<'a> {
    axis: &'a Axis,
    predicates: &'a [&'a Predicate],
    holds: Vec<Vec<bool>>,
    numbers: HashMap<Vec<bool>, u32>,
    /// Ascending. Of whole numbers, the first of each piece but the lowest; of real ones, points
    /// that are pieces themselves.
    cuts: Vec<f64>,
    /// The region of each piece. Whole numbers: before the first cut, then from cut to cut. Real
    /// ones: before the first cut, the cut, from this to the next, and so on.
    pieces: Vec<u32>,
    of_text: Vec<u32>,
    /// The regions of whatever text there might be.
    any_text: Vec<u32>,
    work: usize,
}

impl Builder<'_> {
    fn region(&mut self, holds: Vec<bool>) -> u32 {
        let next = self.holds.len() as u32;
        *self.numbers.entry(holds).or_insert_with_key(|holds| {
            self.holds.push(holds.clone());
            next
        })
    }

    fn region_of_number(&mut self, value: Bound) -> u32 {
        self.region(self.predicates.iter().map(|predicate| predicate.holds_for_number(value)).collect())
    }

    fn region_of_text(&mut self, text: &str) -> u32 {
        self.region(self.predicates.iter().map(|predicate| predicate.holds_for_text(text)).collect())
    }

    fn spend(&mut self, work: usize) -> Result<(), TableError> {
        self.work = self.work.saturating_add(work);
        if self.work > WORK_MAX {
            let problem = "the condition compares one column with too many values for a release of this size";
            return Err(InputError::new("SQL", problem, "use ranges instead of single values, or for fewer").into());
        }
        Ok(())
    }

    fn distinguish_texts(&mut self) -> Result<(), TableError> {
        self.spend(self.axis.texts.len().saturating_mul(self.predicates.len()))?;
        let axis = self.axis;
        self.of_text = axis.texts.iter().map(|text| self.region_of_text(text)).collect();
        // Under the top, and of a suppressed row, any text is possible: those that are named, what
        // follows each of them, and something else.
        let named: Vec<&str> = self.predicates.iter().flat_map(|predicate| predicate.texts()).collect();
        let mut regions = vec![self.region_of_text("\u{1}"), self.region_of_text("\u{10ffff}")];
        for text in named {
            regions.push(self.region_of_text(text));
            regions.push(self.region_of_text(&format!("{text}\u{1}")));
        }
        for predicate in self.predicates {
            if let Predicate::Like { pattern, .. } = predicate {
                regions.push(self.region_of_text(&pattern.instance()));
            }
        }
        regions.extend(&self.of_text);
        regions.sort_unstable();
        regions.dedup();
        self.any_text = regions;
        Ok(())
    }

    fn cut(&mut self) {
        let named: Vec<Bound> = self.predicates.iter().flat_map(|predicate| predicate.numbers()).collect();
        if self.axis.kind == Kind::Float {
            let mut cuts: Vec<f64> = named.into_iter().filter_map(real).collect();
            cuts.sort_unstable_by(f64::total_cmp);
            cuts.dedup();
            let mut before = f64::NEG_INFINITY;
            for &cut in &cuts {
                let region = self.region_of_number(Bound::Float(between(before, cut)));
                self.pieces.push(region);
                let region = self.region_of_number(Bound::Float(cut));
                self.pieces.push(region);
                before = cut;
            }
            let region = self.region_of_number(Bound::Float(between(before, f64::INFINITY)));
            self.pieces.push(region);
            self.cuts = cuts;
            return;
        }
        let first_above = |bound: Bound| match bound {
            Bound::Float(value) => Some(value.floor() as i64).and_then(|whole| whole.checked_add(1)),
            other => first_whole(other).and_then(|whole| whole.checked_add(1)),
        };
        let mut starts: Vec<i64> =
            named.iter().flat_map(|&bound| [first_whole(bound), first_above(bound)]).flatten().collect();
        starts.retain(|start| *start > i64::MIN);
        starts.sort_unstable();
        starts.dedup();
        let value = |whole: i64| match self.axis.kind {
            Kind::Date => Bound::Date(Date(whole.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)),
            _ => Bound::Integer(whole),
        };
        let values: Vec<Bound> = std::iter::once(starts.first().map_or(0, |start| start - 1))
            .chain(starts.iter().copied())
            .map(value)
            .collect();
        self.pieces = values.into_iter().map(|value| self.region_of_number(value)).collect();
        // Beyond 2⁵³ two starts may share their float; no two shares differ there anyway.
        self.cuts = starts.into_iter().map(|start| start as f64).collect();
    }

    fn cell(&mut self, under: &Under) -> Result<Vec<Part>, TableError> {
        let axis = self.axis;
        let missing =
            Part { region: MISSING, mass: 0.0, mean: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY, exact: None };
        let mut parts = Parts::default();
        match under {
            Under::Missing => parts.add(Part { mass: 1.0, ..missing }),
            Under::Integers(first, last) => {
                let ends = (first.map(|first| first as f64), last.map(|last| last as f64));
                self.interval(ends, axis.is_end_cell(under), 1.0, &mut parts)?;
            }
            Under::Real(low, high) => self.interval((*low, *high), axis.is_end_cell(under), 1.0, &mut parts)?,
            Under::Numbers(values, with_missing) => {
                self.spend(values.len())?;
                let mass = 1.0 / (values.len() + usize::from(*with_missing)) as f64;
                for bound in values {
                    let Some(value) = real(*bound) else { continue };
                    let region = self.pieces[self.piece_of(value)];
                    let exact = if let Bound::Integer(whole) = bound { Some(*whole) } else { None };
                    parts.add(Part { region, mass, mean: value, low: value, high: value, exact });
                }
                if *with_missing {
                    parts.add(Part { mass, ..missing });
                }
            }
            Under::Texts(texts, with_missing) => {
                self.spend(texts.len())?;
                let mass = 1.0 / (texts.len() + usize::from(*with_missing)) as f64;
                for &text in texts {
                    parts.add(Part { region: self.of_text[text as usize], mass, ..missing });
                }
                if *with_missing {
                    parts.add(Part { mass, ..missing });
                }
            }
            Under::Mask(mask) => self.masked(mask, missing, &mut parts)?,
            Under::SubClass(values) => {
                self.spend(values.len())?;
                for &(value, mass) in values {
                    match value {
                        SubClassValue::Missing => parts.add(Part { mass, ..missing }),
                        SubClassValue::Text(text) => {
                            parts.add(Part { region: self.of_text[text as usize], mass, ..missing })
                        }
                        SubClassValue::Around(low, high) => self.around((low, high), mass, &mut parts)?,
                    }
                }
            }
            Under::Everything if axis.kind == Kind::Category => self.any_text(missing, &mut parts),
            Under::Everything => {
                let values = match (axis.present, axis.extent, axis.kind) {
                    (Some(present), ..) => present as f64,
                    (None, Some(Extent { low, high }), Kind::Integer | Kind::Date) => high - low + 1.0,
                    _ => f64::INFINITY,
                };
                let absent = if axis.has_missing { 1.0 / (values + 1.0) } else { 0.0 };
                parts.add(Part { mass: absent, ..missing });
                if values > 0.0 {
                    self.interval((None, None), true, 1.0 - absent, &mut parts)?;
                }
            }
        }
        Ok(parts.sorted())
    }

    fn any_text(&mut self, missing: Part, parts: &mut Parts) {
        let axis = self.axis;
        let known = axis.texts_of_all + usize::from(axis.has_missing);
        let mass = 1.0 / known as f64;
        if known > 0 {
            for text in 0..axis.texts_of_all {
                parts.add(Part { region: self.of_text[text], mass, ..missing });
            }
        }
        let rest = if known > 0 || self.any_text.len() == 1 { 0.0 } else { f64::NAN };
        for &region in &self.any_text {
            parts.add(Part { region, mass: rest, ..missing });
        }
        if known == 0 && self.any_text.len() == 1 {
            parts.add(Part { region: self.any_text[0], mass: 1.0, ..missing });
        }
        parts.add(Part { mass: if axis.has_missing { mass } else { 0.0 }, ..missing });
    }

    fn masked(&mut self, mask: &str, missing: Part, parts: &mut Parts) -> Result<(), TableError> {
        let axis = self.axis;
        if axis.present.is_some() {
            let known: Vec<u32> = (0..axis.texts_of_all)
                .filter(|&text| mask::matches(mask, &axis.texts[text]))
                .map(|text| self.of_text[text])
                .collect();
            self.spend(axis.texts_of_all)?;
            if !known.is_empty() {
                let mass = 1.0 / known.len() as f64;
                known.into_iter().for_each(|region| parts.add(Part { region, mass, ..missing }));
                return Ok(());
            }
        }
        let mut groups = Vec::new();
        mask::open(mask, &axis.alphabet, self.predicates, |share, holds| groups.push((share, holds)));
        self.spend(groups.len())?;
        for (mass, holds) in groups {
            let region = self.region(holds);
            parts.add(Part { region, mass, ..missing });
        }
        Ok(())
    }

    /// Spreads `mass` over an interval of the axis: evenly, or by the shape of all values where the
    /// interval does not say how far they extend. Values that no shape allows for are possible
    /// only.
    fn interval(
        &mut self,
        ends: (Option<f64>, Option<f64>),
        by_shape: bool,
        mass: f64,
        parts: &mut Parts,
    ) -> Result<(), TableError> {
        let axis = self.axis;
        let unit = axis.unit();
        let range = axis.range.unwrap_or(Extent { low: f64::NEG_INFINITY, high: f64::INFINITY });
        let (low, high) = (ends.0.unwrap_or(range.low), ends.1.unwrap_or(range.high));
        let first = if low.is_finite() { self.piece_of(low) } else { 0 };
        // An exclusive end at a cut does not extend into that cut's piece.
        let last = if high.is_finite() { self.piece_of(high) } else { self.pieces.len() - 1 };
        self.spend(last - first + 1)?;
        let spread = self.spread(ends, by_shape);
        let mut regions = self.pieces[first..=last].to_vec();
        regions.sort_unstable();
        regions.dedup();
        let sole = regions.len() == 1;
        for piece in first..=last {
            let (from, to) = self.ends_of(piece);
            let (from, to) = (from.max(low), to.min(high));
            let point = unit == 0.0 && piece % 2 == 1;
            let empty = if unit > 0.0 {
                from > to
            } else if point {
                from >= high && ends.1.is_some()
            } else {
                from >= to
            };
            // A closed interval of one real value, as of a source whose values are all equal.
            if empty && !(low == high && from == to) {
                continue;
            }
            let (share, mean) = match spread {
                Spread::Even(start, end) => {
                    let (inner_from, inner_to) = (from.max(start), to.min(end));
                    let (size, inner) = ((end - start) + unit, (inner_to - inner_from + unit).max(0.0));
                    // Of real numbers, an interval without length is one point, which lies in one
                    // piece.
                    let share =
                        if size > 0.0 { inner / size } else { f64::from(u8::from(piece == self.piece_of(start))) };
                    (share, f64::midpoint(inner_from, inner_to))
                }
                Spread::Shaped(shape, total) => {
                    let (inside, mean) = shape.between(from, to + unit);
                    // A whole number stands for the unit that it fills.
                    (inside / total, mean - unit / 2.0)
                }
                Spread::Unknown => (if sole { 1.0 / (last - first + 1) as f64 } else { f64::NAN }, f64::NAN),
            };
            let mean = if share > 0.0 {
                mean.clamp(from, to)
            } else if share == 0.0 {
                0.0
            } else {
                f64::NAN
            };
            let exact = (unit > 0.0 && from == to).then_some(from as i64);
            parts.add(Part { region: self.pieces[piece], mass: share * mass, mean, low: from, high: to, exact });
        }
        Ok(())
    }

    /// How the values of an interval are distributed over it.
    fn spread(&self, ends: (Option<f64>, Option<f64>), by_shape: bool) -> Spread<'_> {
        let axis = self.axis;
        let known = axis.range.or(axis.extent.filter(|_| axis.present.is_some()));
        if let (Some(low), Some(high), false) = (ends.0, ends.1, by_shape) {
            return Spread::Even(low, high);
        }
        if let Some(shape) = &axis.shape {
            let (low, high) = (ends.0.unwrap_or(f64::NEG_INFINITY), ends.1.unwrap_or(f64::INFINITY));
            let (total, _) = shape.between(low, high + axis.unit());
            if total > 0.0 {
                return Spread::Shaped(shape, total);
            }
        }
        // No released row is there, or the interval has no length.
        let low = ends.0.or(known.map(|known| ends.1.map_or(known.low, |high| known.low.min(high))));
        let high = ends.1.or(known.map(|known| ends.0.map_or(known.high, |low| known.high.max(low))));
        match (low, high) {
            (Some(low), Some(high)) if low.is_finite() && high.is_finite() => Spread::Even(low, high),
            _ => Spread::Unknown,
        }
    }

    /// Spreads `mass` evenly around a mean; numbers elsewhere are possible and weigh nothing. Whole
    /// numbers fill the unit around them.
    fn around(&mut self, (low, high): (f64, f64), mass: f64, parts: &mut Parts) -> Result<(), TableError> {
        self.spend(self.pieces.len())?;
        let unit = if self.axis.kind == Kind::Float { 0.0 } else { 0.5 };
        for piece in 0..self.pieces.len() {
            let (from, to) = self.ends_of(piece);
            let (inner_from, inner_to) = ((from - unit).max(low), (to + unit).min(high));
            let share = if high > low {
                (inner_to - inner_from).max(0.0) / (high - low)
            } else {
                f64::from(u8::from(piece == self.piece_of(low)))
            };
            // Half of the unit around a whole number may lie outside the piece, the number does
            // not.
            let mean = if share > 0.0 { f64::midpoint(inner_from, inner_to).clamp(from, to) } else { 0.0 };
            parts.add(Part { region: self.pieces[piece], mass: share * mass, mean, low: from, high: to, exact: None });
        }
        Ok(())
    }

    /// The piece that a number lies in.
    fn piece_of(&self, value: f64) -> usize {
        if self.axis.kind != Kind::Float {
            return self.cuts.partition_point(|cut| *cut <= value);
        }
        let below = self.cuts.partition_point(|cut| *cut < value);
        2 * below + usize::from(self.cuts.get(below) == Some(&value))
    }

    /// Both inclusive for whole numbers; of real ones a piece between two cuts is open.
    fn ends_of(&self, piece: usize) -> (f64, f64) {
        let cut =
            |index: Option<usize>, beyond: f64| index.and_then(|index| self.cuts.get(index)).copied().unwrap_or(beyond);
        if self.axis.kind != Kind::Float {
            return (cut(piece.checked_sub(1), f64::NEG_INFINITY), cut(Some(piece), f64::INFINITY) - 1.0);
        }
        match piece % 2 {
            1 => (self.cuts[piece / 2], self.cuts[piece / 2]),
            _ => (cut((piece / 2).checked_sub(1), f64::NEG_INFINITY), cut(Some(piece / 2), f64::INFINITY)),
        }
    }
}

/// How the values under a label are distributed.
#[derive(Debug, Clone, Copy)]
enum Spread<'a> {
    /// Evenly from here to there.
    Even(f64, f64),
    /// As all values are; the mass that lies in the interval.
    Shaped(&'a Shape, f64),
    Unknown,
}

/// A number between two; infinite ends are far away.
fn between(low: f64, high: f64) -> f64 {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => f64::midpoint(low, high),
        (true, false) => low.next_up().max(low + low.abs().max(1.0)),
        (false, true) => high.next_down().min(high - high.abs().max(1.0)),
        (false, false) => 0.0,
    }
}

/// Parts gathered by region.
#[derive(Default)]
struct Parts {
    parts: Vec<Part>,
    places: HashMap<u32, usize>,
}

impl Parts {
    fn add(&mut self, part: Part) {
        let next = self.parts.len();
        let place = *self.places.entry(part.region).or_insert(next);
        if place == next {
            self.parts.push(part);
            return;
        }
        let into = &mut self.parts[place];
        let mass = into.mass + part.mass;
        into.mean = match (into.mass, part.mass) {
            (_, 0.0) => into.mean,
            (0.0, _) => part.mean,
            (there, more) => (into.mean * there + part.mean * more) / mass,
        };
        (into.mass, into.low, into.high) = (mass, into.low.min(part.low), into.high.max(part.high));
        into.exact = into.exact.filter(|_| into.exact == part.exact);
    }

    fn sorted(mut self) -> Vec<Part> {
        self.parts.sort_unstable_by_key(|part| part.region);
        self.parts
    }
}
