//! One analyst's connection after the password: reading messages, answering those of the simple
//! protocol, and sending rows. `extended` has the other messages.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::answer_rows::{AnswerRows, Heading, StatementResult};
use super::budget::Budget;
use super::catalog::SystemCatalog;
use super::copy::{CopyFormat, Style};
use super::kind::{SqlType, SqlValue};
use super::portal::{Portal, Prepared};
use super::refusal::{FAILED_TRANSACTION, NOT_UTF8, PROTOCOL, SYNTAX, StatementRefusal, TOO_MUCH};
use super::statement::Statement;
use super::stream::{Ended, Stream};
use super::tokens::{self, Parameter};
use super::variables::Variables;
use super::wire::{Body, Message, Out, put_text, put_value, read_message};
use super::{Shared, Visitor};
use crate::endpoint_settings::Options;
use crate::rejections::RejectionKind as Rejection;

/// Bytes that wait before they are sent.
const OUT_BYTES: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    None,
    Open,
    Failed,
}

pub(super) struct EndpointSession<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) visitor: &'a Visitor,
    options: &'a Options,
    pub(super) stream: Stream,
    pub(super) out: Out,
    pub(super) user: String,
    /// Whether the journal may be read.
    pub(super) audits: bool,
    pub(super) variables: Arc<Mutex<Variables>>,
    pub(super) transaction: Transaction,
    /// The epoch that the open transaction sees.
    pub(super) pinned: Option<u64>,
    pub(super) catalog: Option<(u64, SystemCatalog)>,
    pub(super) canceled: Arc<AtomicBool>,
    pub(super) budget: Budget,
    pub(super) prepared: BTreeMap<String, Arc<Prepared>>,
    pub(super) portals: BTreeMap<String, Portal>,
}

