//! The facts that the page of a report states, from the values that its JSON has.

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, Audited, Contingency, CountedAlone, ReleasedTable, SingledOut};
use hedgerow_privacy::KnownRows;
use hedgerow_release::manifest::Claim;
use hedgerow_report::facts::*;
use serde_json::{Map, Value};

use super::document::{ColumnPart, Document, NarrowingPart, ReleasePart};
use super::internal_facts::with_source;
use crate::Check;

/// Of the limits that people cite, those that the picture of the risk draws.
const DRAWN: [&str; 2] = ["EMA 0.09 (1/11)", "k ≥ 5"];

pub(super) fn of_document(document: &Document) -> ReportFacts {
    let together = document.together.as_ref();
    ReportFacts {
        version: document.version.to_owned(),
        publishable: document.publishable,
        date: document.date.clone(),
        policy: document
            .policy
            .as_ref()
            .map(|file| PolicyFileFacts { name: file.name.clone(), text: file.text.clone() }),
        source: document
            .source
            .as_ref()
            .map(|file| SourceFileFacts { name: file.name.clone(), digest: file.digest.clone() }),
        people_named: document.people_named,
        omitted: document.omitted.iter().map(|&panel| panel.to_owned()).collect(),
        releases: document.releases.iter().map(of_part).collect(),
        ledger: of_ledger(document),
        alone: together
            .map(|together| together.alone.iter())
            .into_iter()
            .flatten()
            .map(|alone| AloneFacts {
                release: alone.release.clone(),
                protect: alone.protect.clone(),
                effective_k: alone.effective_k,
                effective_l: alone.effective_l,
                max_confidence: alone.max_confidence,
            })
            .collect(),
        combined: together.map(|together| of_findings(&together.combined)).unwrap_or_default(),
        narrowings: together.map(|together| of_narrowings(&together.narrowings)).unwrap_or_default(),
        audit: of_audit(&document.audit),
    }
}

#[cfg(feature = "federation")]
fn of_ledger(document: &Document) -> Option<LedgerFacts> {
    let ledger = document.ledger.as_ref()?;
    let kinds = ledger.kinds.iter().map(|opened| OpenedFacts {
        kind: opened.kind.clone(),
        entries: opened.entries,
        values: opened.values,
        compared: opened.compared,
        least: opened.least,
    });
    Some(LedgerFacts { entries: ledger.entries, rounds: ledger.rounds, kinds: kinds.collect() })
}

#[cfg(not(feature = "federation"))]
fn of_ledger(_: &Document) -> Option<LedgerFacts> {
    None
}

fn of_part(part: &ReleasePart) -> ReleaseFacts {
    let shown = ReleaseFacts {
        name: part.name.clone(),
        method: part.method.clone(),
        digest: Some(part.digest.clone()),
        rows: Some(RowFacts { out: part.rows.out, suppressed: part.rows.suppressed }),
        tables: of_tables(&part.tables),
        singled_out: of_singled_out(&part.singled_out),
        pairs: part.pairs.iter().map(of_pair).collect(),
        findings: of_findings(&part.findings),
        ..ReleaseFacts::default()
    };
    let shown = match &part.of_manifest {
        None => shown,
        Some(stated) => ReleaseFacts {
            units: stated.units.map(|units| UnitFacts { out: units.out, linked: units.linked }),
            columns: of_columns(&stated.columns),
            dependencies: stated
                .dependencies
                .iter()
                .map(|known| DependencyFacts {
                    from: known.from.clone(),
                    to: known.to.clone(),
                    accept: known.accept.clone(),
                })
                .collect(),
            check: Some(of_check(&stated.check)),
            safe_harbor: part
                .safe_harbor
                .iter()
                .flatten()
                .map(|item| SafeHarborFacts { item: item.item, what: item.what, columns: item.columns.clone() })
                .collect(),
            ..shown
        },
    };
    match &part.of_source {
        None => shown,
        Some(internal) => with_source(shown, internal),
    }
}

pub(crate) fn of_columns(columns: &[ColumnPart]) -> Vec<ColumnFacts> {
    let column = |column: &ColumnPart| ColumnFacts {
        name: column.name.clone(),
        kind: column.kind.clone(),
        role: column.role.clone(),
        values: column.values.clone(),
        file: column.file.clone(),
    };
    columns.iter().map(column).collect()
}

