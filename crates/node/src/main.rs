//! `hedgerow-node`: a custodian's daemon, and its operator's commands.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, Parser, Subcommand};
use hedgerow_node::agreement::Agreement;
use hedgerow_node::keys::{self, Party, PartyRole, make_trial};
use hedgerow_node::operator::{self, Request};
use hedgerow_node::settings::Settings;
use hedgerow_node::terms::Terms;
use hedgerow_node::{Verifier, daemon, demo, disk, export, hex, key_files};
use hedgerow_table::InputError;
use serde_json::Value;

#[cfg(test)]
#[path = "../../cli/src/documented.rs"]
mod documented;
mod log;

#[derive(Debug, Parser)]
#[command(name = "hedgerow-node", version, about = "Publishes together with other custodians")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run this custodian's node until it is interrupted
    #[command(visible_alias = "node")]
    Serve(Serve),
    /// Make an authority, certificates and settings for a trial, or a key for real use
    Keys(Keys),
    /// Make a password for an analyst, with its verifier for the settings
    Password(Password),
    /// Check that this custodian's rows fit what its policy declares
    Check(Config),
    /// Print what this custodian agrees to, for another custodian to compare
    Terms(Config),
    /// Show where two custodians' policies and settings differ
    Diff(Diff),
    /// Propose a run to all custodians
    Propose(Propose),
    /// Approve the proposed plan, by its digest in `status`
    Approve(Approve),
    /// Give up the open run, before this node has staged its release
    Withdraw(Operated),
    /// Give up a run that stays in doubt; others may have published it
    Resolve(Resolve),
    /// Show the open run, what it would open, and how earlier runs ended
    Status(Config),
    /// Read settings, certificates and revocation lists again, without a restart
    Reload(Operated),
    /// Answer one SELECT over the release of an epoch
    Query(QueryCommand),
    /// Verify the journal's chain and list it
    Journal(Journal),
    /// Three nodes on this machine publish example patients, and show what each of them saw
    Demo(Demo),
}

#[derive(Debug, Args)]
struct Config {
    /// The node's settings
    #[arg(value_name = "NODE.TOML")]
    config: PathBuf,
}

#[derive(Debug, Args)]
struct Diff {
    /// A node's settings, or what `terms` printed
    first: PathBuf,
    /// Another custodian's
    second: PathBuf,
}

#[derive(Debug, Args)]
struct Serve {
    #[command(flatten)]
    config: Config,
    /// How the log on standard error is written
    #[arg(long, value_enum, default_value_t)]
    log: log::LogFormat,
    /// From which level on
    #[arg(long, value_enum, default_value_t)]
    log_level: log::LogLevel,
}

#[derive(Debug, Args)]
struct Operated {
    #[command(flatten)]
    config: Config,
    /// Who you are: written into the journal [default: $USER]
    #[arg(long, value_name = "NAME")]
    operator: Option<String>,
}

#[derive(Debug, Args)]
struct Propose {
    #[command(flatten)]
    operated: Operated,
    /// A custodian that takes no part
    #[arg(long, value_name = "NAME")]
    without: Vec<String>,
}

#[derive(Debug, Args)]
struct Approve {
    #[command(flatten)]
    operated: Operated,
    /// The digest of the plan, or at least 32 digits of it; without it, the plan is shown and you
    /// confirm it
    plan: Option<String>,
    /// Approve although rows of this custodian were in another run; `status` shows what the
    /// difference discloses
    #[arg(long)]
    insist: bool,
}

