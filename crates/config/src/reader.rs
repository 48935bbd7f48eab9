//! Reads typed values out of the tree and collects what is wrong, so that one run reports as much
//! as possible.

use std::path::Path;
use std::rc::Rc;

use hedgerow_table::InputError;

use crate::error::{ConfigError, ConfigErrors};
use crate::position::{Lines, quoted};
use crate::tree::{At, Data, TomlNode};
use crate::word::{Word, listed, nearest_word};

/// More than this is not read by anyone; the rest is counted.
const ERRORS_MAX: usize = 50;

#[derive(Debug)]
pub struct Reader<'a> {
    file: String,
    lines: Lines<'a>,
    errors: Vec<(usize, ConfigError)>,
    left_off: usize,
    pub warnings: Vec<InputError>,
    places: &'static [WrongTable],
}

/// A table of a file with its words, for keys that stand in the wrong table.
#[derive(Debug, Clone, Copy)]
pub struct WrongTable {
    /// How the table is called: `limits`; empty for the keys at the top of the file.
    pub name: &'static str,
    pub words: &'static [Word],
}

/// A value, and the word whose value it is.
#[derive(Debug, Clone, Copy)]
pub struct Field<'n> {
    pub node: &'n TomlNode,
    word: &'static Word,
}

/// A table whose keys are all known.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'n> {
    pub at: &'n Rc<At>,
    entries: &'n [(String, TomlNode)],
    words: &'static [Word],
}

impl<'n> Fields<'n> {
    pub fn get(&self, key: &str) -> Option<Field<'n>> {
        debug_assert!(self.words.iter().any(|word| word.name == key), "`{key}` is missing from the table of words");
        Field::of(self.entries, self.words, key)
    }
}

