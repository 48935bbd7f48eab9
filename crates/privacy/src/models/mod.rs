//! One file per privacy model.

mod alpha_k;
mod distinct_l;
mod entropy_l;
mod frequency_l;
mod k_anonymity;
mod recursive_l;
mod t_closeness;

pub use alpha_k::AlphaK;
pub use distinct_l::DistinctL;
pub use entropy_l::EntropyL;
pub use frequency_l::FrequencyL;
pub use k_anonymity::KAnonymity;
pub use recursive_l::RecursiveL;
pub use t_closeness::TCloseness;

use crate::{Guarantee, Model, Tree};

/// The guarantee that a model asks for. `limited` are the codes that (α,k)-anonymity's `values` name, `tree` the
/// protected attribute's hierarchy: both only where the model speaks of them.
pub fn guarantee(model: &Model, limited: Option<Vec<u32>>, tree: Option<&Tree>) -> Box<dyn Guarantee> {
    match model {
        Model::KAnonymity { .. } => Box::new(KAnonymity::new(model)),
        Model::DistinctLDiversity { .. } => Box::new(DistinctL::new(model)),
        Model::FrequencyLDiversity { .. } => Box::new(FrequencyL::new(model)),
        Model::EntropyLDiversity { .. } => Box::new(EntropyL::new(model)),
        Model::RecursiveLDiversity { .. } => Box::new(RecursiveL::new(model)),
        Model::TCloseness { .. } => Box::new(TCloseness::new(model, tree.cloned())),
        Model::AlphaKAnonymity { .. } => Box::new(AlphaK::new(model, limited)),
    }
}

/// The largest count among a class's values.
fn largest(values: &[(u32, u32)]) -> u64 {
    values.iter().map(|&(_, count)| u64::from(count)).max().unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod testing {
    //! Classes from plain counts, for the worked examples.

    use crate::{Class, Guarantee, Model, Whole};

    /// The counts of codes 0, 1, 2, …; zeros do not occur.
    pub(crate) fn holds(model: &Model, counts: &[u32]) -> bool {
        let values: Vec<(u32, u32)> =
            counts.iter().enumerate().filter(|(_, c)| **c > 0).map(|(code, &c)| (code as u32, c)).collect();
        let rows = counts.iter().map(|&c| u64::from(c)).sum();
        let guarantee: Box<dyn Guarantee> = super::guarantee(model, None, None);
        guarantee.holds(Class { rows, values: &values }, &Whole::default())
    }
}
