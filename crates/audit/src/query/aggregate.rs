//! The aggregates of a query: what is added up over the rows of a group.

use hedgerow_table::spelling::nearest;
use hedgerow_table::{InputError, Kind};

use super::amount::{self, Amount};
use super::columns::{Columns, column_of, hyphen};
use super::comparison::Reader;
use super::division::NumberType;
use super::expression::FUNCTIONS;
use super::refusal::{refuse, shortened};
use super::tree::{Argument, Call, Expression};

const ANSWERED: &str = "COUNT, SUM, AVG, MIN, MAX, MEDIAN, QUANTILE and STDDEV are answered";

/// The argument of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Column(usize),
    /// By its place among the amounts of the query.
    Amount(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// `COUNT(*)`.
    Count,
    /// `COUNT(column)`: not missing.
    CountOf(Of),
    /// `COUNT(DISTINCT column)`.
    Distinct(usize),
    Sum(Of),
    Mean(Of),
    Least(Of),
    Greatest(Of),
    /// With the share of rows below it, as the bits of a float.
    Quantile(Of, u64),
    /// Squared or not; of a sample or of all.
    Deviation {
        of: Of,
        squared: bool,
        sample: bool,
    },
}

impl What {
    pub(crate) fn of(self) -> Option<Of> {
        match self {
            What::Count => None,
            What::Distinct(column) => Some(Of::Column(column)),
            What::CountOf(of)
            | What::Sum(of)
            | What::Mean(of)
            | What::Least(of)
            | What::Greatest(of)
            | What::Quantile(of, _)
            | What::Deviation { of, .. } => Some(of),
        }
    }

    /// Whether it looks at rows one by one, and not at their sum.
    pub(crate) fn is_of_rows(self) -> bool {
        matches!(self, What::Mean(_) | What::Least(_) | What::Greatest(_) | What::Quantile(..) | What::Deviation { .. })
    }

    /// Whether it matters what the values are, and not only whether there are some.
    pub(crate) fn needs_values(self) -> bool {
        !matches!(self, What::Count | What::Distinct(_) | What::CountOf(Of::Column(_)))
    }

    pub(crate) fn is_count(self) -> bool {
        matches!(self, What::Count | What::CountOf(_) | What::Distinct(_))
    }
}

/// The aggregates of a query and what they are of, each once.
#[derive(Debug, Default)]
pub(crate) struct Aggregates {
    pub(crate) all: Vec<What>,
    pub(crate) amounts: Vec<Amount>,
}

impl Aggregates {
    /// The type of an aggregate by its place.
    pub(super) fn number(&self, place: usize, columns: &Columns<'_>) -> NumberType {
        let of_argument = |of: Of| match of {
            Of::Column(column) => NumberType::of(columns.all[column].axis.kind),
            Of::Amount(amount) => self.amounts[amount].number().unwrap_or(NumberType::Real),
        };
        match self.all[place] {
            What::Count | What::CountOf(_) | What::Distinct(_) => NumberType::Integer,
            What::Sum(of) | What::Least(of) | What::Greatest(of) => of_argument(of),
            What::Mean(_) | What::Quantile(..) | What::Deviation { .. } => NumberType::Real,
        }
    }

    /// The place of an aggregate, and its name as a heading.
    pub(super) fn add(
        &mut self,
        call: &Call,
        columns: &Columns<'_>,
        reader: &mut Reader<'_, '_>,
    ) -> Result<(usize, String), InputError> {
        let (what, name) = self.read(call, columns, reader)?;
        let place = self.all.iter().position(|known| *known == what).unwrap_or_else(|| {
            self.all.push(what);
            self.all.len() - 1
        });
        Ok((place, name))
    }

