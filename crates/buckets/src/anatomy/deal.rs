//! The deal: rows in the order of their sensitive values, dealt round to buckets like cards.
//!
//! Sort n rows by value, let g be the number of buckets, and put the row at place j into bucket j
//! mod g.
//!
//! **What holds.** Every bucket gets ⌊n/g⌋ or ⌈n/g⌉ rows. A value with c rows takes c places in a
//! row, so every bucket gets ⌊c/g⌋ or ⌈c/g⌉ of them. With g = ⌊n/l⌋ for an integer l ≤ n, n/g ≥ l,
//! so every bucket has at least l rows. If no value has more than n/l rows, none has more than g, a
//! count being an integer, so each bucket has at most one row of every value: its rows are all
//! different, and frequency, distinct and entropy l-diversity hold in it. n/l is also necessary for
//! frequency l-diversity, since the buckets' shares add up to the table's; so the deal succeeds
//! exactly when any bucketization does. For l that is not an integer, buckets of more than ⌈l⌉ rows
//! may be needed: [`most_buckets`] tries ever larger ones until the table is one bucket.
//!
//! **Residue.** Anatomy (Xiao, Tao 2006, figure 4) draws from the l largest groups of values until
//! fewer than l are left, and puts each row that remains into a bucket that lacks its value. The
//! deal leaves nothing over: what would remain, n − g·l rows, is dealt on to different buckets,
//! which lack the value because they hold at most one row of it.
//!
//! **What the deal discloses.** Rows of one value come in random order. Given which rows share a
//! bucket and the buckets' counts, every way to give the counted values to the rows has then the
//! same probability: value v fills the same places of the deal in each, and of its orders Π (rows
//! of v in bucket b)! lead to these buckets. So an adversary who knows how the deal works learns no
//! more than one who only sees the tables.
//!
//! The order of values matters to no guarantee above, but to others: among sorted numbers,
//! neighbors in a bucket are g places apart, which is what keeps close numbers out of one bucket,
//! and every bucket is a systematic sample of the table.
//!
//! Cost: one pass to count, one to shuffle, one to deal.

use hedgerow_draft::rows::shuffle;
use hedgerow_table::{Codes, with_codes};
use rand::Rng;

use super::allowed::BucketGuarantees;
use super::blocks::Buckets;

/// All rows dealt at once, without regard to likeness. `None` when not even one bucket of all rows
/// is allowed.
pub fn at_random(codes: &Codes, cardinality: usize, allowed: &BucketGuarantees, rng: &mut impl Rng) -> Option<Buckets> {
    let counts = codes.counts(cardinality);
    let Buckets { of_row: of_place, count } = places_at_random(&counts, allowed, rng)?;
    Some(Buckets { of_row: deal(codes, &counts, &of_place), count })
}

/// The same for rows in the order of their values, given the number of rows of each value.
pub fn places_at_random(counts: &[u64], allowed: &BucketGuarantees, rng: &mut impl Rng) -> Option<Buckets> {
    let values: Vec<(u32, u32)> =
        (0..).zip(counts).filter(|(_, count)| **count > 0).map(|(code, &count)| (code, count as u32)).collect();
    let count = most_buckets(&values, allowed)? as u32;
    let mut of_place = round_and_round(counts.iter().sum::<u64>() as usize, count);
    let mut rest = of_place.as_mut_slice();
    for (_, rows) in values {
        let (own, behind) = rest.split_at_mut(rows as usize);
        shuffle(own, rng);
        rest = behind;
    }
    Some(Buckets { of_row: of_place, count })
}

/// The bucket of every place, before places of one value are shuffled.
fn round_and_round(rows: usize, buckets: u32) -> Vec<u32> {
    let mut of_place = Vec::with_capacity(rows);
    while of_place.len() < rows {
        of_place.extend(0..buckets.min((rows - of_place.len()) as u32));
    }
    of_place
}

