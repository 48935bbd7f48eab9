//! The classes of three nodes that publish together: daemons with certificates of their own, mutual
//! TLS over loopback, and the paper's ring between them (`profile = "baseline"`). Beside them the
//! classes of one who holds all rows, under the same policy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hedgerow_node::daemon;
use hedgerow_node::demo::free_ports;
use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::keys::{Party, make_trial};
use hedgerow_node::operator::{self, Request};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::declared_table;
use hedgerow_smc::OpenedKind;
use hedgerow_table::{Codes, Column, Domain, Table};
use serde_json::Value;
use tempfile::TempDir;

use super::adult::alone;
use crate::experiment::Trouble;

pub(super) const NAMES: [&str; 3] = ["north", "south", "west"];
pub(super) const SETTINGS: &str = "profile = \"baseline\"\ndeadlines = { silence-s = 600 }\n";
const OPERATOR: &str = "experiment";

/// No run takes longer.
const PATIENCE: Duration = Duration::from_secs(1200);
const STACK_BYTES: usize = 16 << 20;

/// k-anonymity by strict cuts over the paper's eight attributes, with all values declared.
pub(super) fn policy(k: u64) -> String {
    let hierarchies = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/adult/hierarchies");
    let names = ["sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"];
    let quasi =
        names.map(|name| format!("{name} = {{ role = \"quasi\", hierarchy = \"{hierarchies}/{name}.csv\" }}\n"));
    format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", range = [17, 90] }}\n{}\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n[publish]\nmethod = \"mondrian\"\n",
        quasi.concat()
    )
}

/// Sizes of classes where one holds all rows, over the declared values.
pub(super) fn by_one(k: u64, table: &Table) -> Result<Vec<u64>, Trouble> {
    let folder = tempfile::tempdir()?;
    let policy = Policy::parse(&policy(k), &folder.path().join("policy.toml")).map_err(|errors| errors.to_string())?;
    let declared = declared_table(&policy)?;
    let column = |Column { name, domain, .. }: &Column| -> Option<Column> {
        let own = table.column(name)?;
        let domain = Domain::new(domain.values().clone(), false);
        let codes = (0..table.rows).map(|row| domain.code_of(&own.text(row))).collect::<Option<Vec<u32>>>()?;
        let codes = Codes::from_iter(domain.cardinality(), codes);
        Some(Column { name: name.clone(), domain, codes })
    };
    let columns: Option<Vec<Column>> = declared.columns.iter().map(column).collect();
    let columns = columns.ok_or("Adult has the declared values")?;
    let whole = Table { columns, rows: table.rows, header: declared.header.clone(), warnings: Vec::new() };
    Ok(alone(&policy, &whole)?.sizes.clone())
}

/// Sizes of the classes that three nodes publish, who hold the rows in turn.
pub(super) fn by_nodes(k: u64, table: &Table) -> Result<Vec<u64>, Trouble> {
    let federation = published(k, table)?;
    sizes(&federation.nodes.homes[0].join("data/epochs/1/release/data.csv"))
}

/// By node, what its predecessor passed on while classes were found, one sum after the other: what
/// the journals say of the same run.
pub(super) fn heard_by_nodes(k: u64, table: &Table) -> Result<[Vec<u64>; 3], Trouble> {
    let federation = published(k, table)?;
    let mut heard = [const { Vec::new() }; 3];
    for (words, home) in heard.iter_mut().zip(&federation.nodes.homes) {
        read_journal(&home.join("data"), |row| {
            if row.record.what == What::Disclosed {
                passed_on(&row.record.detail.value(), words);
            }
            Ok(())
        })
        .map_err(|error| error.to_string())?;
    }
    Ok(heard)
}

/// The words of one round of the step in which classes are found.
fn passed_on(round: &Value, words: &mut Vec<u64>) {
    let entries = round["entries"].as_array().filter(|_| round["step"] == "classes");
    for entry in entries.into_iter().flatten() {
        if entry["kind"] == OpenedKind::PassedOn.describe() {
            words.extend(entry["values"].as_array().into_iter().flatten().filter_map(Value::as_u64));
        }
    }
}

