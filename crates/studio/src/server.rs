//! The state that a request reaches: who may come in, the studio itself, and how long the request
//! may wait.

use std::sync::Arc;

use crate::guard::Guard;
use crate::patience::Patience;
use crate::studio::Studio;

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) guard: Arc<Guard>,
    pub(crate) studio: Arc<Studio>,
    pub(crate) patience: Patience,
}

impl Server {
    /// The same for a request that comes now.
    pub(crate) fn now(&self) -> Server {
        Server { guard: Arc::clone(&self.guard), studio: Arc::clone(&self.studio), patience: Patience::from_now() }
    }
}
