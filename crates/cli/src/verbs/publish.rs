//! `hedgerow publish POLICY -o DIR`: the main job.

use std::process::ExitCode;

use hedgerow_policy::{Policy, Role};
use hedgerow_publish::catalog::Beside;
use hedgerow_publish::search::{Explain, NODES_MAX};
use hedgerow_publish::{PublishOptions, Published, TableFormat, publish};
use serde_json::{Map, Value, json};

use super::cloned_text::cloned_text;
use super::{claims_json, claims_text, print, print_json, short, warn};
use crate::args::{Format, Publish, Talk};
use crate::failure::{Failure, say};
use crate::progress::Bars;

pub(crate) fn run(arguments: &Publish, talk: &Talk) -> Result<ExitCode, Failure> {
    if arguments.seed.is_some() {
        say(
            "warning: with --seed the order of rows can be repeated: this release is for tests and must not be published",
        );
    }
    let policy = Policy::load(&arguments.policy)?;
    let bars = Bars::new(talk);
    let published = publish(
        &policy,
        &PublishOptions {
            destination: arguments.output.clone(),
            overwrite: arguments.force,
            format: match arguments.format {
                Format::Csv => TableFormat::Csv,
                Format::Parquet => TableFormat::Parquet,
            },
            seed: arguments.seed,
            candidates: arguments.candidates,
            nodes_max: arguments.max_nodes,
            seconds_max: arguments.max_seconds,
            beside: Beside { catalog: arguments.catalog.clone(), custodian: arguments.custodian.clone() },
            progress: &bars,
        },
    );
    drop(bars);
    let published = published?;
    warn(talk, &published.warnings);
    if let Some(searched) = published.searched.as_ref().filter(|searched| !searched.proven && !talk.quiet) {
        let why = match searched.explain.nodes {
            Some(nodes) if nodes <= NODES_MAX => "the search stopped at its limit".to_owned(),
            Some(nodes) => format!("{nodes} lattice nodes are too many to search them all"),
            None => "the lattice has too many nodes to search them all".to_owned(),
        };
        say(&format!("warning: {why}: the release satisfies every rule, but another may lose less"));
    }
    if talk.json {
        print_json(&to_json(&published, arguments.explain))?;
    } else if !talk.quiet {
        print(&to_text(&published, &policy, arguments.explain, talk.verbose))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What cloning protects.
fn protected(policy: &Policy) -> &str {
    let sensitive = policy.attributes.iter().find(|attribute| attribute.role == Role::Sensitive);
    sensitive.map_or("", |attribute| attribute.name.as_str())
}

fn to_json(published: &Published, explain: bool) -> Value {
    let mut object = json!({
        "release": published.release.display().to_string(),
        "rows": published.rows,
        "classes": published.checked.classes,
        "guarantees": claims_json(&published.checked.claims),
        "loss": published.losses,
        "seconds": {
            "read": published.read_time.as_secs_f64(),
            "search": published.search_time.as_secs_f64(),
            "write": published.write_time.as_secs_f64(),
        },
    });
    if let Some(report) = &published.cloned {
        object["cloning"] = json!(report);
    }
    let Some(searched) = &published.searched else { return object };
    let levels = searched.levels.iter().map(|(name, level, _)| (name.clone(), json!(level)));
    object["levels"] = levels.collect::<Map<_, _>>().into();
    object["proven"] = json!(searched.proven);
    if let Some(candidates) = searched.candidates {
        object["candidates"] = json!(candidates);
    }
    if explain {
        let counts = explained(&searched.explain);
        object["explain"] =
            counts.into_iter().map(|(name, _, count)| (name.to_owned(), json!(count))).collect::<Map<_, _>>().into();
    }
    object
}

fn to_text(published: &Published, policy: &Policy, explain: bool, verbose: bool) -> String {
    let loss = policy.publish.loss.name();
    let rows = published.rows;
    let classes = published.checked.classes;
    let mut text = format!(
        "release  {}\nrows     {} read, {} released, {} suppressed\n",
        published.release.display(),
        rows.source,
        rows.out,
        rows.suppressed,
    );
    text.push_str(&match &published.cloned {
        Some(report) => cloned_text(report, (classes.min, classes.max), rows.source, protected(policy)),
        None => {
            let mean = short((classes.mean * 10.0).round() / 10.0);
            format!("classes  {} of {} to {} rows, {mean} on average\n", classes.count, classes.min, classes.max)
        }
    });
    let mut proof = "";
    if let Some(searched) = &published.searched {
        proof = if searched.proven { ", proven minimal" } else { ", not proven minimal" };
        let levels = searched.levels.iter().map(|(name, level, top)| format!("{name} {level} of {top}"));
        text.push_str(&format!("levels   {}\n", levels.collect::<Vec<_>>().join(", ")));
    }
    let value = |name: &str| Some(format!("{name} {}", short(published.losses.get(name)?.as_f64()?)));
    // Where the loss that the policy names has no meaning, those that have one.
    let losses = value(loss)
        .unwrap_or_else(|| published.losses.keys().filter_map(|name| value(name)).collect::<Vec<_>>().join(", "));
    text.push_str(&format!("loss     {losses}{proof}\n"));
    if let Some((searched, candidates)) = published.searched.as_ref().and_then(|s| Some((s, s.candidates?))) {
        let nodes = searched.explain.nodes.map_or_else(|| "more than 2^64".to_owned(), |nodes| nodes.to_string());
        text.push_str(&format!("nodes    {candidates} of {nodes} lattice nodes satisfy every rule\n"));
    }
    text.push_str("guarantees, recomputed from the written tables\n");
    text.push_str(&claims_text(&published.checked.claims));
    if let Some(searched) = published.searched.as_ref().filter(|_| explain) {
        text.push_str("search\n");
        for (_, meaning, count) in explained(&searched.explain) {
            text.push_str(&format!("  {count:>12}  {meaning}\n"));
        }
    }
    if verbose {
        let [read, search, write] =
            [published.read_time, published.search_time, published.write_time].map(|time| time.as_secs_f64());
        text.push_str(&format!("seconds  read {read:.3}, search {search:.3}, write and check {write:.3}\n"));
    }
    text
}

/// Name in JSON, meaning in words, count.
fn explained(explain: &Explain) -> Vec<(&'static str, &'static str, u64)> {
    let nodes = explain.nodes.map(|nodes| ("nodes", "nodes of the generalization lattice", nodes));
    let counted = [
        ("distinct_rows", "distinct rows of the table", explain.distinct as u64),
        ("judged_first", "nodes evaluated to find a first solution", explain.judged_first),
        ("judged_proof", "nodes evaluated to prove that none is better", explain.judged_proof),
        ("judged_holding", "of the evaluated nodes, those that satisfy every rule", explain.judged_holding),
        ("pruned_by_loss", "nodes pruned: they cannot lose less than the best", explain.pruned_by_loss),
        (
            "pruned_by_guarantee",
            "nodes pruned: a coarser node already suppresses too many rows",
            explain.pruned_by_guarantee,
        ),
        (
            "pruned_by_suppression",
            "nodes pruned: by a coarser node, the suppressed rows alone lose more than the best",
            explain.pruned_by_suppression,
        ),
        ("not_reached", "nodes not visited within the limit", explain.not_reached),
    ];
    nodes.into_iter().chain(counted).collect()
}
