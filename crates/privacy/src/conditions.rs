//! Conditions of a guarantee: which classes it is about.
//!
//! Rules of practice are about some cells alone. The manual of the Texas inpatient data (cited in
//! Jin, Zhang, Zhang, Das 2010, section 1.1) protects the ZIP code "if a hospital has fewer than
//! five discharges of a particular gender", and what belongs to HIV or drug abuse. So a guarantee
//! may be about the classes of fewer than N rows (`below`), about those in which one of some
//! protected values occurs (`having`), or about those that meet both. A class that it is not about
//! holds and has no measures. Both conditions are about the class as it is released, so that every
//! reader of the release can recompute which classes they meet.
//!
//! **Merging.** Let A and B hold.
//! - *`below` alone* changes nothing. If A or B has N rows, so has the union. Else both meet the
//!   guarantee, and the union does by what it claims; where it absorbs, one of them is enough.
//! - *With `having`*, A may be a class that the guarantee is not about and B one that meets it: the
//!   union is of the second kind, and meets an absorbing guarantee because B does. So it is
//!   merging. Of another guarantee nothing follows: {flu ×10} is not about HIV and {HIV, flu} has
//!   no value above one half, but their union has.
//!
//! - *With `where`*, the condition of a rule and not of a model ([`about_some_classes`]), nothing
//!   follows of any guarantee: of two intervals neither has the value, and the one over both does.
//!
//! **Core.** A class that holds has N rows or meets the guarantee's core: at least as many rows as
//! the smaller of both requires. With `having` it may be any class. Missing values count as rows.

use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug)]
pub(crate) struct Conditional {
    model: Model,
    guarantee: Box<dyn Guarantee>,
    below: Option<u64>,
    having: Option<Having>,
}

/// Which values a class must have one of.
#[derive(Debug)]
pub(crate) enum Having {
    /// Ascending; a value that does not occur has no code.
    Codes(Vec<u32>),
    /// The codes are not known, so that any value may be one of them.
    Any,
}

impl Conditional {
    pub(crate) fn new(model: &Model, guarantee: Box<dyn Guarantee>, having: Option<Having>) -> Conditional {
        let Model::Conditional { below, .. } = *model else { unreachable!("dispatched by model") };
        Conditional { model: model.clone(), guarantee, below, having }
    }

    fn is_about(&self, class: Class<'_>) -> bool {
        let has = |codes: &[u32]| class.values.iter().any(|(code, _)| codes.binary_search(code).is_ok());
        let has_value = match &self.having {
            Some(Having::Codes(codes)) => has(codes),
            Some(Having::Any) | None => true,
        };
        self.below.is_none_or(|below| class.rows < below) && has_value
    }
}

impl Guarantee for Conditional {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        match (&self.having, self.guarantee.on_merge()) {
            (None, inner) => inner,
            (Some(_), OnMerge::Absorbing) => OnMerge::Merging,
            (Some(_), _) => OnMerge::Neither,
        }
    }

    fn core(&self) -> Absorbing {
        let core = self.guarantee.core();
        match (self.below, &self.having) {
            (Some(below), None) => Absorbing { rows: core.rows.max(core.distinct).min(below), distinct: 0 },
            _ => Absorbing { rows: 1, distinct: 0 },
        }
    }

    /// Rows or values: one number cannot say it.
    fn core_is_more(&self) -> bool {
        self.on_merge() == OnMerge::Absorbing
    }

    fn compares_with_table(&self) -> bool {
        self.guarantee.compares_with_table()
    }

    fn holds(&self, class: Class<'_>, table: &Distribution) -> bool {
        !self.is_about(class) || self.guarantee.holds(class, table)
    }

    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure> {
        if self.is_about(class) { self.guarantee.measure(class, table) } else { Vec::new() }
    }
}

/// A guarantee of a rule that is about the classes alone whose labels may stand for some known
/// values. Which classes these are is the rule's to say ([`crate::BoundRule::is_about`]): the
/// others
/// are not shown to the guarantee. So it claims nothing of what happens when classes merge, and has
/// no core.
#[derive(Debug)]
struct AboutSomeClasses(Box<dyn Guarantee>);

/// The guarantee as one of a rule with known values.
pub fn about_some_classes(guarantee: Box<dyn Guarantee>) -> Box<dyn Guarantee> {
    Box::new(AboutSomeClasses(guarantee))
}

