//! Admission of requests. The server listens on loopback, where every user of the machine and every
//! page in every browser can knock.
//!
//! - The address that is printed has a token that works once. The browser that opens it gets a
//!   cookie and a key; both are random and die with the server.
//! - A page without the key shows nothing: cookies go to every port of a host, so a cookie alone
//!   can reach a server of another user. The key stays with the page's own origin.
//! - Once the studio has ended, another user's program can listen on its port while the page is
//!   still open. So the page gets a proof with its key, which it never sends; an answer without it
//!   is not shown, and its sender gets no file.
//! - `Host` must be ours, so a name that a stranger points at loopback is refused (DNS rebinding);
//!   `Origin` must be ours wherever something is changed (cross-site requests).

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use rand::TryRng as _;
use rand::rngs::SysRng;
use subtle::ConstantTimeEq as _;

use crate::form::Form;

/// The header in which the page sends its key.
pub(crate) const KEY_HEADER: &str = "x-studio-key";
/// The header in which an answer proves that it comes from the studio.
pub(crate) const PROOF_HEADER: &str = "x-studio-proof";
/// Browsers that can be inside at the same time; the oldest goes first.
const SESSIONS_MAX: usize = 16;
/// Addresses that were printed and not opened.
const TOKENS_MAX: usize = 8;
/// One-time links that were not followed.
const LINKS_MAX: usize = 64;

/// The access of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Scripts and styles: the same for everyone.
    Asset,
    /// The token was right: the browser gets this cookie, this key and this proof.
    Welcome { cookie: String, key: String, proof: String },
    /// The frame of a page, without anything in it.
    Frame,
    /// Everything, in answers with this proof.
    Inside { proof: String },
    /// The session that a one-time link opens.
    Once(String),
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RequestRefusal {
    pub(crate) status: StatusCode,
    pub(crate) problem: &'static str,
}

#[derive(Debug)]
struct BrowserSession {
    cookie: String,
    key: String,
    proof: String,
}

#[derive(Debug, Default)]
struct Secrets {
    tokens: Vec<String>,
    sessions: Vec<BrowserSession>,
    links: Vec<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct Guard {
    port: u16,
    secrets: Mutex<Secrets>,
}

impl Guard {
    pub(crate) fn new(port: u16) -> Guard {
        Guard { port, secrets: Mutex::default() }
    }

    /// An address that works once.
    pub(crate) fn new_address(&self) -> Result<String, String> {
        let token = random()?;
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        keep(&mut secrets.tokens, token.clone(), TOKENS_MAX);
        Ok(format!("http://127.0.0.1:{}/?token={token}", self.port))
    }

    /// A path that works once and stands for `what`.
    pub(crate) fn new_link(&self, what: &str) -> Result<String, String> {
        let name = random()?;
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        keep(&mut secrets.links, (name.clone(), what.to_owned()), LINKS_MAX);
        Ok(format!("/once/{name}"))
    }

    /// The name of the cookie: studios on several ports do not overwrite one another's.
    pub(crate) fn cookie_name(&self) -> String {
        format!("hedgerow-studio-{}", self.port)
    }

    /// Judges a request by everything but its body.
    pub(crate) fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Access, RequestRefusal> {
        let forbidden = |problem| RequestRefusal { status: StatusCode::FORBIDDEN, problem };
        let own_hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let host = text(headers, header::HOST.as_str()).unwrap_or_default();
        if !own_hosts.iter().any(|own| own == host) {
            return Err(forbidden("This server answers under its own name alone."));
        }
        let is_read = method == Method::GET;
        if !is_read && method != Method::POST {
            let problem = "Only GET and POST are understood.";
            return Err(RequestRefusal { status: StatusCode::METHOD_NOT_ALLOWED, problem });
        }
        let origin = text(headers, header::ORIGIN.as_str());
        let is_own_origin = origin.is_some_and(|origin| origin.strip_prefix("http://") == Some(host));
        if !is_own_origin && (origin.is_some() || !is_read) {
            return Err(forbidden("The request comes from another page."));
        }
        // A link may be followed from elsewhere; pictures, frames and scripts may not be loaded.
        let site = text(headers, "sec-fetch-site").unwrap_or("none");
        let is_own = ["none", "same-origin"].contains(&site);
        let is_link = is_read && text(headers, "sec-fetch-dest").is_none_or(|dest| dest == "document");
        if !is_own && !is_link {
            return Err(forbidden("The request comes from another page."));
        }
        if is_read && uri.path().starts_with("/assets/") {
            return Ok(Access::Asset);
        }
        let query = Form::parse(uri.query().unwrap_or_default());
        if is_read && uri.path() == "/" && query.has("token") {
            return self.redeem(query.get("token"));
        }
        self.inside(method, uri, headers)
    }

    fn redeem(&self, token: &str) -> Result<Access, RequestRefusal> {
        let (cookie, key, proof) = match (random(), random(), random()) {
            (Ok(cookie), Ok(key), Ok(proof)) => (cookie, key, proof),
            _ => {
                let problem = "The system gives no random numbers.";
                return Err(RequestRefusal { status: StatusCode::INTERNAL_SERVER_ERROR, problem });
            }
        };
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = secrets.tokens.iter().position(|known| is_equal(known, token)) else {
            let problem = "This address was opened before, or is not whole. Press Enter in the terminal where the studio runs for a new one.";
            return Err(RequestRefusal { status: StatusCode::FORBIDDEN, problem });
        };
        secrets.tokens.remove(place);
        let session = BrowserSession { cookie: cookie.clone(), key: key.clone(), proof: proof.clone() };
        keep(&mut secrets.sessions, session, SESSIONS_MAX);
        Ok(Access::Welcome { cookie, key, proof })
    }

    fn inside(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Access, RequestRefusal> {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let sent: Vec<&str> = cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(found, _)| *found == name)
            .map(|(_, value)| value)
            .collect();
        let session = secrets.sessions.iter().find(|session| sent.iter().any(|sent| is_equal(&session.cookie, sent)));
        let Some(session) = session else {
            let problem = "This browser has not been let in. Open the address that the studio printed in its terminal; press Enter there for a new one.";
            return Err(RequestRefusal { status: StatusCode::FORBIDDEN, problem });
        };
        if let Some(link) = uri.path().strip_prefix("/once/") {
            let Some(place) = secrets.links.iter().position(|(known, _)| is_equal(known, link)) else {
                let problem = "This link worked once. Follow it again from the page.";
                return Err(RequestRefusal { status: StatusCode::NOT_FOUND, problem });
            };
            return Ok(Access::Once(secrets.links.remove(place).1));
        }
        match text(headers, KEY_HEADER) {
            Some(key) if is_equal(&session.key, key) => Ok(Access::Inside { proof: session.proof.clone() }),
            None if method == Method::GET => Ok(Access::Frame),
            _ => Err(RequestRefusal {
                status: StatusCode::FORBIDDEN,
                problem: "The page is from an earlier run. Open a new address.",
            }),
        }
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    // A second value of a header that decides is as good as none.
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() { Some("") } else { Some(first.to_str().unwrap_or("")) }
}

fn keep<T>(list: &mut Vec<T>, item: T, most: usize) {
    if list.len() >= most {
        list.remove(0);
    }
    list.push(item);
}

/// Compares without showing by its time where two secrets differ.
fn is_equal(known: &str, sent: &str) -> bool {
    known.as_bytes().ct_eq(sent.as_bytes()).into()
}

/// 256 bits from the system, as text.
fn random() -> Result<String, String> {
    let mut bytes = [0u8; 32];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
