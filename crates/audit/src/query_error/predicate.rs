//! One random query: for some attributes, the selected values.

use hedgerow_table::{Bound, Domain, Kind, Values};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::index;

use super::QueryOptions;
use crate::estimate::axis::EstimateAxis;
use crate::estimate::predicate as estimate;

/// The conditions of a query on the attributes it names, by the attribute's number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Query {
    pub(super) quasi: Vec<(usize, Predicate)>,
    pub(super) sensitive: Option<(usize, Predicate)>,
}

/// Values of the source, as codes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Predicate {
    /// From the value of one code to that of another, whatever lies between.
    Run { first: u32, last: u32 },
    /// These, ascending.
    Any(Vec<u32>),
}

impl Query {
    pub(super) fn draw(rng: &mut StdRng, quasi: &[&Domain], sensitive: &[&Domain], options: &QueryOptions) -> Query {
        let most = options.dimensions.unwrap_or(usize::MAX).min(quasi.len());
        let count = if most == 0 { 0 } else { rng.random_range(1..=most) };
        let mut chosen = index::sample(rng, quasi.len(), count).into_vec();
        chosen.sort_unstable();
        let about = (!sensitive.is_empty()).then(|| rng.random_range(0..sensitive.len()));
        let dimensions = count + usize::from(about.is_some());
        let share = options.selectivity.powf(1.0 / dimensions as f64);
        Query {
            quasi: chosen.into_iter().map(|a| (a, Predicate::draw(rng, quasi[a], share))).collect(),
            sensitive: about.map(|a| (a, Predicate::draw(rng, sensitive[a], share))),
        }
    }
}

impl Predicate {
    fn draw(rng: &mut StdRng, domain: &Domain, share: f64) -> Predicate {
        let some = |values: usize| ((share * values as f64).round() as usize).clamp(1, values);
        let (present, all) = (domain.present(), domain.cardinality());
        if domain.kind() == Kind::Category || present == 0 {
            let mut codes: Vec<u32> = index::sample(rng, all, some(all)).into_iter().map(|code| code as u32).collect();
            codes.sort_unstable();
            return Predicate::Any(codes);
        }
        let length = some(present);
        let first = rng.random_range(0..=present - length);
        Predicate::Run { first: first as u32, last: (first + length - 1) as u32 }
    }

