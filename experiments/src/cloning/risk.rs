//! Figure 2: people at risk when releases that are distinct l-diverse are combined, and after
//! cloning.
//!
//! The composition adversary knows who is shared, combines the first release with each of the
//! others, and counts whose sensitive value is the only one left; the largest of the four counts is
//! taken. The l-diverse releases are made by Mondrian, as in the paper. After cloning every class
//! has every value, so nobody can be at risk by that count; what the adversary gains over the
//! better of the two releases (θ of equation 4) can be compared. For clones both are of the worst
//! pair of classes ([`super::combined`]).

use std::path::PathBuf;

use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_release::Release;
use hedgerow_report::pictures::{LineChart, NumberCell};
use hedgerow_table::{NoProgress, Table};

use super::combined::combined;
use super::folder::{CLONE, Folder};
use super::{Census, PUBLISHERS, SENSITIVE, SHARES};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, below};
use crate::shape::all;

/// Over l, for every sensitive attribute and number of shared people.
#[derive(Debug, Clone)]
struct Measured {
    at_risk: Vec<Curve>,
    gained: Vec<Curve>,
    /// After cloning: the same at every l.
    cloned_at_risk: Vec<Curve>,
    cloned_gained: Vec<Curve>,
}

/// The findings of the composition adversary in the worst pair.
#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    at_risk: u64,
    gained: f64,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let shares = scale.of(&SHARES[..], &[1, 5]);
    let ls = scale.of(&[2, 4, 6, 8, 10][..], &[2, 6]);
    let mut table = numbers(["sensitive", "shared people", "release", "l", "people at risk", "θ"]);
    let [at_risk, gained, cloned_at_risk, cloned_gained] = [const { Vec::new() }; 4];
    let mut measured = Measured { at_risk, gained, cloned_at_risk, cloned_gained };
    for sensitive in SENSITIVE {
        for &fifths in shares {
            let sources: Vec<PathBuf> =
                (0..PUBLISHERS).map(|publisher| census.source(&folder, publisher, fifths)).collect::<Result<_, _>>()?;
            let shared = folder.write("shared.csv", &census.header, &[census.shared(fifths)])?;
            let people = folder.read(&shared, sensitive)?;
            let curve = |how: &str| Curve::new(format!("{sensitive}, {} shared{how}", people.rows));
            let (mut at_risk, mut gained) = (curve(""), curve(""));
            let (mut cloned_at_risk, mut cloned_gained) = (curve(", cloned"), curve(", cloned"));
            let mut row = |release: &str, l: f64, worst: Worst| {
                let shared = NumberCell::Number(people.rows as f64);
                let found = [l, worst.at_risk as f64, worst.gained].map(NumberCell::Number).to_vec();
                table.rows.push([vec![sensitive.into(), shared, release.into()], found].concat());
            };
            let cloned = worst_of_clones(&folder, &sources, sensitive, people.rows as u64)?;
            row("cloned", f64::NAN, cloned);
            for &l in ls {
                let require = format!("{{ model = \"distinct-l-diversity\", l = {l} }}");
                let rule = format!("[[rule]]\nprotect = \"{sensitive}\"\nrequire = {require}\n");
                let found = worst(&folder, &sources, sensitive, &people, &rule)?;
                row("l-diverse", l as f64, found);
                at_risk.push(l as f64, Sample::exact(found.at_risk as f64));
                gained.push(l as f64, Sample::exact(found.gained));
                cloned_at_risk.push(l as f64, Sample::exact(cloned.at_risk as f64));
                cloned_gained.push(l as f64, Sample::exact(cloned.gained));
            }
            measured.at_risk.push(at_risk);
            measured.gained.push(gained);
            measured.cloned_at_risk.push(cloned_at_risk);
            measured.cloned_gained.push(cloned_gained);
        }
    }
    let picture = |sensitive: &str| {
        let own = measured.at_risk.iter().filter(|curve| curve.name.starts_with(sensitive));
        let line = LineChart {
            title: format!("People at risk, {sensitive}"),
            description: format!("People whose {sensitive} is disclosed by two l-diverse releases combined, over l."),
            columns: ["l".to_owned(), "people at risk".to_owned()],
            series: own.map(Curve::series).collect(),
        };
        line.picture()
    };
    let pictures = SENSITIVE.map(picture).to_vec();
    let setting = format!("{} The worst of the pairs with the first publisher.", census.setting());
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(Measured { at_risk, gained, cloned_at_risk, cloned_gained }: &Measured) -> Vec<Claim> {
    vec![
        // In our census at the paper's size, classes of eight occupations leave nobody.
        Claim::shape("l-diversity leaves people at risk at every l", all(at_risk.iter().map(some_at_risk)))
            .on_other_data()
            .stated_not_to_hold(),
        Claim::shape("fewer are at risk as l rises", all(at_risk.iter().map(Curve::falls))).on_other_data(),
        Claim::ours(
            "combined, cloned releases gain the adversary less (θ) than l-diverse ones",
            all(cloned_gained.iter().zip(gained).map(|(cloned, diverse)| below(cloned, diverse))),
        ),
        Claim::ours(
            "cloning leaves nobody at risk, since every class has every value",
            all(cloned_at_risk.iter().map(|curve| curve.at_most(0.0))),
        )
        .at_any_size(),
    ]
}

