//! The privacy models that a table satisfies as it is, computed from its cells: nothing is claimed,
//! and no policy is needed.
//!
//! Definitions: k-anonymity (Samarati and Sweeney), distinct, entropy and recursive (c,l)-diversity
//! (Machanavajjhala et al.), (α,k)-anonymity (Wong et al.), t-closeness (Li et al.), δ-disclosure
//! (Brickell and Shmatikov), basic and enhanced β-likeness (Cao and Karras). A missing value is a
//! value of its own. Cost: one pass over the rows for each attribute.

use std::collections::HashMap;

use hedgerow_table::{Column, Kind, Table, TableError};
use serde::Serialize;

/// The privacy of a table: the strongest parameter of every model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Anonymity {
    /// The number of equivalence classes.
    pub classes: u64,
    /// The rows of the smallest class.
    pub k: u64,
    /// The models that need a sensitive attribute, where one is named.
    #[serde(flatten)]
    pub sensitive: Option<SensitiveDiversity>,
}

/// How varied the sensitive values of classes are, and how far from the table's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SensitiveDiversity {
    /// The fewest sensitive values of a class.
    pub l: u64,
    /// The largest l for which entropy l-diversity holds.
    pub entropy_l: f64,
    /// With this l, recursive (c,l)-diversity holds for every larger c.
    pub recursive_c: f64,
    /// The largest share of a value in a class.
    pub alpha: f64,
    /// The largest earth mover's distance of a class from the table: by rank for numbers and dates,
    /// by the equal distance for texts.
    pub t: f64,
    /// The largest |ln(q/p)| of a value that occurs in a class, with its shares there and in the
    /// table.
    pub delta: f64,
    /// The largest relative gain (q − p)/p of a value in a class.
    pub basic_beta: f64,
    /// The least β for which enhanced β-likeness holds; infinite where a gain exceeds −ln p, so
    /// that none does.
    pub enhanced_beta: f64,
}

/// Measures a table by its quasi-identifiers, and by a sensitive attribute where one is named.
pub fn anonymity(table: &Table, quasi: &[String], sensitive: Option<&str>) -> Result<Anonymity, TableError> {
    let column = |name: &str| {
        table.column(name).ok_or_else(|| {
            let hint = format!("the columns are: {}", table.header.join(", "));
            TableError::input("table", format!("the table has no column `{name}`"), hint)
        })
    };
    let quasi = quasi.iter().map(|name| column(name)).collect::<Result<Vec<&Column>, _>>()?;
    let sensitive = sensitive.map(column).transpose()?;
    let mut class_of_row = vec![0u32; table.rows];
    let mut sizes = vec![table.rows as u64];
    for column in quasi {
        sizes = refine(&mut class_of_row, column);
    }
    Ok(Anonymity {
        classes: sizes.len() as u64,
        k: sizes.iter().copied().min().unwrap_or(0),
        sensitive: sensitive.map(|column| diversity(&class_of_row, &sizes, column)),
    })
}

/// Divides classes by the values of one more column, and counts the rows of each.
fn refine(class_of_row: &mut [u32], column: &Column) -> Vec<u64> {
    let mut found: HashMap<(u32, u32), u32> = HashMap::new();
    let mut sizes: Vec<u64> = Vec::new();
    for (class, code) in class_of_row.iter_mut().zip(column.codes.iter()) {
        let next = sizes.len() as u32;
        let refined = *found.entry((*class, code)).or_insert(next);
        if refined == next {
            sizes.push(0);
        }
        sizes[refined as usize] += 1;
        *class = refined;
    }
    sizes
}

