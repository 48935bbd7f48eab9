//! Custodians who publish together, from outside.

mod agreement;
mod coalition;
mod equality;
mod fuzzed;
mod joint;
mod promises;
// The same random tables and policies that a single publisher is held to.
#[path = "../../../publish/tests/it/random_case.rs"]
#[allow(dead_code, reason = "not every test looks at all of a case")]
mod random_case;
mod rounds;
mod vectors;
