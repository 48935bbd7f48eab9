//! Reports as text: tables aligned for a person. Programs read the same reports as JSON.

pub(crate) mod answer;
pub(crate) mod decomposed;
