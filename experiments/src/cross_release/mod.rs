//! Non-centralized distinct l-diversity (Cheong, Wu, Wong 2012, section 6): a search beside an
//! earlier release of another custodian.
//!
//! The paper divides the census table SAL: 700,000 adults with seven quasi attributes and fifty
//! incomes. Ours is synthetic; occupations and birthplaces are divided at random until there are as
//! many as in its table 9. Every quasi attribute has four levels: the value, four labels, two, one.
//! Which attributes are in which table the paper does not say: here those with most values are in
//! the new release, which makes it the hard one, and the earlier release has those with fewest.

mod between;
mod correlation;
mod finer;
mod intersections;
mod sets;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_privacy::models::{Community, EarlierRelease};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::community::EarlierReleases;
use hedgerow_publish::loss::LossModel;
use hedgerow_publish::search::{Budget, FullDomain, SearchOutcome, search};
use hedgerow_table::read::{ReadOptions, read_csv_bytes};
use hedgerow_table::{NoProgress, Table};
use tempfile::TempDir;

use crate::adults::adults;
use crate::experiment::{Experiment, Scale, Trouble};

const PAPER: &str = "[CWW12]";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "cross-release-a", paper: PAPER, shows: "experiment A", run: |scale| sets::run(scale, 0) },
    Experiment { name: "cross-release-b", paper: PAPER, shows: "experiment B", run: |scale| sets::run(scale, 1) },
    Experiment { name: "cross-release-c", paper: PAPER, shows: "experiment C", run: |scale| sets::run(scale, 2) },
    Experiment { name: "cross-release-d", paper: PAPER, shows: "experiment D", run: |scale| sets::run(scale, 3) },
    Experiment { name: "cross-release-between", paper: PAPER, shows: "experiments A to D compared", run: between::run },
    Experiment { name: "cross-release-intersections", paper: PAPER, shows: "tables 8 and 9", run: intersections::run },
    Experiment {
        name: "cross-release-correlation",
        paper: PAPER,
        shows: "tables 5 and 6 (section 4.2.2)",
        run: correlation::run,
    },
];

/// By experiment, the claims that its wrong numbers turn.
#[cfg(test)]
pub(crate) const TURNED: &[crate::wrong::Turned] = &[
    ("cross-release-a", || sets::tests::turned("A")),
    ("cross-release-b", || sets::tests::turned("B")),
    ("cross-release-c", || sets::tests::turned("C")),
    ("cross-release-d", || sets::tests::turned("D")),
    ("cross-release-between", between::tests::turned),
    ("cross-release-intersections", intersections::tests::turned),
    ("cross-release-correlation", correlation::tests::turned),
];

/// Table 10 of the paper.
const SETS: [Set; 4] = [
    Set { name: "A", l_before: 30, quasi_before: 2 },
    Set { name: "B", l_before: 50, quasi_before: 2 },
    Set { name: "C", l_before: 30, quasi_before: 4 },
    Set { name: "D", l_before: 50, quasi_before: 4 },
];

/// The guarantee of the earlier release, and its number of attributes.
#[derive(Debug, Clone, Copy)]
struct Set {
    name: &'static str,
    l_before: u64,
    quasi_before: usize,
}

const SENSITIVE: &str = "income";

/// Those of table 9.
const QUASI: [&str; 7] = ["age", "education", "birthplace", "occupation", "race", "workclass", "marital-status"];

/// Table 9, in the order of [`QUASI`], then the incomes.
const DOMAINS: [u64; 8] = [77, 14, 133, 509, 9, 7, 6, 50];

/// The census with the paper's schema, and a folder with its hierarchies.
struct Census {
    table: Table,
    folder: TempDir,
    /// Most values first.
    quasi: Vec<&'static str>,
}

/// One search: how long it took to count all candidates, and the least average level.
#[derive(Debug, Clone, Copy)]
struct Searched {
    seconds: f64,
    candidates: u64,
    level: f64,
}

impl Census {
    fn new(scale: Scale) -> Result<Census, Trouble> {
        let rows = scale.of(700_000, 20_000);
        let table = read_csv_bytes(Path::new("census.csv"), &finer::divided(&adults(rows)?)?, &ReadOptions::default())?;
        let folder = tempfile::tempdir()?;
        for name in QUASI {
            std::fs::write(folder.path().join(format!("{name}.csv")), four_levels(&table, name)?)?;
        }
        let mut quasi = QUASI.to_vec();
        quasi.sort_by_key(|name| std::cmp::Reverse(table.column(name).map(|column| column.domain.cardinality())));
        Ok(Census { table, folder, quasi })
    }

    fn setting(&self) -> String {
        let (rows, [age, education, birthplace, occupation, race, work, marital, income]) =
            (self.table.rows, self.domains());
        format!(
            "A synthetic census in place of the paper's real one, which has 700k adults: {rows} people from 16 years on, with {age} ages, \
             {education} levels of education, {birthplace} birthplaces, {occupation} occupations, {race} races, {work} classes of work and \
             {marital} marital states of four levels each, and {income} incomes; its table 9 has {}, {}, {}, {}, {}, {}, {} and {}.",
            DOMAINS[0], DOMAINS[1], DOMAINS[2], DOMAINS[3], DOMAINS[4], DOMAINS[5], DOMAINS[6], DOMAINS[7]
        )
    }

