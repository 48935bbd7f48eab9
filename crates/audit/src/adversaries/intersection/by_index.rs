//! Joining sub-tables that are too large to pair person by person, by an index over the distinct
//! combinations that they list.
//!
//! A row keeps a value of its bucket where every other table has a row that agrees with both on all
//! that the two tables share: equal values where both list an attribute by row, a bucket that still
//! allows the value where one hides it. Within a bucket, values that are used up by rows that can
//! have no other are taken from the rest. Both are repeated until nothing changes.
//!
//! Rules out less than pairing does, and never what is possible. Cost: for every round and two
//! tables, a probe for each row and value.

use hashbrown::{HashMap, HashSet};

use super::sub_table::{AllowedValues, SubTable};

/// Stopping early rules out less and is still right.
const ROUNDS_MAX: usize = 8;

/// Buckets with more values are left as they are: a row's values are bits of one word.
const VALUES_MAX: usize = 64;

/// A sub-table in codes that are the same for all.
struct Coded<'t> {
    table: &'t SubTable,
    quasi: Vec<usize>,
    /// `None` where all attributes are listed by row.
    sensitive: Option<usize>,
    rows: Vec<IndexedRow>,
    /// By bucket, the codes of its values.
    values: Vec<Vec<u32>>,
}

struct IndexedRow {
    codes: Vec<u32>,
    bucket: u32,
    position: u32,
    people: u64,
    /// Which values of the bucket are left, by position.
    left: u64,
}

/// The values that each sub-table allows for its rows together with the others, and whether they
/// contradict one another. Rows of a bucket that keep all its values are listed as one.
pub(super) fn join(tables: &[SubTable]) -> (Vec<AllowedValues>, bool) {
    let mut coded = code(tables);
    let people = |table: &Coded<'_>| table.rows.iter().map(|row| row.people).sum::<u64>();
    let mut contradiction = coded.windows(2).any(|pair| people(&pair[0]) != people(&pair[1]));
    for _ in 0..ROUNDS_MAX {
        let mut changed = false;
        for one in 0..coded.len() {
            for other in (0..coded.len()).filter(|other| *other != one) {
                let Some(index) = Index::new(&coded[one], &coded[other]) else { continue };
                let (narrowed, impossible) = index.narrow(&mut coded[one]);
                changed |= narrowed;
                contradiction |= impossible;
            }
            changed |= coded[one].use_up();
        }
        if !changed || contradiction {
            break;
        }
    }
    (coded.iter().enumerate().flat_map(|(number, table)| table.allowed(number)).collect(), contradiction)
}

fn code<'t>(tables: &'t [SubTable]) -> Vec<Coded<'t>> {
    let mut attributes: HashMap<&str, usize> = HashMap::new();
    let mut codes: Vec<HashMap<&str, u32>> = Vec::new();
    let mut coded = Vec::new();
    for table in tables {
        for name in table.quasi.iter().chain(&table.sensitive) {
            attributes.entry(name).or_insert_with(|| {
                codes.push(HashMap::new());
                codes.len() - 1
            });
        }
        let quasi: Vec<usize> = table.quasi.iter().map(|name| attributes[name.as_str()]).collect();
        let sensitive = table.sensitive.as_ref().map(|name| attributes[name.as_str()]);
        let mut of = |attribute: usize, text: &'t String| {
            let next = codes[attribute].len() as u32;
            *codes[attribute].entry(text.as_str()).or_insert(next)
        };
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for (number, bucket) in table.buckets.iter().enumerate() {
            let listed =
                sensitive.iter().flat_map(|&attribute| bucket.values.iter().map(move |(text, _)| (attribute, text)));
            let own: Vec<u32> = listed.map(|(attribute, text)| of(attribute, text)).collect();
            let left = if own.len() > VALUES_MAX { u64::MAX } else { all(own.len()) };
            rows.extend(bucket.rows.iter().zip(0..).map(|((texts, people), position)| IndexedRow {
                codes: quasi.iter().zip(texts).map(|(&attribute, text)| of(attribute, text)).collect(),
                bucket: number as u32,
                position,
                people: *people,
                left,
            }));
            values.push(own);
        }
        coded.push(Coded { table, quasi, sensitive, rows, values });
    }
    coded
}

/// As many bits.
fn all(values: usize) -> u64 {
    u64::MAX.checked_shr(64 - values as u32).unwrap_or(0)
}

