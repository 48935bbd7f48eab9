//! The census as a stream of CSV: made block by block on all cores, written in order, with only a
//! few blocks in memory.

use std::io::{self, Write};

use crate::chance::Random;
use crate::person::{HEADER, LINE_BYTES_MAX, Model};

/// Each block has random numbers of its own, so blocks can be made in any order. Part of what a
/// seed means: another size gives other people.
const BLOCK_ROWS: u64 = 16_384;

/// Writes `rows` synthetic people as CSV with a header. The same seed gives the same bytes whatever
/// the number of threads, and a smaller census is the beginning of a larger one.
pub fn census(rows: u64, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    let model = Model::new();
    let batch_blocks = rayon::current_num_threads().max(1);
    let mut ready = vec![Vec::new(); batch_blocks];
    let mut coming = vec![Vec::new(); batch_blocks];
    let mut next_block = 0;
    loop {
        // The next batch is made while this thread writes the last one.
        rayon::in_place_scope(|scope| {
            for (block, buffer) in (next_block..).zip(&mut coming) {
                let model = &model;
                scope.spawn(move |_| fill(buffer, model, seed, block, rows));
            }
            ready.iter().try_for_each(|buffer| out.write_all(buffer))
        })?;
        next_block += batch_blocks as u64;
        std::mem::swap(&mut ready, &mut coming);
        if ready.iter().all(Vec::is_empty) {
            return out.flush();
        }
    }
}

/// Fills the buffer with the rows of one block; leaves it empty when the block lies beyond the last
/// row.
fn fill(buffer: &mut Vec<u8>, model: &Model, seed: u64, block: u64, rows: u64) {
    buffer.clear();
    let count = rows.saturating_sub(block.saturating_mul(BLOCK_ROWS)).min(BLOCK_ROWS);
    buffer.reserve(count as usize * LINE_BYTES_MAX);
    let mut random = Random::for_block(seed, block);
    for _ in 0..count {
        model.person(&mut random).write_line(buffer);
    }
}
