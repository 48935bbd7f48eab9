//! Rows change places between buckets so that close ones share one, as far as the distances between
//! sensitive numbers allow.
//!
//! The deal (`deal.rs`) takes the rows by value, g at a time: round k gives every bucket one row.
//! Under (δ,l)-diversity by window, the rows of a bucket must lie more than 2δ apart, and since
//! rounds go upwards it is enough that each row lies so far above its bucket's row of the round
//! before. In this, rows of one round may change places.
//!
//! **What is possible.** Go through a round by rising value. The buckets that a row may join are
//! those whose last row lies far enough below it, and they only become more as the value rises. The
//! plain deal is possible, so the row at place c of the round has at least c + 1 buckets to choose
//! from, of which c are taken: one is left whichever the others chose. So every choice leads to the
//! end, and each row takes the bucket whose first row stands closest to it in the line. Once all
//! buckets are open, the rows that remain are matched in the order of the line, which brings them
//! closest together in sum.
//!
//! **What it discloses.** The plain deal does not look at quasi values and favors none of the
//! worlds behind its outcome. This one does look: someone who knows the method can weigh worlds by
//! whether it would have led here. The counts of every bucket, which are all that the guarantee
//! speaks of, stay within it.
//!
//! Cost: O(n log g).

use std::collections::BTreeSet;

use hedgerow_privacy::proximity::Proximity;

/// The bucket of every place of a deal. `by_value` holds the rows by rising value, each as its
/// place in the line, and `codes` the value of every place in the line. `None` when the plain deal
/// itself puts values into one bucket that are too close.
pub fn exchanged(by_value: &[u32], codes: &[u32], buckets: usize, proximity: &Proximity) -> Option<Vec<u32>> {
    let mut of_place: Vec<u32> = (0..buckets.min(by_value.len()) as u32).collect();
    // Where each bucket stands in the line: at its first row.
    let homes: Vec<u32> = by_value[..of_place.len()].to_vec();
    for round in (1..).map(|round| round * buckets).take_while(|&start| start < by_value.len()) {
        let rows = &by_value[round..by_value.len().min(round + buckets)];
        let before = (round - buckets..round).map(|place| (codes[by_value[place] as usize], of_place[place]));
        let chosen = match_round(rows, codes, before, &homes, proximity)?;
        of_place.extend(chosen);
    }
    Some(of_place)
}

