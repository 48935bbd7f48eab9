//! A generalized release: one table, judged by the classes over what each rule's adversary knows.

use hedgerow_release::Release;
use hedgerow_release::generalized::Generalized;
use hedgerow_table::TableError;

use super::Judged;
use crate::check::{Checked, NamedRule, check_counted};

impl Judged for Generalized {
    fn judge(&self, release: &Release, rules: &[NamedRule]) -> Result<Checked, TableError> {
        let labels = release.label_reader();
        check_counted(&self.table, self.counts.as_deref(), &self.quasi, rules, labels, release.name())
    }
}
