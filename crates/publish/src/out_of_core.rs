//! Publishing rows that are not in memory: the search sees the distinct rows, and the rows
//! themselves pass by once more when the release is written.

use std::fmt;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use hedgerow_buckets::anatomy;
use hedgerow_draft::bind::Bound;
use hedgerow_draft::community;
use hedgerow_draft::draft::{Draft, DraftContent};
use hedgerow_draft::error::PublishError;
use hedgerow_draft::recoded_outside::{KindsOfRows, RecodedOutside, RowKinds, find_by};
use hedgerow_draft::rows::ReleasedColumn;
use hedgerow_policy::{Method, Policy};
use hedgerow_table::engine::CodeChunk;
use hedgerow_table::frequency::{Layout, LevelChange, pack};
use hedgerow_table::{
    Codes, Counted, Engine, EngineAnswer, InputError, Progress, Spill, TableError, parallel, with_words,
};
use rand::rngs::StdRng;

use crate::catalog::Gate;
use crate::foreseen::{self, mebibytes};
use crate::rows::Scattered;

/// Which rows of a chunk stay.
type Kept<'a> = dyn Fn(&CodeChunk) -> Vec<bool> + Sync + 'a;

/// Rows that are not in memory, and which of them a release keeps.
pub(crate) struct Outside<'a> {
    engine: &'a dyn Engine,
    spill: &'a Spill,
    /// Absent where all stay.
    kept: Option<Box<Kept<'a>>>,
    /// Absent where rows become what their values become.
    recoded: Option<(RecodedOutside, RowKinds)>,
}

impl fmt::Debug for Outside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").finish_non_exhaustive()
    }
}

impl<'a> Outside<'a> {
    /// The rows that a draft over the distinct ones keeps.
    pub(crate) fn new(
        engine: &'a dyn Engine,
        spill: &'a Spill,
        bound: &'a Bound<'_>,
        draft: &mut Draft<'_>,
    ) -> Result<Outside<'a>, PublishError> {
        let kept = match draft.tables.first().map(|table| &table.content) {
            Some(DraftContent::Columns { kept: Some(kept), .. }) => Some(kept_by(engine, bound, draft, kept)?),
            _ => None,
        };
        let recoded = match draft.recoded.take() {
            Some(mut recoded) => {
                let kinds = recoded.kinds.take().map_or_else(|| distinct_rows(bound), Ok)?;
                Some((recoded, kinds))
            }
            None => None,
        };
        Ok(Outside { engine, spill, kept, recoded })
    }

    /// Deals the released rows to groups on the disk. `columns` name what is released.
    pub(crate) fn scatter(
        &self,
        columns: &[ReleasedColumn<'_>],
        rng: &mut StdRng,
        progress: &dyn Progress,
    ) -> Result<Scattered, TableError> {
        let profile = self.engine.profile();
        // Labels of classes stand behind the columns of the source.
        let labels: Vec<&str> = match &self.recoded {
            Some((recoded, _)) => recoded.labels.iter().map(|(name, ..)| name.as_str()).collect(),
            None => Vec::new(),
        };
        let of_label = |name: &str| labels.iter().position(|label| *label == name);
        let place = |column: &ReleasedColumn<'_>| match of_label(column.name) {
            Some(label) => profile.columns.len() + label,
            None => position(self.engine, column.name),
        };
        let positions: Vec<usize> = columns.iter().map(place).collect();
        let empty = columns.iter().map(|column| Codes::with_capacity(column.values(), 0)).collect();
        let mut scattered = Scattered::new(profile.rows, empty, self.spill, rng);
        let all: Vec<usize> = (0..profile.columns.len()).collect();
        let kept = &self.kept;
        let kept = |chunk: &CodeChunk| kept.as_ref().map(|kept| kept(chunk));
        let mut seen = HashMap::default();
        exact(self.engine.scan(&all, progress, &mut |mut chunks| {
            if let Some((recoded, kinds)) = &self.recoded {
                add_labels(recoded, &mut chunks, kinds, self.engine, &mut seen)?;
            }
            scattered.deal(chunks, &positions, kept)
        })?)?;
        Ok(scattered)
    }
}

