//! `hierarchy` of an attribute: a file's path, or a table with exactly one way of building levels.
//! What only the data shows (is every value covered?) is checked when the hierarchy meets it; what
//! the policy alone shows, here.

use std::cmp::Ordering::Less;
use std::path::Path;

use hedgerow_config::number::ABOVE_ZERO;
use hedgerow_config::source::file_path;
use hedgerow_config::{Data, Field, Reader, listed, quoted};
use hedgerow_table::date::Date;
use hedgerow_table::hierarchy::{Bound, DateUnit};
use hedgerow_table::{HierarchySpec, Kind, Ratio};

use crate::words::{DATE_UNITS, HIERARCHY};

/// Every level costs a map of the whole domain and multiplies the lattice.
const LEVELS_MAX: usize = 100;

const UNITS: [(&str, DateUnit); 5] = [
    ("day", DateUnit::Day),
    ("month", DateUnit::Month),
    ("quarter", DateUnit::Quarter),
    ("year", DateUnit::Year),
    ("decade", DateUnit::Decade),
];

pub(crate) fn read(
    reader: &mut Reader<'_>,
    field: Field<'_>,
    kind: Option<Kind>,
    folder: &Path,
) -> Option<HierarchySpec> {
    let entries = match &field.node.data {
        Data::Text(text) => {
            if let Some(word) =
                HIERARCHY.iter().find(|word| word.name == text.as_str() || word.also.contains(&text.as_str()))
            {
                let problem = format!("{} is a way to build a hierarchy, and needs its levels", quoted(text));
                reader.refuse(&field.node.at, problem, format!("for example `hierarchy = {{ {} }}`", word.example));
                return None;
            }
            return file_path(reader, field).map(|path| HierarchySpec::File(folder.join(path)));
        }
        Data::Table(entries) => entries,
        _ => {
            reader.wrong_type(field, "a file's path or a table");
            return None;
        }
    };
    let fields = reader.table(field.node, HIERARCHY, "hierarchy = { widths = [5, 10, 20] }")?;
    let known: Vec<Field<'_>> = HIERARCHY.iter().filter_map(|word| fields.get(word.name)).collect();
    let [way] = known.as_slice() else {
        // A table with one misspelled key has been answered already.
        if !known.is_empty() || entries.is_empty() {
            let found = if known.is_empty() { "none".to_owned() } else { known.len().to_string() };
            let ways = listed(HIERARCHY.iter().map(|word| word.name));
            let problem = format!("expected exactly one of {ways}, found {found}");
            reader.refuse_key(&field.node.at, problem, "for example `hierarchy = { widths = [5, 10, 20] }`");
        }
        return None;
    };
    let way = *way;
    let spec = if fields.get("widths").is_some() {
        HierarchySpec::Widths(widths(reader, way)?)
    } else if fields.get("mask").is_some() {
        HierarchySpec::Mask(reader.whole(way, 1, LEVELS_MAX as u64)? as usize)
    } else if fields.get("breaks").is_some() {
        HierarchySpec::Breaks(breaks(reader, way)?)
    } else if fields.get("dates").is_some() {
        HierarchySpec::Dates(dates(reader, way)?)
    } else {
        HierarchySpec::File(folder.join(file_path(reader, way)?))
    };
    if let Some(kind) = kind {
        fits_type(reader, way, &spec, kind);
    }
    Some(spec)
}

/// A declared type that the hierarchy could never generalize.
fn fits_type(reader: &mut Reader<'_>, way: Field<'_>, spec: &HierarchySpec, kind: Kind) {
    let (fits, of) = match spec {
        HierarchySpec::Widths(_) => (kind.is_number(), "numbers"),
        HierarchySpec::Dates(_) => (kind == Kind::Date, "dates"),
        HierarchySpec::Breaks(levels) => match levels.first().and_then(|level| level.first()) {
            Some(Bound::Date(_)) => (kind == Kind::Date, "dates"),
            _ => (kind.is_number(), "numbers"),
        },
        HierarchySpec::None | HierarchySpec::File(_) | HierarchySpec::Mask(_) => (true, ""),
    };
    if !fits {
        let problem = format!("generalizes {of}, but the attribute's type is {}", quoted(kind.name()));
        reader.refuse_key(&way.node.at, problem, "change `type`, or choose another hierarchy");
    }
}

