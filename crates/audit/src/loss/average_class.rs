//! Average class size over the required k (LeFevre, DeWitt, Ramakrishnan: *Mondrian*, 2006): rows
//! released per class, divided by the required k. 1 is the best that k-anonymity allows.

pub(crate) fn of_classes(released: u64, classes: u64, k: u64) -> f64 {
    released as f64 / classes as f64 / k as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve rows in three classes under k = 2: classes are twice as large as they had to be.
    #[test]
    fn twelve_people_by_hand() {
        assert_eq!(of_classes(12, 3, 2), 2.0);
        assert_eq!(of_classes(5, 5, 1), 1.0);
    }
}