impl<'n> Field<'n> {
    /// One value of a table whose other keys are not known yet.
    pub fn of(entries: &'n [(String, TomlNode)], words: &'static [Word], key: &str) -> Option<Field<'n>> {
        let word = words.iter().find(|word| word.name == key)?;
        entries.iter().find(|(name, _)| word.is(name)).map(|(_, node)| Field { node, word })
    }

    /// The meaning of the key and the forms that its value may have.
    pub fn hint(self) -> String {
        format!("{}; for example `{}`", self.word.about, self.word.example)
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, path: &Path) -> Self {
        let file = path.display().to_string();
        Reader { file, lines: Lines::new(text), errors: Vec::new(), left_off: 0, warnings: Vec::new(), places: &[] }
    }

    /// The tables of the file: a key that is unknown in one of them may belong into another.
    pub fn set_places(&mut self, places: &'static [WrongTable]) {
        self.places = places;
    }

    /// The value when nothing was wrong. Errors come out in the order of the file.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, ConfigErrors> {
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => {
                self.errors.sort_by_key(|(offset, _)| *offset);
                let found = self.errors.into_iter().map(|(_, error)| error).collect();
                Err(ConfigErrors { found, left_off: self.left_off })
            }
        }
    }

    /// `FILE:LINE:COLUMN: key.path`
    pub fn place(&self, at: &At) -> String {
        self.place_at(at.key.start, at)
    }

    fn place_at(&self, offset: usize, at: &At) -> String {
        let position = self.lines.position(offset);
        let path = at.path();
        let separator = if path.is_empty() { "" } else { ": " };
        format!("{}:{}:{}{separator}{path}", self.file, position.line, position.column)
    }

    /// Whether further errors are only counted, so that nothing costly need be done for their
    /// hints.
    pub fn is_full(&self) -> bool {
        self.errors.len() == ERRORS_MAX
    }

    /// The value is wrong.
    pub fn refuse(&mut self, at: &At, problem: impl Into<String>, hint: impl Into<String>) {
        self.refuse_span(at.value.clone(), at, problem, hint);
    }

    /// The key is wrong, or something is missing below it.
    pub fn refuse_key(&mut self, at: &At, problem: impl Into<String>, hint: impl Into<String>) {
        self.refuse_span(at.key.clone(), at, problem, hint);
    }

    pub fn refuse_span(
        &mut self,
        span: std::ops::Range<usize>,
        at: &At,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) {
        if self.is_full() {
            self.left_off += 1;
            return;
        }
        let error = InputError::new(self.place_at(span.start, at), problem, hint);
        let position = Some(self.lines.position(span.start));
        // What the file as a whole lacks has no line of its own to show.
        let excerpt = (span != (0..0)).then(|| self.lines.excerpt(&span));
        self.errors.push((span.start, ConfigError { error, position, excerpt }));
    }

    /// Refuses a value that was read before and is only now seen to be wrong.
    pub fn refuse_place(&mut self, place: &str, problem: impl Into<String>, hint: impl Into<String>) {
        let error = InputError::new(place, problem, hint);
        self.errors.push((usize::MAX, ConfigError { error, position: None, excerpt: None }));
    }

    pub fn warn(&mut self, at: &At, problem: impl Into<String>, hint: impl Into<String>) {
        self.warnings.push(InputError::new(self.place(at), problem, hint));
    }

    /// The same of what was read before.
    pub fn warn_place(&mut self, place: &str, problem: impl Into<String>, hint: impl Into<String>) {
        self.warnings.push(InputError::new(place, problem, hint));
    }

    pub fn slice(&self, span: &std::ops::Range<usize>) -> &'a str {
        self.lines.slice(span)
    }

    /// A value exactly as it is written in the file.
    pub fn text_of(&self, node: &TomlNode) -> &'a str {
        self.lines.slice(&node.at.value)
    }

    pub fn wrong_type(&mut self, field: Field<'_>, expected: &str) {
        let problem = format!("expected {expected}, found {}", field.node.type_name());
        self.refuse(&field.node.at, problem, field.hint());
    }

    /// A table with known keys only, and with all that it must have.
    pub fn table<'n>(&mut self, node: &'n TomlNode, words: &'static [Word], example: &str) -> Option<Fields<'n>> {
        let Data::Table(entries) = &node.data else {
            let problem = format!("expected a table, found {}", node.type_name());
            self.refuse(&node.at, problem, format!("for example `{example}`"));
            return None;
        };
        for (key, entry) in entries {
            self.known_key(key, entry, words);
        }
        for word in words {
            let mut given = entries.iter().filter(|(key, _)| word.is(key));
            let first = given.next();
            if let (Some((name, _)), Some((other, entry))) = (first, given.next()) {
                let problem = format!("{} means the same as {}, which is given too", quoted(other), quoted(name));
                self.refuse_key(&entry.at, problem, "keep one of the two");
            }
            if word.required && first.is_none() {
                let missing = At::missing(&node.at, word.name);
                let hint = format!("{}; for example `{}`", word.about, word.example);
                self.refuse_key(&missing, format!("`{}` is missing", word.name), hint);
            }
        }
        Some(Fields { at: &node.at, entries, words })
    }

    fn known_key(&mut self, key: &str, entry: &TomlNode, words: &'static [Word]) {
        match words.iter().find(|word| word.is(key)) {
            Some(word) if word.available => {}
            Some(word) => {
                let available = words.iter().filter(|word| word.available).map(|word| word.name);
                let hint = format!("remove it; available here: {}", listed(available));
                self.refuse_key(&entry.at, format!("not available in this version ({})", word.about), hint);
            }
            None => {
                let hint = match (self.belongs(key), nearest_word(key, words.iter())) {
                    (Some(hint), _) => hint,
                    (None, Some(name)) => format!("did you mean `{name}`?"),
                    (None, None) => {
                        let known = words.iter().filter(|word| word.available).map(|word| word.name);
                        format!("known here: {}", listed(known))
                    }
                };
                self.refuse_key(&entry.at, "unknown key", hint);
            }
        }
    }

    /// Where a key belongs that is unknown in its own table.
    fn belongs(&self, key: &str) -> Option<String> {
        let found: Vec<&WrongTable> =
            self.places.iter().filter(|place| place.words.iter().any(|word| word.is(key))).collect();
        let word = found.first()?.words.iter().find(|word| word.is(key))?;
        let names = found.iter().map(|place| match place.name {
            "" => "at the top of the file, before the first `[[…]]`".to_owned(),
            name => format!("in `{name}`"),
        });
        let names = names.collect::<Vec<_>>().join(" or ");
        Some(format!("`{key}` belongs {names}: {}; for example `{}`", word.about, word.example))
    }

    pub fn text<'n>(&mut self, field: Field<'n>) -> Option<&'n str> {
        match &field.node.data {
            Data::Text(text) => Some(text),
            _ => {
                self.wrong_type(field, "a text in quotes");
                None
            }
        }
    }

    pub fn flag(&mut self, field: Field<'_>) -> Option<bool> {
        match field.node.data {
            Data::Boolean(value) => Some(value),
            _ => {
                self.wrong_type(field, "true or false");
                None
            }
        }
    }

    /// The elements of a list, each as a field of the same word.
    pub fn list<'n>(&mut self, field: Field<'n>) -> Option<Vec<Field<'n>>> {
        match &field.node.data {
            Data::List(nodes) => Some(nodes.iter().map(|node| Field { node, word: field.word }).collect()),
            _ => {
                self.wrong_type(field, "a list in brackets");
                None
            }
        }
    }

    /// The entries of a table whose keys are names of the user's, each as a field of the same word.
    pub fn entries<'n>(&mut self, field: Field<'n>) -> Vec<(&'n str, Field<'n>)> {
        match &field.node.data {
            Data::Table(entries) => {
                entries.iter().map(|(name, node)| (name.as_str(), Field { node, word: field.word })).collect()
            }
            _ => {
                self.wrong_type(field, "a table");
                Vec::new()
            }
        }
    }

    /// One of the words by name. `what` completes "unknown …".
    pub fn choice(
        &mut self,
        field: Field<'_>,
        words: impl Iterator<Item = &'static Word> + Clone,
        what: &str,
    ) -> Option<&'static str> {
        let given = self.text(field)?;
        let available = || listed(words.clone().filter(|word| word.available).map(|word| word.name));
        match words.clone().find(|word| word.is(given)) {
            Some(word) if word.available => Some(word.name),
            Some(word) => {
                let problem = format!("the {what} {} is not available in this version", quoted(word.name));
                self.refuse(&field.node.at, problem, format!("available now: {}", available()));
                None
            }
            None => {
                let hint = match nearest_word(given, words.clone()) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("known: {}", available()),
                };
                self.refuse(&field.node.at, format!("unknown {what} {}", quoted(given)), hint);
                None
            }
        }
    }
}
