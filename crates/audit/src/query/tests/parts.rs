//! Rows in several hands give the answers of the release that they are.

use std::collections::BTreeMap;

use hedgerow_release::Release as Whole;
use hedgerow_table::{Codes, Column, Domain, Values};
use rand::SeedableRng;
use rand::seq::{IndexedRandom, SliceRandom};

use super::generalized::{ages, fruits};
use super::*;
use crate::query::parts::{Needs, Outline};

const NAMES: [&str; 4] = ["age", "pay", "color", "drink"];
const QUASI: [usize; 2] = [0, 2];
const PROTECTED: [usize; 2] = [1, 3];
const DRINKS: [&str; 5] = ["amber", "beige", "blue", "gray", "red"];

/// One row: its class, and the texts of its protected values.
#[derive(Debug, Clone)]
struct Row {
    class: usize,
    protected: [String; 2],
}

struct World {
    classes: Vec<[TestLabel; 2]>,
    rows: Vec<Row>,
    hands: usize,
    owner: Vec<usize>,
}

impl World {
    fn random(rng: &mut StdRng) -> World {
        let (ages, colors) = (ages(), fruits());
        let mut classes = Vec::new();
        let mut rows = Vec::new();
        // The first class anchors the kinds of all columns.
        for class in 0..rng.random_range(1..7) {
            let age = if class == 0 { &ages[0] } else { ages.choose(rng).unwrap() };
            let color = if class == 0 { &colors[0] } else { colors.choose(rng).unwrap() };
            classes.push([age.clone(), color.clone()]);
            for row in 0..rng.random_range(1..6) {
                let first = class == 0 && row == 0;
                let pay =
                    if !first && rng.random_bool(0.1) { String::new() } else { rng.random_range(0..12).to_string() };
                let drink = if !first && rng.random_bool(0.1) { "" } else { DRINKS.choose(rng).unwrap() };
                rows.push(Row { class, protected: [pay, drink.to_owned()] });
            }
        }
        let hands = rng.random_range(1..5);
        let owner = rows.iter().map(|_| rng.random_range(0..hands)).collect();
        World { classes, rows, hands, owner }
    }

    fn codebook(&self) -> Codebook {
        let mut codebook = Codebook::new();
        for class in &self.classes {
            for (column, label) in QUASI.iter().zip(class) {
                let label = Label { text: label.text.clone(), cover: label.cover.clone(), leaves: 1 };
                codebook.add(NAMES[*column], &label).unwrap();
            }
        }
        crate::testing::written_and_read(&codebook)
    }

    fn table(&self, rows: &[Row]) -> Table {
        let text = |row: &Row| -> Vec<String> {
            let [age, color] = &self.classes[row.class];
            let [pay, drink] = row.protected.clone();
            vec![age.text.clone(), pay, color.text.clone(), drink]
        };
        let texts: Vec<Vec<String>> = rows.iter().map(text).collect();
        let texts: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        Table::from_texts(&NAMES, &texts)
    }

    fn release_of(&self, table: Table) -> Whole {
        let names = |places: [usize; 2]| places.map(|place| NAMES[place].to_owned()).to_vec();
        Whole::of_table("release", table, names(QUASI), names(PROTECTED), self.codebook()).unwrap()
    }

    /// The rows of a reader, in any order.
    fn whole(&self, rng: &mut StdRng) -> Whole {
        let mut rows = self.rows.clone();
        rows.shuffle(rng);
        self.release_of(self.table(&rows))
    }

    fn domains() -> [Domain; 2] {
        let drinks = DRINKS.iter().map(|drink| (*drink).into()).collect();
        [Domain::new(Values::Integer((0..12).collect()), true), Domain::new(Values::Category(drinks), true)]
    }

    /// The outline that every custodian knows: all protected values are the first one.
    fn outline(&self) -> Outline {
        let mut table = self.table(&self.rows);
        for (place, domain) in PROTECTED.into_iter().zip(World::domains()) {
            let codes = Codes::from_iter(domain.cardinality(), self.rows.iter().map(|_| 0));
            table.columns[place] = Column { name: NAMES[place].to_owned(), domain, codes };
        }
        let mut sizes = vec![0; self.classes.len()];
        self.rows.iter().for_each(|row| sizes[row.class] += 1);
        Outline::new(self.release_of(table), &sizes, &PROTECTED.map(|place| NAMES[place])).unwrap()
    }

    /// The counts of every custodian's own rows.
    fn places(&self, needs: &Needs, hand: usize) -> Vec<(usize, usize)> {
        let domains = World::domains();
        let own = self.rows.iter().zip(&self.owner).filter(|(_, owner)| **owner == hand).map(|(row, _)| row);
        let code = |row: &Row, attribute: usize| match row.protected[attribute].as_str() {
            "" => domains[attribute].missing_code().unwrap(),
            text => domains[attribute].code_of(text).unwrap(),
        };
        own.filter_map(|row| needs.place(row.class, |attribute| code(row, attribute))).collect()
    }

