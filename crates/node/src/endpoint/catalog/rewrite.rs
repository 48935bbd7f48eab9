//! A statement over the catalog, rewritten from PostgreSQL's SQL to SQLite's on the syntax tree.
//!
//! Every text in it becomes a bound value, and only tables and functions of a list pass, so that
//! what SQLite sees is made of known parts.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, BinaryOperator, DataType, Distinct, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem, SetExpr, Subscript, TableAlias,
    TableFactor, TrimWhereField, Value as Literal, ValueWithSpan, VisitMut, VisitorMut,
};

use super::super::kind::SqlType;
use super::super::refusal::{SYNTAX, StatementRefusal, UNKNOWN_FUNCTION, UNKNOWN_TABLE};
use super::super::tokens::{DATABASE, Parameter, SCHEMA, is_release, number};
use super::tables::CatalogTables;
use super::{access, functions, naming};

/// A value that SQLite is given beside the statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
}

pub(super) struct Rewriter<'a> {
    pub(super) tables: &'a CatalogTables,
    pub(super) parameters: &'a [Parameter],
    pub(super) bound: Vec<Bound>,
    pub(super) refusal: Option<StatementRefusal>,
    /// Names that WITH gives.
    ctes: Vec<String>,
}

type Flow = ControlFlow<()>;

/// Rewrites a query in its place; gives the values to bind.
pub(super) fn rewrite(
    query: &mut Query,
    tables: &CatalogTables,
    parameters: &[Parameter],
) -> Result<Vec<Bound>, StatementRefusal> {
    let mut rewriter = Rewriter { tables, parameters, bound: Vec::new(), refusal: None, ctes: Vec::new() };
    let _ = query.visit(&mut rewriter);
    match rewriter.refusal {
        Some(refusal) => Err(refusal),
        None => Ok(rewriter.bound),
    }
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let args = arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))).collect();
    let args = FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() };
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(args),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

fn not(expr: Expr) -> Expr {
    Expr::UnaryOp { op: sqlparser::ast::UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(expr))) }
}

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Value(Literal::Null.into()))
}

