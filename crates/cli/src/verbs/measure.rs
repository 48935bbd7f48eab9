//! stub
use std::process::ExitCode;
use crate::args::{Measure, Talk};
use crate::failure::Failure;
pub(crate) fn run(_: &Measure, _: &Talk) -> Result<ExitCode, Failure> { Ok(ExitCode::SUCCESS) }
