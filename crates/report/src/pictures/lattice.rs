//! The generalization lattice: one row for each sum of levels, the coarsest node on top. A node
//! that holds is filled, one that fails is blank, the chosen one has a heavy outline.
//!
//! Up to [`GRAPH_MAX`] nodes are drawn as a graph with every step between neighbors; up to
//! [`TILES_MAX`] as tiles; beyond that each row is one bar with the share of its nodes that hold.

use std::fmt::Write;

use super::Picture;
use super::canvas::{Anchor, At, Canvas, fitted, short, width_of};
use super::numbers::{NumberCell, Numbers};

const WIDTH: f64 = 600.0;
/// The most nodes that are drawn as a graph.
pub(super) const GRAPH_MAX: usize = 200;
/// The most nodes that are drawn as tiles.
pub(super) const TILES_MAX: usize = 3000;
/// The most nodes that have their levels written below them.
const NAMED_MAX: usize = 48;
const TILE: f64 = 8.0;

/// From one line of names to the next.
const LINE: f64 = 16.0;
/// The longest name of an attribute, in characters.
const NAME_MAX: usize = 60;

/// A node that was decided.
#[derive(Debug, Clone, PartialEq)]
pub struct LatticeNode {
    pub levels: Vec<usize>,
    pub holds: bool,
    pub loss: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lattice {
    pub title: String,
    pub description: String,
    pub attributes: Vec<String>,
    pub tops: Vec<usize>,
    pub nodes: Vec<LatticeNode>,
    pub chosen: Option<Vec<usize>>,
}

impl Lattice {
    pub fn picture(&self) -> Picture {
        let mut canvas = Canvas::default();
        let rows = self.rows();
        let top = self.key(&mut canvas);
        let height = match self.nodes.len() {
            nodes if nodes <= GRAPH_MAX => self.graph(&mut canvas, &rows, top),
            nodes if nodes <= TILES_MAX => self.tiles(&mut canvas, &rows, top),
            _ => self.shares(&mut canvas, &rows, top),
        };
        let (title, description) = (self.title.clone(), self.description.clone());
        Picture { title, description, numbers: self.numbers(&rows), width: WIDTH, height, body: canvas.into_body() }
    }

    /// The nodes of every sum of levels, the coarsest first; within a row by their levels.
    fn rows(&self) -> Vec<Vec<usize>> {
        let highest: usize = self.tops.iter().sum();
        let mut rows = vec![Vec::new(); highest + 1];
        for (index, node) in self.nodes.iter().enumerate() {
            rows[highest - node.levels.iter().sum::<usize>().min(highest)].push(index);
        }
        for row in &mut rows {
            row.sort_by(|&a, &b| self.nodes[b].levels.cmp(&self.nodes[a].levels));
        }
        rows
    }

    fn key(&self, canvas: &mut Canvas) -> f64 {
        let entries = [("one", "every rule holds"), ("blank", "some rule fails"), ("chosen", "chosen")];
        for (place, (class, text)) in entries.into_iter().enumerate() {
            let x = 12.0 + 150.0 * place as f64;
            canvas.circle([x, 10.0, 6.0], class, "");
            canvas.text([x + 12.0, 14.0], Anchor::Start, "soft", text);
        }
        let lines = self.named_levels();
        for (line, text) in lines.iter().enumerate() {
            canvas.text([0.0, 36.0 + LINE * line as f64], Anchor::Start, "soft", text);
        }
        50.0 + LINE * (lines.len() - 1) as f64
    }

    /// Whose levels a node has, in lines that are no wider than the picture.
    fn named_levels(&self) -> Vec<String> {
        let mut lines = vec!["levels of".to_owned()];
        for (place, name) in self.attributes.iter().enumerate() {
            let comma = if place + 1 < self.attributes.len() { "," } else { "" };
            let word = format!(" {}{comma}", fitted(name, NAME_MAX));
            let last = lines.len() - 1;
            if width_of(&lines[last]) + width_of(&word) <= WIDTH {
                lines[last].push_str(&word);
            } else {
                lines.push(word.trim_start().to_owned());
            }
        }
        lines
    }

