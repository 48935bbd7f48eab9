//! Units of a release that does not link them, counted again from its source.
//!
//! The labels of a full-domain release say on which levels it is, and on given levels the rules say
//! which units are suppressed. Local recodings depend on nothing but the policy and the source. So
//! a reader with both can generate the released rows again, and counts the units in them, provided
//! that they are the same rows.

use std::hash::BuildHasher;
use std::path::PathBuf;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use hedgerow_draft::bind::Bound;
use hedgerow_draft::dependencies::closed_policy;
use hedgerow_draft::draft::{Draft, DraftContent};
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::PublishOptions;
use hedgerow_draft::units::Units;
use hedgerow_lattice::full_domain::codes_at;
use hedgerow_local as local;
use hedgerow_policy::{Policy, Rule};
use hedgerow_privacy::judge::Achieved;
use hedgerow_privacy::{Judge, Model, UnitRows};
use hedgerow_release::manifest::Claim;
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::{Codes, Column, InputError, Table, with_words};
use hedgerow_verify::check::claim;

/// The most combinations of levels that are tried where labels do not tell levels apart.
const COMBINATIONS_MAX: usize = 256;

/// The units of a release, counted in its source.
#[derive(Debug)]
pub struct UnitsRecounted {
    /// The guarantees of the policy over units, `know` closed under dependencies.
    pub claims: Vec<Claim>,
    /// Units in the source.
    pub source: u64,
    /// Units with a released row.
    pub out: u64,
    /// Whether the rows that the release links are those of units, where it links rows.
    pub links_agree: bool,
}

/// The guarantees of a policy over the units of a release made from `source`. Refused where the
/// release is not what the policy makes of this source.
pub fn recount(policy: &Policy, source: &Table, release: &Release) -> Result<UnitsRecounted, PublishError> {
    let (achieved, made) = made_again(policy, source, release)?;
    let closed = closed_policy(policy, source)?;
    let policy = closed.as_ref().unwrap_or(policy);
    let models = policy.rules.iter().flat_map(|rule| rule.require.iter().map(move |model| (rule, model)));
    let claim = |((rule, model), achieved): ((&Rule, &Model), &Achieved)| Claim {
        rows: Some(rule.rows.name().to_owned()),
        ..claim(model, &rule.know, rule.protect.as_ref(), achieved)
    };
    let units = Units::of_policy(policy, source);
    let mut out: Vec<u32> = made.rows.iter().map(|(row, _)| units.of_row[*row]).collect();
    out.sort_unstable();
    out.dedup();
    Ok(UnitsRecounted {
        claims: models.zip(achieved.iter().flatten()).map(claim).collect(),
        source: units.count as u64,
        out: out.len() as u64,
        links_agree: links_agree(release, &made, &units),
    })
}

/// Whether the units of the released rows are, as multisets of rows, those of the source.
fn links_agree(release: &Release, made: &Fingerprints, units: &Units) -> bool {
    let ReleaseTables::Generalized(tables) = release.tables() else { return true };
    let columns: Option<Vec<&Codes>> =
        tables.units.iter().map(|name| tables.table.column(name).map(|column| &column.codes)).collect();
    let Some(columns) = columns.filter(|columns| !columns.is_empty()) else { return true };
    let (of_row, _) = hedgerow_privacy::units::numbered(&columns, tables.table.rows);
    let released = Fingerprints::of_release(&tables.table, &tables.units);
    released.by_unit(&of_row) == made.by_unit(&units.of_row)
}

/// The unit of each row of a release made from `source`. Released rows that are equal take each
/// other's place, so that whatever is counted by their cells is counted right.
pub fn of_released_rows(policy: &Policy, source: &Table, release: &Release) -> Result<Vec<u32>, PublishError> {
    let (_, made) = made_again(policy, source, release)?;
    let ReleaseTables::Generalized(tables) = release.tables() else { return Err(other(release).into()) };
    let units = Units::of_policy(policy, source);
    let mut left: HashMap<u64, Vec<u32>, FixedState> = HashMap::default();
    for (row, cells) in made.rows {
        left.entry(cells).or_default().push(units.of_row[row]);
    }
    let released = Fingerprints::of_release(&tables.table, &tables.units);
    let of_row = released.rows.iter().map(|(_, cells)| left.get_mut(cells)?.pop()).collect::<Option<Vec<u32>>>();
    Ok(of_row.ok_or_else(|| other(release))?)
}

