//! An axis cut into regions so that no predicate changes within one, and how each label is spread over the regions.
//!
//! Numbers are cut at the values that predicates name; texts are told apart by the predicates that hold for them. What the
//! same predicates hold for is one region. Region 0 is the missing value.
//!
//! Cost: each label is met with the pieces that it overlaps; each known text with every predicate.

use hashbrown::HashMap;
use hedgerow_table::date::Date;
use hedgerow_table::{Bound, InputError, Kind, TableError};

use super::axis::{Axis, Extent, Under, first_whole, real};
use super::mask;
use super::micro_statistics::Told;
use super::predicate::Predicate;

pub(crate) const MISSING: u32 = 0;

/// The most meetings of a label or text with a piece or predicate for one attribute.
const WORK_MAX: usize = 1 << 29;

/// The part of a label's values that lies in one region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub(crate) region: u32,
    /// The share of the label's values; not a number where nothing is known. It can be 0 although a value is possible there.
    pub(crate) mass: f64,
    /// Of the numbers in this part: the mean, the lowest and the highest possible.
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

#[derive(Debug)]
pub(crate) struct Regions {
    /// For each region, which predicates hold in it.
    pub(crate) holds: Vec<Vec<bool>>,
    /// For each label, the regions that a value under it can lie in, ascending.
    pub(crate) cells: Vec<Vec<Part>>,
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
            Kind::Category => builder.tell_texts_apart()?,
            _ => builder.cut(),
        }
        let cells = axis.under.iter().map(|under| builder.cell(under)).collect::<Result<_, _>>()?;
        Ok(Regions { holds: builder.holds, cells })
    }
}