    fn class(&self, node: &LatticeNode) -> &'static str {
        match (self.chosen.as_ref() == Some(&node.levels), node.holds) {
            (true, _) => "chosen",
            (false, true) => "one",
            (false, false) => "blank",
        }
    }

    fn graph(&self, canvas: &mut Canvas, rows: &[Vec<usize>], top: f64) -> f64 {
        let step = if self.nodes.len() <= NAMED_MAX { 50.0 } else { 34.0 };
        let mut places = vec![[0.0; 2]; self.nodes.len()];
        for (height, row) in rows.iter().enumerate() {
            for (place, &node) in row.iter().enumerate() {
                let x = WIDTH * (place as f64 + 0.5) / row.len() as f64;
                places[node] = [x, top + 14.0 + step * height as f64];
            }
        }
        for pair in rows.windows(2) {
            for &coarse in &pair[0] {
                for &fine in
                    pair[1].iter().filter(|&&fine| is_step(&self.nodes[fine].levels, &self.nodes[coarse].levels))
                {
                    let ([x1, y1], [x2, y2]) = (places[coarse], places[fine]);
                    canvas.line([x1, y1, x2, y2], "grid");
                }
            }
        }
        for (node, &[x, y]) in self.nodes.iter().zip(&places) {
            canvas.circle([x, y, 7.0], self.class(node), &hint(node));
            if self.nodes.len() <= NAMED_MAX {
                canvas.text([x, y + 21.0], Anchor::Middle, "soft", &levels_text(&node.levels));
            }
        }
        top + 20.0 + step * rows.len() as f64
    }

    fn tiles(&self, canvas: &mut Canvas, rows: &[Vec<usize>], top: f64) -> f64 {
        let per_line = ((WIDTH - 40.0) / TILE) as usize;
        let mut y = top;
        let mut paths = [("one", String::new()), ("blank", String::new())];
        let mut chosen = None;
        for (height, row) in rows.iter().enumerate() {
            canvas.text([28.0, y + TILE], Anchor::End, "soft", &(rows.len() - 1 - height).to_string());
            for (place, &node) in row.iter().enumerate() {
                let (x, y) = (36.0 + TILE * (place % per_line) as f64, y + TILE * (place / per_line) as f64);
                let class = self.class(&self.nodes[node]);
                match paths.iter_mut().find(|(name, _)| *name == class) {
                    Some((_, path)) => {
                        let _ = write!(path, "M{} {}h6v6h-6z", At(x), At(y));
                    }
                    None => chosen = Some([x - 1.0, y - 1.0, 8.0, 8.0]),
                }
            }
            y += TILE * row.len().div_ceil(per_line).max(1) as f64 + 6.0;
        }
        for (class, path) in paths.iter().filter(|(_, path)| !path.is_empty()) {
            canvas.path(path, class);
        }
        if let Some(place) = chosen {
            canvas.rect(place, "chosen", "");
        }
        y + 4.0
    }

    fn shares(&self, canvas: &mut Canvas, rows: &[Vec<usize>], top: f64) -> f64 {
        let most = rows.iter().map(Vec::len).max().unwrap_or(0).max(1) as f64;
        for (height, row) in rows.iter().enumerate() {
            let y = top + 16.0 * height as f64;
            let width = |count: usize| 480.0 * count as f64 / most;
            let holding = row.iter().filter(|&&node| self.nodes[node].holds).count();
            canvas.text([28.0, y + 11.0], Anchor::End, "soft", &(rows.len() - 1 - height).to_string());
            canvas.rect([36.0, y + 1.0, width(row.len()), 12.0], "blank", "");
            canvas.rect([36.0, y + 1.0, width(holding), 12.0], "one", "");
            canvas.text(
                [42.0 + width(row.len()), y + 11.0],
                Anchor::Start,
                "soft",
                &format!("{holding} of {}", row.len()),
            );
            if row.iter().any(|&node| self.chosen.as_ref() == Some(&self.nodes[node].levels)) {
                canvas.circle([10.0, y + 7.0, 5.0], "chosen", "");
            }
        }
        top + 16.0 * rows.len() as f64 + 6.0
    }

