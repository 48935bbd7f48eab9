//! The proposal as text: short, aligned, with the reason for every inference.

use std::fmt::Write as _;

use hedgerow_config::Selection;
use hedgerow_table::Kind;
use hedgerow_table::hierarchy::Bound;
use hedgerow_table::read::NumberFormat;

use super::coarsening::coarsening;
use super::described::Described;
use super::proposed::{ProposeOptions, Proposed, TableRows};
use super::relations::Relation;
use super::rules::{Protection, class_size, protection};
use super::vocabulary::Concept;
use super::way::{Way, number};
use crate::Role;
use crate::toml_text::{key, quoted};

/// Attributes beyond these limits stay out of the policy, and thereby out of the release: a policy
/// is read by people, and refused beyond a mebibyte.
const ATTRIBUTES_MAX: usize = 4_000;
const BYTES_MAX: usize = 700 << 10;
const NAME_BYTES_MAX: usize = 1_000;
/// Names longer than this are not aligned.
const ALIGNED_MAX: usize = 28;
/// Comments begin no farther right than this, but for lines that are longer themselves.
const COMMENT_COLUMN_MAX: usize = 78;
const LINE_MAX: usize = 128;
/// A search that judges more combinations of levels, times rules, than this gets a time limit.
const UNLIMITED_JUDGMENTS_MAX: f64 = 5e6;

/// An age that people do not reach.
const OLDEST: f64 = 120.0;

/// With more quasi-identifiers, classes of neighbors keep far more than one level for each column.
const FULL_DOMAIN_QUASI_MAX: usize = 8;

const HEAD: &str = "\
# A draft for someone who knows the data: check every role first, then the hierarchies.
#   identifier   never released
#   quasi        quasi-identifier: others may know it; generalized
#   sensitive    others must not learn it; protected by a rule
#   plain        released as it is
# `coarsen` makes values coarser before anything else: exact amounts and days single people out.
# A column that is not listed is not released.

";

const CONSISTENT: &str =
    "consistent = true  # also among the rows that are left when combinations that do not occur are excluded\n";

const HEAD_OF_UNITS: &str = "#   unit         whose row it is: guarantees count units, not rows; never released\n";

