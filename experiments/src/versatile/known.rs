//! Figure 9: UAD's utility over the number of known attributes in every rule; five rules, l = 10.
//! The figure shows the query error, the text names utility: divergence is measured as well.
//!
//! The paper argues that UAD seldom has what a rule protects among the open attributes of a table,
//! so that a rule that knows more changes little. But every known attribute is an edge more to
//! color, and the largest color becomes smaller: a test at the end counts the attributes of the
//! largest table of algorithm 2 as printed, about 13 of 18 where three are known and 8 where nine
//! are.

use super::drawn::Drawn;
use super::drawn_curves;
use super::texas::{COLUMNS, Losses, Texas};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::below;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let texas = Texas::new(scale);
    let runs = scale.of(20, 2);
    let [a, b, c, d, e] = COLUMNS;
    let mut table = numbers(["known attributes", a, b, c, d, e]);
    let mut losses = Losses::new();
    for &known in scale.of(&[1, 3, 5, 7, 9][..], &[1, 3, 9]) {
        let (mut kl, mut error) = (Vec::new(), Vec::new());
        for run in 0..runs {
            let published = texas.publish(Drawn { rules: 5, known, l: 10, l_max: 10 }, (5000 + run) as u64)?;
            error.push(texas.errors(&published.ways, 4, 0.4)?);
            kl.push(published.ways.each_ref().map(|way| way.kl));
        }
        losses.push(known as f64, &kl, &error);
        table.rows.extend(losses.last_rows());
    }
    let across = "known attributes";
    let pictures = vec![
        drawn_curves("Figure 9: query error by known attributes", across, "mean relative error", &losses.error),
        drawn_curves("Divergence by known attributes", across, "KL divergence", &losses.kl),
    ];
    let setting = format!("{} Five rules, l = 10; queries with qd = 4, p = 40 %.", texas.setting(runs));
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&losses) })
}

fn claims(Losses { kl, error }: &Losses) -> Vec<Claim> {
    vec![
        // As printed, tables fall apart as rules know more, on any data: the header says why.
        Claim::shape(
            "from three on, the number of known attributes has barely any influence on UAD's query error: a factor of 1.5 at most",
            error[0].from(3.0).barely_varies(),
        )
        .on_other_data()
        .stated_not_to_hold(),
        Claim::shape(
            "from three on, it has barely any influence on UAD's divergence: a factor of 1.5 at most",
            kl[0].from(3.0).barely_varies(),
        )
        .on_other_data()
        .stated_not_to_hold(),
        Claim::ours(
            "from three on, it has barely any influence on the query error of UAD as the project has it: a factor of 1.5 at most",
            error[2].from(3.0).barely_varies(),
        ),
        Claim::shape("UAD errs less than single attributes", below(&error[0], &error[1])).on_other_data(),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::super::printed::uad_as_printed;
    use super::*;
    use crate::sample::{Curve, Sample};
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::versatile) fn turned() -> Vec<String> {
        let curve = |height: f64| Curve::exact("c", &[(3.0, height), (9.0, height)]);
        let rising = || Curve::exact("c", &[(3.0, 2.0), (9.0, 3.1)]);
        every_claim_can_fail(
            &Losses { kl: [rising(), curve(4.0), curve(1.0)], error: [rising(), curve(4.0), curve(1.0)] },
            claims,
            &[
                ("from three on, the number", |of| of.error[0].points[1].1 = Sample::exact(3.0)),
                ("from three on, it has barely any influence on UAD", |of| of.kl[0].points[1].1 = Sample::exact(3.0)),
                ("from three on, it has barely any influence on the", |of| {
                    of.error[2].points[1].1 = Sample::exact(1.6)
                }),
                ("UAD errs", |of| of.error[0].points[1].1 = Sample::exact(5.0)),
            ],
        )
    }

    #[test]
    fn the_largest_table_of_algorithm_2_becomes_smaller_as_rules_know_more() {
        let texas = Texas::new(Scale::Quick);
        let largest = |known: usize| -> f64 {
            let sizes = (0..60u64).map(|seed| {
                let problem = texas.problem(Drawn { rules: 5, known, l: 10, l_max: 10 }, seed);
                let tables = uad_as_printed(&problem, &mut StdRng::seed_from_u64(seed));
                tables.iter().map(|table| table.attributes.len()).max().unwrap_or(0)
            });
            sizes.sum::<usize>() as f64 / 60.0
        };
        let [three, five, nine] = [3, 5, 9].map(largest);
        assert!((12.0..14.5).contains(&three), "{three}");
        assert!(five < three - 1.0 && nine < five - 1.0, "{three}, {five}, {nine}");
        assert!((6.5..9.5).contains(&nine), "{nine}");
    }
}
