//! What guarantees claim of themselves, and what a check believes, tried from outside.

mod dependency;
mod merging;
mod normal_form;
mod proximity;
mod vacuous;
