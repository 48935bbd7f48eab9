//! What a release is: its manifest and codebook, the kinds of tables it can consist of, and how each kind is opened and read
//! back, by its publisher and by anybody else. This crate knows no privacy model.

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
