//! Figures 1 to 3: divergence, query error and time over the number of rules, on UCI Adult with
//! seven coarse attributes; l = 2, three known attributes in every rule.

use std::time::Instant;

use hedgerow_audit::max_likelihood::CountQueries;
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{Problem, Subtable, single_attribute};
use hedgerow_report::pictures::{Cell, Series};
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Codes, Table};
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::drawn::{self, Drawn};
use super::{Decomposed, picture, queries};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample};
use crate::shape::{Outcome, all, below};

const NAMES: [&str; 4] = ["one table", "UAD", "GD", "single attributes"];

/// The paper samples its 45,222 people.
const ROWS: usize = 10_000;

/// "Nearly identical utility": by at most this share.
const NEARLY: f64 = 0.1;

/// "Orders of magnitude greater".
const ORDERS: f64 = 100.0;

/// What each way to publish loses in each run, and how long it takes, in the order of [`NAMES`].
#[derive(Debug, Default)]
struct Lost {
    kl: [Vec<f64>; 4],
    error: [Vec<f64>; 4],
    seconds: [Vec<f64>; 4],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/adult/adult.csv.gz");
    let (columns, cardinalities) = coarse(&read_table(path.as_ref(), &ReadOptions::default())?, ROWS)?;
    let runs = scale.of(50, 5);
    let rules = scale.of(&[1, 2, 3, 4, 5, 6, 7, 8, 9][..], &[1, 4, 9]);
    let columns_of_table =
        ["rules", "published as", "KL divergence", "± KL", "mean relative error", "± error", "seconds"];
    let mut table = numbers(columns_of_table);
    let [mut kl, mut error, mut seconds] = [(); 3].map(|()| NAMES.map(Curve::new));
    for &count in rules {
        let found = lost(&columns, &cardinalities, count, runs, queries(scale))?;
        for place in 0..NAMES.len() {
            let [diverges, errs, takes] = [&found.kl, &found.error, &found.seconds].map(|of| Sample::of(&of[place]));
            let measured = [diverges.mean, diverges.error, errs.mean, errs.error, takes.mean];
            let row = [vec![Cell::Number(count as f64), NAMES[place].into()], measured.map(Cell::Number).to_vec()];
            table.rows.push(row.concat());
            let curves = [&mut kl[place], &mut error[place], &mut seconds[place]];
            let samples = [diverges, errs, takes];
            curves.into_iter().zip(samples).for_each(|(curve, sample)| curve.points.push((count as f64, sample)));
        }
    }
    let deteriorates = all([kl[0].rises(), error[0].rises()]);
    let [kl, error, seconds] = [kl, error, seconds].map(|curves| curves.map(|curve| curve.series()));
    let beaten = |measure: &[Series; 4]| {
        let [one, uad, gd, single] = measure.clone().map(several);
        all([below(&uad, &one), below(&gd, &one), below(&uad, &single), below(&gd, &single)])
    };
    let claims = vec![
        Claim::shape(
            "with one rule, one table, UAD and GD are equivalent, within 10 %",
            all([alike(&kl, 0, 2, first), alike(&kl, 0, 1, first)]),
        ),
        Claim::shape(
            "from two rules on, UAD and GD are nearly identical, within 10 %",
            all([alike(&kl, 1, 2, whole), alike(&error, 1, 2, whole)]),
        ),
        Claim::shape("from two rules on, UAD and GD diverge less than one table and single attributes", beaten(&kl)),
        Claim::shape("from two rules on, UAD and GD err less than one table and single attributes", beaten(&error)),
        Claim::shape("one table deteriorates with the number of rules", deteriorates),
        Claim::shape("one table takes orders of magnitude longer than UAD and GD", slower(&seconds)).of_time(),
        Claim::shape("UAD takes less time than GD", below(&several(seconds[1].clone()), &several(seconds[2].clone())))
            .of_time(),
    ];
    let pictures = vec![
        picture("Figure 1: divergence on Adult", "rules", "KL divergence", &kl),
        picture("Figure 2: query error on Adult", "rules", "mean relative error", &error),
        picture("Figure 3: seconds on Adult", "rules", "seconds", &seconds[..3]),
    ];
    let setting = format!(
        "UCI Adult, {ROWS} people, domains {cardinalities:?}, l = 2; the mean of {runs} random irreducible rule sets for \
         each number of rules; queries with qd = 3, p = 40 %."
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

fn lost(
    columns: &[Codes],
    cardinalities: &[usize],
    count: usize,
    runs: usize,
    queries: usize,
) -> Result<Lost, Trouble> {
    let queries = CountQueries { count: queries, seed: 0, dimension: 3, share: 0.4 };
    let source: Vec<Vec<u32>> = columns.iter().map(|column| column.iter().collect()).collect();
    let mut lost = Lost::default();
    for run in 0..runs {
        let mut rng = StdRng::seed_from_u64((count * 1000 + run) as u64);
        let drawn = Drawn { rules: count, known: 3, l: 2, l_max: 2 };
        let rules = drawn::rules(&mut rng, columns, cardinalities, drawn);
        let problem = Problem::new(columns.iter().collect(), cardinalities.to_vec(), ROWS, rules, &[]);
        let mut divergence = Divergence::new(&problem);
        let mut timed = |make: &mut dyn FnMut(&mut StdRng) -> Option<Vec<Subtable>>| {
            let started = Instant::now();
            let tables = make(&mut rng).ok_or("these rules leave no tables")?;
            Ok::<_, Trouble>((tables, started.elapsed().as_secs_f64()))
        };
        let made = [
            timed(&mut |rng| multi_sensitive(&problem, rng))?,
            timed(&mut |rng| uad(&problem, rng).ok())?,
            timed(&mut |rng| gd(&problem, &mut divergence, rng).ok())?,
            timed(&mut |_| Some(single_attribute(&problem)))?,
        ];
        for (place, (tables, seconds)) in made.into_iter().enumerate() {
            let decomposed = Decomposed::new(&problem, &mut divergence, &tables)?;
            lost.kl[place].push(decomposed.kl);
            lost.error[place].push(decomposed.error(&source, CountQueries { seed: run as u64, ..queries })?);
            lost.seconds[place].push(seconds);
        }
    }
    Ok(lost)
}

/// From two rules on.
fn several(series: Series) -> Series {
    Series { points: series.points.into_iter().filter(|point| point.0 > 1.0).collect(), ..series }
}

fn first(series: &Series) -> &[(f64, f64)] {
    &series.points[..1]
}

fn whole(series: &Series) -> &[(f64, f64)] {
    &series.points
}

fn alike(measure: &[Series; 4], one: usize, other: usize, part: fn(&Series) -> &[(f64, f64)]) -> Outcome {
    for (&(rules, a), &(_, b)) in part(&measure[one]).iter().zip(part(&measure[other])) {
        if (a - b).abs() > NEARLY * a.max(b) {
            return Err(format!("with {rules} rules, {} has {a:.3} and {} {b:.3}", NAMES[one], NAMES[other]));
        }
    }
    Ok(())
}

fn slower(seconds: &[Series; 4]) -> Outcome {
    let total = |place: usize| seconds[place].points.iter().map(|point| point.1).sum::<f64>();
    let times = total(0) / total(1).max(total(2));
    if times >= ORDERS { Ok(()) } else { Err(format!("{times:.1} times as long in all")) }
}

/// As in the paper's table 5: age 6, country 2, education 7, marital status 7, occupation 3, income
/// 2, sex 2 values.
fn coarse(table: &Table, rows: usize) -> Result<(Vec<Codes>, Vec<usize>), Trouble> {
    let names = ["age", "native-country", "education", "marital-status", "occupation", "salary-class", "sex"];
    let mut columns = Vec::new();
    let mut cardinalities = Vec::new();
    for name in names {
        let column = table.column(name).ok_or("a column of Adult")?;
        let mut labels: Vec<String> = Vec::new();
        let of_code: Vec<u32> = (0..column.domain.cardinality() as u32)
            .map(|code| {
                let label = group(name, &column.domain.text(code));
                let known = labels.iter().position(|known| *known == label);
                known.unwrap_or_else(|| {
                    labels.push(label);
                    labels.len() - 1
                }) as u32
            })
            .collect();
        // Every so many rows, so that a smaller sample is spread over the file.
        let step = (table.rows / rows).max(1);
        let codes = (0..rows).map(|row| of_code[column.codes.get(row * step % table.rows) as usize]);
        columns.push(Codes::from_iter(labels.len(), codes));
        cardinalities.push(labels.len());
    }
    Ok((columns, cardinalities))
}

fn group(name: &str, text: &str) -> String {
    let group = match name {
        "age" => match text.parse::<u32>().unwrap_or(0) {
            ..25 => "17-24",
            25..35 => "25-34",
            35..45 => "35-44",
            45..55 => "45-54",
            55..65 => "55-64",
            65.. => "65-90",
        },
        "native-country" if text == "United-States" => "US",
        "native-country" => "other",
        "education" => match text {
            "Preschool" => "preschool",
            "1st-4th" | "5th-6th" | "7th-8th" => "elementary",
            "9th" | "10th" | "11th" | "12th" | "HS-grad" => "secondary",
            "Some-college" => "some college",
            "Assoc-voc" | "Assoc-acdm" => "associate",
            "Bachelors" => "university",
            _ => "post-graduate",
        },
        "occupation" => match text {
            "Exec-managerial" | "Prof-specialty" | "Adm-clerical" | "Sales" | "Tech-support" => "white collar",
            "Craft-repair" | "Machine-op-inspct" | "Transport-moving" | "Handlers-cleaners" | "Farming-fishing" => {
                "blue collar"
            }
            _ => "other",
        },
        _ => text,
    };
    group.to_owned()
}
