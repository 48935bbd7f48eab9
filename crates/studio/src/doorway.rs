//! The doorway: which connections stay open. Everyone on the machine can open connections and leave
//! them idle, until the studio can open no file any more. So only a few of those that have shown no
//! key are kept: the oldest makes room for the next.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Connections without a key that are kept; a browser opens six.
const STRANGERS_MAX: usize = 48;

/// The listener of the studio.
#[derive(Debug)]
pub(crate) struct Doorway {
    listener: TcpListener,
    /// Connections that have shown no key, the oldest first.
    strangers: VecDeque<Weak<Mutex<ConnectionState>>>,
}

#[derive(Debug, Default)]
struct ConnectionState {
    is_known: bool,
    is_closed: bool,
    waker: Option<Waker>,
}

/// The one at the other end of a connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visitor(Arc<Mutex<ConnectionState>>);

impl Visitor {
    fn standing(&self) -> MutexGuard<'_, ConnectionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request on this connection had the key.
    pub(crate) fn recognize(&self) {
        self.standing().is_known = true;
    }

    fn close(&self) {
        let mut standing = self.standing();
        standing.is_closed = !standing.is_known;
        if let Some(waker) = standing.waker.take() {
            waker.wake();
        }
    }

    /// Fails once the connection was closed; until then its task is woken when that happens.
    fn check(&self, context: &Context<'_>) -> io::Result<()> {
        let mut standing = self.standing();
        if standing.is_closed {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if !standing.is_known {
            standing.waker = Some(context.waker().clone());
        }
        Ok(())
    }
}

impl Doorway {
    pub(crate) fn new(listener: TcpListener) -> Doorway {
        Doorway { listener, strangers: VecDeque::new() }
    }

    /// Makes room for one more, and remembers it.
    fn welcome(&mut self) -> Visitor {
        self.strangers.retain(|stranger| stranger.upgrade().is_some_and(|one| !Visitor(one).standing().is_known));
        while self.strangers.len() >= STRANGERS_MAX {
            if let Some(oldest) = self.strangers.pop_front().and_then(|oldest| oldest.upgrade()) {
                Visitor(oldest).close();
            }
        }
        let visitor = Visitor::default();
        self.strangers.push_back(Arc::downgrade(&visitor.0));
        visitor
    }
}

impl Listener for Doorway {
    type Io = Connection;
    type Addr = Visitor;

    async fn accept(&mut self) -> (Connection, Visitor) {
        // As axum does for a listener of its own: errors of one connection are passed over, and
        // without file handles it waits for some.
        let (stream, _) = Listener::accept(&mut self.listener).await;
        let visitor = self.welcome();
        (Connection { stream, visitor: visitor.clone() }, visitor)
    }

    fn local_addr(&self) -> io::Result<Visitor> {
        self.listener.local_addr().map(|_: SocketAddr| Visitor::default())
    }
}

impl Connected<IncomingStream<'_, Doorway>> for Visitor {
    fn connect_info(stream: IncomingStream<'_, Doorway>) -> Visitor {
        stream.remote_addr().clone()
    }
}

/// A connection that can be closed from outside.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    visitor: Visitor,
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.visitor.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.visitor.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.visitor.check(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
