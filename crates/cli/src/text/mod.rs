//! Reports as text: tables aligned for a person. Programs read the same reports as JSON.

pub(crate) mod answer;
mod audit;
mod compared;
mod decomposed;
mod measures;

pub(crate) use audit::AuditText;
pub(crate) use compared::ComparedText;
pub(crate) use measures::MeasuresText;
