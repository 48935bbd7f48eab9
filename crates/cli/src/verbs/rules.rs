//! `hedgerow rules POLICY`: what a policy's rules imply, and which tables would satisfy them.

use std::fmt::Write;
use std::process::ExitCode;

use hedgerow_policy::Policy;
use hedgerow_privacy::rules::{Dependency, Standing};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::decompose::choice::{Chosen, Unchosen};
use hedgerow_publish::decompose::problem::Unsatisfiable;
use hedgerow_publish::decompose::{self, Problem, Rules};
use hedgerow_report::rules_graph::{GraphTable, RulesGraph};
use hedgerow_table::InputError;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::{pairs, print, print_json, short, warn};
use crate::args::{Rules as Arguments, Talk};
use crate::failure::{Failure, UNSATISFIABLE};
use crate::progress::Bars;

pub(crate) fn run(arguments: &Arguments, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = Policy::load(&arguments.policy)?;
    let bars = Bars::new(talk);
    let table = read_source(&policy, &bars)?;
    // For its complaints about columns that are not there.
    let bound = Bound::new(&policy, &table)?;
    let rules = Rules::new(&policy, &table)?;
    if rules.own.is_empty() {
        let hint = "add `protect` to a rule; rules about rows alone need no decomposition";
        return Err(InputError::new(policy.path.display().to_string(), "no rule protects an attribute", hint).into());
    }
    let mut impossible = rules.impossible();
    let problem = rules.problem();
    // Nothing of this is published: the tables are the same in every run.
    let chosen = match impossible.is_empty() {
        true => Some(decompose::chosen(&bound, &rules, &problem, &mut StdRng::seed_from_u64(1))),
        false => None,
    };
    let chosen = match chosen {
        Some(Err(Unchosen::Failed(error))) => return Err((*error).into()),
        Some(Err(Unchosen::Unsatisfiable(Unsatisfiable(rule)))) => {
            let rule = rules.describe(rules.reduced.kept[rule]);
            impossible.push(format!("{rule}: declared dependencies alone lead from one side to the other"));
            None
        }
        Some(Ok(chosen)) => Some(chosen),
        Some(Err(Unchosen::NoBuckets)) | None => None,
    };
    drop(bars);
    warn(talk, &bound.warnings);
    warn(talk, &rules.warnings);
    let report = Report { rules: &rules, problem: &problem, chosen: chosen.as_ref(), impossible: &impossible };
    if arguments.svg {
        print(&report.to_svg())?;
    } else if talk.json {
        print_json(&report.to_json())?;
    } else if !talk.quiet {
        print(&report.to_text())?;
    }
    Ok(if impossible.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(UNSATISFIABLE) })
}

struct Report<'a> {
    rules: &'a Rules<'a>,
    problem: &'a Problem<'a>,
    chosen: Option<&'a Chosen>,
    impossible: &'a [String],
}

