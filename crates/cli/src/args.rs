//! The arguments of the command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::memory;

/// Publishes tables about people under privacy rules that you state, and attacks releases.
///
/// From a private table and a policy it makes a release that satisfies every rule of the policy,
/// and recomputes the rules from the written files. With `method = "full-domain"` the search proves
/// that no other combination of levels loses less. Start with `hedgerow init DATA.csv`, read the
/// policy it writes, then `hedgerow publish policy.toml -o release`.
#[derive(Debug, Parser)]
#[command(name = "hedgerow", version, max_term_width = 120, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// Options about output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Talk {
    /// Print one JSON object on standard output, and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more: where the time went, and the most memory that the run took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Do not show progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// Use this many threads instead of one per core
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Take no more memory than this, such as 2GiB: publish then uses files, and other runs stop.
    /// By default, publish uses files beyond half of what is free
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory::size)]
    pub(crate) memory: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Profile a data file and write a commented policy to start from
    Init(Init),
    /// Make a release from a policy: search for a small information loss, write, verify
    Publish(PublishArguments),
    /// Recompute every guarantee of a release from its files, or check any table against a policy
    Check(Check),
    /// Measure information loss, re-identification risk and query error of a release
    Measure(MeasureArguments),
    /// Open a policy, a data file or releases in the browser: see risk and loss while you choose
    Studio(Studio),
    /// Write a report about releases as one page: verdict, risk, loss, attacks, with pictures
    Report(ReportArguments),
    /// List every node of the lattice that satisfies all rules, with loss, suppression and risk
    ///
    /// To publish at another node than the one with the least loss: `hedgerow publish --levels`.
    Explore(Explore),
    /// Query a release in SQL: counts, sums and means, estimated within generalized cells and
    /// buckets
    ///
    /// A row counts in proportion to how much of its cells the condition covers: of 20 people
    /// between 20 and 29, about 10 are over 24. Each estimate has a lower bound, `certain` (no
    /// table that fits the release gives less), and an upper bound, `possible` (none gives more).
    /// In a bucketized release, rows and sensitive values of a bucket are paired in every way.
    Query(QueryArguments),
    /// Keep published releases in a folder, to audit new releases together with them
    Catalog(CatalogArguments),
    /// Attack releases as adversaries would, alone and combined, and report what they learn
    Audit(Audit),
    /// Custodians publishing together: what they would learn about each other
    Federation(Federation),
    /// Report what a policy's rules imply, which are unsatisfiable, and which tables would satisfy
    /// them
    Rules(RulesArguments),
    /// Make synthetic data to try things on
    Synth(Synth),
    /// Print a completion script for your shell
    Completions(Completions),
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The data: csv, tsv or ndjson (also gzipped or zstd-compressed), parquet, Excel (xlsx) or
    /// Stata (dta); a folder or a pattern of such files; or a table of a database, such as
    /// sqlite:people.db?table=patients or postgres://ann@host/study?table=patients
    pub(crate) data: PathBuf,
    /// Where to write the policy [default: policy.toml beside the data]
    #[arg(short, long, value_name = "POLICY")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArguments {
    /// The policy, a TOML file
    pub(crate) policy: PathBuf,
    /// The directory to make; it must not exist yet. Or a database: sqlite:release.db or
    /// postgres://ann@host/study/schema
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Replace a release that exists already
    #[arg(long)]
    pub(crate) force: bool,
    /// How to write the released table
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OutputFormat,
    /// Also count all lattice nodes that satisfy every rule (slower)
    #[arg(long)]
    pub(crate) candidates: bool,
    /// Report how the search went: how many lattice nodes there are, were evaluated, were pruned
    /// and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// Stop after evaluating about this many lattice nodes, with the best found
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_nodes: Option<u64>,
    /// Stop searching after this long, with the best found
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_seconds: Option<f64>,
    /// Publish at these levels instead of searching, such as age=2,zip=3; attributes that are not
    /// named are searched. For full-domain recoding
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = level, conflicts_with_all = ["candidates", "max_nodes", "max_seconds"])]
    pub(crate) levels: Vec<(String, u64)>,
    /// Also describe the release in these vocabularies: dcat (DCAT-AP with HealthDCAT-AP) or csvw
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) metadata: Vec<Metadata>,
    /// Audit the new release together with all releases in this catalog, taking every row of the
    /// source for a person. If together they violate a rule, write nothing; else add the release to
    /// the catalog
    #[arg(long, value_name = "DIR")]
    pub(crate) catalog: Option<PathBuf>,
    /// Audit with the catalog, but do not add the release to it
    #[arg(long, requires = "catalog")]
    pub(crate) no_add: bool,
    /// Where the audit with the catalog or the community refuses the release, publish the nearest
    /// one that passes: at other levels, without some classes, or with larger ones
    #[arg(long)]
    pub(crate) repair: bool,
    /// Who publishes: earlier releases of the same custodian in the catalog are compared by
    /// difference too
    #[arg(long, value_name = "NAME", requires = "catalog")]
    pub(crate) custodian: Option<String>,
    /// What an interrupt (Ctrl-C) does: stop and leave nothing, or end the search and keep the best
    /// release found
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(crate) on_interrupt: OnInterrupt,
    /// Repeat the same random order of rows, for tests only: a seeded release must not be published
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnInterrupt {
    #[default]
    Stop,
    Keep,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    #[default]
    Csv,
    Parquet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metadata {
    Dcat,
    Csvw,
}

/// One attribute and its level.
fn level(text: &str) -> Result<(String, u64), String> {
    let (name, level) = text.rsplit_once('=').ok_or("expected attribute=level, such as age=2")?;
    let level = level.trim().parse().map_err(|_| format!("the level of {name} is a whole number from 0"))?;
    Ok((name.trim().to_owned(), level))
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Release directories; or tables made elsewhere, described by a `release.toml`
    #[arg(required = true, value_name = "DIR")]
    pub(crate) releases: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The policy that a release was made from; adds what needs the private source, marked internal
    #[arg(long)]
    pub(crate) policy: Option<PathBuf>,
    /// The people to look for in the audit: one row each, quasi-identifiers under their names
    #[arg(long, value_name = "FILE")]
    pub(crate) people: Option<PathBuf>,
    /// The ledger of the joint run that found the release; adds what was opened, marked internal
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
    /// Omit every panel that needs the private source, the people or the ledger, and say so
    #[arg(long)]
    pub(crate) publishable: bool,
    /// The date that the page carries [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
    /// Replace a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explore {
    /// The policy, a TOML file
    pub(crate) policy: PathBuf,
    /// Print all nodes as CSV
    #[arg(long, conflicts_with_all = ["json", "svg"])]
    pub(crate) csv: bool,
    /// Print a picture of the lattice, as SVG
    #[arg(long, conflicts_with = "json")]
    pub(crate) svg: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Check {
    /// A release directory or its address in a database; or, with --policy, a table
    #[arg(group = "what", value_name = "DIR|TABLE")]
    pub(crate) target: PathBuf,
    /// Check TABLE, or the release made by it, against the rules of this policy
    #[arg(long)]
    pub(crate) policy: Option<PathBuf>,
    /// The earlier releases of a cross-release guarantee
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with = "policy")]
    pub(crate) community: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct MeasureArguments {
    /// The release directory
    #[arg(value_name = "DIR")]
    pub(crate) release: PathBuf,
    /// The policy that the release was made from; its source is read for comparison
    #[arg(long)]
    pub(crate) policy: PathBuf,
    /// Also publish by the other methods that generalize cells, for comparison; nothing is kept
    #[arg(long)]
    pub(crate) compare: bool,
    /// How many random count queries to run on both the source and the release
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) queries: usize,
    /// Where the random queries come from: the same number gives the same queries
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// For a release of several tables: how many attributes each query constrains
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one)]
    pub(crate) query_dimension: usize,
    /// For a release of several tables: which share of an attribute's values each query selects
    #[arg(long, value_name = "SHARE", default_value_t = 0.4, value_parser = share)]
    pub(crate) value_share: f64,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "expected a whole number from 1".to_owned())
}

