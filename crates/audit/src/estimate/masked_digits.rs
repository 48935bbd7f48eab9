//! The numbers under a masked label: `12**` of whole numbers covers 1200 to 1299. A number whose
//! last digits are hidden is compared as a number all the same.

use hedgerow_table::{Bound, Kind};

use super::axis::{first_whole, real};
use super::mask;
use super::predicate::Predicate;

/// The least and the greatest number that is written as `known` and as many more characters.
/// Wider than needed where a sign or a decimal point may be hidden.
pub(super) fn hull(known: &str, more: usize, kind: Kind) -> (f64, f64) {
    let digits = known.strip_prefix('-').unwrap_or(known);
    let filled = |digit: &str| format!("{digits}{}", digit.repeat(more)).parse::<f64>().unwrap_or(f64::INFINITY);
    let least = match (kind, digits.is_empty()) {
        (_, true) => 0.0,
        (Kind::Integer, false) => filled("0"),
        // A point may follow.
        (_, false) => digits.parse::<f64>().unwrap_or(0.0),
    };
    let most = filled("9");
    let (low, high) = match (known.is_empty(), known.starts_with('-')) {
        (true, _) => (-most, most),
        (false, true) => (-most, -least),
        (false, false) => (least, most),
    };
    // Long numbers are rounded.
    let is_exact = low.abs().max(high.abs()) < 9e15;
    if is_exact { (low, high) } else { (low.next_down(), high.next_up()) }
}

/// The combinations of predicates on numbers that some number fulfils, under a mask or at all;
/// a predicate that is not about numbers is `false`.
pub(super) fn combinations(label: Option<&str>, predicates: &[&Predicate]) -> Vec<Vec<bool>> {
    let about = |predicate: &&&Predicate| matches!(predicate, Predicate::OfDigits(..));
    let kind = predicates.iter().find_map(|predicate| match predicate {
        Predicate::OfDigits(kind, _) => Some(*kind),
        _ => None,
    });
    let Some(kind) = kind else { return vec![vec![false; predicates.len()]] };
    let (low, high) = match label {
        None => (f64::NEG_INFINITY, f64::INFINITY),
        Some(label) => {
            let known: String = label.chars().take_while(|character| *character != mask::STAR).collect();
            let rest = || label.chars().skip(known.chars().count());
            match rest().all(|character| character == mask::STAR) {
                true => hull(&known, rest().count(), kind),
                false => (f64::NEG_INFINITY, f64::INFINITY),
            }
        }
    };
    let named: Vec<Bound> = predicates.iter().filter(about).flat_map(|predicate| predicate.numbers()).collect();
    let mut tried: Vec<Bound> = vec![Bound::Float(low.max(f64::MIN)), Bound::Float(high.min(f64::MAX))];
    if kind == Kind::Integer {
        for whole in named.iter().filter_map(|bound| first_whole(*bound)) {
            let around = [whole.checked_sub(1), Some(whole), whole.checked_add(1)];
            tried.extend(around.into_iter().flatten().map(Bound::Integer));
        }
    } else {
        let mut cuts: Vec<f64> = named.iter().filter_map(|bound| real(*bound)).collect();
        cuts.extend([low.max(-1e300), high.min(1e300)]);
        cuts.sort_unstable_by(f64::total_cmp);
        tried.extend(cuts.windows(2).map(|pair| Bound::Float(f64::midpoint(pair[0], pair[1]))));
        tried.extend(cuts.into_iter().map(Bound::Float));
    }
    tried.retain(|bound| Bound::Float(low) <= *bound && *bound <= Bound::Float(high));
    let holds = |value: &Bound| {
        let held = |predicate: &&Predicate| about(&predicate) && predicate.holds_for_number(*value);
        predicates.iter().map(held).collect::<Vec<bool>>()
    };
    let mut found: Vec<Vec<bool>> = tried.iter().map(holds).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::super::predicate::Comparison;
    use super::*;

    #[test]
    fn every_number_under_a_mask_lies_in_its_hull() {
        for number in -1200i64..1200 {
            let text = number.to_string();
            for hidden in 1..=text.len() {
                let (low, high) = hull(&text[..text.len() - hidden], hidden, Kind::Integer);
                assert!(low <= number as f64 && number as f64 <= high, "{text} without {hidden}: {low} to {high}");
            }
            let text = (number as f64 / 8.0).to_string();
            for hidden in 1..=text.len() {
                let (low, high) = hull(&text[..text.len() - hidden], hidden, Kind::Float);
                let value = number as f64 / 8.0;
                assert!(low <= value && value <= high, "{text} without {hidden}: {low} to {high}");
            }
        }
        assert_eq!(hull("12", 2, Kind::Integer), (1200.0, 1299.0));
    }

    #[test]
    fn a_comparison_is_decided_where_all_digits_agree() {
        let less =
            Predicate::OfDigits(Kind::Integer, Box::new(Predicate::Compare(Comparison::Less, Bound::Integer(1250))));
        let decided = |label: &str| combinations(Some(label), &[&less]);
        assert_eq!(decided("9*"), [[true]]);
        assert_eq!(decided("13**"), [[false]]);
        assert_eq!(decided("12**"), [[false], [true]]);
        assert_eq!(combinations(None, &[&less]), [[false], [true]]);
    }
}
