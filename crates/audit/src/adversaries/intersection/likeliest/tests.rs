//! Beliefs held against a dense fit: one cell for every combination of all values and buckets,
//! scaled to the published counts until they are met.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::super::SubTableBucket;
use super::*;

/// People by four attributes of two or three values.
struct People {
    rows: Vec<[u32; 4]>,
    sizes: [u32; 4],
}

impl People {
    fn drawn(rng: &mut StdRng) -> People {
        let sizes = [(); 4].map(|()| rng.random_range(2..=3));
        let row = |rng: &mut StdRng| sizes.map(|size| rng.random_range(0..size));
        let count = rng.random_range(3..=8);
        let rows = (0..count).map(|_| row(rng)).collect();
        People { rows, sizes }
    }

    fn text(attribute: usize, code: u32) -> String {
        format!("{}{code}", ["a", "b", "c", "d"][attribute])
    }

    /// Some attributes by row, and one by buckets of two people where `sensitive` is given.
    fn sub_table(&self, quasi: &[usize], sensitive: Option<usize>) -> SubTable {
        let size = if sensitive.is_some() { 2 } else { self.rows.len() };
        let bucket = |rows: &[[u32; 4]]| {
            let mut bucket = SubTableBucket::default();
            for row in rows {
                let texts: Vec<String> = quasi.iter().map(|&own| People::text(own, row[own])).collect();
                bucket.rows.push((texts, 1));
                let Some(sensitive) = sensitive else { continue };
                let value = People::text(sensitive, row[sensitive]);
                match bucket.values.iter_mut().find(|(known, _)| *known == value) {
                    Some((_, count)) => *count += 1,
                    None => bucket.values.push((value, 1)),
                }
            }
            bucket
        };
        SubTable {
            name: String::new(),
            quasi: quasi.iter().map(|&own| ["a", "b", "c", "d"][own].to_owned()).collect(),
            sensitive: sensitive.map(|own| ["a", "b", "c", "d"][own].to_owned()),
            buckets: self.rows.chunks(size).map(bucket).collect(),
        }
    }

    /// The fitted table: by all attributes, after the buckets are summed out. `tables` are what was
    /// published of these people.
    fn fitted(&self, tables: &[(Vec<usize>, Option<usize>)]) -> Vec<([u32; 4], f64)> {
        let buckets = self.rows.len().div_ceil(2);
        let bucketized: Vec<usize> = (0..tables.len()).filter(|&table| tables[table].1.is_some()).collect();
        // A cell: four values, then the bucket in each bucketized table.
        let mut cells: Vec<Vec<usize>> = vec![Vec::new()];
        let sizes = self.sizes.map(|size| size as usize).into_iter().chain(bucketized.iter().map(|_| buckets));
        for size in sizes {
            cells = cells.iter().flat_map(|cell| (0..size).map(|next| [cell.as_slice(), &[next]].concat())).collect();
        }
        let mut margins: Vec<Vec<usize>> = Vec::new();
        for (table, (quasi, sensitive)) in tables.iter().enumerate() {
            let place = bucketized.iter().position(|&one| one == table).map(|place| 4 + place);
            margins.push(quasi.iter().copied().chain(place).collect());
            margins.extend(sensitive.map(|sensitive| vec![sensitive, place.unwrap()]));
        }
        let person = |row: usize| -> Vec<usize> {
            let values = self.rows[row].iter().map(|&code| code as usize);
            values.chain(bucketized.iter().map(|_| row / 2)).collect()
        };
        let people: Vec<Vec<usize>> = (0..self.rows.len()).map(person).collect();
        // For every margin the line of each cell in it, and the people of each line.
        let lines: Vec<(Vec<usize>, Vec<f64>)> = margins
            .iter()
            .map(|margin| {
                let by = |cell: &[usize]| -> Vec<usize> { margin.iter().map(|&place| cell[place]).collect() };
                let mut numbers: HashMap<Vec<usize>, usize> = HashMap::new();
                let mut number = |cell: &[usize]| {
                    let next = numbers.len();
                    *numbers.entry(by(cell)).or_insert(next)
                };
                let of_cell: Vec<usize> = cells.iter().map(|cell| number(cell)).collect();
                let of_person: Vec<usize> = people.iter().map(|person| number(person)).collect();
                let mut wanted = vec![0.0; numbers.len()];
                of_person.into_iter().for_each(|line| wanted[line] += 1.0);
                (of_cell, wanted)
            })
            .collect();
        let mut weights = vec![1.0; cells.len()];
        for _ in 0..5000 {
            let mut worst: f64 = 0.0;
            for (of_cell, wanted) in &lines {
                let mut found = vec![0.0; wanted.len()];
                of_cell.iter().zip(&weights).for_each(|(&line, weight)| found[line] += weight);
                worst = wanted.iter().zip(&found).map(|(wanted, found)| (wanted - found).abs()).fold(worst, f64::max);
                for (&line, weight) in of_cell.iter().zip(&mut weights) {
                    *weight *= if found[line] > 0.0 { wanted[line] / found[line] } else { 0.0 };
                }
            }
            if worst < 1e-11 {
                break;
            }
        }
        let mut fitted: HashMap<[u32; 4], f64> = HashMap::new();
        for (cell, weight) in cells.iter().zip(weights) {
            *fitted.entry([0, 1, 2, 3].map(|place: usize| cell[place] as u32)).or_default() += weight;
        }
        fitted.into_iter().collect()
    }
}

