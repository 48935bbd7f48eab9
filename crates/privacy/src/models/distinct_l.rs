//! Distinct l-diversity: every class holds at least l different protected values.
//!
//! Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: *l-diversity: privacy beyond k-anonymity*,
//! 2007, section 4. Absorbing: a union holds every value of each part. Cost: one comparison.

use crate::guarantee::{ClassMeasure, ValuesNeeded};
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct DistinctL {
    model: Model,
    l: u64,
}

impl DistinctL {
    pub fn new(model: &Model) -> Self {
        let Model::DistinctLDiversity { l } = *model else { unreachable!("dispatched by model") };
        DistinctL { model: model.clone(), l }
    }
}

impl Guarantee for DistinctL {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Absorbing
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: 1, distinct: self.l }
    }

    fn values_needed(&self) -> Option<ValuesNeeded> {
        Some(ValuesNeeded { values: self.l, missing: None })
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        class.values.len() as u64 >= self.l
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        vec![ClassMeasure::at_least("l", class.values.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::holds;
    use crate::Model;

    #[test]
    fn values_count_once_however_often_they_occur() {
        assert!(holds(&Model::DistinctLDiversity { l: 2 }, &[100, 1]));
        assert!(!holds(&Model::DistinctLDiversity { l: 3 }, &[100, 1]));
        assert!(!holds(&Model::DistinctLDiversity { l: 2 }, &[0, 7]));
    }
}