pub(super) fn policy(
    columns: &[Proposed<'_>],
    relations: &[Relation],
    rows: &TableRows<'_>,
    source: &str,
    options: &ProposeOptions,
) -> String {
    let mut text = match rows.units {
        Some(_) => HEAD.replace("#   quasi ", &format!("{HEAD_OF_UNITS}#   quasi ")),
        None => String::from(HEAD),
    };
    source_section(&mut text, source, options);
    let written = attributes_section(&mut text, columns);
    let k = class_size(rows.people(), options.k);
    rules_section(&mut text, &written, rows, k, options.consistent);
    publish_section(&mut text, &written, rows, k, options.consistent);
    relations_section(&mut text, relations);
    groups_section(&mut text, &written);
    alternatives(&mut text, &written, k);
    text
}

fn source_section(text: &mut String, source: &str, options: &ProposeOptions) {
    // Rows in memory have no source that a policy could name.
    if source.is_empty() {
        return;
    }
    let key = if options.database { "url" } else { "path" };
    let _ = writeln!(text, "[source]\n{key} = {}", quoted(source));
    let _ = match &options.selection {
        Some(Selection::Table(table)) => writeln!(text, "table = {}", quoted(table)),
        Some(Selection::Query(query)) => writeln!(text, "query = {}", quoted(query)),
        None => Ok(()),
    };
    if let Some(format) = options.format {
        let _ = writeln!(text, "format = {}", quoted(format.name()));
    }
    for (key, character) in [("delimiter", options.delimiter), ("quote", options.quote)] {
        if let Some(character) = character {
            let _ = writeln!(text, "{key} = {}", quoted(&char::from(character).to_string()));
        }
    }
    if options.nulls != [""] {
        let mut nulls: Vec<&str> = options.nulls.iter().map(String::as_str).collect();
        nulls.sort_unstable();
        nulls.dedup();
        let nulls: Vec<String> = nulls.into_iter().map(quoted).collect();
        let _ = writeln!(text, "null = [{}]  # what stands for a missing value", nulls.join(", "));
    }
    if let Some(numbers) = options.formats.numbers {
        number_format(text, numbers, options.formats.other_numbers);
    }
}

/// How numbers are written, and how else they could be meant.
fn number_format(text: &mut String, numbers: NumberFormat, other: Option<NumberFormat>) {
    if numbers.decimal() != '.' {
        let _ = writeln!(text, "decimal = {}", quoted(&numbers.decimal().to_string()));
    }
    if let Some(mark) = numbers.thousands() {
        let _ = writeln!(text, "thousands = {}", quoted(&mark.to_string()));
    }
    let Some(other) = other else { return };
    let keys = match (other.decimal(), other.thousands()) {
        (decimal, None) => format!("decimal = {}", quoted(&decimal.to_string())),
        ('.', Some(mark)) => format!("thousands = {}", quoted(&mark.to_string())),
        (decimal, Some(mark)) => {
            format!("decimal = {} and thousands = {}", quoted(&decimal.to_string()), quoted(&mark.to_string()))
        }
    };
    let _ = writeln!(text, "# The numbers could also be meant with {keys} instead: check which it is.");
}

/// Writes the attributes and returns those that are in the policy.
fn attributes_section<'c, 't>(text: &mut String, columns: &'c [Proposed<'t>]) -> Vec<&'c Proposed<'t>> {
    let keys: Vec<String> = columns.iter().map(|column| key(&column.facts.column.name)).collect();
    let lengths = keys.iter().map(|key| key.chars().count());
    let width = lengths.filter(|length| *length <= ALIGNED_MAX).max().unwrap_or(0);
    // A policy without a quasi attribute is invalid, so one is written however full the policy is.
    let needed = columns.iter().position(|column| column.role.role == Some(Role::Quasi));
    let (mut lines, mut written, mut bytes) = (Vec::new(), Vec::new(), text.len());
    for (index, (column, key)) in columns.iter().zip(&keys).enumerate() {
        let full =
            lines.len() >= ATTRIBUTES_MAX || bytes > BYTES_MAX || column.facts.column.name.len() > NAME_BYTES_MAX;
        if full && Some(index) != needed {
            continue;
        }
        let (line, comment) = (attribute_line(column, key, width), attribute_comment(column));
        bytes += line.len() + comment.len();
        lines.push((line, comment));
        if column.role.role.is_some() {
            written.push(column);
        }
    }
    text.push_str("\n[attributes]\n");
    write_aligned(text, &lines);
    let omitted = columns.len() - lines.len();
    if omitted > 0 {
        let _ = writeln!(text, "# {omitted} more columns are not listed: too many, or too long a name");
    }
    written
}

fn attribute_line(column: &Proposed<'_>, key: &str, width: usize) -> String {
    let role = effective_role(column);
    let commented = if role.is_none() { "# " } else { "" };
    let mut line = format!("{commented}{key:width$} = {{ role = \"{}\"", role.unwrap_or(Role::Sensitive).name());
    let kind = match (role, &column.plan) {
        (Some(Role::Identifier | Role::Unit) | None, _) => None,
        (_, Some(plan)) if column.facts.distinct > 0 => Some(plan.kind),
        (_, Some(_)) => None,
        (_, None) => Some(column.facts.kind()),
    };
    // A category found as such needs no declaration; numbers that are codes do.
    if let Some(kind) = kind.filter(|kind| *kind != Kind::Category || column.facts.kind() != Kind::Category) {
        let _ = write!(line, ", type = \"{}\"", kind.name());
    }
    if let Some(dates) = column.dates.as_ref().filter(|_| kind == Some(Kind::Date)) {
        let _ = write!(line, ", date-format = {}", quoted(dates.format.pattern()));
    }
    if let Some(range) = natural_range(column, role, kind) {
        let _ = write!(line, ", range = {range}");
    }
    let order = column.plan.as_ref().map(|plan| plan.order.as_slice()).unwrap_or_default();
    if !order.is_empty() {
        let texts: Vec<String> = order.iter().map(|text| quoted(text)).collect();
        let _ = write!(line, ", order = [{}]", texts.join(", "));
    }
    if let Some(way) = column.plan.as_ref().map(|plan| &plan.way).filter(|way| **way != Way::None) {
        let written = way_in_toml(way, column.file.as_deref());
        let _ = write!(line, ", hierarchy = {written}");
    }
    if let Some(coarsen) = coarsening(column, role, kind) {
        let _ = write!(line, ", coarsen = {coarsen}");
    }
    line.push_str(" }");
    line
}

