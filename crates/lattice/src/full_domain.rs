//! `method = "full-domain"`: every value of an attribute is generalized to the same level, at the
//! least loss.

use std::borrow::Cow;
use std::time::Duration;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::broken::{achieved, broken, broken_by_the_whole, inconsistent_as_a_whole};
use hedgerow_draft::draft::Draft;
use hedgerow_draft::draft::Searched;
use hedgerow_draft::error::{PublishError, Unsatisfiable};
use hedgerow_draft::explain::Explain;
use hedgerow_draft::generalized::{self, on_level};
use hedgerow_draft::loss::{LossAttribute, LossModel};
use hedgerow_draft::options::PublishOptions;
use hedgerow_draft::units::DraftUnits;
use hedgerow_policy::Loss;
use hedgerow_privacy::Judge;
use hedgerow_privacy::judge::Achieved;
use hedgerow_release::manifest::RowTotals;
use hedgerow_table::{Codes, Hierarchy, Progress};
use serde_json::{Map, Value, json};

use crate::explore;
use crate::search::{Budget, FullDomain, SearchOutcome, search};
use crate::without;

pub fn draft<'a>(bound: &'a Bound<'_>, options: &PublishOptions<'_>) -> Result<Draft<'a>, PublishError> {
    let source = bound.rows();
    let judge = bound.judge()?;
    let (minimized, measured) = loss_models(bound);
    let outcome = if options.levels.is_empty() {
        find(bound, &judge, &minimized, &measured, options)
    } else {
        let mut best = explore::find_with(bound, &options.levels, options.progress)?;
        if !options.without.is_empty() {
            let levels = best.levels.clone();
            let without = without::without_classes(bound, &judge, best, &options.without);
            best = without.ok_or_else(|| Box::new(why_not_at(bound, &judge, &levels, true)))?;
        }
        SearchOutcome { best: Some(best), proven: false, candidates: None, explain: Explain::default() }
    };
    options.progress.check()?;
    let Some(found) = &outcome.best else {
        return Err(Box::new(why_not(bound, &judge, &outcome)).into());
    };
    let mut losses: Map<String, Value> =
        Loss::ALL.iter().zip(&found.losses).map(|(loss, value)| (loss.name().to_owned(), json!(value))).collect();
    if !bound.policy.publish.weights.is_empty() {
        losses.insert("weighted".to_owned(), json!(minimized.loss(found.cost)));
    }
    let rows = RowTotals { source, out: source - found.suppressed, suppressed: found.suppressed };
    let recoded = bound.quasi.iter().zip(&found.levels).map(|(quasi, &level)| on_level(quasi, level)).collect();
    let (table, codebook) = generalized::table(bound, recoded, found.kept_rows.clone())?;
    let levels = bound.quasi.iter().zip(&found.levels);
    let levels =
        levels.map(|(quasi, &level)| (quasi.attribute.name.clone(), level as usize, quasi.hierarchy.top())).collect();
    let units = DraftUnits::count(bound, &judge, codes_at(bound, &found.levels), found.kept_rows.as_deref());
    let searched =
        Searched { levels, candidates: outcome.candidates, proven: outcome.proven, explain: outcome.explain };
    Ok(Draft { searched: Some(searched), units, ..Draft::new(vec![table], codebook, rows, losses) })
}

fn find(
    bound: &Bound<'_>,
    judge: &Judge,
    loss: &LossModel,
    measured: &[LossModel],
    options: &PublishOptions<'_>,
) -> SearchOutcome {
    let publish = &bound.policy.publish;
    let seconds = options.seconds_max.or(publish.max_seconds);
    let budget =
        Budget { nodes_max: options.nodes_max.or(publish.max_nodes), time_max: seconds.map(Duration::from_secs_f64) };
    let (columns, hierarchies) = (bound.judged_codes(), bound.hierarchies());
    let problem = problem(&columns, &hierarchies, bound, judge, loss, measured, budget, options.progress);
    search(FullDomain { candidates: options.candidates, ..problem })
}

/// The loss that a search minimizes, and every measure in which its result is reported: that
/// compares with other policies, so it counts every attribute alike.
pub(crate) fn loss_models(bound: &Bound<'_>) -> (LossModel, [LossModel; Loss::ALL.len()]) {
    let source = bound.rows();
    let weighted = bound.loss_attributes();
    let alike: Vec<_> = weighted.iter().map(|attribute| LossAttribute { weight: 1.0, ..*attribute }).collect();
    let measured = Loss::ALL.map(|loss| LossModel::new(loss, &alike, source, bound.k()));
    (LossModel::new(bound.policy.publish.loss, &weighted, source, bound.k()), measured)
}