impl Guarantee for AboutSomeClasses {
    fn model(&self) -> &Model {
        self.0.model()
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Neither
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: 1, distinct: 0 }
    }

    fn compares_with_table(&self) -> bool {
        self.0.compares_with_table()
    }

    fn holds(&self, class: Class<'_>, table: &Distribution) -> bool {
        self.0.holds(class, table)
    }

    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure> {
        self.0.measure(class, table)
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Codes, Domain, Ratio};

    use super::*;
    use crate::achieved::achieved_over;
    use crate::{Context, models};

    fn conditional(model: Model, having: Option<&[&str]>, below: Option<u64>) -> Model {
        let having = having.map(|values| values.iter().map(|value| (*value).to_owned()).collect());
        Model::Conditional { model: Box::new(model), having, below }
    }

    /// Rule I of the Texas data: below five discharges, ZIP codes must differ.
    #[test]
    fn cells_of_five_rows_are_not_looked_at() {
        let model = conditional(Model::DistinctLDiversity { l: 2 }, None, Some(5));
        let two = models::guarantee(&model, &Context::default()).unwrap();
        let nothing = Distribution::default();
        let (four, five) = (Class { rows: 4, values: &[(0, 4)] }, Class { rows: 5, values: &[(0, 5)] });
        assert!(!two.holds(four, &nothing) && two.holds(five, &nothing));
        assert_eq!(two.measure(four, &nothing)[0].value, 1.0);
        assert!(two.measure(five, &nothing).is_empty());
        let both = achieved_over(two.as_ref(), None, &nothing, [four, five, four].into_iter());
        assert_eq!((both.measures[0].value, both.holds, both.failing_rows), (1.0, false, 8));
        let exempt = achieved_over(two.as_ref(), None, &nothing, [five].into_iter());
        assert!(exempt.measures.is_empty() && exempt.holds);
        assert_eq!((two.on_merge(), two.core().rows), (OnMerge::Absorbing, 2));
    }

    /// Rows of one attribute and a protected one; the rule is about label 1 of two on level 1.
    #[test]
    fn only_classes_that_may_have_a_known_value_are_looked_at() {
        let two = Model::DistinctLDiversity { l: 2 };
        let guarantee = about_some_classes(models::guarantee(&two, &Context::default()).unwrap());
        assert_eq!((guarantee.on_merge(), guarantee.core()), (OnMerge::Neither, Absorbing { rows: 1, distinct: 0 }));
        let judge = |allowed| {
            let guarantee = about_some_classes(models::guarantee(&two, &Context::default()).unwrap());
            let by_level = vec![vec![false, true, false], vec![false, true]];
            let rule = crate::BoundRule {
                know: vec![0],
                protect: Some(1),
                guarantees: vec![guarantee],
                source: None,
                tree: None,
                concerned: vec![crate::ConcernedLabels { attribute: 0, by_level }],
            };
            crate::Judge::new(vec![3, 2], 1, vec![rule], allowed).unwrap()
        };
        let (known, protected) = (Codes::from_iter(3, [0, 0, 1, 1, 1, 2]), Codes::from_iter(2, [0, 0, 1, 1, 1, 0]));
        let columns = [&known, &protected];
        let on = |judge: &crate::Judge, levels: &[u8]| {
            let counted = judge.count::<1>(&columns, 6).on_levels(levels);
            (judge.judge_counted(&counted).suppressed, judge.achieved(&counted)[0][0].clone())
        };
        // Three rows of the value with one protected value; the others are not looked at.
        let (suppressed, achieved) = on(&judge(6), &[]);
        assert_eq!((suppressed, achieved.failing_rows, achieved.measures[0].value), (3, 3, 1.0));
        let (suppressed, achieved) = on(&judge(6), &[1]);
        assert_eq!((suppressed, achieved.failing_rows), (4, 4), "a label that is not known is looked at");
        assert_eq!(judge(2).judge_counted(&judge(2).count::<1>(&columns, 6)).kept, None);
    }

    #[test]
    fn only_cells_with_a_named_value_are_looked_at() {
        let domain = Domain::from_texts(&["HIV", "flu"], true, None).unwrap().0;
        let code = |text: &str| domain.code_of(text).unwrap();
        let context = Context { protect: Some(&domain), ..Context::default() };
        let half = Model::FrequencyLDiversity { l: Ratio::integer(2) };
        let of = |having: &[&str], below| {
            models::guarantee(&conditional(half.clone(), Some(having), below), &context).unwrap()
        };
        let holds = |guarantee: &dyn Guarantee, counts: [u32; 2]| {
            let mut values: Vec<(u32, u32)> = [(code("HIV"), counts[0]), (code("flu"), counts[1])].to_vec();
            values.retain(|(_, count)| *count > 0);
            values.sort_unstable();
            let rows = counts.iter().map(|&count| u64::from(count)).sum();
            guarantee.holds(Class { rows, values: &values }, &Distribution::default())
        };
        let hiv = of(&["HIV"], None);
        assert!(holds(hiv.as_ref(), [0, 10]) && holds(hiv.as_ref(), [1, 1]));
        assert!(!holds(hiv.as_ref(), [1, 11]), "their union");
        assert_eq!(hiv.on_merge(), OnMerge::Neither);
        let small = of(&["HIV"], Some(12));
        assert!(holds(small.as_ref(), [1, 11]) && !holds(small.as_ref(), [1, 10]) && holds(small.as_ref(), [0, 3]));
        assert!(holds(of(&["measles"], None).as_ref(), [5, 0]), "no class has it");
        let unknown = models::guarantee(&conditional(half.clone(), Some(&["HIV"]), None), &Context::default());
        assert!(!holds(unknown.unwrap().as_ref(), [0, 10]), "without codes, every class may have it");
    }
}
