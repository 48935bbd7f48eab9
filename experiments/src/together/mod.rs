//! Publishing together (Jurczyk, Xiong 2008, section 6): what classes cost when custodians find
//! them together, and how much the ring protocols disclose of who holds what.

mod adult;
mod algorithm_1;
mod classes;
mod connected;
mod dealing;
mod exposure;
mod item_exposure;
mod journals;
mod nodes;
mod ring;
mod set_exposure;

use hedgerow_report::pictures::{LineChart, Picture, Series};
use hedgerow_smc::lop::{Exposure, LopSetting, measure_ring};

use crate::experiment::{Experiment, Scale, Trouble};

const PAPER: &str = "[JX08]";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "together-classes", paper: PAPER, shows: "figures 5 and 6", run: classes::run },
    Experiment { name: "together-exposure", paper: PAPER, shows: "figures 7 to 10", run: exposure::run },
    Experiment { name: "union-set-exposure", paper: PAPER, shows: "figures 11 to 14", run: set_exposure::run },
    Experiment { name: "union-item-exposure", paper: PAPER, shows: "figures 15 and 16", run: item_exposure::run },
];

/// By experiment, the claims that its wrong numbers turn.
#[cfg(test)]
pub(crate) const TURNED: &[crate::wrong::Turned] = &[
    ("together-classes", classes::tests::turned),
    ("together-exposure", exposure::tests::turned),
    ("union-set-exposure", set_exposure::tests::turned),
    ("union-item-exposure", item_exposure::tests::turned),
];

/// Table 1 of the paper.
const TABLE_1: LopSetting = LopSetting { custodians: 20, domain: 100_000, items: 1000 };

/// The simulated setting: with a tenth of domain and items in a quick run.
fn simulated(scale: Scale, custodians: u64) -> LopSetting {
    let part = scale.of(1, 10);
    LopSetting { custodians, domain: TABLE_1.domain / part, items: TABLE_1.items / part }
}

/// The exposure of each run of the union in the ring.
fn measured(setting: LopSetting, dummy_items: u64, runs: u32) -> Result<Vec<Exposure>, Trouble> {
    (0..u64::from(runs)).map(|run| Ok(measure_ring(setting, dummy_items, 1, dummy_items << 16 | run)?)).collect()
}

fn picture(title: &str, across: &str, series: &[Series]) -> Picture {
    let line = LineChart {
        title: title.to_owned(),
        description: format!("Loss of privacy over {across}."),
        columns: [across.to_owned(), "loss of privacy".to_owned()],
        series: series.to_vec(),
    };
    line.picture()
}
