//! `method = "full-domain"`: every value of an attribute is generalized to the same level, at the
//! least loss.

use std::borrow::Cow;
use std::time::Duration;

use hedgerow_policy::Loss;
use hedgerow_privacy::Judge;
use hedgerow_release::manifest::Rows;
use hedgerow_table::{Codes, Kind, with_words};
use hedgerow_verify::check::claim;
use serde_json::{Map, Value, json};

use crate::bind::{Bound, Quasi};
use crate::draft::Draft;
use crate::error::{PublishError, Unsatisfiable};
use crate::generalized::{self, Recoded};
use crate::loss::{LossAttribute, LossModel};
use crate::publish::{PublishOptions, Searched};
use crate::search::{Budget, FullDomain, Outcome, search};

pub(crate) fn draft<'a>(bound: &'a Bound<'_>, options: &PublishOptions<'_>) -> Result<Draft<'a>, PublishError> {
    let source = bound.table.rows as u64;
    let judge = bound.judge()?;
    let weighted = bound.loss_attributes();
    // What is reported compares with other policies, so it counts every attribute alike.
    let alike: Vec<_> = weighted.iter().map(|attribute| LossAttribute { weight: 1.0, ..*attribute }).collect();
    let measured = Loss::ALL.map(|loss| LossModel::new(loss, &alike, source, bound.k()));
    let minimized = LossModel::new(bound.policy.publish.loss, &weighted, source, bound.k());
    let outcome = find(bound, &judge, &minimized, &measured, options);
    options.progress.check()?;
    let Some(found) = &outcome.best else {
        return Err(Box::new(why_not(bound, &judge, &outcome)).into());
    };
    let mut losses: Map<String, Value> =
        Loss::ALL.iter().zip(&found.losses).map(|(loss, value)| (loss.name().to_owned(), json!(value))).collect();
    if !bound.policy.publish.weights.is_empty() {
        losses.insert("weighted".to_owned(), json!(minimized.loss(found.cost)));
    }
    let rows = Rows { source, out: source - found.suppressed, suppressed: found.suppressed };
    let recoded = bound.quasi.iter().zip(&found.levels).map(|(quasi, &level)| recoded(quasi, level)).collect();
    let (table, codebook) = generalized::table(bound, recoded, found.kept_rows.clone())?;
    let levels = bound.quasi.iter().zip(&found.levels);
    let levels =
        levels.map(|(quasi, &level)| (quasi.attribute.name.clone(), level as usize, quasi.hierarchy.top())).collect();
    let searched =
        Searched { levels, candidates: outcome.candidates, proven: outcome.proven, explain: outcome.explain };
    Ok(Draft { searched: Some(searched), ..Draft::new(vec![table], codebook, rows, losses) })
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
) -> Outcome {
    let publish = &bound.policy.publish;
    let seconds = options.seconds_max.or(publish.max_seconds);
    search(FullDomain {
        columns: &bound.judged_codes(),
        rows: bound.table.rows,
        hierarchies: &bound.hierarchies(),
        judge,
        loss,
        measured,
        budget: Budget {
            nodes_max: options.nodes_max.or(publish.max_nodes),
            time_max: seconds.map(Duration::from_secs_f64),
        },
        candidates: options.candidates,
        progress: options.progress,
    })
}

/// What breaks on the coarsest levels, where as little as possible can break.
fn why_not(bound: &Bound<'_>, judge: &Judge, outcome: &Outcome) -> Unsatisfiable {
    let nodes = outcome.explain.nodes.map_or_else(|| "more than 2^64".to_owned(), |nodes| nodes.to_string());
    let judged = outcome.explain.judged_first + outcome.explain.judged_proof;
    let summary = if outcome.proven {
        format!("no release can meet the policy: none of {nodes} combinations of levels holds")
    } else {
        format!("no release was found: none of {judged} judged combinations of levels holds, of {nodes}")
    };
    let mut reasons = broken_by_the_whole(bound, judge);
    reasons.push(format!("at most {} of {} rows may be suppressed", judge.allowed(), bound.table.rows));
    let hint = "require less in that rule, or let more rows be suppressed (publish.suppression)".to_owned();
    Unsatisfiable { summary, reasons, hint }
}

/// One line for every guarantee that breaks when all rows agree on every quasi attribute.
pub(crate) fn broken_by_the_whole(bound: &Bound<'_>, judge: &Judge) -> Vec<String> {
    let columns: Vec<Codes> = (bound.judged_codes().iter().enumerate())
        .map(|(index, codes)| match bound.quasi.get(index) {
            Some(_) => Codes::U8(vec![0; codes.len()]),
            None => (*codes).clone(),
        })
        .collect();
    let columns: Vec<&Codes> = columns.iter().collect();
    let achieved =
        with_words!(judge.layout().words(), W => judge.achieved(&judge.count::<W>(&columns, bound.table.rows)));
    let mut reasons = Vec::new();
    for (rule, achieved) in bound.policy.rules.iter().zip(&achieved) {
        for (model, achieved) in rule.require.iter().zip(achieved).filter(|(_, achieved)| !achieved.holds) {
            let found = claim(model, &rule.know, rule.protect.as_ref(), achieved);
            reasons.push(format!(
                "{}: {} requires {}{}; with every quasi-identifier at its top level the table achieves {} ({} rows in classes that break it)",
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

pub(crate) fn pairs(map: &Map<String, Value>) -> String {
    map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
