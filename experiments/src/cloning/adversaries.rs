//! Sections 5 and 6.2: that clones resist the minimality attack and the deFinetti attack, and that
//! t-closeness does not resist composition.
//!
//! The deFinetti attack learns from all classes which values go with whom, and guesses; the
//! baseline guesses the most frequent value of each class. Beside the cloned release stands one of
//! buckets with the same l as there are people to hide among in a bucket of two. What an adversary
//! concludes who knows algorithm 1, as the minimality attack does, is counted for few people
//! ([`super::algorithm`]).

use std::path::{Path, PathBuf};

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_release::Release;
use hedgerow_report::pictures::{LineChart, NumberCell, short};
use hedgerow_table::{NoProgress, Table};

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::algorithm::{Far, drawn, surest};
use super::combined::combined;
use super::folder::{CLONE, Folder};
use super::{Census, PUBLISHERS, SENSITIVE, SHARES};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, below, never_above};
use crate::shape::all;

/// The people of a publisher: deFinetti looks at every row many times.
const OWN: usize = 20_000;

/// The ages of the counterexample.
const FOUR: [u32; 4] = [20, 24, 25, 40];

const TS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// By sensitive attribute in turn; repetitions are publishers, or pairs with the first.
#[derive(Debug, Clone)]
struct Measured {
    /// The deFinetti attack's accuracy and the baseline's.
    cloned: [Curve; 2],
    buckets: [Curve; 2],
    /// The largest confidence about four people of an adversary who knows algorithm 1, where
    /// closeness is in steps of generalization, as the paper has it, and where it is in years.
    surest: [f64; 2],
    /// Random tables of six people, and those with a release that raises the confidence in
    /// a value above one half.
    tables: [u64; 2],
    /// Over t, for every sensitive attribute: people at risk by composition, and the gain θ.
    at_risk: Vec<Curve>,
    gained: Vec<Curve>,
    cloned_gained: Vec<Curve>,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::sized(scale.of(OWN, 1500))?, Folder::new()?);
    let mut table = numbers(["sensitive", "release", "t", "adversary", "found", "±", "baseline"]);
    let pair = |name: &str| [Curve::new(format!("deFinetti on {name}")), Curve::new("most frequent value")];
    let [at_risk, gained, cloned_gained] = [const { Vec::new() }; 3];
    let surest = [Far::Steps, Far::Years].map(|far| surest(&FOUR, far).0);
    let tables = knowing(scale.of(2000, 200));
    let mut measured =
        Measured { cloned: pair("clones"), buckets: pair("buckets"), surest, tables, at_risk, gained, cloned_gained };
    for (place, sensitive) in SENSITIVE.into_iter().enumerate() {
        let mut row = |release: &str, t: f64, adversary: &str, found: &Sample, baseline: f64| {
            let numbers = [found.mean(), found.error(), baseline].map(NumberCell::Number).to_vec();
            let names = vec![sensitive.into(), release.into(), NumberCell::Number(t), adversary.into()];
            table.rows.push([names, numbers].concat());
        };
        let x = place as f64;
        for (way, [name, rules, settings]) in ways(sensitive).iter().enumerate() {
            let found = definetti(&census, &folder, sensitive, rules, settings)?;
            let curves = if way == 0 { &mut measured.cloned } else { &mut measured.buckets };
            let [accuracy, baseline] = found;
            row(name, f64::NAN, "deFinetti", &accuracy, baseline.mean());
            curves[0].push(x, accuracy);
            curves[1].push(x, baseline);
        }
        let shared = folder.write("shared.csv", &census.header, &[census.shared(SHARES[4])])?;
        let people = folder.read(&shared, sensitive)?;
        let cloned = gained_of_clones(&census, &folder, sensitive)?;
        row("cloned", f64::NAN, "composition, θ", &cloned, f64::NAN);
        let curve = |how: &str| Curve::new(format!("{sensitive}{how}"));
        let (mut at_risk, mut gained, mut cloned_gained) = (curve(""), curve(""), curve(", cloned"));
        for &t in scale.of(&TS[..], &[0.4, 0.8]) {
            let rules = rule(sensitive, &format!("\"t-closeness\", t = {t}, distance = \"equal\""));
            let [risk, gain] = composed(&census, &folder, sensitive, &people, &rules)?;
            row("t-close", t, "composition, people at risk", &risk, f64::NAN);
            row("t-close", t, "composition, θ", &gain, f64::NAN);
            at_risk.push(t, risk);
            gained.push(t, gain);
            cloned_gained.push(t, cloned.clone());
        }
        measured.at_risk.push(at_risk);
        measured.gained.push(gained);
        measured.cloned_gained.push(cloned_gained);
    }
    let row = |people: &str, found: f64| {
        let [none, found, half] = [f64::NAN, found, 0.5].map(NumberCell::Number);
        vec![people.into(), "cloned by algorithm 1".into(), none.clone(), "knows algorithm 1".into(), found, none, half]
    };
    let [all, raised] = measured.tables;
    table.rows.push(row("two values, four people, by steps", measured.surest[0]));
    table.rows.push(row("two values, four people, by years", measured.surest[1]));
    table.rows.push(row(&format!("share of {all} tables with six people"), raised as f64 / all as f64));
    let line = LineChart {
        title: "What composition gains against t-closeness".to_owned(),
        description: "θ of equation 4 over t, beside that of cloned releases.".to_owned(),
        columns: ["t".to_owned(), "θ".to_owned()],
        series: measured.gained.iter().chain(&measured.cloned_gained).map(Curve::series).collect(),
    };
    let setting = format!(
        "{} All of the pool is shared. For the minimality attack four people, who need no data, and {all} random tables of six.",
        census.setting()
    );
    Ok(Findings { setting, numbers: table, pictures: vec![line.picture()], claims: claims(&measured) })
}

