//! From a SELECT to a [`Query`] of one release, or to a refusal that names what is not understood.

use hedgerow_table::InputError;

use super::aggregate::Aggregates;
use super::calculation::{Calculation, Having};
use super::columns::{Columns, column_of, hyphen, plain};
use super::comparison::Reader;
use super::condition::{Condition, Where};
use super::division::NumberType;
use super::refusal::{refuse, shortened};
use super::tree::{Expression, Item, Limit, Select};

/// One SELECT, bound to the columns of a release.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) outputs: Vec<Output>,
    /// Columns that are grouped by.
    pub(crate) groups: Vec<usize>,
    /// The aggregates, for outputs and for HAVING.
    pub(crate) aggregates: Aggregates,
    /// The condition of WHERE, and the predicates of CASE besides.
    pub(crate) condition: Where,
    pub(crate) having: Option<Having>,
    /// Outputs to sort by, each descending or not.
    pub(crate) order: Vec<(usize, bool)>,
    pub(crate) limit: Option<usize>,
    /// Warnings about what is probably not meant.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) what: Shown,
}

/// The content of an output column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    Column(usize),
    /// A number for each group.
    Calculated(Calculation),
}

impl Query {
    /// Whether it selects rows, and not aggregates over them.
    pub(crate) fn is_rows(&self) -> bool {
        self.groups.is_empty() && self.outputs.iter().all(|output| matches!(output.what, Shown::Column(_)))
    }
}

pub(crate) fn read(select: &Select, columns: &Columns<'_>) -> Result<Query, InputError> {
    read_with(select, columns, true)
}

/// Reads a query for the columns of its answer alone: values in WHERE need not be known yet.
pub(crate) fn read_outputs(select: &Select, columns: &Columns<'_>) -> Result<Query, InputError> {
    read_with(select, columns, false)
}

fn read_with(select: &Select, columns: &Columns<'_>, with_condition: bool) -> Result<Query, InputError> {
    let groups = groups(&select.groups, columns)?;
    let mut reader = Reader::new(columns);
    let condition = match &select.condition {
        Some(expression) if with_condition => reader.condition(expression, false)?,
        _ => Condition::True,
    };
    let mut aggregates = Aggregates::default();
    let outputs = outputs(&select.items, &groups, columns, &mut aggregates, &mut reader)?;
    let having = match &select.having {
        Some(expression) => {
            if groups.is_empty() && !outputs.iter().any(|output| matches!(output.what, Shown::Calculated(_))) {
                return refuse("HAVING without groups", "use WHERE, or add GROUP BY and an aggregate");
            }
            Some(Having::read(expression, false, &mut |call| called(call, columns, &mut aggregates, &mut reader))?)
        }
        None => None,
    };
    let order = order_of(&select.order, &outputs, columns, &mut aggregates, &mut reader)?;
    let limit = match select.limit {
        Limit::All => None,
        Limit::Rows(rows) => Some(rows),
        Limit::Parameter(_) => return refuse("a parameter without a value", "write LIMIT 10"),
    };
    let (predicates, notes) = (reader.predicates, reader.notes);
    let condition = Where { condition, predicates };
    Ok(Query { outputs, groups, aggregates, condition, having, order, limit, notes })
}

/// The place of the aggregate that a call names, and its type.
fn called(
    expression: &Expression,
    columns: &Columns<'_>,
    aggregates: &mut Aggregates,
    reader: &mut Reader<'_, '_>,
) -> Result<(usize, NumberType), InputError> {
    match expression {
        Expression::Call(call) => {
            let (place, _) = aggregates.add(call, columns, reader)?;
            Ok((place, aggregates.number(place, columns)))
        }
        other => refuse(format!("{} stands where an aggregate is expected", other.kind()), "write COUNT(*)"),
    }
}

fn groups(expressions: &[Expression], columns: &Columns<'_>) -> Result<Vec<usize>, InputError> {
    let mut groups = Vec::new();
    for expression in expressions {
        let Some(column) = column_of(expression, columns)? else {
            let problem = match expression {
                Expression::Call(call) if ["ROLLUP", "CUBE"].contains(&call.name.as_str()) => "ROLLUP or CUBE",
                other => other.kind(),
            };
            return refuse(format!("GROUP BY {problem} is not answered"), "name columns after GROUP BY");
        };
        if !groups.contains(&column) {
            groups.push(column);
        }
    }
    Ok(groups)
}

fn outputs(
    items: &[Item],
    groups: &[usize],
    columns: &Columns<'_>,
    aggregates: &mut Aggregates,
    reader: &mut Reader<'_, '_>,
) -> Result<Vec<Output>, InputError> {
    let mut outputs = Vec::new();
    for item in items {
        let Item::One { expression, alias } = item else {
            let all = columns.names().enumerate();
            outputs.extend(all.map(|(at, name)| Output { name: name.to_owned(), what: Shown::Column(at) }));
            continue;
        };
        let (what, name) = match expression {
            Expression::Call(call) => {
                let (place, name) = aggregates.add(call, columns, reader)?;
                (Shown::Calculated(Calculation::Aggregate(place, aggregates.number(place, columns))), name)
            }
            other if Calculation::contains_aggregate(other) => {
                let calculated = Calculation::read(other, &mut |call| called(call, columns, aggregates, reader))?;
                (Shown::Calculated(calculated), shortened(&other.shown()))
            }
            other => match column_of(other, columns)? {
                Some(column) => (Shown::Column(column), columns.all[column].column.name.clone()),
                None => {
                    let hint = hyphen(other, columns).unwrap_or_else(|| {
                        "name columns, COUNT(*), SUM(column) or AVG(column); calculate within and over aggregates"
                            .to_owned()
                    });
                    return refuse(format!("{} after SELECT is not answered", other.kind()), hint);
                }
            },
        };
        outputs.push(Output { name: alias.clone().unwrap_or(name), what });
    }
    let aggregated = outputs.iter().any(|output| !matches!(output.what, Shown::Column(_)));
    if !aggregated && groups.is_empty() {
        return Ok(outputs);
    }
    for output in &outputs {
        if let Shown::Column(column) = output.what
            && !groups.contains(&column)
        {
            let name = &columns.all[column].column.name;
            return refuse(
                format!("`{name}` is selected together with groups without being one"),
                format!("add GROUP BY {}, or omit it", if plain(name) { name.clone() } else { format!("\"{name}\"") }),
            );
        }
    }
    Ok(outputs)
}

fn order_of(
    order: &[(Expression, bool)],
    outputs: &[Output],
    columns: &Columns<'_>,
    aggregates: &mut Aggregates,
    reader: &mut Reader<'_, '_>,
) -> Result<Vec<(usize, bool)>, InputError> {
    let hint = "sort by the name of an output column, or by its position: ORDER BY 2 DESC";
    let mut sorted = Vec::new();
    for (expression, descending) in order {
        let named = |name: &str| outputs.iter().position(|output| output.name.to_lowercase() == name.to_lowercase());
        let place = match expression {
            Expression::Number(text) => {
                text.parse::<usize>().ok().filter(|place| (1..=outputs.len()).contains(place)).map(|place| place - 1)
            }
            Expression::Name { name, .. } => named(name),
            other if Calculation::contains_aggregate(other) => {
                let wanted = Calculation::read(other, &mut |call| called(call, columns, aggregates, reader))?;
                outputs.iter().position(|output| output.what == Shown::Calculated(wanted.clone()))
            }
            _ => None,
        };
        let Some(place) = place else {
            return refuse("ORDER BY names something that is not in the answer", hint);
        };
        sorted.push((place, *descending));
    }
    Ok(sorted)
}
