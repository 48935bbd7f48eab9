//! The TOML document as one kind of tree, every node with its place. A table is a table here
//! whether it was written as `[a]`, `a.b = …` or `{ … }`, and a list whether as `[[a]]` or `[ … ]`:
//! they mean the same.

use std::ops::Range;
use std::rc::Rc;

use toml_edit::{Datetime, Document, Item, TableLike, TomlError, Value};

/// Where a node stands: its key path and its spans in the text.
#[derive(Debug)]
pub struct At {
    parent: Option<Rc<At>>,
    name: Name,
    /// The key, or for an element of a list the element itself.
    pub key: Range<usize>,
    pub value: Range<usize>,
}

#[derive(Debug)]
enum Name {
    Root,
    Key(String),
    /// From 1, as people count.
    Element(usize),
}

#[derive(Debug)]
pub struct TomlNode {
    pub at: Rc<At>,
    pub data: Data,
}

#[derive(Debug)]
pub enum Data {
    Text(String),
    Integer(i64),
    Float,
    Boolean(bool),
    Moment(Datetime),
    List(Vec<TomlNode>),
    /// In the order of the file.
    Table(Vec<(String, TomlNode)>),
}

impl At {
    /// A key that is not there: named, with the place of what should hold it.
    pub fn missing(parent: &Rc<At>, key: &str) -> At {
        At {
            parent: Some(parent.clone()),
            name: Name::Key(key.to_owned()),
            key: parent.key.clone(),
            value: parent.key.clone(),
        }
    }

    /// The file as a whole.
    pub fn nowhere() -> At {
        At { parent: None, name: Name::Root, key: 0..0, value: 0..0 }
    }

    fn element(parent: &Rc<At>, index: usize, span: Option<Range<usize>>) -> Rc<At> {
        let span = span.unwrap_or_else(|| parent.key.clone());
        let name = Name::Element(index + 1);
        Rc::new(At { parent: Some(parent.clone()), name, key: span.clone(), value: span })
    }

    /// `rule[2].require.k`; a key that TOML would want in quotes is quoted.
    pub fn path(&self) -> String {
        let mut path = self.parent.as_ref().map(|parent| parent.path()).unwrap_or_default();
        match &self.name {
            Name::Root => {}
            Name::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&key_text(key));
            }
            Name::Element(number) => path.push_str(&format!("[{number}]")),
        }
        path
    }
}

impl TomlNode {
    pub(crate) fn parse(text: &str) -> Result<TomlNode, TomlError> {
        let document = Document::parse(text)?;
        Ok(from_item(document.as_item(), None, Name::Root, 0..0))
    }

    /// With its article, to be read after "found".
    pub fn type_name(&self) -> &'static str {
        match &self.data {
            Data::Text(_) => "a text",
            Data::Integer(_) => "a whole number",
            Data::Float => "a number",
            Data::Boolean(_) => "true or false",
            Data::Moment(_) => "a date or time",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }
}

/// A key as it is written in the file: bare where TOML allows it.
pub fn key_text(key: &str) -> String {
    const KEY_CHARS_MAX: usize = 60;
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.len() <= KEY_CHARS_MAX && key.chars().all(bare) {
        return key.to_owned();
    }
    let mut shown: String = key.chars().take(KEY_CHARS_MAX).flat_map(char::escape_debug).collect();
    if key.chars().nth(KEY_CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// The parser refuses more than eighty levels, so recursion is safe here.
fn from_item(item: &Item, parent: Option<&Rc<At>>, name: Name, key: Range<usize>) -> TomlNode {
    let value = item.span().unwrap_or_else(|| key.clone());
    let at = Rc::new(At { parent: parent.cloned(), name, key, value });
    let data = match item {
        Item::None => Data::Table(Vec::new()),
        Item::Value(value) => from_value(value, &at),
        Item::Table(table) => from_table(table, &at),
        Item::ArrayOfTables(tables) => {
            let element = |(number, table): (usize, &toml_edit::Table)| {
                let element = At::element(&at, number, table.span());
                TomlNode { data: from_table(table, &element), at: element }
            };
            Data::List(tables.iter().enumerate().map(element).collect())
        }
    };
    TomlNode { at, data }
}

fn from_value(value: &Value, at: &Rc<At>) -> Data {
    match value {
        Value::String(text) => Data::Text(text.value().clone()),
        Value::Integer(number) => Data::Integer(*number.value()),
        Value::Float(_) => Data::Float,
        Value::Boolean(value) => Data::Boolean(*value.value()),
        Value::Datetime(moment) => Data::Moment(*moment.value()),
        Value::InlineTable(table) => from_table(table, at),
        Value::Array(array) => {
            let element = |(number, value): (usize, &Value)| {
                let element = At::element(at, number, value.span());
                TomlNode { data: from_value(value, &element), at: element }
            };
            Data::List(array.iter().enumerate().map(element).collect())
        }
    }
}

fn from_table(table: &dyn TableLike, at: &Rc<At>) -> Data {
    let entry = |(name, item): (&str, &Item)| {
        let span = table.key(name).and_then(|key| key.span()).unwrap_or_else(|| at.key.clone());
        (name.to_owned(), from_item(item, Some(at), Name::Key(name.to_owned()), span))
    };
    Data::Table(table.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(node: &TomlNode, into: &mut Vec<(String, Range<usize>)>) {
        into.push((node.at.path(), node.at.key.clone()));
        match &node.data {
            Data::List(elements) => elements.iter().for_each(|element| paths(element, into)),
            Data::Table(entries) => entries.iter().for_each(|(_, node)| paths(node, into)),
            _ => {}
        }
    }

    #[test]
    fn every_way_to_write_a_table_gives_the_same_paths() {
        let inline = "rule = [{require = {k = 1}}, {require = {k = 2}}]\n";
        let headers = "[[rule]]\nrequire.k = 1\n[[rule]]\n[rule.require]\nk = 2\n";
        for text in [inline, headers] {
            let mut found = Vec::new();
            paths(&TomlNode::parse(text).unwrap(), &mut found);
            let names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(
                names,
                [
                    "",
                    "rule",
                    "rule[1]",
                    "rule[1].require",
                    "rule[1].require.k",
                    "rule[2]",
                    "rule[2].require",
                    "rule[2].require.k"
                ]
            );
            assert_eq!(&text[found[7].1.clone()], "k");
        }
    }

    #[test]
    fn a_key_that_is_not_bare_is_quoted() {
        assert_eq!(key_text("max-nodes"), "max-nodes");
        assert_eq!(key_text("date of birth"), "\"date of birth\"");
        assert_eq!(key_text(""), "\"\"");
        assert_eq!(key_text("a\"b\u{7}"), "\"a\\\"b\\u{7}\"");
    }
}
