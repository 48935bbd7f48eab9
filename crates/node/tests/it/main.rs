//! Nodes together: simulated in one process, and as real processes on this machine.

mod analysts;
mod apart;
mod clients;
mod federation;
mod memory;
mod outputs;
mod processes;
#[path = "../../../cli/tests/it/schema.rs"]
mod schema;
mod simulation;
mod speed;
mod strangers;
mod world;
