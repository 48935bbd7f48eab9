//! Methods that release the values as they are, and hide which belong together: anatomy puts rows
//! into buckets, decompose does so for each set of sensitive attributes, clone into classes with
//! every sensitive value.

pub mod anatomy;
pub mod bucketized;
pub mod cloning;
pub mod decompose;
