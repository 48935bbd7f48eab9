//! The state that every request reaches: who may come in, and the studio itself.

use std::sync::Arc;

use crate::guard::Guard;
use crate::studio::Studio;

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) guard: Guard,
    pub(crate) studio: Arc<Studio>,
}
