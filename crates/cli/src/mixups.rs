//! Arguments that were mixed up: a table where a policy belongs, a policy where a release belongs,
//! a key of the policy as an option. What fails because of it says what was given, what was
//! expected, and the command to use.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::{CatalogWhat, Verb};
use crate::failure::{Failure, USAGE};

/// The first bytes of a file, which show its kind.
const START_BYTES: u64 = 1 << 20;
const TABLES: [&str; 11] = ["csv", "tsv", "tab", "ndjson", "jsonl", "parquet", "pq", "xlsx", "xlsm", "dta", "txt"];
const MANIFEST: &str = "datapackage.json";

/// The kind of thing that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Policy,
    Table,
    Release,
    /// A file in the folder of a release.
    OfRelease,
    Report,
    Sql,
    Other,
}

/// The kind of thing that an argument should name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Policy,
    Table,
    Release,
}

impl Given {
    fn of(path: &Path) -> Given {
        let is_sql = |text: &str| text.trim_start().get(..7).is_some_and(|start| start.eq_ignore_ascii_case("select "));
        if path.to_str().is_some_and(is_sql) {
            return Given::Sql;
        }
        if has_manifest(path) {
            return Given::Release;
        }
        if !path.is_file() {
            return Given::Other;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let name = ["gz", "zst"].iter().find_map(|packed| name.strip_suffix(&format!(".{packed}"))).unwrap_or(&name);
        let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
        match suffix {
            "html" | "htm" => Given::Report,
            // It describes a table that was made elsewhere.
            "toml" if name == "release.toml" => Given::Other,
            "toml" if holds(path, &["[source]", "[attributes]", "[[rule]]"]) => Given::Policy,
            _ if path.parent().is_some_and(has_manifest) => Given::OfRelease,
            _ if TABLES.contains(&suffix) => Given::Table,
            _ => Given::Other,
        }
    }

    fn fits(self, expected: Expected) -> bool {
        match self {
            Given::Policy => expected == Expected::Policy,
            Given::Table => expected == Expected::Table,
            Given::Release => expected == Expected::Release,
            // The tables of a release are tables.
            Given::OfRelease => expected == Expected::Table,
            Given::Report | Given::Sql => false,
            Given::Other => true,
        }
    }

    fn shown(self) -> &'static str {
        match self {
            Given::Policy => "a policy",
            Given::Table => "a table",
            Given::Release => "a release",
            Given::OfRelease => "a file of a release",
            Given::Report => "a page",
            Given::Sql => "SQL",
            Given::Other => "something else",
        }
    }
}

/// Whether a folder is a release: other data have manifests of this name too.
fn has_manifest(folder: &Path) -> bool {
    holds(&folder.join(MANIFEST), &["\"hedgerow\""])
}

/// Whether a file has one of these words.
fn holds(path: &Path, words: &[&str]) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START_BYTES).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    read.is_ok() && words.iter().any(|word| text.contains(word))
}

/// A failure that is due to a mix-up says so; any other stays as it is.
pub(crate) fn explained(verb: &Verb, failure: Failure) -> Failure {
    if !failure.is_of_arguments() {
        return failure;
    }
    let arguments = arguments(verb);
    let wrong = |(expected, path): &&(Expected, &Path)| !Given::of(path).fits(*expected);
    let Some((expected, path)) = arguments.iter().find(wrong) else { return failure };
    let given = Given::of(path);
    let others: Vec<&Path> = arguments.iter().filter(|(_, other)| other != path).map(|(_, other)| *other).collect();
    let noun = match expected {
        Expected::Policy => "a policy",
        Expected::Table => "a table",
        Expected::Release => "a release",
    };
    let problem = format!("this is {}, and {noun} is expected here", given.shown());
    Failure::usage(path.display().to_string(), problem, hint(verb, *expected, given, path, &others))
}

