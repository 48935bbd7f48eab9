//! Bars: one number for each name, on one scale from zero.

use super::canvas::{Anchor, Canvas, fitted_apart, short, width_of};
use super::numbers::Numbers;
use super::{Limit, Picture};

const WIDTH: f64 = 600.0;
const ROW: f64 = 22.0;
const LABEL_MAX: usize = 34;

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    pub value: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    pub title: String,
    pub description: String,
    /// The headings of the names and of the numbers.
    pub columns: [String; 2],
    pub bars: Vec<Bar>,
    /// The end of the scale; the longest bar when absent.
    pub full: Option<f64>,
    pub limit: Option<Limit>,
}

impl Bars {
    pub fn picture(&self) -> Picture {
        let names: Vec<String> = self.bars.iter().map(|bar| bar.name.clone()).collect();
        let labels = fitted_apart(&names, LABEL_MAX);
        let left = labels.iter().map(|label| width_of(label)).fold(40.0, f64::max) + 10.0;
        let span = WIDTH - left - 70.0;
        let longest = self.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        let full = self.full.unwrap_or(longest).max(f64::MIN_POSITIVE);
        let top = if self.limit.is_some() { 20.0 } else { 4.0 };
        let mut canvas = Canvas::default();
        let mut numbers = Numbers::new(&[&self.columns[0], &self.columns[1]]);
        for (place, (bar, label)) in self.bars.iter().zip(&labels).enumerate() {
            let y = top + ROW * place as f64;
            let length = span * (bar.value / full).clamp(0.0, 1.0);
            canvas.text([left - 8.0, y + 14.0], Anchor::End, "label", label);
            canvas.rect([left, y + 3.0, length, ROW - 7.0], "one", "");
            canvas.text([left + length + 6.0, y + 14.0], Anchor::Start, "soft", &short(bar.value));
            numbers.row([bar.name.as_str().into(), bar.value.into()]);
        }
        let height = top + ROW * self.bars.len() as f64 + 4.0;
        canvas.line([left, top, left, height - 4.0], "axis");
        if let Some(limit) = self.limit.as_ref().filter(|limit| limit.at <= full) {
            let x = left + span * limit.at / full;
            canvas.line([x, top - 4.0, x, height - 4.0], "limit");
            canvas.text([x, 12.0], Anchor::Middle, "alarm", &limit.name);
        }
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width: WIDTH, height, body: canvas.into_body() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    fn bars(values: &[f64]) -> Bars {
        let bars = values.iter().map(|&value| Bar { name: "aa".into(), value }).collect();
        Bars { bars, full: Some(1.0), ..Bars::default() }
    }

    #[test]
    fn lengths_are_in_proportion_and_rows_evenly_apart() {
        let svg = bars(&[1.0, 0.5, 0.0]).picture().to_svg();
        let found = marks(&svg, "rect", "one", &["x", "y", "width"]);
        assert_eq!(found.iter().map(|bar| bar[0]).collect::<Vec<_>>(), [50.0; 3], "all start at the axis");
        assert_eq!(found.iter().map(|bar| bar[1]).collect::<Vec<_>>(), [7.0, 29.0, 51.0]);
        assert_eq!(found.iter().map(|bar| bar[2]).collect::<Vec<_>>(), [480.0, 240.0, 0.0]);
    }

    #[test]
    fn a_limit_stands_where_its_value_would_end() {
        let limit = Some(Limit { at: 0.25, name: "limit".into() });
        let svg = Bars { limit, ..bars(&[1.0]) }.picture().to_svg();
        assert_eq!(marks(&svg, "line", "limit", &["x1", "x2"]), [[170.0, 170.0]]);
    }

    #[test]
    fn no_bars_are_drawn_without_values_and_zeros_have_no_length() {
        assert!(marks(&bars(&[]).picture().to_svg(), "rect", "one", &["x"]).is_empty());
        let zeros = Bars { full: None, ..bars(&[0.0, 0.0]) }.picture().to_svg();
        assert_eq!(marks(&zeros, "rect", "one", &["width"]), [[0.0], [0.0]]);
        assert!(!zeros.contains("NaN"));
    }
}
