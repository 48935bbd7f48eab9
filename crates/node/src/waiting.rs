//! Messages of peers that wait for the node's thread: their memory is limited for each peer.
//!
//! The queue has few places, but one message may have `limits.message-bytes`. A peer that sends
//! faster than the node reads would fill it with gigabytes while the node is at a long step.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// By peer, the bytes of its messages that wait.
    bytes: Mutex<BTreeMap<String, usize>>,
    fewer: Condvar,
}

/// The memory of one message, free again when this is dropped.
#[derive(Debug)]
pub struct Waits {
    waiting: Waiting,
    peer: String,
    bytes: usize,
}

impl Waiting {
    /// Returns once there is room for a message of this peer; one alone always has room. Messages
    /// of other peers are not held up.
    pub(crate) fn enter(&self, peer: &str, bytes: usize, bytes_max: usize) -> Waits {
        let full = |all: &mut BTreeMap<String, usize>| {
            all.get(peer).is_some_and(|waiting| waiting.saturating_add(bytes) > bytes_max)
        };
        let Shared { bytes: all, fewer } = &*self.0;
        let all = all.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = fewer.wait_while(all, full).unwrap_or_else(PoisonError::into_inner);
        *all.entry(peer.to_owned()).or_default() += bytes;
        Waits { waiting: self.clone(), peer: peer.to_owned(), bytes }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        let Shared { bytes: all, fewer } = &*self.waiting.0;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = all.get_mut(&self.peer) {
            *waiting -= self.bytes;
            if *waiting == 0 {
                all.remove(&self.peer);
            }
        }
        fewer.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_peer_that_floods_the_node_waits_and_others_do_not() {
        let waiting = Waiting::default();
        let [first, second] = [60, 40].map(|bytes| waiting.enter("south", bytes, 100));
        let (done, entered) = channel();
        let flooding = waiting.clone();
        let third = thread::spawn(move || done.send(flooding.enter("south", 1, 100)));
        let waits = entered.recv_timeout(Duration::from_millis(100));
        assert_eq!(waits.err(), Some(RecvTimeoutError::Timeout), "more than its limit waits");
        drop(waiting.enter("east", 100, 100));
        drop(second);
        let held = entered.recv_timeout(Duration::from_secs(10)).expect("there is room again");
        third.join().unwrap().unwrap();
        drop((first, held));
        assert_eq!(waiting.0.bytes.lock().unwrap().len(), 0);
        drop(waiting.enter("south", 1000, 100));
    }
}