impl Rewriter<'_> {
    fn refuse(&mut self, refusal: StatementRefusal) -> Flow {
        self.refusal = Some(refusal);
        ControlFlow::Break(())
    }

    fn unsupported(&mut self, what: &str) -> Flow {
        self.refuse(StatementRefusal::unsupported(format!("{what} over the catalog"), "write it in a simpler form"))
    }

    fn bind(&mut self, bound: Bound) -> Expr {
        self.bound.push(bound);
        Expr::Value(Literal::Placeholder(format!("$b{}", self.bound.len())).into())
    }

    fn literal(&mut self, value: &ValueWithSpan) -> Result<Option<Expr>, StatementRefusal> {
        Ok(match &value.value {
            Literal::SingleQuotedString(text)
            | Literal::EscapedStringLiteral(text)
            | Literal::UnicodeStringLiteral(text)
            | Literal::NationalStringLiteral(text) => Some(self.bind(Bound::Text(text.clone()))),
            Literal::DollarQuotedString(quoted) => Some(self.bind(Bound::Text(quoted.value.clone()))),
            Literal::Placeholder(name) if name.starts_with("$b") => None,
            Literal::Placeholder(name) => {
                let given = self.parameters.get(number(name)? - 1);
                let bound = match given.and_then(|given| Some((given.oid, given.text.as_deref()?))) {
                    None => Bound::Null,
                    Some((16, text)) => Bound::Int(i64::from(matches!(text, "t" | "true" | "1" | "on"))),
                    Some((oid, text)) if SqlType::is_number(oid) => match (text.parse(), text.parse()) {
                        (Ok(whole), _) => Bound::Int(whole),
                        (_, Ok(real)) => Bound::Real(real),
                        _ => Bound::Text(text.to_owned()),
                    },
                    Some((_, text)) => Bound::Text(text.to_owned()),
                };
                Some(self.bind(bound))
            }
            Literal::Number(..) | Literal::Boolean(_) | Literal::Null => None,
            _ => return Err(StatementRefusal::unsupported("this notation of a value", "write 'text' or a number")),
        })
    }

    fn table(&mut self, name: &mut ObjectName) -> Flow {
        let Some(mut names) = naming::parts(name) else { return self.unsupported("this table") };
        if is_release(&names) {
            let what = "a subquery or join over the release";
            return self.refuse(StatementRefusal::unsupported(what, "query it alone: SELECT … FROM data …"));
        }
        if names.len() == 1 && self.ctes.contains(&names[0]) {
            return ControlFlow::Continue(());
        }
        if names.len() == 3 && names[0] == DATABASE {
            names.remove(0);
        }
        let known = match names.as_slice() {
            [table] => ["pg_catalog", SCHEMA]
                .into_iter()
                .find_map(|schema| self.tables.find(schema, table).map(|table| (schema, table))),
            [schema, table] => self.tables.find(schema, table).map(|table| (self.tables.schema(schema), table)),
            _ => None,
        };
        match known {
            Some((schema, table)) => {
                let ident = |text: &str| ObjectNamePart::Identifier(Ident::with_quote('"', text));
                *name = ObjectName(vec![ident(schema), ident(table)]);
                ControlFlow::Continue(())
            }
            None => {
                let problem = format!("there is no table {}", names.join(".").chars().take(80).collect::<String>());
                self.refuse(StatementRefusal::new(UNKNOWN_TABLE, problem, "the release is the table data"))
            }
        }
    }

    /// A function in FROM that gives rows: the elements of a JSON array.
    fn rows_of(&mut self, factor: &mut TableFactor) -> Flow {
        let (name, arguments, alias) = match factor {
            TableFactor::Table { name, args: Some(args), alias, with_ordinality: false, .. } => {
                (naming::parts(name), args.args.clone(), alias.clone())
            }
            TableFactor::Function { name, args, alias, with_ordinality: false, .. } => {
                (naming::parts(name), args.clone(), alias.clone())
            }
            TableFactor::UNNEST { array_exprs, alias, with_offset: false, with_ordinality: false, .. } => {
                let arguments =
                    array_exprs.iter().cloned().map(|expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)));
                (Some(vec!["unnest".to_owned()]), arguments.collect(), alias.clone())
            }
            _ => return self.unsupported("this part of FROM"),
        };
        let name = name.and_then(|parts| parts.into_iter().next_back()).unwrap_or_default();
        let arguments: Option<Vec<Expr>> = arguments
            .into_iter()
            .map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
                _ => None,
            })
            .collect();
        let rows = match (name.as_str(), arguments) {
            // Tools color these; they know the usual ones themselves.
            ("pg_get_keywords", Some(arguments)) if arguments.is_empty() => {
                return self.derived(factor, "SELECT 'select' AS \"word\", 'R' AS \"catcode\"", alias, &name);
            }
            ("unnest", Some(arguments)) if arguments.len() == 1 => call("pg_elements", arguments),
            ("generate_series", Some(arguments)) if matches!(arguments.len(), 2 | 3) => {
                return self.series(factor, &arguments, alias);
            }
            _ => return self.refuse(unknown_function(&name)),
        };
        let Some(column) = column_of(alias.as_ref(), &name) else {
            return self.unsupported("several columns of a function");
        };
        let text = format!("SELECT value AS \"{column}\" FROM json_each({rows})");
        self.derived(factor, &text, alias, &column)
    }

    /// Whole numbers from a first to a last one, made row by row: a long series takes time and no
    /// more memory than its rows.
    fn series(&mut self, factor: &mut TableFactor, arguments: &[Expr], alias: Option<TableAlias>) -> Flow {
        let Some(column) = column_of(alias.as_ref(), "generate_series") else {
            return self.unsupported("several columns of a function");
        };
        let step = arguments.get(2).map_or("1".to_owned(), ToString::to_string);
        let [first, last] = [&arguments[0], &arguments[1]];
        let text = format!(
            "WITH RECURSIVE \"ends\"(\"a\", \"b\", \"s\") AS (SELECT pg_series_number({first}), \
             pg_series_number({last}), pg_series_step({step})), \"series\"(\"value\") AS (SELECT \"a\" FROM \"ends\" \
             WHERE (\"s\" > 0 AND \"a\" <= \"b\") OR (\"s\" < 0 AND \"a\" >= \"b\") \
             UNION ALL SELECT \"series\".\"value\" + \"s\" FROM \"series\", \"ends\" \
             WHERE (\"s\" > 0 AND \"series\".\"value\" <= \"b\" - \"s\") OR (\"s\" < 0 AND \"series\".\"value\" >= \"b\" - \"s\")) \
             SELECT \"value\" AS \"{column}\" FROM \"series\""
        );
        self.derived(factor, &text, alias, &column)
    }

    /// Puts a statement of our own in the place of a function that gives rows.
    fn derived(&mut self, factor: &mut TableFactor, text: &str, alias: Option<TableAlias>, name: &str) -> Flow {
        match super::parse(text) {
            Ok(subquery) => {
                let name = alias.map_or(Ident::with_quote('"', name), |alias| alias.name);
                let alias = TableAlias { explicit: true, name, columns: Vec::new(), at: None };
                *factor = TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
                ControlFlow::Continue(())
            }
            Err(refusal) => self.refuse(refusal),
        }
    }

    fn function(&mut self, function: &mut Function) -> Result<Option<Expr>, StatementRefusal> {
        let name = naming::parts(&function.name).and_then(|parts| parts.into_iter().next_back()).unwrap_or_default();
        if let FunctionArguments::Subquery(query) = &function.args {
            if name != "array" {
                return Err(unknown_function(&name));
            }
            let text = format!(
                "(WITH \"rows\"(\"one\") AS ({query}) SELECT pg_array(json_group_array(\"one\")) FROM \"rows\")"
            );
            return super::parse_expression(&text).map(Some);
        }
        let allowed = functions::sqlite_name(&name).ok_or_else(|| unknown_function(&name))?;
        function.name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(allowed))]);
        if matches!(function.args, FunctionArguments::None) {
            function.args = FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment: None,
                args: Vec::new(),
                clauses: Vec::new(),
            });
        }
        if name == "array_agg" {
            return Ok(Some(call("pg_array", vec![Expr::Function(function.clone())])));
        }
        Ok(None)
    }

    fn expression(&mut self, expr: &mut Expr) -> Result<Option<Expr>, StatementRefusal> {
        let unsupported = |what: &str| {
            Err(StatementRefusal::unsupported(format!("{what} over the catalog"), "write it in a simpler form"))
        };
        Ok(match expr {
            Expr::Value(value) => {
                let value = value.clone();
                self.literal(&value)?
            }
            Expr::TypedString(typed) => {
                let value = typed.value.clone();
                self.literal(&value)?
            }
            Expr::Function(function) => self.function(function)?,
            Expr::Cast { expr: inner, data_type, .. } => Some(cast(take(inner), data_type)),
            Expr::Collate { expr: inner, .. } => Some(take(inner)),
            Expr::BinaryOp { left, op, right } => match operator(op) {
                Some((name, negated)) => {
                    let called = call(name, vec![take(left), take(right)]);
                    Some(if negated { not(called) } else { called })
                }
                None if is_plain(op) => None,
                None => return unsupported("this operator"),
            },
            Expr::AnyOp { left, compare_op, right, .. } => Some(any(take(left), compare_op, take(right), false)?),
            Expr::AllOp { left, compare_op, right } => Some(any(take(left), compare_op, take(right), true)?),
            Expr::Like { any: false, negated, expr: of, pattern, escape_char } => {
                let escape = escape_char.as_mut().map(|escape| take(escape));
                let called = call("pg_like", [take(of), take(pattern)].into_iter().chain(escape).collect());
                Some(if *negated { not(called) } else { called })
            }
            Expr::ILike { any: false, negated, expr: of, pattern, escape_char } => {
                let escape = escape_char.as_mut().map(|escape| take(escape));
                let called = call("pg_ilike", [take(of), take(pattern)].into_iter().chain(escape).collect());
                Some(if *negated { not(called) } else { called })
            }
            Expr::Substring { expr: of, substring_from, substring_for, .. } => {
                let mut arguments = vec![take(of)];
                match (substring_from, substring_for) {
                    (Some(from), Some(length)) => arguments.extend([take(from), take(length)]),
                    (Some(from), None) => arguments.push(take(from)),
                    _ => return unsupported("this form of SUBSTRING"),
                }
                Some(call("pg_substring", arguments))
            }
            Expr::Position { expr: of, r#in } => Some(call("pg_position", vec![take(r#in), take(of)])),
            Expr::Trim {
                expr: of,
                trim_what,
                trim_characters: None,
                trim_where: None | Some(TrimWhereField::Both),
            } => {
                let what = trim_what.as_mut().map(|what| take(what));
                Some(call("pg_trim", std::iter::once(take(of)).chain(what).collect()))
            }
            Expr::Array(array) => {
                let elements = array.elem.iter_mut().map(take).collect();
                Some(call("pg_array", vec![call("json_array", elements)]))
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                let mut inner = take(root);
                for access in access_chain {
                    inner = match access {
                        // A table before a column, not a part of a value.
                        AccessExpr::Dot(Expr::Identifier(column)) if matches!(inner, Expr::Identifier(_)) => {
                            let Expr::Identifier(table) = inner else { return unsupported("this part of a value") };
                            Expr::CompoundIdentifier(vec![table, column.clone()])
                        }
                        AccessExpr::Subscript(Subscript::Index { index }) => {
                            call("pg_element", vec![inner, take(index)])
                        }
                        AccessExpr::Dot(Expr::Identifier(_)) => call("pg_field", vec![inner]),
                        _ => return unsupported("this part of a value"),
                    };
                }
                Some(inner)
            }
            Expr::Identifier(_)
            | Expr::CompoundIdentifier(_)
            | Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::UnaryOp { .. }
            | Expr::Nested(_)
            | Expr::Case { .. }
            | Expr::Exists { .. }
            | Expr::Subquery(_)
            | Expr::Tuple(_) => None,
            _ => return unsupported("this expression"),
        })
    }
}

