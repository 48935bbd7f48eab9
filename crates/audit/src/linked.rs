//! Releases that link the rows of a unit by a random number: whoever finds one row has found the
//! others, so that units are counted, and those are alike whose rows are in the same classes, each
//! as often.

use hashbrown::{HashMap, HashSet};
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::{Column, Table};

/// The units of a released table.
#[derive(Debug)]
pub(crate) struct Linked<'a> {
    pub(crate) table: &'a Table,
    /// By row.
    unit_of: Vec<u32>,
    class_of: Vec<u32>,
    /// The units with rows in each class.
    in_class: Vec<Vec<u32>>,
}

/// Units whose rows are in the same classes.
#[derive(Debug)]
pub(crate) struct Alike {
    /// Ascending, each as often as a unit has rows in it.
    pub(crate) classes: Vec<u32>,
    pub(crate) units: Vec<u32>,
}

impl<'a> Linked<'a> {
    /// `None` where the rows of a unit are not linked.
    pub(crate) fn of(release: &'a Release, classes: &ReleasedClasses) -> Option<Linked<'a>> {
        let ReleaseTables::Generalized(tables) = release.tables() else { return None };
        if tables.units.is_empty() || tables.counts.is_some() {
            return None;
        }
        let table = &tables.table;
        let units: Vec<&Column> = tables.units.iter().map(|name| table.column(name)).collect::<Option<_>>()?;
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let unit = |row: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(units.iter().map(|column| column.codes.get(row)).collect()).or_insert(next)
        };
        let unit_of: Vec<u32> = (0..table.rows).map(unit).collect();
        let quasi: Vec<&Column> = classes.quasi.iter().map(|quasi| table.column(&quasi.name)).collect::<Option<_>>()?;
        // By code of a released column, its label in the classes.
        let mut labels: Vec<Vec<u32>> = Vec::with_capacity(quasi.len());
        for (column, quasi) in quasi.iter().zip(&classes.quasi) {
            let places: HashMap<&str, u32> = quasi.labels.iter().map(String::as_str).zip(0..).collect();
            let of_code = |code: u32| places.get(column.domain.text(code).as_str()).copied();
            labels
                .push((0..column.domain.cardinality() as u32).map(|code| of_code(code).unwrap_or(u32::MAX)).collect());
        }
        let numbered: HashMap<&[u32], u32> =
            (0u32..).take(classes.len()).map(|class| (classes.cells(class as usize), class)).collect();
        let class = |row: usize| {
            let cells = quasi.iter().zip(&labels).map(|(column, labels)| labels[column.codes.get(row) as usize]);
            numbered.get(cells.collect::<Vec<u32>>().as_slice()).copied()
        };
        let class_of = (0..table.rows).map(class).collect::<Option<Vec<u32>>>()?;
        let mut in_class: Vec<Vec<u32>> = vec![Vec::new(); classes.len()];
        unit_of.iter().zip(&class_of).for_each(|(&unit, &class)| in_class[class as usize].push(unit));
        for units in &mut in_class {
            units.sort_unstable();
            units.dedup();
        }
        Some(Linked { table, unit_of, class_of, in_class })
    }

    /// The units with rows in some of these classes.
    pub(crate) fn units_in(&self, classes: &[u32]) -> u64 {
        match classes {
            [one] => self.in_class[*one as usize].len() as u64,
            several => {
                let units: HashSet<u32> =
                    several.iter().flat_map(|&class| self.in_class[class as usize].iter().copied()).collect();
                units.len() as u64
            }
        }
    }

    /// All units, by the classes that their rows are in.
    pub(crate) fn alike(&self) -> Vec<Alike> {
        let mut of_unit: HashMap<u32, Vec<u32>> = HashMap::new();
        self.unit_of
            .iter()
            .zip(&self.class_of)
            .for_each(|(&unit, &class)| of_unit.entry(unit).or_default().push(class));
        let mut alike: HashMap<Vec<u32>, Vec<u32>> = HashMap::new();
        for (unit, mut classes) in of_unit {
            classes.sort_unstable();
            alike.entry(classes).or_default().push(unit);
        }
        let mut alike: Vec<Alike> = alike.into_iter().map(|(classes, units)| Alike { classes, units }).collect();
        alike.sort_unstable_by(|a, b| a.classes.cmp(&b.classes));
        alike
    }

    /// By unit and class, the values of a column there.
    pub(crate) fn values(&self, column: &Column) -> HashMap<(u32, u32), HashSet<u32>> {
        let mut values: HashMap<(u32, u32), HashSet<u32>> = HashMap::new();
        for (row, key) in self.unit_of.iter().copied().zip(self.class_of.iter().copied()).enumerate() {
            values.entry(key).or_default().insert(column.codes.get(row));
        }
        values
    }
}

/// The note of a finding on how it counts, where rows belong to units.
pub(crate) const UNITS_COUNTED: &str = "units are counted, since the release links their rows";
pub(crate) const ROWS_COUNTED: &str = "rows are counted, not units: the release does not say which rows are about one unit, \
                                       and an attacker who knows all rows of a unit can exclude more";
pub(crate) const ROWS_COUNTED_LINKED: &str =
    "rows are counted, not units: this adversary does not look at which rows are about one unit";
