//! The rules graph: attributes as dots on a circle, every table as a hull around its attributes,
//! every rule as an arrow from what is known to what is protected, numbered and in the color of the
//! table that guards it. A guardian has a solid outline, and a ring around the attribute that it
//! hides; other tables are dashed. The SVG loads no fonts or styles.

use std::f64::consts::TAU;
use std::fmt::Write;

use hedgerow_privacy::rules::{AttributeSet, NormalFormStanding, Rule};

use super::canvas::escaped;
use super::geometry::{Point, between, distance, hull, middle_of, padded, towards};

const COLORS: [&str; 8] = ["#3b6fd4", "#d98e04", "#2f9e58", "#d1495b", "#8a5cd0", "#12a1a1", "#94653f", "#5f6f86"];
const INK: &str = "#26313f";
const FAINT: &str = "#68768a";
const ALARM: &str = "#c1121f";
/// Space for names next to the circle.
const MARGIN: f64 = 120.0;
const LINE: f64 = 22.0;

/// The content of the graph: attributes by name, rules with their standings, tables.
#[derive(Debug, Clone, Copy)]
pub struct RulesGraph<'a> {
    pub names: &'a [&'a str],
    pub rules: &'a [Rule],
    /// The names of the rules.
    pub numbers: &'a [usize],
    pub standings: &'a [NormalFormStanding],
    pub tables: &'a [GraphTable],
}

/// One table of a decomposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphTable {
    pub attributes: AttributeSet,
    /// Some of the attributes: those released by bucket, or with a generalized rest.
    pub sensitive: AttributeSet,
    /// The other attributes are generalized.
    pub generalized: bool,
}

impl GraphTable {
    /// The attributes released row by row.
    fn open(&self) -> AttributeSet {
        self.attributes - self.sensitive
    }
}

/// One line below the graph: a sign, its color, and a text.
struct LegendLine {
    sign: Sign,
    color: &'static str,
    text: String,
}

enum Sign {
    Title,
    Hull { solid: bool },
    Number(usize),
}

fn points(set: AttributeSet, places: &[Point]) -> Vec<Point> {
    set.iter().map(|attribute| places[attribute]).collect()
}

/// Where what a rule knows comes together, off the middle of the circle so that arrows do not all
/// cross there.
fn meeting(rule: &Rule, places: &[Point]) -> Point {
    between(middle_of(&points(rule.know, places)), middle_of(&points(rule.protect, places)), 0.32)
}

