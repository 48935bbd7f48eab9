//! From a policy to a verified release in its place: the driver of the methods, and the catalog
//! that a release is audited with.
//!
//! Methods share `draft`. They are in `lattice`, `local` and `buckets`, and can be reached from
//! here.

pub mod catalog;
mod exposed_classes;
mod foreseen;
pub mod joint_refusals;
mod other_methods;
mod out_of_core;
mod phase;
pub mod publish;
mod published;
pub mod recount;
pub mod remote;
mod repair;
mod repeating;
mod row_store;
mod rows;
pub mod singling_out;
pub mod undivided;
mod write;

pub use hedgerow_buckets::{anatomy, cloning, decompose};
pub use hedgerow_draft::broken::people_whom_no_class_hides;
pub use hedgerow_draft::draft::Searched;
pub use hedgerow_draft::error::{Ineligible, PublishError, Unsatisfiable};
pub use hedgerow_draft::options::{PublishOptions, TableFormat};
pub use hedgerow_draft::{bind, coarsen, community, consistent, dependencies::closed_policy, loss, units};
pub use hedgerow_lattice::{explore, lattice, search, why};
pub use hedgerow_local::divided::Divided;
pub use hedgerow_local::outline::outline;
pub use hedgerow_local::{self as local, cluster};
pub use phase::PHASES;
pub use publish::{publish, publish_divided};
pub use published::Published;
pub use row_store::{OpenRows, RowSource, RowStore};
