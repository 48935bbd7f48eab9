//! Measured losses against all inputs of small settings, each with its probability.

use super::*;

fn setting(custodians: u64, domain: u64, items: u64) -> LopSetting {
    LopSetting { custodians, domain, items }
}

/// All rows of `length` values below `domain`.
fn all(length: usize, domain: u64) -> Vec<Vec<u64>> {
    let longer = |rows: Vec<Vec<u64>>| -> Vec<Vec<u64>> {
        rows.iter().flat_map(|row| (0..domain).map(move |value| [row.as_slice(), &[value]].concat())).collect()
    };
    (0..length).fold(vec![Vec::new()], |rows, _| longer(rows))
}

/// Three standard deviations of a share.
fn chance(claims: u32) -> f64 {
    3.0 * (0.25 / f64::from(claims)).sqrt()
}

#[test]
fn a_sum_tells_one_neighbor_nothing_and_both_everything() {
    // Two that know the sum of the other two guess right when these are equal, or the claimed one
    // is the larger by one and the mean is rounded up.
    let rows = all(2, 5);
    let guessed = rows.iter().filter(|row| (row[0] + row[1]).div_ceil(2) == row[0]).count() as f64 / rows.len() as f64;
    let found = measure_values(LopValues::Sum, By::Ring(Chances::default()), setting(4, 5, 4), 150, 1).unwrap();
    assert_eq!(found.alone, 0.0);
    assert!((found.neighbors - (1.0 - guessed)).abs() < chance(600), "{found:?}, guessed {guessed}");
    let three = measure_values(LopValues::Sum, By::Ring(Chances::default()), setting(3, 1000, 3), 40, 2).unwrap();
    assert_eq!((three.alone, three.neighbors), (0.0, 0.0), "two of three subtract their own from the total");
    let masked = measure_values(LopValues::Sum, By::Masks, setting(4, 1000, 4), 10, 3).unwrap();
    assert_eq!((masked.alone, masked.neighbors), (0.0, 0.0));
}

/// The probability that each pass passes on its own value, by following the distribution of what
/// is passed on, for every input. Values are independent, so the order of the ring does not count.
fn greatest_exactly(custodians: usize, domain: u64, chances: Chances) -> f64 {
    let inputs = all(custodians, domain);
    let mut by_pass = vec![0.0; chances.passes as usize];
    let mut result = 0.0;
    for own in inputs.iter().map(|row| row.iter().map(|value| value + 1).collect::<Vec<u64>>()) {
        let largest = *own.iter().max().unwrap();
        result += own.iter().filter(|value| **value == largest).count() as f64;
        let mut passed = vec![0.0; domain as usize + 1];
        passed[0] = 1.0;
        for (pass, right) in by_pass.iter_mut().enumerate() {
            let hides =
                if pass + 1 == chances.passes as usize { 0.0 } else { chances.p0 * chances.d.powi(pass as i32) };
            for &value in &own {
                let mut next = vec![0.0; passed.len()];
                for (at, share) in (0u64..).zip(&passed) {
                    if at >= value {
                        next[at as usize] += share;
                        continue;
                    }
                    next[value as usize] += share * (1.0 - hides);
                    (at..=value).for_each(|to| next[to as usize] += share * hides / (value - at + 1) as f64);
                }
                passed = next;
                *right += passed[value as usize];
            }
        }
    }
    let made = (inputs.len() * custodians) as f64;
    (by_pass.iter().copied().fold(0.0, f64::max).max(result) - result) / made
}

#[test]
fn least_and_greatest_values_lose_what_all_inputs_say() {
    let hiding = Chances { p0: 0.5, d: 0.5, passes: 4 };
    for (chances, seed) in [(Chances { p0: 0.0, d: 0.5, passes: 3 }, 1), (hiding, 2), (Chances::default(), 3)] {
        let expected = greatest_exactly(3, 6, chances);
        for of in [LopValues::Least, LopValues::Greatest] {
            let found = measure_values(of, By::Ring(chances), setting(3, 6, 3), 300, seed).unwrap();
            assert!((found.alone - expected).abs() < chance(900), "{of:?} {chances:?}: {found:?}, not {expected}");
            assert!(found.neighbors >= found.alone, "{found:?}");
        }
    }
    // Without hiding, the custodian in place j of the first pass has the greatest so far in one of
    // j cases, and shows it: (1 + 1/2 + … + 1/n)/n, less the 1/n that the result tells.
    let plain = measure_values(
        LopValues::Greatest,
        By::Ring(Chances { p0: 0.0, d: 0.0, passes: 2 }),
        setting(4, 1 << 40, 4),
        300,
        4,
    )
    .unwrap();
    let expected = (1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0) / 4.0;
    assert!((plain.alone - expected).abs() < chance(1200), "{plain:?}, not {expected}");
    let masked = measure_values(LopValues::Greatest, By::Masks, setting(3, 1 << 20, 3), 5, 5).unwrap();
    assert_eq!((masked.alone, masked.neighbors), (0.0, 0.0));
}

/// The chance that a custodian who knows the opened counts claims right, by looking at every value
/// of the domain; and of one who knows the median alone, and of both neighbors.
fn median_exactly(custodians: usize, domain: u64) -> [f64; 2] {
    let inputs = all(custodians, domain);
    let [mut alone, mut two, mut result] = [0.0; 3];
    for own in &inputs {
        let mut sorted = own.clone();
        sorted.sort_unstable();
        let median = sorted[custodians.div_ceil(2) - 1];
        // Halving, with the values that were probed.
        let (mut low, mut high, mut probed) = (0, domain - 1, Vec::new());
        while low < high {
            let middle = low + (high - low) / 2;
            probed.push(middle);
            if median <= middle { high = middle } else { low = middle + 1 }
        }
        let alike = |one: u64, other: u64| probed.iter().all(|probe| (one <= *probe) == (other <= *probe));
        let claim = |values: &[u64], theirs: u64| {
            let width = |value: u64| (0..domain).filter(|other| alike(value, *other)).count() as f64;
            let density =
                |value: u64| values.iter().filter(|other| alike(value, **other)).count() as f64 / width(value);
            let best = (0..domain).map(density).fold(0.0, f64::max);
            let lowest = (0..domain).find(|value| density(*value) == best).unwrap();
            if alike(lowest, theirs) { 1.0 / width(lowest) } else { 0.0 }
        };
        for claimed in 0..custodians {
            let claimer = (claimed + 1) % custodians;
            let others: Vec<u64> = (0..custodians).filter(|one| *one != claimer).map(|one| own[one]).collect();
            alone += claim(&others, own[claimed]);
            two += claim(&[own[claimed]], own[claimed]);
            result += f64::from(u8::from(own[claimed] == median));
        }
    }
    let made = (inputs.len() * custodians) as f64;
    [alone, two].map(|right: f64| (right.max(result) - result) / made)
}

#[test]
fn medians_lose_what_the_opened_counts_tell() {
    let [alone, two] = median_exactly(3, 5);
    assert!(alone > 0.0 && two > alone);
    for (by, seed) in [(By::Ring(Chances::default()), 1), (By::Masks, 2)] {
        let found = measure_values(LopValues::Median, by, setting(3, 5, 3), 300, seed).unwrap();
        assert!((found.alone - alone).abs() < chance(900), "{by:?}: {found:?}, not {alone}");
        // Two of three know the third's counts by subtraction, under masks as well.
        assert!((found.neighbors - two).abs() < chance(900), "{by:?}: {found:?}, not {two}");
    }
}