fn other(release: &Release) -> InputError {
    let problem = "the release does not have the rows that the policy makes of its source";
    InputError::new(release.name(), problem, "name the policy and the source that it was made from")
}

/// The rows of a release, made again, and what the guarantees achieve over their units.
fn made_again(
    policy: &Policy,
    source: &Table,
    release: &Release,
) -> Result<(Vec<Vec<Achieved>>, Fingerprints), PublishError> {
    let closed = closed_policy(policy, source)?;
    let policy = closed.as_ref().unwrap_or(policy);
    let bound = Bound::new(policy, source)?;
    let judge = bound.judge()?;
    let other = || other(release);
    let (ReleaseTables::Generalized(tables), Some(units)) = (release.tables(), bound.units()) else {
        return Err(other().into());
    };
    let released = Fingerprints::of_release(&tables.table, &tables.units);
    if policy.publish.method.is_local() {
        let draft = local::draft(&bound, &PublishOptions::to(PathBuf::new()))?;
        let made = Fingerprints::of_draft(&draft, &tables.table, &tables.units);
        let made = made.filter(|made| *made == released).ok_or_else(other)?;
        return Ok((draft.units.ok_or_else(other)?.into_achieved(), made));
    }
    let combinations = combinations(&bound, &tables.table).ok_or_else(other)?;
    for levels in combinations {
        let columns = codes_at(&bound, &levels);
        let codes: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
        if let Some((kept, achieved)) = judged(&judge, units, &codes, source.rows)
            && let Some(made) = Fingerprints::of_source(&bound, &tables.table, &tables.units, &levels, &kept)
            && made == released
        {
            return Ok((achieved, made));
        }
    }
    Err(other().into())
}

/// The rows that stay on some levels, and what they achieve over units.
fn judged(judge: &Judge, units: &Units, codes: &[&Codes], rows: usize) -> Option<(Vec<bool>, Vec<Vec<Achieved>>)> {
    let terms = judge.unit_terms()?;
    let (kept, achieved) = with_words!(judge.layout().words(), W => {
        let counted = judge.count_rows::<W>(codes, rows, None);
        let by_unit = UnitRows::new(judge, &counted.set, codes, &units.of_row, units.count);
        let places: Vec<u32> = (0..counted.set.len() as u32).collect();
        let kept = judge.judge_units(terms, &counted.set, &by_unit, &places).kept?;
        let achieved = judge.achieved_over_units(terms, &counted.set, &by_unit, &kept);
        (kept, achieved)
    });
    Some((units.of_row.iter().map(|&unit| kept[unit as usize]).collect(), achieved))
}

/// The levels that a release can be on by its labels.
pub(crate) fn combinations(bound: &Bound<'_>, released: &Table) -> Option<Vec<Vec<u8>>> {
    let mut combinations: Vec<Vec<u8>> = vec![Vec::new()];
    for quasi in &bound.quasi {
        let column = released.column(&quasi.attribute.name)?;
        let labels: Vec<String> =
            (0..column.domain.cardinality() as u32).map(|code| column.domain.text(code)).collect();
        let fits = |level: &u8| {
            let level = &quasi.hierarchy.levels()[usize::from(*level)];
            let known: HashSet<&str> = level.labels.iter().map(|label| label.text.as_str()).collect();
            labels.iter().all(|label| known.contains(label.as_str()))
        };
        let levels: Vec<u8> = (0..=quasi.hierarchy.top() as u8).filter(fits).collect();
        let extended = combinations.iter().flat_map(|levels_before| {
            levels.iter().map(move |&level| levels_before.iter().copied().chain([level]).collect())
        });
        combinations = extended.take(COMBINATIONS_MAX).collect();
    }
    Some(combinations)
}

