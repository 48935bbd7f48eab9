//! One analyst's connection: the password, then messages of the simple and the extended protocol.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::Shared;
use super::answer::{Heading, Rows};
use super::catalog::Catalog;
use super::copy::{Format, Style};
use super::execute::Outcome;
use super::kind::{Kind, Value, parameter};
use super::refusal::{FAILED_TRANSACTION, PROTOCOL, Refusal, SYNTAX, TOO_MUCH, UNKNOWN_PORTAL, UNKNOWN_STATEMENT};
use super::statement::Statement;
use super::stream::{Ended, Stream};
use super::tokens::{self, Parameter};
use super::variables::Variables;
use super::wire::{Body, Message, Out, put_text, put_value, read_message};

/// Prepared statements, and portals, of one connection.
const PREPARED_MAX: usize = 500;
const PREPARED_BYTES_MAX: usize = 16 << 20;
const PORTALS_MAX: usize = 100;
/// What waits to be sent before it is.
const OUT_BYTES: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    None,
    Open,
    Failed,
}

#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// Nothing for an empty statement.
    statement: Option<Statement>,
    /// The number of each parameter's type.
    types: Vec<u32>,
    bytes: usize,
}

#[derive(Debug)]
struct Portal {
    prepared: Prepared,
    parameters: Vec<Parameter>,
    formats: Vec<u16>,
    /// Rows that are not fetched yet, once it was executed.
    rest: Option<(Vec<Heading>, std::vec::IntoIter<Vec<Value>>)>,
}

pub(super) struct Session<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) stream: Stream,
    pub(super) out: Out,
    pub(super) user: String,
    /// Whether the journal may be read.
    pub(super) audits: bool,
    pub(super) variables: Arc<Mutex<Variables>>,
    pub(super) transaction: Transaction,
    /// The epoch that the open transaction sees.
    pub(super) pinned: Option<u64>,
    pub(super) catalog: Option<(u64, Catalog)>,
    pub(super) canceled: Arc<AtomicBool>,
    pub(super) prepared: BTreeMap<String, Prepared>,
    portals: BTreeMap<String, Portal>,
}

impl<'a> Session<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, stream: Stream, canceled: Arc<AtomicBool>) -> Session<'a> {
        Session {
            shared,
            stream,
            out: Out::default(),
            user: String::new(),
            audits: false,
            variables: Arc::default(),
            transaction: Transaction::None,
            pinned: None,
            catalog: None,
            canceled,
            prepared: BTreeMap::new(),
            portals: BTreeMap::new(),
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), Ended> {
        self.stream.write_all(&self.out.0)?;
        self.out.0.clear();
        Ok(self.stream.flush()?)
    }

    pub(super) fn ready(&mut self) -> Result<(), Ended> {
        let state = match self.transaction {
            Transaction::None => b'I',
            Transaction::Open => b'T',
            Transaction::Failed => b'E',
        };
        self.out.message(b'Z', |body| body.push(state));
        self.flush()
    }

