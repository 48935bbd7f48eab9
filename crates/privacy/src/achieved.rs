//! The achieved parameters of guarantees over classes: the worst measures, and the rows in classes
//! that fail.

use crate::guarantee::ClassMeasure;
use crate::{Class, Distribution, Guarantee};

/// The achieved parameters of one guarantee over all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Achieved {
    pub measures: Vec<ClassMeasure>,
    pub holds: bool,
    /// Rows in classes that fail.
    pub failing_rows: u64,
}

impl Achieved {
    /// The worse of two, such as over rows and over units.
    pub fn take_worse(&mut self, other: &Achieved) {
        if self.measures.is_empty() {
            self.measures.clone_from(&other.measures);
        }
        for (own, other) in self.measures.iter_mut().zip(&other.measures) {
            *own = own.worse(*other);
        }
        self.holds &= other.holds;
        self.failing_rows = self.failing_rows.max(other.failing_rows);
    }
}

/// The achieved parameters of one guarantee over some classes, against the released rows'
/// distribution and, where there is one, the source's.
pub fn achieved_over<'c>(
    guarantee: &dyn Guarantee,
    source: Option<&Distribution>,
    released: &Distribution,
    classes: impl Iterator<Item = Class<'c>>,
) -> Achieved {
    let mut achieved = Achieved { measures: Vec::new(), holds: true, failing_rows: 0 };
    for class in classes {
        let mut holds = true;
        for table in source.into_iter().chain([released]) {
            holds &= guarantee.holds(class, table);
            achieved.measures = ClassMeasure::worse_of(achieved.measures, guarantee.measure(class, table));
        }
        if !holds {
            achieved.holds = false;
            achieved.failing_rows += class.rows;
        }
    }
    achieved
}
