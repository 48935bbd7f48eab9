//! How to make it hold: the searches that turn a table and a policy into a release.

pub mod anatomy;
pub mod bind;
mod bucketized;
pub mod catalog;
pub mod cloning;
pub mod cluster;
pub mod community;
mod declared_range;
mod declared_values;
pub mod decompose;
mod draft;
pub mod error;
pub mod explore;
pub mod full_domain;
mod generalized;
mod glob;
pub mod lattice;
pub mod local;
pub mod loss;
mod out_of_core;
mod phase;
pub mod pruning;
pub mod publish;
pub mod remote;
mod rows;
pub mod search;
mod sets;
pub mod singling_out;
pub mod undivided;
pub mod why;

pub use error::{Ineligible, PublishError, Unsatisfiable};
pub use local::divided::Divided;
pub use local::outline::outline;
pub use phase::PHASES;
pub use publish::{
    PublishOptions, Published, ReadRemote, ReadWithin, Reader, Rows, Searched, Source, TableFormat, publish,
    publish_divided,
};
