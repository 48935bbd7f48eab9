//! Theorem 3.1: no rule follows from others but from one that knows more. The proof builds a table
//! in which the last attribute is the exclusive or of the first k, each of which has two values for
//! 0 and two for 1, and claims that published as it is, the table keeps every rule with l = 2 but
//! those that know all k and protect the last one. Here every such rule is counted.

use std::collections::BTreeMap;

use hedgerow_report::pictures::{Bar, Bars, NumberCell};

use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, counts};

/// A table of the proof.
#[derive(Debug, Clone)]
struct Tried {
    attributes: usize,
    known: usize,
    tuples: u64,
    /// Rules that the table keeps or breaks otherwise than the proof says.
    otherwise: u64,
    rules: u64,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let measured = tried(scale.of(6, 5));
    let mut table =
        numbers(["attributes", "known", "tuples", "tuples printed", "rules", "otherwise than the proof says"]);
    for one in &measured {
        let printed = 1u64 << (one.attributes + one.known);
        let row = [one.attributes as u64, one.known as u64, one.tuples, printed, one.rules, one.otherwise];
        table.rows.push(row.map(|number| NumberCell::Number(number as f64)).to_vec());
    }
    let bar = |one: &Tried| Bar { name: format!("m = {}, k = {}", one.attributes, one.known), value: one.rules as f64 };
    let picture = Bars {
        title: "Rules tried on the tables of theorem 3.1".to_owned(),
        description: "For every number of attributes and of known ones.".to_owned(),
        columns: ["table".to_owned(), "rules".to_owned()],
        bars: measured.iter().map(bar).collect(),
        full: None,
        limit: None,
    };
    let setting =
        "The paper's own table of the proof, which needs no data, for every m and k of small tables.".to_owned();
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

fn tried(attributes_max: usize) -> Vec<Tried> {
    let sizes = (2..=attributes_max).flat_map(|attributes| (1..attributes).map(move |known| (attributes, known)));
    sizes.map(|(attributes, known)| one(attributes, known)).collect()
}

fn one(attributes: usize, known: usize) -> Tried {
    // Values 0 and 2 stand for 0 and a, 1 and 3 for 1 and b.
    let mut rows: Vec<Vec<u32>> = vec![Vec::new()];
    for attribute in 0..attributes - 1 {
        let values = if attribute < known { 4 } else { 2 };
        rows = rows.iter().flat_map(|row| (0..values).map(|value| [row.as_slice(), &[value]].concat())).collect();
    }
    rows.iter_mut().for_each(|row| {
        let xor = row[..known].iter().fold(0, |xor, value| xor ^ (value & 1));
        row.push(xor);
    });
    let (mut rules, mut otherwise) = (0, 0);
    for protect in 0..attributes {
        for know in (0u32..1 << attributes).filter(|know| know >> protect & 1 == 0) {
            rules += 1;
            let breaks = (0..known).all(|attribute| know >> attribute & 1 == 1) && protect == attributes - 1;
            otherwise += u64::from(is_diverse(&rows, know, protect) == breaks);
        }
    }
    Tried { attributes, known, tuples: rows.len() as u64, otherwise, rules }
}

/// Whether no value makes up more than half of those who agree in what is known.
fn is_diverse(rows: &[Vec<u32>], know: u32, protect: usize) -> bool {
    let mut counted: BTreeMap<Vec<u32>, BTreeMap<u32, u64>> = BTreeMap::new();
    for row in rows {
        let known = (0..row.len()).filter(|attribute| know >> attribute & 1 == 1).map(|attribute| row[attribute]);
        *counted.entry(known.collect()).or_default().entry(row[protect]).or_default() += 1;
    }
    counted.values().all(|values| {
        let all: u64 = values.values().sum();
        values.values().all(|&count| 2 * count <= all)
    })
}

fn claims(measured: &[Tried]) -> Vec<Claim> {
    let sized = |one: &Tried| counts("tuples", one.tuples, 1 << (one.attributes + one.known));
    vec![
        Claim::shape(
            "the table keeps every rule but those that know the first k attributes and protect the last",
            all(measured.iter().map(as_said)),
        )
        .at_any_size(),
        Claim::printed("the table has 2^(m+k) tuples", all(measured.iter().map(sized))).stated_not_to_hold(),
        Claim::ours(
            "it has half as many",
            all(measured.iter().map(|one| counts("tuples", one.tuples, 1 << (one.attributes + one.known - 1)))),
        )
        .at_any_size(),
    ]
}

fn as_said(one: &Tried) -> ClaimOutcome {
    match one.otherwise {
        0 => Ok(()),
        some => Err(format!("m = {}, k = {}: {some} of {} rules", one.attributes, one.known, one.rules)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn the_exclusive_or_keeps_all_rules_but_one_family() {
        for one in tried(5) {
            assert_eq!((one.otherwise, one.tuples), (0, 1 << (one.attributes + one.known - 1)), "{one:?}");
        }
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::versatile) fn turned() -> Vec<String> {
        every_claim_can_fail(
            &tried(4),
            |measured| claims(measured),
            &[
                ("the table keeps", |of| of[0].otherwise = 1),
                ("the table has", |of| of.iter_mut().for_each(|one| one.tuples *= 2)),
                ("it has half", |of| of[1].tuples += 1),
            ],
        )
    }
}
