//! One random query: for some attributes, the values asked for.

use hedgerow_table::{Domain, Kind};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::index;

use super::QueryOptions;
use crate::cell::{Cell, Shape, Stretch};

/// What a query asks of each attribute it names, by the attribute's number.
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
        let asked = if most == 0 { 0 } else { rng.random_range(1..=most) };
        let mut chosen = index::sample(rng, quasi.len(), asked).into_vec();
        chosen.sort_unstable();
        let about = (!sensitive.is_empty()).then(|| rng.random_range(0..sensitive.len()));
        let dimensions = asked + usize::from(about.is_some());
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

    /// The codes asked for.
    pub(super) fn codes(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Predicate::Run { first, last } => Box::new(*first..=*last),
            Predicate::Any(codes) => Box::new(codes.iter().copied()),
        }
    }

    fn accepts(&self, code: u32) -> bool {
        match self {
            Predicate::Run { first, last } => (first..=last).contains(&&code),
            Predicate::Any(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// The share of a cell that the query covers, when all values under it are equally likely: all points of a stretch,
    /// else all values of the source. Under a top that hides the missing value too, that one counts as one of the
    /// source's values and the others lie on the axis.
    pub(super) fn share_of(&self, cell: &Cell, domain: &Domain) -> f64 {
        let listed = || {
            let accepted = match self {
                Predicate::Any(codes) if cell.shape == Shape::Everything => codes.len(),
                _ => cell.codes.iter().filter(|&&code| self.accepts(code)).count(),
            };
            accepted as f64 / cell.codes.len() as f64
        };
        let Predicate::Run { first, last } = *self else { return listed() };
        let Some(asked) = Stretch::between(domain, first, last) else { return listed() };
        match (cell.shape, Stretch::of_domain(domain)) {
            (Shape::Stretch(stretch), _) => stretch.share_within(asked),
            (Shape::Everything, Some(axis)) => {
                axis.share_within(asked) * domain.present() as f64 / domain.cardinality() as f64
            }
            _ => listed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::{Bound, Cover};
    use rand::SeedableRng;

    fn domain(texts: &[&str], missing: bool) -> Domain {
        Domain::from_texts(texts, missing, None).unwrap().0
    }

    /// Ages 21 to 40; the query asks for 25 to 32.
    #[test]
    fn shares_of_ages_by_hand() {
        let ages = domain(&["21", "25", "32", "40"], true);
        let asked = Predicate::Run { first: 1, last: 2 };
        let share = |cover: Cover| asked.share_of(&Cell::new(&cover, &ages), &ages);
        let tens = |low: i64| Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(low + 10)) };
        assert_eq!(share(tens(20)), 5.0 / 9.0, "25…29 of 21…29");
        assert_eq!(share(tens(30)), 0.3, "30, 31 and 32 of 30…39");
        assert_eq!(share(tens(40)), 0.0);
        assert_eq!(share(Cover::Missing), 0.0);
        assert_eq!(share(Cover::Point(Bound::Integer(25))), 1.0);
        assert_eq!(share(Cover::Point(Bound::Integer(21))), 0.0);
        assert_eq!(share(Cover::Everything), 8.0 / 20.0 * 4.0 / 5.0, "the missing value is one of five");
        assert_eq!(share(Cover::Leaves(["25", "40", ""].map(str::to_owned).to_vec())), 1.0 / 3.0);
    }

    #[test]
    fn shares_of_colours_by_hand() {
        let colours = domain(&["blue", "green", "red"], true);
        let asked = Predicate::Any(vec![0, 3]);
        let share = |cover: Cover| asked.share_of(&Cell::new(&cover, &colours), &colours);
        assert_eq!(share(Cover::Leaves(["blue", "green", "pink"].map(str::to_owned).to_vec())), 0.5);
        assert_eq!(share(Cover::Missing), 1.0);
        assert_eq!(share(Cover::Everything), 0.5);
    }

    #[test]
    fn queries_keep_to_the_dimensions_and_shares_asked_for() {
        let ages: Vec<String> = (0..50).map(|age| age.to_string()).collect();
        let ages = domain(&ages.iter().map(String::as_str).collect::<Vec<_>>(), true);
        let colours = domain(&["blue", "green", "red"], true);
        let options = QueryOptions { dimensions: Some(2), selectivity: 0.125, ..QueryOptions::default() };
        let mut rng = StdRng::seed_from_u64(3);
        let mut seen = [false; 2];
        for _ in 0..200 {
            let query = Query::draw(&mut rng, &[&ages, &colours, &ages], &[&colours], &options);
            seen[query.quasi.len() - 1] = true;
            let share = 0.125f64.powf(1.0 / (query.quasi.len() + 1) as f64);
            assert!(query.quasi.windows(2).all(|pair| pair[0].0 < pair[1].0));
            for (attribute, predicate) in query.quasi.iter().chain(&query.sensitive) {
                let codes: Vec<u32> = predicate.codes().collect();
                let colour = *attribute == 1 || query.sensitive.as_ref().is_some_and(|(_, p)| p == predicate);
                let values = if colour { 4 } else { 50 };
                assert_eq!(codes.len(), (share * f64::from(values)).round() as usize);
                assert!(
                    codes.is_sorted_by(|a, b| a < b) && codes.iter().all(|&code| (code as usize) < values as usize)
                );
            }
        }
        assert_eq!(seen, [true; 2]);
    }
}
