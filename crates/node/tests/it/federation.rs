//! Real node processes on this machine, which are stopped when the test ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hedgerow_node::demo::free_ports;
use hedgerow_node::keys::{Party, PartyRole, make_trial};
use hedgerow_node::operator::{self, Request};
use serde_json::Value;

/// No test waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) const POLICY: &str = r#"[source]
path = "people.csv"
[attributes]
name = { role = "identifier" }
age = { role = "quasi", range = [0, 99] }
sex = { role = "quasi", order = ["female", "male"] }
disease = { role = "sensitive", order = ["asthma", "diabetes", "flu", "gout"] }
[[rule]]
require = { model = "k-anonymity", k = 3 }
[[rule]]
protect = "disease"
require = { model = "distinct-l-diversity", l = 2 }
[publish]
method = "mondrian"
"#;

pub(crate) struct Federation {
    folder: tempfile::TempDir,
    pub(crate) names: Vec<String>,
    pub(crate) ports: Vec<u16>,
    nodes: Vec<Option<Child>>,
    /// How long something may take.
    pub(crate) patience: Duration,
}

impl Drop for Federation {
    fn drop(&mut self) {
        let failed = std::thread::panicking();
        for place in 0..self.names.len() {
            self.kill(place);
            if failed {
                eprintln!("log of {}:\n{}", self.names[place], self.log(place));
            }
        }
    }
}

