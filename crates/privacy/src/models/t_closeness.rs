//! t-closeness: in every class the protected values are distributed nearly as in the table, at an
//! earth mover's distance of at most t.
//!
//! Li, Li, Venkatasubramanian: *t-closeness: privacy beyond k-anonymity and l-diversity*, 2007,
//! section 4. All three ground distances are computed in integers, in units of 1/(n·N) for a class
//! of n rows in a table of N:
//! - equal: half the sum of |pᵢ − qᵢ|;
//! - ordered: Σ |cumulated p − q| / (m − 1) over the m values that occur in the table;
//! - hierarchical: Σ over inner nodes of height/H · min(surplus, deficit) among their children.
//!
//! Each needs only the values that occur in the class: what does not is summed in closed form or
//! cancels. Merging: the distance is convex in p. It has no absorbing core: a large class may be
//! as far from the table as a small one.

use hedgerow_table::Ratio;

use crate::guarantee::ClassMeasure;
use crate::products::is_at_most;
use crate::{Absorbing, Class, Distance, Distribution, Guarantee, Model, OnMerge, Tree};

#[derive(Debug, Clone)]
pub struct TCloseness {
    model: Model,
    t: Ratio,
    distance: Distance,
    tree: Option<Tree>,
    /// The codes in the order of the values, where that is not their own.
    ranking: Option<Vec<u32>>,
}

/// A distance as a fraction that is compared, never rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fraction {
    above: u128,
    below: u128,
}

impl TCloseness {
    pub fn new(model: &Model, tree: Option<Tree>, ranking: Option<Vec<u32>>) -> Self {
        let Model::TCloseness { t, distance, .. } = *model else { unreachable!("dispatched by model") };
        TCloseness { model: model.clone(), t, distance, tree, ranking }
    }

    fn distance(&self, class: Class<'_>, table: &Distribution) -> Fraction {
        match self.distance {
            Distance::Equal => equal(class, table),
            Distance::Ordered => match &self.ranking {
                Some(ranking) => ordered_as(ranking, class, table),
                None => ordered(class, table),
            },
            Distance::Hierarchical => match &self.tree {
                Some(tree) => hierarchical(class, table, &tree.levels),
                // Nothing is close where no distance is known.
                None => Fraction { above: 1, below: 1 },
            },
        }
    }
}

impl Guarantee for TCloseness {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Merging
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: 1, distinct: 0 }
    }

    fn compares_with_table(&self) -> bool {
        true
    }

    fn holds(&self, class: Class<'_>, table: &Distribution) -> bool {
        let distance = self.distance(class, table);
        let (above, below) = (u128::from(self.t.denominator), u128::from(self.t.numerator));
        is_at_most((distance.above, above), (distance.below, below))
    }

    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure> {
        let distance = self.distance(class, table);
        vec![ClassMeasure::at_most("t", distance.above as f64 / distance.below as f64)]
    }
}

/// n·N, the unit in which pᵢ − qᵢ is an integer.
fn unit(class: Class<'_>, table: &Distribution) -> u128 {
    u128::from(class.rows) * u128::from(table.rows)
}

fn equal(class: Class<'_>, table: &Distribution) -> Fraction {
    let (n, rows) = (u128::from(class.rows), u128::from(table.rows));
    // A value that the class lacks adds its full share; start as if all were lacking and correct
    // the others.
    let mut sum = unit(class, table);
    for &(code, count) in class.values {
        let expected = u128::from(table.counts[code as usize]) * n;
        sum = sum - expected + expected.abs_diff(u128::from(count) * rows);
    }
    Fraction { above: sum, below: 2 * unit(class, table) }
}

fn ordered(class: Class<'_>, table: &Distribution) -> Fraction {
    let values = table.distinct();
    if values < 2 {
        return Fraction { above: 0, below: 1 };
    }
    let mut sum = 0u128;
    let mut seen = 0u128;
    let mut from = 0usize;
    for &(code, count) in class.values {
        let at = table.rank[code as usize] as usize;
        sum += spread(class, table, seen, from, at);
        seen += u128::from(count);
        from = at;
    }
    sum += spread(class, table, seen, from, values);
    Fraction { above: sum, below: (values as u128 - 1) * unit(class, table) }
}

/// As [`ordered`], by a declared order: value after value, since such a list is short.
fn ordered_as(ranking: &[u32], class: Class<'_>, table: &Distribution) -> Fraction {
    let values = table.distinct();
    if values < 2 {
        return Fraction { above: 0, below: 1 };
    }
    let (n, rows) = (i128::from(class.rows), i128::from(table.rows));
    let (mut sum, mut surplus) = (0u128, 0i128);
    for &code in ranking {
        let expected = table.counts[code as usize];
        if expected == 0 {
            continue;
        }
        let found = class.values.binary_search_by_key(&code, |&(code, _)| code).map_or(0, |at| class.values[at].1);
        surplus += i128::from(found) * rows - i128::from(expected) * n;
        sum += surplus.unsigned_abs();
    }
    Fraction { above: sum, below: (values as u128 - 1) * unit(class, table) }
}