/// The arguments of a command that name files, each with what it should be.
fn arguments(verb: &Verb) -> Vec<(Expected, &Path)> {
    let mut found: Vec<(Expected, &Path)> = Vec::new();
    match verb {
        Verb::Init(init) => found.push((Expected::Table, &init.data)),
        Verb::Publish(publish) => found.push((Expected::Policy, &publish.policy)),
        Verb::Explore(explore) => found.push((Expected::Policy, &explore.policy)),
        Verb::Rules(rules) => found.push((Expected::Policy, &rules.policy)),
        Verb::Check(check) => {
            found.extend(check.policy.iter().map(|policy| (Expected::Policy, policy.as_path())));
            let is_table = check.policy.is_some() && Given::of(&check.target) != Given::Release;
            found.push((if is_table { Expected::Table } else { Expected::Release }, &check.target));
            found.extend(check.community.iter().map(|release| (Expected::Release, release.as_path())));
        }
        Verb::Measure(measure) => {
            found.extend([(Expected::Release, measure.release.as_path()), (Expected::Policy, measure.policy.as_path())])
        }
        Verb::Query(query) => found.push((Expected::Release, &query.release)),
        Verb::Report(report) => {
            found.extend(report.releases.iter().map(|release| (Expected::Release, release.as_path())));
            found.extend(report.policy.iter().map(|policy| (Expected::Policy, policy.as_path())));
            found.extend(report.people.iter().map(|people| (Expected::Table, people.as_path())));
        }
        Verb::Audit(audit) => {
            found.extend(audit.releases.iter().map(|release| (Expected::Release, release.as_path())));
            found.extend(audit.policy.iter().map(|policy| (Expected::Policy, policy.as_path())));
            found.extend(audit.people.iter().map(|people| (Expected::Table, people.as_path())));
        }
        Verb::Catalog(catalog) => {
            if let CatalogWhat::Add { release, .. } = &catalog.what {
                found.push((Expected::Release, release));
            }
        }
        Verb::Studio(_) | Verb::Federation(_) | Verb::Synth(_) | Verb::Completions(_) => {}
    }
    found
}

/// The command to use.
fn hint(verb: &Verb, expected: Expected, given: Given, path: &Path, others: &[&Path]) -> String {
    let shown = path.display();
    let other = |given: Given| others.iter().find(|other| Given::of(other) == given).map(|other| other.display());
    match (expected, given) {
        (Expected::Policy, Given::Table) => match (verb, other(Given::Policy)) {
            (Verb::Check(_), Some(policy)) => {
                format!("they are interchanged: `hedgerow check --policy {policy} {shown}`")
            }
            (_, Some(policy)) => format!("they are interchanged: the policy is {policy}"),
            _ => format!("`hedgerow init {shown}` writes a policy for it, which names the table under [source]"),
        },
        (Expected::Policy, Given::Release | Given::OfRelease) => {
            "name the policy that the release was made from, such as policy.toml; what a release states is in its \
             datapackage.json"
                .to_owned()
        }
        (Expected::Policy, _) => "name a policy, such as policy.toml; `hedgerow init DATA` writes one".to_owned(),
        (Expected::Release, Given::OfRelease) => {
            format!("name the folder: {}", path.parent().unwrap_or(path).display())
        }
        (Expected::Release, Given::Policy) => {
            let mut hint = format!("`hedgerow publish {shown} -o release` makes a release");
            if matches!(verb, Verb::Check(_)) {
                let _ = write!(hint, "; `hedgerow rules {shown}` reports what its rules imply");
            }
            hint
        }
        (Expected::Release, Given::Table) => match verb {
            Verb::Check(_) => format!("`hedgerow check --policy policy.toml {shown}` checks a table"),
            Verb::Audit(_) | Verb::Report(_) => {
                "describe a table that was made elsewhere in a release.toml beside it, and name its folder \
                 (docs/release-format.md)"
                    .to_owned()
            }
            _ => format!(
                "`hedgerow init {shown}` writes a policy for it, and `hedgerow publish policy.toml -o release` a release"
            ),
        },
        (Expected::Release, Given::Sql) => {
            "the release comes first: `hedgerow query release \"SELECT COUNT(*) FROM data\"`".to_owned()
        }
        (Expected::Release, _) => "name a directory that `hedgerow publish` wrote".to_owned(),
        (Expected::Table, Given::Policy) => match verb {
            Verb::Init(_) => format!(
                "name the data, such as data.csv; to publish by this policy: `hedgerow publish {shown} -o release`"
            ),
            Verb::Check(_) => {
                format!("name a table; `hedgerow rules {shown}` reports what the rules of a policy imply")
            }
            _ => "name the table of the people, such as people.csv, or that of the source".to_owned(),
        },
        (Expected::Table, Given::Release) => match verb {
            Verb::Init(_) => "name the private data that a release is to be made from, such as data.csv".to_owned(),
            _ => "name a table, such as people.csv".to_owned(),
        },
        (Expected::Table, _) => "name a table, such as data.csv".to_owned(),
    }
}

