//! How PostgreSQL names columns that have no alias, and of which type an expression is.

use sqlparser::ast::{DataType, Expr, Ident, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, Value as Literal};

use super::super::kind::SqlType;
use super::functions;

/// A name without quotes is in lower case.
pub(super) fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// The parts of a name with dots.
pub(super) fn parts(name: &ObjectName) -> Option<Vec<String>> {
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) => Some(folded(ident)),
        ObjectNamePart::Function(_) => None,
    };
    name.0.iter().map(part).collect()
}

/// The name of a type, without its schema and length.
pub(super) fn type_name(data_type: &DataType) -> String {
    let text = data_type.to_string().to_lowercase();
    let text = text.strip_prefix("pg_catalog.").unwrap_or(&text);
    text.split('(').next().unwrap_or(text).trim().trim_matches('"').to_owned()
}

/// The name of a column without an alias.
pub(super) fn column(expr: &Expr) -> String {
    named(expr).unwrap_or_else(|| "?column?".to_owned())
}

fn named(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(folded(ident)),
        Expr::CompoundIdentifier(idents) => idents.last().map(folded),
        Expr::Function(function) => parts(&function.name)?.pop(),
        Expr::Cast { expr, data_type, .. } => named(expr).or_else(|| Some(type_name(data_type))),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => named(inner),
        Expr::Case { else_result, .. } => {
            let column = |expr: &Expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
            let from = else_result.as_deref().filter(|expr| column(expr)).and_then(named);
            Some(from.unwrap_or_else(|| "case".to_owned()))
        }
        Expr::Exists { .. } => Some("exists".to_owned()),
        Expr::Substring { .. } => Some("substring".to_owned()),
        Expr::Array(_) => Some("array".to_owned()),
        Expr::Value(value) if matches!(value.value, Literal::Boolean(_)) => Some("bool".to_owned()),
        Expr::Subquery(query) => columns(query)?.into_iter().next().map(|(name, _)| name),
        _ => None,
    }
}

/// The columns of a query with the types that show in its text; `None` when one is a star.
pub(super) fn columns(query: &Query) -> Option<Vec<(String, Option<SqlType>)>> {
    let mut body = &*query.body;
    loop {
        match body {
            SetExpr::SetOperation { left, .. } => body = left,
            SetExpr::Query(inner) => body = &inner.body,
            SetExpr::Select(select) => {
                let item = |item: &SelectItem| match item {
                    SelectItem::UnnamedExpr(expr) => Some((column(expr), kind(expr))),
                    SelectItem::ExprWithAlias { expr, alias } => Some((folded(alias), kind(expr))),
                    _ => None,
                };
                return select.projection.iter().map(item).collect();
            }
            _ => return None,
        }
    }
}

/// The type of an expression, where its text shows it.
pub(super) fn kind(expr: &Expr) -> Option<SqlType> {
    use sqlparser::ast::BinaryOperator as Op;
    match expr {
        Expr::Cast { data_type, .. } => Some(SqlType::from_name(&type_name(data_type))),
        Expr::Function(function) => functions::kind_of(parts(&function.name)?.last()?),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => kind(inner),
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::Exists { .. } => Some(SqlType::Bool),
        Expr::UnaryOp { op: sqlparser::ast::UnaryOperator::Not, .. } => Some(SqlType::Bool),
        Expr::UnaryOp { expr, .. } => kind(expr),
        Expr::BinaryOp { op, left, right } => match op {
            Op::StringConcat => Some(SqlType::Text),
            Op::Plus | Op::Minus | Op::Multiply | Op::Divide | Op::Modulo | Op::BitwiseAnd | Op::BitwiseOr => {
                match (kind(left), kind(right)) {
                    (Some(SqlType::Float8 | SqlType::Numeric), _) | (_, Some(SqlType::Float8 | SqlType::Numeric)) => {
                        Some(SqlType::Float8)
                    }
                    _ => Some(SqlType::Int8),
                }
            }
            _ => Some(SqlType::Bool),
        },
        Expr::Value(value) => match &value.value {
            Literal::Boolean(_) => Some(SqlType::Bool),
            Literal::Number(digits, _) if digits.parse::<i32>().is_ok() => Some(SqlType::Int4),
            Literal::Number(digits, _) if digits.parse::<i64>().is_ok() => Some(SqlType::Int8),
            Literal::Number(..) => Some(SqlType::Numeric),
            _ => Some(SqlType::Text),
        },
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
            let known = |expr: &&Expr| !matches!(expr, Expr::Value(value) if value.value == Literal::Null);
            results.filter(known).find_map(kind)
        }
        Expr::Subquery(query) => columns(query)?.into_iter().next()?.1,
        _ => None,
    }
}
