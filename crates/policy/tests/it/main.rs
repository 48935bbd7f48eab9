//! The policy file from outside: what it may say, what is refused, and how the refusal reads.

mod cloning;
mod declared;
mod decompose;
mod good;
mod meaning;
mod mutation;
mod reading;
mod reference;
mod refusals;
mod rendering;
mod units;