/// Rows by a hash of their cells; equal where the same rows occur as often.
#[derive(Debug)]
pub(crate) struct Fingerprints {
    /// The number of every row, and its hash.
    rows: Vec<(usize, u64)>,
    counts: HashMap<u64, u32, FixedState>,
}

impl PartialEq for Fingerprints {
    fn eq(&self, other: &Fingerprints) -> bool {
        self.counts == other.counts
    }
}

impl Fingerprints {
    pub(crate) fn of_release(table: &Table, units: &[String]) -> Fingerprints {
        let columns = table.columns.iter().filter(|column| !units.contains(&column.name));
        let columns: Vec<Texts<'_>> = columns.map(Texts::of).collect();
        Fingerprints::count(&columns, (0..table.rows).collect())
    }

    /// The rows of a draft, with the columns of a release.
    pub(crate) fn of_draft(draft: &Draft<'_>, released: &Table, units: &[String]) -> Option<Fingerprints> {
        let DraftContent::Columns { columns, kept } = &draft.tables.first()?.content else { return None };
        let mut found: Vec<Texts<'_>> = Vec::new();
        for column in released.columns.iter().filter(|column| !units.contains(&column.name)) {
            let own = columns.iter().find(|own| own.name == column.name)?;
            let texts = (0..own.values()).map(|code| own.text(code).into_owned()).collect();
            found.push(Texts { codes: &own.codes, texts });
        }
        let rows = columns.first().map_or(0, |column| column.codes.len());
        let rows = (0..rows).filter(|&row| kept.as_ref().is_none_or(|kept| kept[row]));
        Some(Fingerprints::count(&found, rows.collect()))
    }

    pub(crate) fn of_source(
        bound: &Bound<'_>,
        released: &Table,
        units: &[String],
        levels: &[u8],
        kept: &[bool],
    ) -> Option<Fingerprints> {
        let mut columns: Vec<Texts<'_>> = Vec::new();
        for column in released.columns.iter().filter(|column| !units.contains(&column.name)) {
            let own = bound.table.column(&column.name)?;
            let mut texts = Texts::of(own);
            let quasi = bound.quasi.iter().zip(levels).find(|(quasi, _)| quasi.attribute.name == column.name);
            if let Some((quasi, &level)) = quasi {
                let level = &quasi.hierarchy.levels()[usize::from(level)];
                texts.texts = level.map.iter().map(|&label| level.labels[label as usize].text.clone()).collect();
            }
            columns.push(texts);
        }
        Some(Fingerprints::count(&columns, (0..kept.len()).filter(|&row| kept[row]).collect()))
    }

    /// The rows of each unit, ascending, and the units ascending by them.
    fn by_unit(&self, of_row: &[u32]) -> Vec<Vec<u64>> {
        let mut units: HashMap<u32, Vec<u64>> = HashMap::new();
        self.rows.iter().for_each(|&(row, cells)| units.entry(of_row[row]).or_default().push(cells));
        let mut units: Vec<Vec<u64>> = units.into_values().collect();
        units.iter_mut().for_each(|rows| rows.sort_unstable());
        units.sort_unstable();
        units
    }

    fn count(columns: &[Texts<'_>], rows: Vec<usize>) -> Fingerprints {
        let hasher = FixedState::default();
        let hashed = |row: usize| {
            let cells: Vec<&str> =
                columns.iter().map(|column| column.texts[column.codes.get(row) as usize].as_str()).collect();
            (row, hasher.hash_one(cells))
        };
        let rows: Vec<(usize, u64)> = rows.into_iter().map(hashed).collect();
        let mut counts: HashMap<u64, u32, FixedState> = HashMap::default();
        rows.iter().for_each(|(_, cells)| *counts.entry(*cells).or_default() += 1);
        Fingerprints { rows, counts }
    }
}

/// A column by the texts of its codes.
struct Texts<'a> {
    codes: &'a Codes,
    texts: Vec<String>,
}

impl<'a> Texts<'a> {
    fn of(column: &'a Column) -> Texts<'a> {
        let texts = (0..column.domain.cardinality() as u32).map(|code| column.domain.text(code)).collect();
        Texts { codes: &column.codes, texts }
    }
}