fn diversity(class_of_row: &[u32], sizes: &[u64], column: &Column) -> SensitiveDiversity {
    let rows = class_of_row.len() as f64;
    let share: Vec<f64> = column.counts().into_iter().map(|count| count as f64 / rows).collect();
    let mut counted: HashMap<(u32, u32), u64> = HashMap::new();
    for (&class, code) in class_of_row.iter().zip(column.codes.iter()) {
        *counted.entry((class, code)).or_insert(0) += 1;
    }
    let mut classes: Vec<Vec<(u32, u64)>> = vec![Vec::new(); sizes.len()];
    counted.into_iter().for_each(|((class, code), count)| classes[class as usize].push((code, count)));
    let l = classes.iter().map(Vec::len).min().unwrap_or(0);
    let ordered = column.domain.kind() != Kind::Category;
    let mut found = SensitiveDiversity {
        l: l as u64,
        entropy_l: f64::INFINITY,
        recursive_c: 0.0,
        alpha: 0.0,
        t: 0.0,
        delta: 0.0,
        basic_beta: 0.0,
        enhanced_beta: 0.0,
    };
    for (values, &size) in classes.iter_mut().zip(sizes) {
        let size = size as f64;
        values.sort_unstable();
        let shares: Vec<(u32, f64)> = values.iter().map(|&(code, count)| (code, count as f64 / size)).collect();
        let entropy: f64 = shares.iter().map(|(_, q)| -q * q.ln()).sum();
        found.entropy_l = found.entropy_l.min(entropy.exp());
        found.t = found.t.max(if ordered { by_rank(&shares, &share) } else { by_equality(&shares, &share) });
        for &(code, q) in &shares {
            let p = share[code as usize];
            let gain = (q - p) / p;
            found.alpha = found.alpha.max(q);
            found.delta = found.delta.max((q / p).ln().abs());
            found.basic_beta = found.basic_beta.max(gain);
            found.enhanced_beta = found.enhanced_beta.max(if gain > -p.ln() { f64::INFINITY } else { gain });
        }
        let mut counts: Vec<u64> = values.iter().map(|&(_, count)| count).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let rarer: u64 = counts[l.saturating_sub(1)..].iter().sum();
        found.recursive_c = found.recursive_c.max(counts[0] as f64 / rarer as f64);
    }
    found
}

/// Half of the sum of all differences.
fn by_equality(shares: &[(u32, f64)], table: &[f64]) -> f64 {
    let here: f64 = shares.iter().map(|&(code, q)| (q - table[code as usize]).max(0.0)).sum();
    here.min(1.0)
}

