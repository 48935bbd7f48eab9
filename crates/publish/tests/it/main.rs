//! Binding and searching from outside.

mod all_worlds;
mod anatomy;
mod as_read;
mod bind;
mod cloning;
mod cluster;
mod cluster_adversaries;
mod coarsen;
mod community;
mod consistent;
mod decompose;
mod dependencies;
mod estimates;
mod every_world;
mod gate;
mod gate_examples;
mod local;
mod manifest;
mod oracle;
mod other_values;
mod out_of_core;
mod progress;
mod random_case;
mod undivided;
mod units;
mod windows;
