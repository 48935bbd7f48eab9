//! The assumptions of a check, tested from outside.

mod earlier;
mod release;
