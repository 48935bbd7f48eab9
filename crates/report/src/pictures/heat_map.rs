//! A heat map: two attributes against one another, darker where there are more rows. The count
//! stands in every cell, so that no reader depends on the shade.

use super::Picture;
use super::canvas::{Anchor, Canvas, fitted_apart, short, width_of};
use super::numbers::{NumberCell, Numbers};

const COLUMN: f64 = 88.0;
const COLUMN_CHARACTERS: usize = 11;
const ROW: f64 = 24.0;
const SHADES: f64 = 5.0;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    pub title: String,
    pub description: String,
    /// The headings of the rows and of the columns.
    pub axes: [String; 2],
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// One list for every row.
    pub counts: Vec<Vec<f64>>,
}

impl HeatMap {
    pub fn picture(&self) -> Picture {
        let labels = fitted_apart(&self.rows, 22);
        let titles = fitted_apart(&self.columns, COLUMN_CHARACTERS);
        let left = labels.iter().map(|label| width_of(label)).fold(60.0, f64::max) + 12.0;
        let top = 46.0;
        let most = self.counts.iter().flatten().copied().fold(0.0, f64::max);
        let mut canvas = Canvas::default();
        let axes = format!("{} ↓   {} →", self.axes[0], self.axes[1]);
        canvas.text([0.0, 14.0], Anchor::Start, "soft", &axes);
        let header: Vec<&str> =
            std::iter::once(self.axes[0].as_str()).chain(self.columns.iter().map(String::as_str)).collect();
        let mut numbers = Numbers::new(&header);
        for (index, column) in titles.iter().enumerate() {
            let x = left + COLUMN * (index as f64 + 0.5);
            canvas.text([x, top - 8.0], Anchor::Middle, "soft", column);
        }
        for (row, (label, counts)) in labels.iter().zip(&self.counts).enumerate() {
            let y = top + ROW * row as f64;
            canvas.text([left - 8.0, y + 16.0], Anchor::End, "label", label);
            for (column, &count) in counts.iter().enumerate() {
                let x = left + COLUMN * column as f64;
                let shade = shade(count, most);
                canvas.rect([x + 1.0, y + 1.0, COLUMN - 2.0, ROW - 2.0], &format!("heat-{shade}"), "");
                let class = if shade >= 4 { "on-dark" } else { "label" };
                canvas.text([x + COLUMN / 2.0, y + 16.0], Anchor::Middle, class, &short(count));
            }
            let cells = counts.iter().map(|&count| NumberCell::Number(count));
            numbers.rows.push(std::iter::once(NumberCell::Text(self.rows[row].clone())).chain(cells).collect());
        }
        let width = (left + COLUMN * self.columns.len() as f64 + 4.0).max(240.0).max(width_of(&axes) + 4.0);
        let height = top + ROW * self.rows.len() as f64 + 4.0;
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width, height, body: canvas.into_body() }
    }
}

/// 0 for none; by the square root, so that a small count next to a large one is still seen.
fn shade(count: f64, most: f64) -> u32 {
    if count <= 0.0 || most <= 0.0 { 0 } else { ((count / most).sqrt() * SHADES).ceil().clamp(1.0, SHADES) as u32 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    #[test]
    fn cells_lie_on_a_grid_and_the_most_is_darkest() {
        let map = HeatMap {
            rows: vec!["a".into(), "b".into()],
            columns: vec!["x".into(), "y".into()],
            counts: vec![vec![100.0, 0.0], vec![1.0, 25.0]],
            ..HeatMap::default()
        };
        let svg = map.picture().to_svg();
        assert_eq!(marks(&svg, "rect", "heat-5", &["x", "y"]), [[73.0, 47.0]]);
        assert_eq!(marks(&svg, "rect", "heat-0", &["x", "y"]), [[161.0, 47.0]]);
        assert_eq!(marks(&svg, "rect", "heat-1", &["x", "y"]), [[73.0, 71.0]]);
        assert_eq!(marks(&svg, "rect", "heat-3", &["x", "y"]), [[161.0, 71.0]]);
        assert_eq!(map.picture().numbers.columns.len(), 3);
    }

    #[test]
    fn an_empty_table_has_no_shade() {
        assert_eq!(shade(0.0, 0.0), 0);
        assert!(!HeatMap::default().picture().to_svg().contains("NaN"));
    }
}