fn claims(measured: &Measured) -> Vec<Claim> {
    let Measured { cloned, buckets, surest, tables, at_risk, gained, cloned_gained } = measured;
    vec![
        Claim::shape(
            "the deFinetti attack on clones is right no more often than guessing the most frequent value (section 6.2)",
            never_above(&cloned[0], &cloned[1]),
        )
        .on_other_data(),
        Claim::ours(
            "on buckets of l = 2 it is right more often than that about occupations",
            below(&buckets[1].up_to(0.0), &buckets[0].up_to(0.0)),
        ),
        Claim::shape(
            "knowing the algorithm, as the minimality attack does, does not raise the confidence in a value (section 6.2)",
            not_raised(*surest),
        )
        .at_any_size()
        .stated_not_to_hold(),
        Claim::ours("in most random tables of six people some release raises the confidence in a value", most(*tables)).at_any_size(),
        Claim::shape(
            "t-closeness leaves people at risk by composition, at some t up to 0.8 (section 5)",
            all(at_risk.iter().map(some_at_risk)),
        )
        .on_other_data(),
        Claim::ours(
            "combined, cloned releases gain the adversary less (θ) than t-close ones",
            all(cloned_gained.iter().zip(gained).map(|(cloned, close)| below(cloned, close))),
        ),
    ]
}

/// Each value is half of the class.
fn not_raised([by_steps, by_years]: [f64; 2]) -> ClaimOutcome {
    match by_steps <= 0.5 {
        true => Ok(()),
        false => Err(format!(
            "ages 20, 24, 25 and 40: {} in place of 0.5 where closeness is in steps of generalization, and {} where it \
             is in years",
            short(by_steps),
            short(by_years)
        )),
    }
}

fn most([all, raised]: [u64; 2]) -> ClaimOutcome {
    if 2 * raised > all { Ok(()) } else { Err(format!("{raised} of {all} tables")) }
}

/// Random tables, and how many have a release that raises the confidence in a value above one half.
fn knowing(tables: u64) -> [u64; 2] {
    let mut rng = StdRng::seed_from_u64(62);
    let raised = (0..tables).filter(|_| surest(&drawn(6, &mut rng), Far::Steps).0 > 0.5).count();
    [tables, raised as u64]
}

fn some_at_risk(curve: &Curve) -> ClaimOutcome {
    let most = curve.points.iter().map(|point| point.1.mean()).fold(0.0, f64::max);
    if most > 0.0 { Ok(()) } else { Err(format!("{}: nobody at any t", curve.name)) }
}

