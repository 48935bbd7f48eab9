//! What a release is made of, besides its tables.

pub mod bucketized;
pub mod codebook;
pub mod manifest;
pub mod quoting;
pub mod read;
pub mod shape;
