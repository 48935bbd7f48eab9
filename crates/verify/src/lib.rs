//! The gate, and the check that anybody can run: every guarantee is recomputed from the tables as
//! they were written. What was written is judged here and nowhere else.

pub mod check;
pub mod earlier;
pub mod kinds;
pub mod leftovers;
pub mod release_check;
pub mod verified;
pub mod warnings;