impl RulesGraph<'_> {
    pub fn to_svg(&self) -> String {
        let places = self.places();
        let legend = self.legend();
        let longest = legend.iter().map(|line| line.text.chars().count()).max().unwrap_or(0);
        let width = (2.0 * self.middle().x).max(70.0 + 7.2 * longest as f64);
        let below = 2.0 * self.middle().y;
        let height = below + LINE * (legend.len() as f64 + 0.5);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        // The broadest first, so that a table within another shows.
        let mut order: Vec<usize> = (0..self.tables.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(self.tables[index].attributes.len()));
        for (rank, &index) in order.iter().enumerate() {
            let corners = hull(self.tables[index].attributes.iter().map(|attribute| places[attribute]).collect());
            let pad = 28.0 - 4.0 * rank.min(3) as f64;
            let dashes = if self.tables[index].sensitive.is_empty() { " stroke-dasharray=\"6 5\"" } else { "" };
            let color = color(index);
            let _ = writeln!(
                svg,
                "<path d=\"{}\" fill=\"{color}\" fill-opacity=\"0.10\" stroke=\"{color}\" stroke-width=\"1.8\"{dashes}/>",
                padded(&corners, pad)
            );
        }
        for (index, rule) in self.rules.iter().enumerate() {
            self.draw_rule(&mut svg, index, rule, &places);
        }
        // On top of all arrows, so that none runs through a number.
        for (index, rule) in self.rules.iter().enumerate() {
            draw_number(&mut svg, meeting(rule, &places), self.numbers[index], self.color_of(index));
        }
        self.draw_attributes(&mut svg, &places);
        for (number, line) in legend.iter().enumerate() {
            draw_line(&mut svg, line, below + LINE * number as f64);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn radius(&self) -> f64 {
        (60.0 + 15.0 * self.names.len() as f64).max(150.0)
    }

    fn middle(&self) -> Point {
        Point { x: self.radius() + MARGIN, y: self.radius() + 70.0 }
    }

    /// Attributes of the same tables are adjacent.
    fn places(&self) -> Vec<Point> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let memberships = |attribute: usize| -> Vec<bool> {
            self.tables.iter().map(|table| !table.attributes.contains(attribute)).collect()
        };
        order.sort_by_key(|&attribute| memberships(attribute));
        let (middle, radius) = (self.middle(), self.radius());
        let mut places = vec![middle; order.len()];
        for (place, &attribute) in order.iter().enumerate() {
            let angle = TAU * (place as f64 / order.len() as f64 - 0.25);
            places[attribute] = Point { x: middle.x + radius * angle.cos(), y: middle.y + radius * angle.sin() };
        }
        places
    }

    /// The color of the table that guards a rule; alarm where it is broken.
    fn color_of(&self, rule: usize) -> &'static str {
        match self.standings.get(rule) {
            Some(NormalFormStanding::Guarded(table)) => color(*table),
            Some(NormalFormStanding::Broken(_)) => ALARM,
            Some(NormalFormStanding::NotReachable) | None => FAINT,
        }
    }

    fn draw_rule(&self, svg: &mut String, index: usize, rule: &Rule, places: &[Point]) {
        let color = self.color_of(index);
        let broken = matches!(self.standings.get(index), Some(NormalFormStanding::Broken(_)));
        let dashes = if broken { " stroke-dasharray=\"5 3\"" } else { "" };
        let (starts, ends) = (points(rule.know, places), points(rule.protect, places));
        let meeting = meeting(rule, places);
        for &start in &starts {
            let from = towards(start, meeting, 9.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\" stroke-width=\"1.2\" \
                 opacity=\"0.85\"{dashes}/>",
                from.x, from.y, meeting.x, meeting.y
            );
        }
        for &end in &ends {
            let tip = towards(end, meeting, 13.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\" stroke-width=\"2\"{dashes}/>{}",
                meeting.x,
                meeting.y,
                tip.x,
                tip.y,
                arrow_head(meeting, tip, color)
            );
        }
    }

    fn draw_attributes(&self, svg: &mut String, places: &[Point]) {
        let (middle, radius) = (self.middle(), self.radius());
        for (attribute, (name, place)) in self.names.iter().zip(places).enumerate() {
            let hidden = (0..self.tables.len()).filter(|&index| self.tables[index].sensitive.contains(attribute));
            for (ring, index) in hidden.enumerate() {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.4\"/>",
                    place.x,
                    place.y,
                    9 + 4 * ring,
                    color(index)
                );
            }
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{INK}\" stroke=\"#ffffff\" stroke-width=\"1.2\"/>",
                place.x, place.y
            );
            let (side, rise) = ((place.x - middle.x) / radius, (place.y - middle.y) / radius);
            let anchor = if side.abs() < 0.2 { "middle" } else { ["end", "start"][usize::from(side > 0.0)] };
            let (x, y) = (place.x + side * 36.0, place.y + rise * 42.0 + 4.5);
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-weight=\"600\">{}</text>",
                escaped(name)
            );
        }
    }

    fn legend(&self) -> Vec<LegendLine> {
        let list = |set: AttributeSet| set.iter().map(|attribute| self.names[attribute]).collect::<Vec<_>>().join(", ");
        let title = |text: &str| LegendLine { sign: Sign::Title, color: FAINT, text: text.to_owned() };
        let mut lines = Vec::new();
        lines.extend((!self.tables.is_empty()).then(|| title("tables")));
        for (index, table) in self.tables.iter().enumerate() {
            let guarded: Vec<String> = (self.standings.iter().enumerate())
                .filter(|(_, standing)| **standing == NormalFormStanding::Guarded(index))
                .map(|(rule, _)| self.numbers[rule].to_string())
                .collect();
            let mut text = format!("table {}: {}", index + 1, list(table.open()));
            if !table.sensitive.is_empty() {
                let how = if table.generalized { "generalized, with" } else { "by bucket" };
                let _ = write!(text, "; {how} {}", list(table.sensitive));
            }
            if !guarded.is_empty() {
                let rules = if guarded.len() == 1 { "rule" } else { "rules" };
                let _ = write!(text, "  (guards {rules} {})", guarded.join(", "));
            }
            let solid = !table.sensitive.is_empty();
            lines.push(LegendLine { sign: Sign::Hull { solid }, color: color(index), text });
        }
        lines.extend((!self.rules.is_empty()).then(|| title("rules")));
        for (index, rule) in self.rules.iter().enumerate() {
            let standing = match self.standings.get(index) {
                Some(NormalFormStanding::NotReachable) => "  (not reachable)".to_owned(),
                Some(NormalFormStanding::Guarded(table)) => format!("  (guarded by table {})", table + 1),
                Some(NormalFormStanding::Broken(_)) => "  (BROKEN)".to_owned(),
                None => String::new(),
            };
            let text = format!("{} ⇸ {}{standing}", list(rule.know), list(rule.protect));
            lines.push(LegendLine { sign: Sign::Number(self.numbers[index]), color: self.color_of(index), text });
        }
        lines
    }
}

