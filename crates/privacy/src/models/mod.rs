//! One file per privacy model.

mod alpha_k;
mod belief_change;
mod cross_release;
mod delta_l;
mod distinct_l;
mod entropy_l;
mod epsilon_clone;
mod epsilon_m;
mod frequency_l;
mod k_anonymity;
mod recursive_l;
mod rho_breach;
mod t_closeness;

pub use alpha_k::AlphaK;
pub use belief_change::BeliefChange;
pub use cross_release::{Community, CrossRelease, EarlierRelease, Least, TooMany};
pub use delta_l::DeltaL;
pub use distinct_l::DistinctL;
pub use entropy_l::EntropyL;
pub use epsilon_clone::EpsilonClone;
pub use epsilon_m::EpsilonM;
pub use frequency_l::FrequencyL;
pub use k_anonymity::KAnonymity;
pub use recursive_l::RecursiveL;
pub use rho_breach::RhoBreach;
pub use t_closeness::TCloseness;

use std::sync::Arc;

use hedgerow_table::{Domain, Kind};

use crate::conditions::{Conditional, Having};
use crate::missing::HoldsTwice;
use crate::numbers::{NotNumbers, Numbers};
use crate::{Guarantee, Model, Tree};

/// The data that a model is judged with besides its parameters. Each part is read only by the
/// models that speak of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The protected attribute's values. Without them, a model that measures distances takes all
    /// codes for far apart.
    pub protect: Option<&'a Domain>,
    /// The protected attribute's hierarchy.
    pub tree: Option<&'a Tree>,
    /// The disclosure of the protected attribute by earlier releases. Without it, cross-release
    /// l-diversity holds for no class.
    pub community: Option<&'a Arc<Community>>,
    /// The code of the missing value, where the values themselves are not given.
    pub missing: Option<u32>,
}

impl Context<'_> {
    fn missing_code(&self) -> Option<u32> {
        self.missing.or_else(|| self.protect.and_then(Domain::missing_code))
    }
}

/// The guarantee that a model requires. Where the protected attribute has missing values, it holds
/// with missing as a value of its own and among the rows whose value is known. Refused when a model
/// that measures distances meets values without numbers and without an order.
pub fn guarantee(model: &Model, context: &Context<'_>) -> Result<Box<dyn Guarantee>, NotNumbers> {
    if let Model::Conditional { model: inner, having, .. } = model {
        let having = having.as_ref().map(|values| match context.protect {
            Some(domain) => Having::Codes(codes_of(values, domain)),
            None => Having::Any,
        });
        return Ok(Box::new(Conditional::new(model, guarantee(inner, context)?, having)));
    }
    let guarantee = of_model(model, context)?;
    Ok(match context.missing_code() {
        // Missing values say nothing of how many rows look alike; and earlier releases are compared
        // by known values alone.
        Some(missing) if !matches!(model, Model::KAnonymity { .. } | Model::CrossReleaseLDiversity { .. }) => {
            Box::new(HoldsTwice::new(guarantee, missing, context.tree.cloned()))
        }
        _ => guarantee,
    })
}

fn of_model(model: &Model, context: &Context<'_>) -> Result<Box<dyn Guarantee>, NotNumbers> {
    let Context { protect, tree, community, .. } = *context;
    let numbers = || protect.map_or(Ok(Numbers::default()), Numbers::of);
    Ok(match model {
        Model::KAnonymity { .. } => Box::new(KAnonymity::new(model)),
        Model::DistinctLDiversity { .. } => Box::new(DistinctL::new(model)),
        Model::FrequencyLDiversity { .. } => Box::new(FrequencyL::new(model)),
        Model::EntropyLDiversity { .. } => Box::new(EntropyL::new(model)),
        Model::RecursiveLDiversity { .. } => Box::new(RecursiveL::new(model)),
        Model::TCloseness { .. } => {
            let ranking = protect.map_or(Ok(None), |domain| model.ranking(domain))?;
            Box::new(TCloseness::new(model, tree.cloned(), ranking))
        }
        Model::AlphaKAnonymity { values, .. } => Box::new(AlphaK::new(model, Limited::of(values.as_ref(), protect))),
        Model::RhoBreach { values, .. } => Box::new(RhoBreach::new(model, Limited::of(values.as_ref(), protect))),
        Model::BeliefChange { values, .. } => Box::new(BeliefChange::new(model, Limited::of(values.as_ref(), protect))),
        Model::EpsilonMAnonymity { relative: true, .. }
            if protect.is_some_and(|domain| domain.kind() == Kind::Date) =>
        {
            return Err(NotNumbers::ShareOfDates);
        }
        Model::EpsilonClone { .. } => Box::new(EpsilonClone::new(model)),
        Model::EpsilonMAnonymity { .. } => Box::new(EpsilonM::new(model, &numbers()?)),
        Model::DeltaLDiversity { .. } => Box::new(DeltaL::new(model, &numbers()?)),
        Model::CrossReleaseLDiversity { .. } => {
            Box::new(CrossRelease::new(model, community.cloned().unwrap_or_default(), protect))
        }
        Model::Conditional { .. } => return guarantee(model, context),
    })
}

