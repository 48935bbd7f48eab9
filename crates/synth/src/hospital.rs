//! Stays in a hospital by patients who return, with the traps that real discharge tables have:
//! several rows of one person, names under an innocent header, a density that mirrors the county,
//! diagnoses that only some people can have, a salary that children lack, exact charges.

use std::io::{self, Write};

use crate::chance::Random;
use crate::traps::{COUNTIES, even, name_of};

const HEADER: &str = "patient_id,subject,sex,age,county,density,admitted,ward,diagnosis,salary,charges\n";

/// Diagnoses of anyone, most frequent first.
const OF_ANYONE: [&str; 8] =
    ["pneumonia", "fracture", "appendicitis", "asthma", "diabetes", "heart failure", "sepsis", "migraine"];

/// Writes the stays of as many patients as needed for `rows` stays, as CSV with a header. The same
/// seed gives the same bytes.
pub fn hospital(rows: u64, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    let mut written = 0;
    for patient in 0.. {
        if written == rows {
            break;
        }
        let mut random = Random::for_block(seed, patient);
        let stays = (1 + even(&mut random, 6)).min(rows - written);
        for line in stays_of(patient, stays, &mut random) {
            out.write_all(line.as_bytes())?;
        }
        written += stays;
    }
    out.flush()
}

fn stays_of(patient: u64, stays: u64, random: &mut Random) -> Vec<String> {
    let name = name_of(random);
    let female = random.happens(5_200);
    let age = even(random, 90);
    let county = even(random, COUNTIES) as usize;
    // Every county has a density of its own.
    let density = 11 + county * 37 % 997;
    let salary = if age < 18 { String::new() } else { (18_000 + even(random, 90_000)).to_string() };
    let can_be_pregnant = female && (16..46).contains(&age);
    (0..stays)
        .map(|_| {
            let diagnosis = match () {
                () if can_be_pregnant && random.happens(4_500) => "delivery",
                () if age < 12 && random.happens(4_000) => "croup",
                () => OF_ANYONE[even(random, 8).min(even(random, 8)) as usize],
            };
            let ward = match diagnosis {
                "delivery" => "maternity",
                "fracture" | "appendicitis" => "surgery",
                _ => ["medicine", "intensive care"][usize::from(random.happens(1_500))],
            };
            let (month, day) = (1 + even(random, 12), 1 + even(random, 28));
            let charges = 900 + even(random, 60_000);
            let sex = if female { "female" } else { "male" };
            format!(
                "R{:06},{name},{sex},{age},county {county:02},{density},2024-{month:02}-{day:02},{ward},{diagnosis},{salary},{charges}\n",
                100_000 + patient
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
        hospital(2_000, 1, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 2_000);
        let patients: HashSet<&str> = rows.iter().map(|row| row[0]).collect();
        assert!(patients.len() < 1_000 && patients.len() > 300, "{} patients", patients.len());
        let mut density: HashMap<&str, &str> = HashMap::new();
        for row in &rows {
            assert_eq!(*density.entry(row[4]).or_insert(row[5]), row[5], "a county has one density");
            assert!(row[8] != "delivery" || row[2] == "female");
            let age: u32 = row[3].parse().unwrap();
            assert_eq!(row[9].is_empty(), age < 18, "who is a child has no salary");
        }
        assert!(rows.iter().filter(|row| row[8] == "delivery").count() > 20);
        let charges: HashSet<&str> = rows.iter().map(|row| row[10]).collect();
        assert!(charges.len() > 1_800, "exact amounts");
        let mut again = Vec::new();
        hospital(2_000, 1, &mut again).unwrap();
        assert_eq!(text.as_bytes(), again);
    }
}
