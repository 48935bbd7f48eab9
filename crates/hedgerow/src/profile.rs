//! The profile of a private source, for its custodian: columns with their values, and what a
//! hierarchy makes of them.

use hedgerow_policy::Role;
use hedgerow_publish::bind::source_options;
use hedgerow_table::read::FEW_VALUES;
use hedgerow_table::{Codes, Column, Hierarchy, HierarchySpec, InputError, Kind, Table};

use crate::partition::Partition;
use crate::{ColumnProfile, Error, Monitor, Policy, Source};

/// Bars of a histogram of numbers or dates.
const BINS: usize = 24;
/// Values of a category that are counted one by one.
const CATEGORIES_MAX: usize = 24;

/// A column of a source. Values of the source are in it: it is for the custodian alone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProfiledColumn {
    /// The counts, and the proposed role with its reason.
    pub profile: ColumnProfile,
    /// How the rows are spread over its values: ranges of numbers and dates in their order, else
    /// the most frequent texts.
    pub histogram: Vec<HistogramBar>,
    /// Rows with a text that has no bar.
    pub others: u64,
    /// Where the values of a column that is not released are too many to be held: more than this.
    /// They were not counted then.
    pub more_than: Option<u64>,
}

/// A bar of a histogram.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HistogramBar {
    /// The value, or the lowest value of the range.
    pub label: String,
    /// Where the range begins and ends, for numbers; days since 1970 for dates.
    pub range: Option<(f64, f64)>,
    /// Rows in it.
    pub rows: u64,
}

/// Reads what `[source]` of a policy names, and profiles every column of it, identifiers and
/// columns that the policy omits among them. The table is without identifiers, and without omitted
/// columns of more values than are worth their memory.
///
/// ```
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let (table, columns) = hedgerow::read_and_profile(&policy, &hedgerow::Monitor::default())?;
/// assert_eq!(columns[0].profile.name, "name");
/// assert!(table.column("name").is_none());
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn read_and_profile(policy: &Policy, monitor: &Monitor<'_>) -> Result<(Table, Vec<ProfiledColumn>), Error> {
    let mut options = source_options(policy, &Default::default(), monitor);
    options.in_full = options.only.take();
    let mut table = Source::of_policy().read_as(Some(policy), &options)?.into_owned();
    let is_omitted = |column: &Column| column.codes.is_empty();
    let omitted = table.columns.iter().enumerate().filter(|(_, column)| is_omitted(column));
    let omitted: Vec<(usize, String)> = omitted.map(|(place, column)| (place, column.name.clone())).collect();
    table.columns.retain(|column| !is_omitted(column));
    let mut columns = profile(&table);
    for (place, name) in &omitted {
        columns.insert(*place, uncounted(name, &table, policy));
    }
    let is_identifier = |name: &str| policy.attribute(name).is_some_and(|known| known.role == Role::Identifier);
    table.columns.retain(|column| !is_identifier(&column.name));
    Ok((table, columns))
}

/// A column whose values were too many.
fn uncounted(name: &str, table: &Table, policy: &Policy) -> ProfiledColumn {
    let profile = ColumnProfile {
        name: name.to_owned(),
        kind: Kind::Category,
        rows: table.rows as u64,
        missing: 0,
        distinct: 0,
        unique_share: 0.0,
        most_frequent_share: 0.0,
        entropy: 0.0,
        length_min: 0,
        length_max: 0,
        role: policy.attribute(name).map(|attribute| attribute.role),
        reason: "its many values are not counted, as it is not released".to_owned(),
        hierarchy: String::new(),
    };
    ProfiledColumn { profile, histogram: Vec::new(), others: 0, more_than: Some(FEW_VALUES as u64) }
}

/// Profiles the columns of a table, with the roles that are proposed for them.
///
/// ```
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let columns = hedgerow::profile(&hedgerow::read_source(&policy)?);
/// assert_eq!(columns[0].profile.name, "age");
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn profile(table: &Table) -> Vec<ProfiledColumn> {
    let profiles = hedgerow_policy::propose::profiles(table);
    let with_histogram = |(profile, column): (ColumnProfile, &Column)| {
        let (histogram, others) = histogram(column);
        ProfiledColumn { profile, histogram, others, more_than: None }
    };
    profiles.into_iter().zip(&table.columns).map(with_histogram).collect()
}

