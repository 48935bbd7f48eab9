//! EXPERIMENTS.md: every claim with its verdict, the numbers and the pictures, as a run found them.
//! Times differ from machine to machine; whatever else is in it is the same in every run.

use std::fmt::Write;

use crate::experiment::{Experiment, Findings, Scale};
use crate::sample::RULE;

/// An experiment that was run.
#[derive(Debug)]
pub(crate) struct RecordedRun {
    pub(crate) experiment: Experiment,
    pub(crate) findings: Findings,
}

/// The meaning of each verdict.
const KINDS: &str = "\
- *reproduced*: the paper prints a number, and ours is the same to its digits;
- *shape holds*: the paper shows a direction, an order or a limit, and so do our numbers;
- *does not hold*: the paper's own data, or a counterexample that needs none, contradicts it;
- *not on our data*: other data, or other settings where the paper prints none, contradict it, and the paper's are not at hand;
- *improved*: this project does it another way, and better; the paper's way was run beside it or is not available;
- *our own*: a claim of this project that no paper makes;
- *too small to tell*: a quick run says otherwise than the run at the paper's sizes.
";

/// The note in a section of a quick run.
const QUICK: &str = " This section is of a quick run, on smaller data than the paper's.";

/// The file names of an experiment's pictures.
pub(crate) fn picture_names(experiment: &Experiment, findings: &Findings) -> Vec<String> {
    let name = |place: usize| match findings.pictures.len() {
        1 => format!("{}.svg", experiment.name),
        _ => format!("{}-{}.svg", experiment.name, place + 1),
    };
    (0..findings.pictures.len()).map(name).collect()
}

/// One experiment in the record: its line in the summary, and its section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordPart {
    summary: String,
    section: String,
}

/// Between the two in a file.
const BETWEEN: &str = "\n=====\n";

impl RecordPart {
    pub(crate) fn new(entry: &RecordedRun, scale: Scale, pictures: &str) -> RecordPart {
        let RecordedRun { experiment, findings } = entry;
        let (name, paper, shows) = (experiment.name, experiment.paper, experiment.shows);
        let summary = format!("| [{name}](#{name}) | {paper} {shows} | {} |\n", cell(&findings.verdict(scale)));
        let mut text = String::new();
        section(&mut text, entry, scale, pictures);
        RecordPart { summary, section: text }
    }

    pub(crate) fn to_text(&self) -> String {
        format!("{}{BETWEEN}{}", self.summary, self.section)
    }

    pub(crate) fn of_text(text: &str) -> Option<RecordPart> {
        let (summary, section) = text.split_once(BETWEEN)?;
        Some(RecordPart { summary: summary.to_owned(), section: section.to_owned() })
    }

    /// An experiment in a document.
    pub(crate) fn of_page(page: &str, name: &str) -> Option<RecordPart> {
        let summary = page.lines().find(|line| line.starts_with(&format!("| [{name}](#{name}) |")))?;
        let heading = format!("\n## {name}\n");
        let from = page.find(&heading)?;
        let length = page[from + heading.len()..].find("\n## ").map(|end| heading.len() + end);
        let section = length.map_or(&page[from..], |length| &page[from..from + length]);
        Some(RecordPart { summary: format!("{summary}\n"), section: section.to_owned() })
    }
}

/// The document.
pub(crate) fn record(parts: &[RecordPart], scale: Scale) -> String {
    let command = scale.of("all", "all --quick");
    let mut text = format!(
        "# Experiments\n\nThe figures and worked examples of the papers, computed again. This page is written by\n\
         `cargo run --release -p experiments -- {command}`; the papers are in [PAPERS.md](PAPERS.md). A verdict follows\n\
         from the numbers:\n\n{KINDS}\n{RULE}\n\n"
    );
    text.push_str(scale.of(
        "The data has the papers' sizes, unless a section says that it is of a quick run.\n\n",
        "The data of this run is smaller than the papers'; every section states its size.\n\n",
    ));
    text.push_str(
        "Seconds are those of the machine and the build that ran a section, beside whatever else ran there.\n\n",
    );
    text.push_str("| experiment | of | verdict |\n|---|---|---|\n");
    parts.iter().for_each(|part| text.push_str(&part.summary));
    parts.iter().for_each(|part| text.push_str(&part.section));
    text
}

fn section(text: &mut String, RecordedRun { experiment, findings }: &RecordedRun, scale: Scale, pictures: &str) {
    let Experiment { name, paper, shows, .. } = experiment;
    let _ = write!(
        text,
        "\n## {name}\n\n{paper} {shows}. {}{}\n\n| claim | verdict |\n|---|---|\n",
        findings.setting,
        scale.of("", QUICK)
    );
    for claim in &findings.claims {
        let _ = writeln!(text, "| {} | {} |", cell(&claim.says), cell(&claim.verdict(scale).to_string()));
    }
    for (file, picture) in picture_names(experiment, findings).iter().zip(&findings.pictures) {
        let _ = write!(text, "\n![{}]({pictures}{file})\n", picture.title.replace(['[', ']'], ""));
    }
    let _ = write!(text, "\nNumbers: [{name}.csv]({pictures}{name}.csv)\n");
}

/// Text as it may stand in a table.
pub(crate) fn cell(text: &str) -> String {
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
        let claims = vec![Claim::shape("p|q", Ok(())), Claim::printed("r", Err("1 is not 2".into()))];
        let findings = Findings { setting: "Ten rows.".into(), numbers: numbers(["x"]), pictures: Vec::new(), claims };
        let part = RecordPart::new(&RecordedRun { experiment, findings }, Scale::Quick, "");
        assert_eq!(RecordPart::of_text(&part.to_text()), Some(part.clone()));
        let other = RecordPart { summary: "| [a](#a) | x |\n".into(), section: "\n## a\n\nb\n".into() };
        let page = record(&[other.clone(), part.clone(), other.clone()], Scale::Quick);
        assert_eq!(RecordPart::of_page(&page, "a-b"), Some(part.clone()));
        assert_eq!((RecordPart::of_page(&page, "a"), RecordPart::of_page(&page, "b")), (Some(other), None));
        let text = record(&[part], Scale::Quick);
        assert!(
            text.contains("| [a-b](#a-b) | [X] figure 1 | does not hold: r: 1 is not 2 (1 of 2 claims hold) |"),
            "{text}"
        );
        assert!(text.contains("| p\\|q | shape holds |") && text.contains("[a-b.csv](a-b.csv)"), "{text}");
        assert!(text.contains("of this run is smaller than the papers'"));
    }
}
