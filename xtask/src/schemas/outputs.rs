//! The type that each command prints, and what a type does not say of its values.

pub(super) struct Output {
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    /// The crate and the type.
    pub(super) of: &'static str,
    /// Whether the report has the same object in it, to which no warnings are added there.
    pub(super) is_in_report: bool,
}

const fn command(file: &'static str, title: &'static str, of: &'static str) -> Output {
    Output { file, title, of, is_in_report: false }
}

const fn in_report(output: Output) -> Output {
    Output { is_in_report: true, ..output }
}

pub(super) const OUTPUTS: &[Output] = &[
    in_report(command("audit.json", "hedgerow audit --json", "audit::Audited")),
    command("catalog-add.json", "hedgerow catalog add --json", "publish::CatalogEntry"),
    command("catalog-list.json", "hedgerow catalog list --json", "cli::Listed"),
    command("catalog-show.json", "hedgerow catalog show --json", "cli::ShownRelease"),
    command("check.json", "hedgerow check --json", "hedgerow::Check"),
    command("explore.json", "hedgerow explore --json", "hedgerow::Exploration"),
    command("federation-lop.json", "hedgerow federation lop --json", "cli::LossOfPrivacy"),
    command("init.json", "hedgerow init --json", "cli::Drafted"),
    in_report(command("measure.json", "hedgerow measure --json", "cli::Printed")),
    command("publish.json", "hedgerow publish --json", "hedgerow::Published"),
    command("report.json", "hedgerow report --json", "hedgerow::Document"),
    command("rules.json", "hedgerow rules --json", "hedgerow::RulesReport"),
    command("synth-census.json", "hedgerow synth --json", "cli::Written"),
];

/// Types that several outputs share: the file that has them, the name of their part, and the type.
pub(super) const PARTS: &[(&str, &str, &str)] = &[
    ("audit.json", "exposure", "audit::Exposure"),
    ("audit.json", "adversary", "audit::Finding"),
    ("measure.json", "classes", "audit::SizeDistribution"),
    ("measure.json", "singled_out", "audit::SingledOut"),
    ("common.json", "rows", "release::RowTotals"),
    ("common.json", "classes", "release::ClassSizes"),
    ("common.json", "guarantee", "release::Claim"),
    ("common.json", "units", "release::UnitCounts"),
];

/// Parts that no type has: names of models and methods, measures, warnings and memory.
pub(super) const WRITTEN: &[(&str, &str)] = &[
    (
        "warnings",
        r#"{
            "description": "What is allowed but probably unintended; empty when there is nothing.",
            "type": "array",
            "items": {
                "type": "object",
                "required": ["code", "message", "attributes", "people"],
                "properties": {
                    "code": { "description": "The kind of problem.", "type": "string" },
                    "message": { "type": "string" },
                    "attributes": {
                        "description": "The attributes that it is about.", "type": "array", "items": { "type": "string" }
                    },
                    "people": {
                        "description": "How many people it is about; null where that is not counted.",
                        "type": ["integer", "null"], "minimum": 0
                    },
                    "place": { "description": "The file, with line or key where known.", "type": "string" },
                    "hint": { "description": "What to do.", "type": "string" }
                }
            }
        }"#,
    ),
    (
        "memory",
        r#"{
            "description": "What the run took, where the system says it: always for publish, else with -v.",
            "type": "object",
            "required": ["peak_bytes"],
            "properties": {
                "peak_bytes": {
                    "description": "The most memory that the process had, in bytes.", "type": "integer", "minimum": 0
                },
                "spilled_bytes": {
                    "description": "What publish put into temporary files because it did not fit in memory, in bytes.",
                    "type": "integer", "minimum": 0
                }
            }
        }"#,
    ),
    (
        "model",
        r#"{
            "description": "A privacy model by its name in a policy.",
            "enum": ["k-anonymity", "distinct-l-diversity", "frequency-l-diversity", "entropy-l-diversity",
                "recursive-l-diversity", "t-closeness", "alpha-k-anonymity", "epsilon-m-anonymity",
                "delta-l-diversity", "epsilon-clone", "cross-release-l-diversity", "rho-breach", "belief-change"]
        }"#,
    ),
    (
        "method",
        r#"{
            "description": "A method by its name in a policy.",
            "enum": ["full-domain", "mondrian", "best-cut", "cluster", "anatomy", "clone", "decompose"]
        }"#,
    ),
    (
        "loss",
        r#"{
            "description": "Loss measures. A measure that has no meaning for the kind of release is absent or null.",
            "type": "object",
            "properties": {
                "ncp": { "type": ["number", "null"] },
                "precision": { "type": ["number", "null"] },
                "discernibility": { "type": ["number", "null"] },
                "average-class": { "type": ["number", "null"] },
                "granularity": { "type": ["number", "null"] },
                "entropy": { "type": ["number", "null"] },
                "entropy-bits": { "description": "In bits over all cells, not normalized by attribute.", "type": "number" },
                "weighted": { "description": "What was minimized, where the policy has weights.", "type": "number" },
                "kl": { "description": "In nats.", "type": ["number", "null"] },
                "rows-without-sensitive-value": {
                    "description": "Rows of a decomposed release whose sensitive values are not released.",
                    "type": "integer", "minimum": 0
                }
            }
        }"#,
    ),
];

