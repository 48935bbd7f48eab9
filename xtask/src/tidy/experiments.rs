//! PAPERS.md and EXPERIMENTS.md state the same: every experiment that one names is in the other,
//! about the same paper and the same figures, and every number that PAPERS.md takes from an
//! experiment is in its table.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::markdown::{self, Row};
use crate::repo::Repo;

const PAPERS: &str = "PAPERS.md";
const EXPERIMENTS: &str = "EXPERIMENTS.md";
const TABLES: &str = "experiments/figures";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let (Some(papers), Some(experiments)) = (repo.text(PAPERS), repo.text(EXPERIMENTS)) else { return Vec::new() };
    let listed: Vec<Listed> = markdown::table(experiments, &["experiment", "of", "verdict"])
        .map(|table| table.rows.iter().filter_map(Listed::of).collect())
        .unwrap_or_default();
    let mut findings = names(papers, &listed);
    let numbers = markdown::table(papers, &["number", "experiment", "row", "column"]);
    findings.extend(numbers.iter().flat_map(|table| &table.rows).filter_map(|row| number(repo, row)));
    findings
}

/// One line of the summary in EXPERIMENTS.md.
struct Listed {
    line: usize,
    name: String,
    /// `[PAPER] figures`.
    of: String,
}

impl Listed {
    fn of(row: &Row) -> Option<Listed> {
        let name = row.cells.first()?.strip_prefix('[')?.split(']').next()?.to_owned();
        Some(Listed { line: row.line, name, of: row.cells.get(1)?.clone() })
    }
}

fn names(papers: &str, listed: &[Listed]) -> Vec<Finding> {
    let Some(index) = markdown::table(papers, &["paper, what is taken", "file", "test", "figure"]) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    // By experiment, the figures that stand beside it.
    let mut named: BTreeMap<&str, BTreeSet<Shown>> = BTreeMap::new();
    for row in &index.rows {
        let Some(cell) = row.cells.get(3) else { continue };
        for clause in cell.split(';') {
            let mut by: Vec<&Listed> = Vec::new();
            for name in markdown::code_spans(clause) {
                let Some(experiment) = listed.iter().find(|one| one.name == name) else {
                    let problem = format!("{EXPERIMENTS} has no experiment {name}");
                    findings.push(Finding::new(PAPERS, row.line, problem, "name it as `experiments list` does"));
                    continue;
                };
                let paper = experiment.of.split(' ').next().unwrap_or_default();
                if !row.cells[0].contains(paper) {
                    let problem = format!("{name} is about {paper} in {EXPERIMENTS}");
                    findings.push(Finding::new(PAPERS, row.line, problem, "name it in a row about that paper"));
                }
                by.push(experiment);
            }
            let stated = shown(clause);
            let theirs: BTreeSet<Shown> = by.iter().flat_map(|one| shown(&one.of)).collect();
            for other in stated.difference(&theirs).filter(|_| !by.is_empty()) {
                let problem = format!("{} is not of these experiments in {EXPERIMENTS}", label(*other));
                findings.push(Finding::new(PAPERS, row.line, problem, "name what `experiments list` does"));
            }
            by.iter().for_each(|one| named.entry(&one.name).or_default().extend(&stated));
        }
    }
    for one in listed {
        let Some(beside) = named.get(one.name.as_str()) else {
            let problem = format!("no row of {PAPERS} names {}", one.name);
            findings.push(Finding::new(
                EXPERIMENTS,
                one.line,
                problem,
                "name it in the figure column of its paper's row",
            ));
            continue;
        };
        for missing in shown(&one.of).difference(beside) {
            let problem = format!("{PAPERS} does not name {} beside {}", label(*missing), one.name);
            findings.push(Finding::new(EXPERIMENTS, one.line, problem, "name it in the figure column"));
        }
    }
    findings
}

/// A figure, table, example or experiment of a paper, with its number or the code of its letter.
type Shown = (&'static str, u32);

const KINDS: [&str; 4] = ["figure", "table", "example", "experiment"];

/// Those that a text names, as in "figures 4 to 6 and table 3(c)"; a part stands for the whole.
fn shown(text: &str) -> BTreeSet<Shown> {
    let mut shown = BTreeSet::new();
    let (mut kind, mut before, mut is_range) = (None, None, false);
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let named = KINDS.into_iter().find(|known| *known == word.trim_end_matches('s'));
        if named.is_some() {
            (kind, before) = (named, None);
        } else if let (Some(kind), Some(last)) = (kind, place(word)) {
            let first = before.filter(|_| is_range).unwrap_or(last);
            shown.extend((first..=last).map(|one| (kind, one)));
            (before, is_range) = (Some(last), false);
        } else if word == "to" {
            is_range = true;
        } else if word != "and" {
            kind = None;
        }
    }
    shown
}

/// The number in `4` and `3(c)`, or the code of a single letter.
fn place(word: &str) -> Option<u32> {
    let word = word.split('(').next().unwrap_or_default();
    let letter = word.chars().next().filter(|letter| word.len() == 1 && letter.is_ascii_uppercase());
    letter.map(u32::from).or_else(|| word.parse().ok())
}

fn label((kind, place): Shown) -> String {
    let letter = char::from_u32(place).filter(|letter| letter.is_ascii_uppercase());
    letter.map_or_else(|| format!("{kind} {place}"), |letter| format!("{kind} {letter}"))
}