    /// How many values there are, in the order of [`DOMAINS`].
    fn domains(&self) -> [u64; 8] {
        let size = |name: &str| self.table.column(name).map_or(0, |column| column.domain.cardinality() as u64);
        let mut domains = [0; 8];
        domains.iter_mut().zip(QUASI.iter().chain([&SENSITIVE])).for_each(|(domain, name)| *domain = size(name));
        domains
    }

    /// The disclosures of the least lossy release with `l_before` incomes in every class discloses.
    fn earlier(&self, set: Set) -> Result<Community, Trouble> {
        let quasi = &self.quasi[QUASI.len() - set.quasi_before..];
        let policy = self.policy(quasi, set.l_before)?;
        let bound = Bound::new(&policy, &self.table)?;
        let best = self.find(&bound, false)?.best.ok_or("not even one class has enough incomes")?;
        let sensitive = self.table.column(SENSITIVE).ok_or("the census has an income")?;
        let mut classes: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
        for row in 0..self.table.rows {
            let cell = |(quasi, &level): (&hedgerow_publish::bind::Quasi<'_>, &u8)| {
                quasi.hierarchy.levels()[level as usize].map[quasi.column.codes.get(row) as usize]
            };
            let cells = bound.quasi.iter().zip(&best.levels).map(cell).collect();
            classes.entry(cells).or_default().insert(sensitive.codes.get(row));
        }
        let classes = classes.into_values().map(|values| (values.into_iter().collect(), String::new())).collect();
        let rows = self.table.rows as u64;
        let release = EarlierRelease { name: quasi.join("+"), digest: String::new(), rows, classes };
        let vocabulary = (0..sensitive.domain.cardinality() as u32).map(|code| sensitive.domain.text(code)).collect();
        Ok(Community::new(vocabulary, vec![release]).map_err(|_| "more classes than can be compared")?)
    }

    /// All candidates for a release over these attributes beside what is known already.
    fn beside(&self, community: &Community, quasi: &[&str], l: u64) -> Result<Searched, Trouble> {
        let mut policy = self.policy(quasi, l)?;
        policy.rules[0].require = vec![Model::CrossReleaseLDiversity { l }];
        let mut earlier = EarlierReleases::default();
        earlier.communities.insert(SENSITIVE.to_owned(), community.clone().into());
        let bound = Bound::with_earlier(&policy, &self.table, earlier)?;
        let started = Instant::now();
        let found = self.find(&bound, true)?;
        let seconds = started.elapsed().as_secs_f64();
        let average = |levels: &Vec<u8>| levels.iter().map(|&level| f64::from(level)).sum::<f64>() / quasi.len() as f64;
        Ok(Searched {
            seconds,
            candidates: found.candidates.unwrap_or(0),
            level: found.best.map_or(f64::NAN, |best| average(&best.levels)),
        })
    }

    /// By `precision`, where all hierarchies have the same height, the least loss is the least
    /// average level.
    fn find(&self, bound: &Bound<'_>, candidates: bool) -> Result<SearchOutcome, Trouble> {
        let judge = bound.judge()?;
        let rows = self.table.rows;
        let loss = LossModel::new(bound.policy.publish.loss, &bound.loss_attributes(), rows as u64, 1);
        Ok(search(FullDomain {
            columns: &bound.judged_codes(),
            rows,
            counts: None,
            hierarchies: &bound.hierarchies(),
            judge: &judge,
            loss: &loss,
            measured: &[],
            budget: Budget::default(),
            candidates,
            units: None,
            consistent: None,
            progress: &NoProgress,
        }))
    }

    fn policy(&self, quasi: &[&str], l: u64) -> Result<Policy, Trouble> {
        let attribute = |name: &&str| format!("{name} = {{ role = \"quasi\", hierarchy = \"{name}.csv\" }}\n");
        let attributes: String = quasi.iter().map(attribute).collect();
        let text = format!(
            "[source]\npath = \"census.csv\"\n[attributes]\n{attributes}{SENSITIVE} = {{ role = \"sensitive\" }}\n\
             [[rule]]\nprotect = \"{SENSITIVE}\"\nrequire = {{ model = \"distinct-l-diversity\", l = {l} }}\n\
             [publish]\nsuppression = 0.0\nloss = \"precision\"\n"
        );
        Ok(Policy::parse(&text, &self.folder.path().join("policy.toml")).map_err(|errors| errors.to_string())?)
    }
}

/// A hierarchy file: four labels, two, one, by rank.
fn four_levels(table: &Table, name: &str) -> Result<String, Trouble> {
    let domain = &table.column(name).ok_or("an attribute of the census")?.domain;
    let count = domain.cardinality();
    let line = |code: usize| {
        let quarter = code * 4 / count;
        format!("{};quarter {quarter};half {};*\n", domain.text(code as u32), quarter / 2)
    };
    Ok((0..count).map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_has_four_levels() {
        let census = Census::new(Scale::Quick).unwrap();
        assert_eq!(census.table.rows, 20_000);
        let policy = census.policy(&census.quasi, 2).unwrap();
        let bound = Bound::new(&policy, &census.table).unwrap();
        assert!(bound.hierarchies().iter().all(|hierarchy| hierarchy.levels().len() == 4));
    }
}
