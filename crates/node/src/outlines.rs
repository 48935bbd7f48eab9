//! The outlines of this node's epochs, made once: for the questions of others, and for what its
//! analysts ask about columns.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hedgerow_audit::query::parts::Outline;
use hedgerow_joint::JointClass;

/// Makes the outline of a release from its classes. An error holds nothing private.
pub type MakeOutline = Box<dyn Fn(&[JointClass]) -> Result<Outline, String> + Send + Sync>;

/// The most epochs whose outlines are kept in memory.
const OUTLINES_MAX: usize = 4;

/// The outlines of this node's epochs, made once: for questions of others and for its analysts.
pub struct Outlines {
    make: MakeOutline,
    made: Mutex<BTreeMap<u64, Arc<Outline>>>,
}

impl std::fmt::Debug for Outlines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outlines")
    }
}

impl Outlines {
    pub fn new(make: MakeOutline) -> Outlines {
        Outlines { make, made: Mutex::default() }
    }

    pub fn of(&self, epoch: u64, classes: &[JointClass]) -> Result<Arc<Outline>, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outline) = made.get(&epoch) {
            return Ok(Arc::clone(outline));
        }
        let outline = Arc::new((self.make)(classes)?);
        while made.len() >= OUTLINES_MAX {
            made.pop_first();
        }
        made.insert(epoch, Arc::clone(&outline));
        Ok(outline)
    }
}
