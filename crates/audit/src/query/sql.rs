//! From a line of SQL to a [`Question`], or to a refusal that names what is not understood.
//!
//! `sqlparser` reads far more than a release can answer. Everything it reads that is not listed here is refused by name: an
//! answer that left out a clause in silence would be a wrong answer.

use hedgerow_table::InputError;
use sqlparser::ast::{
    Distinct, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr,
    LimitClause, ObjectNamePart, OrderBy, OrderByKind, OrderBySort, Query, Select, SelectItem, SetExpr, Statement,
    TableFactor, Value,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};

use super::columns::{Columns, nearest, plain, shortened};
use super::comparison::{Reader, expression_name};
use super::condition::{Condition, Where};

/// The longest SQL that is read, in bytes.
pub(crate) const SQL_MAX: usize = 16 << 10;

/// How deep SQL may nest.
const DEPTH_MAX: usize = 60;

/// Chains such as `a OR b OR …` are read without depth and come out as deep as they are long: the longest SQL allowed
/// makes some thousand links, and dropping them takes this much stack at most.
const STACK_BYTES: usize = 256 << 20;

/// What is asked.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) outputs: Vec<Output>,
    /// Columns that are grouped by.
    pub(crate) groups: Vec<usize>,
    pub(crate) asked: Where,
    /// Outputs to sort by, each descending or not.
    pub(crate) order: Vec<(usize, bool)>,
    pub(crate) limit: Option<usize>,
    /// What is probably not meant.
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

impl Question {
    /// Whether rows are asked for, and not numbers about them.
    pub(crate) fn is_rows(&self) -> bool {
        self.groups.is_empty() && self.outputs.iter().all(|output| matches!(output.what, What::Column(_)))
    }
}

pub(crate) fn refuse<T>(problem: impl Into<String>, hint: impl Into<String>) -> Result<T, InputError> {
    Err(InputError::new("SQL", problem, hint))
}

/// Reads SQL on a thread with stack enough for whatever fits the limit.
pub(crate) fn read(sql: &str, columns: &Columns<'_>) -> Result<Question, InputError> {
    if sql.len() > SQL_MAX {
        return refuse(format!("longer than {SQL_MAX} bytes"), "ask a shorter question");
    }
    let read = || read_here(sql, columns);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, read);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(read)) => read,
            _ => refuse("the text could not be read", "ask in simpler words"),
        }
    })
}

fn read_here(sql: &str, columns: &Columns<'_>) -> Result<Question, InputError> {
    let parser = Parser::new(&GenericDialect {}).with_recursion_limit(DEPTH_MAX);
    let statements =
        parser.try_with_sql(sql).and_then(|mut parser| parser.parse_statements()).map_err(|error| match error {
            ParserError::RecursionLimitExceeded => InputError::new("SQL", "nested too deeply", "use fewer parentheses"),
            ParserError::ParserError(problem) | ParserError::TokenizerError(problem) => {
                let hint = "a question looks like: SELECT COUNT(*) FROM data WHERE age >= 30 AND sex = 'F'";
                InputError::new("SQL", shortened_to(&problem, 200), hint)
            }
        })?;
    let [statement] = statements.as_slice() else {
        return refuse(format!("{} statements; one is answered", statements.len()), "ask one SELECT at a time");
    };
    let Statement::Query(query) = statement else {
        return refuse("only SELECT is answered: a release cannot be changed", "begin with SELECT");
    };
    question(query, columns)
}

