//! The numbers of a picture as a table, for readers who do not see it and for those who want the
//! figures.

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Text(String),
    Number(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

/// A table with a heading for every column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numbers {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Numbers {
    pub(crate) fn new(columns: &[&str]) -> Numbers {
        Numbers { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.to_vec());
    }
}
