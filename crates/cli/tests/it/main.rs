//! The command as its users meet it: what it prints, what it publishes, what it refuses, and what
//! it leaves behind when something goes wrong.
//!
//! No test here may rely on the current directory: `transcripts` changes it.

mod audits;
mod browser;
mod buckets;
mod changed_cells;
mod cloned_beside;
mod cloning;
mod closeness;
mod community;
mod conditions;
mod databases;
mod decompose;
mod destination;
mod entropy;
mod exact_numbers;
mod examples;
mod explore;
mod extreme_rows;
mod false_claims;
mod forged;
mod hidden;
mod init;
mod interrupted;
mod json;
mod known_values;
mod last_day;
mod local;
mod malformed;
mod memory;
mod metadata;
mod odd_tables;
mod one_estimator;
mod output;
mod own_audit;
mod random_releases;
mod release;
mod report;
mod report_numbers;
mod running;
mod schema;
mod tampered;
mod terminal;
mod transcripts;
mod traps;
mod units;
mod warnings;
mod wrong_manifests;