/// The range of ages, amounts and counts in general: not below zero, unless some values are.
fn natural_range(column: &Proposed<'_>, role: Option<Role>, kind: Option<Kind>) -> Option<&'static str> {
    let domain = column.facts.domain();
    let measured = role == Some(Role::Quasi) || column.role.concept == Concept::Quantity;
    if !measured || !kind?.is_number() || kind? != domain.kind() {
        return None;
    }
    let (low, high) = (domain.number(0)?, domain.number(domain.present().checked_sub(1)? as u32)?);
    let age = column.role.concept == Concept::Age && high <= OLDEST;
    (low >= 0.0).then_some(if age { "[0, 120]" } else { "[0, inf]" })
}

/// Ages that no one reaches: mistakes, or a code for a missing value.
fn absurd_ages(column: &Proposed<'_>) -> Option<String> {
    let domain = column.facts.domain();
    if column.role.concept != Concept::Age || !domain.kind().is_number() {
        return None;
    }
    let is_absurd = |code: u32| domain.number(code).is_some_and(|age| !(0.0..=OLDEST).contains(&age));
    let counts = (0u32..).zip(column.facts.present_counts());
    let rows: u64 = counts.filter(|(code, _)| is_absurd(*code)).map(|(_, count)| count).sum();
    match rows {
        0 => None,
        1 => Some("1 row is not from 0 to 120: mend it, or add its value to `null`".to_owned()),
        _ => Some(format!("{rows} rows are not from 0 to 120: mend them, or add their values to `null`")),
    }
}

fn attribute_comment(column: &Proposed<'_>) -> String {
    let role = effective_role(column);
    let reason = match (role, column.role.role) {
        (Some(Role::Plain), Some(Role::Sensitive)) => "the same in every row: whoever is in the data has it",
        _ => &column.role.reason,
    };
    let omitted = if role.is_none() { "omitted: " } else { "" };
    if let Some(other) = column.dates.as_ref().and_then(|dates| dates.other.as_ref()) {
        return format!("{omitted}{reason}; day and month could be the other way round: {other}");
    }
    let about = column.plan.as_ref().map(|plan| plan.about.to_owned()).filter(|about| !about.is_empty());
    let codes = column.facts.described.and_then(Described::codes_in_words);
    let absurd = role.is_some().then(|| absurd_ages(column)).flatten();
    let parts = [Some(format!("{omitted}{reason}")), about, codes, absurd];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Comments in one column where lines are short enough, and above a line where they do not.
fn write_aligned(text: &mut String, lines: &[(String, String)]) {
    let length = |line: &str| line.lines().last().unwrap_or_default().chars().count();
    let column = lines.iter().map(|(line, _)| length(line)).filter(|length| *length <= COMMENT_COLUMN_MAX).max();
    let column = column.unwrap_or(0);
    for (line, comment) in lines {
        let length = length(line);
        // Aligned, else right after the line, else above it.
        let mut columns = [length.max(column) + 2, length + 2].into_iter();
        match columns.find(|begins| !line.contains('\n') && begins + comment.chars().count() + 2 <= LINE_MAX) {
            Some(begins) => {
                let _ = writeln!(text, "{line}{}# {comment}", " ".repeat(begins - length));
            }
            None => {
                let _ = writeln!(text, "# {comment}:\n{line}");
            }
        }
    }
}

/// A sensitive attribute in which all rows agree cannot be protected.
fn effective_role(column: &Proposed<'_>) -> Option<Role> {
    match column.role.role {
        Some(Role::Sensitive) if protection(&column.facts).is_none() => {
            // One value or none: an individual who has it is distinguished by it.
            (column.facts.cardinality() < 2).then_some(Role::Plain)
        }
        role => role,
    }
}

fn way_in_toml(way: &Way, file: Option<&str>) -> String {
    match way {
        Way::None => String::new(),
        Way::Widths(widths) => {
            let widths: Vec<String> = widths.iter().map(|width| number(Bound::Float(*width))).collect();
            format!("{{ widths = [{}] }}", widths.join(", "))
        }
        Way::Breaks(levels) => {
            let level = |cuts: &Vec<Bound>| {
                let cuts: Vec<String> = cuts.iter().map(|cut| number(*cut)).collect();
                format!("[{}]", cuts.join(", "))
            };
            let levels: Vec<String> = levels.iter().map(level).collect();
            let flat = levels.join(", ");
            if flat.len() <= 50 {
                format!("{{ breaks = [{flat}] }}")
            } else {
                format!("{{ breaks = [\n    {},\n] }}", levels.join(",\n    "))
            }
        }
        Way::Mask(characters) => format!("{{ mask = {characters} }}"),
        Way::Dates(units) => {
            let units: Vec<String> = units.iter().map(|unit| quoted(unit.name())).collect();
            format!("{{ dates = [{}] }}", units.join(", "))
        }
        Way::File { .. } => quoted(file.unwrap_or_default()),
    }
}

/// For the printed profile.
pub(super) fn way_in_words(way: &Way) -> String {
    match way {
        Way::None => "value, *".to_owned(),
        Way::Widths(widths) => {
            let widths: Vec<String> = widths.iter().map(|width| number(Bound::Float(*width))).collect();
            format!("widths {}", widths.join(", "))
        }
        Way::Breaks(levels) => {
            let sizes: Vec<String> = levels.iter().map(|cuts| (cuts.len() + 1).to_string()).collect();
            format!("quantiles in {} intervals", sizes.join(", "))
        }
        Way::Mask(characters) => format!("mask {characters}"),
        Way::Dates(units) => units.iter().map(|unit| unit.name()).collect::<Vec<_>>().join(", "),
        Way::File { levels, .. } => format!("file, {levels} levels below *"),
    }
}

fn rules_section(text: &mut String, columns: &[&Proposed<'_>], rows: &TableRows<'_>, k: u64, consistent: bool) {
    let consistent = if consistent { CONSISTENT } else { "" };
    let meaning = match rows.rows {
        _ if rows.units.is_some() => format!("at least {k} units fit every row of a unit"),
        0 => "the table has no rows: nothing can be published yet".to_owned(),
        1 => "one row cannot hide among others: do not publish it".to_owned(),
        _ => format!("everyone shares the quasi-identifiers with at least {} others", k - 1),
    };
    let _ = writeln!(text, "\n[[rule]]  # {meaning}\nrequire = {{ model = \"k-anonymity\", k = {k} }}");
    text.push_str(consistent);
    for column in columns.iter().filter(|column| effective_role(column) == Some(Role::Sensitive)) {
        let Some(protection) = protection(&column.facts) else { continue };
        let name = quoted(&column.facts.column.name);
        let distinct = |l: u64| {
            (
                format!("at least {l} values remain possible for everyone"),
                format!("{{ model = \"distinct-l-diversity\", l = {l} }}"),
            )
        };
        let mut rules: Vec<((String, String), &str)> = Vec::new();
        match protection {
            Protection::Distinct { .. } if rows.two_values_of.contains(&column.facts.column.name) => {
                let (meaning, model) = distinct(2);
                rules
                    .push(((format!("{meaning}: a unit that has several counts with any of them"), model), consistent));
            }
            Protection::Distinct { l } => rules.push((distinct(l), consistent)),
            Protection::RareAtMostHalf { values } => {
                let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
                let values = values.join(", ");
                let rare = format!("{{ model = \"alpha-k-anonymity\", alpha = 0.5, k = {k}, values = [{values}] }}");
                // Of a person whom combinations leave few rows, a rare value easily has half.
                if consistent.is_empty() {
                    let meaning =
                        "two values remain for everyone, and no one has a rare one with a confidence above one half";
                    rules.push(((meaning.to_owned(), format!("[{}, {rare}]", distinct(2).1)), ""));
                } else {
                    let meaning = "no one has a rare value with a confidence above one half";
                    rules.extend([(distinct(2), consistent), ((meaning.to_owned(), rare), "")]);
                }
            }
        }
        for ((meaning, model), consistent) in rules {
            let _ = writeln!(text, "\n[[rule]]  # {meaning}\nprotect = {name}\nrequire = {model}");
            text.push_str(consistent);
            if rows.one_row_of.contains(&column.facts.column.name) {
                text.push_str(
                    "rows = \"one\"  # of all rows of a unit, which have several values, no class keeps it\n",
                );
            }
        }
    }
}

fn publish_section(text: &mut String, columns: &[&Proposed<'_>], rows: &TableRows<'_>, k: u64, consistent: bool) {
    let quasi = columns.iter().filter(|column| column.role.role == Some(Role::Quasi)).count();
    if quasi > FULL_DOMAIN_QUASI_MAX {
        let _ = writeln!(
            text,
            "\n[publish]\nmethod = \"cluster\"  # {quasi} quasi-identifiers: one level for each column would lose far more"
        );
        suppression_of_units(text, rows, k, consistent);
        return;
    }
    text.push_str("\n[publish]\nmethod = \"full-domain\"\n");
    if !suppression_of_units(text, rows, k, consistent) {
        text.push_str(
            "suppression = 0.02  # up to 2 % of the rows may be suppressed rather than all others made coarser\n",
        );
    }
    text.push_str(
        "loss = \"ncp\"        # what the search minimizes: the mean share of its range that a cell covers\n",
    );
    let plans = columns.iter().filter_map(|column| column.plan.as_ref());
    let nodes: f64 = plans.map(|plan| plan.way.levels() as f64 + 2.0).product();
    let rules = 1 + columns.iter().filter(|column| effective_role(column) == Some(Role::Sensitive)).count();
    if nodes * rules as f64 > UNLIMITED_JUDGMENTS_MAX {
        let _ = writeln!(
            text,
            "max-seconds = 60    # {nodes:.0e} combinations of levels: then the best one found, not proven to be the best"
        );
    }
}

/// Whole units are suppressed, by every method: at least those that no others are like.
fn suppression_of_units(text: &mut String, rows: &TableRows<'_>, k: u64, consistent: bool) -> bool {
    const LEAST: u64 = 5;
    /// Combinations of values leave some units alone among those with as many rows.
    const MORE_WHERE_CONSISTENT: u64 = 20;
    let Some(units) = rows.units else { return false };
    let more = if consistent { MORE_WHERE_CONSISTENT } else { 0 };
    let hundredths = (units.hardly_hidden(k) + more).clamp(LEAST, 99);
    let why = if consistent { ", or too few rows that can be theirs" } else { "" };
    let _ = writeln!(
        text,
        "suppression = 0.{hundredths:02}  # up to {hundredths} % of the units, and of the rows: some have a number of rows \
         that few others have{why}"
    );
    true
}

/// A relation between two columns, as text.
fn relations_section(text: &mut String, relations: &[Relation]) {
    if relations.is_empty() {
        return;
    }
    text.push_str(
        "\n# These hold in every row. Whoever knows the one knows the other: check that their roles agree.\n",
    );
    for relation in relations {
        let _ = match relation {
            Relation::Determines { from, to } => writeln!(text, "#   {} determines {}", key(from), key(to)),
            Relation::Sum { total, parts: [first, second] } => {
                writeln!(text, "#   {} = {} + {}", key(total), key(first), key(second))
            }
        };
    }
}

/// Which files a person should look at first.
fn groups_section(text: &mut String, columns: &[&Proposed<'_>]) {
    let grouped = columns.iter().filter(|column| column.plan.as_ref().is_some_and(|plan| plan.by_frequency));
    let grouped: Vec<&str> = grouped.filter_map(|column| column.file.as_deref()).collect();
    if !grouped.is_empty() {
        text.push_str("\n# These files join values that are rare, not alike: regroup them by meaning where you can.\n");
        let _ = writeln!(text, "#   {}", grouped.join("\n#   "));
    }
}

fn alternatives(text: &mut String, columns: &[&Proposed<'_>], k: u64) {
    let sensitive = columns.iter().find(|column| effective_role(column) == Some(Role::Sensitive));
    text.push_str("\n# Alternatives, in place of the above or in addition:\n");
    if let Some(column) = sensitive {
        let name = quoted(&column.facts.column.name);
        let _ = writeln!(text, "# [[rule]]\n# protect = {name}");
        let alpha = format!("alpha-k-anonymity\", alpha = 0.5, k = {k}");
        for (model, meaning) in [
            ("t-closeness\", t = 0.3", "the distribution in every class is close to the table's"),
            ("entropy-l-diversity\", l = 2", "as uncertain as among l equally likely values"),
            ("frequency-l-diversity\", l = 2", "no value exceeds 1/l of a class"),
            ("recursive-l-diversity\", c = 3, l = 2", "the commonest value stays below c times the others"),
            (alpha.as_str(), "classes of k rows, no value above the share alpha"),
        ] {
            let require = format!("# require = {{ model = \"{model} }}");
            let _ = writeln!(text, "{require:<66} # {meaning}");
        }
    }
    text.push_str(
        "# loss = \"granularity\"     # mean share of a hierarchy's leaves under a cell\n\
         # loss = \"precision\"       # mean height in the hierarchies\n\
         # loss = \"discernibility\"  # sum of squared class sizes\n\
         # loss = \"average-class\"   # mean class size over k\n",
    );
}
