//! Synthetic people, as many as wanted: a synthetic census for examples, tests and benchmarks.
//!
//! All people in it are invented. The tables behind it imitate what the censuses of a rich country
//! look like (a bulge of the middle-aged, a heavy head of birthplaces and a long tail, schooling
//! and pay that go together), so that a search meets the skew and the correlations of real
//! microdata. They are rounded by hand and prove nothing about any country.
//!
//! A seed names one endless list of people: a shorter file is the beginning of a longer one,
//! whatever the number of threads and whatever the machine, because every draw is integer
//! arithmetic.

mod census;
mod chance;
mod example;
mod hospital;
mod households;
mod income;
mod people;
mod person;
mod places;
mod schooling;
mod taxes;
mod traps;
mod work;

pub use census::census;
pub use example::{Fill, census_hierarchies, census_policy, example_files};
pub use hospital::hospital;
pub use households::households;
pub use taxes::taxes;
