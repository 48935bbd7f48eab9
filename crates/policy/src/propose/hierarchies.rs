//! A hierarchy for a column, chosen by what its values are. Whatever is proposed has been tried on
//! the values.

use hedgerow_table::{Domain, Hierarchy, HierarchySpec, Kind};

use super::profile::{Facts, texts_of};
use super::vocabulary::Concept;
use super::way::Way;
use super::{codes, countries, dates, groups, numbers};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) way: Way,
    /// The type to declare: the one found, or `category` for numbers that are codes.
    pub(super) kind: Kind,
    /// A note about the levels; may be empty.
    pub(super) about: &'static str,
    /// The texts in their order, when they have one; else empty.
    pub(super) order: Vec<String>,
    /// The groups are of values that are equally frequent, not of values that mean the same.
    pub(super) by_frequency: bool,
}

impl Plan {
    fn new(way: Way, kind: Kind, about: &'static str) -> Plan {
        Plan { way, kind, about, order: Vec::new(), by_frequency: false }
    }
}

impl Plan {
    /// The same column, joined by the columns that it determines.
    pub(super) fn by_place(self, way: Way) -> Plan {
        Plan { way, about: "joined by the columns that it determines", by_frequency: false, ..self }
    }
}

/// At most this many values need no level between them and the top.
const UNGROUPED_VALUES_MAX: u64 = 8;

/// Codes this long have a level for every character; longer ones only where the characters divide
/// them well.
const MASK_MAX: usize = 6;

pub(super) fn plan(facts: &Facts<'_>, concept: Concept) -> Plan {
    let kind = facts.kind();
    if facts.distinct == 0 {
        return Plan::new(Way::None, Kind::Category, "");
    }
    let plan = match kind {
        Kind::Date => Plan::new(dates::units(facts).map_or(Way::None, Way::Dates), kind, ""),
        Kind::Category => texts(facts, concept),
        // Fractions are never codes.
        Kind::Float => number(facts, concept),
        Kind::Integer => match concept {
            Concept::Age | Concept::Open | Concept::Quantity => number(facts, concept),
            Concept::Code if facts.length_min >= 3 => texts(facts, concept),
            Concept::Code | Concept::Country | Concept::Nominal if facts.distinct <= 1_000 => texts(facts, concept),
            Concept::Code | Concept::Country | Concept::Nominal => number(facts, concept),
        },
    };
    if accepted(&plan, facts.domain()) { plan } else { fallback(facts, plan.kind) }
}

fn number(facts: &Facts<'_>, concept: Concept) -> Plan {
    let kind = facts.kind();
    if concept == Concept::Age && numbers::are_ages(facts) {
        return Plan::new(Way::Widths(vec![5.0, 10.0, 20.0]), kind, "");
    }
    match numbers::intervals(facts) {
        Some(numbers::Intervals::Widths(widths)) => Plan::new(Way::Widths(widths), kind, ""),
        Some(numbers::Intervals::Breaks(levels)) => Plan::new(Way::Breaks(levels), kind, "intervals by quantiles"),
        None => Plan::new(Way::None, kind, ""),
    }
}

/// Texts, and whole numbers that are codes: these become a category, since their differences mean
/// nothing.
fn texts(facts: &Facts<'_>, concept: Concept) -> Plan {
    let kind = Kind::Category;
    let star = texts_of(facts.domain()).iter().any(|text| text.contains('*'));
    if !star
        && concept != Concept::Code
        && let Some(file) = groups::in_order(facts)
    {
        return Plan { order: groups::bands_in_order(facts), ..Plan::new(file, kind, "neighbors joined") };
    }
    // A code's characters say which values belong together, also when there are few.
    let coded = concept == Concept::Code && facts.distinct > 2 && facts.length_min >= 3;
    if facts.distinct <= UNGROUPED_VALUES_MAX && !star && !coded {
        return Plan { order: groups::bands_in_order(facts), ..Plan::new(Way::None, kind, "") };
    }
    if let Some((file, ambiguous)) = dates::written_out(facts) {
        let about = if ambiguous {
            "month, year, decade; day and month could be the other way round: the first number is taken as the day"
        } else {
            "month, year, decade"
        };
        return Plan::new(file, kind, about);
    }
    if concept == Concept::Country
        && let Some(file) = countries::regions(facts)
    {
        return Plan::new(file, kind, "regions, continents");
    }
    let codes = concept == Concept::Code || codes::look_like_codes(facts);
    if codes && !star && facts.length_max <= MASK_MAX && codes::are_equally_long(facts) {
        return Plan::new(Way::Mask(facts.length_max), kind, "");
    }
    if codes && let Some(file) = codes::prefixes(facts) {
        return Plan::new(file, kind, "by how the codes begin");
    }
    match groups::by_frequency(facts) {
        Some(file) => Plan { by_frequency: true, ..Plan::new(file, kind, "") },
        None => Plan::new(Way::None, kind, ""),
    }
}

/// When a way was refused: text in a file of its own top, numbers without levels.
fn fallback(facts: &Facts<'_>, kind: Kind) -> Plan {
    match groups::by_frequency(facts) {
        Some(file) if kind == Kind::Category => Plan { by_frequency: true, ..Plan::new(file, kind, "") },
        _ => Plan::new(Way::None, kind, ""),
    }
}

fn accepted(plan: &Plan, domain: &Domain) -> bool {
    let spec = match &plan.way {
        Way::None => HierarchySpec::None,
        Way::Widths(widths) => HierarchySpec::Widths(widths.clone()),
        Way::Breaks(levels) => HierarchySpec::Breaks(levels.clone()),
        Way::Mask(characters) => HierarchySpec::Mask(*characters),
        Way::Dates(units) => HierarchySpec::Dates(units.clone()),
        // Written so that it is valid; nothing is on the disk yet that could be tried.
        Way::File { .. } => return true,
    };
    let declared = match (domain.kind(), plan.kind) {
        (Kind::Integer, Kind::Category) => as_category(domain),
        _ => domain.clone(),
    };
    Hierarchy::build(&spec, "", "", &declared, &[String::new()]).is_ok()
}

/// The values as the texts they are written as.
fn as_category(domain: &Domain) -> Domain {
    let texts: Vec<String> = texts_of(domain);
    match Domain::from_texts(&texts, domain.missing_code().is_some(), Some(Kind::Category)) {
        Ok((domain, _)) => domain,
        Err(_) => domain.clone(),
    }
}