/// The most people at risk in the first release combined with any other, and the largest gain.
fn worst(folder: &Folder, sources: &[PathBuf], sensitive: &str, people: &Table, rules: &str) -> Result<Worst, Trouble> {
    let mut releases = Vec::new();
    for source in sources {
        releases.push(folder.publish(source, sensitive, rules, "method = \"mondrian\"\n")?.0);
    }
    let options =
        AuditOptions { people: Some(people), adversaries: vec![Adversary::Composition], ..AuditOptions::default() };
    let mut most = Worst { at_risk: 0, gained: f64::NEG_INFINITY };
    for other in &releases[1..] {
        let opened = [Release::open(&releases[0], &NoProgress)?, Release::open(other, &NoProgress)?];
        let findings = audit(&opened, &options)?.findings;
        let found = findings.first().ok_or("one adversary, one finding")?;
        most.at_risk = most.at_risk.max(found.at_risk);
        let gained = found.details.get("theta").and_then(|theta| theta.as_f64()).ok_or("no person was combined")?;
        most.gained = most.gained.max(gained);
    }
    Ok(most)
}

/// The same for clones, by the worst pair of classes: all shared people are at risk where one
/// leaves a single value.
fn worst_of_clones(folder: &Folder, sources: &[PathBuf], sensitive: &str, people: u64) -> Result<Worst, Trouble> {
    let mut releases = Vec::new();
    for source in sources {
        releases.push(folder.publish(source, sensitive, "", CLONE)?.0);
    }
    let mut most = Worst { at_risk: 0, gained: f64::NEG_INFINITY };
    for other in &releases[1..] {
        let found = combined(&releases[0], other)?;
        most.gained = most.gained.max(found.gained);
        most.at_risk = most.at_risk.max(if found.left == 1 { people } else { 0 });
    }
    Ok(most)
}

fn some_at_risk(curve: &Curve) -> ClaimOutcome {
    match curve.points.iter().find(|point| point.1.mean() == 0.0) {
        Some((l, _)) => Err(format!("{}: nobody at l = {l}", curve.name)),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cloning) fn turned() -> Vec<String> {
        let curve = |values: [f64; 2]| vec![Curve::exact("occupation", &[(2.0, values[0]), (8.0, values[1])])];
        let right = Measured {
            at_risk: curve([50.0, 0.0]),
            gained: curve([0.5, 0.3]),
            cloned_at_risk: curve([0.0, 0.0]),
            cloned_gained: curve([0.01, 0.01]),
        };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("l-diversity leaves", |of| of.at_risk[0].points[1].1 = Sample::exact(1.0)),
                ("fewer are at risk", |of| of.at_risk[0].points[1].1 = Sample::exact(51.0)),
                ("combined", |of| of.cloned_gained[0].points[1].1 = Sample::exact(0.4)),
                ("cloning leaves", |of| of.cloned_at_risk[0].points[0].1 = Sample::exact(1.0)),
            ],
        )
    }
}
