//! The gate, and the check that any reader can run: every guarantee is recomputed from the tables
//! as they were written. What was written is judged here and nowhere else.

pub mod check;
mod claimed;
pub mod clone_promise;
pub mod closure;
pub mod earlier;
pub mod kinds;
mod possible;
pub mod related;
pub mod release_check;
mod stated;
mod units;
pub mod verified;
pub mod warnings;