/// A bucket for every row of a round. `before` are the values and buckets of the round before, by
/// rising value.
fn match_round(
    rows: &[u32],
    codes: &[u32],
    before: impl ExactSizeIterator<Item = (u32, u32)>,
    homes: &[u32],
    proximity: &Proximity,
) -> Option<Vec<u32>> {
    let mut closed = before.peekable();
    let mut open: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut chosen = Vec::with_capacity(rows.len());
    for (index, &row) in rows.iter().enumerate() {
        let value = codes[row as usize];
        while let Some((_, bucket)) = closed.next_if(|&(last, _)| proximity.last(last) < value) {
            open.insert((homes[bucket as usize], bucket));
        }
        if closed.len() == 0 && open.len() == rows.len() - index {
            let mut rest: Vec<usize> = (index..rows.len()).collect();
            rest.sort_unstable_by_key(|&index| rows[index]);
            chosen.resize(rows.len(), 0);
            rest.into_iter().zip(&open).for_each(|(index, &(_, bucket))| chosen[index] = bucket);
            return Some(chosen);
        }
        let above = open.range((row, 0)..).next();
        let below = open.range(..(row, 0)).next_back();
        let nearest = [below, above].into_iter().flatten().min_by_key(|(home, _)| home.abs_diff(row)).copied()?;
        open.remove(&nearest);
        chosen.push(nearest.1);
    }
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use hedgerow_privacy::numbers::Numbers;
    use hedgerow_table::{Domain, Ratio, Values};
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Close are values at most `width` apart; code and value are the same.
    fn proximity(values: i64, width: u64) -> Proximity {
        let numbers = Numbers::of(&Domain::new(Values::Integer((0..values).collect()), false)).unwrap();
        Proximity::new(&numbers, numbers.apart_at_most(Ratio::integer(width), 1))
    }

    /// The rows of each bucket, as places in the line.
    fn filled(by_value: &[u32], of_place: &[u32], buckets: usize) -> Vec<Vec<u32>> {
        let mut rows = vec![Vec::new(); buckets];
        by_value.iter().zip(of_place).for_each(|(&row, &bucket)| rows[bucket as usize].push(row));
        rows
    }

    fn spread(rows: &[Vec<u32>]) -> u32 {
        rows.iter().map(|rows| rows.iter().max().unwrap() - rows.iter().min().unwrap()).sum()
    }

    #[test]
    fn four_people_change_partners() {
        // Along the line stand the values 0, 20, 1, 21: the deal joins 0 with 20 and 1 with 21, or
        // any exchange of those.
        let codes = [0, 20, 1, 21];
        let by_value = [0, 2, 1, 3];
        assert_eq!(exchanged(&by_value, &codes, 2, &proximity(30, 5)), Some(vec![0, 1, 0, 1]));
        let codes = [0, 21, 1, 20];
        assert_eq!(
            exchanged(&[0, 2, 3, 1], &codes, 2, &proximity(30, 5)),
            Some(vec![0, 1, 1, 0]),
            "0 with 21, which stands next"
        );
        assert_eq!(
            exchanged(&[0, 2, 3, 1], &codes, 2, &proximity(30, 19)),
            Some(vec![0, 1, 0, 1]),
            "20 is too close to 1"
        );
        assert_eq!(exchanged(&[0, 2, 3, 1], &codes, 2, &proximity(30, 20)), None);
    }

    /// Over random lines: no row shares a bucket with a close value, buckets keep the sizes of the
    /// deal, refusals are those of the plain deal, and the buckets' rows stand far closer together.
    #[test]
    fn exchanged_buckets_keep_their_distances_and_draw_together() {
        let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
        let (mut plain_spread, mut drawn_spread, mut possible) = (0u64, 0u64, 0);
        for seed in only.map_or(0..3000, |seed| seed..seed + 1) {
            let mut rng = StdRng::seed_from_u64(seed);
            let rows = rng.random_range(1..60usize);
            let values = *[3, 10, 60].get(rng.random_range(0..3usize)).unwrap();
            let codes: Vec<u32> = (0..rows).map(|_| rng.random_range(0..values)).collect();
            let width = rng.random_range(0..=values / 3);
            let buckets = rng.random_range(1..=rows);
            let proximity = proximity(i64::from(values), u64::from(width));
            let mut by_value: Vec<u32> = (0..rows as u32).collect();
            by_value.sort_by_key(|&row| codes[row as usize]);
            let far = |rows: &[u32]| {
                rows.iter().enumerate().all(|(index, &one)| {
                    let apart = |other: u32| codes[one as usize].abs_diff(codes[other as usize]) > width;
                    rows[index + 1..].iter().all(|&other| apart(other))
                })
            };
            let plain: Vec<u32> = (0..rows).map(|place| (place % buckets) as u32).collect();
            let plain = filled(&by_value, &plain, buckets);
            let Some(of_place) = exchanged(&by_value, &codes, buckets, &proximity) else {
                assert!(!plain.iter().all(|rows| far(rows)), "seed {seed}: the deal was possible");
                continue;
            };
            let drawn = filled(&by_value, &of_place, buckets);
            assert!(drawn.iter().all(|rows| far(rows)), "seed {seed}: {drawn:?} of {codes:?}, {width}");
            assert!(
                drawn.iter().all(|bucket| [rows / buckets, rows.div_ceil(buckets)].contains(&bucket.len())),
                "seed {seed}"
            );
            possible += 1;
            plain_spread += u64::from(spread(&plain));
            drawn_spread += u64::from(spread(&drawn));
        }
        assert!(only.is_some() || possible > 500, "{possible}");
        assert!(only.is_some() || drawn_spread * 10 < plain_spread * 7, "{drawn_spread} of {plain_spread}");
    }
}
