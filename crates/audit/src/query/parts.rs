//! Questions about rows that several custodians hold: each knows the classes with their labels and
//! sizes, and the protected values of its own rows only.
//!
//! A question distinguishes rows only as far as it looks at them. Classes that it does not
//! distinguish are one *stratum*; values of a protected attribute that it does not distinguish are
//! one *kind*. What has to be counted over all hands is how many rows of each stratum have each
//! combination of kinds, and only where the condition can hold: these counts are the *cells* of a
//! question. They are sums over the rows of the release, so they disclose nothing that the release
//! would not have shown. Filled in, they give the answer that the release would give: rows that a
//! question does not distinguish can stand for one another.
//!
//! All hands must number cells alike. [`Needs::bytes`] is what they compare.

use std::collections::BTreeMap;

use hedgerow_release::generalized::Generalized;
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::{Codes, Column, InputError, TableError};

use super::columns::Columns;
use super::diagram::ConditionTruth;
use super::plan::Plan;
use super::sql::{self, Shown};
use super::tree::Select;
use super::view::QueryView;
use crate::estimate::regions::Portion;

/// The most branches that are looked at to find cells where the condition cannot hold. Above,
/// nothing is omitted.
const WORK_MAX: usize = 1 << 26;

/// A release in which the protected values are not filled in. Its rows are in the order of classes.
#[derive(Debug)]
pub struct Outline {
    release: Release,
    /// By class, its first row; and behind the last.
    starts: Vec<usize>,
    /// The protected columns, in the order in which rows have their codes.
    protected: Vec<usize>,
}

/// The counts that a question needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// By class; `None` where the condition cannot hold.
    stratum_of_class: Vec<Option<u32>>,
    /// By stratum, the rows of its classes.
    rows: Vec<u64>,
    /// Of the protected attributes that the question looks at.
    kinds: Vec<ValueKinds>,
    cells: CountedCells,
}

/// The values of one protected attribute as a question distinguishes them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ValueKinds {
    /// Its place among the protected attributes.
    attribute: usize,
    of_code: Vec<u32>,
    /// By kind, one of its codes.
    codes: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CountedCells {
    /// By stratum and combination of kinds, the number of the cell; `None` where the condition
    /// cannot hold.
    Counted { number: Vec<Option<u32>>, count: usize },
    /// Too many to be numbered.
    Many,
}

impl Outline {
    /// `sizes` are those of the classes, in the order in which the release has their rows;
    /// `protected` are the attributes that are not filled in.
    pub fn new(release: Release, sizes: &[u64], protected: &[&str]) -> Result<Outline, TableError> {
        let unfit = || TableError::Internal("classes of another release".to_owned());
        let mut starts = vec![0usize];
        for size in sizes {
            let last = starts[starts.len() - 1];
            starts.push(usize::try_from(*size).ok().and_then(|size| last.checked_add(size)).ok_or_else(unfit)?);
        }
        let ReleaseTables::Generalized(Generalized { table, .. }) = release.tables() else { return Err(unfit()) };
        let place = |name: &&str| table.columns.iter().position(|column| column.name == **name).ok_or_else(unfit);
        let protected = protected.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        if starts.last() != Some(&table.rows) || sizes.contains(&0) {
            return Err(unfit());
        }
        Ok(Outline { release, starts, protected })
    }

    /// For names and kinds of columns: protected values in it mean nothing.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// Refuses a question that no release with these columns answers.
    pub fn check(&self, select: &Select) -> Result<(), TableError> {
        QueryView::of(&self.release)?.iter().try_for_each(|(_, view)| {
            sql::read(select, &Columns::bind(view)?)?;
            Ok(())
        })
    }

    /// The counts that a question needs; `cells_max` cells at most can be counted.
    pub fn needs(&self, select: &Select, cells_max: usize) -> Result<Needs, TableError> {
        let views = QueryView::of(&self.release)?;
        let [("", view)] = views.as_slice() else {
            return Err(TableError::Internal("an outline of several tables".to_owned()));
        };
        let columns = Columns::bind(view)?;
        let query = sql::read(select, &columns)?;
        let plan = Plan::new(&query, &columns)?;
        let shown: Vec<usize> = match query.is_rows() {
            true => query.outputs.iter().filter_map(|output| column_of(&output.what)).collect(),
            false => Vec::new(),
        };
        let looked_at = Looked { columns: &columns, plan: &plan, shown: &shown };
        let needs = self.distinguished(&looked_at, cells_max);
        if needs.combinations().is_none() {
            let problem = "the question distinguishes too many combinations of protected values";
            return Err(InputError::new("SQL", problem, "use fewer protected columns at once").into());
        }
        Ok(needs)
    }

