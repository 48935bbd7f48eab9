//! Nodes together: simulated in one process, and as real processes on this machine.

mod federation;
mod memory;
mod processes;
mod simulation;
mod strangers;
mod world;
