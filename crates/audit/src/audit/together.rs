//! The adversaries of the literature who combine releases that hold one sensitive attribute.

use hedgerow_table::{Cover, TableError};

use super::AuditOptions;
use crate::Adversary;
use crate::adversaries::worlds::{Released, written};
use crate::adversaries::{composition, correlation, independence, worlds};
use crate::combined_view::{CombinationGroup, CombinedView, ReleaseSide, pairs};
use crate::finding::{Finding, Needs, WorstPair};
use crate::overlap::overlap;

/// More values than these are not compared by what they cover.
const COMPARED_MAX: usize = 1000;

/// The sensitive attributes that at least two of the tables hold.
pub(super) fn shared<'a>(tables: &[Released<'a>]) -> Vec<&'a str> {
    let names = tables.iter().flat_map(|table| &table.classes.sensitive);
    let mut names: Vec<&str> = names.map(|sensitive| sensitive.name.as_str()).collect();
    names.sort_unstable();
    let mut shared: Vec<&str> =
        names.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect();
    shared.dedup();
    shared
}

pub(super) fn together(
    protect: &str,
    tables: &[Released<'_>],
    options: &AuditOptions<'_>,
    wanted: &dyn Fn(Adversary) -> bool,
) -> Result<Vec<Finding>, TableError> {
    let coarse = |table: &Released<'_>| table.codebook.is_some_and(|codebook| codebook.is_coarse(protect));
    let named: Vec<_> = tables.iter().map(|table| (table.name, table.classes, coarse(table))).collect();
    let mut combined = CombinedView::new(protect, &named);
    let (all, two) = match options.people {
        Some(people) => {
            let mut all = combined.people(people)?;
            combined.mark_lacking(&mut all, |side| tables[side.table].suppressed);
            let two = if all.sides.len() > 2 {
                pairs(all.sides.len()).map(|pair| all.only(pair)).collect()
            } else {
                Vec::new()
            };
            (all, two)
        }
        None => {
            let (mut all, mut two) = combined.cells();
            for group in std::iter::once(&mut all).chain(&mut two) {
                let chosen: Vec<Released<'_>> =
                    group.sides.iter().map(|&side| tables[combined.sides[side].table]).collect();
                worlds::keep_meeting(protect, &chosen, group, options.progress)?;
            }
            (all, two)
        }
    };
    let comparable = |sides: &[usize]| {
        let sides = sides.iter().map(|&side| &combined.sides[side]);
        not_comparable(protect, &sides.map(|side| (side, &tables[side.table])).collect::<Vec<_>>())
    };
    let not_compared = |adversary: Adversary, sides: &[usize], why: String| {
        let mut finding = Finding::new(adversary, combined.names(sides), Some(protect));
        finding.note(why);
        finding
    };
    let why = comparable(&all.sides);
    let mut findings = Vec::new();
    if wanted(Adversary::Independence) {
        findings.push(match &why {
            Some(why) => not_compared(Adversary::Independence, &all.sides, why.clone()),
            None => {
                let mut finding = independence::run(&combined, &all, options.table);
                finding.worst_pair = worst_pair(&two, |pair| independence::run(&combined, pair, false));
                finding
            }
        });
    }
    if wanted(Adversary::Correlation) && options.people.is_some() {
        for pair in pairs(all.sides.len()) {
            let sides = pair.map(|position| all.sides[position]);
            findings.push(match comparable(&sides) {
                Some(why) => not_compared(Adversary::Correlation, &sides, why),
                None => correlation::run(&combined, &all, pair, options.weights),
            });
        }
    } else if options.adversaries.contains(&Adversary::Correlation) {
        let mut finding = Finding::new(Adversary::Correlation, combined.names(&all.sides), Some(protect));
        finding.note_needs(Needs::People, "this adversary knows how many people are in each two cells");
        findings.push(finding);
    }
    if wanted(Adversary::Composition) {
        findings.push(match why {
            Some(why) => not_compared(Adversary::Composition, &all.sides, why),
            None => {
                let mut finding = composition::run(&combined, &all);
                finding.worst_pair = worst_pair(&two, |pair| composition::run(&combined, pair));
                finding
            }
        });
    }
    for finding in &mut findings {
        finding.count_below(options.l);
    }
    Ok(findings)
}

/// Why the values of several releases cannot be compared as texts: one text covers different values
/// in two of them, or two texts have a value in common.
fn not_comparable(protect: &str, sides: &[(&ReleaseSide<'_>, &Released<'_>)]) -> Option<String> {
    let mut covers: Vec<(&str, Option<&Cover>)> = Vec::new();
    for (side, table) in sides {
        let codebook = table.codebook.filter(|_| side.is_coarse);
        let texts = side.sensitive.values.iter();
        covers.extend(texts.map(|text| (text.as_str(), codebook.and_then(|codebook| codebook.cover(protect, text)))));
    }
    if !sides.iter().any(|(side, _)| side.is_coarse) {
        return None;
    }
    covers.sort_unstable_by_key(|(text, _)| *text);
    covers.dedup();
    let alike = covers.windows(2).any(|two| two[0].0 == two[1].0);
    let cover = |(text, cover): &(&str, Option<&Cover>)| cover.map_or_else(|| written(text), |cover| cover.clone());
    let values: Vec<Cover> = covers.iter().map(cover).collect();
    let overlapping =
        || values.len() > COMPARED_MAX || pairs(values.len()).any(|[one, two]| overlap(&values[one], &values[two]));
    (alike || overlapping()).then(|| {
        format!("the releases state `{protect}` at different precision: its texts are not compared here, `worlds` compares what they cover")
    })
}

/// The two releases that leave the fewest values, or expose the most people.
fn worst_pair(two: &[CombinationGroup], run: impl Fn(&CombinationGroup) -> Finding) -> Option<WorstPair> {
    let found = two.iter().map(run).filter(|finding| finding.effective_l.is_some());
    let worst = found.min_by_key(|finding| (finding.effective_l, u64::MAX - finding.at_risk))?;
    Some(WorstPair { releases: worst.releases, at_risk: worst.at_risk, effective_l: worst.effective_l })
}

#[cfg(test)]
mod tests {
    use hedgerow_release::Codebook;
    use hedgerow_table::{Bound, Table};

    use super::*;
    use crate::adversaries::testing::classes;

    /// Three releases of one name, the first of which rounds: the other two are compared, each
    /// person alone in two cells that have one value in common.
    #[test]
    fn correlation_compares_those_releases_that_have_one_precision() {
        let rounded = [["u", "1000"], ["u", "2000"], ["u", "3000"], ["u", "2000"]];
        let mut codebook = Codebook::new();
        for middle in [1000, 2000, 3000] {
            let [low, high] = [middle - 500, middle + 500].map(|end| Some(Bound::Integer(end)));
            codebook.insert("s", &middle.to_string(), &Cover::Interval { low, high }).unwrap();
        }
        codebook.mark_coarse("s", []);
        let rounded = classes(&["c", "s"], &rounded);
        let one = classes(&["a", "s"], &[["0", "900"], ["0", "2000"], ["1", "3000"], ["1", "2000"]]);
        let two = classes(&["b", "s"], &[["x", "900"], ["x", "3000"], ["y", "2000"], ["y", "2000"]]);
        let tables = [
            Released { codebook: Some(&codebook), ..Released::of("r", &rounded) },
            Released::of("r", &one),
            Released::of("r", &two),
        ];
        let people =
            [["0", "x", "u", "900"], ["0", "y", "u", "2000"], ["1", "x", "u", "3000"], ["1", "y", "u", "2000"]];
        let people = Table::from_texts(&["a", "b", "c", "s"], &people.map(|row| row.to_vec()));
        let options = AuditOptions { people: Some(&people), ..AuditOptions::default() };
        let found = together("s", &tables, &options, &|_| true).unwrap();
        let found: Vec<&Finding> = found.iter().filter(|finding| finding.adversary == Adversary::Correlation).collect();
        let at_risk: Vec<u64> = found.iter().map(|finding| finding.at_risk).collect();
        assert_eq!(at_risk, [0, 0, 4], "{found:?}");
        assert!(found[..2].iter().all(|finding| finding.notes[0].text.contains("precision")), "{found:?}");
    }
}