    fn distinguished(&self, looked: &Looked<'_>, cells_max: usize) -> Needs {
        let firsts = &self.starts[..self.starts.len() - 1];
        let labels: Vec<(usize, Vec<u32>)> = (0..looked.columns.all.len())
            .filter(|column| !self.protected.contains(column))
            .filter_map(|column| Some((column, looked.kinds(column)?)))
            .collect();
        let code = |column: usize, class: usize| looked.columns.all[column].column.codes.get(firsts[class]);
        let key = |class: usize| -> Vec<u32> {
            labels.iter().map(|(column, kinds)| kinds[code(*column, class) as usize]).collect()
        };
        // In the order of keys, which is the same for all hands.
        let mut strata: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        (0..firsts.len()).for_each(|class| strata.entry(key(class)).or_default().push(class));
        let looked_at = self.protected.iter().enumerate();
        let kinds: Vec<ValueKinds> = looked_at
            .filter_map(|(attribute, column)| {
                let of_code = looked.kinds(*column)?;
                let mut codes = vec![0; of_code.iter().max().map_or(0, |last| *last as usize + 1)];
                for (code, kind) in of_code.iter().enumerate().rev() {
                    codes[*kind as usize] = code as u32;
                }
                Some(ValueKinds { attribute, of_code, codes })
            })
            .collect();
        if kinds.is_empty() {
            let stratum_of_class = vec![None; firsts.len()];
            let cells = CountedCells::Counted { number: Vec::new(), count: 0 };
            return Needs { stratum_of_class, rows: Vec::new(), kinds, cells };
        }
        let mut given = vec![None; looked.columns.all.len()];
        for (place, kinds) in kinds.iter().enumerate() {
            given[self.protected[kinds.attribute]] = Some(place);
        }
        let mut judge = Judge { outline: self, looked, given, buffer: Vec::new() };
        let branches = looked.plan.diagram.branches().max(1);
        let affordable = |judgments: usize| judgments.saturating_mul(branches) <= WORK_MAX;
        let (mut stratum_of_class, mut rows) = (vec![None; firsts.len()], Vec::new());
        let mut representatives = Vec::new();
        let prune = affordable(strata.len());
        for classes in strata.values() {
            if prune && !judge.possible(classes[0], None) {
                continue;
            }
            for class in classes {
                stratum_of_class[*class] = Some(rows.len() as u32);
            }
            rows.push(classes.iter().map(|class| (self.starts[class + 1] - self.starts[*class]) as u64).sum());
            representatives.push(classes[0]);
        }
        let combinations =
            kinds.iter().try_fold(1usize, |all, kinds| all.checked_mul(kinds.codes.len())).unwrap_or(usize::MAX);
        let all = combinations.saturating_mul(rows.len());
        let cells = if all > cells_max {
            CountedCells::Many
        } else {
            let prune = affordable(all);
            let (mut number, mut count) = (Vec::with_capacity(all), 0);
            for class in representatives {
                for combination in 0..combinations {
                    let codes = codes_of(&kinds, combination);
                    let needed = !prune || judge.possible(class, Some(&codes));
                    number.push(needed.then_some(count));
                    count += u32::from(needed);
                }
            }
            CountedCells::Counted { number, count: count as usize }
        };
        Needs { stratum_of_class, rows, kinds, cells }
    }