    fn numbers(&self, rows: &[Vec<usize>]) -> Numbers {
        let mut numbers = Numbers::new(&["sum of levels", "nodes", "nodes where every rule holds"]);
        for (height, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            let holding = row.iter().filter(|&&node| self.nodes[node].holds).count();
            let counted = [rows.len() - 1 - height, row.len(), holding];
            numbers.row(counted.map(|count| NumberCell::Number(count as f64)));
        }
        numbers
    }
}

/// Whether one attribute is one level coarser and all others agree.
fn is_step(fine: &[usize], coarse: &[usize]) -> bool {
    fine.iter().zip(coarse).all(|(fine, coarse)| fine <= coarse)
        && fine.iter().sum::<usize>() + 1 == coarse.iter().sum::<usize>()
}

fn levels_text(levels: &[usize]) -> String {
    levels.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

fn hint(node: &LatticeNode) -> String {
    let loss = node.loss.map_or_else(String::new, |loss| format!(", loss {}", short(loss)));
    format!("{}{loss}", levels_text(&node.levels))
}

#[cfg(test)]
mod tests {
    use super::super::tests::marks;
    use super::*;

    fn full(tops: &[usize], holds: impl Fn(&[usize]) -> bool) -> Lattice {
        let mut nodes = vec![Vec::new()];
        for &top in tops {
            nodes = nodes
                .iter()
                .flat_map(|node: &Vec<usize>| (0..=top).map(move |level| [node.as_slice(), &[level]].concat()))
                .collect();
        }
        let node = |levels: Vec<usize>| LatticeNode { holds: holds(&levels), levels, loss: None };
        Lattice { tops: tops.to_vec(), nodes: nodes.into_iter().map(node).collect(), ..Lattice::default() }
    }

    #[test]
    fn a_small_lattice_is_a_graph_with_the_coarsest_node_on_top() {
        let lattice = Lattice { chosen: Some(vec![1, 0]), ..full(&[1, 1], |levels| levels[0] == 1) };
        let svg = lattice.picture().to_svg();
        // After the key: (1,1) holds and is on top; (0,1) and (0,0) fail; (1,0) is chosen.
        assert_eq!(marks(&svg, "circle", "one", &["cx", "cy"])[1..], [[300.0, 64.0]]);
        assert_eq!(marks(&svg, "circle", "chosen", &["cx", "cy"])[1..], [[150.0, 114.0]]);
        assert_eq!(marks(&svg, "circle", "blank", &["cx", "cy"])[1..], [[300.0, 164.0], [450.0, 114.0]]);
        assert_eq!(marks(&svg, "line", "grid", &["x1"]).len(), 4, "a square has four sides");
    }

    #[test]
    fn many_nodes_are_tiles_and_very_many_are_shares() {
        let tiles = full(&[9, 9, 9], |levels| levels[0] > 4).picture();
        let svg = tiles.to_svg();
        assert_eq!(svg.matches("h6v6h-6z").count(), 1000);
        assert_eq!(tiles.numbers.rows.len(), 28);
        let shares = full(&[15, 15, 15], |levels| levels[0] > 0).picture().to_svg();
        assert_eq!(shares.matches("h6v6h-6z").count(), 0);
        assert!(shares.contains(">1 of 1<") && shares.contains(">0 of 1<"), "the top holds, the bottom does not");
        assert!(shares.len() < 30_000);
    }

    #[test]
    fn names_of_attributes_stay_within_the_picture() {
        let attributes: Vec<String> =
            (0..15).map(|place| format!("Supplementary.Measurement.Number.{place}")).collect();
        let lines = Lattice { attributes: attributes.clone(), ..full(&[1, 1], |_| true) }.named_levels();
        assert!(lines.len() > 1 && lines.iter().all(|line| width_of(line) <= WIDTH), "{lines:?}");
        assert_eq!(lines.join(" "), format!("levels of {}", attributes.join(", ")));
    }

    #[test]
    fn a_lattice_of_one_node_is_drawn() {
        assert!(!full(&[], |_| true).picture().to_svg().contains("NaN"));
    }
}