/// The bucket of every row: rows of one value take the places of that value in the order they stand
/// in.
fn deal(codes: &Codes, counts: &[u64], of_place: &[u32]) -> Vec<u32> {
    let mut next = Vec::with_capacity(counts.len());
    let mut place = 0;
    for &count in counts {
        next.push(place);
        place += count as usize;
    }
    with_codes!(codes, codes => codes
        .iter()
        .map(|&code| {
            let next = &mut next[code as usize];
            *next += 1;
            of_place[*next - 1]
        })
        .collect())
}

/// The largest number of buckets tried into which values (ascending codes with their rows) can be
/// dealt so that every bucket is allowed. `None` when even one bucket of them all is not.
pub fn most_buckets(values: &[(u32, u32)], allowed: &BucketGuarantees) -> Option<usize> {
    let mut rows = 0;
    let ends: Vec<usize> = values
        .iter()
        .map(|&(_, count)| {
            rows += count as usize;
            rows
        })
        .collect();
    let mut held = Vec::new();
    let mut size = allowed.least;
    while size < rows {
        let buckets = rows / size;
        let holds = |first: usize| {
            dealt(values, &ends, first, buckets, &mut held);
            allowed.holds(&held)
        };
        // Buckets between two in which a value begins to be dealt get what the first of the two
        // gets.
        let all_hold = if buckets <= values.len() {
            (0..buckets).all(holds)
        } else {
            std::iter::once(0).chain(ends.iter().map(|end| end % buckets)).all(holds)
        };
        if all_hold {
            return Some(buckets);
        }
        // The next smaller number of buckets; in larger steps once buckets are large.
        size = (rows / buckets + 1).max(size + size / 8);
    }
    (rows > 0 && allowed.holds(values)).then_some(1)
}

/// The values of a bucket: the value at every `buckets`th place from its own on. `ends` are the
/// places behind each value.
fn dealt(values: &[(u32, u32)], ends: &[usize], bucket: usize, buckets: usize, held: &mut Vec<(u32, u32)>) {
    held.clear();
    let rows = ends.last().copied().unwrap_or(0);
    let (mut place, mut index) = (bucket, 0);
    while place < rows {
        // In strides that double: few of many values are far apart, many of few are neighbors.
        let mut stride = 1;
        while index + stride < ends.len() && ends[index + stride - 1] <= place {
            index += stride;
            stride *= 2;
        }
        let last = ends.len().min(index + stride);
        index += ends[index..last].partition_point(|&end| end <= place);
        let more = if place + buckets < ends[index] { (ends[index] - 1 - place) / buckets } else { 0 };
        held.push((values[index].0, more as u32 + 1));
        place += (more + 1) * buckets;
    }
}

