//! How an analyst's connection begins: the certificate, or the password by SCRAM; the database, and
//! what is set.

use super::refusal::PROTOCOL;
use super::scram::{Exchange, MECHANISM, Verifier};
use super::session::Session;
use super::stream::Ended;
use super::tokens::DATABASE;
use super::wire::{Body, Message, STRANGER_BYTES_MAX, put_text, read_message};
use crate::settings::{Peer, Role};

impl Session<'_> {
    pub(super) fn serve(
        mut self,
        minor: u16,
        parameters: &[(String, String)],
        (number, secret): (u32, u32),
    ) -> Result<(), Ended> {
        let given = |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        if minor > 0 || parameters.iter().any(|(name, _)| name.starts_with("_pq_.")) {
            self.negotiate(parameters);
        }
        self.user = given("user").unwrap_or_default().to_owned();
        self.authenticate()?;
        if given("database").unwrap_or(&self.user) != DATABASE {
            let problem = "there is one database, and it has another name";
            self.stream.refuse("3D000", problem, &format!("connect to the database {DATABASE}"))?;
            return Err(Ended::Gone);
        }
        if given("replication").is_some_and(|value| !matches!(value, "false" | "off" | "0" | "no")) {
            self.stream.refuse("0A000", "replication is not offered", "connect without it")?;
            return Err(Ended::Gone);
        }
        self.stream.known(self.shared.options.idle)?;
        tracing::info!(analyst = %self.user, "connected");
        self.out.message(b'R', |body| body.extend([0; 4]));
        self.set_first(parameters);
        self.out.message(b'K', |body| {
            body.extend(number.to_be_bytes());
            body.extend(secret.to_be_bytes());
        });
        self.ready()?;
        let ended = self.converse();
        self.stream.close();
        ended
    }

    /// A newer client learns which version is spoken, and which options are unknown.
    fn negotiate(&mut self, parameters: &[(String, String)]) {
        let unknown: Vec<&String> =
            parameters.iter().map(|(name, _)| name).filter(|n| n.starts_with("_pq_.")).collect();
        self.out.message(b'v', |body| {
            body.extend((3u32 << 16).to_be_bytes());
            body.extend((unknown.len() as u32).to_be_bytes());
            unknown.iter().for_each(|name| put_text(body, name));
        });
    }

    /// What a client sets as it connects, and what it is sent about the server.
    fn set_first(&mut self, parameters: &[(String, String)]) {
        let mut set: Vec<(String, String)> = Vec::new();
        for (name, value) in parameters {
            match name.as_str() {
                "user" | "database" | "replication" => {}
                "options" => {
                    let words = value.replace("--", "-c ");
                    let pairs = words.split("-c").filter_map(|pair| pair.trim().split_once('='));
                    set.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                name => set.push((name.to_owned(), value.clone())),
            }
        }
        let Ok(mut variables) = self.variables.lock() else { return };
        for (name, value) in set {
            if let Err(refusal) = variables.set(&name, Some(&value)) {
                self.out.report("NOTICE", refusal.code, &refusal.problem, &refusal.hint);
            }
        }
        variables.reported().for_each(|(name, value)| self.out.parameter(name, value));
        self.out.parameter("is_superuser", "off");
        self.out.parameter("session_authorization", &self.user);
    }

    /// Whoever is known by a key must show it; a password is for the others.
    fn authenticate(&mut self) -> Result<(), Ended> {
        let certified = self.shared.options.certified.iter().find(|peer| peer.member.name == self.user);
        let Some(Peer { member, role, .. }) = certified else { return self.prove_password() };
        if self.stream.shown_key() == Some(member.key) {
            self.audits = *role == Role::Auditor;
            return Ok(());
        }
        let hint = "connect over TLS with `sslcert` and `sslkey`, and the key that the node's settings name";
        self.stream.refuse("28000", "who has this name is known by a certificate, which was not shown", hint)?;
        Err(Ended::Rejected(format!("a connection as {} without its certificate", member.name)))
    }

    fn prove_password(&mut self) -> Result<(), Ended> {
        let analysts = &self.shared.options.analysts;
        let known = analysts.iter().find(|analyst| analyst.name == self.user);
        // Strangers' words stay out of the journal: a password may be among them.
        let who = known.map_or("nobody who is known".to_owned(), |analyst| analyst.name.clone());
        let verifier = known.map(|analyst| analyst.verifier.clone());
        let verifier = verifier.unwrap_or_else(|| Verifier::of_nobody(&self.shared.nobody, &self.user));
        self.out.message(b'R', |body| {
            body.extend(10u32.to_be_bytes());
            put_text(body, MECHANISM);
            body.push(0);
        });
        self.flush()?;
        let proven = self.exchange(verifier)?;
        if !proven || known.is_none() {
            let hint = "`hedgerow-node password` makes a new one, at the node";
            self.stream.refuse("28P01", "the name or the password is wrong", hint)?;
            return Err(Ended::Rejected(format!("a wrong password of {who}")));
        }
        Ok(())
    }

    fn exchange(&mut self, verifier: Verifier) -> Result<bool, Ended> {
        let first = self.answer_of_stranger()?;
        let mut body = Body(&first.body);
        let mechanism = body.text()?;
        let first = body.value()?.and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
        if mechanism != MECHANISM {
            return Ok(false);
        }
        let Some((exchange, text)) = Exchange::begin(verifier, first) else { return Ok(false) };
        self.out.message(b'R', |body| {
            body.extend(11u32.to_be_bytes());
            body.extend(text.as_bytes());
        });
        self.flush()?;
        let last = self.answer_of_stranger()?;
        let last = str::from_utf8(&last.body).unwrap_or_default();
        let Some(text) = exchange.finish(last) else { return Ok(false) };
        self.out.message(b'R', |body| {
            body.extend(12u32.to_be_bytes());
            body.extend(text.as_bytes());
        });
        Ok(true)
    }

    fn answer_of_stranger(&mut self) -> Result<Message, Ended> {
        let message = read_message(&mut self.stream, STRANGER_BYTES_MAX)?;
        if message.kind == b'p' {
            return Ok(message);
        }
        self.stream.refuse(PROTOCOL, "a password is expected", "connect with one")?;
        Err(Ended::Rejected("something else than a password".to_owned()))
    }
}