impl Federation {
    /// Nodes with these rows, not started; `more` goes into the settings of each.
    pub(crate) fn new(policy: &str, parts: &[String], more: &str) -> Federation {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..parts.len()).map(|place| format!("site-{place}")).collect();
        let ports = free_ports(parts.len()).unwrap();
        let custodians = names.iter().zip(&ports);
        let mut parties: Vec<Party> =
            custodians.map(|(name, port)| Party::custodian(name, format!("127.0.0.1:{port}"))).collect();
        parties.push(Party { name: "analyst".to_owned(), place: PartyRole::Analyst });
        make_trial(folder.path(), &parties, "policy.toml", more).unwrap();
        for (name, rows) in names.iter().zip(parts) {
            fs::write(folder.path().join(name).join("policy.toml"), policy).unwrap();
            fs::write(folder.path().join(name).join("people.csv"), rows).unwrap();
        }
        let nodes = names.iter().map(|_| None).collect();
        Federation { folder, names, ports, nodes, patience: PATIENCE }
    }

    pub(crate) fn started(policy: &str, parts: &[String], more: &str) -> Federation {
        let mut federation = Federation::new(policy, parts, more);
        (0..parts.len()).for_each(|place| federation.start(place));
        federation
    }

    pub(crate) fn home(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data(&self, place: usize) -> PathBuf {
        self.home(&self.names[place]).join("data")
    }

    pub(crate) fn log(&self, place: usize) -> String {
        fs::read_to_string(self.home(&self.names[place]).join("log")).unwrap_or_default()
    }

    pub(crate) fn start(&mut self, place: usize) {
        self.start_program(place, Path::new(env!("CARGO_BIN_EXE_hedgerow-node")));
    }

    /// The node of a place as another program, such as one of another version.
    pub(crate) fn start_program(&mut self, place: usize, program: &Path) {
        let home = self.home(&self.names[place]);
        let log = fs::OpenOptions::new().create(true).append(true).open(home.join("log")).unwrap();
        let mut command = Command::new(program);
        command.arg("serve").arg(home.join("node.toml")).stdout(Stdio::null()).stderr(log);
        self.nodes[place] = Some(command.spawn().unwrap());
    }

    /// Takes a process for the node of a place, as if it had started it.
    pub(crate) fn adopt(&mut self, place: usize, node: Child) {
        self.nodes[place] = Some(node);
    }

    /// Gives it back.
    pub(crate) fn release(&mut self, place: usize) -> Child {
        self.nodes[place].take().unwrap()
    }

    /// As `kill -9` does.
    pub(crate) fn kill(&mut self, place: usize) {
        if let Some(mut node) = self.nodes[place].take() {
            let _ = node.kill();
            let _ = node.wait();
        }
    }

    pub(crate) fn signal(&self, place: usize, signal: &str) {
        let id = self.nodes[place].as_ref().unwrap().id();
        let status = Command::new("sh").args(["-c", &format!("kill {signal} {id}")]).status();
        assert!(status.unwrap().success());
    }

    /// Ends it in good order, and waits until it has.
    pub(crate) fn stop(&mut self, place: usize) {
        self.signal(place, "-TERM");
        let mut node = self.nodes[place].take().unwrap();
        let until = Instant::now() + PATIENCE;
        while node.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "the node does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn ask(&self, place: usize, request: &Request) -> Result<Value, String> {
        let (control, until) = (self.data(place).join("control"), Instant::now() + PATIENCE);
        loop {
            match operator::send(&control, request) {
                Ok(answer) => return answer,
                Err(error) => assert!(Instant::now() < until, "{} does not answer: {error}", self.names[place]),
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Has a node read its settings again.
    pub(crate) fn reload(&self, place: usize) -> Result<Value, String> {
        self.ask(place, &Request::Reload { operator: "tester".to_owned() })
    }

    pub(crate) fn status(&self, place: usize) -> Value {
        self.ask(place, &Request::Status).unwrap()
    }

    pub(crate) fn until<T>(&self, place: usize, what: &str, found: impl Fn(&Value) -> Option<T>) -> T {
        let until = Instant::now() + self.patience;
        loop {
            let status = self.status(place);
            if let Some(found) = found(&status) {
                return found;
            }
            assert!(Instant::now() < until, "{} waits in vain for {what}: {status:#}", self.names[place]);
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    pub(crate) fn propose(&self, place: usize) -> String {
        let run = self.ask(place, &Request::Propose { operator: "tester".to_owned(), without: Vec::new() }).unwrap();
        run["run"].as_str().unwrap().to_owned()
    }

    pub(crate) fn plan(&self, place: usize, run: &str) -> String {
        self.until(place, "a plan", |status| {
            let open = &status["open"];
            (open["run"] == run).then(|| open["plan"].as_str().map(str::to_owned)).flatten()
        })
    }

    pub(crate) fn approve(&self, place: usize, plan: &str) -> Result<Value, String> {
        self.ask(place, &Request::Approve { operator: "tester".to_owned(), plan: plan.to_owned(), insist: false })
    }

    /// How a run ended at a node.
    pub(crate) fn ending(&self, place: usize, run: &str) -> Value {
        self.until(place, "the end of the run", |status| {
            let mut ended = status["ended"].as_array()?.iter();
            ended.find(|ended| ended["run"] == run).cloned()
        })
    }

    /// Proposes, approves everywhere, and waits for the end at every node.
    pub(crate) fn run(&self, by: usize) -> Vec<Value> {
        self.run_at(by, self.names.len())
    }

    /// The same with the first nodes alone.
    pub(crate) fn run_at(&self, by: usize, nodes: usize) -> Vec<Value> {
        self.run_insisting(by, nodes, false)
    }

    /// The same, although rows were in other runs.
    pub(crate) fn run_insisting(&self, by: usize, nodes: usize, insist: bool) -> Vec<Value> {
        let run = self.propose(by);
        for place in 0..nodes {
            let plan = self.plan(place, &run);
            self.ask(place, &Request::Approve { operator: "tester".to_owned(), plan, insist }).unwrap();
        }
        (0..nodes).map(|place| self.ending(place, &run)).collect()
    }

    /// No identifier, and nothing of another's rows, is in any file of a node but its source.
    pub(crate) fn assert_no_canary(&self, place: usize) {
        let mut folders = vec![self.home(&self.names[place])];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name().unwrap() != "people.csv" {
                    let bytes = fs::read(&path).unwrap();
                    assert!(!bytes.windows(7).any(|window| window == b"Canary-"), "{}", path.display());
                }
            }
        }
    }

    /// The lines of a published table, sorted.
    pub(crate) fn released(&self, place: usize, epoch: u64) -> Vec<String> {
        lines(&self.data(place).join("epochs").join(epoch.to_string()).join("release").join("data.csv"))
    }
}

pub(crate) fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[1..].sort_unstable();
    lines
}

/// Rows dealt to custodians in turn, with their header.
pub(crate) fn dealt(header: &str, rows: &[String], sites: usize) -> Vec<String> {
    let part = |site: usize| {
        let own = rows.iter().skip(site).step_by(sites).map(String::as_str);
        std::iter::once(header).chain(own).map(|line| format!("{line}\n")).collect()
    };
    (0..sites).map(part).collect()
}

/// Some synthetic people for each of several sites.
pub(crate) fn people(sites: usize) -> Vec<String> {
    let diseases = ["asthma", "diabetes", "flu", "gout"];
    let person = |site: usize, number: usize| {
        let mixed = site * 31 + number * 17;
        let sex = if mixed.is_multiple_of(3) { "male" } else { "female" };
        format!("Canary-{site}-{number},{},{sex},{}\n", 20 + mixed * 7 % 70, diseases[mixed % 4])
    };
    let part = |site: usize| (0..12 + site).map(|number| person(site, number)).collect::<String>();
    (0..sites).map(|site| format!("name,age,sex,disease\n{}", part(site))).collect()
}