/// Nodes that have published, and their folder.
struct Federation {
    nodes: Nodes,
    // Removed once the nodes have ended.
    _folder: TempDir,
}

fn published(k: u64, table: &Table) -> Result<Federation, Trouble> {
    let folder = tempfile::tempdir()?;
    let ports = free_ports(NAMES.len())?;
    let party = |(name, port): (&&str, u16)| Party::custodian(*name, format!("127.0.0.1:{port}"));
    let parties: Vec<Party> = NAMES.iter().zip(ports).map(party).collect();
    let homes = make_trial(folder.path(), &parties, "policy.toml", SETTINGS).map_err(|error| error.to_string())?;
    for (site, home) in homes.iter().enumerate() {
        fs::write(home.join("policy.toml"), policy(k))?;
        fs::write(home.join("people.csv"), rows_of(table, site))?;
    }
    let nodes = Nodes::start(homes)?;
    let proposed = nodes.ask(0, &Request::Propose { operator: OPERATOR.to_owned(), without: Vec::new() })?;
    let run = proposed["run"].as_str().ok_or("a run has a name")?.to_owned();
    for place in 0..NAMES.len() {
        let plan = nodes.until(place, |status| {
            let open = &status["open"];
            (open["run"] == *run).then(|| open["plan"].as_str().map(str::to_owned)).flatten()
        })?;
        nodes.ask(place, &Request::Approve { operator: OPERATOR.to_owned(), plan, insist: false })?;
    }
    for (place, name) in NAMES.iter().enumerate() {
        let ended = nodes
            .until(place, |status| status["ended"].as_array()?.iter().find(|ended| ended["run"] == *run).cloned())?;
        if ended["ended"] != "published" {
            return Err(format!("{name} says: {ended}").into());
        }
    }
    Ok(Federation { nodes, _folder: folder })
}

/// Rows of a release that look alike are a class: by strict cuts no two classes do.
fn sizes(path: &Path) -> Result<Vec<u64>, Trouble> {
    let text = fs::read_to_string(path)?;
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    Ok(lines.chunk_by(|one, other| one == other).map(|class| class.len() as u64).collect())
}

fn rows_of(table: &Table, site: usize) -> String {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = names.join(";") + "\n";
    for row in (site..table.rows).step_by(NAMES.len()) {
        let cells: Vec<String> = table.columns.iter().map(|column| column.text(row)).collect();
        text.push_str(&(cells.join(";") + "\n"));
    }
    text
}

/// Running nodes; they end when this is dropped.
struct Nodes {
    homes: Vec<PathBuf>,
    stop: Arc<AtomicBool>,
    running: Vec<JoinHandle<()>>,
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.running.drain(..).for_each(|node| drop(node.join()));
    }
}

impl Nodes {
    fn start(homes: Vec<PathBuf>) -> Result<Nodes, Trouble> {
        let mut nodes = Nodes { homes, stop: Arc::new(AtomicBool::new(false)), running: Vec::new() };
        for home in nodes.homes.clone() {
            let stop = Arc::clone(&nodes.stop);
            let run = move || {
                if let Err(error) = daemon::run(&home.join("node.toml"), &stop) {
                    eprintln!("a node ended: {error}");
                }
            };
            nodes.running.push(thread::Builder::new().stack_size(STACK_BYTES).spawn(run)?);
        }
        Ok(nodes)
    }

    /// Asks a node as its operator, once it listens.
    fn ask(&self, place: usize, request: &Request) -> Result<Value, Trouble> {
        let (control, until) = (self.homes[place].join("data/control"), Instant::now() + PATIENCE);
        loop {
            match operator::send(&control, request) {
                Ok(answer) => return Ok(answer.map_err(|problem| format!("{}: {problem}", NAMES[place]))?),
                Err(error) if self.running[place].is_finished() || Instant::now() > until => {
                    return Err(format!("{} does not answer: {error}", NAMES[place]).into());
                }
                Err(_) => thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn until<T>(&self, place: usize, found: impl Fn(&Value) -> Option<T>) -> Result<T, Trouble> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(found) = found(&self.ask(place, &Request::Status)?) {
                return Ok(found);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(format!("{} did not get there in {} s", NAMES[place], PATIENCE.as_secs()).into())
    }
}