struct Builder<'a> {
    axis: &'a Axis,
    predicates: &'a [&'a Predicate],
    holds: Vec<Vec<bool>>,
    numbers: HashMap<Vec<bool>, u32>,
    /// Ascending. Of whole numbers, the first of each piece but the lowest; of real ones, points that are pieces themselves.
    cuts: Vec<f64>,
    /// The region of each piece. Distribution numbers: before the first cut, then from cut to cut. Real ones: before the first cut,
    /// the cut, from this to the next, and so on.
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
            return Err(InputError::new("SQL", problem, "ask for ranges instead of single values, or for fewer").into());
        }
        Ok(())
    }

    fn tell_texts_apart(&mut self) -> Result<(), TableError> {
        self.spend(self.axis.texts.len().saturating_mul(self.predicates.len()))?;
        let axis = self.axis;
        self.of_text = axis.texts.iter().map(|text| self.region_of_text(text)).collect();
        if !axis.under.contains(&Under::Everything) {
            return Ok(());
        }
        // Under the top, any text is possible: those that are named, what follows each of them, and something else.
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
        // Beyond 2⁵³ two starts may share their float; no share can be told apart there anyway.
        self.cuts = starts.into_iter().map(|start| start as f64).collect();
    }

    fn cell(&mut self, under: &Under) -> Result<Vec<Part>, TableError> {
        let axis = self.axis;
        let missing = Part { region: MISSING, mass: 0.0, mean: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY };
        let mut parts = Parts::default();
        match under {
            Under::Missing => parts.add(Part { mass: 1.0, ..missing }),
            Under::Distribution(first, last) => {
                let ends = (first.map(|first| first as f64), last.map(|last| last as f64));
                self.stretch(ends, 1.0, &mut parts)?;
            }
            Under::Real(low, high) => self.stretch((*low, *high), 1.0, &mut parts)?,
            Under::Numbers(values, with_missing) => {
                self.spend(values.len())?;
                let mass = 1.0 / (values.len() + usize::from(*with_missing)) as f64;
                for value in values.iter().filter_map(|value| real(*value)) {
                    let region = self.pieces[self.piece_of(value)];
                    parts.add(Part { region, mass, mean: value, low: value, high: value });
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
            Under::Told(told) => {
                self.spend(told.len())?;
                for &(told, mass) in told {
                    match told {
                        Told::Missing => parts.add(Part { mass, ..missing }),
                        Told::Text(text) => parts.add(Part { region: self.of_text[text as usize], mass, ..missing }),
                        Told::Around(low, high) => self.around((low, high), mass, &mut parts)?,
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
                    self.stretch((None, None), 1.0 - absent, &mut parts)?;
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

    /// Spreads `mass` evenly over a stretch of the axis; what lies beyond an open end's assumed reach is possible only.
    fn stretch(&mut self, ends: (Option<f64>, Option<f64>), mass: f64, parts: &mut Parts) -> Result<(), TableError> {
        let whole = self.axis.kind != Kind::Float;
        let assumed = self.assumed(ends);
        let (low, high) = (ends.0.unwrap_or(f64::NEG_INFINITY), ends.1.unwrap_or(f64::INFINITY));
        let first = if low.is_finite() { self.piece_of(low) } else { 0 };
        // An exclusive end at a cut does not reach into that cut's piece.
        let last = if high.is_finite() { self.piece_of(high) } else { self.pieces.len() - 1 };
        self.spend(last - first + 1)?;
        let mut regions = self.pieces[first..=last].to_vec();
        regions.sort_unstable();
        regions.dedup();
        let sole = regions.len() == 1;
        for piece in first..=last {
            let (from, to) = self.ends_of(piece);
            let (from, to) = (from.max(low), to.min(high));
            let point = !whole && piece % 2 == 1;
            let empty = if whole {
                from > to
            } else if point {
                from >= high && ends.1.is_some()
            } else {
                from >= to
            };
            // A closed stretch of one real value, as of a source whose values are all equal.
            if empty && !(low == high && from == to) {
                continue;
            }
            let region = self.pieces[piece];
            let part = match assumed {
                Some((start, end)) => {
                    let (inner_from, inner_to) = (from.max(start), to.min(end));
                    let unit = if whole { 1.0 } else { 0.0 };
                    let size = (end - start) + unit;
                    let inner = (inner_to - inner_from + unit).max(0.0);
                    // Of real numbers, a stretch without length is one point, which lies in one piece.
                    let share =
                        if size > 0.0 { inner / size } else { f64::from(u8::from(piece == self.piece_of(start))) };
                    let mean = if share > 0.0 { f64::midpoint(inner_from, inner_to) } else { 0.0 };
                    Part { region, mass: share * mass, mean, low: from, high: to }
                }
                None => {
                    let share = if sole { mass / (last - first + 1) as f64 } else { f64::NAN };
                    Part { region, mass: share, mean: f64::NAN, low: from, high: to }
                }
            };
            parts.add(part);
        }
        Ok(())
    }

    /// Spreads `mass` evenly around a mean; numbers elsewhere are possible and weigh nothing. Distribution numbers fill the unit around
    /// them.
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
            let mean = if share > 0.0 { f64::midpoint(inner_from, inner_to) } else { 0.0 };
            parts.add(Part { region: self.pieces[piece], mass: share * mass, mean, low: from, high: to });
        }
        Ok(())
    }

    /// The ends of a stretch with those that are open taken from what is known; `None` when nothing is.
    fn assumed(&self, ends: (Option<f64>, Option<f64>)) -> Option<(f64, f64)> {
        let axis = self.axis;
        let unit = if axis.kind == Kind::Float { 0.0 } else { 1.0 };
        match (ends, axis.extent) {
            ((Some(low), Some(high)), _) => Some((low, high)),
            ((None, None), extent) => extent.map(|Extent { low, high }| (low, high)),
            ((Some(low), None), Some(Extent { high, .. })) if high > low || axis.present.is_some() => {
                Some((low, high.max(low)))
            }
            ((None, Some(high)), Some(Extent { low, .. })) if low < high || axis.present.is_some() => {
                Some((low.min(high), high))
            }
            ((Some(low), None), _) => axis.widest.map(|width| (low, low + width - unit)),
            ((None, Some(high)), _) => axis.widest.map(|width| (high - width + unit, high)),
        }
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
    }

    fn sorted(mut self) -> Vec<Part> {
        self.parts.sort_unstable_by_key(|part| part.region);
        self.parts
    }
}
