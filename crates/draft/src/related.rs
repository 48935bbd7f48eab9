//! Quasi-identifiers of which one determines another, such as county and region: both labels of a
//! row together cover fewer counties than the label of the county says, or fewer regions than that
//! of the region. Rules count both labels, so that the guarantees hold; readers of one label alone
//! should know what the other adds.

use hashbrown::{HashMap, HashSet};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::{ClassSizes, RelatedAttributes};
use hedgerow_table::dependencies::holds_beyond_chance;
use hedgerow_table::hierarchy::Bound as End;
use hedgerow_table::{Column, Cover, InputError};

use crate::bind::Bound;
use crate::draft::{Draft, DraftContent, DraftTable};
use crate::rows::ReleasedColumn;

/// Warnings about related quasi-identifiers whose labels narrow each other, with the rows in which
/// they do. Empty where equal rows may be in several classes that cannot be distinguished here, and
/// where rows do not show their attributes beside one another.
pub fn warnings(bound: &Bound<'_>, draft: &Draft<'_>) -> Vec<InputError> {
    if draft.recoded.is_some() {
        return Vec::new();
    }
    let Some(DraftContent::Columns { columns, kept }) = draft.tables.first().map(|table| &table.content) else {
        return Vec::new();
    };
    let released = |name: &str| columns.iter().find(|column| column.name == name);
    let mut warnings = Vec::new();
    for fine in &bound.quasi {
        for coarse in bound.quasi.iter().filter(|coarse| coarse.attribute.name != fine.attribute.name) {
            let (Some(own), Some(other)) = (released(&fine.attribute.name), released(&coarse.attribute.name)) else {
                continue;
            };
            let Some(above) = determined(fine.column, coarse.column, bound.rows()) else { continue };
            let pair = RelatedPair {
                fine: LabeledCells::new(fine.column, own, &draft.codebook).observed(fine.column, kept.as_deref()),
                coarse: LabeledCells::new(coarse.column, other, &draft.codebook)
                    .observed(coarse.column, kept.as_deref()),
                above,
            };
            let names = [fine.attribute.name.as_str(), coarse.attribute.name.as_str()];
            let rows = pair.rows(kept.as_deref(), bound.row_counts());
            for (narrowed, side) in names.into_iter().zip([NarrowedSide::Fine, NarrowedSide::Coarse]) {
                let column = if side == NarrowedSide::Fine { fine.column } else { coarse.column };
                warnings.extend(warning(bound, names, narrowed, &pair.narrowed(column, &rows, side)));
            }
        }
    }
    warnings
}

/// Quasi-identifiers of which one follows from another one among the released rows, and those that
/// the policy says follow. Rows that were suppressed are not looked at. Where equal rows are held
/// once, each counts as often as it occurs, so that the answer is the same wherever the rows are.
/// The classes that their labels give together are counted where the release is written.
pub fn stated(bound: &Bound<'_>, draft: &Draft<'_>) -> Vec<RelatedAttributes> {
    let [DraftTable { name: "data", folder: None, content: DraftContent::Columns { kept, .. }, .. }] =
        &draft.tables[..]
    else {
        return Vec::new();
    };
    let related =
        |from: Vec<String>, to: &str| RelatedAttributes { from, to: to.to_owned(), classes: ClassSizes::of([]) };
    let is_quasi = |name: &String| bound.quasi.iter().any(|quasi| quasi.attribute.name == *name);
    let declared = bound.policy.dependencies.iter();
    let declared = declared.filter(|declared| declared.from.iter().chain([&declared.to]).all(is_quasi));
    let mut stated: Vec<RelatedAttributes> = Vec::new();
    for declared in declared.map(|declared| related(declared.from.clone(), &declared.to)) {
        if !stated.contains(&declared) {
            stated.push(declared);
        }
    }
    let rows = KeptRows::of(bound, kept.as_deref());
    let tests = bound.quasi.len() * bound.quasi.len().saturating_sub(1);
    for fine in &bound.quasi {
        for coarse in bound.quasi.iter().filter(|coarse| coarse.attribute.name != fine.attribute.name) {
            let (from, to) = (&fine.attribute.name, &coarse.attribute.name);
            let is_stated = stated.iter().any(|stated| stated.from == [from.clone()] && stated.to == *to);
            if !is_stated && rows.determine(fine.column, coarse.column, tests) {
                stated.push(related(vec![from.clone()], to));
            }
        }
    }
    stated
}

/// The released rows of the table that is searched.
struct KeptRows {
    rows: Vec<usize>,
    /// As many: how many rows of evidence each is. The rows of one unit agree on much that does not
    /// follow, so that one of each counts.
    counted: Vec<u64>,
}

