//! The operator's way to a node: a socket in the node's folder, which only its owner can open. One
//! line of JSON in, one out.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::thread;
use std::time::Duration;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::command::Command;
use crate::event::Event;
use crate::journal::SQL_CHARACTERS_MAX;
use crate::part::Common;
use crate::query::{self, Asks, Queried, STACK_BYTES};

const REQUEST_BYTES_MAX: u64 = 1 << 16;
const ANSWER_BYTES_MAX: u64 = 1 << 26;
/// For a request to be written, and for its answer: approving may read all rows.
const REQUEST_TIME: Duration = Duration::from_secs(10);
const ANSWER_TIME: Duration = Duration::from_secs(300);
/// Questions at once.
const QUESTIONS_MAX: usize = 8;

/// A command as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    Status,
    Propose {
        operator: String,
        without: Vec<String>,
    },
    Approve {
        operator: String,
        plan: String,
        insist: bool,
    },
    Withdraw {
        operator: String,
    },
    Resolve {
        operator: String,
        why: String,
    },
    /// Over the release of an epoch, or, where rows are apart, to all custodians.
    Query {
        operator: String,
        epoch: u64,
        sql: String,
    },
    /// Read settings, certificates and revocation lists again.
    Reload {
        operator: String,
    },
}

/// A request of an operator to the daemon.
#[derive(Debug)]
pub enum Order {
    Node(Command),
    Reload { operator: String },
}

/// A command, and where its answer goes.
#[derive(Debug)]
pub struct OperatorRequest {
    pub order: Order,
    pub answer: Sender<Result<Value, String>>,
}

/// Where commands and questions go.
#[derive(Debug, Clone)]
pub struct Towards {
    pub commands: SyncSender<OperatorRequest>,
    pub events: SyncSender<Event>,
    /// The node's folder, which has the releases.
    pub data: PathBuf,
}

/// Takes commands; an error when another node runs in the same folder.
pub fn listen(path: &Path, towards: Towards) -> io::Result<()> {
    if UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "a node is running in this folder"));
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let serve = move || {
        let questions = Arc::new(AtomicUsize::new(0));
        for stream in listener.incoming().flatten() {
            // One after the other, since there is one operator; but others answer questions too.
            let _ = serve_one(stream, &towards, &questions);
        }
    };
    thread::Builder::new().name("operator".to_owned()).spawn(serve).map(|_| ())
}

fn serve_one(stream: UnixStream, towards: &Towards, questions: &Arc<AtomicUsize>) -> io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIME))?;
    stream.set_write_timeout(Some(REQUEST_TIME))?;
    let mut line = String::new();
    BufReader::new(&stream).take(REQUEST_BYTES_MAX).read_line(&mut line)?;
    let result = match serde_json::from_str::<Request>(&line) {
        Ok(Request::Query { operator, epoch, sql }) => {
            let open = QuestionPermit::one_of(questions);
            let Some(open) = open else { return reply(&stream, Err("too many questions at once".to_owned())) };
            let towards = towards.clone();
            let answer = move || {
                let _open = open;
                let _ = reply(&stream, towards.query(&operator, epoch, &sql));
            };
            return thread::Builder::new().stack_size(STACK_BYTES).spawn(answer).map(|_| ());
        }
        Ok(request) => towards.answer(request),
        Err(_) => Err("not a command of this version".to_owned()),
    };
    reply(&stream, result)
}

fn reply(mut stream: &UnixStream, result: Result<Value, String>) -> io::Result<()> {
    let answer = match result {
        Ok(value) => json!({ "done": value }),
        Err(problem) => json!({ "refused": problem }),
    };
    writeln!(stream, "{answer}")
}

/// One of the questions at once; counts down also when a thread panics.
struct QuestionPermit(Arc<AtomicUsize>);

impl QuestionPermit {
    fn one_of(questions: &Arc<AtomicUsize>) -> Option<QuestionPermit> {
        let before = questions.fetch_add(1, Ordering::SeqCst);
        Some(QuestionPermit(Arc::clone(questions))).filter(|_| before < QUESTIONS_MAX)
    }
}

impl Drop for QuestionPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Towards {
    fn query(&self, operator: &str, epoch: u64, sql: &str) -> Result<Value, String> {
        let gone = |_| "the node is ending".to_owned();
        if Common::read(&query::folder(&self.data, epoch))?.is_none() {
            let shown = sql.chars().take(SQL_CHARACTERS_MAX).collect();
            let queried = Queried { who: operator.to_owned(), epoch, sql: shown };
            self.events.send(Event::Queried(queried)).map_err(gone)?;
            return query::answer(&self.data, epoch, sql);
        }
        let (asks, asker) = Asks::new(operator, epoch, sql);
        self.events.send(Event::Asks(asks)).map_err(gone)?;
        let totals = asker.wait(ANSWER_TIME, || false).map_err(|why| why.to_string())?;
        query::answer_totals(&totals, epoch, sql)
    }

    fn answer(&self, request: Request) -> Result<Value, String> {
        let gone = || "the node is ending".to_owned();
        let order = match request {
            Request::Query { operator, epoch, sql } => return self.query(&operator, epoch, &sql),
            Request::Status => Order::Node(Command::Status),
            Request::Propose { operator, without } => Order::Node(Command::Propose { operator, without }),
            Request::Approve { operator, plan, insist } => Order::Node(Command::Approve { operator, plan, insist }),
            Request::Withdraw { operator } => Order::Node(Command::Withdraw { operator }),
            Request::Reload { operator } => Order::Reload { operator },
            Request::Resolve { operator, why } => Order::Node(Command::Resolve { operator, why }),
        };
        let (answer, answered) = channel();
        self.commands.send(OperatorRequest { order, answer }).map_err(|_| gone())?;
        // A thread that has other events looks for commands after each.
        let _ = self.events.try_send(Event::Commanded);
        answered.recv_timeout(ANSWER_TIME).map_err(|_| gone())?
    }
}

/// Sends one command to the node of a folder.
pub fn send(path: &Path, request: &Request) -> io::Result<Result<Value, String>> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    stream.set_write_timeout(Some(REQUEST_TIME))?;
    writeln!(&stream, "{}", serde_json::to_string(request)?)?;
    let mut line = String::new();
    BufReader::new(&stream).take(ANSWER_BYTES_MAX).read_line(&mut line)?;
    let mut answer: Value = serde_json::from_str(&line)?;
    Ok(match answer.get("refused").and_then(Value::as_str) {
        Some(problem) => Err(problem.to_owned()),
        None => Ok(answer["done"].take()),
    })
}
