//! Theorem 5.1 says that the best decomposition is hard to find. On small tables it can be: every
//! set of tables in guardian normal form that has a junction tree is tried, each table with every
//! choice of what is sensitive in it, and how far UAD, GD and the better of both are from the best
//! is counted. Buckets are dealt by chance, once for every set of tables, so that an algorithm may
//! be luckier than the search: the best is the least that anything found.

use hedgerow_privacy::rules::AttributeSet;
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::junction::separators;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{DecompositionProblem, Subtable};
use hedgerow_report::pictures::{Bar, Bars, NumberCell};
use hedgerow_table::Codes;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::drawn::{self, Drawn};
use super::printed::uad_as_printed;
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, FACTOR_MAX, Sample, never_above};

const ATTRIBUTES: usize = 4;
const ROWS: usize = 80;

const NAMES: [&str; 5] = ["the best of all", "UAD, ours", "GD", "the better of both", "UAD"];

/// Divergences over the number of rules, in the order of [`NAMES`]; repetitions are tables.
#[derive(Debug, Clone)]
struct Measured {
    kl: [Curve; 5],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let tables = scale.of(60, 8);
    let mut table = numbers(["rules", "published as", "KL divergence", "± KL", "times the best"]);
    let mut measured = Measured { kl: NAMES.map(Curve::new) };
    for rules in [1, 2, 3] {
        let mut kl = [const { Vec::new() }; 5];
        for seed in 0..tables {
            let found = searched(rules, (rules * 1000 + seed) as u64)?;
            kl.iter_mut().zip(found).for_each(|(kl, found)| kl.push(found));
        }
        let best = Sample::of(&kl[0]).mean();
        for (place, curve) in measured.kl.iter_mut().enumerate() {
            let sample = Sample::of(&kl[place]);
            let found = [sample.mean(), sample.error(), sample.mean() / best].map(NumberCell::Number).to_vec();
            table.rows.push([vec![NumberCell::Number(rules as f64), NAMES[place].into()], found].concat());
            curve.push(rules as f64, sample);
        }
    }
    let mean = |curve: &Curve| curve.points.iter().map(|point| point.1.mean()).sum::<f64>();
    let bar = |(name, curve): (&&str, &Curve)| Bar { name: (*name).to_owned(), value: mean(curve) / 3.0 };
    let picture = Bars {
        title: "Divergence on small tables".to_owned(),
        description: "The mean over one, two and three rules.".to_owned(),
        columns: ["published as".to_owned(), "KL divergence".to_owned()],
        bars: NAMES.iter().zip(&measured.kl).map(bar).collect(),
        full: None,
        limit: None,
    };
    let setting = format!(
        "Random tables, since the search goes through all decompositions: {ROWS} rows, {ATTRIBUTES} attributes of two to four values that \
         depend on each other, l = 2, two known attributes in every rule, {tables} tables for each number of rules."
    );
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

fn claims(Measured { kl }: &Measured) -> Vec<Claim> {
    vec![
        Claim::ours("the better of UAD and GD is within a factor of 1.5 of the best", within(&kl[0], &kl[3])),
        Claim::ours("UAD as printed loses at least as much as the project's, on average", never_above(&kl[1], &kl[4])),
    ]
}

fn within(best: &Curve, found: &Curve) -> ClaimOutcome {
    for ((rules, best), (_, found)) in best.points.iter().zip(&found.points) {
        let times = found.mean() / best.mean();
        if times.is_nan() || times > FACTOR_MAX {
            return Err(format!("{times:.2} times the best with {rules} rules"));
        }
    }
    Ok(())
}

/// Divergences in the order of [`NAMES`].
fn searched(rules: usize, seed: u64) -> Result<[f64; 5], Trouble> {
    let mut rng = StdRng::seed_from_u64(seed);
    let cardinalities: Vec<usize> = (0..ATTRIBUTES).map(|_| rng.random_range(2..=4)).collect();
    let mut columns: Vec<Vec<u32>> = Vec::new();
    for &cardinality in &cardinalities {
        let column = (0..ROWS as u32).map(|row| match columns.last() {
            Some(before) if rng.random_bool(0.5) => before[row as usize] % cardinality as u32,
            _ => rng.random_range(0..cardinality as u32),
        });
        columns.push(column.collect());
    }
    let codes = columns.into_iter().zip(&cardinalities);
    let columns: Vec<Codes> = codes.map(|(column, &size)| Codes::from_iter(size, column)).collect();
    let drawn = Drawn { rules, known: 2, l: 2, l_max: 2 };
    let Some(rules) = possible(&mut rng, &columns, &cardinalities, drawn) else { return searched(rules, seed + 500) };
    let problem = DecompositionProblem::new(columns.iter().collect(), cardinalities, ROWS, rules, &[]);
    let mut divergence = Divergence::new(&problem);
    let best = best_of_all(&problem, &mut divergence, seed);
    let mut of = |tables: &[Subtable]| divergence.of(tables).unwrap_or(f64::NAN);
    let by_uad = uad(&problem, &mut StdRng::seed_from_u64(seed)).map_err(|_| "these rules leave no tables")?;
    let printed = uad_as_printed(&problem, &mut StdRng::seed_from_u64(seed));
    let [by_uad, printed] = [of(&by_uad), of(&printed)];
    let by_gd = gd(&problem, &mut Divergence::new(&problem), &mut StdRng::seed_from_u64(seed));
    let by_gd = divergence.of(&by_gd.map_err(|_| "these rules leave no tables")?).unwrap_or(f64::NAN);
    let best = best.min(by_uad).min(by_gd).min(printed);
    Ok([best, by_uad, by_gd, by_uad.min(by_gd), printed])
}

/// `None` where one frequent value breaks rules about too many attributes.
fn possible(
    rng: &mut StdRng,
    columns: &[Codes],
    cardinalities: &[usize],
    drawn: Drawn,
) -> Option<Vec<hedgerow_privacy::rules::Rule>> {
    let fits = |place: usize| {
        let most = columns[place].counts(cardinalities[place]).into_iter().max().unwrap_or(0);
        most * drawn.l_max <= ROWS as u64
    };
    let protectable = (0..columns.len()).filter(|&place| fits(place)).count();
    // Two of the three others are known.
    (3 * protectable >= drawn.rules && protectable > 0).then(|| drawn::rules(rng, columns, cardinalities, drawn))
}

/// The least divergence of all sets of tables, no one of which is a part of another.
fn best_of_all(problem: &DecompositionProblem<'_>, divergence: &mut Divergence<'_>, seed: u64) -> f64 {
    let subsets: Vec<AttributeSet> = (1u32..1 << ATTRIBUTES)
        .map(|bits| (0..ATTRIBUTES).filter(|attribute| bits >> attribute & 1 == 1).collect())
        .collect();
    let mut best = f64::INFINITY;
    let mut chosen = Vec::new();
    families(&subsets, 0, &mut chosen, &mut |family| {
        let covered = family.iter().fold(AttributeSet::EMPTY, |all, &set| all | set);
        if covered != problem.everything() {
            return;
        }
        for tables in sensitive_choices(problem, family) {
            let plain: Vec<Subtable> = tables.iter().map(|&(set, sensitive)| schema(set, sensitive)).collect();
            if !problem.is_kept(&plain) || separators(&plain).is_none() {
                continue;
            }
            let mut rng = StdRng::seed_from_u64(seed);
            let made = |&(set, sensitive): &(AttributeSet, Option<usize>)| match sensitive {
                Some(sensitive) => problem.bucketized(set, sensitive, &mut rng),
                None => Subtable::plain(set),
            };
            let tables: Vec<Subtable> = tables.iter().map(made).collect();
            if let Some(kl) = divergence.of(&tables) {
                best = best.min(kl);
            }
        }
    });
    best
}

fn schema(set: AttributeSet, sensitive: Option<usize>) -> Subtable {
    let sensitive = sensitive.map_or(AttributeSet::EMPTY, AttributeSet::of);
    Subtable { sensitive, ..Subtable::plain(set) }
}

/// Every set of subsets of which none contains another.
fn families(
    subsets: &[AttributeSet],
    from: usize,
    chosen: &mut Vec<AttributeSet>,
    found: &mut impl FnMut(&[AttributeSet]),
) {
    found(chosen);
    for place in from..subsets.len() {
        let next = subsets[place];
        let is_apart = |other: &AttributeSet| !(next - *other).is_empty() && !(*other - next).is_empty();
        if chosen.iter().all(is_apart) {
            chosen.push(next);
            families(subsets, place + 1, chosen, found);
            chosen.pop();
        }
    }
}

/// Every way to make one attribute of each table sensitive, or none.
fn sensitive_choices(
    problem: &DecompositionProblem<'_>,
    family: &[AttributeSet],
) -> Vec<Vec<(AttributeSet, Option<usize>)>> {
    let mut choices = vec![Vec::new()];
    for &set in family {
        let possible = set.iter().filter(|&attribute| set.len() > 1 && problem.can_be_bucketized(attribute));
        let possible: Vec<Option<usize>> = std::iter::once(None).chain(possible.map(Some)).collect();
        let longer = |choice: &Vec<(AttributeSet, Option<usize>)>| -> Vec<Vec<(AttributeSet, Option<usize>)>> {
            possible.iter().map(|&sensitive| [choice.as_slice(), &[(set, sensitive)]].concat()).collect()
        };
        choices = choices.iter().flat_map(longer).collect();
    }
    choices
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn all_families_of_three_attributes_are_tried() {
        let subsets: Vec<AttributeSet> =
            (1u32..8).map(|bits| (0..3).filter(|attribute| bits >> attribute & 1 == 1).collect()).collect();
        let mut count = 0;
        families(&subsets, 0, &mut Vec::new(), &mut |_| count += 1);
        // Antichains of three elements: 20, less the one of the empty set alone.
        assert_eq!(count, 19);
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::versatile) fn turned() -> Vec<String> {
        let curve = |height: f64| Curve::exact("c", &[(1.0, height), (2.0, height)]);
        every_claim_can_fail(
            &Measured { kl: [1.0, 1.2, 1.3, 1.1, 1.5].map(curve) },
            claims,
            &[
                ("the better of UAD and GD", |of| of.kl[3].points[0].1 = Sample::exact(1.6)),
                ("UAD as printed", |of| of.kl[4].points[1].1 = Sample::exact(1.0)),
            ],
        )
    }
}