    /// The release as far as the question distinguishes its rows. `rows` are (stratum, combination,
    /// rows) of all hands together; `None` where they are not rows that this release can have.
    pub fn filled(&self, needs: &Needs, rows: &[(usize, usize, u64)]) -> Option<Release> {
        let ReleaseTables::Generalized(Generalized { table, quasi, sensitive, .. }) = self.release.tables() else {
            return None;
        };
        let mut by_stratum: Vec<Vec<(usize, u64)>> = vec![Vec::new(); needs.rows.len()];
        for (stratum, combination, rows) in rows {
            by_stratum.get_mut(*stratum)?.push((*combination, *rows));
        }
        for (stratum, found) in by_stratum.iter_mut().enumerate() {
            let sum = found.iter().try_fold(0u64, |sum, (_, rows)| sum.checked_add(*rows))?;
            let rest = needs.rows[stratum].checked_sub(sum)?;
            if rest > 0 {
                found.push((needs.elsewhere(stratum)?, rest));
            }
        }
        let mut codes: Vec<Vec<u32>> = needs.kinds.iter().map(|_| vec![0; table.rows]).collect();
        let mut next = vec![(0usize, 0u64, Vec::new()); needs.rows.len()];
        for (class, rows) in self.starts.windows(2).enumerate() {
            let Some(stratum) = needs.stratum_of_class[class].map(|stratum| stratum as usize) else { continue };
            for row in rows[0]..rows[1] {
                let (place, left, of_row) = &mut next[stratum];
                while *left == 0 {
                    let (combination, rows) = *by_stratum[stratum].get(*place)?;
                    (*place, *left, *of_row) = (*place + 1, rows, codes_of(&needs.kinds, combination));
                }
                *left -= 1;
                codes.iter_mut().zip(of_row.iter()).for_each(|(codes, code)| codes[row] = *code);
            }
        }
        let mut table = table.clone();
        for (kinds, codes) in needs.kinds.iter().zip(codes) {
            let Column { domain, codes: of_column, .. } = &mut table.columns[self.protected[kinds.attribute]];
            *of_column = Codes::from_iter(domain.cardinality(), codes);
        }
        let (quasi, sensitive, codebook) = (quasi.clone(), sensitive.clone(), self.release.codebook().clone());
        let mut release = Release::of_table(self.release.name(), table, quasi, sensitive, codebook).ok()?;
        if let Some(manifest) = self.release.manifest() {
            release.set_manifest(manifest.clone());
        }
        Some(release)
    }
}

impl Needs {
    /// Whether class sizes alone answer the question.
    pub fn nothing(&self) -> bool {
        self.kinds.is_empty() || self.rows.is_empty() || self.cells() == Some(0)
    }

    /// How many cells there are; `None` where they are too many to be counted.
    pub fn cells(&self) -> Option<usize> {
        match &self.cells {
            CountedCells::Counted { count, .. } => Some(*count),
            CountedCells::Many => None,
        }
    }

    /// How many rows all hands together have that the question looks at.
    pub fn rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// The place of a row: its stratum and combination of kinds. `None` where the question does
    /// not look at it.
    pub fn place(&self, class: usize, codes: impl Fn(usize) -> u32) -> Option<(usize, usize)> {
        let stratum = (*self.stratum_of_class.get(class)?)? as usize;
        let combination = self.kinds.iter().try_fold(0usize, |all, kinds| {
            let kind = *kinds.of_code.get(codes(kinds.attribute) as usize)? as usize;
            all.checked_mul(kinds.codes.len())?.checked_add(kind)
        })?;
        Some((stratum, combination))
    }

    /// The cell of a place, where it is counted.
    pub fn cell(&self, (stratum, combination): (usize, usize)) -> Option<usize> {
        match &self.cells {
            CountedCells::Counted { number, .. } => {
                let at = stratum.checked_mul(self.combinations()?)?.checked_add(combination)?;
                (*number.get(at)?).map(|number| number as usize)
            }
            CountedCells::Many => None,
        }
    }

    /// From counts by cell to rows by place.
    pub fn places(&self, counts: &[(usize, u64)]) -> Option<Vec<(usize, usize, u64)>> {
        let (CountedCells::Counted { number, .. }, combinations) = (&self.cells, self.combinations()?) else {
            return None;
        };
        let numbered = number.iter().enumerate().filter(|(_, number)| number.is_some());
        let places: Vec<(usize, usize)> = numbered.map(|(at, _)| (at / combinations, at % combinations)).collect();
        let rows = |&(cell, rows): &(usize, u64)| places.get(cell).map(|(stratum, kinds)| (*stratum, *kinds, rows));
        counts.iter().map(rows).collect()
    }

