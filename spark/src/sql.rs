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

/// A column of the source: its name, and the view that has for each of its texts `t` the value `v`
/// that is released and a number `l`.
#[derive(Debug)]
pub(crate) struct SourceColumn<'a> {
    pub(crate) name: &'a str,
    pub(crate) dictionary: String,
}

/// The origin of a released column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The value of a column of the source.
    Value(usize),
    /// The class of the row.
    Class,
}

/// Which rows are released, and what is known of them.
#[derive(Debug)]
pub(crate) enum RowSelection {
    All,
    /// All but those whose labels are in the view `suppressed`, as `l0`, `l1`, … for the columns at
    /// these places.
    But {
        suppressed: String,
        places: Vec<usize>,
    },
    /// All. The numbers of the columns of each word add up to a part `k0`, `k1`, … of the row's
    /// key, by which the view `pieces` has what leads to the row's class. The view `classes` has
    /// for every class `c` what is released as the column at a place: `v0`, `v1`, …
    InClasses {
        words: Vec<Vec<usize>>,
        pieces: String,
        by: ClassLookup,
        classes: String,
    },
}

/// How the view `pieces` leads to the class of a row.
#[derive(Debug)]
pub(crate) enum ClassLookup {
    /// It has the class `c`.
    Whole,
    /// It has the class `c` of the rows after the `a`th of equal ones, up to the `b`th.
    Parted,
    /// It has how many rows come before those of a kind, `a`, and how many up to its last, `z`.
    /// With these, rows are numbered; the view named here has for every number `b`, from 1 on, the
    /// class `c`. Numbers meet as equals: a cluster compares ranges with every row. A row beyond
    /// the last of its kind was not there when rows were counted, and must not take the number of
    /// another.
    Numbered(String),
}

