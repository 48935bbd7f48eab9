//! `hedgerow publish POLICY -o DIR`: the main job.

use std::process::ExitCode;

use hedgerow::{CatalogAudit, Explain, Policy, Publish, Published, Role, TableFormat};

use super::cloned_text::cloned_text;
use super::{claims_text, load_policy, print, print_json_with_memory, short, warn};
use crate::args::{self, OnInterrupt, OutputFormat, Talk};
use crate::failure::{Failure, say};
use crate::interrupt;
use crate::progress::ProgressDisplay;
use crate::text::row_range;

pub(crate) fn run(arguments: &args::PublishArguments, talk: &Talk) -> Result<ExitCode, Failure> {
    if arguments.seed.is_some() {
        say(
            "warning: with --seed the order of rows can be repeated: this release is for tests and must not be published",
        );
    }
    if arguments.on_interrupt == OnInterrupt::Keep {
        interrupt::keep_best();
    }
    let policy = load_policy(&arguments.policy)?;
    let mut publish = Publish::new(&policy, &arguments.output)
        .overwrite(arguments.force)
        .format(match arguments.format {
            OutputFormat::Csv => TableFormat::Csv,
            OutputFormat::Parquet => TableFormat::Parquet,
        })
        .danger_seed(arguments.seed)
        .candidates(arguments.candidates)
        .explain(arguments.explain)
        .nodes_max(arguments.max_nodes)
        .seconds_max(arguments.max_seconds)
        .levels(arguments.levels.clone())
        .memory(talk.memory)
        .metadata(
            arguments
                .metadata
                .iter()
                .map(|kind| match kind {
                    args::Metadata::Dcat => hedgerow::Metadata::Dcat,
                    args::Metadata::Csvw => hedgerow::Metadata::Csvw,
                })
                .collect(),
        );
    if let Some(folder) = &arguments.catalog {
        publish = publish.catalog(folder).no_add(arguments.no_add);
    }
    publish = publish.repair(arguments.repair);
    if let Some(custodian) = &arguments.custodian {
        publish = publish.custodian(custodian);
    }
    let shown = ProgressDisplay::new(talk);
    let published = publish.run_with(&shown.monitor());
    drop(shown);
    let published = published?;
    warn(talk, &published.warnings);
    if let Some(search) = published.search.as_ref().filter(|search| !search.proven && !talk.quiet)
        && arguments.levels.is_empty()
    {
        let why = match search.nodes {
            Some(nodes) if nodes <= hedgerow::LATTICE_NODES_MAX => "the search stopped at its limit".to_owned(),
            Some(nodes) => format!("{nodes} lattice nodes are too many to search them all"),
            None => "the lattice has too many nodes to search them all".to_owned(),
        };
        say(&format!("warning: {why}: the release satisfies every rule, but another may lose less"));
    }
    if talk.json {
        print_json_with_memory(&published, Some(published.spilled_bytes))?;
    } else if !talk.quiet {
        print(&to_text(&published, &policy, arguments.levels.is_empty(), talk.verbose))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The result of the audit with the catalog or the community.
fn catalog_text(audited: &CatalogAudit) -> String {
    let known = if audited.known.is_empty() { "nothing".to_owned() } else { audited.known.join(", ") };
    let of = if audited.by_catalog { "catalog" } else { "community" };
    let releases = match audited.releases.len() {
        1 => "1 release".to_owned(),
        count => format!("{count} releases"),
    };
    let mut text = format!("audited  with {releases} of the {of}, people known by {known}\n");
    let mut named: Vec<hedgerow::Adversary> = Vec::new();
    for finding in &audited.findings {
        if named.contains(&finding.adversary) {
            continue;
        }
        named.push(finding.adversary);
        let same = || audited.findings.iter().filter(|other| other.adversary == finding.adversary);
        let of = match same().count() {
            1 => finding.releases.join(" + "),
            count => format!("{count} combinations"),
        };
        let people = same().map(|finding| finding.people).max().unwrap_or_default();
        let at_risk = same().map(|finding| finding.at_risk).max().unwrap_or_default();
        let least = same().filter_map(|finding| finding.effective_l).min();
        let least = least.map_or(String::new(), |l| format!(", fewest values left {l}"));
        text.push_str(&format!("  {} of {of}: {people} people, {at_risk} at risk{least}\n", finding.adversary));
    }
    match &audited.added {
        Some(name) => text.push_str(&format!("catalog  added as {name}\n")),
        None if audited.by_catalog => text.push_str("catalog  not added\n"),
        None => {}
    }
    text
}

/// The promise of cloning.
fn protected(policy: &Policy) -> &str {
    policy.attributes().find(|(_, role)| *role == Role::Sensitive).map_or("", |(name, _)| name)
}

fn to_text(published: &Published, policy: &Policy, searched: bool, verbose: bool) -> String {
    let rows = published.rows;
    let classes = published.classes;
    let mut text = format!(
        "release  {}\nrows     {} read, {} released, {} suppressed\n",
        published.release.display(),
        rows.source,
        rows.out,
        rows.suppressed,
    );
    if let Some(units) = published.units {
        let linked = if units.linked { ", linked by random numbers" } else { "" };
        text.push_str(&format!(
            "units    {} read, {} released, {} suppressed{linked}\n",
            units.source, units.out, units.suppressed
        ));
    }
    text.push_str(&match &published.cloning {
        Some(report) => cloned_text(report, (classes.min, classes.max), rows.source, protected(policy)),
        None => {
            let mean = short((classes.mean * 10.0).round() / 10.0);
            let mean = if classes.min == classes.max { String::new() } else { format!(", {mean} on average") };
            format!("classes  {} of {}{mean}\n", classes.count, row_range(classes.min, classes.max))
        }
    });
    let mut proof = "";
    if let Some(search) = &published.search {
        proof = match (search.proven, searched) {
            (_, false) => ", at the levels requested",
            (true, true) => ", proven minimal",
            (false, true) => ", not proven minimal",
        };
        let levels =
            search.levels.iter().zip(&search.tops).map(|((name, level), top)| format!("{name} {level} of {top}"));
        text.push_str(&format!("levels   {}\n", levels.collect::<Vec<_>>().join(", ")));
    }
    let value = |name: &str| Some(format!("{name} {}", short(published.loss.get(name)?)));
    // Where the loss that the policy names has no meaning, those that have one.
    let losses = value(policy.loss().name())
        .unwrap_or_else(|| published.loss.iter().filter_map(|(name, _)| value(name)).collect::<Vec<_>>().join(", "));
    text.push_str(&format!("loss     {losses}{proof}\n"));
    if let Some((search, candidates)) = published.search.as_ref().and_then(|search| Some((search, search.candidates?)))
    {
        let nodes = search.nodes.map_or_else(|| "more than 2^64".to_owned(), |nodes| nodes.to_string());
        text.push_str(&format!("nodes    {candidates} of {nodes} lattice nodes satisfy every rule\n"));
    }
    text.push_str("guarantees, recomputed from the written tables\n");
    text.push_str(&claims_text(&published.guarantees));
    if let Some(audited) = &published.catalog {
        text.push_str(&catalog_text(audited));
    }
    if let Some(explain) = published.search.as_ref().and_then(|search| search.explain) {
        text.push_str("search\n");
        for (meaning, count) in explained(&explain) {
            text.push_str(&format!("  {count:>12}  {meaning}\n"));
        }
    }
    if verbose {
        let hedgerow::Seconds { read, search, write, .. } = published.seconds;
        text.push_str(&format!("seconds  read {read:.3}, search {search:.3}, write and check {write:.3}\n"));
        if published.spilled_bytes > 0 {
            text.push_str(&format!("spilled  {:.1} MiB\n", published.spilled_bytes as f64 / (1 << 20) as f64));
        }
    }
    text
}

/// Meaning in words, and count.
fn explained(explain: &Explain) -> Vec<(&'static str, u64)> {
    let nodes = explain.nodes.map(|nodes| ("nodes of the generalization lattice", nodes));
    let counted = [
        ("distinct rows by what rules know", explain.distinct_rows),
        ("nodes evaluated to find a first solution", explain.evaluated_first),
        ("nodes evaluated to prove that none is better", explain.evaluated_proof),
        ("of the evaluated nodes, those that satisfy every rule", explain.evaluated_holding),
        ("nodes pruned: they cannot lose less than the best", explain.pruned_by_loss),
        ("nodes pruned: a coarser node already suppresses too many rows", explain.pruned_by_guarantee),
        (
            "nodes pruned: by a coarser node, the suppressed rows alone lose more than the best",
            explain.pruned_by_suppression,
        ),
        ("nodes not visited within the limit", explain.not_visited),
    ];
    nodes.into_iter().chain(counted).collect()
}
