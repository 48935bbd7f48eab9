//! The kinds of releases, one file each: how each is measured.

pub(crate) mod bucketized;
pub(crate) mod cloned;
pub(crate) mod generalized;
