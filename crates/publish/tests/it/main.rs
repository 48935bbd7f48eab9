//! Binding and searching from outside.

mod anatomy;
mod bind;
mod cloning;
mod joint;
mod joint_promises;
mod local;
mod oracle;
mod random_case;
mod windows;
