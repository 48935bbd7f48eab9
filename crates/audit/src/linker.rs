//! The linker: an adversary who knows somebody's quasi values and looks for their row (El Emam, Dankar: *Protecting
//! privacy using k-anonymity*, 2008).
//!
//! - The **prosecutor** knows that the person is in the release and picks among the f rows of their class: 1/f.
//! - The **journalist** only knows that the person is in the population, and picks among the F people of it who fall into
//!   the cells of the class: 1/F. The population known here is the source, so F counts the source's rows in these cells;
//!   it exceeds f when rows of the class were suppressed. Without suppression both adversaries do equally well. Under local
//!   recoding with suppression F is not counted: cells overlap, and each would have to be held against the whole source.
//! - The **marketer** links everybody and does not mind mistakes: of all released rows, as many are linked rightly as
//!   there are classes.

/// Chances of being found, between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// The required k: a chance above 1/k is more than was promised.
    pub k: u64,
    pub prosecutor: Scenario,
    /// `None` when the people in a class's cells were not counted.
    pub journalist: Option<Scenario>,
    /// The share of the released rows that linking everybody gets right.
    pub marketer: f64,
    /// Released rows that are alone in their class.
    pub unique_rows: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The chance of the person who is found most easily.
    pub max: f64,
    /// Averaged over the released rows.
    pub mean: f64,
    /// The share of the released rows whose chance is the highest one.
    pub share_at_max: f64,
    /// The share of the released rows whose chance is above 1/k.
    pub share_above: f64,
}

/// `sizes` are the released rows of each class, `population` the people in its cells; there is at least one class.
pub(crate) fn risk(sizes: &[u64], population: Option<&[u64]>, k: u64) -> Risk {
    let rows: u64 = sizes.iter().sum();
    Risk {
        k,
        prosecutor: scenario(sizes, sizes, k),
        journalist: population.map(|population| scenario(sizes, population, k)),
        marketer: sizes.len() as f64 / rows as f64,
        unique_rows: sizes.iter().filter(|&&size| size == 1).count() as u64,
    }
}

/// The adversary picks one of `crowds` people for each of the rows in `sizes`.
fn scenario(sizes: &[u64], crowds: &[u64], k: u64) -> Scenario {
    let rows = sizes.iter().sum::<u64>() as f64;
    let smallest = crowds.iter().copied().min().unwrap_or(1);
    let rows_where = |holds: &dyn Fn(u64) -> bool| {
        sizes.iter().zip(crowds).filter(|(_, crowd)| holds(**crowd)).map(|(size, _)| size).sum::<u64>() as f64
    };
    Scenario {
        max: 1.0 / smallest as f64,
        mean: sizes.iter().zip(crowds).map(|(&size, &crowd)| size as f64 / crowd as f64).sum::<f64>() / rows,
        share_at_max: rows_where(&|crowd| crowd == smallest) / rows,
        share_above: rows_where(&|crowd| crowd < k) / rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of 1, 4 and 5 released rows; the source has 2, 4 and 10 people in their cells.
    #[test]
    fn three_classes_by_hand() {
        let risk = risk(&[1, 4, 5], Some(&[2, 4, 10]), 3);
        assert_eq!(risk.prosecutor, Scenario { max: 1.0, mean: 0.3, share_at_max: 0.1, share_above: 0.1 });
        assert_eq!(risk.journalist, Some(Scenario { max: 0.5, mean: 0.2, share_at_max: 0.1, share_above: 0.1 }));
        assert_eq!(risk.marketer, 0.3);
        assert_eq!(risk.unique_rows, 1);
    }

    #[test]
    fn nothing_is_above_one_and_exactly_k_is_not_above() {
        assert_eq!(risk(&[1, 1], Some(&[1, 1]), 1).prosecutor.share_above, 0.0);
        assert_eq!(risk(&[5, 6], Some(&[5, 6]), 5).prosecutor.share_above, 0.0);
        assert_eq!(risk(&[4, 6], Some(&[4, 6]), 5).prosecutor.share_above, 0.4);
    }
}
