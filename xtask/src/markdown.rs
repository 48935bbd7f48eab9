//! The little of Markdown that the checks read: tables, code spans, links, headings. Fenced blocks
//! are passed over, since they hold examples.

/// A table, with the number of the line each row stands on.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) line: usize,
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) cells: Vec<String>,
}

impl Row {
    /// A cell's items: between commas, without code marks.
    pub(crate) fn items(&self, cell: usize) -> impl Iterator<Item = &str> {
        let text = self.cells.get(cell).map_or("", String::as_str);
        text.split(',').map(|item| item.trim().trim_matches('`')).filter(|item| !item.is_empty())
    }
}

/// The lines outside fenced blocks, counted from 1.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((index + 1, line))
    })
}

/// The table whose header begins with these words.
pub(crate) fn table(text: &str, header: &[&str]) -> Option<Table> {
    let mut lines = prose(text).map(|(line, text)| (line, cells(text))).skip_while(
        |(_, cells)| !matches!(cells, Some(cells) if cells.len() >= header.len() && header.iter().zip(cells).all(|(a, b)| a == b)),
    );
    let (line, _) = lines.next()?;
    let is_rule = |cells: &[String]| cells.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c)));
    let rows =
        lines.map_while(|(line, cells)| Some(Row { line, cells: cells? })).filter(|row| !is_rule(&row.cells)).collect();
    Some(Table { line, rows })
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

/// The texts between single backticks on a line.
pub(crate) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Where a line's `[text](target)` links lead.
pub(crate) fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
# Title

```
| crate | may use |
```

| crate | may use | why |
|---|---|---|
| `table` | none | base |
| cli | `table`, privacy | top |

| crate | other |
";

    #[test]
    fn the_table_is_found_by_its_header_and_ends_at_a_blank_line() {
        let table = table(DOCUMENT, &["crate", "may use"]).unwrap();
        assert_eq!(table.line, 7);
        assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [9, 10]);
        assert_eq!(table.rows[1].items(1).collect::<Vec<_>>(), ["table", "privacy"]);
    }

    #[test]
    fn a_table_inside_a_fence_is_not_read() {
        assert_eq!(table("```\n| crate | may use |\n|---|---|\n```\n", &["crate", "may use"]), None);
    }

    #[test]
    fn spans_and_links() {
        assert_eq!(code_spans("see `a/b.rs` and `c`").collect::<Vec<_>>(), ["a/b.rs", "c"]);
        assert_eq!(link_targets("[x](a.md) then [y](b.md#z)").collect::<Vec<_>>(), ["a.md", "b.md#z"]);
        assert_eq!(link_targets("no link (here)").count(), 0);
    }
}
