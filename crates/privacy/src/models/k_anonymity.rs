//! k-anonymity: every class has at least k rows.
//!
//! Samarati, Sweeney: *Protecting privacy when disclosing information: k-anonymity and its
//! enforcement through generalization and suppression*, 1998. Absorbing: a union is at least as
//! large as each part. Cost: one comparison.

use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct KAnonymity {
    model: Model,
    k: u64,
}

impl KAnonymity {
    pub fn new(model: &Model) -> Self {
        let Model::KAnonymity { k } = *model else { unreachable!("dispatched by model") };
        KAnonymity { model: model.clone(), k }
    }
}

impl Guarantee for KAnonymity {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Absorbing
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: self.k, distinct: 0 }
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        class.rows >= self.k
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        vec![ClassMeasure::at_least("k", class.rows as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::holds;
    use crate::Model;

    #[test]
    fn a_class_of_four_is_4_anonymous_and_not_5_anonymous() {
        assert!(holds(&Model::KAnonymity { k: 4 }, &[3, 1]));
        assert!(!holds(&Model::KAnonymity { k: 5 }, &[3, 1]));
    }
}
