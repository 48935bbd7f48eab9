//! The messages of the extended protocol: Parse, Bind, Describe, Execute and Close.

use std::sync::Arc;

use super::answer_rows::StatementResult;
use super::kind::{SqlType, parameter};
use super::portal::{Portal, Prepared, Rest, no_portal, no_statement};
use super::refusal::{PROTOCOL, SYNTAX, StatementRefusal, TOO_MUCH};
use super::session::{EndpointSession, format_of};
use super::statement::Statement;
use super::stream::Ended;
use super::tokens::{self, Parameter};
use super::wire::{Body, Message};

/// Prepared statements, and portals, of one connection.
const PREPARED_MAX: usize = 500;
const PORTALS_MAX: usize = 100;

impl EndpointSession<'_> {
    pub(super) fn parse(&mut self, message: &Message) -> Result<Result<(), StatementRefusal>, Ended> {
        let mut body = Body(&message.body);
        let (name, sql) = (body.text()?, body.text()?);
        let count = body.u16()?;
        let given: Vec<u32> = (0..count).map(|_| body.u32()).collect::<Result<_, _>>()?;
        Ok(self.prepare(name, &sql, &given))
    }

    fn prepare(&mut self, name: String, sql: &str, given: &[u32]) -> Result<(), StatementRefusal> {
        let mut statements = tokens::statements(sql)?;
        if statements.len() > 1 {
            return Err(StatementRefusal::new(SYNTAX, "several statements cannot be prepared as one", "prepare each"));
        }
        let statement = statements.pop().map(Statement::read).transpose()?;
        if self.prepared.len() >= PREPARED_MAX && !self.prepared.contains_key(&name) {
            return Err(StatementRefusal::new(TOO_MUCH, "too many prepared statements", "DEALLOCATE ALL"));
        }
        let prepared = Prepared::new(&name, statement, given, sql, &self.budget)?;
        self.prepared.insert(name, Arc::new(prepared));
        self.out.message(b'1', |_| {});
        Ok(())
    }

    pub(super) fn bind(&mut self, message: &Message) -> Result<Result<(), StatementRefusal>, Ended> {
        let mut body = Body(&message.body);
        let (portal, name) = (body.text()?, body.text()?);
        let given = body.formats()?;
        let count = body.u16()?;
        let values: Vec<Option<&[u8]>> = (0..count).map(|_| body.value()).collect::<Result<_, _>>()?;
        let formats = body.formats()?;
        Ok(self.bind_values(portal, &name, &given, &values, formats))
    }

    fn bind_values(
        &mut self,
        portal: String,
        name: &str,
        given: &[u16],
        values: &[Option<&[u8]>],
        formats: Vec<u16>,
    ) -> Result<(), StatementRefusal> {
        let prepared = self.prepared.get(name).cloned().ok_or_else(|| no_statement(name))?;
        if values.len() != prepared.types.len() {
            let problem = format!("{} parameters, but {} are needed", values.len(), prepared.types.len());
            return Err(StatementRefusal::new(PROTOCOL, problem, ""));
        }
        let read = values.iter().zip(&prepared.types).enumerate().map(|(place, (bytes, oid))| {
            let text = parameter(*oid, format_of(given, place) == 1, *bytes)?;
            Ok(Parameter { oid: *oid, text })
        });
        let parameters = read.collect::<Result<Vec<_>, StatementRefusal>>()?;
        let bound = Portal::new(&portal, prepared, parameters, formats, &self.budget)?;
        self.add_portal(portal, bound)?;
        self.out.message(b'2', |_| {});
        Ok(())
    }

    pub(super) fn add_portal(&mut self, name: String, portal: Portal) -> Result<(), StatementRefusal> {
        if self.portals.len() >= PORTALS_MAX && !self.portals.contains_key(&name) {
            return Err(StatementRefusal::new(TOO_MUCH, "too many portals", "close some"));
        }
        self.portals.insert(name, portal);
        Ok(())
    }

    pub(super) fn describe(&mut self, message: &Message) -> Result<Result<(), StatementRefusal>, Ended> {
        let mut body = Body(&message.body);
        let (of, name) = (body.u8()?, body.text()?);
        Ok(if of == b'S' { self.describe_statement(&name) } else { self.describe_portal(&name) })
    }

    fn describe_statement(&mut self, name: &str) -> Result<(), StatementRefusal> {
        let prepared = self.prepared.get(name).cloned().ok_or_else(|| no_statement(name))?;
        self.out.message(b't', |body| {
            body.extend((prepared.types.len() as u16).to_be_bytes());
            prepared.types.iter().for_each(|oid| body.extend(oid.to_be_bytes()));
        });
        // Which columns there are does not depend on values.
        let some = || Parameter { oid: 23, text: Some("1".to_owned()) };
        let parameters: Vec<Parameter> = prepared.types.iter().map(|_| some()).collect();
        self.describe_rows(prepared.statement.as_ref(), &parameters, &[])
    }

    fn describe_portal(&mut self, name: &str) -> Result<(), StatementRefusal> {
        let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
        let Some(prepared) = portal.prepared.clone() else {
            let headings = portal.rest.as_ref().map(|rest| rest.headings.clone()).unwrap_or_default();
            self.row_description(&headings, &[]);
            return Ok(());
        };
        let (parameters, formats) = (portal.parameters.clone(), portal.formats.clone());
        self.describe_rows(prepared.statement.as_ref(), &parameters, &formats)
    }

    fn describe_rows(
        &mut self,
        statement: Option<&Statement>,
        parameters: &[Parameter],
        formats: &[u16],
    ) -> Result<(), StatementRefusal> {
        match statement.filter(|statement| statement.has_rows()) {
            None => self.out.message(b'n', |_| {}),
            Some(statement) => {
                let headings = self.columns(statement, parameters)?;
                self.row_description(&headings, formats);
            }
        }
        Ok(())
    }

    pub(super) fn execute_portal(&mut self, message: &Message) -> Result<Result<(), StatementRefusal>, Ended> {
        let mut body = Body(&message.body);
        let (name, most) = (body.text()?, body.u32()? as usize);
        let Some(mut portal) = self.portals.remove(&name) else { return Ok(Err(no_portal(&name))) };
        let mut rest = match portal.rest.take() {
            Some(rest) => rest,
            None => {
                let prepared = portal.prepared.clone();
                let Some(statement) = prepared.as_ref().and_then(|prepared| prepared.statement.as_ref()) else {
                    self.out.message(b'I', |_| {});
                    self.portals.insert(name, portal);
                    return Ok(Ok(()));
                };
                match self.run(statement, &portal.parameters) {
                    Err(refusal) => return Ok(Err(refusal)),
                    Ok(StatementResult::Tag(tag)) => {
                        self.out.complete(&tag);
                        return Ok(Ok(()));
                    }
                    Ok(StatementResult::Copy(rows, format)) => return self.copy_out(rows, &format),
                    Ok(StatementResult::Rows(rows, word)) => {
                        self.notices(&rows.notes);
                        Rest::new(rows, word)
                    }
                }
            }
        };
        let kinds: Vec<SqlType> = rest.headings.iter().map(|heading| heading.kind).collect();
        let mut count = 0;
        while most == 0 || count < most {
            let Some(row) = rest.next() else { break };
            if let Err(refusal) = self.row(&row, &kinds, &portal.formats)? {
                return Ok(Err(refusal));
            }
            count += 1;
        }
        if most > 0 && !rest.is_empty() {
            self.out.message(b's', |_| {});
        } else {
            self.out.complete(&format!("{} {count}", rest.word));
        }
        portal.rest = Some(rest);
        self.portals.insert(name, portal);
        Ok(Ok(()))
    }

    pub(super) fn close(&mut self, message: &Message) -> Result<Result<(), StatementRefusal>, Ended> {
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
}
