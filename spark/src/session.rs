//! A session with a cluster: statements, tables that are sent there, rows that come back.
//!
//! The client waits for a server that is gone for many minutes. So it works on a thread of its own,
//! and the calling thread checks whether the server still answers and the caller has not canceled.

use std::collections::HashMap;
use std::net::{TcpStream, ToSocketAddrs};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use hedgerow_config::ClusterAddress;
use hedgerow_table::{Progress, TableError};
use spark_connect::row::Value;
use spark_connect::{DataType, SparkError, SparkSession};
use spark_connect_core::{ChannelBuilder, SparkConnectClient, block_on};
use spark_connect_proto::Relation;

use crate::failure::{failure, lost, unresolved};
use crate::{local, sql, stream};

/// How long a cluster that does not answer is waited for.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Between two looks at whether to go on, and between two at whether the cluster answers.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const PROBE_EVERY: Duration = Duration::from_secs(4);
const PORT: u16 = 15_002;
/// Parts of an answer that wait to be taken.
const BATCHES_WAITING: usize = 4;
/// Rows and bytes of texts of a table that are sent at once: a message has a limit of 128 MiB.
const SENT_ROWS: usize = 1 << 17;
const SENT_BYTES: usize = 16 << 20;

/// A connection to a cluster. Everything in it is temporary and ends with it.
pub struct Session {
    spark: SparkSession,
    /// In the same session: for whatever is executed.
    client: Arc<SparkConnectClient>,
    address: String,
    place: String,
    views: AtomicU32,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Session {
    /// Connects to a Spark Connect server.
    pub fn open(address: &ClusterAddress) -> Result<Session, TableError> {
        let place = address.to_string();
        let (host, _) = host_of(address);
        let answers = |within: Duration| is_there(&host, within);
        if !answers(ANSWER_WITHIN) {
            let problem = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "no Spark Connect server answers");
            return Err(TableError::Io { path: place.into(), source: problem });
        }
        let (client, spark) = connect(address.danger_text()).map_err(|_| {
            let hint = "write it as `sc://host:15002`, with `/;use_ssl=true` where a token is sent";
            TableError::input(&place, "the client does not accept the address", hint)
        })?;
        Ok(Session { spark, client: Arc::new(client), address: host, place, views: AtomicU32::new(0) })
    }

    /// The address, to be shown.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// A name that no other view of the session has.
    fn next_view(&self) -> String {
        format!("hedgerow_{}", self.views.fetch_add(1, Ordering::Relaxed))
    }

    /// Gives what a statement answers a name.
    pub(crate) fn view_of_statement(&self, statement: &str, progress: &dyn Progress) -> Result<String, TableError> {
        self.view(stream::relation_of(statement), progress)
    }

    /// Gives files a name.
    pub(crate) fn view_of_files(
        &self,
        format: &str,
        options: HashMap<String, String>,
        path: &str,
        progress: &dyn Progress,
    ) -> Result<String, TableError> {
        self.view(stream::relation_of_files(format, options, path), progress)
    }

    fn view(&self, relation: Relation, progress: &dyn Progress) -> Result<String, TableError> {
        let name = self.next_view();
        let (client, view) = (self.client.clone(), name.clone());
        self.run(progress, unresolved, move || stream::create_view(&client, relation, &view))?;
        Ok(name)
    }

    /// Sends a table, whose columns `schema` declares, and returns the name of its view.
    pub(crate) fn send(
        &self,
        schema: &str,
        rows: impl IntoIterator<Item = Vec<Value>>,
        progress: &dyn Progress,
    ) -> Result<String, TableError> {
        let declared = DataType::from_ddl(schema).map_err(|error| failure(&self.place, &error))?;
        let mut rows = rows.into_iter().peekable();
        let mut views = Vec::new();
        while rows.peek().is_some() || views.is_empty() {
            let (mut part, mut bytes) = (Vec::new(), 0);
            while let Some(row) = rows.next_if(|_| part.len() < SENT_ROWS && bytes < SENT_BYTES) {
                bytes += row.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
                part.push(row);
            }
            let part = local::relation_of(&declared, &part).map_err(|error| failure(&self.place, &error))?;
            views.push(self.view(part, progress)?);
        }
        match views.as_slice() {
            [view] => Ok(view.clone()),
            _ => self.view_of_statement(&sql::together(&views), progress),
        }
    }

    /// The names and types of a view's columns.
    pub(crate) fn columns(&self, view: &str, progress: &dyn Progress) -> Result<Vec<(String, DataType)>, TableError> {
        let (spark, view) = (self.spark.clone(), view.to_owned());
        let schema = self.run(progress, unresolved, move || spark.table(&view)?.schema())?;
        match schema {
            DataType::Struct { fields } => Ok(fields.into_iter().map(|field| (field.name, field.data_type)).collect()),
            _ => Err(TableError::Internal("a view has no columns".to_owned())),
        }
    }

    /// Runs a query and hands on each of its rows.
    pub(crate) fn query(
        &self,
        statement: &str,
        progress: &dyn Progress,
        visit: &mut dyn FnMut(Vec<Value>) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let (send, receive) = sync_channel(BATCHES_WAITING);
        let (client, statement) = (self.client.clone(), statement.to_owned());
        thread::spawn(move || send_rows(&client, &statement, &send));
        self.wait(&receive, progress, failure, |batch| {
            let Some(rows) = batch else { return Ok(true) };
            rows.into_iter().try_for_each(&mut *visit)?;
            Ok(false)
        })
    }

    /// Has the rows of a query written into a new folder of Parquet files.
    pub(crate) fn write(&self, statement: &str, path: &str, progress: &dyn Progress) -> Result<(), TableError> {
        let (client, statement, path) = (self.client.clone(), statement.to_owned(), path.to_owned());
        self.run(progress, failure, move || stream::write(&client, &statement, &path))
    }