/// Σ |seen·N − n·cumulative| over the ranks `from..to`, between which the class has no value, so
/// that `seen` stands still while the table's cumulation rises: below a turning point the terms are
/// positive, above it negative.
fn spread(class: Class<'_>, table: &Distribution, seen: u128, from: usize, to: usize) -> u128 {
    let (n, level) = (u128::from(class.rows), seen * u128::from(table.rows));
    let turn = from + table.cumulative[from..to].partition_point(|&q| n * u128::from(q) <= level);
    let below = level * (turn - from) as u128 - n * (table.cumulative_sums[turn] - table.cumulative_sums[from]);
    let above = n * (table.cumulative_sums[to] - table.cumulative_sums[turn]) - level * (to - turn) as u128;
    below + above
}

fn hierarchical(class: Class<'_>, table: &Distribution, levels: &[Vec<u32>]) -> Fraction {
    let (n, rows) = (i128::from(class.rows), i128::from(table.rows));
    let mut sum = 0u128;
    // The nodes of the level below that hold rows of the class: representative code, rows in the
    // class, surplus.
    let mut nodes: Vec<(u32, i128, i128)> = class
        .values
        .iter()
        .map(|&(code, count)| {
            let count = i128::from(count);
            (code, count, count * rows - i128::from(table.counts[code as usize]) * n)
        })
        .collect();
    for (height, above) in levels.iter().enumerate() {
        nodes.sort_unstable_by_key(|&(code, _, _)| above[code as usize]);
        let mut merged: Vec<(u32, i128, i128)> = Vec::with_capacity(nodes.len());
        for siblings in nodes.chunk_by(|a, b| above[a.0 as usize] == above[b.0 as usize]) {
            let node = above[siblings[0].0 as usize];
            let count: i128 = siblings.iter().map(|sibling| sibling.1).sum();
            let surplus: i128 = siblings.iter().map(|sibling| sibling.2.max(0)).sum();
            // Children without rows of the class only lack; what all children lack follows from the
            // node's own balance.
            let balance = count * rows - i128::from(table.nodes[height][node as usize]) * n;
            let deficit = surplus - balance;
            sum += (height as u128 + 1) * surplus.min(deficit) as u128;
            merged.push((siblings[0].0, count, balance));
        }
        nodes = merged;
    }
    Fraction { above: sum, below: (levels.len() as u128).max(1) * unit(class, table) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_of(counts: &[u64]) -> (u64, Vec<(u32, u32)>) {
        let values = counts.iter().enumerate().filter(|(_, c)| **c > 0).map(|(i, &c)| (i as u32, c as u32)).collect();
        (counts.iter().sum(), values)
    }

    fn t_of(distance: Distance, class: &[u64], table: &[u64], tree: Option<Tree>) -> f64 {
        let model = Model::TCloseness { t: Ratio::ZERO, distance, order: None };
        let (rows, values) = class_of(class);
        let table = Distribution::new(table.to_vec(), tree.as_ref());
        TCloseness::new(&model, tree, None).measure(Class { rows, values: &values }, &table)[0].value
    }

    /// Li et al., example of section 4.3: salaries 3k…11k, one of each; classes {3,4,5} and
    /// {6,8,11}.
    #[test]
    fn the_salaries_of_the_paper() {
        let table = [1; 9];
        let low = t_of(Distance::Ordered, &[1, 1, 1, 0, 0, 0, 0, 0, 0], &table, None);
        let spread = t_of(Distance::Ordered, &[0, 0, 0, 1, 0, 1, 0, 0, 1], &table, None);
        assert!((low - 0.375).abs() < 1e-12, "{low}");
        assert!((spread - 0.167).abs() < 1e-3, "{spread}");
    }

    /// Brute force: equal and ordered from their definitions in floats, hierarchical as a transport
    /// over the tree.
    #[test]
    fn distances_agree_with_their_definitions() {
        use rand::rngs::StdRng;
        use rand::{RngExt, SeedableRng};
        for seed in 0..3000u64 {
            let mut rng = StdRng::seed_from_u64(seed);
            let m = rng.random_range(1..7usize);
            let table: Vec<u64> = (0..m).map(|_| rng.random_range(0..6)).collect();
            let class: Vec<u64> = table.iter().map(|&c| rng.random_range(0..=c)).collect();
            if class.iter().sum::<u64>() == 0 {
                continue;
            }
            let below: Vec<u32> = (0..m).map(|_| rng.random_range(0..3)).collect();
            let tree = Tree { levels: vec![below.clone(), vec![0; m]] };
            let share = |counts: &[u64]| -> Vec<f64> {
                let sum: u64 = counts.iter().sum();
                counts.iter().map(|&c| c as f64 / sum as f64).collect()
            };
            let (p, q) = (share(&class), share(&table));
            let by_equal: f64 = p.iter().zip(&q).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
            let occurring: Vec<usize> = (0..m).filter(|&i| table[i] > 0).collect();
            let mut cumulated = 0.0;
            let mut by_order = 0.0;
            for &i in &occurring {
                cumulated += p[i] - q[i];
                by_order += f64::abs(cumulated);
            }
            by_order /= (occurring.len() as f64 - 1.0).max(1.0);
            let mut by_tree = 0.0;
            let mut extras = [0.0; 3];
            for node in 0..3 {
                let children = (0..m).filter(|&i| below[i] == node).map(|i| p[i] - q[i]);
                let (plus, minus) = children.fold((0.0, 0.0), |(a, b), x: f64| (a + x.max(0.0), b + (-x).max(0.0)));
                by_tree += 0.5 * f64::min(plus, minus);
                extras[node as usize] = plus - minus;
            }
            let plus: f64 = extras.iter().map(|x| x.max(0.0)).sum();
            let minus: f64 = extras.iter().map(|x| (-x).max(0.0)).sum();
            by_tree += plus.min(minus);
            for (distance, expected) in
                [(Distance::Equal, by_equal), (Distance::Ordered, by_order), (Distance::Hierarchical, by_tree)]
            {
                let got = t_of(distance, &class, &table, Some(tree.clone()));
                assert!((got - expected).abs() < 1e-12, "seed {seed}, {distance:?}: {got} is not {expected}");
            }
        }
    }

    /// A declared order against the same values as numbers, whose codes are in order.
    #[test]
    fn texts_in_a_declared_order_are_as_far_apart_as_numbers() {
        use rand::rngs::StdRng;
        use rand::seq::SliceRandom;
        use rand::{RngExt, SeedableRng};
        for seed in 0..2000u64 {
            let mut rng = StdRng::seed_from_u64(seed);
            let m = rng.random_range(1..7usize);
            let table: Vec<u64> = (0..m).map(|_| rng.random_range(0..5)).collect();
            let class: Vec<u64> = table.iter().map(|&count| rng.random_range(0..=count)).collect();
            if class.iter().sum::<u64>() == 0 {
                continue;
            }
            // The value of rank r has the code `ranking[r]`.
            let mut ranking: Vec<u32> = (0..m as u32).collect();
            ranking.shuffle(&mut rng);
            let by_code = |by_rank: &[u64]| {
                let mut by_code = vec![0; m];
                ranking.iter().zip(by_rank).for_each(|(&code, &count)| by_code[code as usize] = count);
                by_code
            };
            let (rows, values) = class_of(&by_code(&class));
            let model = Model::TCloseness { t: Ratio::ZERO, distance: Distance::Ordered, order: None };
            let found = TCloseness::new(&model, None, Some(ranking.clone()))
                .measure(Class { rows, values: &values }, &Distribution::new(by_code(&table), None))[0]
                .value;
            let expected = t_of(Distance::Ordered, &class, &table, None);
            assert!((found - expected).abs() < 1e-12, "seed {seed}: {found} is not {expected}");
        }
    }

    #[test]
    fn the_ordered_distance_needs_an_order() {
        use crate::numbers::NotNumbers;
        use crate::{Context, models};
        use hedgerow_table::Domain;
        let model = |order: Option<&[&str]>| Model::TCloseness {
            t: Ratio::from_decimal(0.5).unwrap(),
            distance: Distance::Ordered,
            order: order.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect()),
        };
        let refused = |model: &Model, texts: &[&str]| {
            let domain = Domain::from_texts(texts, true, None).unwrap().0;
            models::guarantee(model, &Context { protect: Some(&domain), ..Context::default() }).err()
        };
        let texts = ["low", "mid", "high"];
        assert_eq!(refused(&model(None), &texts), Some(NotNumbers::NoOrder));
        assert_eq!(refused(&model(Some(&["low", "mid", "high", "top"])), &texts), None, "not all values need occur");
        assert_eq!(refused(&model(Some(&["low", "high"])), &texts), Some(NotNumbers::NotInOrder("mid".to_owned())));
        assert_eq!(refused(&model(None), &["1", "2"]), None, "numbers have their own");
        assert_eq!(refused(&model(None), &["2020-01-01", "2021-01-01"]), None);
        assert_eq!(refused(&model(None), &[]), None, "nothing but missing values");
        let said = NotNumbers::NoOrder.refusal("severity", "t-closeness", "policy.toml:9").to_string();
        assert!(said.contains("`severity` have no declared order") && said.contains("order = ["), "{said}");
    }

    #[test]
    fn without_a_hierarchy_no_class_is_close() {
        let model =
            Model::TCloseness { t: Ratio::from_decimal(0.9).unwrap(), distance: Distance::Hierarchical, order: None };
        let table = Distribution::new(vec![5, 5], None);
        assert!(!TCloseness::new(&model, None, None).holds(Class { rows: 5, values: &[(0, 5)] }, &table));
    }

    #[test]
    fn the_threshold_itself_holds() {
        let model = Model::TCloseness { t: Ratio::from_decimal(0.3).unwrap(), distance: Distance::Equal, order: None };
        let table = Distribution::new(vec![5, 5], None);
        let t = TCloseness::new(&model, None, None);
        assert!(t.holds(Class { rows: 5, values: &[(0, 4), (1, 1)] }, &table), "0.8 - 0.5 is 0.3");
        assert!(!t.holds(Class { rows: 6, values: &[(0, 5), (1, 1)] }, &table));
    }
}