/// A row `number | experiment | row | column`; the row is found by `column = value` pairs.
fn number(repo: &Repo, row: &Row) -> Option<Finding> {
    let wrong = |problem: String| {
        let hint = "take the number from the table that the experiment wrote";
        Some(Finding::new(PAPERS, row.line, problem, hint))
    };
    let [stated, experiment, at, column, ..] = row.cells.as_slice() else {
        return wrong("a number has an experiment, a row and a column".to_owned());
    };
    let path = format!("{TABLES}/{}.csv", experiment.trim_matches('`'));
    let Some(text) = repo.text(&path) else { return wrong(format!("{path} does not exist")) };
    let mut lines = text.lines().map(cells);
    let header = lines.next().unwrap_or_default();
    let place = |name: &str| header.iter().position(|one| one == name);
    let Some(column_at) = place(column) else { return wrong(format!("{path} has no column {column}")) };
    let pairs: Vec<(&str, &str)> = at.split(';').filter_map(|pair| pair.split_once('=')).collect();
    let is_it = |line: &Vec<String>| {
        let holds = |(name, value): &(&str, &str)| {
            place(name.trim()).and_then(|at| line.get(at)).is_some_and(|cell| cell == value.trim())
        };
        pairs.iter().all(holds)
    };
    let Some(found) = lines.find(is_it).and_then(|line| line.get(column_at).cloned()) else {
        return wrong(format!("{path} has no row with {at}"));
    };
    match agrees(stated, &found) {
        true => None,
        false => wrong(format!("{stated} is stated, and {experiment} found {found}")),
    }
}

/// Whether a number is the other one to its own digits; `%` is a hundredth.
fn agrees(stated: &str, found: &str) -> bool {
    let (text, unit) = stated.strip_suffix('%').map_or((stated, 1.0), |text| (text.trim(), 100.0));
    let text = text.replace(',', "");
    let places = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let found = found.parse::<f64>().map(|found| format!("{:.places$}", found * unit));
    found.is_ok_and(|found| found == text)
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("never empty").push(letter),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "| paper, what is taken | file | test | figure |\n|---|---|---|---|\n";
    const NUMBERS: &str = "\n| number | experiment | row | column |\n|---|---|---|---|\n";

    fn problems(papers: &str) -> Vec<String> {
        let experiments =
            "| experiment | of | verdict |\n|---|---|---|\n| [a-b](#a-b) | [X10] figure 2 | shape holds |\n";
        let csv = "who,\"rows, all\",error\nx,10,0.1642\ny,10,3\n";
        let repo = Repo::made_of(&[(PAPERS, papers), (EXPERIMENTS, experiments), ("experiments/figures/a-b.csv", csv)]);
        check(&repo).into_iter().map(|finding| finding.problem).collect()
    }

    #[test]
    fn experiments_are_named_in_both_documents_and_about_one_paper() {
        assert_eq!(problems(&format!("{INDEX}| [X10] a | | | figure 2, by `a-b` |\n")), [""; 0]);
        assert_eq!(problems(INDEX), ["no row of PAPERS.md names a-b"]);
        let other = problems(&format!("{INDEX}| [Y] a | | | figure 2, by `a-b` |\n"));
        assert_eq!(other, ["a-b is about [X10] in EXPERIMENTS.md"]);
        let unknown = problems(&format!("{INDEX}| [X10] a | | | figure 2, by `a-b` and `c` |\n"));
        assert_eq!(unknown, ["EXPERIMENTS.md has no experiment c"]);
    }

    #[test]
    fn both_documents_name_the_same_figures() {
        let of = |cell: &str| problems(&format!("{INDEX}| [X10] a | | | {cell} |\n"));
        assert_eq!(of("table 7; figure 2, by `a-b`"), [""; 0], "table 7 is by no experiment");
        assert_eq!(of("figures 2 and 3, by `a-b`"), ["figure 3 is not of these experiments in EXPERIMENTS.md"]);
        assert_eq!(of("by `a-b`"), ["PAPERS.md does not name figure 2 beside a-b"]);
        let both = of("table 2, by `a-b`");
        assert_eq!(both.len(), 2, "{both:?}");
    }

    #[test]
    fn figures_are_read_with_their_kinds_and_ranges() {
        let labels = |text: &str| shown(text).into_iter().map(label).collect::<Vec<_>>();
        assert_eq!(labels("figures 4 to 6, by `a-2`"), ["figure 4", "figure 5", "figure 6"]);
        let several = ["example 2", "example 3", "table 1", "table 2"];
        assert_eq!(labels("[X10] tables 1 and 2, examples 2 and 3"), several);
        let letters = ["experiment A", "experiment B", "experiment C", "table 3"];
        assert_eq!(labels("table 3(c), experiments A to C compared"), letters);
        assert_eq!(labels("tables 5 and 6 (section 4.2.2)"), ["table 5", "table 6"]);
        assert_eq!(labels("theorem 5.1, on small tables"), [""; 0]);
    }

    #[test]
    fn stated_numbers_are_those_of_the_table_to_their_digits() {
        let stated = |row: &str| problems(&format!("{INDEX}| [X10] a | | | figure 2, `a-b` |\n{NUMBERS}{row}\n"));
        assert_eq!(stated("| 16.4 % | `a-b` | who = x; rows, all = 10 | error |"), [""; 0]);
        assert_eq!(stated("| 0.16 | `a-b` | who = x | error |"), [""; 0]);
        assert_eq!(stated("| 3 | `a-b` | who = y | error |"), [""; 0]);
        assert_eq!(stated("| 16.5 % | `a-b` | who = x | error |"), ["16.5 % is stated, and `a-b` found 0.1642"]);
        assert_eq!(stated("| 3 | `a-b` | who = z | error |"), ["experiments/figures/a-b.csv has no row with who = z"]);
        assert_eq!(stated("| 3 | `a-b` | who = y | loss |"), ["experiments/figures/a-b.csv has no column loss"]);
        assert_eq!(stated("| 3 | `c` | who = y | loss |"), ["experiments/figures/c.csv does not exist"]);
    }
}