fn rule(sensitive: &str, model: &str) -> String {
    format!("[[rule]]\nprotect = \"{sensitive}\"\nrequire = {{ model = {model} }}\n")
}

/// The releases on which the deFinetti attack is tried: a name, rules and settings.
fn ways(sensitive: &str) -> [[String; 3]; 2] {
    let buckets = rule(sensitive, "\"frequency-l-diversity\", l = 2");
    [["cloned", "", CLONE], ["buckets, l = 2", &buckets, "method = \"anatomy\"\n"]].map(|way| way.map(str::to_owned))
}

/// How often the attack and the baseline are right about the people in each publisher's table.
fn definetti(
    census: &Census,
    folder: &Folder,
    sensitive: &str,
    rules: &str,
    settings: &str,
) -> Result<[Sample; 2], Trouble> {
    let mut shares = [const { Vec::new() }; 2];
    for publisher in 0..PUBLISHERS {
        let source = census.source(folder, publisher, SHARES[4])?;
        let found = attacked(folder, &source, sensitive, rules, settings, Adversary::Definetti)?;
        for (shares, key) in shares.iter_mut().zip(["true_accuracy", "true_baseline"]) {
            shares.push(number(&found, key).ok_or_else(|| format!("deFinetti does not say {key}"))?);
        }
    }
    Ok(shares.map(|shares| Sample::of(&shares)))
}

fn attacked(
    folder: &Folder,
    source: &Path,
    sensitive: &str,
    rules: &str,
    settings: &str,
    adversary: Adversary,
) -> Result<Finding, Trouble> {
    let (release, _) = folder.publish(source, sensitive, rules, settings)?;
    let people = folder.read(source, sensitive)?;
    let options = AuditOptions { people: Some(&people), adversaries: vec![adversary], ..AuditOptions::default() };
    let opened = [Release::open(&release, &NoProgress)?];
    let found = audit(&opened, &options)?.findings;
    Ok(found.into_iter().next().ok_or("one adversary, one finding")?)
}

/// People at risk and θ, for the first publisher's release combined with each of the others.
fn composed(
    census: &Census,
    folder: &Folder,
    sensitive: &str,
    people: &Table,
    rules: &str,
) -> Result<[Sample; 2], Trouble> {
    let releases = releases(census, folder, sensitive, rules, "method = \"mondrian\"\n")?;
    let options =
        AuditOptions { people: Some(people), adversaries: vec![Adversary::Composition], ..AuditOptions::default() };
    let (mut at_risk, mut gained) = (Vec::new(), Vec::new());
    for other in &releases[1..] {
        let opened = [Release::open(&releases[0], &NoProgress)?, Release::open(other, &NoProgress)?];
        let found = audit(&opened, &options)?.findings;
        let found = found.first().ok_or("one adversary, one finding")?;
        at_risk.push(found.at_risk as f64);
        gained.push(number(found, "theta").ok_or("no person was combined")?);
    }
    Ok([Sample::of(&at_risk), Sample::of(&gained)])
}

/// θ for the first publisher's clones combined with each of the others', by the worst pair of
/// classes.
fn gained_of_clones(census: &Census, folder: &Folder, sensitive: &str) -> Result<Sample, Trouble> {
    let releases = releases(census, folder, sensitive, "", CLONE)?;
    let gained = releases[1..].iter().map(|other| Ok(combined(&releases[0], other)?.gained));
    Ok(Sample::of(&gained.collect::<Result<Vec<f64>, Trouble>>()?))
}

fn releases(
    census: &Census,
    folder: &Folder,
    sensitive: &str,
    rules: &str,
    settings: &str,
) -> Result<Vec<PathBuf>, Trouble> {
    let publish = |publisher: usize| -> Result<PathBuf, Trouble> {
        let source = census.source(folder, publisher, SHARES[4])?;
        Ok(folder.publish(&source, sensitive, rules, settings)?.0)
    };
    (0..PUBLISHERS).map(publish).collect()
}

fn number(finding: &Finding, key: &str) -> Option<f64> {
    finding.details.get(key)?.as_f64()
}

