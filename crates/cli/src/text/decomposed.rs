//! The losses of a decomposed release, as text.

use std::fmt::Write as _;

use hedgerow::{CountQueries, MeasuredTables};

pub(crate) fn decomposed(measured: &MeasuredTables) -> String {
    let mut text = format!(
        "rows     {} in {} tables\n\
         kl       {:.6} nats from the source to the maximum-likelihood estimate behind all tables; 0 is no loss\n",
        measured.rows, measured.tables, measured.loss.kl
    );
    for ring in &measured.rings {
        let _ = writeln!(
            text,
            "ring     {}: no closed form; {} combinations of values fitted in {} passes, {} by {:.1e} rows",
            ring.attributes.join(", "),
            ring.fit.combinations,
            ring.fit.passes,
            if ring.fit.converged { "off" } else { "stopped while off" },
            ring.fit.deviation
        );
    }
    if let Some(found) = &measured.queries {
        let CountQueries { dimension, share, .. } = found.queries;
        let _ = write!(
            text,
            "queries  {} random counts over {dimension} attributes, {:.0} % of the values of each\n         \
             off by {:.1} % on average, half of them by at most {:.1} %\n",
            found.answered,
            100.0 * share,
            100.0 * found.relative_error.mean,
            100.0 * found.relative_error.median
        );
    }
    text
}
