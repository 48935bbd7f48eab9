//! `hedgerow rules POLICY`: what a policy's rules imply, and which tables would satisfy them.

use std::fmt::Write;
use std::process::ExitCode;

use hedgerow::{DependencyReport, ExamineRules, RuleReport, RuleStanding, RulesReport};

use super::{load_policy, pairs, print, print_json, short, warn};
use crate::args::{RulesArguments as Arguments, Talk};
use crate::failure::{Failure, UNSATISFIABLE};
use crate::progress::ProgressDisplay;

pub(crate) fn run(arguments: &Arguments, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = load_policy(&arguments.policy)?;
    let shown = ProgressDisplay::new(talk);
    let report = ExamineRules::new(&policy).run_with(&shown.monitor())?;
    drop(shown);
    warn(talk, &report.warnings);
    if arguments.svg {
        print(report.svg())?;
    } else if talk.json {
        print_json(&report)?;
    } else if !talk.quiet {
        print(&to_text(&report))?;
    }
    Ok(if report.impossible.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(UNSATISFIABLE) })
}

fn to_text(report: &RulesReport) -> String {
    let mut text = "rules: an attacker who knows the left side must not learn the right\n".to_owned();
    for rule in &report.rules {
        let required = rule.require.iter().map(|model| format!("{} {}", model.model, pairs(&model.required)));
        let required = required.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "  {:>3}  {}   ({required}){}", rule.rule, rule.text, origin(rule));
    }
    let implied: Vec<(usize, usize)> =
        report.rules.iter().filter_map(|rule| Some((rule.rule, rule.implied_by?))).collect();
    if !implied.is_empty() {
        text.push_str("implied: satisfied whenever another rule is\n");
        for (rule, by) in implied {
            let _ = writeln!(text, "  {rule:>3}  follows from rule {by}");
        }
    }
    if !report.impossible.is_empty() {
        text.push_str("unsatisfiable: no release can satisfy them\n");
        for reason in &report.impossible {
            let _ = writeln!(text, "  {reason}");
        }
    }
    if !report.dependencies_found.is_empty() {
        text.push_str("functional dependencies in the data, to be declared if attackers know them\n");
        for dependency in &report.dependencies_found {
            let _ = writeln!(text, "  {}", arrow(dependency));
        }
    }
    if let Some(chosen) = &report.chosen {
        let kl = chosen.kl.map_or_else(|| "unknown".to_owned(), short);
        let _ = writeln!(
            text,
            "tables by {}, KL divergence {kl} (0 loses nothing; `publish` draws its own buckets and may choose other tables)",
            chosen.algorithm
        );
        for (index, table) in chosen.tables.iter().enumerate() {
            let open: Vec<&str> =
                (table.attributes.iter()).filter(|name| !table.sensitive.contains(name)).map(String::as_str).collect();
            let sensitive = table.sensitive.join(", ");
            let sensitive = match (table.sensitive.is_empty(), table.generalized) {
                (true, _) => String::new(),
                (false, false) => format!("; by bucket: {sensitive}"),
                (false, true) => format!(", generalized; with {sensitive}"),
            };
            let _ = writeln!(text, "  {:>3}  {}{sensitive}", index + 1, open.join(", "));
        }
        text.push_str("how the tables satisfy the rules\n");
        for standing in &chosen.standings {
            let _ = writeln!(text, "  {:>3}  {}", standing.rule, stands(standing));
        }
    }
    text
}

fn origin(rule: &RuleReport) -> String {
    let origin = rule.origin.as_ref();
    origin.map_or_else(String::new, |(of, dependency)| format!(", from rule {of} because {}", arrow(dependency)))
}

fn arrow(dependency: &DependencyReport) -> String {
    format!("{} → {}", dependency.from.join(", "), dependency.to)
}

fn stands(standing: &RuleStanding) -> String {
    match (standing.standing, standing.table) {
        (_, Some(table)) => format!("guarded by table {table}"),
        ("not reachable", None) => "no published table connects the two sides".to_owned(),
        _ => "VIOLATED".to_owned(),
    }
}
