//! Tax returns of firms over several years, with the traps that registers have: a number of the
//! firm that returns, its owner's name under an innocent header, a district that shows the county,
//! wages that firms without employees lack, and exact amounts.

use std::io::{self, Write};

use crate::chance::Random;
use crate::traps::{COUNTIES, even, name_of};

const HEADER: &str = "filer,contact,year,district,county,sector,employees,turnover,wages,tax,outcome\n";

const SECTORS: [&str; 7] =
    ["retail", "crafts", "construction", "transport", "hospitality", "health services", "consulting"];

const OUTCOMES: [&str; 5] = ["accepted", "corrected", "late", "reassessed", "fraud suspected"];

/// Districts of a county, which share no number with those of another.
const DISTRICTS: u64 = 5;

/// Writes firms with all their returns until there are `rows` of them, as CSV with a header. The
/// same seed gives the same bytes.
pub fn taxes(rows: u64, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    let mut written = 0;
    for firm in 0.. {
        if written == rows {
            break;
        }
        let mut random = Random::for_block(seed, firm);
        let returns = (1 + even(&mut random, 3)).min(rows - written);
        for line in returns_of(firm, returns, &mut random) {
            out.write_all(line.as_bytes())?;
        }
        written += returns;
    }
    out.flush()
}

fn returns_of(firm: u64, returns: u64, random: &mut Random) -> Vec<String> {
    let county = even(random, COUNTIES / 2);
    let district = county * DISTRICTS + even(random, DISTRICTS);
    let sector = SECTORS[even(random, 7).min(even(random, 7)) as usize];
    let contact = name_of(random);
    let employees = if random.happens(4_000) { 0 } else { 1 + even(random, 12) * (1 + even(random, 4)) };
    let first = 2021 + even(random, 4 - returns);
    (first..first + returns)
        .map(|year| {
            let turnover = 18_000 + even(random, 240_000) + employees * 61_300;
            let wages = if employees == 0 { String::new() } else { (employees * (21_000 + even(random, 30_000))).to_string() };
            let tax = turnover * (11 + even(random, 9)) / 100;
            let outcome = OUTCOMES[even(random, 5).min(even(random, 5)) as usize];
            format!(
                "F{:06},{contact},{year},D{district:03},county {county:02},{sector},{employees},{turnover},{wages},{tax},{outcome}\n",
                300_000 + firm
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn every_trap_is_there() {
        let mut bytes = Vec::new();
        taxes(1_500, 3, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 1_500);
        let mut county: HashMap<&str, &str> = HashMap::new();
        for row in &rows {
            assert_eq!(*county.entry(row[3]).or_insert(row[4]), row[4], "a district lies in one county");
            assert_eq!(row[8].is_empty(), row[6] == "0", "without employees there are no wages");
        }
        let firms: HashSet<&str> = rows.iter().map(|row| row[0]).collect();
        let amounts: HashSet<&str> = rows.iter().map(|row| row[7]).collect();
        assert!(county.len() > 40 && firms.len() < 1_000 && amounts.len() > 1_400);
    }
}
