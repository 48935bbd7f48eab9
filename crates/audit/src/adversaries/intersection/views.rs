//! The same people seen several times: each sub-table's rows and its slots, as sets of possible
//! values.

use hashbrown::HashMap;

use super::sub_table::SubTable;

/// A set of values of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Possible {
    words: Vec<u64>,
}

impl Possible {
    pub(super) fn none(values: usize) -> Possible {
        Possible { words: vec![0; values.div_ceil(64)] }
    }

    pub(super) fn add(&mut self, value: usize) {
        self.words[value / 64] |= 1 << (value % 64);
    }

    pub(super) fn has(&self, value: usize) -> bool {
        self.words[value / 64] >> (value % 64) & 1 == 1
    }

    pub(super) fn meets(&self, other: &Possible) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    pub(super) fn join(&mut self, other: &Possible) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn keep(&mut self, other: &Possible) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
    }

    pub(super) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The only value, when there is one.
    pub(super) fn only(&self) -> Option<usize> {
        let first = self.words.iter().position(|&word| word != 0)?;
        (self.count() == 1).then(|| first * 64 + self.words[first].trailing_zeros() as usize)
    }
}

/// Some people of a view of whom the same is known.
#[derive(Debug, Clone)]
pub(super) struct ViewMember {
    pub(super) people: u64,
    /// By attribute; `None` is any value. The last attributes are the buckets of each sub-table.
    pub(super) possible: Vec<Option<Possible>>,
    pub(super) bucket: usize,
    /// Among the rows, or the values, of its bucket.
    pub(super) position: usize,
}

#[derive(Debug)]
pub(super) struct SubTableView {
    pub(super) members: Vec<ViewMember>,
}

/// The rows of every sub-table, and its slots where one attribute is listed by bucket.
#[derive(Debug)]
pub(super) struct Views {
    pub(super) views: Vec<SubTableView>,
    /// By sub-table, which view its rows are.
    rows_of: Vec<usize>,
    attributes: HashMap<String, usize>,
    codes: Vec<HashMap<String, usize>>,
}

impl Views {
    pub(super) fn new(tables: &[SubTable]) -> Views {
        let mut attributes: HashMap<String, usize> = HashMap::new();
        for name in tables.iter().flat_map(|table| table.quasi.iter().chain(&table.sensitive)) {
            let next = attributes.len();
            attributes.entry(name.clone()).or_insert(next);
        }
        let mut codes: Vec<HashMap<String, usize>> = vec![HashMap::new(); attributes.len()];
        let mut learn = |attribute: usize, text: &String| {
            let next = codes[attribute].len();
            codes[attribute].entry(text.clone()).or_insert(next);
        };
        for table in tables {
            for bucket in &table.buckets {
                for (name, text) in bucket.rows.iter().flat_map(|(texts, _)| table.quasi.iter().zip(texts)) {
                    learn(attributes[name], text);
                }
                if let Some(sensitive) = &table.sensitive {
                    bucket.values.iter().for_each(|(text, _)| learn(attributes[sensitive], text));
                }
            }
        }
        let mut views = Views { views: Vec::new(), rows_of: Vec::new(), attributes, codes };
        for (number, table) in tables.iter().enumerate() {
            views.rows_of.push(views.views.len());
            let rows = views.rows(table, number, tables.len());
            views.views.push(rows);
            if let Some(sensitive) = &table.sensitive {
                let slots = views.slots(table, sensitive, number, tables.len());
                views.views.push(slots);
            }
        }
        views
    }

    /// The rows of a sub-table.
    pub(super) fn rows_of(&self, table: usize) -> &SubTableView {
        &self.views[self.rows_of[table]]
    }

    pub(super) fn attribute(&self, name: &str) -> usize {
        self.attributes[name]
    }

    pub(super) fn code(&self, attribute: usize, text: &str) -> usize {
        self.codes[attribute][text]
    }

    /// Every view must be about equally many people.
    pub(super) fn same_people(&self) -> bool {
        let people = |view: &SubTableView| view.members.iter().map(|member| member.people).sum::<u64>();
        self.views.windows(2).all(|pair| people(&pair[0]) == people(&pair[1]))
    }

    /// A number that falls whenever a value is ruled out.
    pub(super) fn possibilities(&self) -> u64 {
        let members = self.views.iter().flat_map(|view| &view.members);
        let of = |member: &ViewMember| {
            member.possible.iter().map(|possible| possible.as_ref().map_or(1 << 32, Possible::count)).sum::<u64>()
        };
        members.map(of).sum()
    }

    fn member(&self, table: &SubTable, number: usize, tables: usize, bucket: usize, position: usize) -> ViewMember {
        let mut possible = vec![None; self.attributes.len() + tables];
        let mut own = Possible::none(table.buckets.len());
        own.add(bucket);
        possible[self.attributes.len() + number] = Some(own);
        ViewMember { people: 0, possible, bucket, position }
    }

    /// A row has its quasi-identifiers, and any sensitive value of its bucket; any value at all
    /// where none is released.
    fn rows(&self, table: &SubTable, number: usize, tables: usize) -> SubTableView {
        let sensitive = table.sensitive.as_ref().map(|name| self.attributes[name]);
        let mut members = Vec::new();
        for (index, bucket) in table.buckets.iter().enumerate() {
            let listed = sensitive.filter(|_| !bucket.values.is_empty());
            let values =
                listed.map(|attribute| (attribute, self.set(attribute, bucket.values.iter().map(|(value, _)| value))));
            for (position, (texts, people)) in bucket.rows.iter().enumerate() {
                let mut member = self.member(table, number, tables, index, position);
                member.people = *people;
                for (name, text) in table.quasi.iter().zip(texts) {
                    let attribute = self.attributes[name];
                    member.possible[attribute] = Some(self.set(attribute, [text].into_iter()));
                }
                if let Some((attribute, values)) = &values {
                    member.possible[*attribute] = Some(values.clone());
                }
                members.push(member);
            }
        }
        SubTableView { members }
    }

    /// A slot has its sensitive value, and the quasi-identifiers of any row of its bucket. Rows
    /// without a released value are one slot that can have any.
    fn slots(&self, table: &SubTable, sensitive: &str, number: usize, tables: usize) -> SubTableView {
        let sensitive = self.attributes[sensitive];
        let mut members = Vec::new();
        for (index, bucket) in table.buckets.iter().enumerate() {
            let unknown = bucket.values.is_empty().then(|| (None, bucket.rows.iter().map(|(_, people)| *people).sum()));
            let listed = bucket.values.iter().map(|(text, people)| (Some(text), *people));
            for (position, (text, people)) in listed.chain(unknown).enumerate() {
                let mut member = self.member(table, number, tables, index, position);
                member.people = people;
                for (column, name) in table.quasi.iter().enumerate() {
                    let attribute = self.attributes[name];
                    let texts = bucket.rows.iter().map(|(texts, _)| &texts[column]);
                    member.possible[attribute] = Some(self.set(attribute, texts));
                }
                member.possible[sensitive] = text.map(|text| self.set(sensitive, [text].into_iter()));
                members.push(member);
            }
        }
        SubTableView { members }
    }

    fn set<'t>(&self, attribute: usize, texts: impl Iterator<Item = &'t String>) -> Possible {
        let mut set = Possible::none(self.codes[attribute].len());
        texts.for_each(|text| set.add(self.codes[attribute][text]));
        set
    }
}