/// The sum of differences between cumulated shares, over the steps between the lowest and the
/// highest value. The missing value is the last.
fn by_rank(shares: &[(u32, f64)], table: &[f64]) -> f64 {
    let mut of_class = shares.iter().peekable();
    let (mut sum, mut moved) = (0.0f64, 0.0f64);
    for (code, p) in table.iter().enumerate() {
        let q = of_class.next_if(|(next, _)| *next as usize == code).map_or(0.0, |(_, q)| *q);
        moved += q - p;
        sum += moved.abs();
    }
    sum / (table.len() as f64 - 1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn near(found: f64, expected: f64) -> bool {
        found == expected || (found - expected).abs() < 1e-9
    }

    /// Table 3 of the paper on t-closeness: salaries and diseases of nine people in three classes.
    #[test]
    fn the_example_of_t_closeness() {
        let ages = ["2*", "2*", "2*", "4*", "4*", "4*", "3*", "3*", "3*"];
        let salaries = ["3000", "4000", "5000", "6000", "11000", "8000", "7000", "9000", "10000"];
        let rows: Vec<Vec<&str>> = ages.iter().zip(&salaries).map(|(age, salary)| vec![*age, *salary]).collect();
        let table = Table::from_texts(&["age", "salary"], &rows);
        let found = anonymity(&table, &["age".to_owned()], Some("salary")).unwrap();
        assert_eq!((found.k, found.classes, found.sensitive.unwrap().l), (3, 3, 3));
        assert!(near(found.sensitive.unwrap().t, 0.375), "{found:?}");
    }

    /// Every measure written out as its definition, over rows.
    fn oracle(table: &Table, quasi: &[String], sensitive: &str) -> (u64, [f64; 7]) {
        let key = |row: usize| quasi.iter().map(|name| table.column(name).unwrap().text(row)).collect::<Vec<_>>();
        let column = table.column(sensitive).unwrap();
        let mut values: Vec<u32> = column.codes.iter().collect();
        values.sort_unstable();
        values.dedup();
        let of = |class: &[usize], value: u32| class.iter().filter(|&&row| column.codes.get(row) == value).count();
        let all: Vec<usize> = (0..table.rows).collect();
        let mut classes: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        all.iter().for_each(|&row| classes.entry(key(row)).or_default().push(row));
        let distinct = |class: &[usize]| values.iter().filter(|&&value| of(class, value) > 0).count();
        let l = classes.values().map(|class| distinct(class)).min().unwrap();
        let (mut entropy, mut c, mut alpha, mut t) = (f64::INFINITY, 0.0f64, 0.0f64, 0.0f64);
        let (mut delta, mut basic, mut enhanced) = (0.0f64, 0.0f64, 0.0f64);
        for class in classes.values() {
            let share = |value| of(class, value) as f64 / class.len() as f64;
            let whole = |value| of(&all, value) as f64 / all.len() as f64;
            let present = || values.iter().copied().filter(|&value| of(class, value) > 0);
            entropy = entropy.min(present().map(|value| -share(value) * share(value).ln()).sum::<f64>().exp());
            let mut counts: Vec<usize> = present().map(|value| of(class, value)).collect();
            counts.sort_unstable();
            counts.reverse();
            c = c.max(counts[0] as f64 / counts[l - 1..].iter().sum::<usize>() as f64);
            let differences = values.iter().map(|&value| share(value) - whole(value));
            t = t.max(if column.domain.kind() == Kind::Category {
                differences.map(f64::abs).sum::<f64>() / 2.0
            } else {
                let cumulated = differences.scan(0.0, |sum, difference| {
                    *sum += difference;
                    Some(f64::abs(*sum))
                });
                cumulated.sum::<f64>() / (values.len() as f64 - 1.0).max(1.0)
            });
            for value in present() {
                let (q, p) = (share(value), whole(value));
                alpha = alpha.max(q);
                delta = delta.max((q / p).ln().abs());
                basic = basic.max((q - p) / p);
                if (q - p) / p > -p.ln() {
                    enhanced = f64::INFINITY;
                }
                enhanced = enhanced.max((q - p) / p);
            }
        }
        (
            classes.values().map(|class| class.len() as u64).min().unwrap(),
            [entropy, c, alpha, t, delta, basic, enhanced],
        )
    }

    #[test]
    fn measures_are_their_definitions_over_random_tables() {
        for seed in 0..400 {
            let rng = &mut StdRng::seed_from_u64(seed);
            let rows = rng.random_range(1..30);
            let few = rng.random_range(1..5u32);
            let texts = ["", "a", "b", "c", "d"];
            let cells: Vec<Vec<String>> = (0..rows)
                .map(|_| {
                    let mut text = || texts[rng.random_range(0..few as usize + 1)].to_owned();
                    let (first, second) = (text(), text());
                    let number = if seed % 2 == 0 { rng.random_range(0..few).to_string() } else { text() };
                    vec![first, second, number]
                })
                .collect();
            let cells: Vec<Vec<&str>> = cells.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let table = Table::from_texts(&["x", "y", "s"], &cells);
            let quasi: Vec<String> = ["x", "y"][..rng.random_range(0..3)].iter().map(|&name| name.to_owned()).collect();
            let found = anonymity(&table, &quasi, Some("s")).unwrap();
            let (k, expected) = oracle(&table, &quasi, "s");
            let SensitiveDiversity { entropy_l, recursive_c, alpha, t, delta, basic_beta, enhanced_beta, .. } =
                found.sensitive.unwrap();
            let measured = [entropy_l, recursive_c, alpha, t, delta, basic_beta, enhanced_beta];
            assert_eq!(found.k, k, "seed {seed}");
            let equal = measured.iter().zip(&expected).all(|(found, expected)| near(*found, *expected));
            assert!(equal, "seed {seed}: {measured:?}, expected {expected:?}");
        }
    }

    #[test]
    fn a_column_that_is_not_there_is_refused_by_name() {
        let table = Table::from_texts(&["x"], &[vec!["1"]]);
        let error = anonymity(&table, &["y".to_owned()], None).unwrap_err().to_string();
        assert!(error.contains("no column `y`") && error.contains("the columns are: x"), "{error}");
    }
}
