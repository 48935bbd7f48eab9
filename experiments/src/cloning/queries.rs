//! Figure 4: the error of count queries from a cloned release, over the size of the table and over
//! ρ; and the workload that figure 5 also uses.
//!
//! A query selects a share δ of the values of every attribute, as in the paper. Every class of a
//! cloned release has the same sensitive values, so none can show how these go with the other
//! attributes: *floor* is the error of exact counts of the others times the share of the sensitive
//! values, which no cloned release can beat but by chance.

use std::path::Path;

use hedgerow_audit::query::answer;
use hedgerow_release::Release;
use hedgerow_report::pictures::{Cell, Line, Series};
use hedgerow_table::{Column, NoProgress, Table};
use rand::rngs::StdRng;
use rand::seq::index;
use rand::{RngExt, SeedableRng};

use super::folder::{CLONE, Folder};
use super::{Census, RHOS, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, median, numbers};
use crate::shape::{all, at_most, falls, varies_at_most};

/// The median error that the paper never exceeds.
pub(super) const ERROR_MAX: f64 = 0.025;

/// The paper's "fixed selection range" has no number.
const SELECTED: f64 = 0.5;

/// How much a median over so few queries may rise from one ρ to the next by chance.
const NOISE: f64 = 0.1;

/// "Does not vary significantly", "not very sensitive".
const FACTOR_MAX: f64 = 2.0;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let mut table = numbers(["sensitive", "rows", "ρ", "median error", "without the sensitive attribute", "floor"]);
    let (mut by_size, mut by_rho, mut others_by_rho) = (Vec::new(), Vec::new(), Vec::new());
    for (sensitive, name) in SENSITIVE {
        let series = || Series { name: name.to_owned(), points: Vec::new() };
        let (mut size_curve, mut rho_curve, mut others_curve) = (series(), series(), series());
        let sizes = scale.of(&SHARES[..], &[1, 5]).iter().map(|&fifths| (fifths, None));
        let rhos = RHOS.map(|rho| (SHARES[0], Some(rho)));
        for (fifths, rho) in sizes.chain(rhos) {
            let settings = rho.map_or(CLONE.to_owned(), |rho| format!("{CLONE}assignment = \"scan\"\nrho = {rho}\n"));
            let source = census.source(&folder, 0, fifths)?;
            let errors = errors(&folder, &source, sensitive, &settings, SELECTED, scale)?;
            let rows = census.rows(fifths) as f64;
            match rho {
                Some(rho) => {
                    rho_curve.points.push((rho, errors.with));
                    others_curve.points.push((rho, errors.without));
                }
                None => size_curve.points.push((rows, errors.with)),
            }
            let measured = [rows, rho.unwrap_or(f64::NAN), errors.with, errors.without, errors.floor];
            table.rows.push([vec![Cell::from(sensitive)], measured.map(Cell::Number).to_vec()].concat());
        }
        by_size.push(size_curve);
        by_rho.push(rho_curve);
        others_by_rho.push(others_curve);
    }
    let steady = |series: &Vec<Series>| all(series.iter().map(|one| varies_at_most(one, FACTOR_MAX)));
    let claims = vec![
        Claim::value("the median error is at most 2.5 %", all(by_size.iter().map(|one| at_most(one, ERROR_MAX))))
            .stated_not_to_hold(),
        Claim::shape(
            "the error does not vary significantly with the size of the table: by a factor of 2 at most",
            steady(&by_size),
        ),
        // At the paper's size the least ρ comes as near to the floor as the greatest.
        Claim::shape("the error falls with ρ", all(by_rho.iter().map(|one| falls(one, 0.0))))
            .stated_not_to_hold_if(scale == Scale::Full),
        Claim::shape(
            "the error of queries without the sensitive attribute, which have no such floor, falls with ρ",
            all(others_by_rho.iter().map(|one| falls(one, NOISE))),
        ),
        Claim::shape("the error is not very sensitive to ρ: by a factor of 2 at most", steady(&by_rho)),
    ];
    let picture = |title: &str, across: &str, series: Vec<Series>| {
        let line = Line {
            title: title.to_owned(),
            description: format!("Median relative error of count queries over all five attributes, over {across}."),
            columns: [across.to_owned(), "median error".to_owned()],
            series,
        };
        line.picture()
    };
    let pictures = vec![
        picture("Query error over the size of the table", "rows", by_size),
        picture("Query error over ρ, by the scan", "ρ", by_rho),
    ];
    let setting = format!(
        "One publisher's table; {} queries, each of which selects half of the values of every attribute.",
        queries(scale)
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

fn queries(scale: Scale) -> usize {
    scale.of(100, 30)
}

/// Median relative errors.
pub(super) struct Errors {
    /// Of queries over all attributes.
    pub(super) with: f64,
    /// Of queries over all but the sensitive one.
    pub(super) without: f64,
    /// Of exact counts of the others times the share of the sensitive values.
    pub(super) floor: f64,
}

pub(super) fn errors(
    folder: &Folder,
    source: &Path,
    sensitive: &str,
    settings: &str,
    share: f64,
    scale: Scale,
) -> Result<Errors, Trouble> {
    let (release, _) = folder.publish(source, sensitive, "", settings)?;
    let (release, table) = (Release::open(&release, &NoProgress)?, folder.read(source, sensitive)?);
    let names = ["age", "sex", "education", "birthplace", sensitive];
    let columns: Vec<&Column> = names.iter().filter_map(|name| table.column(name)).collect();
    let mut rng = StdRng::seed_from_u64(1);
    let mut errors = [const { Vec::new() }; 3];
    for _ in 0..queries(scale) {
        let drawn: Vec<Condition> = columns.iter().map(|column| Condition::draw(column, share, &mut rng)).collect();
        let [others, whole] = [4, 5].map(|attributes| count(&table, &columns[..attributes], &drawn[..attributes]));
        let alike = others * count(&table, &columns[4..], &drawn[4..]) / table.rows as f64;
        let found = [(estimate(&release, &drawn[..4])?, others), (estimate(&release, &drawn)?, whole), (alike, whole)];
        for (errors, (estimated, counted)) in errors.iter_mut().zip(found) {
            errors.push((estimated - counted).abs() / counted.max(1.0));
        }
    }
    let [without, with, floor] = errors.map(median);
    Ok(Errors { with, without, floor })
}

fn count(table: &Table, columns: &[&Column], drawn: &[Condition]) -> f64 {
    let holds = |row: &usize| {
        columns.iter().zip(drawn).all(|(column, condition)| condition.codes[column.codes.get(*row) as usize])
    };
    (0..table.rows).filter(holds).count() as f64
}

fn estimate(release: &Release, drawn: &[Condition]) -> Result<f64, Trouble> {
    let conditions: Vec<&str> = drawn.iter().map(|condition| condition.sql.as_str()).collect();
    let sql = format!("SELECT COUNT(*) FROM data WHERE {}", conditions.join(" AND "));
    let found = serde_json::to_value(answer(release, &sql)?)?;
    Ok(found["answer"][0]["COUNT(*)"]["estimate"].as_f64().ok_or("a count is a number")?)
}

/// What a query requires of one attribute.
struct Condition {
    codes: Vec<bool>,
    sql: String,
}

impl Condition {
    fn draw(column: &Column, share: f64, rng: &mut StdRng) -> Condition {
        let values = column.domain.cardinality();
        let some = ((share * values as f64).round() as usize).clamp(1, values);
        let mut codes = vec![false; values];
        if column.domain.number(0).is_some() {
            let first = rng.random_range(0..=values - some);
            codes[first..first + some].fill(true);
            let [low, high] = [first, first + some - 1].map(|code| column.domain.text(code as u32));
            return Condition { codes, sql: format!("{} BETWEEN {low} AND {high}", column.name) };
        }
        let chosen = index::sample(rng, values, some).into_vec();
        chosen.iter().for_each(|&code| codes[code] = true);
        let texts: Vec<String> =
            chosen.iter().map(|&code| format!("'{}'", column.domain.text(code as u32).replace('\'', "''"))).collect();
        Condition { codes, sql: format!("{} IN ({})", column.name, texts.join(", ")) }
    }
}