#[derive(Debug, Args)]
#[command(after_long_help = QUERY_HELP)]
pub(crate) struct QueryArguments {
    /// The release directory
    #[arg(value_name = "DIR")]
    pub(crate) release: PathBuf,
    /// One SELECT, in quotes
    #[arg(value_name = "SQL")]
    pub(crate) sql: String,
}

const QUERY_HELP: &str = "\
Examples:
  hedgerow query release \"SELECT COUNT(*) FROM data WHERE age >= 30 AND sex = 'F'\"
  hedgerow query release \"SELECT sex, COUNT(*) FROM data WHERE NOT age BETWEEN 20 AND 39 GROUP BY sex\"
  hedgerow query release \"SELECT AVG(age) AS mean FROM data WHERE zip LIKE '021%'\"
  hedgerow query release \"SELECT * FROM data WHERE age = '20 to 29' LIMIT 10\"

What is answered:
  SELECT    columns; COUNT(*), COUNT(column), COUNT(DISTINCT column), SUM, AVG, MIN, MAX, MEDIAN,
            QUANTILE(column, 0.9), STDDEV, STDDEV_POP, VARIANCE; or *; each with AS. Aggregates take
            + - * / and CASE WHEN … THEN … ELSE … END over columns, and may be calculated with;
            integers are divided without the fraction, as in SQLite: write age / 2.0 to keep it
  FROM      any name: the release is one table
  WHERE     a column compared with values by =, <>, <, <=, >, >=, BETWEEN, IN, LIKE, IS NULL;
            AND, OR, NOT; a label in quotes stands for all that it covers
  GROUP BY  columns: groups are labels as released
  HAVING    aggregates compared with numbers; groups that can meet it are listed, each with how it
            stands: certain, likely (by the estimates), possible
  ORDER BY  columns of the answer, or their positions; LIMIT a number