fn histogram(column: &Column) -> (Vec<HistogramBar>, u64) {
    let (counts, domain) = (column.counts(), &column.domain);
    let codes = 0..domain.present() as u32;
    if domain.kind() == Kind::Category {
        // Codes are in the order of the texts.
        let mut codes: Vec<u32> = codes.collect();
        codes.sort_by_key(|&code| std::cmp::Reverse(counts[code as usize]));
        let (shown, others) = codes.split_at(codes.len().min(CATEGORIES_MAX));
        let bar = |&code: &u32| HistogramBar { label: domain.text(code), range: None, rows: counts[code as usize] };
        return (shown.iter().map(bar).collect(), others.iter().map(|&code| counts[code as usize]).sum());
    }
    let numbers: Vec<(u32, f64)> = codes.filter_map(|code| Some((code, domain.number(code)?))).collect();
    let low = numbers.iter().map(|(_, number)| *number).fold(f64::INFINITY, f64::min);
    let high = numbers.iter().map(|(_, number)| *number).fold(f64::NEG_INFINITY, f64::max);
    if numbers.is_empty() {
        return (Vec::new(), 0);
    }
    // Whole numbers and days have whole bins.
    let is_whole = domain.kind() != Kind::Float;
    let span = if is_whole { high - low + 1.0 } else { (high - low).max(f64::MIN_POSITIVE) };
    let width = if is_whole { (span / BINS as f64).ceil().max(1.0) } else { span / BINS as f64 };
    let bins = ((span / width).ceil() as usize).clamp(1, BINS);
    let mut bars: Vec<HistogramBar> = (0..bins)
        .map(|bin| {
            let from = low + width * bin as f64;
            HistogramBar { label: String::new(), range: Some((from, from + width)), rows: 0 }
        })
        .collect();
    for (code, number) in numbers {
        let bar = &mut bars[(((number - low) / width) as usize).min(bins - 1)];
        if bar.label.is_empty() {
            bar.label = domain.text(code);
        }
        bar.rows += counts[code as usize];
    }
    (bars, 0)
}

/// A level of a hierarchy over the values of a column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HierarchyLevel {
    /// Every label that covers a value of the column, with its rows.
    pub labels: Vec<(String, u64)>,
}

/// An attribute's hierarchy over the values of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HierarchyView {
    /// Levels from the values (0) to the top.
    pub levels: Vec<HierarchyLevel>,
    /// Every value with its label on each level.
    pub rows: Vec<Vec<String>>,
}

/// The labels that a policy's hierarchy gives a column, level by level.
///
/// ```
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let table = hedgerow::read_source(&policy)?;
/// let age = hedgerow::hierarchy(&policy, &table, "age")?;
/// assert_eq!(age.levels.last().unwrap().labels.len(), 1);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn hierarchy(policy: &Policy, table: &Table, attribute: &str) -> Result<HierarchyView, Error> {
    let column = column(table, attribute)?;
    let hierarchy = build(policy, column)?;
    let counts = column.counts();
    let levels = hierarchy.levels().iter().map(|level| {
        let mut rows = vec![0; level.labels.len()];
        level.map.iter().zip(&counts).for_each(|(&label, &count)| rows[label as usize] += count);
        let labels = level.labels.iter().map(|label| label.text.clone()).zip(rows);
        HierarchyLevel { labels: labels.filter(|(_, rows)| *rows > 0).collect() }
    });
    let row = |code: usize| {
        let label = |level: &hedgerow_table::Level| level.labels[level.map[code] as usize].text.clone();
        hierarchy.levels().iter().map(label).collect()
    };
    Ok(HierarchyView { levels: levels.collect(), rows: (0..column.domain.cardinality()).map(row).collect() })
}