impl Coded<'_> {
    fn place(&self, attribute: usize) -> Option<usize> {
        self.quasi.iter().position(|&own| own == attribute)
    }

    /// The attribute that is listed by bucket and whose values can be looked up; `None` where some
    /// rows can have any value.
    fn hidden(&self) -> Option<usize> {
        self.sensitive.filter(|_| self.values.iter().all(|values| !values.is_empty()))
    }

    /// The values left to a row; all of them where the bucket has too many to keep track of.
    fn left(&self, row: &IndexedRow) -> impl Iterator<Item = u32> {
        let values = &self.values[row.bucket as usize];
        let left = row.left;
        let many = values.len() > VALUES_MAX;
        values.iter().enumerate().filter(move |(place, _)| many || left >> place & 1 == 1).map(|(_, &value)| value)
    }

    /// Takes values from rows that others of their bucket need all of. Whether that changed
    /// something.
    fn use_up(&mut self) -> bool {
        let mut changed = false;
        let (table, values) = (self.table, &self.values);
        for rows in self.rows.chunk_by_mut(|one, other| one.bucket == other.bucket) {
            let bucket = rows[0].bucket as usize;
            if values[bucket].len() > VALUES_MAX {
                continue;
            }
            for (place, (_, count)) in table.buckets[bucket].values.iter().enumerate() {
                let bit = 1u64 << place;
                let certain: u64 = rows.iter().filter(|row| row.left == bit).map(|row| row.people).sum();
                let possible: u64 = rows.iter().filter(|row| row.left & bit != 0).map(|row| row.people).sum();
                for row in rows.iter_mut().filter(|row| row.left & bit != 0 && row.left != bit) {
                    if certain >= *count {
                        row.left &= !bit;
                        changed = true;
                    } else if possible == *count {
                        row.left = bit;
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    fn allowed(&self, table: usize) -> Vec<AllowedValues> {
        let mut allowed: Vec<AllowedValues> = Vec::new();
        for rows in self.rows.chunk_by(|one, other| one.bucket == other.bucket) {
            let first = allowed.len();
            for row in rows {
                let bucket = &self.table.buckets[row.bucket as usize];
                let of = bucket.values.len();
                if of == 0 {
                    continue;
                }
                let left = |place: usize| of > VALUES_MAX || row.left >> place & 1 == 1;
                let places: Vec<usize> = (0..of).filter(|&place| left(place)).collect();
                if let Some(same) =
                    allowed[first..].iter_mut().find(|other| places.len() == of && other.values.len() == of)
                {
                    same.rows += row.people;
                    continue;
                }
                allowed.push(AllowedValues {
                    table,
                    bucket: row.bucket as usize,
                    quasi: bucket.rows[row.position as usize].0.clone(),
                    rows: row.people,
                    values: places.into_iter().map(|place| bucket.values[place].0.clone()).collect(),
                    of,
                });
            }
        }
        allowed
    }
}

/// The values of one table for every combination that another table looks up in it.
struct Index {
    /// The other table's columns that are compared.
    columns: Vec<usize>,
    keys: HashMap<Vec<u32>, u32>,
    /// Which values of the table's hidden attribute occur with a key; absent when the other table
    /// does not list it.
    combined: Option<HashSet<(u32, u32)>>,
}

impl Index {
    /// `None` when the tables share nothing.
    fn new(own: &Coded<'_>, other: &Coded<'_>) -> Option<Index> {
        let shared: Vec<(usize, usize)> = (own.quasi.iter().enumerate())
            .filter_map(|(column, &attribute)| Some((column, other.place(attribute)?)))
            .collect();
        let hidden_there = other.hidden().and_then(|attribute| own.place(attribute));
        let listed_there = own.sensitive.and_then(|attribute| other.place(attribute));
        let hidden_in_both = own.sensitive.is_some() && own.sensitive == other.hidden();
        let mut columns: Vec<usize> = shared.iter().map(|&(column, _)| column).collect();
        columns.extend(hidden_there);
        let lists = listed_there.is_some() || hidden_in_both;
        if columns.is_empty() && !lists {
            return None;
        }
        let mut keys: HashMap<Vec<u32>, u32> = HashMap::with_capacity(other.rows.len());
        let mut combined: HashSet<(u32, u32)> = HashSet::new();
        for row in &other.rows {
            let key: Vec<u32> = shared.iter().map(|&(_, place)| row.codes[place]).collect();
            let listed = listed_there.map(|place| row.codes[place]);
            if hidden_there.is_some() {
                for value in other.left(row) {
                    let number = number(&mut keys, [&key[..], &[value]].concat());
                    combined.extend(listed.map(|value| (number, value)));
                }
                continue;
            }
            let number = number(&mut keys, key);
            combined.extend(listed.map(|value| (number, value)));
            if hidden_in_both {
                combined.extend(other.left(row).map(|value| (number, value)));
            }
        }
        Some(Index { columns, keys, combined: lists.then_some(combined) })
    }

    /// Whether a value was ruled out, and whether a row has none left.
    fn narrow(&self, own: &mut Coded<'_>) -> (bool, bool) {
        let (mut changed, mut impossible) = (false, false);
        for row in &mut own.rows {
            let key: Vec<u32> = self.columns.iter().map(|&column| row.codes[column]).collect();
            let Some(&number) = self.keys.get(&key) else {
                impossible = true;
                continue;
            };
            let values = &own.values[row.bucket as usize];
            if values.is_empty() {
                continue;
            }
            let Some(combined) = self.combined.as_ref().filter(|_| values.len() <= VALUES_MAX) else { continue };
            let left = (0..values.len()).filter(|&place| combined.contains(&(number, values[place])));
            let left = row.left & left.fold(0u64, |left, place| left | 1 << place);
            if left == 0 {
                impossible = true;
            } else if left != row.left {
                row.left = left;
                changed = true;
            }
        }
        (changed, impossible)
    }
}

fn number(keys: &mut HashMap<Vec<u32>, u32>, key: Vec<u32>) -> u32 {
    let next = keys.len() as u32;
    *keys.entry(key).or_insert(next)
}
