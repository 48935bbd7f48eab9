//! The searches from outside.

mod oracle;
