//! `cargo xtask docs`: rewrites the documents that are written from the code. The tests that hold
//! them against the code write them when `HEDGEROW_WRITE_DOCS` is set, so that this program need
//! not be built with the crates it documents.

use std::process::Command;

use crate::schemas;

/// The crates with such tests, and the tests' name.
const WRITERS: [(&str, &str); 1] = [("hedgerow-policy", "reference")];

pub(crate) fn run() -> Result<(), String> {
    for (package, test) in WRITERS {
        let status = Command::new("cargo")
            .args(["test", "--package", package, "--test", "it", test])
            .env("HEDGEROW_WRITE_DOCS", "1")
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("`{package}` could not write its document"));
        }
    }
    schemas::run()
}