fn question(query: &Query, columns: &Columns<'_>) -> Result<Question, InputError> {
    let Query { with, body, order_by, limit_clause, fetch, locks, for_clause, settings, format_clause, pipe_operators } =
        query;
    unsupported(with.is_some(), "WITH", "ask about the release directly")?;
    unsupported(fetch.is_some(), "FETCH", "use LIMIT")?;
    unsupported(!locks.is_empty() || for_clause.is_some(), "FOR", "leave it out")?;
    unsupported(
        settings.is_some() || format_clause.is_some(),
        "SETTINGS or FORMAT",
        "leave it out; --json gives JSON",
    )?;
    unsupported(!pipe_operators.is_empty(), "|>", "write one SELECT")?;
    let select = match body.as_ref() {
        SetExpr::Select(select) => select,
        SetExpr::SetOperation { .. } => {
            return refuse("UNION, EXCEPT and INTERSECT are not answered", "ask twice, or use OR in WHERE");
        }
        _ => return refuse("only a plain SELECT is answered", "begin with SELECT, without parentheses around it"),
    };
    plain_select(select)?;
    let groups = groups(&select.group_by, columns)?;
    let outputs = outputs(select, &groups, columns)?;
    let mut reader = Reader::new(columns);
    let condition = match &select.selection {
        Some(expression) => reader.condition(expression, false, 0)?,
        None => Condition::True,
    };
    let order = order_by.as_ref().map_or(Ok(Vec::new()), |order| order_of(order, &outputs, columns))?;
    let limit = limit_clause.as_ref().map_or(Ok(None), limit_of)?;
    let (predicates, notes) = (reader.predicates, reader.notes);
    Ok(Question { outputs, groups, asked: Where { condition, predicates }, order, limit, notes })
}

fn unsupported(there: bool, name: &str, hint: &str) -> Result<(), InputError> {
    if there { refuse(format!("{name} is not answered"), hint) } else { Ok(()) }
}

/// Refuses what a SELECT may hold besides columns, FROM, WHERE and GROUP BY.
fn plain_select(select: &Select) -> Result<(), InputError> {
    let distinct = !matches!(select.distinct, None | Some(Distinct::All));
    unsupported(distinct, "DISTINCT", "use GROUP BY, which also tells how many there are")?;
    unsupported(select.having.is_some(), "HAVING", "leave it out and read the groups you need from the answer")?;
    unsupported(select.top.is_some(), "TOP", "use LIMIT")?;
    unsupported(select.into.is_some(), "INTO", "redirect the output instead")?;
    unsupported(select.qualify.is_some() || !select.named_window.is_empty(), "WINDOW or QUALIFY", "use GROUP BY")?;
    unsupported(select.prewhere.is_some(), "PREWHERE", "use WHERE")?;
    unsupported(!select.lateral_views.is_empty(), "LATERAL VIEW", "leave it out")?;
    unsupported(!select.connect_by.is_empty(), "CONNECT BY", "leave it out")?;
    let hive = !select.cluster_by.is_empty() || !select.distribute_by.is_empty() || !select.sort_by.is_empty();
    unsupported(hive, "CLUSTER BY, DISTRIBUTE BY or SORT BY", "use ORDER BY")?;
    let odd = select.exclude.is_some() || select.value_table_mode.is_some() || select.select_modifiers.is_some();
    unsupported(odd, "this form of SELECT", "name the columns between SELECT and FROM")?;
    let [from] = select.from.as_slice() else {
        let hint = "name one table: FROM data, or FROM release; a bucketized release counts as one table too";
        return match select.from.len() {
            0 => refuse("FROM is missing", hint),
            _ => refuse("a join of several tables is not answered", hint),
        };
    };
    unsupported(!from.joins.is_empty(), "JOIN", "a release is one table: name it alone after FROM")?;
    match &from.relation {
        TableFactor::Table { args: None, with_hints, version: None, sample: None, json_path: None, .. }
            if with_hints.is_empty() =>
        {
            Ok(())
        }
        TableFactor::Derived { .. } => {
            refuse("a subquery in FROM is not answered", "ask about the release directly: FROM data")
        }
        _ => refuse("only the release itself can stand after FROM", "write FROM data"),
    }
}

fn groups(group_by: &GroupByExpr, columns: &Columns<'_>) -> Result<Vec<usize>, InputError> {
    let GroupByExpr::Expressions(expressions, modifiers) = group_by else {
        return refuse("GROUP BY ALL is not answered", "name the columns after GROUP BY");
    };
    unsupported(!modifiers.is_empty(), "ROLLUP, CUBE or TOTALS", "ask for each grouping by itself")?;
    let mut groups = Vec::new();
    for expression in expressions {
        let column = column_of(expression, columns)?.map_or_else(
            || {
                refuse(
                    format!("GROUP BY {} is not answered", expression_name(expression)),
                    "name columns after GROUP BY",
                )
            },
            Ok,
        )?;
        if !groups.contains(&column) {
            groups.push(column);
        }
    }
    Ok(groups)
}

