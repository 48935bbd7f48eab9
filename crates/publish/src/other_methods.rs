//! The loss of another method, where full-domain recoding loses more than half: rules over many
//! attributes, or together with other releases, cost one level for all rows much more than cells of
//! their own.

use hedgerow_draft::bind::Bound;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::PublishOptions;
use hedgerow_local::cluster::{self, ImproveLimit, Neighbors, Objective};
use hedgerow_local::{self as local, Local};
use hedgerow_policy::{ClassLabels, Method};
use hedgerow_privacy::OnMerge;
use hedgerow_table::InputError;
use serde_json::{Map, Value};

/// Losing more than this, as `ncp` counts it.
const LARGE_LOSS: f64 = 0.5;
/// Another method is named where it loses at most this share of it.
const LOSS_RATIO_MAX: f64 = 0.75;
/// More rows are not divided only for advice.
const ROWS_MAX: usize = 100_000;
const ROWS_OF_NEIGHBORS_MAX: usize = 20_000;

/// A warning with the method that loses less; `None` where there is none, or it was not looked for.
pub(crate) fn advice(
    bound: &Bound<'_>,
    losses: &Map<String, Value>,
    options: &PublishOptions<'_>,
) -> Result<Option<InputError>, PublishError> {
    let publish = &bound.policy.publish;
    let own = losses.get("ncp").and_then(Value::as_f64).unwrap_or(0.0);
    let rows = bound.table.rows;
    if publish.method != Method::FullDomain
        || own <= LARGE_LOSS
        || bound.row_counts().is_some()
        || bound.units().is_some()
        || rows > ROWS_MAX
        || !options.levels.is_empty()
        || options.part.is_some()
    {
        return Ok(None);
    }
    let judge = bound.judge()?;
    let local = Local { method: Method::BestCut, strict: true, tight: false };
    let mut found: Vec<(Method, f64)> = Vec::new();
    // Best cuts do not keep `consistent`.
    if bound.consistent().is_none()
        && let Ok(recoding) = local::recode(bound, &judge, local, options.progress)
    {
        found.push((Method::BestCut, recoding.ncp()));
    }
    if rows <= ROWS_OF_NEIGHBORS_MAX
        && judge.on_merge() != OnMerge::Neither
        && let Some(objective) = Objective::of(None)
    {
        let neighbors = Neighbors {
            anew: true,
            labels: ClassLabels::Set,
            objective,
            limit: ImproveLimit::by_default(ClassLabels::Set),
        };
        if let Ok(recoding) = cluster::recode(bound, &judge, local, neighbors, options.progress) {
            found.push((Method::Cluster, recoding.ncp()));
        }
    }
    options.progress.check()?;
    let best = found.into_iter().min_by(|one, other| one.1.total_cmp(&other.1));
    Ok(best.filter(|(_, ncp)| *ncp <= own * LOSS_RATIO_MAX).map(|(method, ncp)| {
        let problem = format!(
            "full-domain recoding loses {own:.2} of the detail (ncp); `method = \"{}\"` would lose {ncp:.2} under the \
             same rules",
            method.name()
        );
        let mut hint =
            "one level for all rows is easy to read and costs more; choose another `method` under [publish] \
                        if cells may differ from class to class"
                .to_owned();
        if !bound.policy.community.releases.is_empty() {
            hint.push_str(". The audit together with the other releases was not tried with it");
        }
        InputError::new(publish.place.clone(), problem, hint)
    }))
}
