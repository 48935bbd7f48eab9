//! Points, hulls and outlines of figures.

use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// The outline at a distance around a convex polygon, a line or a point: edges moved outwards,
/// joined by arcs.
pub(crate) fn padded(corners: &[Point], pad: f64) -> String {
    let count = corners.len();
    if count < 2 {
        let Point { x, y } = corners.first().copied().unwrap_or(Point { x: 0.0, y: 0.0 });
        let (left, right) = (x - pad, x + pad);
        return format!("M{left:.1} {y:.1}A{pad} {pad} 0 1 1 {right:.1} {y:.1}A{pad} {pad} 0 1 1 {left:.1} {y:.1}Z");
    }
    let mut path = String::new();
    for index in 0..count {
        let (a, b) = (corners[index], corners[(index + 1) % count]);
        let length = distance(a, b).max(f64::MIN_POSITIVE);
        let out = Point { x: pad * (b.y - a.y) / length, y: -pad * (b.x - a.x) / length };
        let (start, end) = ((a.x + out.x, a.y + out.y), (b.x + out.x, b.y + out.y));
        if index == 0 {
            let _ = write!(path, "M{:.1} {:.1}", start.0, start.1);
        } else {
            let _ = write!(path, "A{pad} {pad} 0 0 1 {:.1} {:.1}", start.0, start.1);
        }
        let _ = write!(path, "L{:.1} {:.1}", end.0, end.1);
        if index + 1 == count {
            let c = corners[1 % count];
            let length = distance(b, c).max(f64::MIN_POSITIVE);
            let (x, y) = (b.x + pad * (c.y - b.y) / length, b.y - pad * (c.x - b.x) / length);
            let _ = write!(path, "A{pad} {pad} 0 0 1 {x:.1} {y:.1}Z");
        }
    }
    path
}

/// The convex hull, by Andrew's chains.
pub(crate) fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_unstable_by(|one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
    if points.len() < 3 {
        return points;
    }
    let turn = |a: Point, b: Point, c: Point| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let chain = |points: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for point in points {
            while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], point) <= 0.0 {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut all = chain(&mut points.iter().copied());
    all.extend(chain(&mut points.iter().rev().copied()));
    all
}

pub(crate) fn distance(a: Point, b: Point) -> f64 {
    ((b.x - a.x).powi(2) + (b.y - a.y).powi(2)).sqrt()
}

pub(crate) fn between(a: Point, b: Point, share: f64) -> Point {
    Point { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }
}

/// A step from one point towards another.
pub(crate) fn towards(from: Point, to: Point, step: f64) -> Point {
    between(from, to, step / distance(from, to).max(step))
}

pub(crate) fn middle_of(points: &[Point]) -> Point {
    let count = points.len().max(1) as f64;
    let sum =
        points.iter().fold(Point { x: 0.0, y: 0.0 }, |sum, point| Point { x: sum.x + point.x, y: sum.y + point.y });
    Point { x: sum.x / count, y: sum.y / count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_square_excludes_its_middle() {
        let square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (1.0, 1.0)].map(|(x, y)| Point { x, y });
        assert_eq!(hull(square.to_vec()).len(), 4);
    }

    #[test]
    fn an_outline_lies_outside() {
        let square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)].map(|(x, y)| Point { x, y });
        let path = padded(&hull(square.to_vec()), 1.0);
        assert!(path.contains("-1.0") && path.contains("3.0"), "{path}");
        assert_eq!(path.matches('A').count(), 4, "{path}");
    }
}
