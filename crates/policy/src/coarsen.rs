//! `coarsen` of an attribute: how its values become coarser before anything else is done with them.

use hedgerow_config::number::ABOVE_ZERO;
use hedgerow_config::{Field, Fields, Reader, quoted};
use hedgerow_table::hierarchy::{Bound, DateUnit};
use hedgerow_table::{Coarsening, HierarchySpec, Kind, Way};

use crate::words::{COARSEN, DATE_UNITS};
use crate::{Role, hierarchy};

/// Beyond, every float has all its digits.
const DIGITS_MAX: u64 = 15;

pub(crate) fn read(
    reader: &mut Reader<'_>,
    field: Field<'_>,
    role: Option<Role>,
    kind: Option<Kind>,
    spec: Option<&HierarchySpec>,
) -> Option<Coarsening> {
    if let Some(role @ (Role::Identifier | Role::Quasi | Role::Unit)) = role {
        let problem = format!("has no meaning for an attribute with the role {}", quoted(role.name()));
        let hint = match role {
            Role::Quasi => {
                "a quasi-identifier is generalized by its `hierarchy`; coarsen is for what is released as it is"
            }
            _ => "omit it; it is never released",
        };
        reader.refuse_key(&field.node.at, problem, hint);
        return None;
    }
    let fields = reader.table(field.node, COARSEN, "coarsen = { round = 1000 }")?;
    let [round, significant, dates, level] = ["round", "significant", "dates", "level"].map(|key| fields.get(key));
    let given: Vec<Field<'_>> = [round, significant, dates, level].into_iter().flatten().collect();
    if let [_, second, ..] = given.as_slice() {
        let problem = "given together with another way of coarsening";
        reader.refuse_key(&second.node.at, problem, "give one of round, significant, dates and level");
        return None;
    }
    let (bottom, top) = ends(reader, &fields)?;
    let way = if let Some(field) = round {
        Way::Round(reader.ratio(field, ABOVE_ZERO)?)
    } else if let Some(field) = significant {
        Way::Significant(reader.whole(field, 1, DIGITS_MAX)? as u32)
    } else if let Some(field) = dates {
        Way::Dates(DateUnit::from_name(reader.choice(field, DATE_UNITS.iter(), "unit")?)?)
    } else if let Some(field) = level {
        let level = reader.whole(field, 1, hedgerow_table::hierarchy::LEVELS_MAX as u64)? as usize;
        let Some(spec) = spec else {
            let problem = "the attribute has no `hierarchy` to take a level of";
            reader.refuse_key(&field.node.at, problem, "add one: `hierarchy = \"diseases.csv\"`");
            return None;
        };
        Way::Level(spec.clone(), level)
    } else if bottom.is_some() || top.is_some() {
        Way::Clip
    } else {
        reader.refuse(&field.node.at, "says nothing", "for example `coarsen = { round = 1000, top = 150000 }`");
        return None;
    };
    let numbers = matches!(way, Way::Clip | Way::Round(_) | Way::Significant(_));
    if let Some(end) = fields.get("top").or(fields.get("bottom")).filter(|_| !numbers) {
        reader.refuse_key(&end.node.at, "is for numbers", "remove it, or give round or significant");
        return None;
    }
    let fits = match kind {
        Some(kind) if numbers => kind.is_number(),
        Some(kind) if matches!(way, Way::Dates(_)) => kind == Kind::Date,
        _ => true,
    };
    if !fits {
        let problem = format!("does not fit the attribute's type {}", quoted(kind.map_or("", Kind::name)));
        reader.refuse_key(&field.node.at, problem, "change `type`, or choose another way of coarsening");
        return None;
    }
    Some(Coarsening { way, bottom, top, place: reader.place(&field.node.at) })
}

/// The lowest and the highest number; `None` when they were given wrongly.
fn ends(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<(Option<Bound>, Option<Bound>)> {
    let mut read = |key: &str| match fields.get(key) {
        None => Some(None),
        Some(field) => match hierarchy::bound(reader, field)? {
            Bound::Date(_) => {
                reader.refuse(&field.node.at, "expected a number, found a date", field.hint());
                None
            }
            number => Some(Some(number)),
        },
    };
    let (bottom, top) = (read("bottom"), read("top"));
    let (bottom, top) = (bottom?, top?);
    if let (Some(low), Some(high), Some(field)) = (bottom, top, fields.get("top"))
        && !matches!(low.partial_cmp(&high), Some(std::cmp::Ordering::Less))
    {
        reader.refuse(&field.node.at, "is not above `bottom`", field.hint());
        return None;
    }
    Some((bottom, top))
}
