//! Sections 5 and 6.2: that clones resist the minimality attack and the deFinetti attack, and that
//! t-closeness does not resist composition.
//!
//! The deFinetti attack learns from all classes which values go with whom, and guesses; the
//! baseline guesses the most frequent value of each class. Beside the cloned release stands one of
//! buckets with the same l as there are people to hide among in a bucket of two. The minimality
//! attack knows how Mondrian decides and asks what that rules out; of a cloned release nothing
//! follows, since its classes are composed alike whatever the values are.

use std::path::Path;

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_release::Release;
use hedgerow_report::pictures::{Cell, Line};
use hedgerow_table::{NoProgress, Table};

use super::folder::{CLONE, Folder};
use super::{Census, PUBLISHERS, SENSITIVE, SHARES};
use crate::claim::{Claim, Outcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, below, never_above};
use crate::shape::all;

/// The people of a publisher: deFinetti looks at every row many times.
const OWN: usize = 20_000;

const TS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// By sensitive attribute in turn; repetitions are publishers, or pairs with the first.
#[derive(Debug, Clone)]
struct Measured {
    /// The deFinetti attack's accuracy and the baseline's.
    cloned: [Curve; 2],
    buckets: [Curve; 2],
    /// Ruled out by minimality: the largest confidence beyond what a class shows, on clones and
    /// on an l-diverse Mondrian release.
    minimality: [Curve; 2],
    /// Over t, for every sensitive attribute: people at risk by composition, and the gain θ.
    at_risk: Vec<Curve>,
    gained: Vec<Curve>,
    cloned_gained: Vec<Curve>,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::sized(scale.of(OWN, 1500))?, Folder::new()?);
    let mut table = numbers(["sensitive", "release", "t", "adversary", "found", "±", "baseline"]);
    let pair = |name: &str| [Curve::new(format!("deFinetti on {name}")), Curve::new("most frequent value")];
    let minimality = [Curve::new("clones"), Curve::new("Mondrian, l = 3")];
    let [at_risk, gained, cloned_gained] = [const { Vec::new() }; 3];
    let mut measured =
        Measured { cloned: pair("clones"), buckets: pair("buckets"), minimality, at_risk, gained, cloned_gained };
    for (place, sensitive) in SENSITIVE.into_iter().enumerate() {
        let mut row = |release: &str, t: f64, adversary: &str, found: &Sample, baseline: f64| {
            let numbers = [found.mean(), found.error(), baseline].map(Cell::Number).to_vec();
            let names = vec![sensitive.into(), release.into(), Cell::Number(t), adversary.into()];
            table.rows.push([names, numbers].concat());
        };
        let x = place as f64;
        let rule = |model: &str| format!("[[rule]]\nprotect = \"{sensitive}\"\nrequire = {{ model = {model} }}\n");
        let ways = [
            ("cloned", String::new(), CLONE),
            ("buckets, l = 2", rule("\"frequency-l-diversity\", l = 2"), "method = \"anatomy\"\n"),
        ];
        for (way, (name, rules, settings)) in ways.iter().enumerate() {
            let found = definetti(&census, &folder, sensitive, rules, settings)?;
            let curves = if way == 0 { &mut measured.cloned } else { &mut measured.buckets };
            let [accuracy, baseline] = found;
            row(name, f64::NAN, "deFinetti", &accuracy, baseline.mean());
            curves[0].push(x, accuracy);
            curves[1].push(x, baseline);
        }
        let ways = [
            ("cloned", String::new(), CLONE),
            ("Mondrian, l = 3", rule("\"distinct-l-diversity\", l = 3"), "method = \"mondrian\"\n"),
        ];
        for (curve, (name, rules, settings)) in measured.minimality.iter_mut().zip(&ways) {
            let found = ruled_out(&census, &folder, sensitive, rules, settings)?;
            row(name, f64::NAN, "minimality", &found, f64::NAN);
            curve.push(x, found);
        }
        let shared = folder.write("shared.csv", &census.header, &[census.shared(SHARES[4])])?;
        let people = folder.read(&shared, sensitive)?;
        let [_, cloned] = composed(&census, &folder, sensitive, &people, "", CLONE)?;
        row("cloned", f64::NAN, "composition, θ", &cloned, f64::NAN);
        let curve = |how: &str| Curve::new(format!("{sensitive}{how}"));
        let (mut at_risk, mut gained, mut cloned_gained) = (curve(""), curve(""), curve(", cloned"));
        for &t in scale.of(&TS[..], &[0.4, 0.8]) {
            let rules = rule(&format!("\"t-closeness\", t = {t}, distance = \"equal\""));
            let [risk, gain] = composed(&census, &folder, sensitive, &people, &rules, "method = \"mondrian\"\n")?;
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
    let line = Line {
        title: "What composition gains against t-closeness".to_owned(),
        description: "θ of equation 4 over t, beside that of cloned releases.".to_owned(),
        columns: ["t".to_owned(), "θ".to_owned()],
        series: measured.gained.iter().chain(&measured.cloned_gained).map(Curve::series).collect(),
    };
    let setting = format!("{} All of the pool is shared.", census.setting());
    Ok(Findings { setting, numbers: table, pictures: vec![line.picture()], claims: claims(&measured) })
}

fn claims(measured: &Measured) -> Vec<Claim> {
    let Measured { cloned, buckets, minimality, at_risk, gained, cloned_gained } = measured;
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
        Claim::shape("the minimality attack on clones rules nothing out (section 6.2)", minimality[0].at_most(0.0))
            .on_other_data(),
        Claim::shape(
            "t-closeness leaves people at risk by composition (section 5)",
            all(at_risk.iter().map(some_at_risk)),
        )
        .on_other_data(),
        Claim::shape(
            "combined, cloned releases gain the adversary less (θ) than t-close ones",
            all(cloned_gained.iter().zip(gained).map(|(cloned, close)| below(cloned, close))),
        )
        .on_other_data(),
    ]
}