    pub(super) fn converse(&mut self) -> Result<(), Ended> {
        // After an error, messages are passed over until the client says that it knows.
        let mut passing_over = false;
        loop {
            let message = match read_message(&mut self.stream, self.shared.options.message_bytes_max) {
                Ok(message) => message,
                Err(error) => {
                    let ended = Ended::from(error);
                    if let Ended::Rejected(why) = &ended {
                        self.stream.refuse(TOO_MUCH, why, "send less at once")?;
                    }
                    return Err(ended);
                }
            };
            self.canceled.store(false, Ordering::SeqCst);
            let done = match message.kind {
                b'X' => return Ok(()),
                b'S' => {
                    passing_over = false;
                    if self.transaction == Transaction::None {
                        self.portals.clear();
                    }
                    self.ready()?;
                    continue;
                }
                b'Q' => {
                    passing_over = false;
                    if let Err(refusal) = self.simple(&message)? {
                        self.refuse(&refusal);
                    }
                    self.ready()?;
                    continue;
                }
                b'H' => {
                    self.flush()?;
                    continue;
                }
                // Rows of a COPY that was refused.
                b'd' | b'c' | b'f' => continue,
                _ if passing_over => continue,
                b'P' => self.parse(&message)?,
                b'B' => self.bind(&message)?,
                b'D' => self.describe(&message)?,
                b'E' => self.execute_portal(&message)?,
                b'C' => self.close(&message)?,
                _ => {
                    self.stream.refuse(PROTOCOL, "a message of a kind that is not known", "")?;
                    return Err(Ended::Rejected("a message of an unknown kind".to_owned()));
                }
            };
            if let Err(refusal) = done {
                self.refuse(&refusal);
                passing_over = true;
            }
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.out.report("ERROR", refusal.code, &refusal.problem, &refusal.hint);
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
    }

    fn simple(&mut self, message: &Message) -> Result<Result<(), Refusal>, Ended> {
        let sql = Body(&message.body).text()?;
        let statements = match tokens::statements(&sql) {
            Ok(statements) => statements,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if statements.is_empty() {
            self.out.message(b'I', |_| {});
        }
        for tokens in statements {
            let outcome = Statement::read(tokens).and_then(|statement| {
                if tokens::parameters(statement.tokens())? > 0 {
                    return Err(Refusal::new(SYNTAX, "a parameter without a value", "prepare the statement"));
                }
                self.run(&statement, &[])
            });
            let sent = match outcome {
                Ok(Outcome::Rows(rows)) => {
                    self.row_description(&rows.headings, &[]);
                    self.rows(rows)?
                }
                Ok(Outcome::Copy(rows, format)) => self.copy_out(rows, &format)?,
                Ok(Outcome::Tag(tag)) => {
                    self.out.complete(&tag);
                    Ok(())
                }
                Err(refusal) => Err(refusal),
            };
            if let Err(refusal) = sent {
                return Ok(Err(refusal));
            }
        }
        Ok(Ok(()))
    }

    fn run(&mut self, statement: &Statement, parameters: &[Parameter]) -> Result<Outcome, Refusal> {
        let ends = matches!(statement, Statement::Commit | Statement::Rollback | Statement::RollbackTo);
        if self.transaction == Transaction::Failed && !ends {
            let problem = "the transaction has failed, and statements are passed over until it ends";
            return Err(Refusal::new(FAILED_TRANSACTION, problem, "ROLLBACK"));
        }
        self.execute(statement, parameters)
    }

    fn rows(&mut self, rows: Rows) -> Result<Result<(), Refusal>, Ended> {
        let kinds: Vec<Kind> = rows.headings.iter().map(|heading| heading.kind).collect();
        for note in &rows.notes {
            self.out.report("NOTICE", "00000", note, "");
        }
        let count = rows.rows.len();
        for row in &rows.rows {
            if let Err(refusal) = self.row(row, &kinds, &[])? {
                return Ok(Err(refusal));
            }
        }
        self.out.complete(&format!("SELECT {count}"));
        Ok(Ok(()))
    }

    fn row(&mut self, row: &[Value], kinds: &[Kind], formats: &[u16]) -> Result<Result<(), Refusal>, Ended> {
        let mut cells = Vec::with_capacity(row.len());
        for (place, (value, kind)) in row.iter().zip(kinds).enumerate() {
            cells.push(match format_of(formats, place) {
                0 => value.text(*kind).map(String::into_bytes),
                _ => match value.binary(*kind) {
                    Ok(bytes) => bytes,
                    Err(refusal) => return Ok(Err(refusal)),
                },
            });
        }
        self.out.message(b'D', |body| {
            body.extend((cells.len() as u16).to_be_bytes());
            cells.iter().for_each(|cell| put_value(body, cell.as_deref()));
        });
        if self.out.0.len() > OUT_BYTES {
            self.flush()?;
        }
        Ok(Ok(()))
    }

    fn row_description(&mut self, headings: &[Heading], formats: &[u16]) {
        self.out.message(b'T', |body| {
            body.extend((headings.len() as u16).to_be_bytes());
            for (place, heading) in headings.iter().enumerate() {
                put_text(body, &heading.name);
                body.extend([0; 6]);
                body.extend(heading.kind.oid().to_be_bytes());
                body.extend(heading.kind.length().to_be_bytes());
                body.extend((-1i32).to_be_bytes());
                body.extend(format_of(formats, place).to_be_bytes());
            }
        });
    }

    fn copy_out(&mut self, rows: Rows, format: &Format) -> Result<Result<(), Refusal>, Ended> {
        let kinds: Vec<Kind> = rows.headings.iter().map(|heading| heading.kind).collect();
        let binary = u16::from(format.style == Style::Binary);
        self.out.message(b'H', |body| {
            body.push(binary as u8);
            body.extend((kinds.len() as u16).to_be_bytes());
            kinds.iter().for_each(|_| body.extend(binary.to_be_bytes()));
        });
        let names: Vec<&str> = rows.headings.iter().map(|heading| heading.name.as_str()).collect();
        // What comes before the first row is in one message with it, as PostgreSQL does it: some
        // clients rely on that.
        let mut first = format.begin(&names);
        let data = |session: &mut Session<'_>, bytes: &[u8]| -> Result<(), Ended> {
            if !bytes.is_empty() {
                session.out.message(b'd', |body| body.extend(bytes));
            }
            if session.out.0.len() > OUT_BYTES { session.flush() } else { Ok(()) }
        };
        for row in &rows.rows {
            match format.row(row, &kinds) {
                Ok(bytes) if first.is_empty() => data(self, &bytes)?,
                Ok(bytes) => data(self, &[std::mem::take(&mut first), bytes].concat())?,
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        data(self, &first)?;
        data(self, format.end())?;
        self.out.message(b'c', |_| {});
        self.out.complete(&format!("COPY {}", rows.rows.len()));
        Ok(Ok(()))
    }

    fn parse(&mut self, message: &Message) -> Result<Result<(), Refusal>, Ended> {
        let mut body = Body(&message.body);
        let (name, sql) = (body.text()?, body.text()?);
        let count = body.u16()?;
        let given: Vec<u32> = (0..count).map(|_| body.u32()).collect::<Result<_, _>>()?;
        Ok(self.prepare(name, &sql, given))
    }

    fn prepare(&mut self, name: String, sql: &str, given: Vec<u32>) -> Result<(), Refusal> {
        let mut statements = tokens::statements(sql)?;
        if statements.len() > 1 {
            return Err(Refusal::new(SYNTAX, "several statements cannot be prepared as one", "prepare each"));
        }
        let statement = statements.pop().map(Statement::read).transpose()?;
        let tokens = statement.as_ref().map(Statement::tokens).unwrap_or_default();
        let count = tokens::parameters(tokens)?.max(given.len());
        // What a client leaves open is text, which is compared as the column requires.
        let types = (0..count).map(|place| given.get(place).copied().filter(|oid| *oid > 0).unwrap_or(25)).collect();
        let bytes = self.prepared.values().map(|prepared| prepared.bytes).sum::<usize>() + sql.len();
        if bytes > PREPARED_BYTES_MAX || self.prepared.len() >= PREPARED_MAX && !self.prepared.contains_key(&name) {
            return Err(Refusal::new(TOO_MUCH, "too many prepared statements", "DEALLOCATE ALL"));
        }
        self.prepared.insert(name, Prepared { statement, types, bytes: sql.len() });
        self.out.message(b'1', |_| {});
        Ok(())
    }

    fn bind(&mut self, message: &Message) -> Result<Result<(), Refusal>, Ended> {
        let mut body = Body(&message.body);
        let (portal, name) = (body.text()?, body.text()?);
        let given = body.formats()?;
        let count = body.u16()?;
        let values: Vec<Option<&[u8]>> = (0..count).map(|_| body.value()).collect::<Result<_, _>>()?;
        let formats = body.formats()?;
        let Some(prepared) = self.prepared.get(&name).cloned() else { return Ok(Err(no_statement(&name))) };
        if values.len() != prepared.types.len() {
            let problem = format!("{} parameters, but {} are needed", values.len(), prepared.types.len());
            return Ok(Err(Refusal::new(PROTOCOL, problem, "")));
        }
        let read = values.iter().zip(&prepared.types).enumerate().map(|(place, (bytes, oid))| {
            let text = parameter(*oid, format_of(&given, place) == 1, *bytes)?;
            Ok(Parameter { oid: *oid, text })
        });
        let parameters = match read.collect::<Result<Vec<_>, Refusal>>() {
            Ok(parameters) => parameters,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if self.portals.len() >= PORTALS_MAX && !self.portals.contains_key(&portal) {
            return Ok(Err(Refusal::new(TOO_MUCH, "too many portals", "close some")));
        }
        self.portals.insert(portal, Portal { prepared, parameters, formats, rest: None });
        self.out.message(b'2', |_| {});
        Ok(Ok(()))
    }

    fn describe(&mut self, message: &Message) -> Result<Result<(), Refusal>, Ended> {
        let mut body = Body(&message.body);
        let (of, name) = (body.u8()?, body.text()?);
        let (prepared, parameters, formats): (_, Vec<Parameter>, _) = if of == b'S' {
            let Some(prepared) = self.prepared.get(&name).cloned() else { return Ok(Err(no_statement(&name))) };
            self.out.message(b't', |body| {
                body.extend((prepared.types.len() as u16).to_be_bytes());
                prepared.types.iter().for_each(|oid| body.extend(oid.to_be_bytes()));
            });
            // Which columns there are does not depend on values.
            let some = prepared.types.iter().map(|_| Parameter { oid: 23, text: Some("1".to_owned()) }).collect();
            (prepared, some, Vec::new())
        } else {
            let Some(portal) = self.portals.get(&name) else { return Ok(Err(no_portal(&name))) };
            (portal.prepared.clone(), portal.parameters.clone(), portal.formats.clone())
        };
        match prepared.statement.filter(Statement::has_rows) {
            None => self.out.message(b'n', |_| {}),
            Some(statement) => match self.columns(&statement, &parameters) {
                Ok(headings) => self.row_description(&headings, &formats),
                Err(refusal) => return Ok(Err(refusal)),
            },
        }
        Ok(Ok(()))
    }

    fn execute_portal(&mut self, message: &Message) -> Result<Result<(), Refusal>, Ended> {
        let mut body = Body(&message.body);
        let (name, most) = (body.text()?, body.u32()? as usize);
        let Some(mut portal) = self.portals.remove(&name) else { return Ok(Err(no_portal(&name))) };
        let (headings, mut rest) = match portal.rest.take() {
            Some(rest) => rest,
            None => {
                let Some(statement) = &portal.prepared.statement else {
                    self.out.message(b'I', |_| {});
                    self.portals.insert(name, portal);
                    return Ok(Ok(()));
                };
                match self.run(statement, &portal.parameters) {
                    Err(refusal) => return Ok(Err(refusal)),
                    Ok(Outcome::Tag(tag)) => {
                        self.out.complete(&tag);
                        return Ok(Ok(()));
                    }
                    Ok(Outcome::Copy(rows, format)) => return self.copy_out(rows, &format),
                    Ok(Outcome::Rows(rows)) => {
                        for note in &rows.notes {
                            self.out.report("NOTICE", "00000", note, "");
                        }
                        (rows.headings, rows.rows.into_iter())
                    }
                }
            }
        };
        let kinds: Vec<Kind> = headings.iter().map(|heading| heading.kind).collect();
        let mut count = 0;
        while most == 0 || count < most {
            let Some(row) = rest.next() else { break };
            if let Err(refusal) = self.row(&row, &kinds, &portal.formats)? {
                return Ok(Err(refusal));
            }
            count += 1;
        }
        if most > 0 && rest.len() > 0 {
            self.out.message(b's', |_| {});
        } else {
            self.out.complete(&format!("SELECT {count}"));
        }
        portal.rest = Some((headings, rest));
        self.portals.insert(name, portal);
        Ok(Ok(()))
    }

    fn close(&mut self, message: &Message) -> Result<Result<(), Refusal>, Ended> {
        let mut body = Body(&message.body);
        let (of, name) = (body.u8()?, body.text()?);
        if of == b'S' {
            self.prepared.remove(&name);
        } else {
            self.portals.remove(&name);
        }
        self.out.message(b'3', |_| {});
        Ok(Ok(()))
    }

    /// Portals end with their transaction.
    pub(super) fn end_transaction(&mut self) {
        (self.transaction, self.pinned) = (Transaction::None, None);
        self.portals.clear();
    }

    /// Everything that the connection has set and prepared is gone.
    pub(super) fn forget(&mut self) {
        self.prepared.clear();
        self.portals.clear();
        if let Ok(mut variables) = self.variables.lock() {
            *variables = Variables::default();
        }
    }
}

/// The format of a column or a parameter: one for all, one for each, or text.
fn format_of(formats: &[u16], place: usize) -> u16 {
    match formats {
        [] => 0,
        [one] => *one,
        formats => formats.get(place).copied().unwrap_or(0),
    }
}

fn no_statement(name: &str) -> Refusal {
    let name: String = name.chars().take(60).collect();
    Refusal::new(UNKNOWN_STATEMENT, format!("there is no prepared statement \"{name}\""), "")
}

fn no_portal(name: &str) -> Refusal {
    let name: String = name.chars().take(60).collect();
    Refusal::new(UNKNOWN_PORTAL, format!("there is no portal \"{name}\""), "")
}
