//! The losses of other methods, next to those of a release.

use std::fmt;

use hedgerow::{Compared, Losses, Measures, QueryError};

use super::measures::{decimal, percent};

pub(crate) struct ComparedText<'a> {
    pub(crate) measures: &'a Measures,
    pub(crate) compared: &'a [Compared],
}

impl fmt::Display for ComparedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nWhat other methods would keep under the same rules (lower is better)")?;
        writeln!(
            f,
            "  {:<14}{:>11}{:>9}{:>8}   {:>8}{:>8}{:>10}   {:>7}",
            "", "granularity", "entropy", "ncp", "queries", "mean", "95 of 100", "seconds"
        )?;
        if let Some(table) = self.measures.table() {
            line(f, "this release", Some(&table.losses), table.queries.as_ref(), None)?;
        }
        for compared in self.compared {
            if let Some(problem) = &compared.problem {
                writeln!(f, "  {:<14}no release: {}", compared.method, problem.lines().next().unwrap_or_default())?;
                continue;
            }
            line(f, compared.method, compared.loss.as_ref(), compared.queries.as_ref(), compared.seconds)?;
        }
        Ok(())
    }
}

fn line(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    losses: Option<&Losses>,
    queries: Option<&QueryError>,
    seconds: Option<f64>,
) -> fmt::Result {
    let share = |loss: Option<f64>| loss.map_or_else(|| "-".to_owned(), decimal);
    let error = |error: fn(&QueryError) -> f64| queries.map_or_else(|| "-".to_owned(), |found| percent(error(found)));
    let [granularity, entropy, ncp] = [
        share(losses.and_then(|losses| losses.granularity)),
        share(losses.and_then(|losses| losses.entropy)),
        share(losses.map(|losses| losses.ncp)),
    ];
    let [median, mean, most] = [error(|e| e.median), error(|e| e.mean), error(|e| e.percentile_95)];
    let seconds = seconds.map_or_else(String::new, |seconds| format!("{seconds:.2}"));
    let text =
        format!("  {name:<14}{granularity:>11}{entropy:>9}{ncp:>8}   {median:>8}{mean:>8}{most:>10}   {seconds:>7}");
    writeln!(f, "{}", text.trim_end())
}