/// The number of rows that all quasi-identifiers single out while this one is generalized to each
/// of its levels, and the others are as they are. A monitor can cancel.
pub fn unique_by_level(
    policy: &Policy,
    table: &Table,
    attribute: &str,
    monitor: &Monitor<'_>,
) -> Result<Vec<u64>, Error> {
    let own = column(table, attribute)?;
    let hierarchy = build(policy, own)?;
    let others = policy.quasi().filter(|other| other.name != attribute).filter_map(|other| table.column(&other.name));
    let others: Vec<&Column> = others.collect();
    let steps = others.len() + hierarchy.levels().len();
    hedgerow_table::Progress::stage(monitor, "counting", Some(steps as u64));
    let step = || {
        hedgerow_table::Progress::advance(monitor, 1);
        hedgerow_table::Progress::check(monitor)
    };
    let mut apart = Partition::of_all(table.rows);
    for column in others {
        apart = apart.refined(&column.codes, column.domain.cardinality());
        step()?;
    }
    let at = |level: &hedgerow_table::Level| {
        let codes: Codes = own.codes.mapped(&level.map, level.labels.len());
        let unique = apart.refined(&codes, level.labels.len()).unique;
        step().map(|()| unique).map_err(Error::from)
    };
    hierarchy.levels().iter().map(at).collect()
}

/// Some rows of a table as they are, and as they would be released at these levels of the
/// quasi-identifiers, with the columns that are released.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preview {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// For each row its cells before and after.
    pub rows: Vec<Vec<(String, String)>>,
}

/// Shows `rows` rows, spread over the table, at a level of every quasi-identifier; one that is not
/// named stays as it is. Suppression is not shown.
pub fn preview(policy: &Policy, table: &Table, levels: &[(String, u64)], rows: usize) -> Result<Preview, Error> {
    let mut columns = Vec::new();
    let shown: Vec<usize> = (0..rows.min(table.rows)).map(|place| place * table.rows / rows.min(table.rows)).collect();
    let mut cells: Vec<Vec<(String, String)>> = vec![Vec::new(); shown.len()];
    for attribute in policy.attributes.iter().filter(|attribute| attribute.role != Role::Identifier) {
        let Some(column) = table.column(&attribute.name) else { continue };
        columns.push(attribute.name.clone());
        let level = levels.iter().find(|(name, _)| *name == attribute.name).map_or(0, |(_, level)| *level as usize);
        let hierarchy = if level > 0 { Some(build(policy, column)?) } else { None };
        let level = hierarchy.as_ref().and_then(|hierarchy| hierarchy.levels().get(level));
        for (cells, &row) in cells.iter_mut().zip(&shown) {
            let before = column.text(row);
            let after =
                level.map(|level| level.labels[level.map[column.codes.get(row) as usize] as usize].text.clone());
            cells.push((before.clone(), after.unwrap_or(before)));
        }
    }
    Ok(Preview { columns, rows: cells })
}

fn column<'t>(table: &'t Table, name: &str) -> Result<&'t Column, Error> {
    let missing = || InputError::new(name, "the data has no such column", "name one of its columns");
    Ok(table.column(name).ok_or_else(missing)?)
}

