//! A distribution before and after: the source as a hollow bar, the release as a filled one behind
//! it, so that what is missing and what is added both show.

use super::Picture;
use super::canvas::{Anchor, Canvas, fitted_apart, short, width_of};
use super::numbers::Numbers;

const WIDTH: f64 = 600.0;
const ROW: f64 = 22.0;
const LABEL_MAX: usize = 30;

/// One value, or one range of values.
#[derive(Debug, Clone, PartialEq)]
pub struct BeforeAfterPair {
    pub name: String,
    pub before: f64,
    pub after: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct BeforeAfter {
    pub title: String,
    pub description: String,
    /// The headings of the names, of the hollow marks and of the filled ones.
    pub columns: [String; 3],
    pub pairs: Vec<BeforeAfterPair>,
}

impl BeforeAfter {
    pub fn picture(&self) -> Picture {
        let names: Vec<String> = self.pairs.iter().map(|pair| pair.name.clone()).collect();
        let labels = fitted_apart(&names, LABEL_MAX);
        let left = labels.iter().map(|label| width_of(label)).fold(40.0, f64::max) + 10.0;
        let span = WIDTH - left - 130.0;
        let most = self.pairs.iter().flat_map(|pair| [pair.before, pair.after]).fold(f64::MIN_POSITIVE, f64::max);
        let mut canvas = Canvas::default();
        let mut numbers = Numbers::new(&self.columns.each_ref().map(String::as_str));
        let top = 24.0;
        canvas.rect([left, 4.0, 14.0, 11.0], "hollow", "");
        canvas.text([left + 20.0, 14.0], Anchor::Start, "soft", &self.columns[1]);
        let second = left + 40.0 + width_of(&self.columns[1]);
        canvas.rect([second, 4.0, 14.0, 11.0], "two", "");
        canvas.text([second + 20.0, 14.0], Anchor::Start, "soft", &self.columns[2]);
        for (place, (pair, label)) in self.pairs.iter().zip(&labels).enumerate() {
            let y = top + ROW * place as f64;
            let [before, after] = [pair.before, pair.after].map(|rows| span * (rows / most).clamp(0.0, 1.0));
            canvas.text([left - 8.0, y + 14.0], Anchor::End, "label", label);
            canvas.rect([left, y + 6.0, after, ROW - 12.0], "two", "");
            canvas.rect([left, y + 3.0, before, ROW - 6.0], "hollow", "");
            let counts = format!("{} → {}", short(pair.before), short(pair.after));
            canvas.text([left + before.max(after) + 6.0, y + 15.0], Anchor::Start, "soft", &counts);
            numbers.row([pair.name.as_str().into(), pair.before.into(), pair.after.into()]);
        }
        let height = top + ROW * self.pairs.len() as f64 + 6.0;
        canvas.line([left, top, left, height - 4.0], "axis");
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width: WIDTH, height, body: canvas.into_body() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    #[test]
    fn both_bars_share_one_scale() {
        let pair = |before, after| BeforeAfterPair { name: "a".into(), before, after };
        let picture = BeforeAfter { pairs: vec![pair(10.0, 5.0), pair(0.0, 10.0)], ..BeforeAfter::default() };
        let svg = picture.picture().to_svg();
        // The first mark of each class is its key.
        let before = marks(&svg, "rect", "hollow", &["x", "width"]);
        let after = marks(&svg, "rect", "two", &["x", "width"]);
        assert_eq!(before[1..], [[50.0, 420.0], [50.0, 0.0]]);
        assert_eq!(after[1..], [[50.0, 210.0], [50.0, 420.0]]);
        assert_eq!(picture.picture().numbers.rows.len(), 2);
    }

    #[test]
    fn zero_before_and_after_is_drawn() {
        let pairs = vec![BeforeAfterPair { name: String::new(), before: 0.0, after: 0.0 }];
        let svg = BeforeAfter { pairs, ..BeforeAfter::default() }.picture().to_svg();
        assert!(!svg.contains("NaN") && svg.contains("(missing)"));
    }
}