/// The elements of a list that has some, and not too many.
fn levels<'n>(reader: &mut Reader<'_>, field: Field<'n>) -> Option<Vec<Field<'n>>> {
    let elements = reader.list(field)?;
    if elements.is_empty() {
        reader.refuse(&field.node.at, "the list is empty: it describes no level", field.hint());
        return None;
    }
    if elements.len() > LEVELS_MAX {
        let problem = format!("{} levels; at most {LEVELS_MAX} are possible", elements.len());
        reader.refuse(&field.node.at, problem, "every level multiplies the search: a handful serves best");
        return None;
    }
    Some(elements)
}

fn widths(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Vec<f64>> {
    let elements = levels(reader, field)?;
    let widths: Vec<Option<Ratio>> = elements.iter().map(|element| reader.ratio(*element, ABOVE_ZERO)).collect();
    let widths: Vec<Ratio> = widths.into_iter().collect::<Option<_>>()?;
    for (pair, element) in widths.windows(2).zip(&elements[1..]) {
        let whole = u128::from(pair[1].numerator) * u128::from(pair[0].denominator);
        let part = u128::from(pair[1].denominator) * u128::from(pair[0].numerator);
        if whole <= part || whole % part != 0 {
            let problem = format!("{} is not a multiple of the width before it, {}", pair[1], pair[0]);
            let hint = "each level must join whole intervals of the one below: for example `widths = [5, 10, 20]`";
            reader.refuse(&element.node.at, problem, hint);
            return None;
        }
    }
    Some(widths.into_iter().map(Ratio::as_f64).collect())
}

fn dates(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Vec<DateUnit>> {
    let elements = levels(reader, field)?;
    let names: Vec<Option<&str>> =
        elements.iter().map(|element| reader.choice(*element, DATE_UNITS.iter(), "unit")).collect();
    let names: Vec<&str> = names.into_iter().collect::<Option<_>>()?;
    let unit = |name: &str| UNITS.into_iter().find(|(known, _)| *known == name).map(|(_, unit)| unit);
    let units: Vec<DateUnit> = names.iter().filter_map(|name| unit(name)).collect();
    for (number, pair) in units.windows(2).enumerate() {
        if pair[0] >= pair[1] {
            let problem = format!("`{}` is not coarser than `{}` before it", names[number + 1], names[number]);
            let hint = "finest first, each once: day, month, quarter, year, decade";
            reader.refuse(&elements[number + 1].node.at, problem, hint);
            return None;
        }
    }
    Some(units)
}

/// A list of lists, or one flat list for one level.
fn breaks(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Vec<Vec<Bound>>> {
    let elements = levels_or_cuts(reader, field)?;
    let mut points: Vec<Vec<(Bound, Field<'_>)>> = Vec::new();
    for level in elements {
        let cuts: Vec<Option<(Bound, Field<'_>)>> =
            level.into_iter().map(|cut| bound(reader, cut).map(|bound| (bound, cut))).collect();
        points.push(cuts.into_iter().collect::<Option<_>>()?);
    }
    one_axis(reader, &mut points)?;
    for level in &points {
        for pair in level.windows(2) {
            if pair[0].0 >= pair[1].0 {
                let problem = format!("the cut point {} is not above {} before it", pair[1].0, pair[0].0);
                reader.refuse(&pair[1].1.node.at, problem, "list the cut points of a level in ascending order");
                return None;
            }
        }
    }
    for (number, pair) in points.windows(2).enumerate() {
        let below = |bound: &Bound| pair[0].binary_search_by(|(cut, _)| cut.partial_cmp(bound).unwrap_or(Less)).is_ok();
        if let Some((bound, cut)) = pair[1].iter().find(|(bound, _)| !below(bound)) {
            let problem = format!("level {} cuts at {bound}, which level {} does not", number + 2, number + 1);
            let hint = "each level must join whole intervals of the one below, so its cut points are among those";
            reader.refuse(&cut.node.at, problem, hint);
            return None;
        }
    }
    Some(points.into_iter().map(|level| level.into_iter().map(|(bound, _)| bound).collect()).collect())
}

fn levels_or_cuts<'n>(reader: &mut Reader<'_>, field: Field<'n>) -> Option<Vec<Vec<Field<'n>>>> {
    let elements = reader.list(field)?;
    let nested = elements.iter().any(|element| matches!(element.node.data, Data::List(_)));
    if !nested && !elements.is_empty() {
        return Some(vec![elements]);
    }
    let mut found = Vec::new();
    for level in levels(reader, field)? {
        let cuts = reader.list(level)?;
        if cuts.is_empty() {
            let hint = "remove the empty level: the top level `*` is implied";
            reader.refuse(&level.node.at, "a level without cut points", hint);
            return None;
        }
        found.push(cuts);
    }
    Some(found)
}

/// A number or a date.
pub(crate) fn bound(reader: &mut Reader<'_>, cut: Field<'_>) -> Option<Bound> {
    let written = reader.text_of(cut.node);
    let date = |found: &str| format!("expected a number or a date such as 2000-01-01, found {}", quoted(found));
    let problem = match &cut.node.data {
        Data::Integer(number) => return Some(Bound::Integer(*number)),
        Data::Float => match written.replace('_', "").parse::<f64>() {
            Ok(number) if number.is_finite() => return Some(Bound::Float(number)),
            _ => format!("expected a number, found {}", quoted(written)),
        },
        Data::Text(text) => match Date::parse_iso(text) {
            Some(day) => return Some(Bound::Date(day)),
            None => date(text),
        },
        Data::Moment(moment) => {
            let day = moment.date.filter(|_| moment.time.is_none());
            let day = day.and_then(|d| Date::from_ymd(d.year.into(), d.month.into(), d.day.into()));
            match day {
                Some(day) => return Some(Bound::Date(day)),
                None => date(written),
            }
        }
        _ => format!("expected a number or a date, found {}", cut.node.type_name()),
    };
    reader.refuse(&cut.node.at, problem, cut.hint());
    None
}

/// Numbers and dates cannot share an axis; whole and other numbers can, and then all become floats.
fn one_axis(reader: &mut Reader<'_>, points: &mut [Vec<(Bound, Field<'_>)>]) -> Option<()> {
    let is_date = |bound: &Bound| matches!(bound, Bound::Date(_));
    let first_is_date = points.first().and_then(|level| level.first()).is_some_and(|(bound, _)| is_date(bound));
    let stray = points.iter().flatten().find(|(bound, _)| is_date(bound) != first_is_date);
    if let Some((_, cut)) = stray {
        reader.refuse(&cut.node.at, "numbers and dates are mixed", "cut an attribute by the one or the other");
        return None;
    }
    if !points.iter().flatten().any(|(bound, _)| matches!(bound, Bound::Float(_))) {
        return Some(());
    }
    for (bound, cut) in points.iter_mut().flatten() {
        if let Bound::Integer(number) = *bound {
            let float = number as f64;
            if float as i128 != i128::from(number) {
                let hint = "write all cut points of the attribute as whole numbers";
                reader.refuse(&cut.node.at, format!("{number} is too large to be mixed with fractions"), hint);
                return None;
            }
            *bound = Bound::Float(float);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_table_of_words_finest_first() {
        assert!(DATE_UNITS.iter().map(|word| word.name).eq(UNITS.map(|(name, _)| name)));
        assert!(UNITS.windows(2).all(|pair| pair[0].1 < pair[1].1));
    }
}
