//! A narrowing chain: which sensitive values are possible for a person after each release, step by
//! step. A value that a step excludes is struck out from there on.

use super::Picture;
use super::canvas::{Anchor, Canvas, fitted, fitted_apart, width_of};
use super::numbers::{NumberCell, Numbers};

const ROW: f64 = 24.0;
const STEP: f64 = 120.0;

/// One release.
#[derive(Debug, Clone, PartialEq)]
pub struct NarrowedRelease {
    pub name: String,
    /// Whether each value that is drawn is possible in this release by itself.
    pub possible: Vec<bool>,
    /// How many values are left after this release and all before it, drawn or not.
    pub left: usize,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct NarrowingChain {
    pub title: String,
    pub description: String,
    pub values: Vec<String>,
    pub steps: Vec<NarrowedRelease>,
}

impl NarrowingChain {
    /// Whether each value is possible after each step and all before it.
    pub fn left(&self) -> Vec<Vec<bool>> {
        let mut left = vec![true; self.values.len()];
        let mut all = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            for (left, possible) in left.iter_mut().zip(&step.possible) {
                *left &= possible;
            }
            all.push(left.clone());
        }
        all
    }

    pub fn picture(&self) -> Picture {
        let labels = fitted_apart(&self.values, 24);
        // What remains is bold.
        let start = labels.iter().map(|label| 1.12 * width_of(label)).fold(50.0, f64::max) + 18.0;
        let top = 34.0;
        let left = self.left();
        let mut canvas = Canvas::default();
        let header: Vec<&str> =
            std::iter::once("value").chain(self.steps.iter().map(|step| step.name.as_str())).collect();
        let mut numbers = Numbers::new(&header);
        let x_of = |step: usize| start + STEP * (step as f64 + 0.5);
        for (step, found) in self.steps.iter().enumerate() {
            let count = found.left;
            canvas.text([x_of(step), 12.0], Anchor::Middle, "label", &fitted(&found.name, 17));
            canvas.text(
                [x_of(step), 27.0],
                Anchor::Middle,
                if count < 2 { "alarm" } else { "soft" },
                &format!("{count} left"),
            );
        }
        for (value, label) in labels.iter().enumerate() {
            let y = top + ROW * (value as f64 + 0.5);
            let remains = left.last().is_none_or(|left| left[value]);
            let class = if remains { "strong" } else { "soft" };
            canvas.text([start - 12.0, y + 4.0], Anchor::End, class, label);
            let mut cells = vec![NumberCell::Text(self.values[value].clone())];
            for (step, left) in left.iter().enumerate() {
                let (x, possible) = (x_of(step), left[value]);
                if step > 0 && left[value] {
                    canvas.line([x_of(step - 1), y, x, y], "axis");
                }
                if possible {
                    canvas.circle([x, y, 6.0], "one", "");
                } else {
                    canvas.line([x - 5.0, y - 5.0, x + 5.0, y + 5.0], "axis");
                    canvas.line([x - 5.0, y + 5.0, x + 5.0, y - 5.0], "axis");
                }
                cells.push(NumberCell::Text(if possible { "possible" } else { "excluded" }.to_owned()));
            }
            numbers.rows.push(cells);
        }
        let width = start + STEP * self.steps.len() as f64 + 4.0;
        let height = top + ROW * self.values.len() as f64 + 4.0;
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width, height, body: canvas.into_body() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    fn chain() -> NarrowingChain {
        let step = |name: &str, possible: [bool; 3], left| NarrowedRelease {
            name: name.into(),
            possible: possible.to_vec(),
            left,
        };
        NarrowingChain {
            values: ["flu", "cold", "ache"].map(String::from).to_vec(),
            steps: vec![step("one", [true, true, false], 2), step("two", [true, false, true], 1)],
            ..NarrowingChain::default()
        }
    }

    #[test]
    fn a_value_that_was_excluded_stays_excluded() {
        assert_eq!(chain().left(), [[true, true, false], [true, false, false]]);
    }

    #[test]
    fn possible_values_are_dots_under_their_release() {
        let svg = chain().picture().to_svg();
        let dots = marks(&svg, "circle", "one", &["cx", "cy"]);
        assert_eq!(dots, [[128.0, 46.0], [248.0, 46.0], [128.0, 70.0]]);
        assert!(svg.contains(">2 left<") && svg.contains(">1 left<"));
    }

    /// Values that are not drawn are counted all the same.
    #[test]
    fn how_many_are_left_is_not_how_many_are_drawn() {
        let mut chain = chain();
        chain.steps[0].left = 107;
        assert!(chain.picture().to_svg().contains(">107 left<"));
    }

    #[test]
    fn no_release_leaves_all_values() {
        let none = NarrowingChain { steps: Vec::new(), ..chain() };
        assert!(!none.picture().to_svg().contains("NaN"));
    }
}