fn draw_line(svg: &mut String, line: &LegendLine, y: f64) {
    let LegendLine { sign, color, text } = line;
    match sign {
        Sign::Title => {
            let _ =
                writeln!(svg, "<text x=\"24\" y=\"{:.1}\" fill=\"{color}\" font-size=\"12\">{text}</text>", y + 4.0);
            return;
        }
        Sign::Hull { solid } => {
            let dashes = if *solid { "" } else { " stroke-dasharray=\"4 3\"" };
            let _ = writeln!(
                svg,
                "<rect x=\"26\" y=\"{:.1}\" width=\"20\" height=\"13\" rx=\"5\" fill=\"{color}\" fill-opacity=\"0.18\" \
                 stroke=\"{color}\" stroke-width=\"1.6\"{dashes}/>",
                y - 6.5
            );
        }
        Sign::Number(number) => draw_number(svg, Point { x: 36.0, y }, *number, color),
    }
    let _ = writeln!(svg, "<text x=\"58\" y=\"{:.1}\">{}</text>", y + 4.5, escaped(text));
}

fn draw_number(svg: &mut String, at: Point, number: usize, color: &str) {
    let _ = writeln!(
        svg,
        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"9\" fill=\"#ffffff\" stroke=\"{color}\" stroke-width=\"1.6\"/><text x=\"{:.1}\" \
         y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\" font-weight=\"600\" fill=\"{color}\">{number}</text>",
        at.x,
        at.y,
        at.x,
        at.y + 4.0
    );
}

/// A triangle with its tip where the line ends; markers take the color of their line in few
/// viewers.
fn arrow_head(from: Point, tip: Point, color: &str) -> String {
    let length = distance(from, tip).max(1.0);
    let (x, y) = ((tip.x - from.x) / length, (tip.y - from.y) / length);
    let corner = |side: f64| format!("{:.1},{:.1}", tip.x - 9.0 * x + side * 4.5 * y, tip.y - 9.0 * y - side * 4.5 * x);
    format!(
        "<polygon points=\"{:.1},{:.1} {} {}\" fill=\"{color}\"/>",
        tip.x + 2.0 * x,
        tip.y + 2.0 * y,
        corner(1.0),
        corner(-1.0)
    )
}

fn color(table: usize) -> &'static str {
    COLORS[table % COLORS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_every_table_and_rule_is_listed() {
        let set = |attributes: &[usize]| attributes.iter().copied().collect::<AttributeSet>();
        let rules = [Rule { know: set(&[0]), protect: set(&[1]), require: Vec::new() }];
        let tables = [(set(&[0, 1]), set(&[1])), (set(&[2]), AttributeSet::EMPTY)];
        let tables = tables.map(|(attributes, sensitive)| GraphTable { attributes, sensitive, generalized: false });
        let names = ["a<b", "c&d", "e"];
        let svg = RulesGraph {
            names: &names,
            rules: &rules,
            numbers: &[1],
            standings: &[NormalFormStanding::Guarded(0)],
            tables: &tables,
        }
        .to_svg();
        assert!(svg.contains("a&lt;b") && svg.contains("c&amp;d") && !svg.contains("a<b"));
        assert_eq!(svg.matches("<path").count(), 2, "one hull for each table");
        assert!(svg.contains("guards rule 1") && svg.contains("guarded by table 1"));
        assert_eq!(svg.matches("http").count(), 1, "only the namespace");
        assert!(!svg.contains("NaN"));
        let empty = RulesGraph { names: &[], rules: &[], numbers: &[], standings: &[], tables: &[] }.to_svg();
        assert!(empty.ends_with("</svg>\n"));
    }
}
