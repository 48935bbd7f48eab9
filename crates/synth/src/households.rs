//! Households and the people in them, with the traps that census tables have: a key of the
//! household, a number within it, composition that neighbors know, a region that follows from the
//! county, an income that children lack, and exact rents.

use std::io::{self, Write};

use crate::chance::Random;
use crate::traps::{COUNTIES, even, name_of};

const HEADER: &str = "household,number,resident,age,sex,relation,members,county,region,rent,income,condition\n";

const CONDITIONS: [&str; 6] = ["none", "hypertension", "diabetes", "depression", "asthma", "cancer"];

/// Writes households until there are `rows` people, as CSV with a header. The same seed gives the
/// same bytes.
pub fn households(rows: u64, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    let mut written = 0;
    for household in 0.. {
        if written == rows {
            break;
        }
        let mut random = Random::for_block(seed, household);
        let adults = 1 + even(&mut random, 2);
        let children = even(&mut random, 4) * u64::from(random.happens(6_000));
        let members = (adults + children).min(rows - written);
        for line in members_of(household, adults.min(members), members, &mut random) {
            out.write_all(line.as_bytes())?;
        }
        written += members;
    }
    out.flush()
}

fn members_of(household: u64, adults: u64, members: u64, random: &mut Random) -> Vec<String> {
    let county = even(random, COUNTIES) as usize;
    let region = ["north", "east", "south", "west"][county / 6 % 4];
    let rent = 310 + even(random, 2_400);
    let surname = name_of(random).split(' ').next_back().unwrap_or_default().to_owned();
    (0..members)
        .map(|number| {
            let is_adult = number < adults;
            let age = if is_adult { 22 + even(random, 65) } else { even(random, 18) };
            let relation = match number {
                0 => "head",
                _ if is_adult => "spouse",
                _ => "child",
            };
            let first = name_of(random).split(' ').next().unwrap_or_default().to_owned();
            let sex = if random.happens(5_050) { "female" } else { "male" };
            let income = if is_adult { (9_000 + even(random, 80_000)).to_string() } else { String::new() };
            let condition = CONDITIONS[even(random, 6).min(even(random, 6)) as usize];
            format!(
                "H{:06},{},{first} {surname},{age},{sex},{relation},{members},county {county:02},{region},{rent},{income},{condition}\n",
                200_000 + household,
                number + 1
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn every_trap_is_there() {
        let mut bytes = Vec::new();
        households(1_500, 3, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 1_500);
        let mut region: HashMap<&str, &str> = HashMap::new();
        let mut rent: HashMap<&str, &str> = HashMap::new();
        for row in &rows {
            assert_eq!(*region.entry(row[7]).or_insert(row[8]), row[8], "a county lies in one region");
            assert_eq!(*rent.entry(row[0]).or_insert(row[9]), row[9], "a household has one rent");
            assert_eq!(row[10].is_empty(), row[5] == "child", "children have no income");
        }
        assert!(region.len() > 20 && rent.len() > 300);
    }
}
