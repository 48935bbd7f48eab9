//! A query as SQL again, for those who answer it elsewhere and for the journal. Read once more it
//! is the same query.

use std::fmt::{self, Display, Formatter};

use super::tree::{Argument, Call, Expression, Item, Limit, Select};
use crate::estimate::predicate::Comparison;

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("SELECT ")?;
        joined(f, &self.items, ", ", |item, f| match item {
            Item::Everything => f.write_str("*"),
            Item::One { expression, alias } => {
                write!(f, "{expression}")?;
                alias.iter().try_for_each(|name| write!(f, " AS {}", Quoted(name, '"')))
            }
        })?;
        f.write_str(" FROM data")?;
        self.condition.iter().try_for_each(|condition| write!(f, " WHERE {condition}"))?;
        if !self.groups.is_empty() {
            f.write_str(" GROUP BY ")?;
            joined(f, &self.groups, ", ", Expression::fmt)?;
        }
        self.having.iter().try_for_each(|condition| write!(f, " HAVING {condition}"))?;
        if !self.order.is_empty() {
            f.write_str(" ORDER BY ")?;
            joined(f, &self.order, ", ", |(expression, descending), f| {
                write!(f, "{expression}{}", if *descending { " DESC" } else { "" })
            })?;
        }
        match self.limit {
            Limit::All => Ok(()),
            Limit::Rows(rows) => write!(f, " LIMIT {rows}"),
            Limit::Parameter(number) => write!(f, " LIMIT ${number}"),
        }
    }
}

/// Parentheses are parts of the tree, so none are added.
impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match self {
            Expression::Name { name, quoted: false } => f.write_str(name),
            Expression::Name { name, quoted: true } => write!(f, "{}", Quoted(name, '"')),
            Expression::Number(text) => f.write_str(text),
            Expression::Text(text) => write!(f, "{}", Quoted(text, '\'')),
            Expression::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Expression::Null => f.write_str("NULL"),
            Expression::Parameter(number) => write!(f, "${number}"),
            Expression::Nested(inner) => write!(f, "({inner})"),
            // With a space, for two of them begin a comment.
            Expression::Minus(inner) => write!(f, "- {inner}"),
            Expression::Not(inner) => write!(f, "NOT {inner}"),
            Expression::All(parts) => joined(f, parts, " AND ", Expression::fmt),
            Expression::Any(parts) => joined(f, parts, " OR ", Expression::fmt),
            Expression::Compared(left, by, right) => write!(f, "{left} {} {right}", sign(*by)),
            Expression::Between { of, low, high, negated } => {
                write!(f, "{of} {}BETWEEN {low} AND {high}", not(negated))
            }
            Expression::Among { of, list, negated } => {
                write!(f, "{of} {}IN (", not(negated))?;
                joined(f, list, ", ", Expression::fmt)?;
                f.write_str(")")
            }
            Expression::Missing { of, negated } => write!(f, "{of} IS {}NULL", not(negated)),
            Expression::Like { of, pattern, escape, any_case, negated } => {
                let like = if *any_case { "ILIKE" } else { "LIKE" };
                write!(f, "{of} {}{like} {pattern}", not(negated))?;
                escape.iter().try_for_each(|escape| write!(f, " ESCAPE {escape}"))
            }
            Expression::Combined { parts, operators } => {
                let mut parts = parts.iter();
                parts.next().into_iter().try_for_each(|first| write!(f, "{first}"))?;
                operators.iter().zip(parts).try_for_each(|(sign, part)| write!(f, " {sign} {part}"))
            }
            Expression::Call(Call { name, distinct, argument }) => {
                write!(f, "{name}({}", if *distinct { "DISTINCT " } else { "" })?;
                match argument {
                    Argument::Everything => f.write_str("*")?,
                    Argument::One(of) => write!(f, "{of}")?,
                    Argument::WithShare(of, share) => write!(f, "{of}, {share}")?,
                    Argument::Other => {}
                }
                f.write_str(")")
            }
            Expression::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                branches.iter().try_for_each(|(condition, result)| write!(f, " WHEN {condition} THEN {result}"))?;
                otherwise.iter().try_for_each(|otherwise| write!(f, " ELSE {otherwise}"))?;
                f.write_str(" END")
            }
            // Never answered, so that its name says enough.
            Expression::Other(name) => f.write_str(name),
        }
    }
}