    fn read(
        &mut self,
        call: &Call,
        columns: &Columns<'_>,
        reader: &mut Reader<'_, '_>,
    ) -> Result<(What, String), InputError> {
        let Call { name, distinct, argument } = call;
        let name = name.as_str();
        if !FUNCTIONS.contains(&name) {
            let near =
                nearest(name, FUNCTIONS.into_iter()).map_or(String::new(), |near| format!("did you mean {near}? "));
            return refuse(format!("the function {} is not answered", shortened(name)), format!("{near}{ANSWERED}"));
        }
        let takes_share = ["QUANTILE", "QUANTILE_CONT", "PERCENTILE_CONT"].contains(&name);
        let (expression, share) = match argument {
            Argument::Everything if name == "COUNT" && !distinct => return Ok((What::Count, "COUNT(*)".to_owned())),
            Argument::Everything => {
                return refuse(format!("{name}(*) is not answered"), format!("write {name}(column)"));
            }
            Argument::WithShare(of, share) if takes_share => (of, share_of(share)?),
            _ if takes_share => {
                return refuse(format!("{name} takes a column and a share"), "write QUANTILE(column, 0.9)");
            }
            Argument::One(expression) => (expression, 0.5),
            Argument::WithShare(..) | Argument::Other => {
                return refuse(format!("{name} takes one column"), format!("write {name}(column)"));
            }
        };
        if name == "COUNT" && !distinct && matches!(**expression, Expression::Number(_)) {
            return Ok((What::Count, "COUNT(*)".to_owned()));
        }
        let title = |of: &str| {
            let of = if *distinct { format!("DISTINCT {of}") } else { of.to_owned() };
            if takes_share { format!("{name}({of}, {share})") } else { format!("{name}({of})") }
        };
        let column = column_of(expression, columns)?;
        if let (true, None) = (*distinct, column) {
            return refuse("COUNT(DISTINCT …) takes one column", "write COUNT(DISTINCT column)");
        }
        let (of, title) = match column {
            Some(column) => (Of::Column(column), title(&columns.all[column].column.name)),
            None => {
                if let Some(hint) = hyphen(expression, columns) {
                    return refuse(format!("{} in {name}", expression.kind()), hint);
                }
                let amount = amount::read(expression, columns, reader)?;
                let place = self.amounts.iter().position(|known| *known == amount).unwrap_or_else(|| {
                    self.amounts.push(amount);
                    self.amounts.len() - 1
                });
                (Of::Amount(place), title(&shortened(&expression.shown())))
            }
        };
        if let (Some(column), false) = (column, name == "COUNT") {
            refuse_unless_fit(name, column, columns)?;
        }
        let of_column = |of: Of| if let Of::Column(column) = of { column } else { 0 };
        let deviation = |squared: bool, sample: bool| What::Deviation { of, squared, sample };
        let what = match name {
            "COUNT" if *distinct => What::Distinct(of_column(of)),
            "COUNT" => What::CountOf(of),
            "SUM" => What::Sum(of),
            "AVG" => What::Mean(of),
            "MIN" => What::Least(of),
            "MAX" => What::Greatest(of),
            "STDDEV" | "STDDEV_SAMP" | "STDEV" => deviation(false, true),
            "STDDEV_POP" => deviation(false, false),
            "VARIANCE" | "VAR_SAMP" => deviation(true, true),
            "VAR_POP" => deviation(true, false),
            _ => What::Quantile(of, share.to_bits()),
        };
        Ok((what, title))
    }
}

/// Numbers have sums; dates have an order.
fn refuse_unless_fit(name: &str, column: usize, columns: &Columns<'_>) -> Result<(), InputError> {
    let found = &columns.all[column];
    let ordered = ["MIN", "MAX", "MEDIAN", "QUANTILE", "QUANTILE_CONT", "PERCENTILE_CONT"].contains(&name);
    if found.axis.kind.is_number() || (ordered && found.axis.kind == Kind::Date) {
        return Ok(());
    }
    let title = format!("{name}({})", found.column.name);
    let problem = format!("{title} is not answered: `{}` holds no numbers", found.column.name);
    refuse(problem, "count its values: COUNT(*) with GROUP BY")
}

fn share_of(expression: &Expression) -> Result<f64, InputError> {
    let share = match expression {
        Expression::Number(text) => amount::number(text)?,
        Expression::Nested(inner) => return share_of(inner),
        _ => f64::NAN,
    };
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    refuse("a quantile takes a share from 0 to 1", "write QUANTILE(column, 0.9)")
}