    /// Whether a place is one that a row can have.
    pub fn has(&self, (stratum, combination): (usize, usize)) -> bool {
        stratum < self.rows.len() && self.combinations().is_some_and(|all| combination < all)
    }

    /// Everything that decides what a count means, the same for all hands or they count different
    /// things.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut number = |number: u64| bytes.extend(number.to_le_bytes());
        number(self.stratum_of_class.len() as u64);
        self.stratum_of_class.iter().for_each(|stratum| number(stratum.map_or(0, |stratum| u64::from(stratum) + 1)));
        number(self.rows.len() as u64);
        self.rows.iter().for_each(|rows| number(*rows));
        number(self.kinds.len() as u64);
        for ValueKinds { attribute, of_code, .. } in &self.kinds {
            number(*attribute as u64);
            number(of_code.len() as u64);
            of_code.iter().for_each(|kind| number(u64::from(*kind)));
        }
        match &self.cells {
            CountedCells::Counted { number: cells, count } => {
                number(*count as u64);
                cells.iter().for_each(|cell| number(cell.map_or(0, |cell| u64::from(cell) + 1)));
            }
            CountedCells::Many => number(u64::MAX),
        }
        bytes
    }

    fn combinations(&self) -> Option<usize> {
        self.kinds.iter().try_fold(1usize, |all, kinds| all.checked_mul(kinds.codes.len()))
    }

    /// Some combination that is not counted in a stratum: there the condition cannot hold.
    fn elsewhere(&self, stratum: usize) -> Option<usize> {
        let CountedCells::Counted { .. } = self.cells else { return None };
        (0..self.combinations()?).find(|combination| self.cell((stratum, *combination)).is_none())
    }
}

/// One code for each attribute of a combination.
fn codes_of(kinds: &[ValueKinds], combination: usize) -> Vec<u32> {
    let mut rest = combination;
    let mut codes = vec![0; kinds.len()];
    for (code, kinds) in codes.iter_mut().zip(kinds).rev() {
        *code = kinds.codes[rest % kinds.codes.len()];
        rest /= kinds.codes.len();
    }
    codes
}

fn column_of(what: &Shown) -> Option<usize> {
    match what {
        Shown::Column(column) => Some(*column),
        Shown::Calculated(_) => None,
    }
}

/// The columns and predicates of a question.
struct Looked<'a> {
    columns: &'a Columns<'a>,
    plan: &'a Plan,
    /// Columns whose labels are shown row by row.
    shown: &'a [usize],
}

impl Looked<'_> {
    /// From codes of a column to what the question distinguishes; `None` when it does not look at
    /// the column.
    fn kinds(&self, column: usize) -> Option<Vec<u32>> {
        let cardinality = self.columns.all[column].column.domain.cardinality();
        if self.shown.contains(&column) {
            return Some((0..cardinality as u32).collect());
        }
        let place = self.plan.place[column]?;
        Some(self.plan.used[place].kind_of.clone())
    }
}

/// Whether the condition can hold for rows of a class.
struct Judge<'a> {
    outline: &'a Outline,
    looked: &'a Looked<'a>,
    /// By column, its place among the protected ones that are looked at.
    given: Vec<Option<usize>>,
    buffer: Vec<ConditionTruth>,
}

impl Judge<'_> {
    /// For rows with these protected codes, one for each attribute that is looked at; or with any.
    fn possible(&mut self, class: usize, codes: Option<&[u32]>) -> bool {
        let Judge { outline, looked, given, buffer } = self;
        let (first, plan) = (outline.starts[class], looked.plan);
        let cell = |column: usize| -> &[Portion] {
            let used = &plan.used[plan.place[column].unwrap_or_default()];
            let code = match (given[column], codes) {
                (Some(_), None) => return used.anything.as_slice(),
                (Some(place), Some(codes)) => codes[place],
                (None, _) => looked.columns.all[column].column.codes.get(first),
            };
            used.cells[used.kind_of[code as usize] as usize].as_slice()
        };
        plan.diagram.judge(cell, buffer).possible
    }
}
