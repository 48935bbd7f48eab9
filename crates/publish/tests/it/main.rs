//! Binding and searching from outside.

mod bind;
mod oracle;
