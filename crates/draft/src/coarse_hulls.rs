//! Attributes that `coarsen` names as quasi-identifiers of a table that is generalized.
//!
//! A coarser value stands for values of the source: 2000, rounded to thousands, for those from 1500
//! to 2499. So a label over coarser values covers what they stand for together, never what their
//! texts say. Where each stands for an interval they lie on a line, also months and labels of
//! widths, and cells begin and end between these intervals, at round points where there is a gap.
//! The labels of a hierarchy's file are cut along the levels above theirs.

use hashbrown::HashMap;
use hedgerow_policy::Attribute;
use hedgerow_table::date::Date;
use hedgerow_table::{
    Bound, Coarsening, Coarser, Codes, Column, Cover, Domain, Hierarchy, HierarchySpec, Kind, Label, TableError,
    Values, Way,
};

use crate::declared_range::bounded;
use hedgerow_cuts::{NumberLine, Span};
use hedgerow_table::hierarchy::{LeavesUnder, interval_label};

/// An interval of the source's values: low inclusive, high exclusive, an open end `None`.
type HullEnds = (Option<Bound>, Option<Bound>);

/// The source values behind the coarser values of an attribute.
#[derive(Debug, Clone)]
pub enum Hulls {
    /// By code, an interval each, ascending.
    Line(Vec<HullEnds>),
    Leaves {
        /// By the text of a coarser value.
        own: HashMap<String, Cover>,
        /// By any label of the level, also those that no row has.
        under: LeavesUnder,
        masked: bool,
    },
}

/// A coarser attribute as a table has it whose labels are to cover source values.
#[derive(Debug)]
pub struct CoarseAttribute {
    pub column: Column,
    pub hulls: Hulls,
    /// The levels above the one that is released, where values are cut along these.
    pub hierarchy: Option<Hierarchy>,
}

impl CoarseAttribute {
    /// `None` for a column without values, which stands for nothing.
    pub fn of(
        column: &Column,
        attribute: &Attribute,
        coarsening: &Coarsening,
        coarser: &Coarser,
        nulls: &[String],
    ) -> Result<Option<CoarseAttribute>, TableError> {
        if column.domain.present() == 0 {
            return Ok(None);
        }
        if coarser.labels.is_empty() {
            let ends =
                covers_of_numbers(&column.domain, coarsening, coarser.kind).map(|cover| ends(&cover, coarser.kind));
            let hulls = Hulls::Line(ends.collect::<Option<Vec<HullEnds>>>().unwrap_or_default());
            return Ok(Some(CoarseAttribute { column: column.clone(), hulls, hierarchy: None }));
        }
        if let Some(on_line) = on_line(column, coarser) {
            return Ok(Some(on_line));
        }
        let own = coarser.labels.iter().map(|label| (label.text.clone(), label.cover.clone())).collect();
        let Way::Level(spec, level) = &coarsening.way else { return Ok(None) };
        let (name, domain) = (&attribute.name, &column.domain);
        let above = Hierarchy::above_level(spec, *level, name, &coarsening.place, domain, nulls)?;
        let Some((hierarchy, mut under)) = above else { return Ok(None) };
        if coarser.kind != Kind::Category {
            let as_printed = |leaf: &mut String| {
                if let Some(bound) = Bound::parse(leaf) {
                    *leaf = bound.to_string();
                }
            };
            under.values_mut().flatten().for_each(as_printed);
        }
        let hulls = Hulls::Leaves { own, under, masked: matches!(spec, HierarchySpec::Mask(_)) };
        Ok(Some(CoarseAttribute { column: column.clone(), hulls, hierarchy: Some(hierarchy) }))
    }
}

fn covers_of_numbers(domain: &Domain, coarsening: &Coarsening, kind: Kind) -> impl Iterator<Item = Cover> {
    let values: Vec<Bound> = match domain.values() {
        Values::Integer(values) => values.iter().map(|value| Bound::Integer(*value)).collect(),
        Values::Float(values) => values.iter().map(|value| Bound::Float(*value)).collect(),
        Values::Date(values) => values.iter().map(|value| Bound::Date(*value)).collect(),
        Values::Category(_) => Vec::new(),
    };
    // Days that stay days stand for themselves.
    values.into_iter().map(move |value| coarsening.cover(value, kind).unwrap_or(Cover::Point(value)))
}

/// `None` for what lies on no line.
fn ends(cover: &Cover, kind: Kind) -> Option<HullEnds> {
    match cover {
        Cover::Point(point) => Some((Some(*point), point.first_after(kind))),
        Cover::Interval { low, high } => Some((*low, *high)),
        Cover::Everything => Some((None, None)),
        Cover::Missing | Cover::Leaves(_) => None,
    }
}

