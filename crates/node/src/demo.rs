//! A trial on one machine: three hospitals with example patients, each with a node of its own,
//! which publish together; then everything is stopped and removed.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postgres::{NoTls, SimpleQueryMessage};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

use crate::disk;
use crate::journal::What;
use crate::keys::{Party, make_trial};
use crate::operator::{self, Request};
use crate::part::Common;
use crate::query;
use crate::scram::Verifier;

const NAMES: [&str; 3] = ["north", "south", "west"];
const PATIENTS: usize = 40;
const QUESTION: &str = "SELECT disease, COUNT(*) AS people FROM data WHERE age >= 60 GROUP BY disease";
const DEADLINE: Duration = Duration::from_secs(60);

const POLICY: &str = r#"[source]
path = "patients.csv"

[attributes]
name = { role = "identifier" }
age = { role = "quasi", range = [0, 99] }
sex = { role = "quasi", order = ["female", "male"] }
disease = { role = "sensitive", order = ["asthma", "diabetes", "flu", "gout"] }

[[rule]]
require = { model = "k-anonymity", k = 5 }

[[rule]]
protect = "disease"
require = { model = "distinct-l-diversity", l = 2 }

[publish]
method = "mondrian"
"#;

/// Nodes of a trial; they are stopped when this is dropped.
struct DemoNodes {
    nodes: Vec<(String, PathBuf, Child)>,
    /// Where an analyst connects, and the password.
    port: u16,
    password: String,
}

