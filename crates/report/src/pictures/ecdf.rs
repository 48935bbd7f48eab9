//! An empirical cumulative distribution: for every value, the share that does not exceed it.

use std::fmt::Write;

use super::canvas::{Anchor, At, Canvas, width_of};
use super::frame::Frame;
use super::numbers::Numbers;
use super::{Limit, Picture};

const WIDTH: f64 = 600.0;

/// One curve: values ascending, each with the share of all that does not exceed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ecdf {
    pub title: String,
    pub description: String,
    /// The headings of the values and of the shares.
    pub columns: [String; 2],
    pub curves: Vec<Steps>,
    pub limits: Vec<Limit>,
    /// The end of the axis; the largest value when absent. Values beyond are drawn at the end.
    pub until: Option<f64>,
}

impl Ecdf {
    pub fn picture(&self) -> Picture {
        let values = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.0);
        let largest = values.chain(self.limits.iter().map(|limit| limit.at)).fold(0.0, f64::max);
        let until = self.until.unwrap_or(largest).max(1e-12);
        let frame = Frame { left: 46.0, top: 28.0, width: 540.0, height: 180.0, x: [0.0, until], y: [0.0, 1.0] };
        let mut canvas = Canvas::default();
        let mut numbers = Numbers::new(&["curve", &self.columns[0], &self.columns[1]]);
        frame.y_axis(&mut canvas, &self.columns[1]);
        frame.x_axis(&mut canvas, &self.columns[0]);
        for (index, curve) in self.curves.iter().enumerate() {
            let class = format!("step-{}", index % 4);
            let mut path = format!("M{} {}", At(frame.left), At(frame.y_of(0.0)));
            for &(value, share) in &curve.points {
                let _ = write!(path, "H{}V{}", At(frame.x_of(value)), At(frame.y_of(share)));
                numbers.row([curve.name.as_str().into(), value.into(), share.into()]);
            }
            if let Some(last) = curve.points.last() {
                let _ = write!(path, "V{}H{}", At(frame.y_of(last.1)), At(frame.left + frame.width));
            }
            canvas.path(&path, &class);
            // Above the plot, where no line crosses it.
            let after: f64 = self.curves[index..].iter().map(|curve| 58.0 + width_of(&curve.name)).sum();
            let x = frame.left + frame.width - after;
            canvas.line([x, 12.0, x + 28.0, 12.0], &class);
            canvas.text([x + 34.0, 16.0], Anchor::Start, "label", &curve.name);
        }
        // Over the curves, whose lines would cross their names.
        frame.limits(&mut canvas, &self.limits, &|ends| {
            let height = |curve: &Steps, x: f64| {
                let reached = curve.points.iter().take_while(|(value, _)| frame.x_of(*value) <= x).last();
                frame.y_of(reached.map_or(0.0, |(_, share)| *share))
            };
            self.curves.iter().map(|curve| [height(curve, ends[1]), height(curve, ends[0])]).collect()
        });
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width: WIDTH, height: 252.0, body: canvas.into_body() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    /// Most rows have a risk just below a limit: the curve rises where the name would be.
    #[test]
    fn no_curve_goes_through_the_name_of_a_limit() {
        let points = vec![(0.11, 0.18), (0.125, 0.45), (0.14, 0.7), (0.166, 0.855), (0.2, 1.0)];
        let curves = vec![Steps { name: "a".into(), points }];
        let limit = |at: f64, name: &str| Limit { at, name: name.into() };
        let limits = vec![limit(0.2, "k ≥ 5"), limit(1.0 / 11.0, "EMA 0.09 (1/11)")];
        let svg = Ecdf { curves, limits, until: Some(0.25), ..Ecdf::default() }.picture().to_svg();
        let names = marks(&svg, "text", "alarm", &["x", "y"]);
        assert_eq!(names.len(), 2, "{svg}");
        let of_share = |share: f64| 28.0 + 180.0 * (1.0 - share);
        assert!(names[0][1] > of_share(0.855) + 10.0, "the curve is at 0.855 left of the line: {names:?}");
        assert!(names[1][1] < of_share(0.7), "and reaches 0.7 right of the other: {names:?}");
    }

    #[test]
    fn a_curve_rises_at_its_values_and_ends_at_the_edge() {
        let points = vec![(0.25, 0.5), (1.0, 1.0)];
        let curves = vec![Steps { name: "a".into(), points }];
        let limits = vec![Limit { at: 0.5, name: "half".into() }];
        let svg = Ecdf { curves, limits, ..Ecdf::default() }.picture().to_svg();
        assert!(svg.contains("M46 208H181V118H586V28V28H586"), "{svg}");
        assert_eq!(marks(&svg, "line", "limit", &["x1"]), [[316.0]]);
        assert!(svg.find(">half<").unwrap() > svg.rfind("<path").unwrap(), "no curve crosses the name: {svg}");
    }

    #[test]
    fn no_curve_and_no_value_are_drawn_without_complaint() {
        let curves = vec![Steps { name: "none".into(), points: Vec::new() }];
        assert!(!Ecdf { curves, ..Ecdf::default() }.picture().to_svg().contains("NaN"));
    }
}
