//! What a release is made of, and how it is read back: as its maker knows it, and as a stranger does.

pub mod bucketized;
pub mod classes;
mod clone_classes;
pub mod cloned;
pub mod codebook;
pub mod combined;
pub mod digest;
mod labels;
pub mod manifest;
pub mod open;
pub mod quoting;
pub mod read;
pub mod shape;
