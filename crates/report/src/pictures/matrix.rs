//! People × releases: for groups of people, how many values each release leaves, and all together.

use super::Picture;
use super::canvas::{Anchor, Canvas, fitted, short};
use super::numbers::{NumberCell, Numbers};

const COLUMN: f64 = 92.0;
const ROW: f64 = 26.0;
const LEFT: f64 = 150.0;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    pub title: String,
    pub description: String,
    /// The groups of people.
    pub rows: Vec<String>,
    /// The releases; the last column is all of them together.
    pub columns: Vec<String>,
    /// One list for every row: the values left; `None` where a release says nothing about them.
    pub left: Vec<Vec<Option<f64>>>,
    /// Fewer are marked.
    pub required: f64,
}

impl Matrix {
    pub fn picture(&self) -> Picture {
        let top = 32.0;
        let mut canvas = Canvas::default();
        let header: Vec<&str> = std::iter::once("people").chain(self.columns.iter().map(String::as_str)).collect();
        let mut numbers = Numbers::new(&header);
        for (index, column) in self.columns.iter().enumerate() {
            let x = LEFT + COLUMN * (index as f64 + 0.5);
            canvas.text([x, top - 10.0], Anchor::Middle, "soft", &fitted(column, 13));
        }
        for (row, (name, left)) in self.rows.iter().zip(&self.left).enumerate() {
            let y = top + ROW * row as f64;
            canvas.text([LEFT - 10.0, y + 17.0], Anchor::End, "label", &fitted(name, 22));
            for (column, left) in left.iter().enumerate() {
                let x = LEFT + COLUMN * column as f64;
                let few = left.is_some_and(|left| left < self.required);
                canvas.rect([x + 1.0, y + 1.0, COLUMN - 2.0, ROW - 2.0], if few { "two" } else { "heat-0" }, "");
                let class = if few { "on-two" } else { "label" };
                canvas.text([x + COLUMN / 2.0, y + 17.0], Anchor::Middle, class, &left.map_or("–".to_owned(), short));
            }
            let cells = left.iter().map(|left| left.map_or(NumberCell::Text("–".to_owned()), NumberCell::Number));
            numbers.rows.push(std::iter::once(NumberCell::Text(name.clone())).chain(cells).collect());
        }
        let last = LEFT + COLUMN * self.columns.len().saturating_sub(1) as f64;
        let height = top + ROW * self.rows.len() as f64 + 4.0;
        canvas.line([last, top - 24.0, last, height], "axis");
        let width = LEFT + COLUMN * self.columns.len() as f64 + 4.0;
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width, height, body: canvas.into_body() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    #[test]
    fn few_values_are_marked_where_they_are() {
        let matrix = Matrix {
            rows: vec!["a".into(), "b".into()],
            columns: vec!["one".into(), "two".into(), "together".into()],
            left: vec![vec![Some(3.0), None, Some(1.0)], vec![Some(2.0), Some(2.0), Some(2.0)]],
            required: 2.0,
            ..Matrix::default()
        };
        let svg = matrix.picture().to_svg();
        assert_eq!(marks(&svg, "rect", "two", &["x", "y"]), [[335.0, 33.0]], "the last cell of the first row");
        assert_eq!(marks(&svg, "rect", "heat-0", &["x"]).len(), 5);
        assert_eq!(matrix.picture().numbers.rows[0][2], NumberCell::Text("–".into()));
    }

    #[test]
    fn an_empty_matrix_is_drawn() {
        assert!(!Matrix::default().picture().to_svg().contains("NaN"));
    }
}
