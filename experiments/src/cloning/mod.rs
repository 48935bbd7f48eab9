//! ε-cloning (Baig, Li, Liu, Wang 2011, section 7): five publishers who know nothing of each other,
//! and the people they share.
//!
//! The paper deals the real tables OCC and SAL, 600,000 American adults each, to five publishers
//! and a pool. Here the adults of a synthetic census are dealt, and from the pool the same people
//! are added to each publisher: a fifth to all of the pool. The quasi attributes are age, sex,
//! education and birthplace; the sensitive one is occupation or income, of fifty values.

mod adversaries;
mod algorithm;
mod combined;
mod distorted;
mod folder;
mod printed;
mod queries;
mod risk;
mod seconds;
mod selection;
mod workload;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::adults::adults;
use crate::experiment::{Experiment, Scale, Trouble};
use folder::Folder;

const PAPER: &str = "[BLLW11]";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "cloning-printed", paper: PAPER, shows: "tables 1 to 3, examples 2 and 3", run: printed::run },
    Experiment { name: "cloning-risk", paper: PAPER, shows: "figure 2", run: risk::run },
    Experiment { name: "cloning-distorted", paper: PAPER, shows: "figure 3", run: distorted::run },
    Experiment { name: "cloning-queries", paper: PAPER, shows: "figure 4", run: queries::run },
    Experiment { name: "cloning-selection", paper: PAPER, shows: "figure 5", run: selection::run },
    Experiment { name: "cloning-seconds", paper: PAPER, shows: "figure 6", run: seconds::run },
    Experiment { name: "cloning-adversaries", paper: PAPER, shows: "sections 5 and 6.2", run: adversaries::run },
];

/// By experiment, the claims that its wrong numbers turn.
#[cfg(test)]
pub(crate) const TURNED: &[crate::wrong::Turned] = &[
    ("cloning-printed", printed::tests::turned),
    ("cloning-risk", risk::tests::turned),
    ("cloning-distorted", distorted::tests::turned),
    ("cloning-queries", queries::tests::turned),
    ("cloning-selection", selection::tests::turned),
    ("cloning-seconds", seconds::tests::turned),
    ("cloning-adversaries", adversaries::tests::turned),
];

const PUBLISHERS: usize = 5;

/// In place of the paper's tables OCC and SAL.
const SENSITIVE: [&str; 2] = ["occupation", "income"];

/// Table 4: ages, sexes, levels of education, birthplaces, occupations, incomes.
const DOMAINS: [usize; 6] = [79, 2, 17, 57, 50, 50];

/// Each publisher's own people in the paper.
const OWN: usize = 100_000;

/// The paper's ρ, as shares of the table. Of a value's tuples at most all are looked at, and a
/// value among fifty has about 2 % of the table: beyond that share nothing changes, so the paper's
/// 20 % looks at all.
const RHOS: [f64; 3] = [0.001, 0.004, 0.016];

/// The fifths of the pool that are shared.
const SHARES: [usize; 5] = [1, 2, 3, 4, 5];

/// All people.
struct Census {
    header: String,
    people: Vec<String>,
    /// Each publisher's own people; as many are in the pool.
    own: usize,
}

impl Census {
    fn new(scale: Scale) -> Result<Census, Trouble> {
        Census::sized(scale.of(OWN, 4000))
    }

    /// With the given number of people of each publisher's own.
    fn sized(own: usize) -> Result<Census, Trouble> {
        let (header, people) = adults(own * (PUBLISHERS + 1))?;
        Ok(Census { header, people, own })
    }

    fn shared(&self, fifths: usize) -> &[String] {
        let first = self.own * PUBLISHERS;
        &self.people[first..first + self.own * fifths / 5]
    }

    /// A publisher's table: its own people and those it shares.
    fn source(&self, folder: &Folder, publisher: usize, fifths: usize) -> Result<PathBuf, Trouble> {
        let first = self.own * publisher;
        let own = &self.people[first..first + self.own];
        folder.write(&format!("source-{publisher}.csv"), &self.header, &[own, self.shared(fifths)])
    }

    /// Rows of a publisher's table.
    fn rows(&self, fifths: usize) -> usize {
        self.own + self.own * fifths / 5
    }

    /// The first sentence of every section.
    fn setting(&self) -> String {
        let [age, sex, education, birthplace, occupation, income] =
            ["age", "sex", "education", "birthplace", "occupation", "income"].map(|name| self.values(name));
        format!(
            "A synthetic census in place of the paper's real OCC and SAL: adults from 16 years on, {PUBLISHERS} publishers with {} people of \
             their own each and {} to {} shared; {age} ages, {sex} sexes, {education} levels of education and {birthplace} birthplaces are \
             known, {occupation} occupations or {income} incomes sensitive; its table 4 has {}, {}, {}, {}, {} and {}.",
            self.own,
            self.own / 5,
            self.own,
            DOMAINS[0],
            DOMAINS[1],
            DOMAINS[2],
            DOMAINS[3],
            DOMAINS[4],
            DOMAINS[5]
        )
    }

    /// How many values an attribute has among all people.
    fn values(&self, name: &str) -> usize {
        let place = self.header.trim_end().split(',').position(|one| one == name);
        let of = |line: &'_ String| place.and_then(|place| line.trim_end().split(',').nth(place)).map(str::to_owned);
        self.people.iter().filter_map(of).collect::<BTreeSet<String>>().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_counts_what_the_data_has() {
        let people = ["20,M,a,x,p,1\n", "20,F,a,y,p,2\n", "30,F,a,z,q,2\n"].map(str::to_owned).to_vec();
        let header = "age,sex,education,birthplace,occupation,income\n".to_owned();
        let census = Census { header, people, own: 5 };
        let counted = "2 ages, 2 sexes, 1 levels of education and 3 birthplaces are known, 2 occupations or 2 incomes";
        assert!(census.setting().contains(counted), "{}", census.setting());
        assert_eq!(census.values("shoes"), 0);
    }
}
