//! Binding and searching from outside.

mod anatomy;
mod bind;
mod local;
mod oracle;
<<<<<<< HEAD
mod random_case;
=======
mod windows;
>>>>>>> prox