    /// Runs a call of the client to its end.
    fn run<T: Send + 'static>(
        &self,
        progress: &dyn Progress,
        explain: fn(&str, &SparkError) -> TableError,
        call: impl FnOnce() -> Result<T, SparkError> + Send + 'static,
    ) -> Result<T, TableError> {
        let (send, receive) = sync_channel(1);
        thread::spawn(move || {
            let _ = send.send(call());
        });
        let mut outcome = None;
        self.wait(&receive, progress, explain, |value| {
            outcome = Some(value);
            Ok(true)
        })?;
        outcome.ok_or_else(|| TableError::Internal("a call without an outcome".to_owned()))
    }

    /// Takes what a thread sends, until `take` says that it was the last. Ends when the caller
    /// wants no more, and stops the cluster's work then, or when the cluster does not answer.
    fn wait<T>(
        &self,
        receive: &std::sync::mpsc::Receiver<Result<T, SparkError>>,
        progress: &dyn Progress,
        explain: fn(&str, &SparkError) -> TableError,
        mut take: impl FnMut(T) -> Result<bool, TableError>,
    ) -> Result<(), TableError> {
        let (mut answered, mut probed) = (Instant::now(), Instant::now());
        loop {
            match receive.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(value)) => {
                    answered = Instant::now();
                    match take(value) {
                        Ok(true) => return Ok(()),
                        Ok(false) => {}
                        Err(error) => return Err(self.stopped(error)),
                    }
                }
                Ok(Err(error)) => return Err(explain(&self.place, &error)),
                // The thread ended without a word: a bug in the client.
                Err(RecvTimeoutError::Disconnected) => return Err(lost(&self.place)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            progress.check().map_err(|error| self.stopped(error))?;
            if probed.elapsed() >= PROBE_EVERY {
                if is_there(&self.address, PROBE_EVERY) {
                    answered = Instant::now();
                }
                probed = Instant::now();
            }
            if answered.elapsed() >= ANSWER_WITHIN {
                return Err(lost(&self.place));
            }
        }
    }

    /// Has the cluster give up what it is at, for as long as it takes but not here.
    fn stopped(&self, error: TableError) -> TableError {
        let spark = self.spark.clone();
        thread::spawn(move || {
            let _ = spark.interrupt_all();
        });
        error
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The views go with the session. A cluster that is gone must not hold us up.
        let (send, receive) = sync_channel(1);
        let spark = self.spark.clone();
        thread::spawn(move || {
            let _ = spark.stop();
            let _ = send.send(());
        });
        let _ = receive.recv_timeout(PROBE_EVERY);
    }
}

/// A client, and a session that is the same to the cluster.
fn connect(address: &str) -> Result<(SparkConnectClient, SparkSession), SparkError> {
    let client = block_on(SparkConnectClient::connect(&ChannelBuilder::parse(address)?))?;
    let spark = SparkSession::builder().remote(&in_session(address, client.session_id())).get_or_create()?;
    Ok((client, spark))
}

/// An address that also names the session.
fn in_session(address: &str, session: &str) -> String {
    if address.contains(";session_id=") {
        return address.to_owned();
    }
    let separator = if address.trim_start_matches("sc://").contains('/') { ";" } else { "/;" };
    format!("{address}{separator}session_id={session}")
}

/// All rows of a query, some at once, then `None`.
fn send_rows(
    client: &SparkConnectClient,
    statement: &str,
    send: &SyncSender<Result<Option<Vec<Vec<Value>>>, SparkError>>,
) {
    let sent = stream::rows(client, statement, |rows| match send.send(Ok(Some(rows))) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    let _ = send.send(sent.map(|()| None));
}

/// Host and port of an address, and its parameters.
fn host_of(address: &ClusterAddress) -> (String, String) {
    let text = address.danger_text().trim_start_matches("sc://");
    let (host, parameters) = text.split_once('/').unwrap_or((text, ""));
    let host = host.split(';').next().unwrap_or_default();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let host = if has_port { host.to_owned() } else { format!("{host}:{PORT}") };
    (host, parameters.to_owned())
}

/// Whether a server listens there.
fn is_there(host: &str, within: Duration) -> bool {
    let Ok(addresses) = host.to_socket_addrs() else { return false };
    addresses.into_iter().any(|address| TcpStream::connect_timeout(&address, within).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        let host = |text: &str| host_of(&ClusterAddress::parse(text).unwrap()).0;
        assert_eq!(host("sc://127.0.0.1:25002"), "127.0.0.1:25002");
        assert_eq!(host("sc://spark.example"), "spark.example:15002");
        assert_eq!(host("sc://spark.example:1/;token=x:2"), "spark.example:1");
    }

    #[test]
    fn an_address_can_name_its_session() {
        assert_eq!(in_session("sc://host:1", "a"), "sc://host:1/;session_id=a");
        assert_eq!(in_session("sc://host/", "a"), "sc://host/;session_id=a");
        assert_eq!(in_session("sc://host/;token=x", "a"), "sc://host/;token=x;session_id=a");
        assert_eq!(in_session("sc://host/;session_id=b", "a"), "sc://host/;session_id=b");
    }

    #[test]
    fn a_cluster_that_is_not_there_is_an_error_at_once() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        drop(taken);
        let address = ClusterAddress::parse(&format!("sc://127.0.0.1:{port}")).unwrap();
        let started = Instant::now();
        let error = Session::open(&address).unwrap_err().to_string();
        assert!(error.contains("no Spark Connect server answers"), "{error}");
        assert!(started.elapsed() < ANSWER_WITHIN * 2);
    }
}
