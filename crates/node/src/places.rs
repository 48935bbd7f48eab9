//! How many connections a listener holds, and which one gives way when there are too many.
//!
//! A connection that has not proven its identity takes one of a limited number of *unauthenticated*
//! places. When they are full, a new connection is not refused: the oldest unauthenticated
//! connection of the address that holds most of them is closed. An attacker who opens connections
//! without end therefore closes its own connections, and a peer needs a place only for the
//! milliseconds of its handshake. A connection that has proven its identity leaves these places and
//! counts for its own name, so that strangers never take a place from a peer.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::socket::shut_down;

/// Which part of a network address one client controls: an IPv6 client has a network of 64 bits.
pub(crate) fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// The treatment of a connection that exceeds the places of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    /// The oldest connection of the same name is closed: it may be one whose end was not noticed.
    ClosesOldest,
    Refused,
}

/// How many connections have proven their identity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// Of one name.
    pub(crate) of_name: usize,
    /// Of all names together.
    pub(crate) in_all: usize,
    pub(crate) excess: Excess,
}

#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    /// Connections are numbered in their order.
    next: u64,
    unauthenticated: BTreeMap<u64, (IpAddr, Arc<TcpStream>)>,
    authenticated: BTreeMap<u64, (String, Arc<TcpStream>)>,
}

/// The place of one connection, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    places: Arc<Places>,
    number: u64,
}

impl Places {
    /// A place for a new connection. When `unauthenticated_max` are taken, another one is closed.
    pub(crate) fn enter(self: &Arc<Self>, tcp: &Arc<TcpStream>, unauthenticated_max: usize) -> ConnectionPlace {
        let address = tcp.peer_addr().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |address| address.ip());
        let mut taken = self.lock();
        while taken.unauthenticated.len() >= unauthenticated_max.max(1) {
            taken.close_unauthenticated();
        }
        taken.next += 1;
        let number = taken.next;
        taken.unauthenticated.insert(number, (client_network(address), Arc::clone(tcp)));
        ConnectionPlace { places: Arc::clone(self), number }
    }

    /// Closes the authenticated connections of the names that `closes` chooses.
    pub(crate) fn close_authenticated(&self, closes: impl Fn(&str) -> bool) {
        let taken = self.lock();
        taken.authenticated.values().filter(|(name, _)| closes(name)).for_each(|(_, tcp)| shut_down(tcp));
    }

    pub(crate) fn authenticated(&self) -> usize {
        self.lock().authenticated.len()
    }

    pub(crate) fn unauthenticated(&self) -> usize {
        self.lock().unauthenticated.len()
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn close_unauthenticated(&mut self) {
        let mut by_address: BTreeMap<IpAddr, (usize, u64)> = BTreeMap::new();
        for (number, (address, _)) in &self.unauthenticated {
            by_address.entry(*address).or_insert((0, *number)).0 += 1;
        }
        // The first number of an address is its oldest connection.
        let Some((_, oldest)) = by_address.into_values().max_by_key(|(count, _)| *count) else { return };
        if let Some((_, tcp)) = self.unauthenticated.remove(&oldest) {
            shut_down(&tcp);
        }
    }
}

impl ConnectionPlace {
    /// Whether the connection still has its place, and was not closed for another one.
    pub(crate) fn is_held(&self) -> bool {
        let taken = self.places.lock();
        taken.unauthenticated.contains_key(&self.number) || taken.authenticated.contains_key(&self.number)
    }

    /// Moves the connection to the places of `name`; false when they are full, or when it was
    /// closed.
    pub(crate) fn authenticate(&self, name: &str, limits: ConnectionLimits) -> bool {
        let mut taken = self.places.lock();
        let Some((address, tcp)) = taken.unauthenticated.remove(&self.number) else { return false };
        let own: Vec<u64> =
            taken.authenticated.iter().filter(|(_, (other, _))| other == name).map(|(number, _)| *number).collect();
        let full = own.len() >= limits.of_name || taken.authenticated.len() >= limits.in_all;
        if full && (limits.excess == Excess::Refused || own.is_empty()) {
            taken.unauthenticated.insert(self.number, (address, tcp));
            return false;
        }
        if full && let Some((_, oldest)) = taken.authenticated.remove(&own[0]) {
            shut_down(&oldest);
        }
        taken.authenticated.insert(self.number, (name.to_owned(), tcp));
        true
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.unauthenticated.remove(&self.number);
        taken.authenticated.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Connections to a listener of this machine, and the listener's ends of them.
    fn connections(count: usize) -> Vec<(TcpStream, Arc<TcpStream>)> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pair = |_| {
            let client = TcpStream::connect(address).unwrap();
            (client, Arc::new(listener.accept().unwrap().0))
        };
        (0..count).map(pair).collect()
    }

    #[test]
    fn the_oldest_stranger_gives_way_and_no_authenticated_connection_does() {
        let places = Arc::new(Places::default());
        let connections = connections(6);
        let limits = ConnectionLimits { of_name: 1, in_all: 10, excess: Excess::ClosesOldest };
        let peer = places.enter(&connections[0].1, 2);
        assert!(peer.authenticate("north", limits));
        let strangers: Vec<ConnectionPlace> = connections[1..5].iter().map(|(_, tcp)| places.enter(tcp, 2)).collect();
        let held: Vec<bool> = strangers.iter().map(ConnectionPlace::is_held).collect();
        assert_eq!(held, [false, false, true, true]);
        assert!(peer.is_held() && !strangers[0].authenticate("south", limits), "a closed connection");
        assert_eq!((places.unauthenticated(), places.authenticated()), (2, 1));
        // A peer's new connection closes its old one.
        let again = places.enter(&connections[5].1, 3);
        assert!(again.authenticate("north", limits) && !peer.is_held());
        drop((peer, again, strangers));
        assert_eq!((places.unauthenticated(), places.authenticated()), (0, 0));
    }

    /// A client that opens many connections closes its own, and not the only one of another.
    #[test]
    fn the_address_with_most_connections_gives_way() {
        let places = Arc::new(Places::default());
        let one = |address: &str| {
            let listener = TcpListener::bind(address).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (client, Arc::new(listener.accept().unwrap().0))
        };
        let quiet = one("127.0.0.1:0");
        let quiet_place = places.enter(&quiet.1, 4);
        let loud: Vec<_> = (0..9).map(|_| one("[::1]:0")).collect();
        let loud: Vec<_> = loud.iter().map(|(_, tcp)| places.enter(tcp, 4)).collect();
        assert!(quiet_place.is_held());
        assert_eq!(loud.iter().filter(|place| place.is_held()).count(), 3);
    }

    #[test]
    fn a_name_has_its_own_places() {
        let places = Arc::new(Places::default());
        let connections = connections(4);
        let limits = ConnectionLimits { of_name: 2, in_all: 3, excess: Excess::Refused };
        let place = |at: usize, name: &str| {
            let place = places.enter(&connections[at].1, 4);
            let taken = place.authenticate(name, limits);
            (place, taken)
        };
        let ada = [place(0, "ada"), place(1, "ada")];
        assert!(ada.iter().all(|(_, taken)| *taken));
        assert!(!place(2, "ada").1, "two of one name");
        let bob = place(2, "bob");
        assert!(bob.1 && !place(3, "bob").1, "three in all");
    }

    #[test]
    fn an_ipv6_client_is_its_network() {
        let network = |text: &str| client_network(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), network("2001:db8:1:2::9"));
        assert_ne!(network("2001:db8:1:2::9"), network("2001:db8:1:3::9"));
        assert_eq!(network("::ffff:192.0.2.7"), network("192.0.2.7"));
    }
}