pub(crate) fn of_tables(tables: &[ReleasedTable]) -> Vec<TableFacts> {
    let table = |table: &ReleasedTable| {
        let histogram = table.classes.histogram.iter();
        let histogram =
            histogram.map(|range| BinFacts { size: range.size.clone(), to: range.to, classes: range.classes });
        let distribution = table.risk.distribution.iter();
        let limits = table.risk.limits.iter().map(|limit| LimitFacts {
            name: limit.name,
            limit: limit.limit,
            share_above: limit.share_above,
            is_drawn: DRAWN.contains(&limit.name),
        });
        TableFacts {
            name: table.name.clone(),
            buckets: table.buckets,
            classes: SizeFacts { count: table.classes.count, min: table.classes.min, histogram: histogram.collect() },
            risk: ReleasedRiskFacts {
                highest: table.risk.highest,
                unique_rows: table.risk.unique_rows,
                distribution: distribution.map(|step| RiskStep { risk: step.risk, share: step.share }).collect(),
                limits: limits.collect(),
            },
        }
    };
    tables.iter().map(table).collect()
}

pub(super) fn of_singled_out(found: &[SingledOut]) -> Vec<SingledOutFacts> {
    let facts = |found: &SingledOut| SingledOutFacts {
        attributes: found.attributes.clone(),
        people: found.people,
        counts_units: found.counted == CountedAlone::Units,
    };
    found.iter().map(facts).collect()
}

fn of_pair(pair: &Contingency) -> PairFacts {
    PairFacts {
        rows: pair.rows.clone(),
        row_labels: pair.row_labels.clone(),
        columns: pair.columns.clone(),
        column_labels: pair.column_labels.clone(),
        counts: pair.counts.clone(),
    }
}

pub(crate) fn of_check(check: &Check) -> CheckFacts {
    CheckFacts {
        guarantees: check.guarantees.iter().map(of_claim).collect(),
        contradictions: check.contradictions.clone(),
        unchecked: check.unchecked.clone(),
        warnings: check.warnings.iter().map(|warning| WarningFacts { message: warning.problem.clone() }).collect(),
    }
}

pub(crate) fn of_claim(claim: &Claim) -> GuaranteeFacts {
    GuaranteeFacts {
        model: claim.model.clone(),
        required: of_parameters(&claim.required),
        achieved: of_parameters(&claim.achieved),
        know: claim.know.clone(),
        protect: claim.protect.clone(),
        rows: claim.rows.as_deref().and_then(KnownRows::from_name),
        consistent: claim.consistent,
        is_about_some: !claim.only_where.is_empty(),
        holds: claim.holds,
    }
}

pub(crate) fn of_parameters(stated: &Map<String, Value>) -> Named<ModelParameter> {
    stated.iter().filter_map(|(name, value)| Some((name.clone(), ModelParameter::of(value)?))).collect()
}

/// The cells of a class: their labels are texts.
pub(super) fn of_cells(cells: &Map<String, Value>) -> Named<String> {
    let label = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    cells.iter().map(|(name, value)| (name.clone(), label(value))).collect()
}

pub(crate) fn of_audit(audited: &Audited) -> AuditFacts {
    let contradictions = audited.contradictions.iter();
    AuditFacts {
        adversaries: of_findings(&audited.findings),
        contradictions: contradictions
            .map(|found| ContradictionFacts { release: found.release.clone(), problem: found.problem.clone() })
            .collect(),
        assumed: audited.assumed.clone(),
    }
}

pub(crate) fn of_adversary(adversary: Adversary) -> AdversaryFacts {
    let kind = match adversary {
        Adversary::Attribute => AdversaryKind::Infers,
        Adversary::Composition | Adversary::Intersection | Adversary::Difference => AdversaryKind::Links,
        _ => AdversaryKind::Other,
    };
    AdversaryFacts { name: adversary.name(), does: adversary.does(), kind }
}

fn of_findings(findings: &[Finding]) -> Vec<FindingFacts> {
    let facts = |finding: &Finding| FindingFacts {
        name: of_adversary(finding.adversary),
        releases: finding.releases.clone(),
        protect: finding.protect.clone(),
        people: finding.people,
        at_risk: finding.at_risk,
        max_confidence: finding.max_confidence,
        effective_k: finding.effective_k,
        effective_l: finding.effective_l,
        breach: finding.breach,
        explanations: finding
            .explanations
            .iter()
            .map(|explanation| ExplanationFacts {
                people: explanation.people,
                value: explanation.value.clone(),
                steps: explanation.steps.clone(),
                rows: explanation.rows.iter().map(|row| row + 1).collect(),
            })
            .collect(),
    };
    findings.iter().map(facts).collect()
}

fn of_narrowings(chains: &[NarrowingPart]) -> Vec<NarrowingFacts> {
    let facts = |chain: &NarrowingPart| NarrowingFacts {
        protect: chain.protect.clone(),
        steps: chain
            .steps
            .iter()
            .map(|part| NarrowingStepFacts {
                release: part.step.release.clone(),
                cells: of_cells(&part.step.cells),
                rows: part.step.rows,
                values: part.step.values.clone(),
                values_count: part.values_count as u64,
            })
            .collect(),
        left: chain.left.clone(),
        left_count: chain.left_count as u64,
    };
    chains.iter().map(facts).collect()
}