/// A name or a text in its quotes, which are written twice within.
struct Quoted<'a>(&'a str, char);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Quoted(text, quote) = self;
        write!(f, "{quote}{}{quote}", text.replace(*quote, &format!("{quote}{quote}")))
    }
}

fn joined<T>(
    f: &mut Formatter<'_>,
    parts: &[T],
    by: &str,
    part: impl Fn(&T, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (place, one) in parts.iter().enumerate() {
        if place > 0 {
            f.write_str(by)?;
        }
        part(one, f)?;
    }
    Ok(())
}

fn sign(by: Comparison) -> &'static str {
    match by {
        Comparison::Equal => "=",
        Comparison::Different => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::seeds;

    fn again(sql: &str) {
        let select = Select::parse(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let written = select.to_string();
        let read = Select::parse(&written).unwrap_or_else(|error| panic!("{sql}: {written}: {error}"));
        assert_eq!(read, select, "{sql}: {written}");
    }

    #[test]
    fn what_is_written_is_read_as_the_same_query() {
        for sql in [
            "select * from release",
            "SELECT data.*, \"a b\" \"c\"\"d\", \"group\" AS x FROM data",
            "SELECT COUNT(*), count(DISTINCT sex), SUM(a + -b * (c - - 2)), AVG(x / 2) FROM data WHERE NOT NOT a = 1",
            "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age), MEDIAN(age) FROM data",
            "SELECT SUM(CASE WHEN a IS NULL AND b IS NOT NULL THEN 1 WHEN a <> 'it''s' THEN b ELSE NULL END) FROM data",
            "SELECT sex FROM data WHERE (a BETWEEN 1 AND 2 OR b NOT BETWEEN 'x' AND 'y') AND c NOT IN (1, 'z') \
             AND d LIKE 'a!_%' ESCAPE '!' AND e NOT ILIKE '_' AND day >= DATE '2024-01-31' OR TRUE",
            "SELECT sex, COUNT(*) FROM data GROUP BY sex HAVING COUNT(*) >= 2 AND AVG(age) / 2 < 30.5e1 \
             ORDER BY 2 DESC, sex LIMIT 7",
        ] {
            again(sql);
        }
    }

    /// A random expression as SQL.
    fn expression(rng: &mut StdRng, depth: usize) -> String {
        let simple =
            ["a", "7", "-7", "- -7", "'x'", "''''", "\"a \"\" b\"", "\"from\"", "NULL", "true", "COUNT(*)", "data.b"];
        let Some(below) = depth.checked_sub(1) else { return simple[rng.random_range(0..simple.len())].to_owned() };
        let [one, two, three] = [(); 3].map(|()| expression(rng, below));
        match rng.random_range(0..11) {
            0 => format!("({one})"),
            1 => format!("-({one})"),
            2 => format!("NOT ({one})"),
            3 => format!("(({one}) AND ({two}) OR ({three}))"),
            4 => format!("(({one}) <= ({two}))"),
            5 => format!("(({one}) NOT BETWEEN ({two}) AND ({three}))"),
            6 => format!("(({one}) IN ({two}, {three}))"),
            7 => format!("(({one}) IS NOT NULL)"),
            8 => format!("({one}) + ({two}) * ({three})"),
            9 => format!("SUM(({one}))"),
            _ => format!("CASE WHEN ({one}) THEN ({two}) ELSE ({three}) END"),
        }
    }

    #[test]
    fn random_expressions_are_read_as_the_same() {
        for seed in seeds(2000) {
            let mut rng = StdRng::seed_from_u64(seed);
            let depth = rng.random_range(0..4);
            let expression = expression(&mut rng, depth);
            println!("seed {seed}: {expression}");
            again(&format!("SELECT {expression} FROM data WHERE {expression}"));
        }
    }
}