    /// The selected codes.
    pub(super) fn codes(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Predicate::Run { first, last } => Box::new(*first..=*last),
            Predicate::Any(codes) => Box::new(codes.iter().copied()),
        }
    }

    /// The same predicate on an axis, which may know numbers by their texts alone.
    pub(super) fn on(&self, domain: &Domain, axis: &EstimateAxis) -> estimate::Predicate {
        let bound = |code: u32| match domain.values() {
            Values::Integer(values) => Some(Bound::Integer(values[code as usize])),
            Values::Float(values) => Some(Bound::Float(values[code as usize])),
            Values::Date(values) => Some(Bound::Date(values[code as usize])),
            Values::Category(_) => None,
        };
        if let Predicate::Run { first, last } = *self
            && axis.kind != Kind::Category
            && let (Some(first), Some(last)) = (bound(first), bound(last))
        {
            return estimate::Predicate::Between(first, last);
        }
        let missing = self.codes().any(|code| Some(code) == domain.missing_code());
        let present = self.codes().filter(|code| Some(*code) != domain.missing_code());
        let mut among: Vec<String> = present.map(|code| domain.text(code)).collect();
        among.sort_unstable();
        if missing {
            estimate::Predicate::TextsOrMissing(among)
        } else {
            estimate::Predicate::Texts { among, negated: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::declared::Declared;
    use crate::estimate::regions::Regions;
    use hedgerow_release::codebook::Codebook;
    use hedgerow_table::{Cover, Label, Table};
    use rand::SeedableRng;

    fn domain(texts: &[&str], missing: bool) -> Domain {
        Domain::from_texts(texts, missing, None).unwrap().0
    }

    /// The share of one label that a query covers, when the source's values are known.
    fn share(predicate: &Predicate, label: &str, cover: Cover, domain: &Domain) -> f64 {
        let mut codebook = Codebook::new();
        codebook.add("a", &Label { text: label.to_owned(), cover, leaves: 1 }).unwrap();
        let released = Table::from_texts(&["a"], &[vec![label]]);
        let declared = Declared { kind: Some(domain.kind()), ..Declared::default() };
        let axis = EstimateAxis::bind(&released.columns[0], &codebook, declared, Some(domain)).unwrap();
        let regions = Regions::new(&axis, &[&predicate.on(domain, &axis)]).unwrap();
        regions.cells[0].iter().filter(|part| regions.holds[part.region as usize][0]).map(|part| part.mass).sum()
    }

    /// Ages 21 to 40; the query selects 25 to 32.
    #[test]
    fn shares_of_ages_by_hand() {
        let ages = domain(&["21", "25", "32", "40"], true);
        let predicate = Predicate::Run { first: 1, last: 2 };
        let share = |label: &str, cover: Cover| share(&predicate, label, cover, &ages);
        let tens = |low: i64| Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(low + 10)) };
        assert_eq!(share("20 to 29", tens(20)), 0.5, "25…29 of 20…29");
        assert!((share("30 to 39", tens(30)) - 0.3).abs() < 1e-12, "30, 31 and 32 of 30…39");
        assert_eq!(share("40 to 49", tens(40)), 0.0);
        assert_eq!(share("", Cover::Missing), 0.0);
        assert_eq!(share("25", Cover::Point(Bound::Integer(25))), 1.0);
        assert_eq!(share("21", Cover::Point(Bound::Integer(21))), 0.0);
        let open = Cover::Interval { low: Some(Bound::Integer(31)), high: None };
        assert_eq!(share("31+", open), 0.2, "31 and 32 of 31…40");
        let missing_is_one_of_five = 8.0 / 20.0 * 4.0 / 5.0;
        assert!((share("*", Cover::Everything) - missing_is_one_of_five).abs() < 1e-12);
        let listed = Cover::Leaves(["25", "40", ""].map(str::to_owned).to_vec());
        assert!((share("odd", listed) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn shares_of_colors_by_hand() {
        let colors = domain(&["blue", "green", "red"], true);
        let predicate = Predicate::Any(vec![0, 3]);
        let share = |label: &str, cover: Cover| share(&predicate, label, cover, &colors);
        let leaves = Cover::Leaves(["blue", "green", "pink"].map(str::to_owned).to_vec());
        assert!((share("cold", leaves) - 1.0 / 3.0).abs() < 1e-12, "all leaves count, whether or not they occur");
        assert_eq!(share("", Cover::Missing), 1.0);
        assert_eq!(share("*", Cover::Everything), 0.5);
        let mask = Cover::Leaves(vec!["b***".to_owned()]);
        assert_eq!(share("b***", mask), 1.0, "of the source's values only blue is under the mask");
    }

    #[test]
    fn queries_keep_to_the_requested_dimensions_and_shares() {
        let ages: Vec<String> = (0..50).map(|age| age.to_string()).collect();
        let ages = domain(&ages.iter().map(String::as_str).collect::<Vec<_>>(), true);
        let colors = domain(&["blue", "green", "red"], true);
        let options = QueryOptions { dimensions: Some(2), selectivity: 0.125, ..QueryOptions::default() };
        let mut rng = StdRng::seed_from_u64(3);
        let mut seen = [false; 2];
        for _ in 0..200 {
            let query = Query::draw(&mut rng, &[&ages, &colors, &ages], &[&colors], &options);
            seen[query.quasi.len() - 1] = true;
            let share = 0.125f64.powf(1.0 / (query.quasi.len() + 1) as f64);
            assert!(query.quasi.windows(2).all(|pair| pair[0].0 < pair[1].0));
            for (attribute, predicate) in query.quasi.iter().chain(&query.sensitive) {
                let codes: Vec<u32> = predicate.codes().collect();
                let color = *attribute == 1 || query.sensitive.as_ref().is_some_and(|(_, p)| p == predicate);
                let values = if color { 4 } else { 50 };
                assert_eq!(codes.len(), (share * f64::from(values)).round() as usize);
                assert!(
                    codes.is_sorted_by(|a, b| a < b) && codes.iter().all(|&code| (code as usize) < values as usize)
                );
            }
        }
        assert_eq!(seen, [true; 2]);
    }
}
