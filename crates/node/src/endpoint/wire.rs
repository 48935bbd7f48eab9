//! Messages of PostgreSQL's protocol, version 3.0, as bytes.
//!
//! A client is unknown until it is authenticated, so a length is compared with a limit before
//! anything is read, and a body that ends early is an error.

use std::io::{self, Read};

/// The longest first message, and the longest one before a client is authenticated.
pub(super) const UNAUTHENTICATED_BYTES_MAX: usize = 8 << 10;

const PROTOCOL_3: u32 = 3 << 16;
const TLS_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// Why a message cannot be read. The connection ends.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("a message of {length} bytes, but at most {most} are taken")]
    TooLong { length: usize, most: usize },
    #[error("a message that is not of this protocol")]
    Malformed,
    #[error("a text that is not UTF-8")]
    NotUtf8,
}

/// How a connection begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    Tls,
    Gss,
    Cancel {
        process: u32,
        secret: u32,
    },
    Session {
        minor: u16,
        parameters: Vec<(String, String)>,
    },
    /// Another protocol.
    Unknown,
}

pub(super) fn read_first(stream: &mut impl Read) -> Result<First, WireError> {
    let body = read_body(stream, UNAUTHENTICATED_BYTES_MAX)?;
    let mut body = Body(&body);
    Ok(match body.u32()? {
        TLS_REQUEST => First::Tls,
        GSS_REQUEST => First::Gss,
        CANCEL_REQUEST => First::Cancel { process: body.u32()?, secret: body.u32()? },
        version if version & 0xffff_0000 == PROTOCOL_3 => {
            let mut parameters = Vec::new();
            loop {
                let name = body.text()?;
                if name.is_empty() {
                    break;
                }
                parameters.push((name, body.text()?));
            }
            First::Session { minor: version as u16, parameters }
        }
        _ => First::Unknown,
    })
}

/// A message with its kind.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: u8,
    pub(super) body: Vec<u8>,
}

pub(super) fn read_message(stream: &mut impl Read, bytes_max: usize) -> Result<Message, WireError> {
    let mut kind = [0];
    stream.read_exact(&mut kind)?;
    Ok(Message { kind: kind[0], body: read_body(stream, bytes_max)? })
}

/// Four bytes of length, which count themselves, and the rest.
fn read_body(stream: &mut impl Read, bytes_max: usize) -> Result<Vec<u8>, WireError> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > bytes_max {
        return Err(WireError::TooLong { length, most: bytes_max });
    }
    let mut body = vec![0; length.checked_sub(4).ok_or(WireError::Malformed)?];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// The unread rest of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'a>(pub(super) &'a [u8]);

impl<'a> Body<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(WireError::Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.bytes(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, WireError> {
        self.bytes(2)?.try_into().map(u16::from_be_bytes).map_err(|_| WireError::Malformed)
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        self.bytes(4)?.try_into().map(u32::from_be_bytes).map_err(|_| WireError::Malformed)
    }

    /// Text up to a zero.
    pub(super) fn text(&mut self) -> Result<String, WireError> {
        let length = self.0.iter().position(|byte| *byte == 0).ok_or(WireError::Malformed)?;
        let text = self.bytes(length + 1)?;
        String::from_utf8(text[..length].to_vec()).map_err(|_| WireError::NotUtf8)
    }

    /// A value that may be missing, with its length before it.
    pub(super) fn value(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        match self.u32()? {
            u32::MAX => Ok(None),
            length => self.bytes(length as usize).map(Some),
        }
    }

    /// Numbers of two bytes, after their count.
    pub(super) fn formats(&mut self) -> Result<Vec<u16>, WireError> {
        let count = self.u16()?;
        (0..count).map(|_| self.u16()).collect()
    }
}

/// Messages that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Out(pub(super) Vec<u8>);

impl Out {
    pub(super) fn message(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
        self.0.push(kind);
        let at = self.0.len();
        self.0.extend([0; 4]);
        write(&mut self.0);
        let length = (self.0.len() - at) as u32;
        self.0[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }

    pub(super) fn parameter(&mut self, name: &str, value: &str) {
        self.message(b'S', |body| {
            put_text(body, name);
            put_text(body, value);
        });
    }

    pub(super) fn complete(&mut self, tag: &str) {
        self.message(b'C', |body| put_text(body, tag));
    }

    /// An error or a notice: a severity, a code of SQLSTATE, and what to do about it.
    pub(super) fn report(&mut self, severity: &str, code: &str, problem: &str, hint: &str) {
        let kind = if severity == "NOTICE" { b'N' } else { b'E' };
        self.message(kind, |body| {
            for (field, text) in [(b'S', severity), (b'V', severity), (b'C', code), (b'M', problem), (b'H', hint)] {
                if !text.is_empty() {
                    body.push(field);
                    put_text(body, text);
                }
            }
            body.push(0);
        });
    }
}

/// Text with a zero after it; zeros within would end it early.
pub(super) fn put_text(body: &mut Vec<u8>, text: &str) {
    body.extend(text.bytes().filter(|byte| *byte != 0));
    body.push(0);
}

pub(super) fn put_value(body: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        Some(bytes) => {
            body.extend((bytes.len() as u32).to_be_bytes());
            body.extend(bytes);
        }
        None => body.extend(u32::MAX.to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(code: u32, rest: &[u8]) -> Vec<u8> {
        let mut bytes = ((rest.len() + 8) as u32).to_be_bytes().to_vec();
        bytes.extend(code.to_be_bytes());
        bytes.extend(rest);
        bytes
    }

    #[test]
    fn first_messages_are_distinguished() {
        let read = |bytes: Vec<u8>| read_first(&mut bytes.as_slice());
        assert_eq!(read(first(TLS_REQUEST, b"")).unwrap(), First::Tls);
        assert_eq!(read(first(GSS_REQUEST, b"")).unwrap(), First::Gss);
        let cancel = read(first(CANCEL_REQUEST, &[0, 0, 0, 7, 0, 0, 0, 9])).unwrap();
        assert_eq!(cancel, First::Cancel { process: 7, secret: 9 });
        let session = read(first(PROTOCOL_3, b"user\0ada\0\0")).unwrap();
        assert_eq!(session, First::Session { minor: 0, parameters: vec![("user".to_owned(), "ada".to_owned())] });
        assert_eq!(read(first(2 << 16, b"")).unwrap(), First::Unknown);
    }

    #[test]
    fn a_message_that_is_cut_or_too_long_is_an_error() {
        let whole = first(PROTOCOL_3, b"user\0ada\0\0");
        for length in 0..whole.len() {
            assert!(read_first(&mut &whole[..length]).is_err(), "{length}");
        }
        let gigabyte = [&[b'Q'][..], &(1u32 << 30).to_be_bytes()].concat();
        let refused = read_message(&mut gigabyte.as_slice(), 1 << 20).unwrap_err();
        assert!(matches!(refused, WireError::TooLong { length: 0x4000_0000, .. }));
        for length in [0u32, 1, 3] {
            let short = [&[b'Q'][..], &length.to_be_bytes()].concat();
            assert!(matches!(read_message(&mut short.as_slice(), 64).unwrap_err(), WireError::Malformed));
        }
        assert!(Body(&[0, 3, 0, 1]).formats().is_err());
        assert!(Body(&[0, 0, 0, 5, 1]).value().is_err());
        assert!(Body(b"no zero").text().is_err());
        assert!(Body(&[0xff, 0]).text().is_err(), "not UTF-8");
    }
}