impl<'a> EndpointSession<'a> {
    /// `None` where the settings have no endpoint.
    pub(super) fn new(
        shared: &'a Arc<Shared>,
        visitor: &'a Visitor,
        stream: Stream,
        canceled: Arc<AtomicBool>,
    ) -> Option<EndpointSession<'a>> {
        let (options, _) = visitor.options()?;
        let budget = shared.memory.connection(options.answer_bytes_max, options.connection_bytes_max);
        Some(EndpointSession {
            shared,
            visitor,
            options,
            stream,
            out: Out::default(),
            user: String::new(),
            audits: false,
            variables: Arc::default(),
            transaction: Transaction::None,
            pinned: None,
            catalog: None,
            canceled,
            budget,
            prepared: BTreeMap::new(),
            portals: BTreeMap::new(),
        })
    }

    pub(super) fn options(&self) -> &'a Options {
        self.options
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
        // After an error, messages are ignored until the client synchronizes.
        let mut ignoring = false;
        loop {
            let message = match read_message(&mut self.stream, self.options.message_bytes_max) {
                Ok(message) => message,
                Err(error) => {
                    let ended = Ended::from(error);
                    if let Ended::Rejected { why, .. } = &ended {
                        self.stream.refuse(TOO_MUCH, why, "send less at once")?;
                    }
                    return Err(self.named(ended));
                }
            };
            self.canceled.store(false, Ordering::SeqCst);
            let done = match message.kind {
                b'X' => return Ok(()),
                b'S' => {
                    ignoring = false;
                    if self.transaction == Transaction::None {
                        self.portals.retain(|_, portal| portal.holds);
                    }
                    self.ready()?;
                    continue;
                }
                b'Q' => {
                    ignoring = false;
                    let done = self.simple(&message);
                    if let Err(refusal) = self.survived(done)? {
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
                _ if ignoring => continue,
                b'P' => self.parse(&message),
                b'B' => self.bind(&message),
                b'D' => self.describe(&message),
                b'E' => self.execute_portal(&message),
                b'C' => self.close(&message),
                _ => {
                    self.stream.refuse(PROTOCOL, "a message of an unknown kind", "")?;
                    return Err(self.named(Ended::rejected(Rejection::Message, "a message of an unknown kind")));
                }
            };
            if let Err(refusal) = self.survived(done)? {
                self.refuse(&refusal);
                ignoring = true;
            }
            // A client that never synchronizes does not have answers collected for it.
            if self.out.0.len() > OUT_BYTES {
                self.flush()?;
            }
        }
    }

    /// A text that is not UTF-8 is an error of its statement; a malformed message ends the
    /// connection, after the client got an error.
    fn survived(
        &mut self,
        done: Result<Result<(), StatementRefusal>, Ended>,
    ) -> Result<Result<(), StatementRefusal>, Ended> {
        match done {
            Err(Ended::NotUtf8) => {
                Ok(Err(StatementRefusal::new(NOT_UTF8, "the statement is not UTF-8", "send everything in UTF-8")))
            }
            Err(ended @ Ended::Rejected { .. }) => {
                self.stream.refuse(PROTOCOL, "a malformed message", "")?;
                Err(self.named(ended))
            }
            done => done,
        }
    }

    /// Under the analyst's name, which is known by now.
    fn named(&self, ended: Ended) -> Ended {
        match ended {
            Ended::Rejected { kind, why, .. } => Ended::Rejected { kind, whom: Some(self.user.clone()), why },
            other => other,
        }
    }

    fn refuse(&mut self, refusal: &StatementRefusal) {
        self.out.report("ERROR", refusal.code, &refusal.problem, &refusal.hint);
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
    }

    fn simple(&mut self, message: &Message) -> Result<Result<(), StatementRefusal>, Ended> {
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
                if statement.parameters()? > 0 {
                    return Err(StatementRefusal::new(SYNTAX, "a parameter without a value", "prepare the statement"));
                }
                self.run(&statement, &[])
            });
            let sent = match outcome {
                Ok(StatementResult::Rows(rows, word)) => {
                    self.row_description(&rows.headings, &[]);
                    self.rows(&rows, word)?
                }
                Ok(StatementResult::Copy(rows, format)) => self.copy_out(rows, &format)?,
                Ok(StatementResult::Tag(tag)) => {
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

    pub(super) fn run(
        &mut self,
        statement: &Statement,
        parameters: &[Parameter],
    ) -> Result<StatementResult, StatementRefusal> {
        let ends = matches!(statement, Statement::Commit | Statement::Rollback | Statement::RollbackTo);
        if self.transaction == Transaction::Failed && !ends {
            let problem = "the transaction has failed, and statements are ignored until it ends";
            return Err(StatementRefusal::new(FAILED_TRANSACTION, problem, "ROLLBACK"));
        }
        self.execute(statement, parameters)
    }

    pub(super) fn notices(&mut self, notes: &[String]) {
        notes.iter().for_each(|note| self.out.report("NOTICE", "00000", note, ""));
    }

    fn rows(&mut self, rows: &AnswerRows, word: &str) -> Result<Result<(), StatementRefusal>, Ended> {
        let kinds: Vec<SqlType> = rows.headings.iter().map(|heading| heading.kind).collect();
        self.notices(&rows.notes);
        for row in &rows.rows {
            if let Err(refusal) = self.row(row, &kinds, &[])? {
                return Ok(Err(refusal));
            }
        }
        self.out.complete(&format!("{word} {}", rows.rows.len()));
        Ok(Ok(()))
    }

    pub(super) fn row(
        &mut self,
        row: &[SqlValue],
        kinds: &[SqlType],
        formats: &[u16],
    ) -> Result<Result<(), StatementRefusal>, Ended> {
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

    pub(super) fn row_description(&mut self, headings: &[Heading], formats: &[u16]) {
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

    pub(super) fn copy_out(
        &mut self,
        rows: AnswerRows,
        format: &CopyFormat,
    ) -> Result<Result<(), StatementRefusal>, Ended> {
        let kinds: Vec<SqlType> = rows.headings.iter().map(|heading| heading.kind).collect();
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
        let data = |session: &mut EndpointSession<'_>, bytes: &[u8]| -> Result<(), Ended> {
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

    /// Portals end with their transaction, except for cursors that are declared to outlive it.
    pub(super) fn end_transaction(&mut self) {
        (self.transaction, self.pinned) = (Transaction::None, None);
        self.portals.retain(|_, portal| portal.holds);
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
pub(super) fn format_of(formats: &[u16], place: usize) -> u16 {
    match formats {
        [] => 0,
        [one] => *one,
        formats => formats.get(place).copied().unwrap_or(0),
    }
}