impl Report<'_> {
    fn to_svg(&self) -> String {
        let names: Vec<&str> = self.rules.columns.iter().map(|column| column.name.as_str()).collect();
        let (tables, standings) = self.chosen.map_or((&[][..], &[][..]), |chosen| (&chosen.tables, &chosen.standings));
        // As in the text: an unsatisfiable rule is not drawn, and does not renumber the others.
        let drawn = self.rules.reduced.kept.iter().filter(|&&rule| self.rules.representative(rule).is_some());
        let numbers: Vec<usize> = drawn.map(|rule| rule + 1).collect();
        let drawn = |table: &decompose::Subtable| GraphTable {
            attributes: table.attributes,
            sensitive: table.sensitive,
            generalized: table.regions.is_some(),
        };
        let tables: Vec<GraphTable> = tables.iter().map(drawn).collect();
        RulesGraph { names: &names, rules: &self.problem.rules, numbers: &numbers, standings, tables: &tables }.to_svg()
    }

    fn to_text(&self) -> String {
        let rules = self.rules;
        let mut text = "rules: an attacker who knows the left side must not learn the right\n".to_owned();
        for index in 0..rules.rules.len() {
            let required =
                rules.rules[index].require.iter().map(|model| format!("{} {}", model.name(), pairs(&model.required())));
            let required = required.collect::<Vec<_>>().join(", ");
            let _ =
                writeln!(text, "  {:>3}  {}   ({required}){}", index + 1, rules.describe(index), self.origin(index));
        }
        if !rules.reduced.implied.is_empty() {
            text.push_str("implied: satisfied whenever another rule is\n");
            for implied in &rules.reduced.implied {
                let _ = writeln!(text, "  {:>3}  follows from rule {}", implied.rule + 1, implied.by + 1);
            }
        }
        if !self.impossible.is_empty() {
            text.push_str("unsatisfiable: no release can satisfy them\n");
            for reason in self.impossible {
                let _ = writeln!(text, "  {reason}");
            }
        }
        let found = rules.dependencies_found();
        if !found.is_empty() {
            text.push_str("functional dependencies in the data, to be declared if attackers know them\n");
            for dependency in &found {
                let _ = writeln!(text, "  {}", self.shown(dependency));
            }
        }
        if let Some(chosen) = self.chosen {
            let kl = chosen.kl.map_or_else(|| "unknown".to_owned(), short);
            let _ = writeln!(
                text,
                "tables by {}, KL divergence {kl} (0 loses nothing; `publish` draws its own buckets and may choose other tables)",
                chosen.algorithm.name()
            );
            for (index, table) in chosen.tables.iter().enumerate() {
                let open = rules.names(table.open()).join(", ");
                let sensitive = rules.names(table.sensitive).join(", ");
                let sensitive = match (&table.groups, &table.regions) {
                    (None, _) => String::new(),
                    (Some(_), None) => format!("; by bucket: {sensitive}"),
                    (Some(_), Some(_)) => format!(", generalized; with {sensitive}"),
                };
                let _ = writeln!(text, "  {:>3}  {open}{sensitive}", index + 1);
            }
            text.push_str("how the tables satisfy the rules\n");
            for (standing, &rule) in chosen.standings.iter().zip(&rules.reduced.kept) {
                let _ = writeln!(text, "  {:>3}  {}", rule + 1, stands(standing));
            }
        }
        text
    }

    fn origin(&self, rule: usize) -> String {
        let Some(number) = rule.checked_sub(self.rules.own.len()) else { return String::new() };
        let added = self.rules.added.iter().filter(|added| added.rule.is_some()).nth(number);
        added.map_or_else(String::new, |added| {
            let dependency = &self.rules.dependencies[added.dependency];
            format!(", from rule {} because {}", added.of + 1, self.shown(dependency))
        })
    }

    fn shown(&self, dependency: &Dependency) -> String {
        format!("{} → {}", self.rules.names(dependency.from).join(", "), self.rules.columns[dependency.to].name)
    }

    fn to_json(&self) -> Value {
        let rules = self.rules;
        let of_rule = |index: usize| {
            let rule = &rules.rules[index];
            let implied = rules.reduced.implied.iter().find(|implied| implied.rule == index);
            let alone = &rules.alone[index].combination;
            let require: Vec<Value> = rule
                .require
                .iter()
                .map(|model| json!({ "model": model.name(), "required": model.required() }))
                .collect();
            json!({
                "rule": index + 1,
                "know": rules.names(rule.know),
                "protect": rules.names(rule.protect),
                "require": require,
                "added": index >= rules.own.len(),
                "implied_by": implied.map(|implied| implied.by + 1),
                "most_frequent": alone.most,
                "rows": alone.rows,
                "possible": rules.alone[index].harmless().next().is_some(),
            })
        };
        let dependency = |dependency: &Dependency| json!({ "from": rules.names(dependency.from), "to": rules.columns[dependency.to].name });
        let found: Vec<Value> = rules.dependencies_found().iter().map(dependency).collect();
        let mut object = json!({
            "rules": (0..rules.rules.len()).map(of_rule).collect::<Vec<_>>(),
            "impossible": self.impossible,
            "dependencies": rules.dependencies.iter().map(dependency).collect::<Vec<_>>(),
            "dependencies_found": found,
        });
        if let Some(chosen) = self.chosen {
            let tables = chosen.tables.iter().map(|table| {
                json!({ "attributes": rules.names(table.attributes), "sensitive": rules.names(table.sensitive) })
            });
            let standings = chosen.standings.iter().zip(&rules.reduced.kept).map(|(standing, &rule)| {
                let (standing, table) = match standing {
                    Standing::NotReachable => ("not reachable", None),
                    Standing::Guarded(table) => ("guarded", Some(table + 1)),
                    Standing::Broken(_) => ("broken", None),
                };
                json!({ "rule": rule + 1, "standing": standing, "table": table })
            });
            object["algorithm"] = json!(chosen.algorithm.name());
            object["kl"] = json!(chosen.kl);
            object["tables"] = tables.collect();
            object["standings"] = standings.collect();
        }
        object
    }
}

fn stands(standing: &Standing) -> String {
    match standing {
        Standing::NotReachable => "no published table connects the two sides".to_owned(),
        Standing::Guarded(table) => format!("guarded by table {}", table + 1),
        Standing::Broken(_) => "VIOLATED".to_owned(),
    }
}