#[cfg(test)]
pub(super) mod tests {
    use hedgerow_audit::adversaries::composition::confidences;
    use hedgerow_privacy::models::{self, Context};
    use hedgerow_privacy::{Class, Distance, Distribution, Model};
    use hedgerow_table::Ratio;

    use super::*;
    use crate::adults::adults;
    use crate::wrong::every_claim_can_fail;

    /// Of six people two have each of three values. One release has a class with the first value
    /// and the second, another one with the first and the third. Both are 1/3 from the table, by
    /// half the sum of the differences of their shares. A person in both classes has the first
    /// value.
    #[test]
    fn two_classes_that_are_0_34_close_leave_one_value_together() {
        let table = Distribution::new(vec![2, 2, 2], None);
        let is_close = |t: f64, values: &[(u32, u32)]| {
            let t = Ratio::from_decimal(t).unwrap();
            let model = Model::TCloseness { t, distance: Distance::Equal, order: None };
            let guarantee = models::guarantee(&model, &Context::default()).unwrap();
            guarantee.holds(Class { rows: 2, values }, &table)
        };
        let classes = [[(0u32, 1u32), (1, 1)], [(0, 1), (2, 1)]];
        assert!(classes.iter().all(|class| is_close(0.34, class) && !is_close(0.33, class)));
        let [one, other] = classes.map(|class| class.map(|(value, rows)| (value, f64::from(rows))));
        assert_eq!(confidences(&[&one[..], &other[..]]), [(0, 1.0)]);
    }

    /// The occupation of all but each fourth is their education, and of all people it would be
    /// refused: where an attack can learn anything, it can learn here.
    #[test]
    fn buckets_disclose_occupations_that_follow_from_education_and_clones_do_not() {
        let (header, people) = adults(1500).unwrap();
        let place = |name: &str| header.trim_end().split(',').position(|one| one == name).unwrap();
        let [education, occupation] = ["education", "occupation"].map(place);
        let planted = |(person, line): (usize, &String)| {
            let mut cells: Vec<&str> = line.trim_end().split(',').collect();
            if person % 4 > 0 {
                cells[occupation] = cells[education];
            }
            cells.join(",") + "\n"
        };
        let planted: Vec<String> = people.iter().enumerate().map(planted).collect();
        let folder = Folder::new().unwrap();
        let source = folder.write("planted.csv", &header, &[&planted]).unwrap();
        let right = |[_, rules, settings]: [&str; 3]| {
            let found = attacked(&folder, &source, "occupation", rules, settings, Adversary::Definetti).unwrap();
            ["true_accuracy", "true_baseline"].map(|key| number(&found, key).unwrap())
        };
        let [clones, buckets] = ways("occupation");
        let [attack, baseline] = right(buckets.each_ref().map(String::as_str));
        assert!(attack > baseline + 0.2, "buckets: {attack} and {baseline}");
        let [attack, baseline] = right(clones.each_ref().map(String::as_str));
        assert!((attack - baseline).abs() < 1e-9, "clones: {attack} and {baseline}");
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cloning) fn turned() -> Vec<String> {
        let curve = |height: f64| Curve::exact("c", &[(0.0, height), (1.0, height)]);
        let right = Measured {
            cloned: [0.1, 0.1].map(curve),
            buckets: [0.6, 0.5].map(curve),
            surest: [0.6, 0.67],
            tables: [100, 80],
            at_risk: vec![curve(3.0)],
            gained: vec![curve(0.5)],
            cloned_gained: vec![curve(0.1)],
        };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("the deFinetti attack", |of| of.cloned[0].points[0].1 = Sample::exact(0.2)),
                ("on buckets", |of| of.buckets[0].points[0].1 = Sample::exact(0.4)),
                ("knowing the algorithm", |of| of.surest[0] = 0.5),
                ("in most random", |of| of.tables[1] = 50),
                ("t-closeness leaves", |of| of.at_risk[0] = Curve::exact("c", &[(0.0, 0.0)])),
                ("combined", |of| of.cloned_gained[0].points[0].1 = Sample::exact(0.6)),
            ],
        )
    }
}