/// Rings of three and four tables, plain and bucketized, and trees: the surest belief of each rule
/// is that of the dense fit.
#[test]
fn beliefs_agree_with_a_fit_of_every_combination() {
    let plain = |quasi: &[usize]| (quasi.to_vec(), None);
    let buckets = |quasi: &[usize], sensitive: usize| (quasi.to_vec(), Some(sensitive));
    let schemas: [Vec<(Vec<usize>, Option<usize>)>; 5] = [
        vec![plain(&[0, 1]), plain(&[1, 2]), plain(&[2, 0]), plain(&[3])],
        vec![plain(&[0, 1]), plain(&[1, 2]), plain(&[2, 3]), plain(&[3, 0])],
        vec![plain(&[0, 1]), buckets(&[1], 2), buckets(&[0], 2), plain(&[3])],
        vec![plain(&[0, 1]), buckets(&[1], 2), plain(&[2, 3]), plain(&[3, 0])],
        vec![plain(&[0, 1]), buckets(&[1, 3], 2)],
    ];
    let (mut rings, mut raised, mut open) = (0, 0, 0);
    for seed in 0..60u64 {
        let mut rng = StdRng::seed_from_u64(seed);
        let people = People::drawn(&mut rng);
        let schema = &schemas[seed as usize % schemas.len()];
        let tables: Vec<SubTable> = schema.iter().map(|(quasi, own)| people.sub_table(quasi, *own)).collect();
        let know = vec!["a".to_owned(), "b".to_owned()];
        let question = Question { know: know.clone(), protect: "c".to_owned() };
        let (found, fits) = match beliefs(&tables, std::slice::from_ref(&question), None) {
            Ok(found) => found,
            Err(problem) => panic!("seed {seed}: {problem}"),
        };
        // Where some combination has to vanish that no table rules out, fitting does not end.
        if !fits.iter().all(|fit| fit.converged) {
            open += 1;
            continue;
        }
        rings += usize::from(!fits.is_empty());
        let fitted = people.fitted(schema);
        // The first table shows a and b of everybody.
        let rows_with = |a: u32, b: u32| fitted.iter().filter(move |(cell, _)| cell[0] == a && cell[1] == b);
        let mut expected: f64 = 0.0;
        for row in &people.rows {
            let all: f64 = rows_with(row[0], row[1]).map(|(_, weight)| weight).sum();
            for value in 0..people.sizes[2] {
                let share = rows_with(row[0], row[1]).filter(|(cell, _)| cell[2] == value).map(|(_, weight)| weight);
                expected = expected.max(share.sum::<f64>() / all);
            }
        }
        let belief = &found[0];
        assert!((belief.confidence - expected).abs() < 1e-5, "seed {seed}: {belief:?}, and {expected} by every cell");
        let alone = &tables[1..2];
        let (of_one, _) = beliefs(alone, &[question], None).unwrap();
        raised += usize::from(of_one.first().is_some_and(|one| belief.confidence > one.confidence + 1e-6));
    }
    assert!(
        rings > 20 && raised > 5 && open < 20,
        "{rings} with rings, {raised} more confident than by one table, {open} open"
    );
}

#[test]
fn rules_about_what_no_table_shows_are_omitted_and_no_rows_have_no_estimate() {
    let table = SubTable { name: String::new(), quasi: vec!["a".to_owned()], sensitive: None, buckets: Vec::new() };
    let question = Question { know: vec!["a".to_owned()], protect: "e".to_owned() };
    assert_eq!(beliefs(std::slice::from_ref(&table), &[], None).unwrap_err(), NoEstimate::Nothing);
    let rows = vec![(vec!["a0".to_owned()], 3)];
    let table = SubTable { buckets: vec![SubTableBucket { rows, values: Vec::new() }], ..table };
    assert_eq!(beliefs(&[table], &[question], None).unwrap().0, []);
}
