//! An analyst's connection message by message, for what no client library sends.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use aws_lc_rs::{digest, hmac, pbkdf2};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::analysts::Endpoint;

pub(crate) struct Raw(pub(crate) TcpStream);

/// A kind and a body.
pub(crate) type Message = (u8, Vec<u8>);

pub(crate) fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}

fn sign(key: &[u8], message: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message.as_bytes()).as_ref().to_vec()
}

/// An attempt of which the last message is not sent yet.
pub(crate) struct Attempt {
    raw: Raw,
    last: Vec<u8>,
}

impl Raw {
    pub(crate) fn connect(port: u16) -> Raw {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        Raw(stream)
    }

    pub(crate) fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 4).to_be_bytes();
        self.0.write_all(&[&[kind][..], &length, body].concat())
    }

    pub(crate) fn read(&mut self) -> io::Result<Message> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok((head[0], body))
    }

    /// The messages up to one of a kind, which is the last.
    pub(crate) fn read_to(&mut self, kind: u8) -> io::Result<Vec<Message>> {
        let mut messages = Vec::new();
        loop {
            messages.push(self.read()?);
            if messages.last().is_some_and(|(last, _)| *last == kind) {
                return Ok(messages);
            }
        }
    }

    /// As far as the message that proves the password.
    pub(crate) fn attempt(port: u16, user: &str, password: &str) -> Attempt {
        let mut raw = Raw::connect(port);
        let parameters = format!("user\0{user}\0database\0hedgerow\0\0");
        let mut first = ((parameters.len() + 8) as u32).to_be_bytes().to_vec();
        first.extend([0, 3, 0, 0]);
        first.extend(parameters.as_bytes());
        raw.0.write_all(&first).unwrap();
        assert_eq!(raw.read().unwrap().0, b'R');
        let bare = "n=,r=rawclientnonce0123456789";
        let hello = format!("n,,{bare}");
        let answer = [text("SCRAM-SHA-256"), (hello.len() as u32).to_be_bytes().to_vec(), hello.into_bytes()].concat();
        raw.send(b'p', &answer).unwrap();
        let (kind, body) = raw.read().unwrap();
        assert_eq!(kind, b'R');
        let server = String::from_utf8(body[4..].to_vec()).unwrap();
        let part = |name: &str| server.split(',').find_map(|part| part.strip_prefix(name)).unwrap();
        let salt = STANDARD.decode(part("s=")).unwrap();
        let iterations = part("i=").parse().unwrap();
        let mut salted = [0; 32];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, password.as_bytes(), &mut salted);
        let key = sign(&salted, "Client Key");
        let stored = digest::digest(&digest::SHA256, &key);
        let bound = format!("c=biws,r={}", part("r="));
        let signature = sign(stored.as_ref(), &format!("{bare},{server},{bound}"));
        let proof: Vec<u8> = key.iter().zip(signature).map(|(key, signature)| key ^ signature).collect();
        Attempt { raw, last: format!("{bound},p={}", STANDARD.encode(proof)).into_bytes() }
    }

    /// An analyst who is let in.
    pub(crate) fn analyst(endpoint: &Endpoint) -> Raw {
        let mut attempt = Raw::attempt(endpoint.port, "ada", &endpoint.password);
        attempt.raw.send(b'p', &attempt.last).unwrap();
        attempt.raw.read_to(b'Z').unwrap();
        attempt.raw
    }

    pub(crate) fn parse(&mut self, name: &str, sql: &str) {
        self.send(b'P', &[text(name), text(sql), vec![0, 0]].concat()).unwrap();
    }

    /// A portal of a statement, without parameters, and all in text.
    pub(crate) fn bind(&mut self, portal: &str, name: &str) {
        self.send(b'B', &[text(portal), text(name), vec![0; 6]].concat()).unwrap();
    }

    pub(crate) fn execute(&mut self, portal: &str, rows: u32) {
        self.send(b'E', &[text(portal), rows.to_be_bytes().to_vec()].concat()).unwrap();
    }
}

impl Attempt {
    pub(crate) fn prove(&mut self) {
        self.raw.send(b'p', &self.last).unwrap();
    }

    /// Its outcome: the message of the error, or nothing.
    pub(crate) fn outcome(&mut self) -> Option<String> {
        let (kind, body) = self.raw.read().unwrap();
        (kind == b'E').then(|| String::from_utf8_lossy(&body).into_owned())
    }
}
