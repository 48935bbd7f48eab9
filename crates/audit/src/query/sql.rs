//! From a line of SQL to a [`Query`], or to a refusal that names what is not understood.

use hedgerow_table::InputError;
use hedgerow_table::spelling::nearest;

use super::columns::{Columns, column_of, hyphen, plain};
use super::comparison::Reader;
use super::condition::{Condition, Where};
use super::refusal::{refuse, shortened};
use super::syntax::parse;
use super::tree::{Argument, Call, Expression, Item};

/// The longest SQL that is read, in bytes.
pub const SQL_MAX: usize = 16 << 10;

/// One SELECT, bound to the columns of a release.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) outputs: Vec<Output>,
    /// Columns that are grouped by.
    pub(crate) groups: Vec<usize>,
    pub(crate) condition: Where,
    /// Outputs to sort by, each descending or not.
    pub(crate) order: Vec<(usize, bool)>,
    pub(crate) limit: Option<usize>,
    /// Warnings about what is probably not meant.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Column(usize),
    /// `COUNT(*)`.
    Count,
    /// `COUNT(column)`: not missing.
    CountOf(usize),
    Sum(usize),
    Mean(usize),
}

impl Query {
    /// Whether it selects rows, and not aggregates over them.
    pub(crate) fn is_rows(&self) -> bool {
        self.groups.is_empty() && self.outputs.iter().all(|output| matches!(output.what, What::Column(_)))
    }
}

pub(crate) fn read(sql: &str, columns: &Columns<'_>) -> Result<Query, InputError> {
    read_with(sql, columns, true)
}

/// Reads a query for the columns of its answer alone: values in WHERE need not be known yet.
pub(crate) fn read_outputs(sql: &str, columns: &Columns<'_>) -> Result<Query, InputError> {
    read_with(sql, columns, false)
}

fn read_with(sql: &str, columns: &Columns<'_>, with_condition: bool) -> Result<Query, InputError> {
    if sql.len() > SQL_MAX {
        return refuse(format!("longer than {SQL_MAX} bytes"), "write a shorter query");
    }
    let select = parse(sql)?;
    let groups = groups(&select.groups, columns)?;
    let outputs = outputs(&select.items, &groups, columns)?;
    let mut reader = Reader::new(columns);
    let condition = match &select.condition {
        Some(expression) if with_condition => reader.condition(expression, false)?,
        _ => Condition::True,
    };
    let order = order_of(&select.order, &outputs, columns)?;
    let (predicates, notes) = (reader.predicates, reader.notes);
    Ok(Query { outputs, groups, condition: Where { condition, predicates }, order, limit: select.limit, notes })
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

fn outputs(items: &[Item], groups: &[usize], columns: &Columns<'_>) -> Result<Vec<Output>, InputError> {
    let mut outputs = Vec::new();
    for item in items {
        let Item::One { expression, alias } = item else {
            let all = columns.names().enumerate();
            outputs.extend(all.map(|(at, name)| Output { name: name.to_owned(), what: What::Column(at) }));
            continue;
        };
        let (what, name) = match expression {
            Expression::Call(call) => aggregate(call, columns)?,
            other => match column_of(other, columns)? {
                Some(column) => (What::Column(column), columns.all[column].column.name.clone()),
                None => {
                    let hint = hyphen(other, columns)
                        .unwrap_or_else(|| "name columns, COUNT(*), SUM(column) or AVG(column)".to_owned());
                    return refuse(format!("{} after SELECT is not answered", other.kind()), hint);
                }
            },
        };
        outputs.push(Output { name: alias.clone().unwrap_or(name), what });
    }
    let aggregates = outputs.iter().any(|output| !matches!(output.what, What::Column(_)));
    if !aggregates && groups.is_empty() {
        return Ok(outputs);
    }
    for output in &outputs {
        if let What::Column(column) = output.what
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

fn aggregate(call: &Call, columns: &Columns<'_>) -> Result<(What, String), InputError> {
    let Call { name, argument } = call;
    let hint = "COUNT, SUM and AVG are answered";
    match name.as_str() {
        "COUNT" | "SUM" | "AVG" => {}
        "MIN" | "MAX" => {
            let hint = "the least and the greatest value belong to individuals, whom a release hides; COUNT, SUM and AVG are answered";
            return refuse(format!("{name} is not answered"), hint);
        }
        _ => {
            let near = nearest(name, ["COUNT", "SUM", "AVG"].into_iter())
                .map_or(String::new(), |near| format!("did you mean {near}? "));
            return refuse(format!("the function {} is not answered", shortened(name)), format!("{near}{hint}"));
        }
    }
    let column = match argument {
        Argument::Everything if name == "COUNT" => return Ok((What::Count, "COUNT(*)".to_owned())),
        Argument::Everything => return refuse(format!("{name}(*) is not answered"), format!("write {name}(column)")),
        Argument::Other => return refuse(format!("{name} takes one column"), format!("write {name}(column)")),
        Argument::One(expression) => match column_of(expression, columns)? {
            Some(column) => column,
            None if name == "COUNT" && matches!(**expression, Expression::Number(_)) => {
                return Ok((What::Count, "COUNT(*)".to_owned()));
            }
            None => {
                let hint = hyphen(expression, columns)
                    .unwrap_or_else(|| "name a column; arithmetic is not answered".to_owned());
                return refuse(format!("{} in {name} is not answered", expression.kind()), hint);
            }
        },
    };
    let found = &columns.all[column];
    let title = format!("{name}({})", found.column.name);
    if name == "COUNT" {
        return Ok((What::CountOf(column), title));
    }
    if !found.axis.kind.is_number() {
        let problem = format!("{title} is not answered: `{}` holds no numbers", found.column.name);
        return refuse(problem, "count its values: COUNT(*) with GROUP BY");
    }
    Ok((if name == "SUM" { What::Sum(column) } else { What::Mean(column) }, title))
}

fn order_of(
    order: &[(Expression, bool)],
    outputs: &[Output],
    columns: &Columns<'_>,
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
            Expression::Call(call) => {
                let what = aggregate(call, columns)?.0;
                outputs.iter().position(|output| output.what == what)
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
