//! Lines: how one number follows from another, one line for each series, with its points marked.

use std::fmt::Write;

use super::Picture;
use super::canvas::{Anchor, At, Canvas, width_of};
use super::frame::Frame;
use super::numbers::Numbers;

const WIDTH: f64 = 600.0;

/// How far names are apart.
const NAME_HEIGHT: f64 = 13.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub name: String,
    /// Ascending by their first number.
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LineChart {
    pub title: String,
    pub description: String,
    /// The headings of the horizontal and of the vertical axis.
    pub columns: [String; 2],
    pub series: Vec<Series>,
}

impl LineChart {
    pub fn picture(&self) -> Picture {
        let points = || self.series.iter().flat_map(|series| &series.points).copied();
        let low = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let high = points().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
        let x = if low <= high { [low, high] } else { [0.0, 1.0] };
        let top = points().map(|point| point.1).fold(0.0, f64::max);
        let names = self.series.iter().map(|series| width_of(&series.name)).fold(0.0, f64::max);
        let frame = Frame {
            left: 60.0,
            top: 28.0,
            width: WIDTH - 90.0 - names,
            height: 190.0,
            x,
            y: [0.0, if top > 0.0 { top } else { 1.0 }],
        };
        let mut canvas = Canvas::default();
        let mut numbers = Numbers::new(&["series", &self.columns[0], &self.columns[1]]);
        frame.y_axis(&mut canvas, &self.columns[1]);
        frame.x_axis(&mut canvas, &self.columns[0]);
        for (index, series) in self.series.iter().enumerate() {
            let mut path = String::new();
            for (place, &(x, y)) in series.points.iter().enumerate() {
                let step = if place == 0 { 'M' } else { 'L' };
                let (at_x, at_y) = (frame.x_of(x), frame.y_of(y));
                let _ = write!(path, "{step}{} {}", At(at_x), At(at_y));
                canvas.circle([at_x, at_y, 3.0], "hollow", "");
                numbers.row([series.name.as_str().into(), x.into(), y.into()]);
            }
            canvas.path(&path, &format!("step-{}", index % 4));
        }
        let ends: Vec<(f64, f64, &str)> = self
            .series
            .iter()
            .filter_map(|series| {
                series.points.last().map(|&(x, y)| (frame.x_of(x), frame.y_of(y), series.name.as_str()))
            })
            .collect();
        let places = apart(&ends.iter().map(|end| end.1).collect::<Vec<_>>(), frame.top + frame.height);
        for ((x, _, name), y) in ends.into_iter().zip(places) {
            canvas.text([x + 8.0, y + 4.0], Anchor::Start, "label", name);
        }
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers, width: WIDTH, height: 262.0, body: canvas.into_body() }
    }
}

/// Names of lines that end close together lie one below the other, in the order of the lines' ends.
fn apart(wanted: &[f64], bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = wanted.to_vec();
    let mut least = f64::NEG_INFINITY;
    for &index in &order {
        places[index] = places[index].max(least);
        least = places[index] + NAME_HEIGHT;
    }
    // What was pushed below the plot goes up again, and pushes the others.
    let mut most = bottom.max(wanted.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    for &index in order.iter().rev() {
        places[index] = places[index].min(most);
        most = places[index] - NAME_HEIGHT;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    #[test]
    fn points_lie_by_their_numbers() {
        let points = vec![(2.0, 0.0), (4.0, 10.0), (6.0, 5.0)];
        let svg = LineChart { series: vec![Series { name: String::new(), points }], ..LineChart::default() }
            .picture()
            .to_svg();
        let found = marks(&svg, "circle", "hollow", &["cx", "cy"]);
        assert_eq!(found, [[60.0, 218.0], [315.0, 28.0], [570.0, 123.0]]);
        assert!(svg.contains("M60 218L315 28L570 123"));
    }

    #[test]
    fn names_of_lines_that_end_together_are_apart_and_in_order() {
        assert_eq!(apart(&[50.0, 90.0], 200.0), [50.0, 90.0], "far apart, they stay");
        assert_eq!(apart(&[51.0, 50.0, 52.0], 200.0), [63.0, 50.0, 76.0]);
        assert_eq!(apart(&[199.0, 200.0], 200.0), [187.0, 200.0], "none falls below the plot");
        assert_eq!(apart(&[], 200.0), [0.0; 0]);
    }

    #[test]
    fn one_point_and_none_are_drawn_without_complaint() {
        let one = Series { name: "one".into(), points: vec![(3.0, 0.0)] };
        for series in [vec![one], Vec::new()] {
            let svg = LineChart { series, ..LineChart::default() }.picture().to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
