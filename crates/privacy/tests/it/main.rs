//! The claims of guarantees, and the assumptions of a check, tested from outside.

mod dependency;
mod merging;
mod normal_form;
mod proximity;
mod vacuous;
mod worlds;