/// The same rows with a value of each interval in place of its text, if all stand for intervals.
fn on_line(column: &Column, coarser: &Coarser) -> Option<CoarseAttribute> {
    let kind = coarser.kind;
    let of_code: Vec<HullEnds> = coarser.labels.iter().map(|label| ends(&label.cover, kind)).collect::<Option<_>>()?;
    let value = |(low, high): HullEnds| low.or_else(|| before(high?));
    let values: Vec<Bound> = of_code.iter().map(|ends| value(*ends)).collect::<Option<_>>()?;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].partial_cmp(&values[other]).unwrap_or(std::cmp::Ordering::Equal));
    let sorted = || order.iter().map(|&code| values[code]);
    let of_kind = match kind {
        Kind::Integer => Values::Integer(sorted().map(integer).collect::<Option<_>>()?),
        Kind::Float => Values::Float(sorted().map(float).collect::<Option<_>>()?),
        Kind::Date => Values::Date(sorted().map(date).collect::<Option<_>>()?),
        Kind::Category => return None,
    };
    if order
        .windows(2)
        .any(|pair| of_code[pair[0]].1.is_none_or(|high| of_code[pair[1]].0.is_none_or(|low| high > low)))
    {
        return None;
    }
    let missing = column.domain.missing_code();
    let mut place = vec![order.len() as u32; column.domain.cardinality()];
    (0..).zip(&order).for_each(|(new, &old)| place[old] = new);
    let codes = Codes::from_iter(place.len(), column.codes.iter().map(|code| place[code as usize]));
    let column = Column { name: column.name.clone(), domain: Domain::new(of_kind, missing.is_some()), codes };
    let hulls = Hulls::Line(order.iter().map(|&code| of_code[code]).collect());
    Some(CoarseAttribute { column, hulls, hierarchy: None })
}

/// The last value below.
fn before(high: Bound) -> Option<Bound> {
    Some(match high {
        Bound::Integer(value) => Bound::Integer(value.checked_sub(1)?),
        Bound::Float(value) => Bound::Float(value.next_down()),
        Bound::Date(date) => Bound::Date(Date(date.0.checked_sub(1)?)),
    })
}

fn integer(value: Bound) -> Option<i64> {
    match value {
        Bound::Integer(value) => Some(value),
        _ => None,
    }
}

fn float(value: Bound) -> Option<f64> {
    match value {
        Bound::Integer(value) => Some(value as f64),
        Bound::Float(value) => Some(value),
        Bound::Date(_) => None,
    }
}

fn date(value: Bound) -> Option<Date> {
    match value {
        Bound::Date(date) => Some(date),
        _ => None,
    }
}

impl Hulls {
    /// Whether values are cut along a hierarchy.
    pub fn in_tree(&self) -> bool {
        matches!(self, Hulls::Leaves { .. })
    }

    /// The kind of hierarchy that the labels come from.
    pub fn hierarchy(&self) -> Option<&'static str> {
        match self {
            Hulls::Line(_) => None,
            Hulls::Leaves { masked: true, .. } => HierarchySpec::Mask(1).name(),
            Hulls::Leaves { masked: false, .. } => Some("file"),
        }
    }

    /// The label of a region of a line and what it covers: no cut goes through what a value stands
    /// for.
    pub fn interval(&self, attribute: &Attribute, kind: Kind, line: &NumberLine, region: Span) -> (String, Cover) {
        let Hulls::Line(of_code) = self else { return ("*".to_owned(), Cover::Everything) };
        let (low, high) = line.bounds(region);
        // Between the end of what the value before stands for and the beginning of the next.
        let moved = |cut: Bound, next: u32| {
            let before = next.checked_sub(1).and_then(|before| of_code.get(before as usize)?.1);
            let cut = before.filter(|end| *end > cut).unwrap_or(cut);
            of_code.get(next as usize).and_then(|next| next.0).filter(|begin| *begin < cut).unwrap_or(cut)
        };
        let open = (low.map(|cut| moved(cut, region.first)), high.map(|cut| moved(cut, region.last + 1)));
        let (text, cover) = interval_label(open.0, open.1, kind);
        let closed = bounded(attribute, kind, open);
        if closed == open {
            return (text, cover);
        }
        match interval_label(closed.0, closed.1, kind) {
            // A number alone would read as a coarser value, which stands for more.
            (_, Cover::Point(_)) => (text, Cover::Interval { low: closed.0, high: closed.1 }),
            closed => closed,
        }
    }

    /// A label of the hierarchy that coarser values are cut along, with what it covers of the
    /// source.
    pub fn explained(&self, label: Label) -> Label {
        let Hulls::Leaves { own, under, masked } = self else { return label };
        let cover = match label.cover {
            Cover::Leaves(_) if *masked => Cover::Leaves(vec![label.text.clone()]),
            Cover::Leaves(leaves) if leaves.len() == 1 && leaves[0] == label.text && own.contains_key(&label.text) => {
                own[&label.text].clone()
            }
            Cover::Leaves(leaves) => {
                let all = leaves.into_iter().flat_map(|leaf| under.get(&leaf).cloned().unwrap_or_else(|| vec![leaf]));
                Cover::Leaves(all.collect())
            }
            other => other,
        };
        Label { cover, ..label }
    }
}
