//! The adults of the synthetic census: as in the papers, nobody younger is in it. Children have one
//! and the same occupation, which would make it the most frequent of all.

use crate::experiment::Trouble;

/// The youngest in the papers' tables.
pub(crate) const AGE_MIN: u32 = 16;

/// A header, and the given number of people who are old enough, each with its line break.
pub(crate) fn adults(rows: usize) -> Result<(String, Vec<String>), Trouble> {
    let mut bytes = Vec::new();
    // About four in five are.
    hedgerow_synth::census(rows as u64 * 3 / 2, 1, &mut bytes)?;
    let text = String::from_utf8(bytes)?;
    let is_adult = |line: &&str| {
        let age = line.split(',').next().and_then(|age| age.parse::<u32>().ok());
        age.is_some_and(|age| age >= AGE_MIN)
    };
    let mut lines = text.split_inclusive('\n');
    let header = lines.next().ok_or("a census has a header")?.to_owned();
    let people: Vec<String> = lines.filter(is_adult).take(rows).map(str::to_owned).collect();
    if people.len() < rows {
        return Err("too few adults were drawn".into());
    }
    Ok((header, people))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_omitted() {
        let (header, people) = adults(2000).unwrap();
        assert!(header.starts_with("age,") && people.len() == 2000);
        assert!(people.iter().all(|line| line.split(',').next().unwrap().parse::<u32>().unwrap() >= AGE_MIN));
    }
}
