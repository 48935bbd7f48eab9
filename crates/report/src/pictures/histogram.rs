//! A histogram: how many there are in each range, ranges next to one another.

use super::Picture;
use super::canvas::{Anchor, Canvas, short};
use super::frame::Frame;
use super::numbers::Numbers;

const WIDTH: f64 = 600.0;

/// One range.
#[derive(Debug, Clone, PartialEq)]
pub struct Bin {
    pub name: String,
    pub count: f64,
    /// Drawn in the color of what is below a requirement.
    pub marked: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Histogram {
    pub title: String,
    pub description: String,
    /// The headings of the ranges and of the counts.
    pub columns: [String; 2],
    pub bins: Vec<Bin>,
}

impl Histogram {
    pub fn picture(&self) -> Picture {
        let most = self.bins.iter().map(|bin| bin.count).fold(0.0, f64::max).max(1.0);
        let frame = Frame { left: 56.0, top: 28.0, width: 530.0, height: 150.0, x: [0.0, 1.0], y: [0.0, most] };
        let mut canvas = Canvas::default();
        let mut numbers = Numbers::new(&[&self.columns[0], &self.columns[1]]);
        // Counts have no parts.
        frame.y_axis_in_steps(&mut canvas, &self.columns[1], most.min(5.0));
        let step = frame.width / self.bins.len().max(1) as f64;
        for (place, bin) in self.bins.iter().enumerate() {
            let (x, y) = (frame.left + step * place as f64, frame.y_of(bin.count));
            let bottom = frame.top + frame.height;
            canvas.rect([x + 2.0, y, step - 4.0, bottom - y], if bin.marked { "two" } else { "one" }, "");
            if bin.count > 0.0 {
                canvas.text([x + step / 2.0, y - 4.0], Anchor::Middle, "label", &short(bin.count));
            }
            canvas.text([x + step / 2.0, bottom + 17.0], Anchor::Middle, "soft", &bin.name);
            numbers.row([bin.name.as_str().into(), bin.count.into()]);
        }
        frame.x_line(&mut canvas, &self.columns[0]);
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width: WIDTH, height: 220.0, body: canvas.into_body() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    #[test]
    fn heights_are_in_proportion_and_bins_fill_the_width() {
        let bin = |count| Bin { name: "a".into(), count, marked: false };
        let svg = Histogram { bins: vec![bin(4.0), bin(1.0)], ..Histogram::default() }.picture().to_svg();
        let found = marks(&svg, "rect", "one", &["x", "y", "width", "height"]);
        assert_eq!(found, [[58.0, 28.0, 261.0, 150.0], [323.0, 140.5, 261.0, 37.5]]);
    }

    #[test]
    fn few_are_counted_in_whole_numbers() {
        let bin = |count| Bin { name: "a".into(), count, marked: false };
        for most in [1.0, 2.0, 3.0, 7.0] {
            let svg = Histogram { bins: vec![bin(most)], ..Histogram::default() }.picture().to_svg();
            let soft = svg.split("<text class=\"soft\"").skip(1).filter_map(|text| text.split(['>', '<']).nth(1));
            assert!(soft.clone().any(|text| text == "0") && soft.clone().all(|text| !text.contains('.')), "{svg}");
        }
    }

    #[test]
    fn marked_bins_have_another_color_and_no_bins_draw_nothing() {
        let bins = vec![Bin { name: "1".into(), count: 2.0, marked: true }];
        let svg = Histogram { bins, ..Histogram::default() }.picture().to_svg();
        assert_eq!(marks(&svg, "rect", "two", &["height"]), [[150.0]]);
        assert!(!Histogram::default().picture().to_svg().contains("NaN"));
    }
}
