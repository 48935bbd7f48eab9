//! What a check believes, tried from outside.

mod earlier;
mod release;