/// The name of the one column that a function in FROM gives; `None` where several are named.
fn column_of(alias: Option<&TableAlias>, name: &str) -> Option<String> {
    match alias.map(|alias| (alias.columns.as_slice(), &alias.name)) {
        None => Some(name.to_owned()),
        Some(([], name)) => Some(naming::folded(name)),
        Some(([one], _)) => Some(naming::folded(&one.name)),
        Some(_) => None,
    }
}

fn unknown_function(name: &str) -> StatementRefusal {
    let name: String = name.chars().take(60).collect();
    StatementRefusal::new(
        UNKNOWN_FUNCTION,
        format!("there is no function {name}"),
        "the release answers COUNT, SUM and AVG",
    )
}

/// Operators that are functions here, and whether the function is negated.
fn operator(op: &BinaryOperator) -> Option<(&'static str, bool)> {
    let named = match op {
        BinaryOperator::PGRegexMatch => "~",
        BinaryOperator::PGRegexIMatch => "~*",
        BinaryOperator::PGRegexNotMatch => "!~",
        BinaryOperator::PGRegexNotIMatch => "!~*",
        BinaryOperator::PGLikeMatch => "~~",
        BinaryOperator::PGNotLikeMatch => "!~~",
        BinaryOperator::PGILikeMatch => "~~*",
        BinaryOperator::PGNotILikeMatch => "!~~*",
        BinaryOperator::PGCustomBinaryOperator(parts) => parts.last()?.as_str(),
        _ => return None,
    };
    Some(match named {
        "~" => ("pg_regex", false),
        "~*" => ("pg_regex_any_case", false),
        "!~" => ("pg_regex", true),
        "!~*" => ("pg_regex_any_case", true),
        "~~" => ("pg_like", false),
        "!~~" => ("pg_like", true),
        "~~*" => ("pg_ilike", false),
        "!~~*" => ("pg_ilike", true),
        "=" => ("pg_equal", false),
        "<>" => ("pg_equal", true),
        _ => return None,
    })
}