fn build(policy: &Policy, column: &Column) -> Result<Hierarchy, Error> {
    let none = (HierarchySpec::None, column.name.clone());
    let declared = policy.attribute(&column.name).and_then(|attribute| attribute.hierarchy.as_ref());
    let (spec, place) = declared.unwrap_or(&none);
    Ok(Hierarchy::build(spec, &column.name, place, &column.domain, &policy.source.nulls)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hospital() -> (Policy, Table) {
        let policy = Policy::load("../../examples/hospital/policy.toml").unwrap();
        let (table, _) = read_and_profile(&policy, &Monitor::default()).unwrap();
        (policy, table)
    }

    #[test]
    fn every_row_is_in_a_bar() {
        let (policy, _) = hospital();
        let (table, columns) = read_and_profile(&policy, &Monitor::default()).unwrap();
        for column in &columns {
            let rows: u64 = column.histogram.iter().map(|bar| bar.rows).sum();
            assert_eq!(rows + column.others + column.profile.missing, table.rows as u64, "{}", column.profile.name);
        }
        let names: Vec<&str> = columns.iter().map(|column| column.profile.name.as_str()).collect();
        assert_eq!(names, table.header, "identifiers are profiled too");
        assert!(table.column("name").is_none());
        let sexes: Vec<u64> = columns[3].histogram.iter().map(|bar| bar.rows).collect();
        assert!(names[3] == "sex" && sexes.len() == 2 && sexes[0] >= sexes[1], "the most frequent first: {sexes:?}");
    }

    #[test]
    fn columns_that_are_not_released_take_no_memory_for_their_many_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("people.csv");
        let rows: String = (0..70_000).map(|row| format!("p{row},{row},{},n{row},{}\n", row % 9, row % 5)).collect();
        std::fs::write(&path, format!("person,income,age,note,size\n{rows}")).unwrap();
        let policy = |more: &str| {
            let text = format!(
                "[source]\npath = \"people.csv\"\n[attributes]\nperson = {{ role = \"identifier\" }}\nage = {{ role = \
                 \"quasi\" }}\nincome = {{ role = \"sensitive\" }}\n{more}\n[[rule]]\nrequire = {{ model = \
                 \"k-anonymity\", k = 5 }}\n[publish]\nmethod = \"mondrian\"\n"
            );
            Policy::parse(&text, folder.path().join("policy.toml")).unwrap()
        };
        let read = |policy: &Policy| {
            let (table, columns) = read_and_profile(policy, &Monitor::default()).unwrap();
            let held: Vec<String> = table.columns.into_iter().map(|column| column.name).collect();
            let counted =
                columns.iter().map(|column| (column.profile.name.clone(), column.more_than)).collect::<Vec<_>>();
            (held, counted)
        };
        let over = Some(FEW_VALUES as u64);
        let counted = |note: Option<u64>| {
            [("person", over), ("income", None), ("age", None), ("note", note), ("size", None)]
                .map(|(name, more)| (name.to_owned(), more))
        };
        let (held, found) = read(&policy(""));
        assert_eq!(held, ["income", "age", "size"], "an omitted column of few values is held");
        assert_eq!(found, counted(over));
        let (held, found) = read(&policy("note = { role = \"plain\" }"));
        assert_eq!((held.len(), found), (4, counted(None).to_vec()), "and one of many that is released");
    }

    #[test]
    fn a_coarser_level_singles_out_no_more_rows() {
        let (policy, table) = hospital();
        for attribute in policy.quasi() {
            let view = hierarchy(&policy, &table, &attribute.name).unwrap();
            for level in &view.levels {
                assert_eq!(level.labels.iter().map(|(_, rows)| rows).sum::<u64>(), table.rows as u64);
            }
            let unique = unique_by_level(&policy, &table, &attribute.name, &Monitor::default()).unwrap();
            assert_eq!(unique.len(), view.levels.len());
            assert!(unique.windows(2).all(|pair| pair[0] >= pair[1]), "{unique:?}");
        }
        let canceled = crate::Cancel::new();
        canceled.cancel();
        let monitor = Monitor::default().cancel_by(&canceled);
        let canceled = unique_by_level(&policy, &table, "age", &monitor).unwrap_err();
        assert_eq!(canceled.kind(), crate::ErrorKind::Canceled);
    }

    #[test]
    fn degenerate_tables_have_profiles() {
        let read = crate::ReadOptions::default();
        for rows in [vec![[None]], vec![[Some("1")], [Some("1")]], vec![[None], [Some("2.5")]]] {
            let table = Table::from_records(["a"], rows, &read).unwrap();
            assert_eq!(profile(&table).len(), 1);
        }
    }

    #[test]
    fn a_preview_shows_the_labels_of_a_level() {
        let (policy, table) = hospital();
        let preview = preview(&policy, &table, &[("age".to_owned(), 4)], 5).unwrap();
        assert_eq!((preview.columns[0].as_str(), preview.rows.len()), ("age", 5));
        assert!(preview.rows.iter().all(|row| row[0].1 == "*" && row[0].0 != "*" && row[1].0 == row[1].1));
    }
}
