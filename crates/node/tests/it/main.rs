//! Nodes together: simulated in one process, and as real processes on this machine.

mod analysts;
mod apart;
mod attacks;
mod byzantine;
mod clients;
mod container;
mod contradictions;
mod costs;
mod example;
mod federation;
mod handed_on;
mod memory;
mod operating;
mod outputs;
mod pinning;
mod processes;
mod raw;
mod refused;
mod restored;
mod ring;
#[path = "../../../cli/tests/it/schema.rs"]
mod schema;
mod simulation;
mod speed;
mod strangers;
mod trust;
mod upgrade;
mod world;