Names with characters other than letters, digits and _ go into double quotes, texts and dates into
single quotes. A missing value meets no comparison, only IS NULL. Without COUNT, SUM, AVG and
GROUP BY the rows themselves are the answer, as they were released, with the share of each that
meets the condition.";

/// Runs adversaries against the releases together. No claim of a release is trusted.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Release directories; or tables made elsewhere, described by a `release.toml`
    #[arg(required_unless_present = "catalog", value_name = "DIR")]
    pub(crate) releases: Vec<PathBuf>,
    /// Also audit all releases of this catalog; those of one custodian are compared by difference
    /// too
    #[arg(long, value_name = "DIR")]
    pub(crate) catalog: Option<PathBuf>,
    /// The people to look for: one row each, quasi-identifiers under their names; each is taken to
    /// be in every release. A file, or a table of a database
    #[arg(long, value_name = "FILE")]
    pub(crate) people: Option<PathBuf>,
    /// The policy that describes the columns of the file of people, and how its releases were made;
    /// rules may be absent
    #[arg(long)]
    pub(crate) policy: Option<PathBuf>,
    /// Only these adversaries: linker, attribute, independence, correlation, composition,
    /// intersection, definetti, minimality, difference, consistency, worlds
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = adversaries(), hide_possible_values = true)]
    pub(crate) adversary: Vec<hedgerow::Adversary>,
    /// What counts as a breach and ends with exit code 4: l=3 fails if fewer than 3 sensitive
    /// values are left for a person, k=5 if fewer than 5 rows are, confidence=0.8 if an
    /// attacker's confidence in a sensitive value is above 0.8. With commas, each of them
    /// [default: l=2]
    #[arg(long, value_name = "LIMITS", value_delimiter = ',', value_parser = limit)]
    pub(crate) fail_under: Vec<AuditLimit>,
    /// Write who is at risk to a file: row numbers of the people's table, by adversary. They are
    /// never printed
    #[arg(long, value_name = "FILE", requires = "people")]
    pub(crate) list: Option<PathBuf>,
    /// How the correlation adversary weighs what is possible: uniform as in its paper, or exact: by
    /// the number of tables behind it
    #[arg(long, value_enum, default_value_t)]
    pub(crate) weights: Weights,
    /// With --json: the whole probabilistic table of the independence adversary
    #[arg(long)]
    pub(crate) table: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Weights {
    #[default]
    Exact,
    Uniform,
}

