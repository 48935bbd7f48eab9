//! Randomness for work that is done in parallel: every piece has a generator of its own, made from
//! one secret, so that the result does not depend on who does which piece.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

pub struct Chance {
    secret: [u8; 32],
}

impl std::fmt::Debug for Chance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chance").finish_non_exhaustive()
    }
}

impl Chance {
    pub fn new(rng: &mut StdRng) -> Chance {
        Chance { secret: rng.random() }
    }

    /// The generator of one piece of one task.
    pub fn of(&self, task: &str, piece: usize) -> StdRng {
        let mut seed = self.secret;
        for (byte, with) in seed.iter_mut().zip((piece as u64).to_le_bytes().iter().chain(task.as_bytes())) {
            *byte ^= with;
        }
        StdRng::from_seed(seed)
    }
}
