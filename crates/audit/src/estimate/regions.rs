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

use super::axis::{EstimateAxis, Extent, Spread, SubClassValue, Under, first_whole, real};
use super::mask;
use super::masked_digits;
use super::origin::{not_above, not_below, outward};
use super::possible_texts;
use super::predicate::Predicate;
use super::whole::Whole;

pub(crate) const MISSING: u32 = 0;

/// The most meetings of a label or text with a piece or predicate for one attribute.
const WORK_MAX: usize = 1 << 29;

/// The portion of a label's values that lies in one region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Portion {
    pub(crate) region: u32,
    /// The share of the label's values; not a number where nothing is known. It can be 0 although a
    /// value is possible there.
    pub(crate) mass: f64,
    /// Of the numbers in this part, counted from the origin of their axis: the mean, the lowest and
    /// the highest possible.
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The same two ends of whole numbers, not counted from anywhere.
    pub(crate) whole: Option<Whole>,
}

impl Portion {
    /// With the numbers themselves, where they are counted from an origin; bounds move outward.
    pub(crate) fn moved(&self, origin: i64) -> Portion {
        let (low, high) = (outward(self.low, origin, true), outward(self.high, origin, false));
        Portion { mean: self.mean + origin as f64, low, high, ..*self }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Regions {
    /// For each region, which predicates hold in it.
    pub(crate) holds: Vec<Vec<bool>>,
    /// For each label, the regions that a value under it can lie in, ascending.
    pub(crate) cells: Vec<Vec<Portion>>,
    /// The same of a value of which nothing is known.
    pub(crate) anything: Vec<Portion>,
}

impl Regions {
    pub(crate) fn new(axis: &EstimateAxis, predicates: &[&Predicate]) -> Result<Regions, TableError> {
        let mut builder = Builder {
            axis,
            predicates,
            holds: vec![predicates.iter().map(|predicate| predicate.holds_for_missing()).collect()],
            numbers: HashMap::new(),
            cuts: Vec::new(),
            starts: Vec::new(),
            pieces: Vec::new(),
            of_text: Vec::new(),
            any_text: Vec::new(),
            work: 0,
        };
        match axis.kind {
            Kind::Category => builder.distinguish_texts()?,
            _ => builder.cut(),
        }
        let fractions = |code: usize| axis.fractions.get(code).copied().flatten();
        let cell = |(code, under): (usize, &Under)| builder.cell(under, fractions(code));
        let cells = axis.under.iter().enumerate().map(cell).collect::<Result<_, _>>()?;
        let everywhere = Some((f64::NEG_INFINITY, f64::INFINITY)).filter(|_| !axis.fractions.is_empty());
        let anything = builder.cell(&Under::Everything, everywhere)?;
        Ok(Regions { holds: builder.holds, cells, anything })
    }
}

struct Builder<'a> {
    axis: &'a EstimateAxis,
    predicates: &'a [&'a Predicate],
    holds: Vec<Vec<bool>>,
    numbers: HashMap<Vec<bool>, u32>,
    /// Ascending. Of whole numbers, the first of each piece but the lowest, rounded; of real ones,
    /// points that are pieces themselves.
    cuts: Vec<f64>,
    /// Of whole numbers, the first of each piece but the lowest: above 2⁵³ two of them may share
    /// their nearest float.
    starts: Vec<i64>,
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
        // Under the top, and of a suppressed row, any text is possible.
        let is_pattern = |predicate: &&Predicate| matches!(predicate, Predicate::Like { .. });
        let mut regions = if self.predicates.iter().any(is_pattern) {
            self.possible(None)?
        } else {
            // Those that are named, what follows each of them, and something else.
            let named: Vec<&str> = self.predicates.iter().flat_map(|predicate| predicate.texts()).collect();
            let mut texts = vec!["\u{1}".to_owned(), "\u{10ffff}".to_owned()];
            texts.extend(named.into_iter().flat_map(|text| [text.to_owned(), format!("{text}\u{0}")]));
            let holds =
                |text: &String| self.predicates.iter().map(|predicate| predicate.holds_for_text(text)).collect();
            let combinations = texts.iter().map(holds).collect();
            self.regions_of(combinations, None)
        };
        regions.extend(&self.of_text);
        regions.sort_unstable();
        regions.dedup();
        self.any_text = regions;
        Ok(())
    }

    /// The regions of texts that nothing lists: of those under a mask, or of any.
    fn possible(&mut self, mask: Option<&str>) -> Result<Vec<u32>, TableError> {
        // A step takes as long as some meetings.
        const STEP: usize = 16;
        let (combinations, steps) = possible_texts::combinations(mask, self.predicates, self.axis.digits)?;
        self.spend(steps.saturating_mul(STEP))?;
        Ok(self.regions_of(combinations, mask))
    }

    /// The regions of combinations of predicates on texts, each with every combination of
    /// predicates on numbers.
    fn regions_of(&mut self, of_texts: Vec<Vec<bool>>, mask: Option<&str>) -> Vec<u32> {
        let of_numbers = masked_digits::combinations(mask, self.predicates);
        let both = of_texts.iter().flat_map(|text| of_numbers.iter().map(move |number| (text, number)));
        let holds = both.map(|(text, number)| text.iter().zip(number).map(|(text, number)| *text || *number).collect());
        holds.map(|holds| self.region(holds)).collect()
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
        self.cuts = starts.iter().map(|&start| start as f64).collect();
        self.starts = starts;
    }

    /// `fractions` is where numbers with a fraction are possible although none is expected.
    fn cell(&mut self, under: &Under, fractions: Option<(f64, f64)>) -> Result<Vec<Portion>, TableError> {
        let axis = self.axis;
        let missing =
            Portion { region: MISSING, mass: 0.0, mean: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY, whole: None };
        let mut parts = Parts::default();
        match under {
            Under::Missing => parts.add(Portion { mass: 1.0, ..missing }),
            Under::Integers(first, last) => {
                self.interval(Ends::Whole(*first, *last), axis.is_end_cell(under), 1.0, &mut parts)?;
            }
            Under::Real(low, high) => {
                self.interval(Ends::Real(*low, *high), axis.is_end_cell(under), 1.0, &mut parts)?;
            }
            Under::Numbers(values, with_missing) => {
                self.spend(values.len())?;
                let mass = 1.0 / (values.len() + usize::from(*with_missing)) as f64;
                for bound in values {
                    let Some(value) = real(*bound) else { continue };
                    let piece = match first_whole(*bound) {
                        Some(whole) if axis.kind != Kind::Float => self.piece_of_whole(whole),
                        _ => self.piece_of(value),
                    };
                    let region = self.pieces[piece];
                    let exact = if let Bound::Integer(whole) = bound { Some(*whole) } else { None };
                    let low = exact.map_or(value, |whole| not_above(whole, axis.origin));
                    let high = exact.map_or(value, |whole| not_below(whole, axis.origin));
                    parts.add(Portion { region, mass, mean: low, low, high, whole: exact.map(Whole::only) });
                }
                if *with_missing {
                    parts.add(Portion { mass, ..missing });
                }
            }
            Under::Texts(texts, with_missing) => {
                self.spend(texts.len())?;
                let mass = 1.0 / (texts.len() + usize::from(*with_missing)) as f64;
                for &text in texts {
                    parts.add(Portion { region: self.of_text[text as usize], mass, ..missing });
                }
                if *with_missing {
                    parts.add(Portion { mass, ..missing });
                }
            }
            Under::Mask(mask) => self.masked(mask, missing, &mut parts)?,
            Under::SubClass(values) => {
                self.spend(values.len())?;
                for &(value, mass) in values {
                    match value {
                        SubClassValue::Missing => parts.add(Portion { mass, ..missing }),
                        SubClassValue::Text(text) => {
                            parts.add(Portion { region: self.of_text[text as usize], mass, ..missing })
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
                parts.add(Portion { mass: absent, ..missing });
                if values > 0.0 {
                    let open = if axis.kind == Kind::Float { Ends::Real(None, None) } else { Ends::Whole(None, None) };
                    self.interval(open, true, 1.0 - absent, &mut parts)?;
                }
            }
        }
        if let Some(ends) = fractions {
            self.fractions(ends, &mut parts)?;
        }
        Ok(parts.sorted())
    }

    /// Numbers between two ends that need not be whole.
    fn fractions(&mut self, (low, high): (f64, f64), parts: &mut Parts) -> Result<(), TableError> {
        let named = self.predicates.iter().flat_map(|predicate| predicate.numbers()).filter_map(real);
        let mut cuts: Vec<f64> = named.filter(|cut| low < *cut && *cut < high).collect();
        cuts.sort_unstable_by(f64::total_cmp);
        cuts.dedup();
        self.spend(2 * cuts.len() + 1)?;
        let origin = self.axis.origin as f64;
        let add = |value: f64, low: f64, high: f64, builder: &mut Self, parts: &mut Parts| {
            let region = builder.region_of_number(Bound::Float(value));
            let (low, high) = (low - origin, high - origin);
            parts.add(Portion { region, mass: 0.0, mean: 0.0, low, high, whole: None });
        };
        let mut before = low;
        for cut in cuts.into_iter().chain([high]) {
            if before < cut {
                add(between(before, cut), before, cut, self, parts);
            }
            if cut < high && cut.fract() != 0.0 {
                add(cut, cut, cut, self, parts);
            }
            before = cut;
        }
        Ok(())
    }

    fn any_text(&self, missing: Portion, parts: &mut Parts) {
        let axis = self.axis;
        let known = axis.known_values();
        if known == 0 {
            // Nothing says which values there are, nor how many are missing.
            let sole = self.any_text.len() == 1 && !axis.has_missing;
            let mass = if sole { 1.0 } else { f64::NAN };
            self.any_text.iter().for_each(|&region| parts.add(Portion { region, mass, ..missing }));
            parts.add(Portion { mass: if axis.has_missing { f64::NAN } else { 0.0 }, ..missing });
            return;
        }
        let mass = 1.0 / known as f64;
        for text in 0..axis.texts_of_all {
            parts.add(Portion { region: self.of_text[text], mass, ..missing });
        }
        // A text that no label shows is possible, and not expected.
        self.any_text.iter().for_each(|&region| parts.add(Portion { region, mass: 0.0, ..missing }));
        parts.add(Portion { mass: if axis.has_missing { mass } else { 0.0 }, ..missing });
    }

    fn masked(&mut self, mask: &str, missing: Portion, parts: &mut Parts) -> Result<(), TableError> {
        let axis = self.axis;
        if axis.present.is_some() {
            let known: Vec<u32> = (0..axis.texts_of_all)
                .filter(|&text| mask::matches(mask, &axis.texts[text]))
                .map(|text| self.of_text[text])
                .collect();
            self.spend(axis.texts_of_all)?;
            if !known.is_empty() {
                let mass = 1.0 / known.len() as f64;
                known.into_iter().for_each(|region| parts.add(Portion { region, mass, ..missing }));
                return Ok(());
            }
        }
        let mut groups = Vec::new();
        mask::open(mask, &axis.alphabet, self.predicates, |share, holds| groups.push((share, holds)));
        self.spend(groups.len())?;
        for (mass, holds) in groups {
            let region = self.region(holds);
            parts.add(Portion { region, mass, ..missing });
        }
        // A star may hide a character of a kind that no label shows.
        let possible = self.possible(Some(mask))?;
        possible.into_iter().for_each(|region| parts.add(Portion { region, mass: 0.0, ..missing }));
        Ok(())
    }

    /// Spreads `mass` over an interval of the axis: evenly, or by the shape of all values where the
    /// interval does not say how far they extend. Values that no shape allows for are possible
    /// only.
    fn interval(&mut self, ends: Ends, by_shape: bool, mass: f64, parts: &mut Parts) -> Result<(), TableError> {
        let axis = self.axis;
        let unit = axis.unit();
        let range = axis.range.unwrap_or(Extent { low: f64::NEG_INFINITY, high: f64::INFINITY });
        let met = match ends {
            Ends::Whole(first, last) => self.whole_pieces(first, last, range),
            Ends::Real(low, high) => self.real_pieces(low, high, range),
        };
        self.spend(met.len())?;
        let spread = axis.spread(ends.as_floats(), by_shape);
        let origin = axis.origin as f64;
        let mut regions: Vec<u32> = met.iter().map(|met| self.pieces[met.piece]).collect();
        regions.sort_unstable();
        regions.dedup();
        let sole = regions.len() == 1;
        for &Met { piece, from, to, whole, share: of_ends } in &met {
            let (share, mean) = match spread {
                Spread::Even(start, end) => {
                    let (start, end) = match ends {
                        Ends::Whole(Some(first), Some(last)) if origin != 0.0 => {
                            (not_above(first, axis.origin), not_below(last, axis.origin))
                        }
                        _ => (start - origin, end - origin),
                    };
                    let (inner_from, inner_to) = (from.max(start), to.min(end));
                    let (size, inner) = ((end - start) + unit, (inner_to - inner_from + unit).max(0.0));
                    // Of real numbers, an interval without length is one point, which lies in one
                    // piece.
                    let by_length =
                        || if size > 0.0 { inner / size } else { f64::from(u8::from(piece == self.piece_of(start))) };
                    (of_ends.unwrap_or_else(by_length), f64::midpoint(inner_from, inner_to))
                }
                Spread::Shaped(shape, total) => {
                    let (inside, mean) = shape.between(from + origin, to + origin + unit);
                    // A whole number stands for the unit that it fills.
                    (inside / total, mean - origin - unit / 2.0)
                }
                Spread::Unknown => (if sole { 1.0 / met.len() as f64 } else { f64::NAN }, f64::NAN),
            };
            let mean = if share > 0.0 {
                mean.clamp(from, to)
            } else if share == 0.0 {
                0.0
            } else {
                f64::NAN
            };
            parts.add(Portion { region: self.pieces[piece], mass: share * mass, mean, low: from, high: to, whole });
        }
        Ok(())
    }

    /// The pieces that whole numbers from `first` to `last` lie in, compared as whole numbers.
    fn whole_pieces(&self, first: Option<i64>, last: Option<i64>, range: Extent) -> Vec<Met> {
        // The casts saturate, which is right for ends beyond every integer.
        let low = first.or(range.low.is_finite().then(|| range.low.ceil() as i64));
        let high = last.or(range.high.is_finite().then(|| range.high.floor() as i64));
        let size = first.zip(last).map(|(first, last)| (i128::from(last) - i128::from(first) + 1) as f64);
        let place = |at: Option<i64>, open: usize| at.map_or(open, |at| self.piece_of_whole(at));
        let mut met = Vec::new();
        for piece in place(low, 0)..=place(high, self.starts.len()) {
            let start = piece.checked_sub(1).map(|before| self.starts[before]);
            let end = self.starts.get(piece).map(|next| next - 1);
            let (from, to) = (start.max(low), end.into_iter().chain(high).min());
            if from.zip(to).is_some_and(|(from, to)| from > to) {
                continue;
            }
            let length = from.zip(to).map(|(from, to)| (i128::from(to) - i128::from(from) + 1) as f64);
            met.push(Met {
                piece,
                from: from.map_or(f64::NEG_INFINITY, |from| not_above(from, self.axis.origin)),
                to: to.map_or(f64::INFINITY, |to| not_below(to, self.axis.origin)),
                whole: Some(Whole { low: from, high: to }),
                share: length.zip(size).map(|(length, size)| length / size),
            });
        }
        met
    }

    /// The pieces that real numbers from `low` to below `high` lie in.
    fn real_pieces(&self, low: Option<f64>, high: Option<f64>, range: Extent) -> Vec<Met> {
        let is_closed = high.is_none();
        let (low, high) = (low.unwrap_or(range.low), high.unwrap_or(range.high));
        let first = if low.is_finite() { self.piece_of(low) } else { 0 };
        // An exclusive end at a cut does not extend into that cut's piece.
        let last = if high.is_finite() { self.piece_of(high) } else { self.pieces.len() - 1 };
        let mut met = Vec::new();
        for piece in first..=last {
            let (from, to) = self.ends_of(piece);
            let (from, to) = (from.max(low), to.min(high));
            let empty = if piece % 2 == 1 { from >= high && !is_closed } else { from >= to };
            // A closed interval of one real value, as of a source whose values are all equal.
            if !empty || (low == high && from == to) {
                met.push(Met { piece, from, to, whole: None, share: None });
            }
        }
        met
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
            parts.add(Portion {
                region: self.pieces[piece],
                mass: share * mass,
                mean,
                low: from,
                high: to,
                whole: None,
            });
        }
        Ok(())
    }

    fn piece_of_whole(&self, value: i64) -> usize {
        self.starts.partition_point(|start| *start <= value)
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

/// The ends of an interval; `None` is open.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// Both inclusive.
    Whole(Option<i64>, Option<i64>),
    /// The first inclusive, the second exclusive.
    Real(Option<f64>, Option<f64>),
}

impl Ends {
    fn as_floats(self) -> (Option<f64>, Option<f64>) {
        match self {
            Ends::Whole(first, last) => (first.map(|first| first as f64), last.map(|last| last as f64)),
            Ends::Real(low, high) => (low, high),
        }
    }
}

/// The part of an interval in one piece.
#[derive(Debug, Clone, Copy)]
struct Met {
    piece: usize,
    from: f64,
    to: f64,
    /// The same ends of whole numbers, not counted from anywhere.
    whole: Option<Whole>,
    /// The share of an interval of whole numbers that has two ends.
    share: Option<f64>,
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
    parts: Vec<Portion>,
    places: HashMap<u32, usize>,
}

impl Parts {
    fn add(&mut self, part: Portion) {
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
        into.whole = into.whole.zip(part.whole).map(|(one, other)| one.or(other));
    }

    fn sorted(mut self) -> Vec<Portion> {
        self.parts.sort_unstable_by_key(|part| part.region);
        self.parts
    }
}