impl Drop for DemoNodes {
    fn drop(&mut self) {
        for (_, _, node) in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

/// Runs the trial with `program` as the node, and says what happens line by line.
pub fn run(program: &Path, apart: bool, keep: Option<&Path>, say: &mut dyn FnMut(&str)) -> Result<(), String> {
    let folder = match keep {
        Some(folder) => folder.to_path_buf(),
        None => std::env::temp_dir().join(format!("hedgerow-demo-{}", std::process::id())),
    };
    fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let played = play(program, apart, &folder, say);
    if keep.is_none() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    played
}

fn play(program: &Path, apart: bool, folder: &Path, say: &mut dyn FnMut(&str)) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let mut ports = free_ports(NAMES.len() + 1).map_err(text)?;
    let port = ports.pop().unwrap_or_default();
    let parties: Vec<Party> = NAMES.iter().zip(ports).map(party).collect();
    let rows = if apart { "rows = \"apart\"\n" } else { "" };
    let folders = make_trial(folder, &parties, "policy.toml", rows).map_err(|error| error.to_string())?;
    for (seed, home) in (1..).zip(&folders) {
        fs::write(home.join("policy.toml"), POLICY).map_err(text)?;
        fs::write(home.join("patients.csv"), patients(seed)).map_err(text)?;
    }
    let (password, verifier) = Verifier::generate()?;
    let settings = folders[0].join("node.toml");
    let own = fs::read_to_string(&settings).map_err(text)?;
    let analyst = format!("[[analyst]]\nname = \"ada\"\nverifier = \"{verifier}\"\n");
    let own = format!("endpoint = {{ listen = \"127.0.0.1:{port}\" }}\n{own}\n{analyst}");
    fs::write(&settings, own).map_err(text)?;
    let mut trial = DemoNodes { nodes: Vec::new(), port, password };
    for (name, home) in NAMES.iter().zip(&folders) {
        let log = fs::File::create(home.join("log")).map_err(text)?;
        let mut node = Command::new(program);
        node.arg("serve").arg(home.join("node.toml")).stderr(log).stdout(Stdio::null());
        trial.nodes.push(((*name).to_owned(), home.clone(), node.spawn().map_err(text)?));
    }
    say(&format!("{} nodes with {PATIENTS} patients each; every connection is mutual TLS", NAMES.len()));
    let run = trial.ask(0, &Request::Propose { operator: "demo".to_owned(), without: Vec::new() })?;
    say(&format!("{} proposes run {}", NAMES[0], run["run"].as_str().unwrap_or_default()));
    let plan = trial.until(0, |status| status["open"]["plan"].as_str().map(str::to_owned))?;
    say("what it can open to all three custodians:");
    let status = trial.ask(0, &Request::Status)?;
    for step in status["open"]["opens"].as_array().into_iter().flatten() {
        for kind in step["opens_to_all"].as_array().into_iter().flatten() {
            say(&format!("  {}: {}", step["step"].as_str().unwrap_or_default(), kind.as_str().unwrap_or_default()));
        }
    }
    for (place, name) in NAMES.iter().enumerate() {
        trial.until(place, |status| status["open"]["plan"].as_str().map(str::to_owned))?;
        let approve = Request::Approve { operator: "demo".to_owned(), plan: plan.clone(), insist: false };
        trial.ask(place, &approve)?;
        say(&format!("{name} approves plan {}…", &plan[..12]));
    }
    for (place, name) in NAMES.iter().enumerate() {
        let ended = |status: &Value| status["ended"].as_array().and_then(|ended| ended.first().cloned());
        let ended = trial.until(place, ended)?;
        if ended["ended"] != "published" {
            return Err(format!("{name} says: {ended}"));
        }
    }
    trial.show(say)
}

impl DemoNodes {
    fn ask(&mut self, place: usize, request: &Request) -> Result<Value, String> {
        let (name, home, node) = &mut self.nodes[place];
        let (control, until) = (home.join("data").join("control"), Instant::now() + DEADLINE);
        loop {
            match operator::send(&control, request) {
                Ok(answer) => return answer.map_err(|problem| format!("{name}: {problem}")),
                Err(error) if Instant::now() > until => return Err(format!("{name} does not answer: {error}")),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
            if node.try_wait().ok().flatten().is_some() {
                let log = fs::read_to_string(home.join("log")).unwrap_or_default();
                return Err(format!("{name} has ended:\n{log}"));
            }
        }
    }

    fn until<T>(&mut self, place: usize, found: impl Fn(&Value) -> Option<T>) -> Result<T, String> {
        let until = Instant::now() + DEADLINE;
        while Instant::now() < until {
            if let Some(found) = found(&self.ask(place, &Request::Status)?) {
                return Ok(found);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("{} did not get there in {} s", NAMES[place], DEADLINE.as_secs()))
    }

    /// The answer to the question through the endpoint.
    fn query(&self) -> Result<Vec<String>, postgres::Error> {
        let mut client = postgres::Config::new()
            .host("127.0.0.1")
            .port(self.port)
            .user("ada")
            .password(&self.password)
            .dbname("hedgerow")
            .connect_timeout(DEADLINE)
            .connect(NoTls)?;
        let mut lines = Vec::new();
        for message in client.simple_query(QUESTION)? {
            if let SimpleQueryMessage::Row(row) = message {
                if lines.is_empty() {
                    lines.push(row.columns().iter().map(|column| column.name()).collect::<Vec<_>>().join(" | "));
                }
                let cells = (0..row.len()).map(|place| row.get(place).unwrap_or(""));
                lines.push(cells.collect::<Vec<_>>().join(" | "));
            }
        }
        Ok(lines)
    }

    /// The release, and what every custodian's journal has.
    fn show(&self, say: &mut dyn FnMut(&str)) -> Result<(), String> {
        let (_, home, _) = &self.nodes[0];
        let epoch = query::folder(&home.join("data"), 1);
        let what = match Common::read(&epoch)? {
            Some(Common { classes, .. }) => {
                let rows: u64 = classes.iter().map(|class| class.rows).sum();
                let classes = classes.len();
                say(&format!(
                    "published by all; {rows} rows in {classes} classes, and each row stays at its custodian"
                ));
                "the classes with their sizes"
            }
            None => {
                let data = epoch.join("release").join("data.csv");
                let table = fs::read_to_string(&data).map_err(|error| format!("{}: {error}", data.display()))?;
                let mut lines = table.lines();
                say(&format!(
                    "published by all; {} rows, of which the first:",
                    table.lines().count().saturating_sub(1)
                ));
                lines.by_ref().take(6).for_each(|line| say(&format!("  {line}")));
                "the release"
            }
        };
        say(&format!("an analyst connects to {} as to PostgreSQL: {QUESTION}", NAMES[0]));
        self.query().map_err(|error| error.to_string())?.iter().for_each(|line| say(&format!("  {line}")));
        for (name, home, _) in &self.nodes {
            let (mut entries, mut values) = (0u64, 0u64);
            let count = |line: &disk::JournalRow| {
                if line.record.what == What::Disclosed {
                    let detail = line.record.detail.value();
                    let round = detail["entries"].as_array().map_or(&[][..], Vec::as_slice);
                    let opened = |entry: &serde_json::Value| entry["values"].as_array().map_or(0, Vec::len) as u64;
                    entries += round.len() as u64;
                    values += round.iter().map(opened).sum::<u64>();
                }
                Ok(())
            };
            let (rows, _) = disk::read_journal(&home.join("data"), count).map_err(|error| error.to_string())?;
            say(&format!(
                "{name} has seen {what}, and {values} numbers over the rows of all three custodians together, and no \
                 row of another custodian otherwise: {entries} entries of its journal list these numbers"
            ));
            say(&format!("  its journal has {rows} rows, and its chain of hashes is unbroken"));
        }
        Ok(())
    }
}

fn party((name, port): (&&str, u16)) -> Party {
    Party::custodian(*name, format!("127.0.0.1:{port}"))
}

/// Ports that are free at the moment.
pub fn free_ports(count: usize) -> std::io::Result<Vec<u16>> {
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// Invented people.
fn patients(seed: u64) -> String {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut text = "name,age,sex,disease\n".to_owned();
    for number in 1..=PATIENTS {
        let sex = ["female", "male"][rng.random_range(0..2)];
        let disease = ["asthma", "diabetes", "flu", "gout"][rng.random_range(0..4)];
        text.push_str(&format!("patient {seed}-{number},{},{sex},{disease}\n", rng.random_range(18..95)));
    }
    text
}
