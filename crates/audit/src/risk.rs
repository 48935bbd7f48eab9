//! Re-identification risk: an adversary knows the quasi-identifiers of a person and looks for
//! their record (El Emam, Dankar: *Protecting privacy using k-anonymity*, 2008).
//!
//! - The **prosecutor** knows that the person is in the release and picks among the f rows that
//!   match: 1/f.
//! - The **journalist** knows only that the person is in the population, and picks among the F
//!   people of it who match the same cells: 1/F. F is at least f, and exceeds it when rows of the
//!   equivalence class were suppressed.
//! - The **marketer** links all people and accepts errors: the share of the people who are linked
//!   correctly is the mean of the prosecutor's chances.

use serde::{Serialize, Serializer};

/// Chances of re-identification, between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Risk {
    /// The required k: a chance above 1/k is more than k-anonymity allows.
    #[serde(rename = "threshold", serialize_with = "reciprocal")]
    pub k: u64,
    /// Of an adversary who knows that the person is in the release.
    pub prosecutor: Scenario,
    /// `None` when the population of the cells was not counted.
    pub journalist: Option<Scenario>,
    /// The share of the people who are linked correctly when all are linked.
    pub marketer: f64,
    /// People for whom one row matches.
    pub unique_rows: u64,
}

/// The chances that an adversary finds the row of a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// The highest chance of any person.
    pub max: f64,
    /// Averaged over the people.
    pub mean: f64,
    /// The share of the people whose chance is the highest one.
    pub share_at_max: f64,
    /// The share of the people whose chance is above 1/k.
    #[serde(rename = "share_above_threshold")]
    pub share_above: f64,
}

/// People who match the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Matched {
    pub(crate) people: u64,
    /// Released rows that match them.
    pub(crate) rows: u64,
    /// People of the population in the cells of these rows, where they were counted.
    pub(crate) population: Option<u64>,
}

impl Risk {
    /// Every released row is a person: `sizes` are the rows of each class, `population` the people
    /// in its cells.
    pub(crate) fn of_classes(sizes: &[u64], population: Option<&[u64]>, k: u64) -> Risk {
        let population = |class: usize| population.map(|population| population[class]);
        let class = |(class, &size): (usize, &u64)| Matched { people: size, rows: size, population: population(class) };
        Risk::of(&sizes.iter().enumerate().map(class).collect::<Vec<_>>(), k)
    }

    /// The risk of the people matched, each of whom has a chance above 0.
    pub(crate) fn of(matched: &[Matched], k: u64) -> Risk {
        let prosecutor = scenario(matched.iter().map(|matched| (matched.people, matched.rows)), k);
        let among: Option<Vec<(u64, u64)>> =
            matched.iter().map(|matched| Some((matched.people, matched.population?))).collect();
        Risk {
            k,
            journalist: among.map(|among| scenario(among.into_iter(), k)),
            marketer: prosecutor.mean,
            unique_rows: matched.iter().filter(|matched| matched.rows == 1).map(|matched| matched.people).sum(),
            prosecutor,
        }
    }
}

/// From people and the number of candidates that the adversary picks one of.
fn scenario(among: impl Iterator<Item = (u64, u64)> + Clone, k: u64) -> Scenario {
    let people = among.clone().map(|(people, _)| people).sum::<u64>().max(1) as f64;
    let fewest = among.clone().map(|(_, candidates)| candidates).min();
    let share = |holds: &dyn Fn(u64) -> bool| {
        let matching = among.clone().filter(|(_, candidates)| holds(*candidates));
        matching.map(|(people, _)| people).sum::<u64>() as f64 / people
    };
    Scenario {
        max: fewest.map_or(0.0, |fewest| 1.0 / fewest as f64),
        mean: among.clone().map(|(people, candidates)| people as f64 / candidates as f64).sum::<f64>() / people,
        share_at_max: share(&|candidates| Some(candidates) == fewest),
        share_above: share(&|candidates| candidates < k),
    }
}

fn reciprocal<S: Serializer>(k: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(1.0 / *k as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of 1, 4 and 5 released rows; the source has 2, 4 and 10 people in their cells.
    #[test]
    fn three_classes_by_hand() {
        let risk = Risk::of_classes(&[1, 4, 5], Some(&[2, 4, 10]), 3);
        assert_eq!(risk.prosecutor, Scenario { max: 1.0, mean: 0.3, share_at_max: 0.1, share_above: 0.1 });
        assert_eq!(risk.journalist, Some(Scenario { max: 0.5, mean: 0.2, share_at_max: 0.1, share_above: 0.1 }));
        assert_eq!(risk.marketer, 0.3);
        assert_eq!(risk.unique_rows, 1);
    }

    #[test]
    fn nothing_is_above_one_and_exactly_k_is_not_above() {
        let above = |sizes: &[u64], k| Risk::of_classes(sizes, Some(sizes), k).prosecutor.share_above;
        assert_eq!(above(&[1, 1], 1), 0.0);
        assert_eq!(above(&[5, 6], 5), 0.0);
        assert_eq!(above(&[4, 6], 5), 0.4);
    }

    /// Seven people of the population, of whom three match one row and four match two.
    #[test]
    fn people_are_weighed_and_not_rows() {
        let matched = [(3, 1, 3), (4, 2, 4)].map(|(people, rows, population)| Matched {
            people,
            rows,
            population: Some(population),
        });
        let risk = Risk::of(&matched, 2);
        assert_eq!((risk.prosecutor.max, risk.prosecutor.mean, risk.marketer), (1.0, 5.0 / 7.0, 5.0 / 7.0));
        assert_eq!((risk.prosecutor.share_above, risk.unique_rows), (3.0 / 7.0, 3));
        assert_eq!(risk.journalist.unwrap().max, 1.0 / 3.0);
        assert_eq!(Risk::of(&[], 2).prosecutor.max, 0.0, "a release that matches no person");
    }
}
