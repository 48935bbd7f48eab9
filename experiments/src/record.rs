//! EXPERIMENTS.md: every claim with its verdict, the numbers and the pictures, as a run found them.
//! Times differ from machine to machine; whatever else is in it is the same in every run.

use std::fmt::Write;

use crate::experiment::{Experiment, Findings, Scale};

/// An experiment that was run.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) experiment: Experiment,
    pub(crate) findings: Findings,
}

/// The file names of an experiment's pictures.
pub(crate) fn picture_names(experiment: &Experiment, findings: &Findings) -> Vec<String> {
    let name = |place: usize| match findings.pictures.len() {
        1 => format!("{}.svg", experiment.name),
        _ => format!("{}-{}.svg", experiment.name, place + 1),
    };
    (0..findings.pictures.len()).map(name).collect()
}

/// The document; `pictures` is the folder of the pictures, as a link names it.
pub(crate) fn record(entries: &[Entry], scale: Scale, pictures: &str) -> String {
    let command = scale.of("all", "all --quick");
    let mut text = format!(
        "# Experiments\n\nThe figures and worked examples of the papers, computed again. This page is written by\n\
         `cargo run --release -p experiments -- {command}`; the papers are in [PAPERS.md](PAPERS.md). A verdict follows\n\
         from the numbers: *reproduced* where the paper prints values and ours are the same, *shape holds* where it shows\n\
         a direction or an order and ours is the same, *does not hold* with the numbers that contradict it.\n\n"
    );
    text.push_str(scale.of(
        "The data has the papers' sizes; every section states them. `--quick` takes smaller data.\n\n",
        "The data of this run is smaller than the papers'; every section states its size.\n\n",
    ));
    text.push_str("| experiment | of | verdict |\n|---|---|---|\n");
    for Entry { experiment, findings } in entries {
        let (name, paper, shows) = (experiment.name, experiment.paper, experiment.shows);
        let _ = writeln!(text, "| [{name}](#{name}) | {paper} {shows} | {} |", cell(&findings.verdict().to_string()));
    }
    entries.iter().for_each(|entry| section(&mut text, entry, pictures));
    text
}

fn section(text: &mut String, Entry { experiment, findings }: &Entry, pictures: &str) {
    let Experiment { name, paper, shows, .. } = experiment;
    let _ = write!(text, "\n## {name}\n\n{paper} {shows}. {}\n\n| claim | verdict |\n|---|---|\n", findings.setting);
    for claim in &findings.claims {
        let _ = writeln!(text, "| {} | {} |", cell(&claim.says), cell(&claim.verdict().to_string()));
    }
    for (file, picture) in picture_names(experiment, findings).iter().zip(&findings.pictures) {
        let _ = write!(text, "\n![{}]({pictures}{file})\n", picture.title.replace(['[', ']'], ""));
    }
    let _ = write!(text, "\nNumbers: [{name}.csv]({pictures}{name}.csv)\n");
}

/// Text as it may stand in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Claim;
    use crate::experiment::numbers;

    #[test]
    fn every_claim_is_listed_with_its_verdict_and_every_link_names_a_written_file() {
        let experiment = Experiment { name: "a-b", paper: "[X]", shows: "figure 1", run: |_| Err("unused".into()) };
        let claims = vec![Claim::shape("p|q", Ok(())), Claim::value("r", Err("1 is not 2".into()))];
        let findings = Findings { setting: "Ten rows.".into(), numbers: numbers(["x"]), pictures: Vec::new(), claims };
        let text = record(&[Entry { experiment, findings }], Scale::Quick, "");
        assert!(
            text.contains("| [a-b](#a-b) | [X] figure 1 | does not hold: r: 1 is not 2 (1 of 2 claims hold) |"),
            "{text}"
        );
        assert!(text.contains("| p\\|q | shape holds |") && text.contains("[a-b.csv](a-b.csv)"), "{text}");
        assert!(text.contains("of this run is smaller than the papers'"));
    }
}
