//! Random numbers and loaded dice, in integers only.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
//! generators"), written out here because a seed must name the same people after every upgrade of a
//! library, which `rand`'s standard generator expressly does not promise. It is for synthetic data;
//! no secret may rest on it.

const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of one block of one seed. Both numbers are mixed, so that neighboring blocks and
    /// neighboring seeds start far apart.
    pub(crate) fn for_block(seed: u64, block: u64) -> Random {
        Random { state: mix(mix(seed).wrapping_add(block.wrapping_mul(GOLDEN_GAMMA))) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }

    /// True `share` times in 10,000.
    pub(crate) fn happens(&mut self, share: u32) -> bool {
        below(self.next() as u32, 10_000) < share
    }

    /// Roughly normal around 0 with a standard deviation of 591 and nothing beyond ±2,046: the sum
    /// of four even draws.
    pub(crate) fn bell(&mut self) -> i32 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0x3FF).sum();
        sum as i32 - 2_046
    }
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// Scales 32 random bits to `0..bound`.
fn below(bits: u32, bound: u32) -> u32 {
    ((u64::from(bits) * u64::from(bound)) >> 32) as u32
}

/// A die with one side per weight, thrown in constant time (Walker's alias method): every slot is
/// shared by at most two sides, and one draw picks the slot and the side.
#[derive(Debug, Clone)]
pub(crate) struct LoadedDie {
    slots: Vec<DieSlot>,
}

#[derive(Debug, Clone, Copy)]
struct DieSlot {
    /// Below this (of 2³²) the slot's own side comes up, else the other one.
    own_below: u64,
    own: u8,
    other: u8,
}

impl LoadedDie {
    /// Weights need not add up to anything; at least one must be positive.
    pub(crate) fn new(weights: &[u64]) -> LoadedDie {
        let sides = weights.len() as u64;
        let total: u64 = weights.iter().sum();
        assert!(total > 0 && sides <= 256, "a die of the model has 1 to 256 sides and a positive weight");
        // Every slot holds `total`; a side fills `weight × sides`.
        let mut left: Vec<u64> = weights.iter().map(|weight| weight * sides).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&side| left[side] < total);
        let mut slots: Vec<DieSlot> =
            (0..weights.len()).map(|side| DieSlot { own_below: 1 << 32, own: side as u8, other: side as u8 }).collect();
        while let (Some(needy), Some(&donor)) = (small.pop(), large.last()) {
            slots[needy].own_below = ((u128::from(left[needy]) << 32) / u128::from(total)) as u64;
            slots[needy].other = donor as u8;
            left[donor] -= total - left[needy];
            if left[donor] < total {
                large.pop();
                small.push(donor);
            }
        }
        LoadedDie { slots }
    }

    pub(crate) fn throw(&self, random: &mut Random) -> u8 {
        let bits = random.next();
        let slot = self.slots[below((bits >> 32) as u32, self.slots.len() as u32) as usize];
        if (bits & 0xFFFF_FFFF) < slot.own_below { slot.own } else { slot.other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The reference implementation's first outputs for the state 1234567.
        let mut random = Random { state: 1_234_567 };
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn blocks_and_seeds_differ() {
        let mut firsts: Vec<u64> =
            (0..50).flat_map(|seed| (0..50).map(move |block| Random::for_block(seed, block).next())).collect();
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 2_500);
    }

    #[test]
    fn a_die_comes_up_by_its_weights() {
        let weights = [5, 0, 80, 1, 14];
        let die = LoadedDie::new(&weights);
        let mut random = Random::for_block(3, 0);
        let mut seen = [0u64; 5];
        for _ in 0..1_000_000 {
            seen[usize::from(die.throw(&mut random))] += 1;
        }
        assert_eq!(seen[1], 0, "a side without weight never comes up");
        for (side, weight) in weights.iter().enumerate() {
            let expected = weight * 10_000;
            assert!(seen[side].abs_diff(expected) < 2_000, "side {side}: {} instead of {expected}", seen[side]);
        }
    }

    #[test]
    fn a_die_with_one_side_always_shows_it() {
        let die = LoadedDie::new(&[7]);
        let mut random = Random::for_block(0, 0);
        assert!((0..100).all(|_| die.throw(&mut random) == 0));
    }

    #[test]
    fn slots_share_out_exactly_the_weights() {
        let weights = [3, 1, 4, 1, 5, 9, 2, 6];
        let die = LoadedDie::new(&weights);
        let total: u64 = weights.iter().sum();
        let mut share = [0u64; 8];
        for slot in &die.slots {
            share[usize::from(slot.own)] += slot.own_below;
            share[usize::from(slot.other)] += (1 << 32) - slot.own_below;
        }
        for (side, weight) in weights.iter().enumerate() {
            let exact = ((weight * 8) << 32) / total;
            assert!(share[side].abs_diff(exact) <= 8, "side {side}");
        }
    }

    #[test]
    fn the_bell_is_centered_and_bounded() {
        let mut random = Random::for_block(9, 9);
        let draws: Vec<i64> = (0..200_000).map(|_| i64::from(random.bell())).collect();
        assert!(draws.iter().all(|draw| draw.abs() <= 2_046));
        assert!((draws.iter().sum::<i64>() / 200_000).abs() <= 5);
        let variance = draws.iter().map(|draw| draw * draw).sum::<i64>() / 200_000;
        assert!((340_000..360_000).contains(&variance), "{variance}");
    }
}
