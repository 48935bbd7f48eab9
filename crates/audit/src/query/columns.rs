//! The columns of a release by name, each with what its labels cover.

use hedgerow_release::Codebook;
use hedgerow_table::spelling::nearest;
use hedgerow_table::{Column, InputError, TableError};

use super::refusal::shortened;
use super::tree::Expression;
use super::view::QueryView;
use crate::estimate::axis::{EstimateAxis, Under};
use crate::estimate::declared::Declared;

#[derive(Debug)]
pub(crate) struct QueryColumn<'a> {
    pub(crate) column: &'a Column,
    pub(crate) axis: EstimateAxis,
    /// Each label's place in the order in which groups are shown: along the axis, as in the
    /// codebook.
    pub(crate) rank: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Columns<'a> {
    pub(crate) all: Vec<QueryColumn<'a>>,
}

impl QueryColumn<'_> {
    /// Whether a label says of every value whether it lies under it. Where a codebook lists the
    /// leaves of a label, it leaves out those that only suppressed rows have.
    pub(crate) fn names_all_values(&self, code: u32) -> bool {
        let only = |text: &str| *text == self.column.domain.text(code);
        match self.axis.under.get(code as usize) {
            Some(Under::Texts(texts, false)) => matches!(texts[..], [text] if only(&self.axis.texts[text as usize])),
            Some(Under::Numbers(numbers, false)) => matches!(&numbers[..], [number] if only(&number.to_string())),
            Some(Under::Texts(..) | Under::Numbers(..)) => false,
            _ => true,
        }
    }
}

impl<'a> Columns<'a> {
    /// The columns of a view. Quasi-identifiers of a cloned release come from its micro-statistics.
    pub(crate) fn bind(view: &'a QueryView<'_>) -> Result<Columns<'a>, TableError> {
        let codebook = &view.codebook;
        let bind = |(column, stated): (&'a Column, Declared)| {
            let place = view
                .statistics
                .and_then(|read| Some((read, read.attributes.iter().position(|name| *name == column.name)?)));
            let axis = match place {
                Some((read, attribute)) => EstimateAxis::of_statistics(read, attribute, read.sub_classes()),
                None => EstimateAxis::bind(column, codebook, stated, None)?,
            };
            Ok(QueryColumn { axis, rank: rank(column, codebook), column })
        };
        Ok(Columns { all: view.columns().into_iter().map(bind).collect::<Result<_, TableError>>()? })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.all.iter().map(|named| named.column.name.as_str())
    }

    /// As SQL does it: a quoted name is meant exactly, another one whatever its case.
    pub(crate) fn find(&self, name: &str, quoted: bool) -> Result<usize, InputError> {
        if let Some(found) = self.names().position(|known| known == name) {
            return Ok(found);
        }
        let alike: Vec<usize> =
            (0..self.all.len()).filter(|&at| self.all[at].column.name.to_lowercase() == name.to_lowercase()).collect();
        if let ([only], false) = (alike.as_slice(), quoted) {
            return Ok(*only);
        }
        let hint = match nearest(name, self.names()) {
            Some(near) if plain(near) => format!("did you mean `{near}`? the columns are {}", self.listed()),
            Some(near) => format!("did you mean \"{near}\", in double quotes? the columns are {}", self.listed()),
            None => format!("the columns are {}", self.listed()),
        };
        Err(InputError::new("SQL", format!("the release has no column `{}`", shortened(name)), hint))
    }

    pub(crate) fn listed(&self) -> String {
        self.names()
            .map(|name| if plain(name) { name.to_owned() } else { format!("\"{name}\"") })
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Whether a name needs no quotes in SQL.
pub(crate) fn plain(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_')
}

/// The column that an expression names, if it is nothing but a name.
pub(crate) fn column_of(expression: &Expression, columns: &Columns<'_>) -> Result<Option<usize>, InputError> {
    match expression {
        Expression::Nested(inner) => column_of(inner, columns),
        Expression::Name { name, quoted } => columns.find(name, *quoted).map(Some),
        _ => Ok(None),
    }
}

/// A name with a hyphen reads as a subtraction: the hint says to quote it.
pub(crate) fn hyphen(expression: &Expression, columns: &Columns<'_>) -> Option<String> {
    let Expression::Combined { parts, operators } = expression else { return None };
    if operators.iter().any(|operator| *operator != "-") {
        return None;
    }
    let words = parts.iter().map(|part| match part {
        Expression::Name { name, .. } => Some(name.to_lowercase()),
        Expression::Number(text) => Some(text.clone()),
        _ => None,
    });
    let whole = words.collect::<Option<Vec<String>>>()?.join("-");
    let found = columns.names().find(|name| name.to_lowercase() == whole)?;
    Some(format!("if the column `{found}` is meant, write it in double quotes: \"{found}\""))
}

fn rank(column: &Column, codebook: &Codebook) -> Vec<u32> {
    let mut rank: Vec<u32> = (0..column.domain.cardinality() as u32).collect();
    for (place, (label, _)) in (0..).zip(codebook.labels(&column.name)) {
        let code = if label.is_empty() { column.domain.missing_code() } else { column.domain.code_of(label) };
        if let Some(code) = code {
            rank[code as usize] = place;
        }
    }
    rank
}