#[derive(Debug, Args)]
struct Resolve {
    #[command(flatten)]
    operated: Operated,
    /// Why: written into the journal with your name and what the other custodians signed
    #[arg(long, value_name = "TEXT")]
    why: String,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Keys {
    #[command(subcommand)]
    verb: Option<KeyVerb>,
    #[command(flatten)]
    trial: Option<TrialCommand>,
}

#[derive(Debug, Args)]
struct TrialCommand {
    /// Where the folders of all parties are made
    folder: PathBuf,
    /// A custodian, and where it listens
    #[arg(required = true, value_name = "NAME=HOST:PORT")]
    custodians: Vec<String>,
    /// An analyst
    #[arg(long, value_name = "NAME")]
    analyst: Vec<String>,
    /// An auditor
    #[arg(long, value_name = "NAME")]
    auditor: Vec<String>,
    /// The policy as every node's settings name it
    #[arg(long, value_name = "POLICY", default_value = "policy.toml")]
    policy: String,
}

#[derive(Debug, Subcommand)]
enum KeyVerb {
    /// Make a private key, and a request for a certificate that the authority signs
    Csr {
        /// What the others call this party
        name: String,
        /// Where the private key is, or is made
        #[arg(long, value_name = "FILE", default_value = "private.key")]
        key: PathBuf,
        /// Where the request is written
        #[arg(long, value_name = "FILE", default_value = "request.csr")]
        out: PathBuf,
        /// A host under which analysts connect, as they write it
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
        /// Of a custodian: where the key that it signs with is, or is made
        #[arg(long, value_name = "FILE")]
        signing_key: Option<PathBuf>,
    },
    /// Print the fingerprint that other parties pin
    Fingerprint {
        /// A certificate or a private key
        file: PathBuf,
    },
    /// Make a new key beside the one in use; with --install, use it
    Rotate {
        #[command(flatten)]
        config: Config,
        /// The certificate for the new key is there, with the ending `.new`
        #[arg(long)]
        install: bool,
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct Password {
    /// The analyst's name
    name: String,
}

#[derive(Debug, Args)]
struct Journal {
    #[command(flatten)]
    config: Config,
    /// Also list every value that runs opened
    #[arg(long)]
    values: bool,
    /// Only the signed heads: of this journal, and the last that every peer signed
    #[arg(long)]
    heads: bool,
    /// Look this journal's rows up in heads that another custodian exported
    #[arg(long, value_name = "HEADS.JSON")]
    against: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct QueryCommand {
    #[command(flatten)]
    operated: Operated,
    /// As for `hedgerow query`; the table is `data`
    sql: String,
    /// The number of a published run [default: the last]
    #[arg(long, value_name = "N")]
    epoch: Option<u64>,
}

#[derive(Debug, Args)]
struct Demo {
    /// With rows that stay at their custodians
    #[arg(long)]
    apart: bool,
    /// Keep everything in this new folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    // A panic's message may carry a value from the private table, so only its place is printed.
    std::panic::set_hook(Box::new(|panic| {
        // `println!` panics where the reader is gone, as in `journal NODE.TOML | head`, or the disk
        // is full.
        let text = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if let Some(why) = text.strip_prefix("failed printing to stdout: ") {
            if !why.starts_with("Broken pipe") {
                eprintln!("error: standard output: {why}");
            }
            std::process::exit(1);
        }
        let place = panic.location().map_or(String::new(), |at| format!(" at {}:{}", at.file(), at.line()));
        eprintln!("error: internal error{place} (this is a bug in hedgerow)");
    }));
    match run(Arguments::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<(), String> {
    match verb {
        Verb::Serve(Serve { config: Config { config }, log, log_level }) => {
            log::start(log, log_level)?;
            serve(&config)
        }
        Verb::Keys(keys) => make_keys(&keys),
        Verb::Password(Password { name }) => {
            let (password, verifier) = Verifier::generate()?;
            println!("[[analyst]]\nname = {name:?}\nverifier = {verifier:?}\n");
            println!("# the lines above are for node.toml; the analyst's password, shown once: {password}");
            Ok(())
        }
        Verb::Check(Config { config }) => check(&config),
        Verb::Terms(Config { config }) => {
            let text = serde_json::to_string_pretty(&agreement(&config)?).map_err(|error| error.to_string())?;
            println!("{text}");
            Ok(())
        }
        Verb::Diff(diff) => show_differences(&diff),
        Verb::Propose(Propose { operated: Operated { config, operator }, without }) => {
            ask(&config, &Request::Propose { operator: name(operator)?, without })
        }
        Verb::Approve(Approve { operated: Operated { config, operator }, plan, insist }) => {
            let plan = match plan {
                Some(plan) => plan,
                None => confirmed(&config)?,
            };
            ask(&config, &Request::Approve { operator: name(operator)?, plan, insist })
        }
        Verb::Resolve(Resolve { operated: Operated { config, operator }, why }) => {
            ask(&config, &Request::Resolve { operator: name(operator)?, why })
        }
        Verb::Withdraw(Operated { config, operator }) => ask(&config, &Request::Withdraw { operator: name(operator)? }),
        Verb::Reload(Operated { config, operator }) => ask(&config, &Request::Reload { operator: name(operator)? }),
        Verb::Status(config) => ask(&config, &Request::Status),
        Verb::Query(query) => answer(&query),
        Verb::Journal(journal) => list(&journal),
        Verb::Demo(Demo { apart, keep }) => {
            let own = std::env::current_exe().map_err(|error| error.to_string())?;
            demo::run(&own, apart, keep.as_deref(), &mut |line| println!("{line}"))
        }
    }
}

fn serve(config: &Path) -> Result<(), String> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    ctrlc::set_handler(move || set.store(true, Ordering::SeqCst)).map_err(|error| error.to_string())?;
    daemon::run(config, &stop).map_err(|error| error.to_string())
}

fn settings(config: &Path) -> Result<Settings, String> {
    Settings::load(config).map_err(|errors| errors.to_string())
}

fn name(operator: Option<String>) -> Result<String, String> {
    let known = operator.or_else(|| std::env::var("USER").ok()).filter(|name| !name.trim().is_empty());
    known.ok_or_else(|| "no operator is named\nhint: give --operator NAME".to_owned())
}

fn ask(Config { config }: &Config, request: &Request) -> Result<(), String> {
    print(&send(&settings(config)?, request)?)
}

/// Shows what waits for approval, and gives its digest when the operator confirms it.
fn confirmed(Config { config }: &Config) -> Result<String, String> {
    let status = send(&settings(config)?, &Request::Status)?;
    let plan = status["open"]["plan"].as_str().ok_or("no plan waits for approval: see `status`")?.to_owned();
    print(&status["open"])?;
    eprint!("approve this plan? type `yes`: ");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
    if line.trim() == "yes" { Ok(plan) } else { Err("not approved".to_owned()) }
}

fn send(settings: &Settings, request: &Request) -> Result<Value, String> {
    let control = settings.data.join("control");
    operator::send(&control, request)
        .map_err(|error| format!("{}: {error}\nhint: is the node running? `serve` starts it", control.display()))?
}

fn print(value: &Value) -> Result<(), String> {
    println!("{}", serde_json::to_string_pretty(value).map_err(|error| error.to_string())?);
    Ok(())
}

fn answer(QueryCommand { operated: Operated { config, operator }, sql, epoch }: &QueryCommand) -> Result<(), String> {
    let settings = settings(&config.config)?;
    // A node in doubt does not know which epoch is the last.
    let last = send(&settings, &Request::Status)?["epoch"].as_u64();
    let last = last.ok_or("no epoch to answer from: nothing is published, or a run is in doubt (see `status`)")?;
    match epoch.unwrap_or(last) {
        epoch if epoch > last => Err(format!("epoch {epoch} is not published\nhint: the last one is {last}")),
        epoch => {
            let operator = name(operator.clone()).unwrap_or_else(|_| "an operator without a name".to_owned());
            let sql = sql.clone();
            print(&send(&settings, &Request::Query { operator, epoch, sql })?)
        }
    }
}

fn check(config: &Path) -> Result<(), String> {
    let terms = Terms::load(&settings(config)?).map_err(|error| error.to_string())?;
    for InputError { place, problem, hint, .. } in terms.warnings().map_err(|error| error.to_string())? {
        eprintln!("warning: {place}: {problem}\nhint: {hint}");
    }
    let rows = terms.read_rows().map_err(|error| error.to_string())?.rows();
    println!("{rows} rows fit what is agreed on");
    Ok(())
}

/// From settings, or from a file that `terms` made.
fn agreement(path: &Path) -> Result<Agreement, String> {
    if path.extension().is_some_and(|extension| extension == "json") {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let wrong = |_| format!("{}: not made by `terms` of this version", path.display());
        return serde_json::from_str(&text).map_err(wrong);
    }
    let settings = settings(path)?;
    let terms = Terms::load(&settings).map_err(|error| error.to_string())?;
    Ok(Agreement::new(&terms.agreed, settings.profile))
}

fn show_differences(Diff { first, second }: &Diff) -> Result<(), String> {
    let differences = agreement(first)?.differences(&agreement(second)?);
    match differences.as_slice() {
        [] => {
            println!("the terms are the same");
            Ok(())
        }
        lines => Err(format!("the terms differ:\n  {}", lines.join("\n  "))),
    }
}

fn make_keys(keys: &Keys) -> Result<(), String> {
    match (&keys.verb, &keys.trial) {
        (Some(verb), _) => make_key(verb),
        (None, Some(trial)) => make_trial_keys(trial),
        (None, None) => Err("`keys` needs a folder and custodians, or csr, fingerprint or rotate".to_owned()),
    }
}

fn make_key(verb: &KeyVerb) -> Result<(), String> {
    let show = |made: &key_files::KeyRequest| {
        println!("private key: {}", made.key.display());
        println!("request for the authority: {}", made.request.display());
        println!("fingerprint for the others' settings: {}", hex::encode(&made.fingerprint));
    };
    let text = |error: keys::KeysError| error.to_string();
    match verb {
        KeyVerb::Csr { name, key, out, host, signing_key } => {
            show(&key_files::request(name, host, key, out).map_err(text)?);
            if let Some(path) = signing_key {
                let public = key_files::signing_key(path).map_err(text)?;
                println!("signing key: {}", path.display());
                println!("its public key for the others' settings: {}", hex::encode(&public));
            }
        }
        KeyVerb::Fingerprint { file } => println!("{}", hex::encode(&key_files::fingerprint(file).map_err(text)?)),
        KeyVerb::Rotate { config, install: false, host } => {
            let settings = settings(&config.config)?;
            show(&key_files::rotate(&settings, host).map_err(text)?);
            println!("next: have it signed, put the certificate at {}.new,", settings.certificate.display());
            println!(
                "tell all custodians the fingerprint, and run `keys rotate --install` and `reload` between two runs"
            );
        }
        KeyVerb::Rotate { config, install: true, .. } => {
            let fingerprint = key_files::install(&settings(&config.config)?).map_err(text)?;
            println!("installed: {}; `reload` makes the node use it", hex::encode(&fingerprint));
        }
    }
    Ok(())
}

fn make_trial_keys(keys: &TrialCommand) -> Result<(), String> {
    let custodian = |text: &String| {
        let (name, address) = text.split_once('=').ok_or(format!("{text}: expected NAME=HOST:PORT"))?;
        Ok(Party::custodian(name, address))
    };
    let mut parties = keys.custodians.iter().map(custodian).collect::<Result<Vec<_>, String>>()?;
    let party = |place: PartyRole| move |name: &String| Party { name: name.clone(), place: place.clone() };
    parties.extend(keys.analyst.iter().map(party(PartyRole::Analyst)));
    parties.extend(keys.auditor.iter().map(party(PartyRole::Auditor)));
    let folders = make_trial(&keys.folder, &parties, &keys.policy, "").map_err(|error| error.to_string())?;
    folders.iter().for_each(|folder| println!("{}", folder.display()));
    println!("each party keeps its own folder; for real use every custodian makes its own private key");
    Ok(())
}

fn list(journal: &Journal) -> Result<(), String> {
    let settings = settings(&journal.config.config)?;
    let data = &settings.data;
    let key = keys::read_signing_key(&settings.signing_key).map_err(|error| error.to_string())?;
    if journal.heads {
        return print(&export::heads(data, &settings.name, &key)?);
    }
    if !journal.against.is_empty() {
        for path in &journal.against {
            println!("{}", export::look_up(data, &settings.name, &key.public(), path)?);
        }
        return Ok(());
    }
    let print = |line: &disk::JournalRow| {
        let record = &line.record;
        if journal.values || record.what != hedgerow_node::journal::What::Disclosed {
            let run = record.run.map_or(Value::Null, |run| Value::from(run.to_string()));
            let at = hedgerow_node::clock::text(record.at);
            let (what, who, detail) = (record.what.name(), &record.who, &record.detail);
            let row = serde_json::json!({ "number": line.number, "at": at, "what": what, "run": run, "who": who,
                                          "detail": detail.value(), "hash": line.hash });
            println!("{row}");
        }
        Ok(())
    };
    let (rows, hash) = disk::read_signed_journal(data, &key.public(), print).map_err(|error| error.to_string())?;
    println!("{{\"rows\":{rows},\"hash\":\"{hash}\",\"chain\":\"whole\",\"head\":\"signed\"}}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    /// Every command line that the documents print has arguments that the program takes.
    #[test]
    fn documents_print_no_invalid_command_line() {
        assert!(crate::documented::parse_all::<Arguments>("hedgerow-node") > 30);
    }
}