fn some_at_risk(curve: &Curve) -> Outcome {
    let most = curve.points.iter().map(|point| point.1.mean()).fold(0.0, f64::max);
    if most > 0.0 { Ok(()) } else { Err(format!("{}: nobody at any t", curve.name)) }
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

/// By how much minimality raises the largest confidence over the share that a class shows anyway.
fn ruled_out(
    census: &Census,
    folder: &Folder,
    sensitive: &str,
    rules: &str,
    settings: &str,
) -> Result<Sample, Trouble> {
    let mut gains = Vec::new();
    for publisher in 0..PUBLISHERS {
        let source = census.source(folder, publisher, SHARES[4])?;
        let found = attacked(folder, &source, sensitive, rules, settings, Adversary::Minimality)?;
        // Where nothing follows, the finding has no confidence.
        gains.push(found.max_confidence);
    }
    Ok(Sample::of(&gains))
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
    settings: &str,
) -> Result<[Sample; 2], Trouble> {
    let mut releases = Vec::new();
    for publisher in 0..PUBLISHERS {
        let source = census.source(folder, publisher, SHARES[4])?;
        releases.push(folder.publish(&source, sensitive, rules, settings)?.0);
    }
    let options =
        AuditOptions { people: Some(people), adversaries: vec![Adversary::Composition], ..AuditOptions::default() };
    let (mut at_risk, mut gained) = (Vec::new(), Vec::new());
    for other in &releases[1..] {
        let opened = [Release::open(&releases[0], &NoProgress)?, Release::open(other, &NoProgress)?];
        let found = audit(&opened, &options)?.findings;
        let found = found.first().ok_or("one adversary, one finding")?;
        at_risk.push(found.at_risk as f64);
        gained.push(number(found, "theta").unwrap_or(f64::NAN));
    }
    Ok([Sample::of(&at_risk), Sample::of(&gained)])
}

fn number(finding: &Finding, key: &str) -> Option<f64> {
    finding.details.get(key)?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        let curve = |height: f64| Curve::exact("c", &[(0.0, height), (1.0, height)]);
        let right = Measured {
            cloned: [0.1, 0.1].map(curve),
            buckets: [0.6, 0.5].map(curve),
            minimality: [0.0, 0.7].map(curve),
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
                ("the minimality attack", |of| of.minimality[0].points[1].1 = Sample::exact(0.5)),
                ("t-closeness leaves", |of| of.at_risk[0] = Curve::exact("c", &[(0.0, 0.0)])),
                ("combined", |of| of.cloned_gained[0].points[0].1 = Sample::exact(0.6)),
            ],
        );
    }
}
