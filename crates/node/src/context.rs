//! The context of a node's runs and questions: the identity of the custodian, its book of runs, the
//! heads that its peers know, and the way out.

use std::sync::Arc;

use hedgerow_joint::{AgreedRef, Profile, Share};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{BurnBook, Digest, Member, Roster, SigningKey};
use rand::rngs::StdRng;

use crate::clock::Time;
use crate::heads::PeerHeads;
use crate::message::{Heads, Hex};
use crate::outbox::Outbox;
use crate::outlines::Outlines;
use crate::settings::{Deadlines, Peer, Role};
use crate::store::Store;
use crate::versions::OtherVersions;

/// Reads this custodian's rows as they are now. An error holds nothing private.
pub type ReadRows = Box<dyn FnMut() -> Result<Share, String> + Send>;

/// The identity of a node, its terms, and its peers.
pub struct Custodian {
    pub own: Member,
    /// The signing key of this node; `own` has the public half.
    pub signing: Arc<SigningKey>,
    pub peers: Vec<Peer>,
    pub agreed: AgreedRef,
    pub profile: Profile,
    pub deadlines: Deadlines,
    pub rows: ReadRows,
    pub outlines: Arc<Outlines>,
}

impl std::fmt::Debug for Custodian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Custodian").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Custodian {
    /// Its peers that are custodians too.
    pub(crate) fn custodians(&self) -> impl Iterator<Item = &Peer> + Clone {
        self.peers.iter().filter(|peer| peer.role == Role::Custodian)
    }

    /// Whether it knows a custodian by this name and these keys.
    pub(crate) fn knows(&self, member: &Member) -> bool {
        *member == self.own || self.custodians().any(|peer| peer.member == *member)
    }
}

#[derive(Debug)]
pub(crate) struct Context<S: ?Sized = dyn Store> {
    pub(crate) custodian: Custodian,
    pub(crate) terms: Digest,
    pub(crate) book: BurnBook,
    pub(crate) rng: StdRng,
    pub(crate) heads: PeerHeads,
    pub(crate) versions: OtherVersions,
    pub(crate) outbox: Outbox<S>,
}

impl<S> Context<S> {
    pub(crate) fn new(custodian: Custodian, store: S, book: BurnBook, rng: StdRng, time: Time) -> Context<S> {
        Context {
            terms: custodian.agreed.digest(custodian.profile, Chances::default()),
            outbox: Outbox::new(&custodian.own.name, &custodian.signing, time, store),
            heads: PeerHeads::new(time.steady_ms),
            versions: OtherVersions::default(),
            custodian,
            book,
            rng,
        }
    }
}

impl<S: Store + ?Sized> Context<S> {
    /// The heads of the journal and of the book of runs.
    pub(crate) fn own_heads(&self) -> Heads {
        let (rows, journal) = self.outbox.store().head();
        let book = self.book.head();
        Heads { rows, journal, entries: book.entries, book: Hex(book.digest) }
    }

    /// Why these custodians cannot work together today: their programs do not understand each
    /// other.
    pub(crate) fn why_unreadable(&self, roster: &Roster) -> Option<String> {
        self.versions.why_unreadable(&self.custodian.own.name, roster.members())
    }
}