impl KeptRows {
    fn of(bound: &Bound<'_>, kept: Option<&[bool]>) -> KeptRows {
        let rows: Vec<usize> = (0..bound.table.rows).filter(|&row| kept.is_none_or(|kept| kept[row])).collect();
        let counted = match (bound.units(), bound.row_counts()) {
            (Some(units), _) => {
                let mut seen = vec![false; units.count];
                let mut is_first = |row: &usize| !std::mem::replace(&mut seen[units.of_row[*row] as usize], true);
                rows.iter().map(|row| u64::from(is_first(row))).collect()
            }
            (None, Some(counts)) => rows.iter().map(|&row| u64::from(counts[row])).collect(),
            (None, None) => vec![1; rows.len()],
        };
        KeptRows { rows, counted }
    }

    /// Whether these rows show that the one column determines the other, which joins some of its
    /// values: more than chance alone would, among all pairs of columns.
    fn determine(&self, fine: &Column, coarse: &Column, tests: usize) -> bool {
        let mut above = vec![None; fine.domain.cardinality()];
        let (mut occurs, mut rows_of) = (vec![false; above.len()], vec![0u64; coarse.domain.cardinality()]);
        for (&row, &counted) in self.rows.iter().zip(&self.counted) {
            let (from, to) = (fine.codes.get(row) as usize, coarse.codes.get(row));
            if *above[from].get_or_insert(to) != to {
                return false;
            }
            occurs[from] |= counted > 0;
            rows_of[to as usize] += counted;
        }
        let values = occurs.iter().filter(|occurs| **occurs).count() as u64;
        let joined = rows_of.iter().filter(|&&rows| rows > 0).count() as u64;
        let (rows, most) = (rows_of.iter().sum::<u64>(), rows_of.iter().copied().max().unwrap_or(0));
        joined * 2 <= values && holds_beyond_chance(rows, values, most, tests)
    }
}

/// By code of the one column, the code of the other that always goes with it; `None` where it does
/// not, or the one hardly repeats, or the other does not join anything.
fn determined(fine: &Column, coarse: &Column, rows: u64) -> Option<Vec<Option<u32>>> {
    if coarse.domain.present() < 2
        || coarse.domain.present() * 2 > fine.domain.present()
        || fine.domain.present() as u64 * 4 > rows
    {
        return None;
    }
    let mut above: Vec<Option<u32>> = vec![None; fine.domain.cardinality()];
    let mut pairs = fine.codes.iter().zip(coarse.codes.iter());
    pairs.all(|(fine, coarse)| *above[fine as usize].get_or_insert(coarse) == coarse).then_some(above)
}

/// A column as it is released: the label of every row, and the codes that each label covers.
#[derive(Debug)]
pub struct LabeledCells<'a> {
    released: &'a ReleasedColumn<'a>,
    /// By code of the released column.
    label: Vec<u32>,
    texts: Vec<String>,
    pub covered: Vec<HashSet<u32>>,
}

impl<'a> LabeledCells<'a> {
    pub fn new(column: &Column, released: &'a ReleasedColumn<'a>, codebook: &Codebook) -> LabeledCells<'a> {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut texts: Vec<String> = Vec::new();
        let mut label = Vec::with_capacity(released.values());
        for code in 0..released.values() {
            let text = released.text(code).into_owned();
            label.push(*numbers.entry(text.clone()).or_insert_with(|| {
                texts.push(text);
                texts.len() as u32 - 1
            }));
        }
        let codes = column.domain.cardinality() as u32;
        let code_of: HashMap<String, u32> = (0..codes).map(|code| (column.domain.text(code), code)).collect();
        let missing = column.domain.missing_code();
        let numbers: Vec<Option<End>> = (0..codes).map(|code| End::parse(&column.domain.text(code))).collect();
        let present = |code: &u32| Some(*code) != missing;
        let with_number = |holds: &dyn Fn(End) -> bool| -> HashSet<u32> {
            (0..codes).filter(present).filter(|&code| numbers[code as usize].is_some_and(holds)).collect()
        };
        let covered = texts.iter().map(|text| match codebook.cover(released.name, text) {
            Some(Cover::Everything) => (0..codes).collect(),
            Some(Cover::Missing) => missing.into_iter().collect(),
            Some(Cover::Leaves(leaves)) => {
                leaves.iter().filter_map(|leaf| code_of.get(leaf).copied()).filter(present).collect()
            }
            Some(Cover::Point(point)) => with_number(&|number| number == *point),
            Some(Cover::Interval { low, high }) => {
                with_number(&|number| low.is_none_or(|low| low <= number) && high.is_none_or(|high| number < high))
            }
            // Without an entry a label is a value.
            None => code_of.get(text).copied().into_iter().collect(),
        });
        LabeledCells { released, label, covered: covered.collect(), texts }
    }

    /// The codebook does not list the values under a mask: those of its rows take their place.
    fn observed(mut self, column: &Column, kept: Option<&[bool]>) -> LabeledCells<'a> {
        let unlisted: Vec<bool> = self.covered.iter().map(HashSet::is_empty).collect();
        for row in (0..column.codes.len()).filter(|&row| kept.is_none_or(|kept| kept[row])) {
            let label = self.of_row(row);
            if unlisted[label] {
                self.covered[label].insert(column.codes.get(row));
            }
        }
        self
    }

    pub fn of_row(&self, row: usize) -> usize {
        self.label[self.released.codes.get(row) as usize] as usize
    }
}

