//! Binding and searching from outside.

mod anatomy;
mod bind;
mod oracle;