/// Ascending codes as codes with counts.
pub(crate) fn run_lengths<'c>(sorted: impl Iterator<Item = &'c u32>, values: &mut Vec<(u32, u32)>) {
    values.clear();
    for &code in sorted {
        match values.last_mut() {
            Some(last) if last.0 == code => last.1 += 1,
            _ => values.push((code, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hedgerow_privacy::{Context, Distribution, Model, models};
    use hedgerow_table::Ratio;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn frequency(l: f64) -> BucketGuarantees {
        let model = Model::FrequencyLDiversity { l: Ratio::from_decimal(l).unwrap() };
        BucketGuarantees::new(vec![models::guarantee(&model, &Context::default()).unwrap()], Distribution::default())
    }

    /// Anatomy's running example (table 3): eight patients, l = 2, become buckets of two different
    /// diseases.
    #[test]
    fn eight_patients_make_four_buckets_of_two_diseases() {
        // pneumonia, dyspepsia, dyspepsia, pneumonia, flu, gastritis, flu, bronchitis
        let diseases = [4, 1, 1, 4, 2, 3, 2, 0];
        let codes = Codes::from_iter(5, diseases);
        let buckets = deal(&codes, &codes.counts(5), &round_and_round(8, 4));
        assert_eq!(buckets, [2, 1, 2, 3, 3, 1, 0, 0]);
        assert_eq!(most_buckets(&[(0, 1), (1, 2), (2, 2), (3, 1), (4, 2)], &frequency(2.0)), Some(4));
    }

    #[test]
    fn the_deal_succeeds_exactly_when_no_value_is_too_frequent() {
        for (counts, l, buckets) in [
            (&[3, 3, 3][..], 3.0, Some(3)),
            (&[4, 3, 3], 3.0, None),
            (&[4, 4, 4, 1], 3.0, Some(4)),
            (&[2, 2, 1], 2.5, Some(1)),
            (&[4, 4, 2], 2.5, Some(2)),
            (&[5, 4, 2], 2.5, None),
            (&[1], 1.0, Some(1)),
            (&[1], 2.0, None),
            (&[7], 1.0, Some(7)),
        ] {
            let values: Vec<(u32, u32)> = (0..).zip(counts.iter().copied()).collect();
            assert_eq!(most_buckets(&values, &frequency(l)), buckets, "{counts:?}, l = {l}");
        }
        assert_eq!(most_buckets(&[], &frequency(1.0)), None);
    }

    /// Every table of up to nine rows over four values, every integer l: all buckets have l rows or
    /// more, all different.
    #[test]
    fn every_small_table_is_dealt_as_the_proof_says() {
        let mut tables = 0;
        for counts in (0..10u64.pow(4)).map(|number| [0, 1, 2, 3].map(|digit| number / 10u64.pow(digit) % 10)) {
            let rows: u64 = counts.iter().sum();
            let most = counts.iter().copied().max().unwrap();
            for l in (1..=rows.min(9)).filter(|l| most * l <= rows && rows <= 9) {
                let codes = Codes::from_iter(4, (0..4).flat_map(|code| vec![code; counts[code as usize] as usize]));
                let buckets = (rows / l) as u32;
                let mut seen = vec![Vec::new(); buckets as usize];
                for (bucket, code) in
                    deal(&codes, &counts, &round_and_round(rows as usize, buckets)).into_iter().zip(codes.iter())
                {
                    assert!(!seen[bucket as usize].contains(&code), "{counts:?}, l = {l}");
                    seen[bucket as usize].push(code);
                }
                assert!(seen.iter().all(|bucket| bucket.len() as u64 >= l), "{counts:?}, l = {l}");
                tables += 1;
            }
        }
        assert!(tables > 500, "{tables}");
    }

    /// The values of a bucket, counted place by place, for random values and numbers of buckets;
    /// and the buckets that are looked at stand for all others.
    #[test]
    fn a_bucket_gets_the_values_at_its_places() {
        let mut rng = StdRng::seed_from_u64(7);
        for case in 0..2000 {
            let values: Vec<(u32, u32)> =
                (0..rng.random_range(1..40)).map(|code| (code * 3, rng.random_range(1..6))).collect();
            let sorted: Vec<u32> = values.iter().flat_map(|&(code, count)| vec![code; count as usize]).collect();
            let ends: Vec<usize> =
                (1..=values.len()).map(|many| values[..many].iter().map(|&(_, count)| count as usize).sum()).collect();
            let buckets = rng.random_range(1..=sorted.len());
            let naive: Vec<Vec<(u32, u32)>> = (0..buckets)
                .map(|bucket| {
                    let mut held = Vec::new();
                    run_lengths(sorted[bucket..].iter().step_by(buckets), &mut held);
                    held
                })
                .collect();
            let mut held = Vec::new();
            for (bucket, expected) in naive.iter().enumerate() {
                dealt(&values, &ends, bucket, buckets, &mut held);
                assert_eq!(held, *expected, "case {case}: bucket {bucket} of {buckets} for {values:?}");
            }
            let looked_at: Vec<&Vec<(u32, u32)>> =
                std::iter::once(0).chain(ends.iter().map(|end| end % buckets)).map(|bucket| &naive[bucket]).collect();
            assert!(naive.iter().all(|held| looked_at.contains(&held)), "case {case}: {buckets} for {values:?}");
        }
    }

    /// Every row gets a bucket, buckets keep the guarantee, and who shares one differs from draw to
    /// draw.
    #[test]
    fn rows_of_one_value_are_dealt_at_random() {
        let codes = Codes::from_iter(4, (0..40).map(|row| row % 4));
        let draw = |seed| at_random(&codes, 4, &frequency(4.0), &mut StdRng::seed_from_u64(seed)).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1).of_row, draw(2).of_row);
        let mut times_together = 0;
        for seed in 0..1000 {
            let buckets = draw(seed);
            assert_eq!(buckets.count, 10);
            let mut seen = [[0; 4]; 10];
            for (&bucket, code) in buckets.of_row.iter().zip(codes.iter()) {
                seen[bucket as usize][code as usize] += 1;
            }
            assert_eq!(seen, [[1; 4]; 10]);
            times_together += usize::from(buckets.of_row[0] == buckets.of_row[1]);
        }
        // One in ten is expected; the standard deviation is below ten.
        assert!((50..150).contains(&times_together), "{times_together}");
        assert_eq!(at_random(&codes, 4, &frequency(5.0), &mut StdRng::seed_from_u64(1)), None);
    }

    /// The rows and the values of every bucket.
    type Outcome = Vec<(Vec<usize>, Vec<u32>)>;

    /// For every outcome, all tables that could have led to it did so with the same probability:
    /// enumerated over every arrangement of the values and every order of the rows.
    #[test]
    fn an_outcome_favors_none_of_the_tables_behind_it() {
        let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
        for row in 0..6 {
            let insert = |order: &Vec<usize>, at: usize| [&order[..at], &[row], &order[at..]].concat();
            orders = orders.iter().flat_map(|order| (0..=row).map(|at| insert(order, at))).collect();
        }
        for (values, buckets) in [([0, 0, 1, 1, 2, 2], 3), ([0, 0, 0, 1, 1, 2], 2), ([0, 0, 1, 2, 3, 4], 2)] {
            let mut tables: Vec<Vec<u32>> =
                orders.iter().map(|order| order.iter().map(|&row| values[row]).collect()).collect();
            tables.sort_unstable();
            tables.dedup();
            let counts = Codes::from_iter(5, values).counts(5);
            // Which rows share a bucket with which values, and how many orders of each table lead
            // there.
            let mut outcomes: BTreeMap<Outcome, Vec<u32>> = BTreeMap::new();
            for (index, table) in tables.iter().enumerate() {
                for order in &orders {
                    let codes = Codes::from_iter(5, order.iter().map(|&row| table[row]));
                    let mut outcome = vec![(Vec::new(), Vec::new()); buckets as usize];
                    for (bucket, &row) in deal(&codes, &counts, &round_and_round(6, buckets)).into_iter().zip(order) {
                        outcome[bucket as usize].0.push(row);
                        outcome[bucket as usize].1.push(table[row]);
                    }
                    for (rows, values) in &mut outcome {
                        rows.sort_unstable();
                        values.sort_unstable();
                    }
                    outcome.sort();
                    outcomes.entry(outcome).or_insert_with(|| vec![0; tables.len()])[index] += 1;
                }
            }
            for (outcome, led_here) in &outcomes {
                let possible = |table: &Vec<u32>| {
                    outcome.iter().all(|(rows, values)| {
                        let mut own: Vec<u32> = rows.iter().map(|&row| table[row]).collect();
                        own.sort_unstable();
                        own == *values
                    })
                };
                let most = led_here.iter().max().unwrap();
                for (table, times) in tables.iter().zip(led_here) {
                    assert_eq!(*times, if possible(table) { *most } else { 0 }, "{outcome:?} from {table:?}");
                }
            }
        }
    }
}