#[derive(Debug, Args)]
pub(crate) struct CatalogArguments {
    #[command(subcommand)]
    pub(crate) what: CatalogWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogWhat {
    /// Copy a release into a catalog, which is made if it does not exist
    Add {
        /// The folder of the catalog
        catalog: PathBuf,
        /// The release directory
        release: PathBuf,
        /// What to call it there [default: the directory's name]
        #[arg(long)]
        name: Option<String>,
        /// Who published it
        #[arg(long)]
        custodian: Option<String>,
    },
    /// List the releases of a catalog
    List {
        /// The folder of the catalog
        catalog: PathBuf,
    },
    /// Show one release: method, guarantees, digest
    Show {
        /// The folder of the catalog
        catalog: PathBuf,
        /// The name of the release there
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Studio {
    /// A data file or the address of a database, a policy, or directories of releases; the policy
    /// `policy.toml` in the current directory when nothing is named
    #[arg(value_name = "DATA | POLICY | RELEASE")]
    pub(crate) named: Vec<OsString>,
    /// Listen on this port instead of any that is free
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print the address, and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Federation {
    #[command(subcommand)]
    pub(crate) what: FederationWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FederationWhat {
    /// Loss of privacy when custodians unite their items, or compute a sum, a median, a least or a
    /// greatest value: bounds, and what is measured by trying it out
    ///
    /// The loss is by how much a custodian's confidence about its neighbor exceeds that from the
    /// result alone. In the union of the ring (the `baseline` profile) a leader hides its items
    /// among dummy items, and the claims are about all items (set exposure) or one (item exposure).
    /// With `--of` they are about the neighbor's own number, its least or greatest value, or one of
    /// its values, by one neighbor alone and by both together. Under masks (the `masked` profile,
    /// the default) the loss should be 0; a median opens counts under either profile.
    #[cfg(feature = "federation")]
    Lop(Lop),
    /// Any other word is a command of `hedgerow-node`, which is a program of its own
    #[command(external_subcommand)]
    Node(Vec<OsString>),
}

/// A result that custodians compute together.
#[cfg(feature = "federation")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LopOf {
    #[default]
    Union,
    Sum,
    Median,
    Least,
    Greatest,
}

#[cfg(feature = "federation")]
#[derive(Debug, Args)]
pub(crate) struct Lop {
    /// The result that custodians compute
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub(crate) of: LopOf,
    /// How many custodians there are
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(3..=1000))]
    pub(crate) custodians: u64,
    /// How many different items or values there can be
    #[arg(long, value_name = "M", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) domain: u64,
    /// How many items or values all custodians hold together; a sum is of one number each
    #[arg(long, value_name = "C", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=500_000))]
    pub(crate) items: u64,
    /// How many dummy items a leader adds
    #[arg(long, value_name = "R", default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=500_000))]
    pub(crate) dummy_items: u64,
    /// Also compute the number of dummy items that keeps the loss at or below this
    #[arg(long, value_name = "LOSS", value_parser = share)]
    pub(crate) wanted: Option<f64>,
    /// In the ring, how likely a custodian hides its least or greatest value in the first pass
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = zero_to_one)]
    pub(crate) hiding: f64,
    /// The factor of that probability from pass to pass
    #[arg(long, value_name = "D", default_value_t = 0.5, value_parser = zero_to_one)]
    pub(crate) dampening: f64,
    /// How many passes there are; none hides in the last
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) passes: u32,
    /// How often to try
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// The same seed gives the same trials
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct RulesArguments {
    /// The policy, a TOML file
    pub(crate) policy: PathBuf,
    /// Print a picture instead, as SVG: attributes, rules as arrows, tables as hulls
    #[arg(long, conflicts_with = "json")]
    pub(crate) svg: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Synth {
    #[command(subcommand)]
    pub(crate) what: SynthWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SynthWhat {
    /// People with age, sex, education, birthplace, occupation, race, work class, marital status
    /// and income
    Census(SynthArguments),
    /// Stays in a hospital by patients who return, with traps: names under an innocent header, a
    /// column that mirrors another one, diagnoses that not everyone can have, exact amounts
    Hospital(SynthArguments),
    /// Households and the people in them, with traps: composition that neighbors know, a region
    /// that follows from the county, incomes that children lack, exact rents
    Households(SynthArguments),
    /// Tax returns of firms over several years, with traps: a district that shows the county, wages
    /// that firms without employees lack, exact amounts
    Taxes(SynthArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SynthArguments {
    /// How many rows: people, stays or tax returns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: u64,
    /// The same seed gives the same rows
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write the data (of the census also hierarchies and a policy) into this directory, instead of
    /// the data to standard output
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell to complete for
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

fn seconds(text: &str) -> Result<f64, String> {
    let limit = hedgerow::SECONDS_MAX as f64;
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= limit => Ok(seconds),
        _ => Err("expected a number of seconds above 0".to_owned()),
    }
}

/// The limit that an audit must leave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AuditLimit {
    /// The fewest sensitive values.
    L(u64),
    /// The fewest rows.
    K(u64),
    /// The highest confidence.
    Confidence(f64),
}

fn limit(text: &str) -> Result<AuditLimit, String> {
    let (name, number) = text.split_once('=').unwrap_or_default();
    let number = number.trim();
    match (name.trim(), number.parse::<u64>(), number.parse::<f64>()) {
        ("l", Ok(l), _) if l >= 1 => Ok(AuditLimit::L(l)),
        ("k", Ok(k), _) if k >= 1 => Ok(AuditLimit::K(k)),
        ("confidence", _, Ok(limit)) if limit > 0.0 && limit <= 1.0 => Ok(AuditLimit::Confidence(limit)),
        ("confidence", ..) => Err("expected confidence=SHARE above 0 and at most 1, such as confidence=0.8".to_owned()),
        _ => Err("expected l=N, k=N with a whole number of at least 1, or confidence=SHARE, such as l=3".to_owned()),
    }
}

#[cfg(feature = "federation")]
fn zero_to_one(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0 and at most 1".to_owned()),
    }
}

/// An adversary by its name, with the known names in errors and completions.
fn adversaries() -> impl TypedValueParser<Value = hedgerow::Adversary> {
    let names = hedgerow::Adversary::ALL.map(hedgerow::Adversary::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<hedgerow::Adversary>())
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    /// Every command line that the documents print has arguments that the program takes.
    #[test]
    fn documents_print_no_invalid_command_line() {
        assert!(crate::documented::parse_all::<Arguments>("hedgerow") > 60);
    }
}