const MODEL: &str = r#"{ "$ref": "common.json#/$defs/model" }"#;
const WARNINGS: &str = r#"{ "$ref": "common.json#/$defs/warnings" }"#;
const SHARE: &str = r#"{ "type": "number", "minimum": 0, "maximum": 1 }"#;

/// Mean absolute errors of four statistics.
const ERRORS: &str = r#"{
    "type": "object",
    "required": ["mean", "lower_quartile", "median", "upper_quartile"],
    "properties": {
        "mean": { "type": ["number", "null"] }, "lower_quartile": { "type": ["number", "null"] },
        "median": { "type": ["number", "null"] }, "upper_quartile": { "type": ["number", "null"] }
    }
}"#;

/// Fields whose values are fewer than their types allow, or that are printed in a way of their own.
/// `$type` stands for the schema of a type.
pub(super) const NARROWER: &[(&str, &str)] = &[
    ("Claim.model", MODEL),
    ("Claim.rows", r#"{ "enum": ["all", "one"] }"#),
    ("Requirement.model", MODEL),
    ("Published.loss", r#"{ "$ref": "common.json#/$defs/loss" }"#),
    ("ExploredNode.loss", r#"{ "$ref": "common.json#/$defs/loss" }"#),
    ("RuleStanding.standing", r#"{ "enum": ["not reachable", "guarded", "broken"] }"#),
    // Problems are printed by code of their own; the command makes warnings of texts.
    ("Audited.warnings", WARNINGS),
    ("Check.warnings", WARNINGS),
    ("Drafted.warnings", WARNINGS),
    ("Exploration.warnings", WARNINGS),
    ("Printed.warnings", WARNINGS),
    ("Published.warnings", WARNINGS),
    ("RulesReport.warnings", WARNINGS),
    (
        "Finding.adversary",
        r#"{
            "enum": ["linker", "attribute", "independence", "correlation", "composition", "intersection", "definetti",
                "minimality", "difference", "consistency", "worlds"]
        }"#,
    ),
    (
        "Finding.worst",
        r#"{
            "required": ["worst"],
            "properties": {
                "worst": { "description": "The worst cells; empty when nothing was examined.",
                    "anyOf": [{ "$type": "Exposure" }, { "const": {} }] },
                "next_worst": { "type": "array", "items": { "$type": "Exposure" } }
            }
        }"#,
    ),
    // What only one adversary measures is a map in the type.
    ("Finding.details", include_str!("details.json")),
    (
        "Exposure.values",
        r#"{
            "required": ["values", "left"],
            "properties": {
                "values": {
                    "description": "The sensitive values that remain, likeliest first.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["value", "confidence"],
                        "properties": {
                            "value": { "type": "string" },
                            "confidence": { "description": "The adversary's confidence.",
                                "type": "number", "minimum": 0, "maximum": 1 }
                        }
                    }
                },
                "left": { "description": "How many values remain.", "type": "integer", "minimum": 0 }
            }
        }"#,
    ),
    ("ReleaseCells.cells", r#"{ "type": "object", "additionalProperties": { "type": "string" } }"#),
    // Outputs of other commands have their schema there.
    ("Document.audit", r#"{ "$ref": "audit.json" }"#),
    ("ManifestPart.check", r#"{ "$ref": "check.json" }"#),
    ("SourcePart.measures", r#"{ "$ref": "measure.json" }"#),
    ("Broken.model", MODEL),
    ("Settled.model", MODEL),
    ("DraftedColumn.kind", r#"{ "enum": ["category", "integer", "float", "date"] }"#),
    ("ExposedUnion.of", r#"{ "const": "union" }"#),
    ("ExposedValues.of", r#"{ "enum": ["sum", "median", "least", "greatest"] }"#),
    ("Finding.max_confidence", SHARE),
    ("Compared.method", r#"{ "$ref": "common.json#/$defs/method" }"#),
    ("MeasuredTables.rows", r#"{ "$ref": "common.json#/$defs/rows" }"#),
    ("TableMeasures.rows", r#"{ "$ref": "common.json#/$defs/rows" }"#),
    ("TableMeasures.attributes", r#"{ "type": "object", "additionalProperties": { "$type": "AttributeLoss" } }"#),
    ("TableMeasures.numbers", r#"{ "type": "object", "additionalProperties": { "$type": "NumberError" } }"#),
    ("NumberError.by_class", ERRORS),
    (
        "NumberError.by_value",
        r#"{
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["mean", "lower_quartile", "median", "upper_quartile"],
                "properties": {
                    "mean": { "type": ["number", "null"] }, "lower_quartile": { "type": ["number", "null"] },
                    "median": { "type": ["number", "null"] }, "upper_quartile": { "type": ["number", "null"] }
                }
            }
        }"#,
    ),
    ("Risk.k", SHARE),
    ("Risk.marketer", SHARE),
    ("Scenario.max", SHARE),
    ("Scenario.mean", SHARE),
    ("Scenario.share_at_max", SHARE),
    ("Scenario.share_above", SHARE),
];
