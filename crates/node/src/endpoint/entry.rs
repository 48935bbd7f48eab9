//! How an analyst's connection begins: the certificate, or the password by SCRAM; the database, and
//! what is set.

use std::time::{Duration, Instant};

use super::refusal::{PROTOCOL, TOO_MANY_CONNECTIONS};
use super::session::EndpointSession;
use super::stream::{Ended, is_late};
use super::tokens::DATABASE;
use super::wire::{Body, Message, UNAUTHENTICATED_BYTES_MAX, WireError, put_text, read_message};
use crate::peer::Role;
use crate::places::{ConnectionLimits, Excess};
use crate::rejections::RejectionKind;
use crate::scram::{Exchange, Verifier, mechanisms};

impl EndpointSession<'_> {
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
            let problem = "there is no such database";
            self.stream.refuse("3D000", problem, &format!("connect to the database {DATABASE}"))?;
            return Err(Ended::Gone);
        }
        if given("replication").is_some_and(|value| !matches!(value, "false" | "off" | "0" | "no")) {
            self.stream.refuse("0A000", "replication is not offered", "connect without it")?;
            return Err(Ended::Gone);
        }
        let options = self.options();
        let limits = ConnectionLimits {
            of_name: options.connections_each,
            in_all: options.connections_max,
            excess: Excess::Refused,
        };
        let idle = options.idle;
        if !self.visitor.place.authenticate(&self.user, limits) {
            let problem = "too many connections, of this analyst or in all";
            self.stream.refuse(TOO_MANY_CONNECTIONS, problem, "close another connection, or try again later")?;
            let (kind, whom) = (RejectionKind::Limit, Some(self.user.clone()));
            return Err(Ended::Rejected { kind, whom, why: "too many connections".to_owned() });
        }
        self.stream.established(idle)?;
        self.budget.analyst = self.shared.memory.of_analyst(&self.user);
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

    /// The settings of a client that connects, and the server's parameters that it is sent.
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

    /// A party whose key is in the settings must show its certificate; all others prove a password.
    /// The messages to a client do not depend on whether the name exists, and in which of the two
    /// ways it is known.
    fn authenticate(&mut self) -> Result<(), Ended> {
        let certified = self.options().certified.iter().find(|peer| peer.member.name == self.user);
        if let Some(peer) = certified
            && self.stream.shown_key() == Some(peer.member.key)
        {
            self.audits = peer.role == Role::Auditor;
            return Ok(());
        }
        let known = self.options().analysts.iter().find(|analyst| analyst.name == self.user);
        let verifier = known.map(|analyst| analyst.verifier.clone());
        // What a stranger sends as a name stays out of the journal: it may be a password.
        let whom = (certified.is_some() || known.is_some()).then(|| self.user.clone());
        let (kind, why) = match (certified, known) {
            (Some(_), _) => (RejectionKind::Certificate, "no certificate, or one with another key"),
            (_, Some(_)) => (RejectionKind::Password, "a wrong password"),
            (None, None) => (RejectionKind::Password, "a password of an unknown name"),
        };
        let (address, backoff) = (self.visitor.address, &self.shared.backoff);
        if let Some(wait) = backoff.wait(&self.user, address, Instant::now()) {
            self.refuse_for_now(wait)?;
            return Err(Ended::Rejected { kind, whom, why: format!("{why}, sent too soon") });
        }
        let proven = match self.prove_password(verifier) {
            // A client without its certificate that disconnects when it is asked for a password.
            Err(Ended::Gone) if certified.is_some() => return Err(Ended::Rejected { kind, whom, why: why.to_owned() }),
            proven => proven?,
        };
        if let Some(wait) = backoff.attempted(&self.user, address, Instant::now(), proven) {
            self.refuse_for_now(wait)?;
            return Err(Ended::Rejected { kind, whom, why: format!("{why}, sent too soon") });
        }
        if proven {
            return Ok(());
        }
        let problem = "the name, the password or the certificate is wrong";
        self.stream.refuse(
            "28P01",
            problem,
            "the node's operator makes a new password with `hedgerow-node password`",
        )?;
        Err(Ended::Rejected { kind, whom, why: why.to_owned() })
    }

    fn refuse_for_now(&mut self, wait: Duration) -> Result<(), Ended> {
        let hint = format!("try again in {} s", wait.as_secs() + 1);
        Ok(self.stream.refuse("28P01", "too many wrong passwords", &hint)?)
    }

    /// Whether the client proves the password. A name without a verifier gets a decoy, and never
    /// does.
    fn prove_password(&mut self, verifier: Option<Verifier>) -> Result<bool, Ended> {
        let real: Vec<&Verifier> = self.options().analysts.iter().map(|analyst| &analyst.verifier).collect();
        let exists = verifier.is_some();
        let verifier = verifier.unwrap_or_else(|| Verifier::decoy(&self.shared.decoy, &self.user, &real));
        let binding = self.visitor.options().and_then(|(_, tls)| tls.binding.clone());
        let binding = binding.filter(|_| self.stream.is_encrypted());
        self.out.message(b'R', |body| {
            body.extend(10u32.to_be_bytes());
            mechanisms(binding.as_deref()).iter().for_each(|mechanism| put_text(body, mechanism));
            body.push(0);
        });
        self.flush()?;
        Ok(self.exchange(verifier, binding.as_deref())? && exists)
    }

    fn exchange(&mut self, verifier: Verifier, binding: Option<&[u8]>) -> Result<bool, Ended> {
        let first = self.password_message()?;
        let mut body = Body(&first.body);
        let mechanism = body.text()?;
        let first = body.value()?.and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
        let begun = Exchange::begin(verifier, &mechanism, binding, first);
        let Some((exchange, text)) = begun else { return Ok(false) };
        self.out.message(b'R', |body| {
            body.extend(11u32.to_be_bytes());
            body.extend(text.as_bytes());
        });
        self.flush()?;
        let last = self.password_message()?;
        let last = str::from_utf8(&last.body).unwrap_or_default();
        let Some(text) = exchange.finish(last) else { return Ok(false) };
        self.out.message(b'R', |body| {
            body.extend(12u32.to_be_bytes());
            body.extend(text.as_bytes());
        });
        Ok(true)
    }

    fn password_message(&mut self) -> Result<Message, Ended> {
        let message = match read_message(&mut self.stream, UNAUTHENTICATED_BYTES_MAX) {
            Err(WireError::Io(error)) if is_late(&error) => {
                return Err(Ended::rejected(RejectionKind::Handshake, "no password in time"));
            }
            message => message?,
        };
        if message.kind == b'p' {
            return Ok(message);
        }
        self.stream.refuse(PROTOCOL, "a password is expected", "connect with one")?;
        Err(Ended::rejected(RejectionKind::Message, "something else than a password"))
    }
}
