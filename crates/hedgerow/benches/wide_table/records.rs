//! A table of the shape of tax records, drawn at random: record and household keys, weights,
//! codes, flags, and many amounts of money, most of them zero for most people.

use std::io::{self, Write};

/// Codes, flags and counts: how many values, and how skewed. The larger, the more are 0.
const FEW: [(&str, u64, f64); 22] = [
    ("fips", 51, 1.0),
    ("MARS", 4, 1.5),
    ("XTOT", 8, 2.0),
    ("DSI", 2, 6.0),
    ("EIC", 4, 5.0),
    ("FDED", 3, 1.0),
    ("age_head", 85, 0.6),
    ("age_spouse", 85, 2.5),
    ("blind_head", 2, 12.0),
    ("blind_spouse", 2, 20.0),
    ("n24", 6, 4.0),
    ("nu05", 4, 6.0),
    ("nu13", 5, 5.0),
    ("nu18", 6, 4.0),
    ("n1820", 4, 8.0),
    ("n21", 5, 2.0),
    ("elderly_dependents", 3, 15.0),
    ("f2441", 4, 7.0),
    ("ffpos", 5, 4.0),
    ("region", 4, 1.0),
    ("division", 9, 1.0),
    ("occupation", 23, 1.4),
];

/// Amounts of money: the share of people who have any, and the usual amount.
const AMOUNTS: [(&str, f64, f64); 40] = [
    ("e00200", 0.75, 32_000.0),
    ("e00200p", 0.70, 30_000.0),
    ("e00200s", 0.30, 25_000.0),
    ("e00300", 0.45, 400.0),
    ("e00400", 0.05, 900.0),
    ("e00600", 0.20, 1_500.0),
    ("e00650", 0.15, 1_100.0),
    ("e00700", 0.12, 600.0),
    ("e00800", 0.01, 5_000.0),
    ("e00900", 0.12, 9_000.0),
    ("e00900p", 0.10, 9_000.0),
    ("e00900s", 0.04, 8_000.0),
    ("e01100", 0.02, 2_000.0),
    ("e01400", 0.08, 9_000.0),
    ("e01500", 0.18, 14_000.0),
    ("e01700", 0.16, 13_000.0),
    ("e02100", 0.02, 6_000.0),
    ("e02300", 0.05, 4_000.0),
    ("e02400", 0.22, 15_000.0),
    ("e03150", 0.03, 3_000.0),
    ("e03210", 0.06, 900.0),
    ("e03240", 0.02, 3_000.0),
    ("e03270", 0.04, 4_000.0),
    ("e03300", 0.01, 9_000.0),
    ("e17500", 0.20, 2_500.0),
    ("e18400", 0.45, 2_000.0),
    ("e18500", 0.40, 2_200.0),
    ("e19200", 0.35, 6_000.0),
    ("e19800", 0.40, 900.0),
    ("e20100", 0.30, 400.0),
    ("e20400", 0.15, 1_000.0),
    ("e32800", 0.06, 3_000.0),
    ("other_ben", 0.55, 1_800.0),
    ("mcaid_ben", 0.25, 6_000.0),
    ("mcare_ben", 0.22, 11_000.0),
    ("snap_ben", 0.14, 2_400.0),
    ("ssi_ben", 0.05, 7_000.0),
    ("vet_ben", 0.05, 12_000.0),
    ("housing_ben", 0.06, 7_500.0),
    ("tanf_ben", 0.02, 3_000.0),
];

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Writes 68 columns as CSV.
pub(crate) fn write(rows: u64, out: &mut impl Write) -> io::Result<()> {
    let mut random = Random(68);
    write!(out, "RECID,h_seq,a_lineno,s006,FLPDYR,alien")?;
    for name in FEW.iter().map(|few| few.0).chain(AMOUNTS.iter().map(|amount| amount.0)) {
        write!(out, ",{name}")?;
    }
    writeln!(out)?;
    let (mut household, mut person) = (1u64, 0);
    for record in 1..=rows {
        person += 1;
        if random.unit() < 0.6 {
            (household, person) = (household + 1, 1);
        }
        let weight = 10_000.0 + (random.unit() * 90_000.0).floor();
        let alien = u8::from(random.unit() < 0.05);
        write!(out, "{record},{household},{person},{:.2},2014,{alien}", weight / 100.0)?;
        let wealth = random.unit();
        for (name, values, skew) in FEW {
            let code = (random.unit().powf(skew) * values as f64) as u64;
            let code = if name.starts_with("age") { code + u64::from(code > 0) * 15 } else { code };
            write!(out, ",{code}")?;
        }
        for (_, share, usual) in AMOUNTS {
            if random.unit() > share {
                write!(out, ",0")?;
                continue;
            }
            let amount = usual * (0.2 + 2.0 * wealth) * (-(1.0 - random.unit()).ln());
            // Many amounts are round figures.
            let step = if random.unit() < 0.4 { 100.0 } else { 1.0 };
            write!(out, ",{}", (amount / step).round() * step)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
