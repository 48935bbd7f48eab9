//! `hedgerow explore POLICY`: every node of the lattice that satisfies all rules.

use std::fmt::Write;
use std::process::ExitCode;

use hedgerow::{Exploration, Explore};

use super::{load_policy, print, print_json, short, warn};
use crate::args::{self, Talk};
use crate::failure::Failure;
use crate::progress::ProgressDisplay;

/// Nodes that are printed for people; programs get all.
const SHOWN_MAX: usize = 20;

pub(crate) fn run(arguments: &args::Explore, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = load_policy(&arguments.policy)?;
    let shown = ProgressDisplay::new(talk);
    let found = Explore::new(&policy).run_with(&shown.monitor())?;
    drop(shown);
    warn(talk, &found.warnings);
    if talk.json {
        print_json(&found)?;
    } else if arguments.csv {
        print(&found.csv())?;
    } else if arguments.svg {
        print(&found.svg())?;
    } else if !talk.quiet {
        print(&to_text(&found))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(found: &Exploration) -> String {
    let mut text = format!(
        "nodes    {} of {} satisfy every rule; {} were evaluated\n",
        found.holding.len(),
        found.nodes,
        found.evaluated
    );
    let mut rows: Vec<Vec<String>> =
        vec![[found.loss, "suppressed", "classes", "smallest", "highest risk", "levels"].map(str::to_owned).to_vec()];
    for node in found.holding.iter().take(SHOWN_MAX) {
        let levels = node.levels.iter().map(|(name, level)| format!("{name}={level}")).collect::<Vec<_>>().join(",");
        let loss = node.loss.get(found.loss).map_or_else(String::new, short);
        let [suppressed, count, min] = [node.suppressed, node.classes.count, node.classes.min].map(|n| n.to_string());
        rows.push(vec![loss, suppressed, count, min, short(node.risk.highest), levels]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells =
            cells.map(|(place, (cell, &width))| if place < 5 { format!("{cell:>width$}") } else { cell.clone() });
        let _ = writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  "));
    }
    if found.holding.len() > SHOWN_MAX {
        let _ = writeln!(text, "  and {} more: --csv and --json list all", found.holding.len() - SHOWN_MAX);
    }
    text.push_str("To publish at one of them: hedgerow publish POLICY -o DIR --levels LEVELS\n");
    text
}
