//! Binding and searching from outside.

mod anatomy;
mod bind;
mod local;
mod oracle;
mod random_case;
mod windows;
