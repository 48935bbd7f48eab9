//! Binding and searching from outside.

mod anatomy;
mod as_read;
mod bind;
mod cloning;
mod community;
mod decompose;
mod joint;
mod joint_promises;
mod joint_rounds;
mod joint_vectors;
mod local;
mod oracle;
mod random_case;
mod windows;
