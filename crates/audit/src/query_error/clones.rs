//! Count queries over a cloned release: in each sub-class, its people times, for each attribute,
//! the share that the query selects by the statistics, times the share of its class's sensitive
//! values.

use hedgerow_release::cloned::{Cloned, SubClass};
use hedgerow_table::{Codes, Column, Domain, Progress, TableError, parallel};

use super::batch::{BATCH, Batch, for_each_bit, shares};
use super::predicate::Query;
use super::{QueryError, QueryOptions, check, draw_from, summed_up};
use crate::estimate::axis::EstimateAxis;

/// Sub-classes looked at together; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 11;

/// A cloned release and its source.
pub(crate) struct Clones<'a> {
    /// The source's columns, and each one's place among the attributes of the release.
    pub(crate) quasi: Vec<(&'a Column, usize)>,
    pub(crate) sensitive: &'a Column,
    pub(crate) read: &'a Cloned,
}

/// Some sub-classes, each with its class, and what is known of each attribute in them.
struct SubClassChunk<'a> {
    parts: Vec<(usize, &'a SubClass)>,
    axes: Vec<EstimateAxis>,
}

/// `None` when no query was requested.
pub(crate) fn query_error(
    release: &Clones<'_>,
    rows: usize,
    options: &QueryOptions,
    progress: &dyn Progress,
) -> Result<Option<QueryError>, TableError> {
    check(options)?;
    if options.count == 0 {
        return Ok(None);
    }
    let sources: Vec<&Column> = release.quasi.iter().map(|(column, _)| *column).collect();
    let quasi: Vec<&Domain> = sources.iter().map(|column| &column.domain).collect();
    let queries = draw_from(&quasi, &[&release.sensitive.domain], options);
    progress.stage("answering count queries", Some(options.count as u64));
    let chunks = chunks(release);
    let values = values(release)?;
    let answer = |queries: &[Query]| -> Result<Vec<(u64, f64)>, TableError> {
        let batch = Batch::of_sources(queries, &sources, &[release.sensitive]);
        let counts = batch.counts(rows);
        let accepted = accepted(&batch, &values, queries.len());
        let mut sums = [0.0; BATCH];
        for chunk in &chunks {
            estimate(release, chunk, queries, &accepted, &mut sums)?;
        }
        progress.advance(queries.len() as u64);
        Ok(counts.into_iter().zip(sums).take(queries.len()).collect())
    };
    let answers: Vec<Vec<(u64, f64)>> = parallel::map_items(queries.chunks(BATCH), |_, queries| answer(queries))
        .into_iter()
        .collect::<Result<_, TableError>>()?;
    Ok(Some(summed_up(answers, rows, options)))
}

fn chunks<'a>(release: &Clones<'a>) -> Vec<SubClassChunk<'a>> {
    let classes = release.read.classes.iter().enumerate();
    let parts: Vec<(usize, &SubClass)> =
        classes.flat_map(|(class, of_class)| of_class.sub_classes.iter().map(move |part| (class, part))).collect();
    let chunk = |parts: &[(usize, &'a SubClass)]| {
        let of = |&(_, attribute): &(&Column, usize)| {
            EstimateAxis::of_statistics(release.read, attribute, parts.iter().map(|&(_, part)| part))
        };
        SubClassChunk { parts: parts.to_vec(), axes: release.quasi.iter().map(of).collect() }
    };
    parallel::map_items(parts.chunks(CHUNK), |_, parts| chunk(parts))
}

/// The values of each class as codes of the source, with their share of the class.
type ClassShares = Vec<Vec<(u32, f64)>>;

fn values(release: &Clones<'_>) -> Result<ClassShares, TableError> {
    let codes = source_codes(release)?;
    let of_class = |class: &hedgerow_release::cloned::CloneClass| {
        let tuples = class.tuples().max(1) as f64;
        class.values.iter().map(|&(code, count)| (codes[code as usize], f64::from(count) / tuples)).collect()
    };
    Ok(release.read.classes.iter().map(of_class).collect())
}

/// The source's codes of the released sensitive values.
pub(crate) fn source_codes(release: &Clones<'_>) -> Result<Vec<u32>, TableError> {
    let (read, source) = (release.read, &release.sensitive.domain);
    let translate = |code: u32| {
        let missing = Some(code) == read.domain.missing_code();
        let found = if missing { source.missing_code() } else { source.code_of(&read.domain.text(code)) };
        found.ok_or_else(|| {
            let problem = format!("a value of `{}` is not in the source", read.sensitive);
            let hint = "measure a release with the policy and the data that it was published from";
            TableError::input("sensitive.csv", problem, hint)
        })
    };
    (0..read.domain.cardinality() as u32).map(translate).collect()
}

/// For each class, the share of its sensitive values that each query accepts.
fn accepted(batch: &Batch<'_>, values: &ClassShares, queries: usize) -> Vec<[f64; BATCH]> {
    let all = u64::MAX >> (BATCH - queries);
    let mask = |masks: &[(usize, &Codes, Vec<u64>)], code: u32| {
        masks.iter().fold(all, |word, (_, _, mask)| word & mask[code as usize])
    };
    let of_class = |values: &Vec<(u32, f64)>| {
        let mut shares = [0.0; BATCH];
        for &(code, share) in values {
            for_each_bit(mask(&batch.sensitive_masks, code), |lane| shares[lane] += share);
        }
        shares
    };
    values.iter().map(of_class).collect()
}

fn estimate(
    release: &Clones<'_>,
    chunk: &SubClassChunk<'_>,
    queries: &[Query],
    accepted: &[[f64; BATCH]],
    sums: &mut [f64; BATCH],
) -> Result<(), TableError> {
    let mut expected: Vec<[f64; BATCH]> =
        chunk.parts.iter().map(|&(class, part)| accepted[class].map(|share| share * part.people() as f64)).collect();
    for (number, ((source, _), axis)) in release.quasi.iter().zip(&chunk.axes).enumerate() {
        let using = queries.iter().enumerate();
        let using = using.filter_map(|(lane, query)| Some((lane, query.quasi.iter().find(|(at, _)| *at == number)?)));
        let (lanes, predicates): (Vec<usize>, Vec<_>) =
            using.map(|(lane, (_, predicate))| (lane, predicate.on(&source.domain, axis))).unzip();
        if lanes.is_empty() {
            continue;
        }
        for (expected, shares) in expected.iter_mut().zip(shares(axis, &lanes, &predicates)?) {
            expected.iter_mut().zip(shares).for_each(|(rows, share)| *rows *= share);
        }
    }
    for expected in expected {
        sums.iter_mut().zip(expected).for_each(|(sum, rows)| *sum += rows);
    }
    Ok(())
}
