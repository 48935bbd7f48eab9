//! Figure 2: people at risk when releases that are distinct l-diverse are combined, and after
//! cloning.
//!
//! The composition adversary knows who is shared, combines the first release with each of the
//! others, and counts whose sensitive value is the only one left; the largest of the four counts
//! is taken. The l-diverse releases are made by Mondrian, as in the paper.

use std::path::PathBuf;

use hedgerow_audit::{AuditOptions, audit};
use hedgerow_release::Release;
use hedgerow_report::pictures::{Cell, Line, Series};
use hedgerow_table::{NoProgress, Table};

use super::folder::{CLONE, Folder};
use super::{Census, PUBLISHERS, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, falls};

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let shares = scale.of(&SHARES[..], &[1, 5]);
    let ls = scale.of(&[2, 4, 6, 8, 10][..], &[2, 6]);
    let mut table = numbers(["sensitive", "shared people", "release", "l", "people at risk"]);
    let (mut by_l, mut cloned) = (Vec::new(), Vec::new());
    let mut pictures = Vec::new();
    for (sensitive, name) in SENSITIVE {
        let mut curves = Vec::new();
        for &fifths in shares {
            let sources: Vec<PathBuf> =
                (0..PUBLISHERS).map(|publisher| census.source(&folder, publisher, fifths)).collect::<Result<_, _>>()?;
            let shared = folder.write("shared.csv", census.header(), &census.shared(fifths))?;
            let people = folder.read(&shared, sensitive)?;
            let mut points = Vec::new();
            for &l in ls {
                let require = format!("{{ model = \"distinct-l-diversity\", l = {l} }}");
                let rule = format!("[[rule]]\nprotect = \"{sensitive}\"\nrequire = {require}\n");
                let risk = worst(&folder, &sources, sensitive, &people, &rule, "method = \"mondrian\"\n")? as f64;
                points.push((l as f64, risk));
                table.rows.push(row(sensitive, people.rows, "l-diverse", l as f64, risk));
            }
            curves.push(Series { name: format!("{} shared", people.rows), points });
            let left = worst(&folder, &sources, sensitive, &people, "", CLONE)? as f64;
            cloned.push((format!("{name}, {} shared", people.rows), left));
            table.rows.push(row(sensitive, people.rows, "cloned", f64::NAN, left));
        }
        let line = Line {
            title: format!("People at risk, {name}"),
            description: format!("People whose {sensitive} is disclosed by two l-diverse releases combined, over l."),
            columns: ["l".to_owned(), "people at risk".to_owned()],
            series: curves.clone(),
        };
        pictures.push(line.picture());
        by_l.extend(curves);
    }
    let claims = vec![
        // In our census at the paper's size, classes of eight occupations leave nobody.
        Claim::shape("l-diversity leaves people at risk at every l", all(by_l.iter().map(some_at_risk)))
            .stated_not_to_hold_if(scale == Scale::Full),
        Claim::shape("fewer are at risk as l rises", all(by_l.iter().map(|series| falls(series, 0.0)))),
        Claim::value("cloning leaves nobody at risk", all(cloned.iter().map(|(name, left)| nobody(name, *left)))),
    ];
    let setting = format!(
        "{PUBLISHERS} tables of {} people of their own each, {} to {} shared; the worst of the pairs with the first.",
        census.own,
        census.own / 5,
        census.own
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

fn row(sensitive: &str, shared: usize, release: &str, l: f64, at_risk: f64) -> Vec<Cell> {
    vec![sensitive.into(), Cell::Number(shared as f64), release.into(), Cell::Number(l), Cell::Number(at_risk)]
}

/// The most people at risk in the first release combined with any other.
fn worst(
    folder: &Folder,
    sources: &[PathBuf],
    sensitive: &str,
    people: &Table,
    rules: &str,
    settings: &str,
) -> Result<u64, Trouble> {
    let mut releases = Vec::new();
    for source in sources {
        releases.push(folder.publish(source, sensitive, rules, settings)?.0);
    }
    let options =
        AuditOptions { people: Some(people), adversaries: vec!["composition".to_owned()], ..AuditOptions::default() };
    let mut most = 0;
    for other in &releases[1..] {
        let opened = [Release::open(&releases[0], &NoProgress)?, Release::open(other, &NoProgress)?];
        let findings = audit(&opened, &options)?.findings;
        most = most.max(findings.first().ok_or("one adversary, one finding")?.at_risk);
    }
    Ok(most)
}

fn some_at_risk(series: &Series) -> Outcome {
    match series.points.iter().find(|point| point.1 == 0.0) {
        Some((l, _)) => Err(format!("{}: nobody at l = {l}", series.name)),
        None => Ok(()),
    }
}

fn nobody(name: &str, left: f64) -> Outcome {
    if left == 0.0 { Ok(()) } else { Err(format!("{name}: {left} people at risk")) }
}