/// Adds the labels of rows behind their values. `seen` is how many rows of some kinds came
/// before.
fn add_labels(
    recoded: &RecodedOutside,
    chunks: &mut [CodeChunk],
    kinds: &RowKinds,
    engine: &dyn Engine,
    seen: &mut HashMap<u32, u32>,
) -> Result<(), TableError> {
    let positions: Vec<usize> = kinds.names.iter().map(|name| position(engine, name)).collect();
    let found = parallel::map_items(&*chunks, |_, chunk| {
        let columns: Vec<&Codes> = positions.iter().map(|&position| &chunk[position]).collect();
        (kinds.of_rows)(&columns)
    });
    let mut classes: Vec<Vec<u32>> = found.into_iter().collect::<Result<_, _>>()?;
    // In the order of the rows, since the first of a kind may go another way than the last.
    classes.iter_mut().for_each(|classes| recoded.pieces.classes(classes, seen));
    parallel::map_items(chunks.iter_mut().zip(&classes), |_, (chunk, classes)| {
        for (_, of_class, cardinality) in &recoded.labels {
            let labels = classes.iter().map(|&class| of_class[class as usize]);
            chunk.push(Codes::from_iter(*cardinality, labels));
        }
    });
    Ok(())
}

/// Rows that are equal in all that rules look at are of one kind.
fn distinct_rows(bound: &Bound<'_>) -> Result<RowKinds, PublishError> {
    let lost = || PublishError::Internal("internal error: what rules look at does not distinguish rows".to_owned());
    let names = bound.judged_domains().iter().map(|(name, _)| (*name).to_owned()).collect();
    let layout = Layout::new(&bound.judged_cardinalities()).ok_or_else(lost)?;
    let of_rows: Box<KindsOfRows> = with_words!(layout.words(), W => {
        let mut keys = vec![[0u64; W]; bound.table.rows];
        pack(&layout, &bound.judged_codes(), 0..keys.len(), &mut keys);
        let find = find_by(keys).ok_or_else(lost)?;
        Box::new(move |columns: &[&Codes]| {
            let mut own = vec![[0u64; W]; columns.first().map_or(0, |codes| codes.len())];
            pack(&layout, columns, 0..own.len(), &mut own);
            let numbers: Option<Vec<u32>> = own.iter().map(&find).collect();
            numbers.ok_or_else(|| TableError::Internal("a row that was not counted".to_owned()))
        })
    });
    Ok(RowKinds { names, of_rows })
}

fn position(engine: &dyn Engine, name: &str) -> usize {
    let columns = &engine.profile().columns;
    columns.iter().position(|column| column.name == name).expect("a released column was read")
}

/// Rows stay or go with their labels on the levels of the draft and with what else rules know.
fn kept_by<'a>(
    engine: &dyn Engine,
    bound: &'a Bound<'_>,
    draft: &Draft<'_>,
    kept: &[bool],
) -> Result<Box<Kept<'a>>, PublishError> {
    let judge = bound.judge()?;
    let searched = draft.searched.iter().flat_map(|searched| &searched.levels);
    let levels: Vec<usize> = searched.map(|&(_, level, _)| level).collect();
    let positions: Vec<usize> = bound.judged_domains().iter().map(|(name, _)| position(engine, name)).collect();
    let kept: Box<Kept<'a>> = with_words!(judge.layout().words(), W => {
        let layout = judge.layout().clone();
        let maps = bound.quasi.iter().zip(&levels).enumerate().filter(|(_, (_, level))| **level > 0);
        let maps = maps.map(|(index, (quasi, &level))| (index, quasi.hierarchy.levels()[level].map.as_slice()));
        let recoding = LevelChange::<W>::new(&layout, maps);
        let columns = bound.judged_codes();
        let mut keys = vec![[0u64; W]; kept.len()];
        pack(&layout, &columns, 0..kept.len(), &mut keys);
        let suppressed = keys.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(key, _)| recoding.apply(key));
        let suppressed: HashSet<[u64; W], FixedState> = suppressed.collect();
        Box::new(move |chunk: &CodeChunk| {
            let columns: Vec<&Codes> = positions.iter().map(|&position| &chunk[position]).collect();
            let rows = columns.first().map_or(0, |codes| codes.len());
            let mut keys = vec![[0u64; W]; rows];
            pack(&layout, &columns, 0..rows, &mut keys);
            keys.iter().map(|key| !suppressed.contains(&recoding.apply(key))).collect()
        })
    });
    Ok(kept)
}