/// The search problem.
#[allow(clippy::too_many_arguments)] // They are the fields of what is made, which lends them.
pub(crate) fn problem<'a>(
    columns: &'a [&'a Codes],
    hierarchies: &'a [&'a Hierarchy],
    bound: &'a Bound<'_>,
    judge: &'a Judge,
    loss: &'a LossModel,
    measured: &'a [LossModel],
    budget: Budget,
    progress: &'a dyn Progress,
) -> FullDomain<'a> {
    let (rows, counts, units, consistent) = (bound.table.rows, bound.row_counts(), bound.units(), bound.consistent());
    FullDomain {
        columns,
        rows,
        counts,
        hierarchies,
        judge,
        loss,
        measured,
        budget,
        candidates: false,
        units,
        consistent,
        progress,
    }
}

/// The rules that break at levels that the caller chose, with free attributes at their top.
pub(crate) fn why_not_at(bound: &Bound<'_>, judge: &Judge, levels: &[u8], all_given: bool) -> Unsatisfiable {
    let names = bound.quasi.iter().zip(levels).map(|(quasi, level)| format!("{} {level}", quasi.attribute.name));
    let names = names.collect::<Vec<_>>().join(", ");
    let (summary, place) = match all_given {
        true => (format!("the policy does not hold at the levels {names}"), "there"),
        false => (
            "the policy does not hold with the levels given, whatever the others are".to_owned(),
            "with the others at their top levels",
        ),
    };
    let mut reasons = broken_at(bound, judge, levels, place);
    reasons.push(format!("at most {} of {} rows may be suppressed", judge.allowed(), bound.rows()));
    let hint = "choose levels at which every rule holds; exploring the lattice lists them".to_owned();
    Unsatisfiable { summary, reasons, hint }
}

/// The rules that break on the coarsest levels, where the fewest can break.
fn why_not(bound: &Bound<'_>, judge: &Judge, outcome: &SearchOutcome) -> Unsatisfiable {
    let nodes = outcome.explain.nodes.map_or_else(|| "more than 2^64".to_owned(), |nodes| nodes.to_string());
    let judged = outcome.explain.judged_first + outcome.explain.judged_proof;
    let summary = if outcome.proven {
        format!("no release can meet the policy: none of {nodes} combinations of levels holds")
    } else {
        format!("no release was found: none of {judged} judged combinations of levels holds, of {nodes}")
    };
    let mut reasons = broken_by_the_whole(bound, judge);
    reasons.extend(inconsistent_as_a_whole(bound));
    reasons.push(format!("at most {} of {} rows may be suppressed", judge.allowed(), bound.rows()));
    let hint = "require less in that rule, or let more rows be suppressed (publish.suppression)".to_owned();
    Unsatisfiable { summary, reasons, hint }
}

/// One line for every guarantee that breaks at the levels given.
fn broken_at(bound: &Bound<'_>, judge: &Judge, levels: &[u8], place: &str) -> Vec<String> {
    broken(bound, &achieved_at(bound, judge, levels), place)
}

/// The achieved parameters of every guarantee when nothing is suppressed at the levels given.
pub(crate) fn achieved_at(bound: &Bound<'_>, judge: &Judge, levels: &[u8]) -> Vec<Vec<Achieved>> {
    achieved(bound, judge, codes_at(bound, levels), levels)
}

/// The judged columns with the quasi attributes on the levels given.
pub fn codes_at<'a>(bound: &Bound<'a>, levels: &[u8]) -> Vec<Cow<'a, Codes>> {
    let columns = bound.judged_codes().into_iter().enumerate();
    columns
        .map(|(index, codes)| match (bound.quasi.get(index), levels.get(index)) {
            (Some(quasi), Some(&level)) if level > 0 => {
                let level = &quasi.hierarchy.levels()[level as usize];
                let labels = codes.iter().map(|code| level.map[code as usize]);
                Cow::Owned(Codes::from_iter(level.labels.len(), labels))
            }
            _ => Cow::Borrowed(codes),
        })
        .collect()
}
