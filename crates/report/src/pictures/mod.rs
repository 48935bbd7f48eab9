//! Pictures: functions from plain values to SVG, one file for each mark.
//!
//! Every picture has a title, a description and a table of its numbers, so that nothing is said in
//! shapes alone. Marks differ in lightness and in form as well as in hue: they stay apart for
//! readers who see few colors, and on gray paper. The hues are those of Okabe and Ito (2008).

mod bars;
mod before_after;
mod canvas;
mod ecdf;
mod frame;
mod geometry;
mod heat_map;
mod histogram;
mod lattice;
mod line;
mod matrix;
mod narrowing;
mod numbers;
pub mod rules_graph;

pub use bars::{Bar, Bars};
pub use before_after::{BeforeAfter, BeforeAfterPair};
pub use canvas::short;
pub use ecdf::{Ecdf, Steps};
pub use heat_map::HeatMap;
pub use histogram::{Bin, Histogram};
pub use lattice::{Lattice, LatticeNode};
pub use line::{LineChart, Series};
pub use matrix::Matrix;
pub use narrowing::{NarrowedRelease, NarrowingChain};
pub use numbers::{NumberCell, Numbers};

use canvas::{At, escaped};

/// The colors and lines of all marks, for a page or a picture of its own.
pub const STYLE: &str = include_str!("marks.css");

/// A limit that people cite, drawn as a line across a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub at: f64,
    pub name: String,
}

/// A drawn picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub title: String,
    /// The description of the picture, and how it is read.
    pub description: String,
    pub numbers: Numbers,
    width: f64,
    height: f64,
    body: String,
}

impl Picture {
    /// Whether it is wider than the page on a telephone.
    pub(crate) fn is_wide(&self) -> bool {
        self.width > 350.0
    }

    /// As an element of a page that has [`STYLE`]. `id` is unique in the page.
    pub fn inline(&self, id: &str) -> String {
        self.element(id, "", "")
    }

    /// As a file of its own.
    pub fn to_svg(&self) -> String {
        let style = format!("<style>{STYLE}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
        format!("{}\n", self.element("picture", " xmlns=\"http://www.w3.org/2000/svg\"", &style))
    }

    fn element(&self, id: &str, namespace: &str, before: &str) -> String {
        let (width, height) = (At(self.width), At(self.height));
        let (title, description) = (escaped(&self.title), escaped(&self.description));
        format!(
            "<svg{namespace} class=\"picture\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\"><title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{description}</desc>\n\
             {before}{}</svg>",
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attributes of every element of a class, in the order in which they were drawn.
    pub(super) fn marks(svg: &str, element: &str, class: &str, names: &[&str]) -> Vec<Vec<f64>> {
        let open = format!("<{element} class=\"{class}\"");
        let value = |mark: &str, name: &str| {
            let start = mark.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
            mark[start..].split('"').next().unwrap().parse().unwrap()
        };
        let marks = svg.split(&open).skip(1).map(|mark| mark.split('>').next().unwrap());
        marks.map(|mark| names.iter().map(|name| value(mark, name)).collect()).collect()
    }

    #[test]
    fn a_picture_is_named_described_and_loads_nothing() {
        let bars = Bars { title: "a < b".into(), description: "d & e".into(), ..Bars::default() };
        let svg = bars.picture().to_svg();
        assert!(svg.contains("<title id=\"picture-t\">a &lt; b</title>") && svg.contains("d &amp; e</desc>"), "{svg}");
        assert_eq!(svg.matches("http").count(), 1, "only the namespace");
        assert!(!svg.contains("NaN") && !svg.contains("@import") && !svg.contains("url("));
        assert!(!bars.picture().inline("x").contains("xmlns"));
    }
}