    /// The sums over all hands: of cells where they are counted, else of places.
    fn answered(&self, outline: &Outline, sql: &str, cells_max: usize) -> Json {
        let needs =
            outline.needs(&Select::parse(sql).unwrap(), cells_max).unwrap_or_else(|error| panic!("{sql}: {error}"));
        if needs.nothing() {
            return serde_json::to_value(super::super::answer(outline.release(), sql).unwrap()).unwrap();
        }
        let mut sums: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for hand in 0..self.hands {
            for place in self.places(&needs, hand) {
                assert!(needs.has(place), "{sql}");
                let key = match needs.cells() {
                    Some(cells) => match needs.cell(place) {
                        Some(cell) if cell < cells => (cell, 0),
                        Some(cell) => panic!("cell {cell} of {cells}"),
                        None => continue,
                    },
                    None => place,
                };
                *sums.entry(key).or_default() += 1;
            }
        }
        let rows: Vec<(usize, usize, u64)> = match needs.cells() {
            Some(_) => {
                let counts: Vec<(usize, u64)> = sums.iter().map(|((cell, _), rows)| (*cell, *rows)).collect();
                needs.places(&counts).unwrap()
            }
            None => sums.iter().map(|((stratum, kinds), rows)| (*stratum, *kinds, *rows)).collect(),
        };
        let filled = outline.filled(&needs, &rows).unwrap_or_else(|| panic!("{sql}: {rows:?}"));
        serde_json::to_value(super::super::answer(&filled, sql).unwrap()).unwrap()
    }
}

fn random_sql(rng: &mut StdRng) -> String {
    let condition = match rng.random_bool(0.85) {
        true => {
            let test = random_test(rng, &[false, false, true, true], 2);
            format!(" WHERE {}", sql_of(&test, &NAMES))
        }
        false => String::new(),
    };
    let mut names = NAMES;
    names.shuffle(rng);
    let some = names[..rng.random_range(1..4)].join(", ");
    match rng.random_range(0..5) {
        0 => format!("SELECT {some} FROM data{condition}"),
        1 => format!("SELECT * FROM data{condition} ORDER BY 1, 2, 3, 4"),
        2 => format!("SELECT {some}, COUNT(*), SUM(pay), AVG(age) FROM data{condition} GROUP BY {some}"),
        3 => format!("SELECT {some} FROM data{condition} GROUP BY {some}"),
        _ => format!("SELECT COUNT(*), COUNT(drink), SUM(pay), AVG(pay), SUM(age), AVG(age) FROM data{condition}"),
    }
}

/// Sums of shares round in the order in which they are added.
fn rounded(json: &mut Json) {
    match json {
        Json::Array(list) => list.iter_mut().for_each(rounded),
        Json::Object(fields) => fields.values_mut().for_each(rounded),
        Json::Number(number) if number.is_f64() => {
            *json = Json::from(format!("{:.11e}", number.as_f64().unwrap() + 0.0));
        }
        _ => {}
    }
}

/// Lines of rows have no order; a note that a value does not occur needs the values that do.
fn comparable(mut answer: Json, rows: bool) -> Json {
    rounded(&mut answer);
    if let Some(notes) = answer["notes"].as_array_mut() {
        notes.retain(|note| !note.as_str().is_some_and(|note| note.starts_with("no value of")));
    }
    if let (true, Some(lines)) = (rows, answer["rows"].as_array_mut()) {
        lines.sort_by_key(ToString::to_string);
    }
    answer
}

#[test]
fn sums_over_all_hands_answer_as_the_release_does() {
    let mut counted = [0; 3];
    for seed in seeds(3000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let world = World::random(&mut rng);
        let (whole, outline) = (world.whole(&mut rng), world.outline());
        let sql = random_sql(&mut rng);
        let cells_max = if rng.random_bool(0.3) { 0 } else { 1 << 20 };
        let is_rows = !sql.contains("GROUP BY") && !sql.contains("COUNT");
        let expected = serde_json::to_value(super::super::answer(&whole, &sql).unwrap()).unwrap();
        let found = world.answered(&outline, &sql, cells_max);
        assert_eq!(comparable(found, is_rows), comparable(expected, is_rows), "HEDGEROW_SEED={seed}: {sql}");
        let needs = outline.needs(&Select::parse(&sql).unwrap(), cells_max).unwrap();
        counted[if needs.nothing() { 0 } else { 1 + usize::from(needs.cells().is_none()) }] += 1;
    }
    let only = std::env::var_os("HEDGEROW_SEED").is_some();
    assert!(only || counted.iter().all(|cases| *cases > 100), "{counted:?} by what is known, by cells, by rows");
}

