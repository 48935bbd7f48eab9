//! Executes statements: they are answered over the release or the catalog, or change the settings
//! of one connection.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use hedgerow_audit::query::Select;
use sqlparser::tokenizer::Token;

use super::answer::{self, Epoch};
use super::answer_rows::{AnswerRows, Heading, StatementResult};
use super::catalog::{CatalogContent, SystemCatalog, Until};
use super::cursor::Count;
use super::kind::{SqlType, SqlValue};
use super::portal::{Portal, no_portal};
use super::quota::QuotaLimits;
use super::refusal::{
    BAD_VALUE, CANCELED, INTERNAL, NO_TRANSACTION, NOT_READY, StatementRefusal, TOO_MUCH, UNSUPPORTED,
};
use super::session::{EndpointSession, Transaction};
use super::statement::Statement;
use super::tokens::{Parameter, bound};
use super::{Shared, journal};
use crate::event::Event;
use crate::journal::SQL_CHARACTERS_MAX;
use crate::query::{Asks, Queried};
use crate::rejections::RejectionKind as Rejection;

/// How often a canceled statement is noticed.
const LOOK: Duration = Duration::from_millis(20);

impl EndpointSession<'_> {
    pub(super) fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[Parameter],
    ) -> Result<StatementResult, StatementRefusal> {
        let tag = |text: &str| Ok(StatementResult::Tag(text.to_owned()));
        match statement {
            Statement::Release(_) | Statement::Catalog(_) => {
                Ok(StatementResult::Rows(self.selected(statement, parameters)?, "SELECT"))
            }
            Statement::Copy(inner, format) => {
                Ok(StatementResult::Copy(self.selected(inner, parameters)?, format.clone()))
            }
            Statement::Set { name, value } => {
                self.set(name, value.as_deref())?;
                tag(if value.is_some() { "SET" } else { "RESET" })
            }
            Statement::Show(name) => Ok(StatementResult::Rows(self.show(name)?, "SELECT")),
            Statement::Declare { name, holds, select } => {
                if self.transaction == Transaction::None && !holds {
                    let problem = "a cursor without HOLD needs a transaction";
                    return Err(StatementRefusal::new(NO_TRANSACTION, problem, "BEGIN first"));
                }
                let rows = self.selected(select, parameters)?;
                self.add_portal(name.clone(), Portal::cursor(name, rows, *holds, &self.budget)?)?;
                tag("DECLARE CURSOR")
            }
            Statement::Fetch { name, count, skips } => self.fetch(name, *count, *skips),
            Statement::Close(name) => {
                match name {
                    Some(name) => drop(self.portals.remove(name).ok_or_else(|| no_portal(name))?),
                    None => self.portals.clear(),
                }
                tag("CLOSE CURSOR")
            }
            Statement::Begin => {
                if self.transaction == Transaction::None {
                    (self.transaction, self.pinned) = (Transaction::Open, self.shared.current.get());
                } else {
                    self.out.report("NOTICE", "25001", "there is already a transaction", "");
                }
                tag("BEGIN")
            }
            Statement::Commit | Statement::Rollback => {
                let failed = self.transaction == Transaction::Failed || matches!(statement, Statement::Rollback);
                self.end_transaction();
                tag(if failed { "ROLLBACK" } else { "COMMIT" })
            }
            Statement::Savepoint => tag("SAVEPOINT"),
            Statement::ReleaseSavepoint => tag("RELEASE"),
            Statement::RollbackTo => {
                if self.transaction == Transaction::Failed {
                    self.transaction = Transaction::Open;
                }
                tag("ROLLBACK")
            }
            Statement::Discard(name) => {
                if *name == "DISCARD ALL" {
                    self.forget();
                } else if let Ok(mut variables) = self.variables.lock() {
                    *variables = super::variables::Variables::default();
                }
                tag(name)
            }
            Statement::Deallocate(name) => {
                match name {
                    Some(name) => drop(self.prepared.remove(name)),
                    None => self.prepared.clear(),
                }
                tag(if name.is_some() { "DEALLOCATE" } else { "DEALLOCATE ALL" })
            }
        }
    }

    /// The rows of a SELECT, which is the place where statements are counted.
    fn selected(&mut self, select: &Statement, parameters: &[Parameter]) -> Result<AnswerRows, StatementRefusal> {
        let options = self.options();
        let allowed =
            QuotaLimits { in_a_minute: options.statements_in_a_minute, in_a_day: options.statements_in_a_day };
        let taken = self.shared.quotas.take(&self.user, allowed, crate::clock::unix_ms());
        if let Err(refusal) = taken {
            self.shared.reject(Rejection::Limit, &self.user, &refusal.problem);
            return Err(refusal);
        }
        match select {
            Statement::Release(select) => self.release_rows(select, parameters),
            Statement::Catalog(tokens) => self.catalog_rows(tokens, parameters, true),
            _ => Err(StatementRefusal::new(INTERNAL, "a statement without rows was selected from", "")),
        }
    }

    fn fetch(&mut self, name: &str, count: Count, skips: bool) -> Result<StatementResult, StatementRefusal> {
        let portal = self.portals.get_mut(name);
        let rest = portal.and_then(|portal| portal.rest.as_mut()).ok_or_else(|| no_portal(name))?;
        let (rows, held) = rest.fetch(count.unwrap_or(usize::MAX));
        if skips {
            return Ok(StatementResult::Tag(format!("MOVE {}", rows.len())));
        }
        Ok(StatementResult::Rows(
            AnswerRows { headings: rest.headings.clone(), rows, notes: Vec::new(), held },
            "FETCH",
        ))
    }

    /// The columns of what a statement answers.
    pub(super) fn columns(
        &mut self,
        statement: &Statement,
        parameters: &[Parameter],
    ) -> Result<Vec<Heading>, StatementRefusal> {
        match statement {
            Statement::Release(select) => {
                let epoch = self.shared.epochs.get(self.epoch()?)?;
                answer::describe(epoch.release(), &bound(select, parameters)?, self.bounds())
            }
            Statement::Catalog(tokens) => self.catalog_rows(tokens, parameters, false).map(|rows| rows.headings),
            Statement::Show(name) => self.show(name).map(|rows| rows.headings),
            Statement::Fetch { name, .. } => {
                let rest = self.portals.get(name).and_then(|portal| portal.rest.as_ref());
                rest.map(|rest| rest.headings.clone()).ok_or_else(|| no_portal(name))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn setting(&self, name: &str) -> Result<String, StatementRefusal> {
        let broken = |_| StatementRefusal::new(INTERNAL, "settings cannot be read", "connect again");
        self.variables.lock().map_err(broken)?.get(name).map(str::to_owned)
    }

    fn bounds(&self) -> bool {
        self.setting("hedgerow.bounds").is_ok_and(|value| value == "on")
    }

    /// The epoch that a statement is about: the one that was set, that of the transaction, or the
    /// last.
    fn epoch(&self) -> Result<u64, StatementRefusal> {
        let last = self.shared.current.get().ok_or_else(|| {
            let problem = "no epoch to answer from: nothing is published, or a run is in doubt";
            StatementRefusal::new(NOT_READY, problem, "the node's operator sees it in `status`")
        })?;
        match self.setting("hedgerow.epoch")?.parse::<u64>() {
            Err(_) => Ok(self.pinned.unwrap_or(last)),
            Ok(epoch) if (1..=last).contains(&epoch) => Ok(epoch),
            Ok(epoch) => {
                let problem = format!("epoch {epoch} is not published");
                Err(StatementRefusal::new(BAD_VALUE, problem, format!("the last one is {last}")))
            }
        }
    }

    fn until(&self) -> Until {
        let most = self.options().statement;
        let timeout = self.variables.lock().map(|variables| variables.timeout(most));
        let deadline = Instant::now() + timeout.unwrap_or(most);
        Until { deadline, canceled: Arc::clone(&self.canceled) }
    }

    fn release_rows(&mut self, select: &Select, parameters: &[Parameter]) -> Result<AnswerRows, StatementRefusal> {
        let until = self.until();
        let epoch = self.epoch()?;
        let select = bound(select, parameters)?;
        let limits = answer::AnswerLimits {
            bounds: self.bounds(),
            rows_max: self.options().rows_max,
            held: self.budget.hold(),
            until: until.clone(),
        };
        let gone = || StatementRefusal::new("57P01", "the node is ending", "connect again later");
        let release = match self.shared.epochs.get(epoch)? {
            Epoch::Whole(release) => release,
            Epoch::Apart(outline) => {
                outline.check(&select)?;
                // The node journals it, and so does every other.
                let (asks, asker) = Asks::new(&self.user, epoch, &select.to_string());
                self.shared.reports.events.send(Event::Asks(asks)).map_err(|_| gone())?;
                let (left, waiting) = (until.deadline.saturating_duration_since(Instant::now()), until.clone());
                return self.answer_in_time(&until, move || match asker.wait(left, || waiting.is_over()) {
                    Ok(totals) => answer::answer_totals(&totals, &select, limits),
                    Err(_) if waiting.is_over() => Err(canceled()),
                    Err(unanswered) => Err(unanswered.into()),
                });
            }
        };
        let shown: String = select.to_string().chars().take(SQL_CHARACTERS_MAX).collect();
        // An analyst who queries faster than the journal writes waits.
        let queried = Queried { who: self.user.clone(), epoch, sql: shown };
        self.shared.reports.queried.send(queried).map_err(|_| gone())?;
        self.answer_in_time(&until, move || answer::answer(&release, &select, limits))
    }

    fn catalog_rows(
        &mut self,
        tokens: &[Token],
        parameters: &[Parameter],
        rows: bool,
    ) -> Result<AnswerRows, StatementRefusal> {
        let (until, options) = (self.until(), self.options());
        let epoch = self.epoch().ok();
        let number = epoch.unwrap_or(0);
        // The journal grows between two statements.
        if self.audits {
            // Its copy of the journal would count twice.
            self.catalog = None;
        }
        if self.catalog.as_ref().is_none_or(|(known, _)| *known != number) {
            self.catalog = Some((number, self.new_catalog(epoch)?));
        }
        let Some((_, catalog)) = &self.catalog else {
            return Err(StatementRefusal::new(INTERNAL, "the catalog cannot be made", ""));
        };
        let most = rows.then(|| (options.rows_max, self.budget.hold()));
        catalog.answer(tokens, parameters, most, &until)
    }

    /// Before anything is published the table has no columns.
    fn new_catalog(&self, epoch: Option<u64>) -> Result<SystemCatalog, StatementRefusal> {
        let found = epoch.map(|epoch| self.shared.epochs.get(epoch));
        let (columns, rows, description) = match found {
            Some(Ok(found)) => {
                let number = epoch.unwrap_or(0);
                let description = format!("joint release, epoch {number}; estimates with bounds, see docs/node.md");
                (answer::columns(found.release()), found.release().rows(), description)
            }
            // The catalog and the journal can be read all the same.
            Some(Err(refusal)) => (Vec::new(), 0, refusal.problem),
            None => (Vec::new(), 0, "nothing is published yet, or a run is in doubt".to_owned()),
        };
        let settings = self
            .variables
            .lock()
            .map(|variables| variables.all().map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
        let (user, settings) = (self.user.clone(), settings.unwrap_or_default());
        let mut held = self.audits.then(|| self.budget.hold());
        let journal = held.as_mut().map(|held| journal::read(&self.shared.data, held)).transpose()?;
        let content = CatalogContent { user, columns, rows, description, settings, journal };
        let variables = Arc::clone(&self.variables);
        let setting = move |name: &str| variables.lock().ok()?.get(name).ok().map(str::to_owned);
        SystemCatalog::new(&content, setting, held)
    }

    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), StatementRefusal> {
        let Ok(mut variables) = self.variables.lock() else {
            return Err(StatementRefusal::new(INTERNAL, "settings cannot be written", "connect again"));
        };
        if let Some(reported) = variables.set(name, value)? {
            let value = variables.get(name)?.to_owned();
            self.out.parameter(reported, &value);
        }
        Ok(())
    }

    fn show(&self, name: &str) -> Result<AnswerRows, StatementRefusal> {
        let heading = |name: &str| Heading { name: name.to_owned(), kind: SqlType::Text };
        if name != "all" {
            let value = match (name, self.epoch()) {
                // A number says more than `last`.
                ("hedgerow.epoch", Ok(epoch)) => epoch.to_string(),
                _ => self.setting(name)?,
            };
            return Ok(AnswerRows {
                headings: vec![heading(name)],
                rows: vec![vec![SqlValue::Text(value)]],
                ..AnswerRows::default()
            });
        }
        let Ok(variables) = self.variables.lock() else {
            return Err(StatementRefusal::new(UNSUPPORTED, "settings cannot be read", "connect again"));
        };
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let rows = variables.all().map(|(name, value)| vec![text(name), text(value), text("")]).collect();
        Ok(AnswerRows {
            headings: ["name", "setting", "description"].map(heading).to_vec(),
            rows,
            ..AnswerRows::default()
        })
    }

    /// Answers on a thread of its own, so that the analyst hears when the time is over. The thread
    /// notices that too and ends soon after; until then it counts as working.
    fn answer_in_time(
        &self,
        until: &Until,
        answer: impl FnOnce() -> Result<AnswerRows, StatementRefusal> + Send + 'static,
    ) -> Result<AnswerRows, StatementRefusal> {
        let shared = self.shared;
        let busy = || StatementRefusal::new(TOO_MUCH, "too many statements are being answered", "try again later");
        if shared.working.fetch_add(1, Ordering::SeqCst) >= 2 * self.options().connections_max {
            shared.working.fetch_sub(1, Ordering::SeqCst);
            return Err(busy());
        }
        wait_for(shared, until, answer).unwrap_or_else(|| Err(busy()))
    }
}

/// `None` where no thread can be started.
fn wait_for(
    shared: &Arc<Shared>,
    until: &Until,
    answer: impl FnOnce() -> Result<AnswerRows, StatementRefusal> + Send + 'static,
) -> Option<Result<AnswerRows, StatementRefusal>> {
    let (send, answered) = channel();
    let working = Working(Arc::clone(shared));
    let work = move || {
        let rows = answer();
        drop(working);
        let _ = send.send(rows);
    };
    thread::Builder::new().name("answer".to_owned()).spawn(work).ok()?;
    loop {
        match answered.recv_timeout(LOOK) {
            Ok(rows) => return Some(rows),
            // The thread ended without an answer.
            Err(RecvTimeoutError::Disconnected) => {
                return Some(Err(StatementRefusal::new(INTERNAL, "internal error", "this is a bug in hedgerow")));
            }
            Err(RecvTimeoutError::Timeout) if until.is_over() => return Some(Err(canceled())),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn canceled() -> StatementRefusal {
    StatementRefusal::new(CANCELED, "the statement was canceled, or its time is over", "")
}

/// Counts down also when a thread panics.
struct Working(Arc<Shared>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.working.fetch_sub(1, Ordering::SeqCst);
    }
}
