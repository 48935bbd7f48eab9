//! ε-cloning (Baig, Li, Liu, Wang 2011, section 7): five publishers who know nothing of each other,
//! and the people they share.
//!
//! A synthetic census is dealt to five publishers, and from a pool the same people are added to
//! each of them: a fifth to all of the pool. The quasi attributes are age, sex, education and
//! birthplace; the sensitive one is occupation (the paper's OCC) or income (SAL), of fifty values.

mod distorted;
mod folder;
mod queries;
mod risk;
mod seconds;
mod selection;

use std::path::PathBuf;

use crate::experiment::{Experiment, Scale, Trouble};
use folder::Folder;

const PAPER: &str = "[BLLW11]";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "cloning-risk", paper: PAPER, shows: "figure 2", run: risk::run },
    Experiment { name: "cloning-distorted", paper: PAPER, shows: "figure 3", run: distorted::run },
    Experiment { name: "cloning-queries", paper: PAPER, shows: "figure 4", run: queries::run },
    Experiment { name: "cloning-selection", paper: PAPER, shows: "figure 5", run: selection::run },
    Experiment { name: "cloning-seconds", paper: PAPER, shows: "figure 6", run: seconds::run },
];

const PUBLISHERS: usize = 5;

/// The sensitive attributes, with the paper's names of the tables.
const SENSITIVE: [(&str, &str); 2] = [("occupation", "OCC"), ("income", "SAL")];

/// Each publisher's own people in the paper.
const OWN: usize = 100_000;

/// The paper's ρ, as shares of the table. Of a value's tuples at most all are looked at, and a
/// value
/// among fifty has about 2 % of the table: beyond that share nothing changes, so the paper's 20 %
/// looks at all.
const RHOS: [f64; 3] = [0.001, 0.004, 0.016];

/// The fifths of the pool that are shared.
const SHARES: [usize; 5] = [1, 2, 3, 4, 5];

/// All people.
struct Census {
    text: String,
    /// Each publisher's own people; as many are in the pool.
    own: usize,
}

impl Census {
    fn new(scale: Scale) -> Result<Census, Trouble> {
        Census::sized(scale.of(OWN, 4000))
    }

    /// With so many people of each publisher's own.
    fn sized(own: usize) -> Result<Census, Trouble> {
        let mut bytes = Vec::new();
        hedgerow_synth::census((own * (PUBLISHERS + 1)) as u64, 1, &mut bytes)?;
        Ok(Census { text: String::from_utf8(bytes)?, own })
    }

    fn header(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    fn shared(&self, fifths: usize) -> Vec<&str> {
        self.text.lines().skip(1 + self.own * PUBLISHERS).take(self.own * fifths / 5).collect()
    }

    /// A publisher's table: its own people and those it shares.
    fn source(&self, folder: &Folder, publisher: usize, fifths: usize) -> Result<PathBuf, Trouble> {
        let own: Vec<&str> = self.text.lines().skip(1 + self.own * publisher).take(self.own).collect();
        folder.write(&format!("source-{publisher}.csv"), self.header(), &[own, self.shared(fifths)].concat())
    }

    /// Rows of a publisher's table.
    fn rows(&self, fifths: usize) -> usize {
        self.own + self.own * fifths / 5
    }
}
