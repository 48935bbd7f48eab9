//! The numbers of a picture as a table, for readers who do not see it and for those who want the
//! figures.

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberCell {
    Text(String),
    Number(f64),
}

impl From<&str> for NumberCell {
    fn from(text: &str) -> NumberCell {
        NumberCell::Text(text.to_owned())
    }
}

impl From<f64> for NumberCell {
    fn from(number: f64) -> NumberCell {
        NumberCell::Number(number)
    }
}

/// A table with a heading for every column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numbers {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<NumberCell>>,
}

impl Numbers {
    pub(crate) fn new(columns: &[&str]) -> Numbers {
        Numbers { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [NumberCell; N]) {
        self.rows.push(cells.to_vec());
    }
}
