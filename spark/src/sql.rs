//! The statements, as text. Names are quoted and values never stand here.

/// A name within a statement.
pub(crate) fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A table's name as a user writes it: parts with points between, each quoted or not.
pub(crate) fn table_name(name: &str) -> String {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let part = parts.last_mut().expect("there is always one");
        match character {
            '`' if quoted && characters.peek() == Some(&'`') => {
                characters.next();
                part.push('`');
            }
            '`' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            other => part.push(other),
        }
    }
    parts.iter().map(|part| identifier(part)).collect::<Vec<_>>().join(".")
}

/// Columns of a view as texts `c0`, `c1`, …
fn texts(view: &str, columns: &[&str]) -> String {
    let column = |(place, name): (usize, &&str)| format!("CAST({} AS STRING) AS c{place}", identifier(name));
    let columns: Vec<String> = columns.iter().enumerate().map(column).collect();
    format!("SELECT {} FROM {}", columns.join(", "), identifier(view))
}

/// The distinct rows of a view over some columns, as texts, and how often each occurs.
pub(crate) fn distinct(view: &str, columns: &[&str]) -> String {
    let names: Vec<String> = (0..columns.len()).map(|place| format!("c{place}")).collect();
    let names = names.join(", ");
    format!("SELECT {names}, COUNT(*) AS n FROM ({}) AS source GROUP BY {names}", texts(view, columns))
}

/// How many rows a view has.
pub(crate) fn count(view: &str) -> String {
    format!("SELECT COUNT(*) AS n FROM {}", identifier(view))
}

/// A table that is made of several with the same columns.
pub(crate) fn together(views: &[String]) -> String {
    views.iter().map(|view| format!("SELECT * FROM {}", identifier(view))).collect::<Vec<_>>().join(" UNION ALL ")
}

/// A column that is recoded: its name, and the view that has for each text `t` of the source the
/// value `v` that is released and the number `l` of its label.
#[derive(Debug)]
pub(crate) struct Recoded<'a> {
    pub(crate) name: &'a str,
    pub(crate) dictionary: String,
}

/// The rows of a view with each text replaced, in random order. `suppressed` is a view with the
/// labels `l0`, `l1`, … of rows that are not wanted, and the places of their columns.
pub(crate) fn recode(view: &str, columns: &[Recoded<'_>], suppressed: Option<(&str, &[usize])>) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut values: Vec<String> = Vec::new();
    let mut joins = String::new();
    for (place, column) in columns.iter().enumerate() {
        values.push(format!("d{place}.v AS v{place}, d{place}.l AS l{place}"));
        // The missing value is a value: NULL meets NULL.
        joins.push_str(&format!(
            " JOIN {} AS d{place} ON source.c{place} <=> d{place}.t",
            identifier(&column.dictionary)
        ));
    }
    let joined = format!("SELECT {} FROM ({}) AS source{joins}", values.join(", "), texts(view, &names));
    let released: Vec<String> =
        names.iter().enumerate().map(|(place, name)| format!("recoded.v{place} AS {}", identifier(name))).collect();
    let kept = match suppressed {
        None => String::new(),
        Some((view, places)) => {
            let same: Vec<String> = places
                .iter()
                .enumerate()
                .map(|(label, place)| format!("recoded.l{place} = suppressed.l{label}"))
                .collect();
            format!(" LEFT ANTI JOIN {} AS suppressed ON {}", identifier(view), same.join(" AND "))
        }
    };
    format!("SELECT {} FROM ({joined}) AS recoded{kept} ORDER BY RAND()", released.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_quotes() {
        assert_eq!(identifier("age"), "`age`");
        assert_eq!(identifier("a` FROM x; --"), "`a`` FROM x; --`");
        assert_eq!(table_name("study.people"), "`study`.`people`");
        assert_eq!(table_name("`study.2024`.people"), "`study.2024`.`people`");
        assert_eq!(table_name("x`; drop table y"), "`x; drop table y`");
        assert_eq!(table_name("`a``b`"), "`a``b`");
    }

    #[test]
    fn statements_name_columns_and_no_value() {
        let found = distinct("v", &["age", "a`b"]);
        let expected = "SELECT c0, c1, COUNT(*) AS n FROM (SELECT CAST(`age` AS STRING) AS c0, \
                        CAST(`a``b` AS STRING) AS c1 FROM `v`) AS source GROUP BY c0, c1";
        assert_eq!(found, expected);
        let columns = [
            Recoded { name: "age", dictionary: "d_age".to_owned() },
            Recoded { name: "sex", dictionary: "d_sex".to_owned() },
        ];
        let found = recode("v", &columns, Some(("s", &[1])));
        assert!(found.contains("LEFT ANTI JOIN `s` AS suppressed ON recoded.l1 = suppressed.l0"), "{found}");
        assert!(found.starts_with("SELECT recoded.v0 AS `age`, recoded.v1 AS `sex` FROM ("), "{found}");
        assert!(found.ends_with("ORDER BY RAND()"), "{found}");
        assert!(!recode("v", &columns, None).contains("ANTI"));
    }
}
