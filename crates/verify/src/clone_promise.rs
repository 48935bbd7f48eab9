//! The promise of a cloned release in combination with others that cannot be seen, and what would
//! break the promise.
//!
//! An adversary who finds an individual in two releases believes value s with `min(p(s), q(s)) ·
//! β`, where p and q are the distributions of the two classes and β is one over their overlap Σ
//! min(p, q) (equation 5 of Baig et al. 2011). What they gain over the better single release is at
//! most θ = maxₛ (β · min(p(s), q(s)) − max(p(s), q(s))) (observation 2). No release can bound β,
//! since no publisher knows the others (observation 1): so the promise says which β it assumes, and
//! what follows from another.
//!
//! **The gain in terms of β alone.** A term of θ is largest where p(s) = q(s): with q(s) smaller
//! the minimum falls, with q(s) larger the maximum rises. So θ ≤ (β − 1) · maxₛ p(s), whatever the
//! other distribution is. The paper takes both tables to be of one size here, and so does this.

use serde::Serialize;

/// The promise in combination with another publisher whose classes are distributed as the source
/// is: the closed community of the paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClonePromise {
    /// One over the overlap of the classes with the source.
    pub beta: f64,
    /// The largest gain in an adversary's confidence against a release with the same distribution.
    pub theta: f64,
    /// The consequence for some other β.
    pub theta_at: Vec<ThetaAt>,
    /// Which other publisher breaks the promise, in words.
    pub broken_by: String,
    /// The share of the most frequent value in every class: with it, θ follows from any β.
    #[serde(skip)]
    pub most_frequent: f64,
}

/// The most that an adversary gains from a second release that leaves this β.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ThetaAt {
    pub beta: f64,
    pub theta: f64,
}

/// A gain of confidence that is taken as small in the example.
const SMALL: f64 = 0.1;

impl ClonePromise {
    /// From the share of every value in a class and in the source.
    pub fn of(shares: &[(f64, f64)], protect: &str) -> ClonePromise {
        let beta = 1.0 / shares.iter().map(|&(here, there)| here.min(there)).sum::<f64>();
        let gain = |&(here, there): &(f64, f64)| beta * here.min(there) - here.max(there);
        let theta = shares.iter().map(gain).fold(0.0, f64::max);
        ClonePromise::new(beta, theta, shares.iter().map(|&(here, _)| here).fold(0.0, f64::max), protect)
    }

    /// From the least that the classes can overlap with the source; all numbers are rounded up.
    pub fn at_most(overlap: f64, most_frequent: f64, protect: &str) -> ClonePromise {
        let beta = rounded_up(1.0 / overlap);
        let theta = rounded_up(gain_at(beta, most_frequent));
        ClonePromise::new(beta, theta, most_frequent, protect)
    }

    fn new(beta: f64, theta: f64, most_frequent: f64, protect: &str) -> ClonePromise {
        let theta_at =
            [1.1, 1.5, 2.0].map(|beta| ThetaAt { beta, theta: rounded_up(gain_at(beta, most_frequent)) }).to_vec();
        let broken_by = format!(
            "another publisher whose `{protect}` is distributed differently: combined with one that overlaps by less than {:.0} % \
             somebody may gain more than {SMALL} in confidence, and one that shares a single value with this release \
             discloses that value",
            (overlap_for_little_gain(most_frequent) * 100.0).ceil()
        );
        ClonePromise { beta, theta, theta_at, broken_by, most_frequent }
    }
}

/// θ at most, by β and the share of the most frequent value.
fn gain_at(beta: f64, most_frequent: f64) -> f64 {
    ((beta - 1.0) * most_frequent).clamp(0.0, 1.0)
}

/// How much of another distribution must overlap with this one for the gain to stay small.
fn overlap_for_little_gain(most_frequent: f64) -> f64 {
    most_frequent / (most_frequent + SMALL)
}

/// To six places, never smaller than it is.
pub fn rounded_up(value: f64) -> f64 {
    let scaled = value * 1e6;
    // What is a hair above an integer is so by rounding.
    if (scaled - scaled.round()).abs() < 1e-6 { scaled.round() / 1e6 } else { scaled.ceil() / 1e6 }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Example 3 of the paper: β = 1, 1.11, 1.67 for its three pairs of distributions.
    #[test]
    fn beta_and_theta_by_hand() {
        let own = [0.1, 0.2, 0.3, 0.4, 0.0];
        let promise = |other: [f64; 5]| ClonePromise::of(&own.into_iter().zip(other).collect::<Vec<_>>(), "s");
        let alike = promise(own);
        assert!((alike.beta - 1.0).abs() < 1e-12 && alike.theta < 1e-12);
        let near = promise([0.0, 0.2, 0.3, 0.4, 0.1]);
        assert!((near.beta - 1.0 / 0.9).abs() < 1e-12);
        assert!((near.theta - 0.4 * (1.0 / 0.9 - 1.0)).abs() < 1e-12, "{}", near.theta);
        let far = promise([0.0, 0.1, 0.2, 0.3, 0.4]);
        assert!((far.beta - 1.0 / 0.6).abs() < 1e-12);
        assert!((far.theta - (0.3 / 0.6 - 0.4)).abs() < 1e-12, "s4: 0.5 instead of 0.4");
    }

    /// The gain by equation 4 against random distributions never exceeds what is stated for their
    /// β.
    #[test]
    fn no_distribution_gains_more_than_its_beta_allows() {
        for seed in 0..3000 {
            let mut rng = StdRng::seed_from_u64(seed);
            let values = rng.random_range(1..7usize);
            let mut draw = |zero: f64| -> Vec<f64> {
                let weights: Vec<f64> = (0..values)
                    .map(|_| if rng.random_bool(zero) { 0.0 } else { rng.random_range(0.01..1.0) })
                    .collect();
                let sum: f64 = weights.iter().sum();
                weights.into_iter().map(|weight| weight / sum.max(1e-300)).collect()
            };
            let (own, mut other) = (draw(0.0), draw(0.4));
            if other.iter().sum::<f64>() < 0.5 {
                other = own.clone();
            }
            let overlap: f64 = own.iter().zip(&other).map(|(a, b)| a.min(*b)).sum();
            let gain = own.iter().zip(&other).map(|(a, b)| a.min(*b) / overlap - a.max(*b)).fold(0.0, f64::max);
            let promise = ClonePromise::of(&own.iter().map(|&share| (share, share)).collect::<Vec<_>>(), "s");
            let stated = gain_at(1.0 / overlap, promise.most_frequent);
            assert!(gain <= stated + 1e-9, "seed {seed}: {gain} above {stated}");
            if 1.0 / overlap <= 1.0 + 0.1 / promise.most_frequent {
                assert!(
                    gain <= 0.1 + 1e-9 && overlap >= overlap_for_little_gain(promise.most_frequent) - 1e-9,
                    "seed {seed}"
                );
            }
        }
    }

    #[test]
    fn stated_bounds_are_never_too_small() {
        assert_eq!(rounded_up(1.0), 1.0);
        assert_eq!(rounded_up(0.0702000001), 0.070201);
        assert_eq!(rounded_up(1.0 / 3.0), 0.333334);
    }
}
