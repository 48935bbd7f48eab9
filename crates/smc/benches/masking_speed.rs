//! How fast counters are masked: `cargo bench -p hedgerow-smc --bench masking_speed`.
//!
//! One custodian covers 10⁶ counters with the masks it shares with all others, on one core. A
//! counter is 8 bytes before it is packed; counters whose sums stay below 2²⁰ (a million rows) go
//! three to a word, so a third of the key stream is needed. Time is what the thread was on a
//! processor, not what passed by, and the best of several tries. On processors with AVX-512,
//! `RUSTFLAGS="--cfg chacha20_avx512"` lets the cipher use it, which about doubles the figures.

use std::fs::read_to_string;

use hedgerow_smc::masked::measure_masking;

/// Seconds that this thread was on a processor (Linux).
fn on_processor() -> f64 {
    let stat = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    nanoseconds.map_or(f64::NAN, |nanoseconds| nanoseconds / 1e9)
}

fn main() -> Result<(), hedgerow_smc::Fault> {
    println!("{:>10} {:>6} {:>24} {:>18}", "custodians", "bits", "counters masked GB/s", "key stream GB/s");
    let counters = vec![1u64; 1_000_000];
    for custodians in [3, 5, 10, 20] {
        for bits in [64, 32, 20, 16] {
            let mut best = f64::INFINITY;
            for _ in 0..12 {
                let began = on_processor();
                measure_masking(&counters, bits, custodians, 5)?;
                best = best.min((on_processor() - began) / 5.0);
            }
            let vector = 8e6 / best / 1e9;
            let stream = vector * (custodians - 1) as f64 / f64::from(64 / bits);
            println!("{custodians:>10} {bits:>6} {vector:>24.3} {stream:>18.2}");
        }
    }
    Ok(())
}