struct RelatedPair<'a> {
    fine: LabeledCells<'a>,
    coarse: LabeledCells<'a>,
    above: Vec<Option<u32>>,
}

/// Which of both attributes is left fewer values: a county by its region, or the region of a county
/// that is released as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NarrowedSide {
    Fine,
    Coarse,
}

/// Two labels that together leave fewer values than an attribute's own label.
struct Narrowed {
    rows: u64,
    fine: String,
    coarse: String,
    /// The values that both labels cover, and how many the one covers.
    left: Vec<String>,
    of: usize,
}

/// Pairs of labels that a warning names, and values of each.
const NAMED_MAX: usize = 3;

impl RelatedPair<'_> {
    /// The rows with each pair of labels. `counts` has how often each occurs, where not once.
    fn rows(&self, kept: Option<&[bool]>, counts: Option<&[u32]>) -> HashMap<(usize, usize), u64> {
        let mut rows: HashMap<(usize, usize), u64> = HashMap::new();
        for row in (0..self.fine.released.codes.len()).filter(|&row| kept.is_none_or(|kept| kept[row])) {
            let labels = (self.fine.of_row(row), self.coarse.of_row(row));
            *rows.entry(labels).or_insert(0) += counts.map_or(1, |counts| u64::from(counts[row]));
        }
        rows
    }

    /// The values that the cells of both attributes really give, where these are fewer than the one
    /// says; the most rows first.
    fn narrowed(&self, column: &Column, rows: &HashMap<(usize, usize), u64>, side: NarrowedSide) -> Vec<Narrowed> {
        let occurs: HashSet<u32> = self.above.iter().flatten().copied().collect();
        let mut found: Vec<Narrowed> = Vec::new();
        for (&(fine, coarse), &rows) in rows {
            let above = self.fine.covered[fine].iter().filter_map(|&code| Some((code, self.above[code as usize]?)));
            let both = above.clone().filter(|(_, above)| self.coarse.covered[coarse].contains(above));
            let (of, left): (usize, HashSet<u32>) = match side {
                NarrowedSide::Fine => (above.count(), both.map(|(code, _)| code).collect()),
                NarrowedSide::Coarse => {
                    let own = self.coarse.covered[coarse].iter().filter(|&code| occurs.contains(code));
                    (own.count(), both.map(|(_, above)| above).collect())
                }
            };
            let mut left: Vec<u32> = left.into_iter().collect();
            if left.is_empty() || left.len() >= of {
                continue;
            }
            left.sort_unstable();
            let left = left.into_iter().map(|code| column.domain.text(code)).collect();
            let (fine, coarse) = (self.fine.texts[fine].clone(), self.coarse.texts[coarse].clone());
            found.push(Narrowed { rows, fine, coarse, left, of });
        }
        found.sort_by(|a, b| b.rows.cmp(&a.rows).then_with(|| (&a.fine, &a.coarse).cmp(&(&b.fine, &b.coarse))));
        found
    }
}

fn warning(bound: &Bound<'_>, names: [&str; 2], narrowed: &str, found: &[Narrowed]) -> Option<InputError> {
    let [fine, coarse] = names;
    let rows: u64 = found.iter().map(|found| found.rows).sum();
    if rows == 0 {
        return None;
    }
    let such = found.iter().take(NAMED_MAX).map(|Narrowed { rows, fine, coarse, left, of }| {
        let some = &left[..left.len().min(NAMED_MAX)];
        let more = if left.len() > some.len() { " …" } else { "" };
        format!("`{fine}` with `{coarse}` is {}{more}: {} of {of} values, in {rows} rows", some.join(", "), left.len())
    });
    let such: Vec<String> = such.collect();
    let others = match found.len().saturating_sub(such.len()) {
        0 => String::new(),
        others => format!("; and {others} other pairs of labels"),
    };
    let problem = format!(
        "`{coarse}` follows from `{fine}`, and both are released: in {rows} rows both labels together leave fewer values of \
         `{narrowed}` than its own label ({}{others}); the classes agree on both",
        such.join("; ")
    );
    let hint = format!(
        "nothing is exposed by it: rules count both. To show one place only, release `{coarse}` as a level of the \
         hierarchy of `{fine}` and give it the role `identifier`"
    );
    let place = bound.policy.attribute(fine).map_or_else(String::new, |attribute| attribute.place.clone());
    Some(InputError::new(place, problem, hint).about("related", names, Some(rows)))
}
