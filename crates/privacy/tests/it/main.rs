//! What guarantees claim of themselves, tried on random classes.

mod merging;