/// The distinct rows by what the policy's rules look at; for buckets, by what these are made by.
/// `enough` is the memory that would hold all rows, where that is how to get on.
pub(crate) fn counted(
    policy: &Policy,
    engine: &dyn Engine,
    enough: Option<u64>,
    progress: &dyn Progress,
) -> Result<Counted, PublishError> {
    let enough = enough.map_or(String::new(), |bytes| format!(" ({} is enough)", mebibytes(bytes)));
    let allow = format!("allow more memory{enough}");
    if policy.publish.method == Method::Anatomy {
        let hint = format!(
            "{allow}, release fewer quasi-identifiers, or use `assignment = \"random\"`, which does not count rows by them"
        );
        return Ok(exact_or(Counted::of(engine, &anatomy::looked_at(policy), progress)?, &hint)?);
    }
    let mut names: Vec<&str> = policy.quasi().map(|attribute| attribute.name.as_str()).collect();
    for name in judged_names(policy) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let hint = format!("{allow}, or let rules know and protect fewer attributes");
    Ok(exact_or(Counted::of(engine, &names, progress)?, &hint)?)
}

/// The attributes that some rule knows or protects.
pub(crate) fn judged_names(policy: &Policy) -> impl Iterator<Item = &str> {
    policy.rules.iter().flat_map(|rule| rule.know.iter().chain(rule.protected())).map(String::as_str)
}

pub(crate) fn exact<T>(answer: EngineAnswer<T>) -> Result<T, InputError> {
    exact_or(answer, "allow more memory, or let rules know and protect fewer attributes")
}

fn exact_or<T>(answer: EngineAnswer<T>, hint: &str) -> Result<T, InputError> {
    match answer {
        EngineAnswer::Exact(value) => Ok(value),
        EngineAnswer::Unsupported(why) => Err(InputError::new("memory", why, hint)),
    }
}

/// Refuses a policy that needs the rows in memory, with the memory that it would take.
pub(crate) fn refuse(policy: &Policy, gate: &Gate, engine: &dyn Engine, spill: &Spill) -> Result<(), PublishError> {
    hedgerow_draft::units::refuse_elsewhere(policy, "publishing within a limit of memory that the rows exceed")?;
    hedgerow_draft::consistent::refuse_elsewhere(policy, "publishing within a limit of memory that the rows exceed")?;
    let method = policy.publish.method;
    let has_community = !community::releases(policy)?.is_empty();
    let is_with_others = gate.catalog.is_some() || has_community;
    let (what, why) = match method {
        _ if gate.catalog.is_some() => ("an audit with a catalog", "it compares every row with the other releases"),
        _ if has_community => ("a guarantee across releases", "it compares every row with the other releases"),
        Method::Mondrian if policy.publish.improve => ("`improve = true`", "it compares rows with one another"),
        Method::FullDomain | Method::Mondrian | Method::Anatomy => return Ok(()),
        Method::BestCut => (method.name(), "it divides the rows again and again"),
        Method::Cluster => (method.name(), "it compares rows with one another"),
        Method::Clone => (method.name(), "it moves single rows between groups"),
        Method::Decompose => (method.name(), "it compares every row in several sub-tables"),
    };
    let enough = mebibytes(foreseen::enough_to_hold(policy, gate, engine.profile(), spill));
    let problem = format!("{what} needs all {} rows in memory: {why}", engine.profile().rows);
    let hint = match is_with_others {
        true => format!("allow at least {enough}, or read fewer columns"),
        false => format!(
            "allow at least {enough}, read fewer columns, or use `method = \"full-domain\"`, \"mondrian\" or \
             \"anatomy\", which work from the disk"
        ),
    };
    Err(InputError::new(format!("{}: publish.method", policy.path.display()), problem, hint).into())
}
