//! The server: loopback only, one connection at a time for each request, every answer with headers
//! that let the page load nothing but its own files.

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::{BodyExt as _, Limited};

use crate::address::open_browser;
use crate::arguments::{Arguments, NamedInput};
use crate::doorway::{Doorway, Visitor};
use crate::form::Form;
use crate::guard::{Access, Guard, PROOF_HEADER, RequestRefusal};
use crate::patience::Patience;
use crate::routes::{self, RouteAnswer};
use crate::server::Server;
use crate::studio::Studio;
use crate::{assets, pages, say, upload};

/// A form has rules and names in it, not data.
const FORM_BYTES_MAX: usize = 1 << 20;

/// The page loads its own files and nothing else, and no other page may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// A report has its style in itself and no script.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox";

/// Serves until the process is ended.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let current = std::env::current_dir().map_err(|error| format!("the current directory cannot be read: {error}"))?;
    let named = NamedInput::sort(&arguments.named, &current)?;
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, arguments.port.unwrap_or(0));
    let listener = TcpListener::bind(address).map_err(|error| {
        format!("port {}: {error}\nhint: leave --port out, and a free one is taken", address.port())
    })?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    listener.set_nonblocking(true).map_err(|error| error.to_string())?;
    let studio = Arc::new(Studio::open(&named)?);
    let server = Arc::new(Server { guard: Arc::new(Guard::new(port)), studio, patience: Patience::from_now() });
    let first = server.guard.new_address()?;
    say(&format!("studio of {}", server.studio.confinement.folder().display()));
    say(&format!("open     {first}"));
    say("         the address works once, on this machine; Enter prints another, Ctrl-C ends the studio");
    let _opened = (!arguments.no_browser).then(|| open_browser(&first, port)).flatten();
    print_addresses(Arc::clone(&server));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|error| error.to_string())?;
        let router = Router::new().fallback(answer).with_state(server);
        let service = router.into_make_service_with_connect_info::<Visitor>();
        axum::serve(Doorway::new(listener), service).await.map_err(|error| error.to_string())
    })
}

/// Each line that is entered in the terminal prints an address for another browser.
fn print_addresses(server: Arc<Server>) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            match (line, server.guard.new_address()) {
                (Ok(_), Ok(address)) => say(&format!("open     {address}")),
                _ => return,
            }
        }
    });
}

async fn answer(
    State(server): State<Arc<Server>>,
    ConnectInfo(visitor): ConnectInfo<Visitor>,
    request: Request,
) -> Response {
    let server = Arc::new(server.now());
    let (parts, body) = request.into_parts();
    let access = match server.guard.admit(&parts.method, &parts.uri, &parts.headers) {
        Ok(access) => access,
        Err(refusal) => return refused(&refusal),
    };
    let path = parts.uri.path().to_owned();
    match access {
        Access::Asset => match assets::find(&path) {
            Some((text, media_type)) => respond(StatusCode::OK, media_type, text.to_owned()),
            None => respond(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "No such file.".to_owned()),
        },
        Access::Welcome { cookie, key, proof } => {
            let mut response = page(StatusCode::OK, pages::frame::welcome(&key, &proof).into_string());
            let name = server.guard.cookie_name();
            let cookie = format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict");
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Access::Frame if path == "/" => page(StatusCode::OK, pages::frame::frame("/data").into_string()),
        Access::Frame if routes::is_page(&path) => page(StatusCode::OK, pages::frame::frame(&path).into_string()),
        Access::Frame => not_found(),
        Access::Once(what) => {
            let blocking = tokio::task::spawn_blocking(move || routes::once(&server, &what));
            blocking.await.map_or_else(|_| internal(), respond_with)
        }
        Access::Inside { proof } => {
            visitor.recognize();
            let mut response = inside(server, parts, body).await;
            if let Ok(proof) = HeaderValue::from_str(&proof) {
                response.headers_mut().insert(HeaderName::from_static(PROOF_HEADER), proof);
            }
            response
        }
    }
}

/// Answers a browser that was let in.
async fn inside(server: Arc<Server>, parts: Parts, body: Body) -> Response {
    let (path, query) = (parts.uri.path().to_owned(), Form::parse(parts.uri.query().unwrap_or_default()));
    if path == "/upload" {
        let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let uploaded = upload::receive(&server.studio, &query, length, body).await;
        let blocking = tokio::task::spawn_blocking(move || routes::uploaded(&server.now(), &query, uploaded));
        return blocking.await.map_or_else(|_| internal(), respond_with);
    }
    let Ok(collected) = Limited::new(body, FORM_BYTES_MAX).collect().await else {
        let problem = "The form is larger than a form can be.";
        return refused(&RequestRefusal { status: StatusCode::PAYLOAD_TOO_LARGE, problem });
    };
    let form = Form::parse(&String::from_utf8_lossy(&collected.to_bytes()));
    let requested = routes::BrowserRequest { is_post: parts.method == axum::http::Method::POST, path, query, form };
    let blocking = tokio::task::spawn_blocking(move || routes::answer(&server, &requested));
    blocking.await.map_or_else(|_| internal(), respond_with)
}

fn respond_with(answer: RouteAnswer) -> Response {
    match answer {
        RouteAnswer::Page(text) => page(StatusCode::OK, text),
        RouteAnswer::NotFound => not_found(),
        RouteAnswer::Text(text) => respond(StatusCode::OK, "text/plain; charset=utf-8", text),
        RouteAnswer::Report(text) => {
            let mut response = page(StatusCode::OK, text);
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY));
            response
        }
        RouteAnswer::Download { name, bytes } => {
            let mut response = with_headers(Response::new(Body::from(bytes)), "application/octet-stream");
            let plain: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
            if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{plain}\"")) {
                response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
            }
            response
        }
    }
}

fn not_found() -> Response {
    refused(&RequestRefusal { status: StatusCode::NOT_FOUND, problem: "There is no such page." })
}

fn internal() -> Response {
    let problem = "Internal error: this is a bug in hedgerow. Reload the page; the policy is as it was.";
    refused(&RequestRefusal { status: StatusCode::INTERNAL_SERVER_ERROR, problem })
}

fn refused(refusal: &RequestRefusal) -> Response {
    page(refusal.status, pages::frame::refusal(refusal.problem).into_string())
}

fn page(status: StatusCode, text: String) -> Response {
    respond(status, "text/html; charset=utf-8", text)
}

fn respond(status: StatusCode, media_type: &'static str, text: String) -> Response {
    let mut response = with_headers(Response::new(Body::from(text)), media_type);
    *response.status_mut() = status;
    response
}

fn with_headers(mut response: Response, media_type: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