/// The protected values that a model limits: all of them, or those that it names.
#[derive(Debug, Clone, Default)]
pub struct Limited(Option<Vec<u32>>);

impl Limited {
    pub fn all() -> Limited {
        Limited(None)
    }

    pub fn to(mut codes: Vec<u32>) -> Limited {
        codes.sort_unstable();
        Limited(Some(codes))
    }

    /// Of a protected attribute's values; all where these are not known.
    fn of(values: Option<&Vec<String>>, protect: Option<&Domain>) -> Limited {
        Limited(values.zip(protect).map(|(values, domain)| codes_of(values, domain)))
    }

    fn has(&self, code: u32) -> bool {
        self.0.as_ref().is_none_or(|codes| codes.binary_search(&code).is_ok())
    }

    /// The codes of the named values, ascending.
    fn codes(&self) -> Option<&[u32]> {
        self.0.as_deref()
    }
}

/// The codes of values, ascending; one that does not occur has none.
fn codes_of(values: &[String], domain: &Domain) -> Vec<u32> {
    let mut codes: Vec<u32> = values.iter().filter_map(|value| domain.code_of(value)).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The largest count among a class's values.
fn largest(values: &[(u32, u32)]) -> u64 {
    values.iter().map(|&(_, count)| u64::from(count)).max().unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod testing {
    //! Classes from plain counts, for the worked examples.

    use hedgerow_table::Domain;

    use super::Context;
    use crate::{Class, Distribution, Model};

    /// The counts of codes 0, 1, 2, …; zeros do not occur.
    pub(crate) fn holds(model: &Model, counts: &[u32]) -> bool {
        let values: Vec<(u32, u32)> =
            counts.iter().enumerate().filter(|(_, c)| **c > 0).map(|(code, &c)| (code as u32, c)).collect();
        let rows = counts.iter().map(|&c| u64::from(c)).sum();
        let guarantee = super::guarantee(model, &Context::default()).expect("a model that does not measure distances");
        guarantee.holds(Class { rows, values: &values }, &Distribution::default())
    }

    /// Whether the class with these values holds; an empty text is missing.
    pub(crate) fn holds_for(model: &Model, texts: &[&str]) -> bool {
        let (domain, values) = class_of(texts);
        let guarantee =
            super::guarantee(model, &Context { protect: Some(&domain), ..Context::default() }).expect("numbers");
        guarantee.holds(Class { rows: texts.len() as u64, values: &values }, &Distribution::default())
    }

    /// The first measure of the class with these values.
    pub(crate) fn measured(model: &Model, texts: &[&str]) -> f64 {
        let (domain, values) = class_of(texts);
        let guarantee =
            super::guarantee(model, &Context { protect: Some(&domain), ..Context::default() }).expect("numbers");
        guarantee.measure(Class { rows: texts.len() as u64, values: &values }, &Distribution::default())[0].value
    }

    fn class_of(texts: &[&str]) -> (Domain, Vec<(u32, u32)>) {
        let present: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
        let missing = texts.len() - present.len();
        let (domain, codes) = Domain::from_texts(&present, missing > 0, None).expect("any text");
        let mut counts = vec![0u32; domain.cardinality()];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        if let Some(code) = domain.missing_code() {
            counts[code as usize] = missing as u32;
        }
        let values = (0..).zip(counts).filter(|(_, count)| *count > 0).collect();
        (domain, values)
    }
}