/// Of every row that a reader of the release sees, by its labels and values alone: what it counts
/// as. Classes that a reader cannot distinguish must count alike.
fn seen(world: &World, needs: &Needs) -> BTreeMap<(usize, usize), u64> {
    let domains = World::domains();
    let labels = |class: usize| world.classes[class].each_ref().map(|label| label.text.as_str());
    let mut sums = BTreeMap::new();
    for row in &world.rows {
        let code = |attribute: usize| match row.protected[attribute].as_str() {
            "" => domains[attribute].missing_code().unwrap(),
            text => domains[attribute].code_of(text).unwrap(),
        };
        let alike = (0..world.classes.len()).filter(|class| labels(*class) == labels(row.class));
        let mut places: Vec<_> = alike.map(|class| needs.place(class, code)).collect();
        places.dedup();
        assert_eq!(places.len(), 1, "classes with the same labels count differently");
        if let Some(place) = places[0] {
            *sums.entry(place).or_default() += 1;
        }
    }
    sums
}

#[test]
fn what_opens_does_not_depend_on_who_holds_which_row() {
    let mut alike = 0;
    for seed in seeds(2000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut world = World::random(&mut rng);
        // Relaxed cuts leave classes that readers cannot distinguish.
        if world.classes.len() > 2 {
            world.classes[1] = world.classes[2].clone();
            alike += 1;
        }
        let sql = random_sql(&mut rng);
        let needs = world.outline().needs(&Select::parse(&sql).unwrap(), 1 << 20).unwrap();
        let expected = seen(&world, &needs);
        for _ in 0..2 {
            world.owner.iter_mut().for_each(|owner| *owner = rng.random_range(0..world.hands));
            let mut sums: BTreeMap<(usize, usize), u64> = BTreeMap::new();
            for hand in 0..world.hands {
                world.places(&needs, hand).into_iter().for_each(|place| *sums.entry(place).or_default() += 1);
            }
            assert_eq!(sums, expected, "HEDGEROW_SEED={seed}: {sql}");
        }
    }
    assert!(std::env::var_os("HEDGEROW_SEED").is_some() || alike > 500, "{alike} with classes that look alike");
}

#[test]
fn no_more_is_counted_than_the_question_distinguishes() {
    let worlds = (0..).map(|seed| World::random(&mut StdRng::seed_from_u64(seed)));
    let world = worlds.into_iter().find(|world| world.classes.len() > 3).unwrap();
    let (outline, classes) = (world.outline(), world.classes.len());
    let cells = |sql: &str| outline.needs(&Select::parse(sql).unwrap(), 1 << 20).unwrap().cells().unwrap();
    assert_eq!(cells("SELECT COUNT(*) FROM data"), 0);
    assert_eq!(cells("SELECT color, SUM(age) FROM data GROUP BY color"), 0);
    assert_eq!(cells("SELECT COUNT(*) FROM data WHERE drink = 'red'"), 1, "one stratum, one kind");
    assert_eq!(cells("SELECT COUNT(*) FROM data WHERE drink IN ('red', 'gray')"), 1);
    assert_eq!(cells("SELECT COUNT(*) FROM data WHERE drink = 'red' AND pay > 5"), 1);
    assert_eq!(cells("SELECT drink, COUNT(*) FROM data GROUP BY drink"), DRINKS.len() + 1);
    assert_eq!(cells("SELECT drink, COUNT(*) FROM data WHERE drink <> 'red' GROUP BY drink"), DRINKS.len() - 1);
    assert_eq!(cells("SELECT COUNT(*) FROM data WHERE drink = 'red' AND age > 1000 AND age < 900"), 0);
    let everything = cells("SELECT * FROM data");
    assert!(everything.is_multiple_of(13 * 6) && everything > 13 * 6 && everything <= classes * 13 * 6, "{everything}");
    let digests = |sql: &str| outline.needs(&Select::parse(sql).unwrap(), 1 << 20).unwrap().bytes();
    assert_ne!(digests("SELECT drink FROM data"), digests("SELECT pay FROM data"));
    assert_eq!(digests("SELECT COUNT(*) FROM data WHERE pay > 3"), digests("SELECT COUNT(*) FROM data WHERE 3 < pay"));
}

#[test]
fn counts_that_no_rows_have_are_refused() {
    let world = World::random(&mut StdRng::seed_from_u64(5));
    let outline = world.outline();
    let select = Select::parse("SELECT drink, COUNT(*) FROM data GROUP BY drink").unwrap();
    let needs = outline.needs(&select, 1 << 20).unwrap();
    let rows = world.rows.len() as u64;
    assert!(outline.filled(&needs, &[(0, 0, rows)]).is_some());
    for wrong in [vec![(0, 0, rows + 1)], vec![(0, 0, rows - 1)], vec![(1, 0, rows)], vec![(0, 0, u64::MAX), (0, 1, 1)]]
    {
        assert!(outline.filled(&needs, &wrong).is_none(), "{wrong:?}");
    }
    assert!(needs.places(&[(DRINKS.len() + 1, 1)]).is_none());
    assert!(Outline::new(world.whole(&mut StdRng::seed_from_u64(1)), &[rows + 1], &["drink"]).is_err());
    assert!(Outline::new(world.whole(&mut StdRng::seed_from_u64(1)), &[rows], &["wine"]).is_err());
}
