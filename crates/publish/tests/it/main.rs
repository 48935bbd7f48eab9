//! Binding and searching from outside.

mod anatomy;
mod as_read;
mod bind;
mod cloning;
mod cluster;
mod cluster_adversaries;
mod community;
mod decompose;
mod estimates;
mod gate;
mod local;
mod manifest;
mod oracle;
mod other_values;
mod out_of_core;
mod progress;
mod random_case;
mod undivided;
mod windows;