fn is_plain(op: &BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(
        op,
        Op::Plus
            | Op::Minus
            | Op::Multiply
            | Op::Divide
            | Op::Modulo
            | Op::StringConcat
            | Op::Gt
            | Op::Lt
            | Op::GtEq
            | Op::LtEq
            | Op::Eq
            | Op::NotEq
            | Op::And
            | Op::Or
            | Op::BitwiseAnd
            | Op::BitwiseOr
    )
}

/// `= ANY` and `<> ALL` over a list, a subquery or an array.
fn any(left: Expr, op: &BinaryOperator, right: Expr, all: bool) -> Result<Expr, StatementRefusal> {
    let negated = match (op, all) {
        (BinaryOperator::Eq, false) => false,
        (BinaryOperator::NotEq, true) => true,
        _ => return Err(StatementRefusal::unsupported("ANY or ALL with this operator", "write = ANY (…)")),
    };
    let inner = match right {
        Expr::Nested(inner) => *inner,
        other => other,
    };
    Ok(match inner {
        Expr::Subquery(subquery) => Expr::InSubquery { expr: Box::new(left), subquery, negated },
        array => {
            let called = call("pg_among", vec![left, array]);
            if negated { not(called) } else { called }
        }
    })
}

fn cast(inner: Expr, data_type: &DataType) -> Expr {
    let name = naming::type_name(data_type);
    let is_value = matches!(&inner, Expr::Value(value) if matches!(value.value, Literal::Placeholder(_)));
    match name.as_str() {
        "regclass" | "regtype" | "regnamespace" | "regproc" | "regprocedure" | "regrole" => {
            // A text becomes the number under which it is known; a number becomes its name.
            let way = if is_value { "in" } else { "out" };
            call(&format!("pg_{name}_{way}"), vec![inner])
        }
        "oid" => call("pg_oid", vec![inner]),
        "bool" | "boolean" => call("pg_bool", vec![inner]),
        "int2" | "int4" | "int8" | "smallint" | "integer" | "int" | "bigint" => call("pg_whole", vec![inner]),
        "float4" | "float8" | "numeric" | "real" | "double precision" => call("pg_real", vec![inner]),
        "text" | "varchar" | "name" | "bpchar" | "char" | "character varying" => call("pg_text", vec![inner]),
        // Arrays and other types are kept as texts.
        _ => Expr::Nested(Box::new(inner)),
    }
}

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        let odd = !query.locks.is_empty()
            || query.fetch.is_some()
            || query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty();
        if odd {
            return self.unsupported("FOR, FETCH and the like");
        }
        if !is_read_only(&query.body) {
            let problem = "a statement within WITH would write: a release cannot be changed";
            return self.refuse(StatementRefusal::new(super::super::refusal::READ_ONLY, problem, "use SELECT alone"));
        }
        if let Some(with) = &query.with {
            let mut names = with.cte_tables.iter().map(|cte| naming::folded(&cte.alias.name));
            if let Some(name) = names.find(|name| access::is_internal(name)) {
                let problem = format!("WITH cannot give the name {}", name.chars().take(60).collect::<String>());
                return self.refuse(StatementRefusal::new(SYNTAX, problem, "choose another name"));
            }
            self.ctes.extend(with.cte_tables.iter().map(|cte| naming::folded(&cte.alias.name)));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        let odd = select.into.is_some()
            || select.top.is_some()
            || select.qualify.is_some()
            || !select.lateral_views.is_empty()
            || !select.connect_by.is_empty()
            || select.prewhere.is_some()
            || matches!(select.distinct, Some(Distinct::On(_)));
        if odd {
            return self.unsupported("this clause of SELECT");
        }
        for item in &mut select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) if !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => {
                    let alias = Ident::with_quote('"', naming::column(expr));
                    *item = SelectItem::ExprWithAlias { expr: take(expr), alias };
                }
                // A keyword may be a name here (`AS table`); SQLite takes it in quotes alone.
                SelectItem::ExprWithAlias { alias, .. } => *alias = Ident::with_quote('"', naming::folded(alias)),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        match factor {
            TableFactor::Table { name, args: None, .. } => self.table(name),
            TableFactor::Derived { lateral, .. } => {
                *lateral = false;
                ControlFlow::Continue(())
            }
            TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        match factor {
            TableFactor::Table { args: None, .. } | TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } => {
                ControlFlow::Continue(())
            }
            _ => self.rows_of(factor),
        }
    }

    fn pre_visit_ident(&mut self, ident: &mut Ident) -> Flow {
        if ident.value.contains(['"', '\\', '\0', '`', ']']) {
            return self.refuse(StatementRefusal::new(
                SYNTAX,
                "a name with quotes in it is not read",
                "name it otherwise",
            ));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        match self.expression(expr) {
            Ok(Some(new)) => *expr = new,
            Ok(None) => {}
            Err(refusal) => return self.refuse(refusal),
        }
        ControlFlow::Continue(())
    }
}

fn is_read_only(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(_) | SetExpr::Values(_) | SetExpr::Query(_) => true,
        SetExpr::SetOperation { left, right, .. } => is_read_only(left) && is_read_only(right),
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) | SetExpr::Table(_) => false,
    }
}