/// The rows of a view with each text replaced, in random order.
pub(crate) fn recode(
    view: &str,
    source: &[SourceColumn<'_>],
    released: &[(&str, Origin)],
    rows: &RowSelection,
) -> String {
    let names: Vec<&str> = source.iter().map(|column| column.name).collect();
    let mut known: Vec<String> = Vec::new();
    let mut joins = String::new();
    for (place, column) in source.iter().enumerate() {
        known.push(format!("d{place}.v AS v{place}, d{place}.l AS l{place}"));
        // The missing value is a value: NULL meets NULL.
        joins.push_str(&format!(
            " JOIN {} AS d{place} ON source.c{place} <=> d{place}.t",
            identifier(&column.dictionary)
        ));
    }
    if let RowSelection::InClasses { words, by, .. } = rows {
        known.extend(words.iter().enumerate().map(|(word, places)| {
            let terms: String = places.iter().map(|place| format!(" + d{place}.l")).collect();
            format!("CAST(0 AS BIGINT){terms} AS k{word}")
        }));
        known.extend((!matches!(by, ClassLookup::Whole)).then(|| "RAND() AS draw".to_owned()));
    }
    let joined = format!("SELECT {} FROM ({}) AS source{joins}", known.join(", "), texts(view, &names));
    let released = released.iter().enumerate().map(|(place, (name, origin))| match origin {
        Origin::Value(column) => format!("recoded.v{column} AS {}", identifier(name)),
        Origin::Class => format!("classes.v{place} AS {}", identifier(name)),
    });
    let released = released.collect::<Vec<_>>().join(", ");
    format!("SELECT {released} FROM {} ORDER BY RAND()", chosen(&joined, rows))
}

/// The rows as `recoded`, joined with what decides which of them are released as what.
fn chosen(joined: &str, rows: &RowSelection) -> String {
    match rows {
        RowSelection::All => format!("({joined}) AS recoded"),
        RowSelection::But { suppressed, places } => {
            let same = |(label, place): (usize, &usize)| format!("recoded.l{place} = suppressed.l{label}");
            let same: Vec<String> = places.iter().enumerate().map(same).collect();
            let suppressed = identifier(suppressed);
            format!("({joined}) AS recoded LEFT ANTI JOIN {suppressed} AS suppressed ON {}", same.join(" AND "))
        }
        RowSelection::InClasses { words, pieces, by, classes } => {
            let keys: Vec<String> = (0..words.len()).map(|word| format!("k{word}")).collect();
            let same = |rows: &str| keys.iter().map(|key| format!("{rows}.{key} = pieces.{key}")).collect::<Vec<_>>();
            let (pieces, classes) = (identifier(pieces), identifier(classes));
            // Rows that are equal, or of one kind, stand in random order: the source has none.
            let placed = match by {
                ClassLookup::Whole => {
                    let same = same("recoded").join(" AND ");
                    format!("({joined}) AS recoded JOIN {pieces} AS pieces ON {same}")
                }
                ClassLookup::Parted => {
                    let number = format!("ROW_NUMBER() OVER (PARTITION BY {} ORDER BY draw)", keys.join(", "));
                    let same = same("recoded").join(" AND ");
                    format!(
                        "(SELECT *, {number} AS n FROM ({joined}) AS drawn) AS recoded JOIN {pieces} AS pieces \
                         ON {same} AND recoded.n > pieces.a AND recoded.n <= pieces.b"
                    )
                }
                ClassLookup::Numbered(numbers) => {
                    let same = same("drawn").join(" AND ");
                    let number = "kinds.a + ROW_NUMBER() OVER (PARTITION BY kinds.a ORDER BY kinds.draw)";
                    let kinds = format!(
                        "SELECT drawn.*, pieces.a, pieces.z FROM ({joined}) AS drawn JOIN {pieces} AS pieces ON {same}"
                    );
                    let numbers = identifier(numbers);
                    format!(
                        "(SELECT *, {number} AS n FROM ({kinds}) AS kinds) AS recoded JOIN {numbers} AS pieces \
                         ON recoded.n = pieces.b AND recoded.n <= recoded.z"
                    )
                }
            };
            format!("{placed} JOIN {classes} AS classes ON pieces.c = classes.c")
        }
    }
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
        let source = [
            SourceColumn { name: "age", dictionary: "d_age".to_owned() },
            SourceColumn { name: "sex", dictionary: "d_sex".to_owned() },
        ];
        let released = [("age", Origin::Value(0)), ("sex", Origin::Value(1))];
        let found = recode("v", &source, &released, &RowSelection::But { suppressed: "s".to_owned(), places: vec![1] });
        assert!(found.contains("LEFT ANTI JOIN `s` AS suppressed ON recoded.l1 = suppressed.l0"), "{found}");
        assert!(found.starts_with("SELECT recoded.v0 AS `age`, recoded.v1 AS `sex` FROM ("), "{found}");
        assert!(found.ends_with("ORDER BY RAND()"), "{found}");
        assert!(!recode("v", &source, &released, &RowSelection::All).contains("ANTI"));
    }

    #[test]
    fn rows_are_numbered_only_where_equal_ones_are_parted() {
        let source = [
            SourceColumn { name: "age", dictionary: "d_age".to_owned() },
            SourceColumn { name: "sex", dictionary: "d_sex".to_owned() },
        ];
        let released = [("age", Origin::Class), ("sex", Origin::Value(1))];
        let recoded = |by: ClassLookup| {
            let (pieces, classes) = ("p".to_owned(), "c".to_owned());
            let rows = RowSelection::InClasses { words: vec![vec![0, 1], vec![]], pieces, by, classes };
            recode("v", &source, &released, &rows)
        };
        let whole = recoded(ClassLookup::Whole);
        assert!(whole.starts_with("SELECT classes.v0 AS `age`, recoded.v1 AS `sex` FROM ("), "{whole}");
        assert!(whole.contains("CAST(0 AS BIGINT) + d0.l + d1.l AS k0, CAST(0 AS BIGINT) AS k1"), "{whole}");
        assert!(whole.contains("ON recoded.k0 = pieces.k0 AND recoded.k1 = pieces.k1 JOIN"), "{whole}");
        assert!(!whole.contains("ROW_NUMBER") && !whole.contains("draw"), "{whole}");
        let parted = recoded(ClassLookup::Parted);
        assert!(parted.contains("ROW_NUMBER() OVER (PARTITION BY k0, k1 ORDER BY draw) AS n"), "{parted}");
        assert!(parted.contains("recoded.n > pieces.a AND recoded.n <= pieces.b"), "{parted}");
        assert!(parted.ends_with("ORDER BY RAND()"), "{parted}");
        let numbered = recoded(ClassLookup::Numbered("s".to_owned()));
        assert!(numbered.contains("PARTITION BY kinds.a ORDER BY kinds.draw) AS n"), "{numbered}");
        assert!(
            numbered.contains("ON recoded.n = pieces.b AND recoded.n <= recoded.z JOIN `c` AS classes"),
            "{numbered}"
        );
    }
}
