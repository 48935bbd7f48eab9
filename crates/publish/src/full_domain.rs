//! `method = "full-domain"`: every value of an attribute is generalized to the same level, at the
//! least loss.

use std::borrow::Cow;
use std::time::Duration;

use hedgerow_policy::Loss;
use hedgerow_privacy::Judge;
use hedgerow_privacy::judge::Achieved;
use hedgerow_release::manifest::RowTotals;
use hedgerow_table::{Codes, Hierarchy, Kind, Progress, with_words};
use hedgerow_verify::check::claim;
use serde_json::{Map, Value, json};

use crate::bind::{Bound, Quasi};
use crate::draft::Draft;
use crate::draft::Searched;
use crate::error::{PublishError, Unsatisfiable};
use crate::explore;
use crate::generalized::{self, Recoded};
use crate::loss::{LossAttribute, LossModel};
use crate::options::PublishOptions;
use crate::search::{Budget, Explain, FullDomain, SearchOutcome, search};
use crate::units::DraftUnits;
use crate::without;

pub(crate) fn draft<'a>(bound: &'a Bound<'_>, options: &PublishOptions<'_>) -> Result<Draft<'a>, PublishError> {
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
    let recoded = bound.quasi.iter().zip(&found.levels).map(|(quasi, &level)| recoded(quasi, level)).collect();
    let (table, codebook) = generalized::table(bound, recoded, found.kept_rows.clone())?;
    let levels = bound.quasi.iter().zip(&found.levels);
    let levels =
        levels.map(|(quasi, &level)| (quasi.attribute.name.clone(), level as usize, quasi.hierarchy.top())).collect();
    let units = DraftUnits::count(bound, &judge, codes_at(bound, &found.levels), found.kept_rows.as_deref());
    let searched =
        Searched { levels, candidates: outcome.candidates, proven: outcome.proven, explain: outcome.explain };
    Ok(Draft { searched: Some(searched), units, ..Draft::new(vec![table], codebook, rows, losses) })
}

pub(crate) fn recoded<'a>(quasi: &'a Quasi<'_>, level: u8) -> Recoded<'a> {
    let kind = if level == 0 { quasi.column.domain.kind() } else { Kind::Category };
    let level = &quasi.hierarchy.levels()[level as usize];
    let labels = level.labels.iter().map(|label| generalized::public(quasi, label)).collect();
    let (codes, map) = (Cow::Borrowed(&quasi.column.codes), Cow::Borrowed(level.map.as_slice()));
    Recoded { codes, map, labels, kind }
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

/// One line for every guarantee that breaks when all rows agree on every quasi attribute.
pub(crate) fn broken_by_the_whole(bound: &Bound<'_>, judge: &Judge) -> Vec<String> {
    let columns = bound.judged_codes().into_iter().enumerate();
    let columns = columns
        .map(|(index, codes)| match bound.quasi.get(index) {
            Some(_) => Cow::Owned(Codes::U8(vec![0; codes.len()])),
            None => Cow::Borrowed(codes),
        })
        .collect();
    let tops: Vec<u8> = bound.quasi.iter().map(|quasi| quasi.hierarchy.top() as u8).collect();
    broken(bound, &achieved(bound, judge, columns, &tops), "with every quasi-identifier at its top level")
}

/// A line where too few rows fit some people even when all rows agree on every quasi attribute.
pub(crate) fn inconsistent_as_a_whole(bound: &Bound<'_>) -> Option<String> {
    let failing = people_whom_no_class_hides(bound);
    (failing > 0).then(|| {
        format!(
            "a rule with `consistent` breaks for the rows that fit {failing} people, with every quasi-identifier at its \
             top level"
        )
    })
}

/// The people for whom a rule with `consistent = true` fails even where all rows are one class.
pub fn people_whom_no_class_hides(bound: &Bound<'_>) -> usize {
    let Some(consistent) = bound.consistent() else { return 0 };
    let agreed: Vec<Cow<'_, Codes>> = (bound.judged_codes().into_iter().enumerate())
        .map(|(index, codes)| match bound.quasi.get(index) {
            Some(_) => Cow::Owned(Codes::U8(vec![0; codes.len()])),
            None => Cow::Borrowed(codes),
        })
        .collect();
    let columns: Vec<&Codes> = agreed.iter().map(AsRef::as_ref).collect();
    consistent.failing(&columns, None).into_iter().filter(|fails| *fails).count()
}

/// One line for every guarantee that breaks at the levels given.
fn broken_at(bound: &Bound<'_>, judge: &Judge, levels: &[u8], place: &str) -> Vec<String> {
    broken(bound, &achieved_at(bound, judge, levels), place)
}

fn broken(bound: &Bound<'_>, achieved: &[Vec<Achieved>], place: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    for (rule, achieved) in bound.policy.rules.iter().zip(achieved) {
        for (model, achieved) in rule.require.iter().zip(achieved).filter(|(_, achieved)| !achieved.holds) {
            let found = claim(model, &rule.know, rule.protect.as_ref(), achieved);
            reasons.push(format!(
                "{}: {} requires {}{}; {place} the table achieves {} ({} rows in classes that break it)",
                rule.place,
                model.name(),
                pairs(&found.required),
                found.protect.map_or_else(String::new, |name| format!(" of `{name}`")),
                pairs(&found.achieved),
                achieved.failing_rows,
            ));
        }
    }
    reasons
}

/// The achieved parameters of every guarantee when nothing is suppressed at the levels given.
pub(crate) fn achieved_at(bound: &Bound<'_>, judge: &Judge, levels: &[u8]) -> Vec<Vec<Achieved>> {
    achieved(bound, judge, codes_at(bound, levels), levels)
}

fn achieved(bound: &Bound<'_>, judge: &Judge, columns: Vec<Cow<'_, Codes>>, levels: &[u8]) -> Vec<Vec<Achieved>> {
    let columns: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
    let (rows, counts) = (bound.table.rows, bound.row_counts());
    with_words!(judge.layout().words(), W => {
        let counted = judge.count_rows::<W>(&columns, rows, counts).on_levels(levels);
        let mut achieved = judge.achieved(&counted);
        if let Some(units) = bound.units() {
            units.add_achieved(judge, &counted.set, &columns, &mut achieved);
        }
        achieved
    })
}

/// The judged columns with the quasi attributes on the levels given.
pub(crate) fn codes_at<'a>(bound: &Bound<'a>, levels: &[u8]) -> Vec<Cow<'a, Codes>> {
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

pub(crate) fn pairs(map: &Map<String, Value>) -> String {
    map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