/// Keys of a policy that new users look for among the options, and where they are written.
const KEYS: [(&str, &str); 24] = [
    ("method", "method = \"cluster\" under [publish]"),
    ("suppression", "suppression = 0.02 under [publish]"),
    ("loss", "loss = \"ncp\" under [publish]"),
    ("weights", "weights = { age = 2 } under [publish]"),
    ("improve", "improve = true under [publish]"),
    ("strict", "strict = false under [publish]"),
    ("summarise", "summarise = \"tight\" under [publish]"),
    ("labels", "labels = \"hierarchy\" under [publish]"),
    ("algorithm", "algorithm = \"best\" under [publish]"),
    ("anonymizer", "anonymizer = \"mondrian\" under [publish]"),
    ("k", "require = { model = \"k-anonymity\", k = 5 } under [[rule]]"),
    ("l", "require = { model = \"distinct-l-diversity\", l = 3 } and protect = \"…\" under [[rule]]"),
    ("t", "require = { model = \"t-closeness\", t = 0.2 } and protect = \"…\" under [[rule]]"),
    ("epsilon", "require = { model = \"epsilon-clone\", … } under [[rule]]"),
    ("rule", "[[rule]] with what it requires"),
    ("protect", "protect = \"…\" under [[rule]]"),
    ("quasi", "COLUMN = { role = \"quasi\" } under [attributes]"),
    ("qi", "COLUMN = { role = \"quasi\" } under [attributes]"),
    ("quasi-identifiers", "COLUMN = { role = \"quasi\" } under [attributes]"),
    ("sensitive", "COLUMN = { role = \"sensitive\" } under [attributes]"),
    ("identifier", "COLUMN = { role = \"identifier\" } under [attributes]"),
    ("hierarchy", "COLUMN = { role = \"quasi\", hierarchy = { widths = [5, 10] } } under [attributes]"),
    ("input", "path = \"data.csv\" under [source]"),
    ("delimiter", "delimiter = \";\" under [source]"),
];

/// An error of the command line that another command, or a key of the policy, answers; `None`
/// where the parser says enough.
pub(crate) fn of_line(error: &clap::Error, verb: Option<&str>) -> Option<(String, u8)> {
    let said = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (place, problem, hint) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = said(ContextKind::InvalidSubcommand)?;
            let hint = match Given::of(Path::new(word)) {
                Given::Table => format!("`hedgerow init {word}` writes a policy to start from"),
                Given::Policy => format!("`hedgerow publish {word} -o release` makes a release by this policy"),
                Given::Release => {
                    format!("`hedgerow check {word}` recomputes its guarantees; `hedgerow --help` lists more")
                }
                _ => return None,
            };
            (word, "a command is expected first".to_owned(), hint)
        }
        ErrorKind::UnknownArgument => {
            let word = said(ContextKind::InvalidArg)?;
            let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            let key = KEYS.iter().find(|(key, _)| *key == name).filter(|_| word.starts_with("--"));
            let is_free = !word.starts_with('-');
            match (key, verb) {
                (Some((_, written)), _) => {
                    let problem = "not an option: it belongs in the policy".to_owned();
                    (word, problem, format!("write {written} in the policy; docs/policy.md lists all keys"))
                }
                (None, Some("publish")) if is_free => {
                    let hint = format!("name the directory to make after -o: `-o {word}`");
                    (word, "one argument too many: publish takes one policy".to_owned(), hint)
                }
                (None, Some("query")) if is_free => {
                    let hint = "put the whole SELECT into double quotes, and texts in it into single quotes".to_owned();
                    (word, "one argument too many: query takes a release and one SELECT".to_owned(), hint)
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((format!("error: {place}: {problem}\nhint: {hint}"), USAGE))
}