/// The column that an expression names, if it is nothing but a name.
pub(crate) fn column_of(expression: &Expr, columns: &Columns<'_>) -> Result<Option<usize>, InputError> {
    match expression {
        Expr::Nested(inner) => column_of(inner, columns),
        Expr::Identifier(name) => columns.find(&name.value, name.quote_style.is_some()).map(Some),
        // The table's name before a dot: there is one table only.
        Expr::CompoundIdentifier(names) => match names.last() {
            Some(name) if names.len() == 2 => columns.find(&name.value, name.quote_style.is_some()).map(Some),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

fn outputs(select: &Select, groups: &[usize], columns: &Columns<'_>) -> Result<Vec<Output>, InputError> {
    let mut outputs = Vec::new();
    for item in &select.projection {
        let (expression, alias) = match item {
            SelectItem::UnnamedExpr(expression) => (expression, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
            SelectItem::Wildcard(options) => {
                let odd =
                    options.opt_exclude.is_some() || options.opt_except.is_some() || options.opt_replace.is_some();
                let odd =
                    odd || options.opt_rename.is_some() || options.opt_ilike.is_some() || options.opt_alias.is_some();
                unsupported(odd, "a changed *", "name the columns you want")?;
                outputs.extend(
                    columns
                        .names()
                        .enumerate()
                        .map(|(at, name)| Output { name: name.to_owned(), what: What::Column(at) }),
                );
                continue;
            }
            _ => {
                return refuse(
                    "this item after SELECT is not answered",
                    "name columns, COUNT(*), SUM(column) or AVG(column)",
                );
            }
        };
        let (what, name) = match expression {
            Expr::Function(function) => aggregate(function, columns)?,
            other => match column_of(other, columns)? {
                Some(column) => (What::Column(column), columns.all[column].column.name.clone()),
                None => {
                    let problem = format!("{} after SELECT is not answered", expression_name(other));
                    return refuse(
                        problem,
                        hyphen(other, columns)
                            .unwrap_or_else(|| "name columns, COUNT(*), SUM(column) or AVG(column)".to_owned()),
                    );
                }
            },
        };
        outputs.push(Output { name: alias.unwrap_or(name), what });
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
                format!("`{name}` stands beside groups without being one"),
                format!(
                    "add GROUP BY {}, or leave it out",
                    if plain(name) { name.clone() } else { format!("\"{name}\"") }
                ),
            );
        }
    }
    Ok(outputs)
}

/// A name with a hyphen reads as a subtraction: the hint says to quote it.
pub(crate) fn hyphen(expression: &Expr, columns: &Columns<'_>) -> Option<String> {
    let Expr::BinaryOp { left, right, .. } = expression else { return None };
    let (Expr::Identifier(left), Expr::Identifier(right)) = (left.as_ref(), right.as_ref()) else { return None };
    let whole = format!("{}-{}", left.value, right.value);
    let found = columns.names().find(|name| name.to_lowercase() == whole.to_lowercase())?;
    Some(format!("if the column `{found}` is meant, write it in double quotes: \"{found}\""))
}

fn aggregate(function: &Function, columns: &Columns<'_>) -> Result<(What, String), InputError> {
    let name = match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => name.value.to_uppercase(),
        _ => return refuse("this function is not answered", "COUNT, SUM and AVG are"),
    };
    let hint = "COUNT, SUM and AVG are answered";
    match name.as_str() {
        "COUNT" | "SUM" | "AVG" => {}
        "MIN" | "MAX" => {
            let hint = "the least and the greatest value belong to individuals, whom a release hides; COUNT, SUM and AVG are answered";
            return refuse(format!("{name} is not answered"), hint);
        }
        _ => {
            let near = nearest(&name, ["COUNT", "SUM", "AVG"].into_iter())
                .map_or(String::new(), |near| format!("did you mean {near}? "));
            return refuse(format!("the function {} is not answered", shortened(&name)), format!("{near}{hint}"));
        }
    }
    unsupported(function.over.is_some(), "OVER", "use GROUP BY")?;
    unsupported(function.filter.is_some(), "FILTER", "use WHERE")?;
    let odd = !function.within_group.is_empty()
        || function.null_treatment.is_some()
        || !matches!(function.parameters, FunctionArguments::None);
    unsupported(odd, "this form of a function", hint)?;
    let FunctionArguments::List(arguments) = &function.args else {
        return refuse(format!("{name} without a column"), format!("write {name}(column)"));
    };
    let distinct = matches!(arguments.duplicate_treatment, Some(DuplicateTreatment::Distinct));
    unsupported(distinct, "DISTINCT", "use GROUP BY, which lists each value with its count")?;
    unsupported(!arguments.clauses.is_empty(), "a clause inside of a function", hint)?;
    let [FunctionArg::Unnamed(argument)] = arguments.args.as_slice() else {
        return refuse(format!("{name} takes one column"), format!("write {name}(column)"));
    };
    let column = match argument {
        FunctionArgExpr::Wildcard if name == "COUNT" => return Ok((What::Count, "COUNT(*)".to_owned())),
        FunctionArgExpr::Expr(expression) => match column_of(expression, columns)? {
            Some(column) => column,
            None if name == "COUNT"
                && matches!(expression, Expr::Value(value) if matches!(value.value, Value::Number(..))) =>
            {
                return Ok((What::Count, "COUNT(*)".to_owned()));
            }
            None => {
                let hint = hyphen(expression, columns)
                    .unwrap_or_else(|| "name a column; arithmetic is not answered".to_owned());
                return refuse(format!("{} in {name} is not answered", expression_name(expression)), hint);
            }
        },
        _ => return refuse(format!("{name}(*) is not answered"), format!("write {name}(column)")),
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

fn order_of(order: &OrderBy, outputs: &[Output], columns: &Columns<'_>) -> Result<Vec<(usize, bool)>, InputError> {
    let hint = "sort by the name of an output column, or by its position: ORDER BY 2 DESC";
    let OrderByKind::Expressions(expressions) = &order.kind else {
        return refuse("ORDER BY ALL is not answered", hint);
    };
    unsupported(order.interpolate.is_some(), "INTERPOLATE", hint)?;
    let mut sorted = Vec::new();
    for by in expressions {
        unsupported(
            by.with_fill.is_some() || by.options.nulls_first.is_some(),
            "NULLS FIRST, NULLS LAST or WITH FILL",
            hint,
        )?;
        let descending = match &by.options.sort {
            None | Some(OrderBySort::Asc) => false,
            Some(OrderBySort::Desc) => true,
            Some(OrderBySort::Using(_)) => return refuse("USING is not answered", hint),
        };
        let named = |name: &str| outputs.iter().position(|output| output.name.to_lowercase() == name.to_lowercase());
        let place = match &by.expr {
            Expr::Value(value) => match &value.value {
                Value::Number(text, _) => text
                    .parse::<usize>()
                    .ok()
                    .filter(|place| (1..=outputs.len()).contains(place))
                    .map(|place| place - 1),
                _ => None,
            },
            Expr::Identifier(name) => named(&name.value),
            Expr::Function(function) => {
                let what = aggregate(function, columns)?.0;
                outputs.iter().position(|output| output.what == what)
            }
            _ => None,
        };
        let Some(place) = place else {
            return refuse("ORDER BY names something that is not in the answer", hint);
        };
        sorted.push((place, descending));
    }
    Ok(sorted)
}

fn limit_of(limit: &LimitClause) -> Result<Option<usize>, InputError> {
    let LimitClause::LimitOffset { limit, offset, limit_by } = limit else {
        return refuse("LIMIT with two numbers is not answered", "write LIMIT 10");
    };
    unsupported(offset.is_some(), "OFFSET", "use LIMIT alone")?;
    unsupported(!limit_by.is_empty(), "LIMIT BY", "use LIMIT alone")?;
    match limit {
        None => Ok(None),
        Some(Expr::Value(value)) => match &value.value {
            Value::Number(text, _) => match text.parse() {
                Ok(limit) => Ok(Some(limit)),
                Err(_) => refuse("LIMIT takes a whole number", "write LIMIT 10"),
            },
            _ => refuse("LIMIT takes a whole number", "write LIMIT 10"),
        },
        Some(_) => refuse("LIMIT takes a whole number", "write LIMIT 10"),
    }
}

fn shortened_to(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
