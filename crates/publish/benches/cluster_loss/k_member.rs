//! The method that classes are compared with: k-member (Byun, Kamra, Bertino, Li: *Efficient
//! k-anonymization using clustering techniques*, 2007). Each class begins with the row that is
//! farthest from the one before and takes the row that adds the least loss until it has k; what is
//! left over joins the class where it adds the least. Every choice looks at all rows that are left:
//! O(n²).

use hedgerow_publish::bind::Bound;

/// One attribute of the rows that are left, and what a step along it costs.
struct Attribute {
    codes: Vec<u32>,
    is_number: bool,
    step: f64,
    cardinality: usize,
}

/// The cells of a class: ranges of numbers, sets of categories.
struct Class {
    rows: usize,
    cells: Vec<Cell>,
}

enum Cell {
    Range(u32, u32),
    /// Whether each value is in it, and how many are.
    Set(Vec<bool>, usize),
}

impl Cell {
    /// How many further values it covers with this one.
    fn more_with(&self, code: u32) -> u32 {
        match self {
            Cell::Range(low, high) => low.saturating_sub(code) + code.saturating_sub(*high),
            Cell::Set(values, _) => u32::from(!values[code as usize]),
        }
    }

    fn take(&mut self, code: u32) {
        match self {
            Cell::Range(low, high) => (*low, *high) = ((*low).min(code), (*high).max(code)),
            Cell::Set(values, count) => {
                *count += usize::from(!std::mem::replace(&mut values[code as usize], true));
            }
        }
    }

    fn steps(&self) -> f64 {
        match self {
            Cell::Range(low, high) => f64::from(high - low),
            Cell::Set(_, count) => *count as f64 - 1.0,
        }
    }
}

impl Class {
    fn of(row: &[u32], attributes: &[Attribute]) -> Class {
        let cell = |(&code, attribute): (&u32, &Attribute)| {
            if attribute.is_number {
                return Cell::Range(code, code);
            }
            let mut values = vec![false; attribute.cardinality];
            values[code as usize] = true;
            Cell::Set(values, 1)
        };
        Class { rows: 1, cells: row.iter().zip(attributes).map(cell).collect() }
    }

    fn take(&mut self, row: &[u32]) {
        self.rows += 1;
        self.cells.iter_mut().zip(row).for_each(|(cell, &code)| cell.take(code));
    }

    /// The loss of one of its rows.
    fn loss_of_row(&self, attributes: &[Attribute]) -> f64 {
        self.cells.iter().zip(attributes).map(|(cell, attribute)| cell.steps() * attribute.step).sum()
    }

    /// By how much the loss of all its rows grows with one more.
    fn growth_with(&self, row: &[u32], attributes: &[Attribute]) -> f64 {
        let cells = self.cells.iter().zip(row).zip(attributes);
        let more: f64 = cells.map(|((cell, &code), attribute)| f64::from(cell.more_with(code)) * attribute.step).sum();
        self.loss_of_row(attributes) + more * (self.rows + 1) as f64
    }
}

/// The mean loss of a cell, as granularity.
pub(crate) fn loss(bound: &Bound<'_>, k: usize) -> f64 {
    let attribute = |quasi: &hedgerow_publish::bind::Quasi<'_>| {
        let cardinality = quasi.column.domain.cardinality();
        Attribute {
            codes: quasi.column.codes.iter().collect(),
            is_number: quasi.column.domain.kind().is_number(),
            step: 1.0 / (cardinality as f64 - 1.0).max(1.0),
            cardinality,
        }
    };
    let mut attributes: Vec<Attribute> = bound.quasi.iter().map(attribute).collect();
    let all = bound.table.rows;
    let mut classes: Vec<Class> = Vec::new();
    let mut last = row(&attributes, 0);
    let mut distances = Vec::new();
    while attributes[0].codes.len() >= k {
        measure(&Class::of(&last, &attributes), &attributes, &mut distances);
        let farthest = best(&distances, |one, other| one > other);
        last = taken(&mut attributes, farthest);
        let mut class = Class::of(&last, &attributes);
        while class.rows < k {
            measure(&class, &attributes, &mut distances);
            let nearest = best(&distances, |one, other| one < other);
            class.take(&taken(&mut attributes, nearest));
        }
        classes.push(class);
    }
    while !attributes[0].codes.is_empty() {
        let left = taken(&mut attributes, 0);
        let growth = |class: &&mut Class| class.growth_with(&left, &attributes);
        let least = classes.iter_mut().min_by(|one, other| growth(one).total_cmp(&growth(other)));
        least.expect("at least k rows").take(&left);
    }
    let lost: f64 = classes.iter().map(|class| class.rows as f64 * class.loss_of_row(&attributes)).sum();
    lost / (all * attributes.len()) as f64
}

fn row(attributes: &[Attribute], row: usize) -> Vec<u32> {
    attributes.iter().map(|attribute| attribute.codes[row]).collect()
}

fn taken(attributes: &mut [Attribute], row: usize) -> Vec<u32> {
    attributes.iter_mut().map(|attribute| attribute.codes.swap_remove(row)).collect()
}

/// The loss that each remaining row would add to the cells of a class.
fn measure(class: &Class, attributes: &[Attribute], distances: &mut Vec<f32>) {
    distances.clear();
    distances.resize(attributes[0].codes.len(), 0.0);
    for (cell, attribute) in class.cells.iter().zip(attributes) {
        let step = attribute.step as f32;
        match cell {
            Cell::Range(low, high) => {
                for (distance, &code) in distances.iter_mut().zip(&attribute.codes) {
                    *distance += (low.saturating_sub(code) + code.saturating_sub(*high)) as f32 * step;
                }
            }
            Cell::Set(values, _) => {
                let cost: Vec<f32> = values.iter().map(|&is_in| if is_in { 0.0 } else { step }).collect();
                for (distance, &code) in distances.iter_mut().zip(&attribute.codes) {
                    *distance += cost[code as usize];
                }
            }
        }
    }
}

/// The first that no other beats.
fn best(distances: &[f32], beats: impl Fn(f32, f32) -> bool) -> usize {
    let mut best = 0;
    for (place, &distance) in distances.iter().enumerate() {
        if beats(distance, distances[best]) {
            best = place;
        }
    }
    best
}
