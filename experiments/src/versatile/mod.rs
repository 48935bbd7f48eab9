//! Versatile publishing (Jin, Zhang, Zhang, Das 2010, section 6): many rules at once over any
//! attributes, by guardian decomposition (GD), utility-aware decomposition (UAD), one table with
//! several sensitive attributes, and every attribute alone.
//!
//! Utility is the Kullback–Leibler divergence between the data and the most likely table
//! behind what is published, and the mean relative error of random count queries: each selects
//! by `qd` attributes a share `p` of the values of each.

mod adult;
mod diversity;
mod drawn;
mod inference;
mod known;
mod optimum;
mod printed;
mod rules;
mod texas;
mod workload;

use hedgerow_audit::max_likelihood::{CountQueries, MaxLikelihood, PublishedTable};
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::{DecompositionProblem, Subtable};
use hedgerow_report::pictures::{LineChart, Picture, Series};

use crate::experiment::{Experiment, Scale, Trouble};
use crate::sample::Curve;

const PAPER: &str = "[JZZD10]";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "versatile-adult", paper: PAPER, shows: "figures 1 to 3", run: adult::run },
    Experiment { name: "versatile-rules", paper: PAPER, shows: "figures 4 to 6", run: rules::run },
    Experiment { name: "versatile-dimension", paper: PAPER, shows: "figure 7", run: workload::by_dimension },
    Experiment { name: "versatile-share", paper: PAPER, shows: "figure 8", run: workload::by_share },
    Experiment { name: "versatile-known", paper: PAPER, shows: "figure 9", run: known::run },
    Experiment { name: "versatile-l", paper: PAPER, shows: "figure 10", run: diversity::run },
    Experiment { name: "versatile-inference", paper: PAPER, shows: "theorem 3.1", run: inference::run },
    Experiment { name: "versatile-optimum", paper: PAPER, shows: "theorem 5.1, on small tables", run: optimum::run },
];

/// By experiment, the claims that its wrong numbers turn.
#[cfg(test)]
pub(crate) const TURNED: &[crate::wrong::Turned] = &[
    ("versatile-adult", adult::tests::turned),
    ("versatile-rules", rules::tests::turned),
    ("versatile-dimension", workload::tests::turned_by_dimension),
    ("versatile-share", workload::tests::turned_by_share),
    ("versatile-known", known::tests::turned),
    ("versatile-l", diversity::tests::turned),
    ("versatile-inference", inference::tests::turned),
    ("versatile-optimum", optimum::tests::turned),
];

/// Queries of each workload.
fn queries(scale: Scale) -> usize {
    scale.of(1000, 100)
}

/// The tables of a decomposition as readers see them, and what they lose.
struct Decomposed {
    kl: f64,
    published: Vec<PublishedTable>,
    cardinalities: Vec<usize>,
}

impl Decomposed {
    fn new(
        problem: &DecompositionProblem<'_>,
        divergence: &mut Divergence<'_>,
        tables: &[Subtable],
    ) -> Result<Decomposed, Trouble> {
        let published = tables.iter().map(|table| table.published(problem)).collect::<Option<_>>();
        Ok(Decomposed {
            kl: divergence.of(tables).unwrap_or(f64::NAN),
            published: published.ok_or("nothing is generalized")?,
            cardinalities: problem.cardinalities.clone(),
        })
    }

    /// The mean relative error of a workload.
    fn error(&self, source: &[Vec<u32>], queries: CountQueries) -> Result<f64, Trouble> {
        let estimate =
            MaxLikelihood::new(&self.cardinalities, &self.published).map_err(|problem| problem.to_string())?;
        let found = estimate.query_error(source, queries).ok_or("no query selects a row")?;
        Ok(found.relative_error.mean)
    }
}

fn picture(title: &str, across: &str, up: &str, series: &[Series]) -> Picture {
    let line = LineChart {
        title: title.to_owned(),
        description: format!("{up} over {across}, one line for each way to publish."),
        columns: [across.to_owned(), up.to_owned()],
        series: series.to_vec(),
    };
    line.picture()
}

/// The same for curves with repetitions: their means.
fn drawn_curves(title: &str, across: &str, up: &str, curves: &[Curve]) -> Picture {
    picture(title, across, up, &curves.iter().map(Curve::series).collect::<Vec<_>>())
}
