//! The `baseline` profile: the ring protocols of Jurczyk and Xiong (TR-2008-013), kept to be
//! compared with. Weaker than `masked`: both neighbors of a custodian together learn its part of
//! every sum.

mod ring;
mod run;
mod union;

pub use run::{Chances, Run, may_open, start};
pub use union::{Union, UnionInput, start as start_union};

#[cfg(test)]
pub(crate) use ring::order as ring_order_for_tests;
