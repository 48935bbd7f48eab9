//! Classes of rows, judged alone and two together, so that a class is merged with one that helps.

use hedgerow_privacy::Distribution;
use hedgerow_table::{Codes, parallel};

use super::{Consistent, FittingRule, RuleClass};

/// Classes for the rules with `consistent = true`.
#[derive(Debug)]
pub struct FittingClasses<'a> {
    rules: Vec<RuleClasses<'a>>,
}

#[derive(Debug)]
struct RuleClasses<'a> {
    rule: &'a FittingRule,
    table: Distribution,
    classes: Vec<RuleClass>,
    /// By class, the kinds of the people for whom the rule fails.
    failing: Vec<Vec<u32>>,
}

impl<'a> FittingClasses<'a> {
    /// `columns` are those that rules look at, classes lists of rows. A rule about some of the
    /// quasi-identifiers is judged as if it were about all.
    pub fn new(consistent: &'a Consistent, columns: &[&Codes], classes: &[Vec<u32>]) -> FittingClasses<'a> {
        let of_rule = |rule: &'a FittingRule| {
            let protected = rule.protect.map(|protect| columns[protect]);
            let table = rule.table(protected, classes.iter().flatten().map(|&row| row as usize));
            let found: Vec<(RuleClass, Vec<u32>)> = parallel::map(classes.len(), |class| {
                let kinds = rule.class(protected, &classes[class]);
                let failing = rule.failing_people(&classes[class], &kinds, &table);
                (kinds, failing)
            });
            let (classes, failing) = found.into_iter().unzip();
            RuleClasses { rule, table, classes, failing }
        };
        FittingClasses { rules: consistent.rules.iter().map(of_rule).collect() }
    }

    pub fn fails(&self, class: usize) -> bool {
        self.rules.iter().any(|rule| !rule.failing[class].is_empty())
    }

    /// Whether the rules hold for the people of a class for whom they fail, once its rows are with
    /// those of another.
    pub fn hold_with(&self, class: usize, other: usize) -> bool {
        self.rules.iter().all(|RuleClasses { rule, table, classes, failing }| {
            let together = [&classes[class], &classes[other]];
            failing[class].iter().all(|&person| rule.holds(person, &together, table))
        })
    }
}
