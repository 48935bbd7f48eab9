//! Two axes around a plot: where a value lies, and the lines and numbers at round values.

use super::Limit;
use super::canvas::{Anchor, Canvas, round_step, short, width_of};

/// The plot's area on the canvas and the values at its ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: [f64; 2],
    pub(crate) y: [f64; 2],
}

impl Frame {
    pub(crate) fn x_of(&self, value: f64) -> f64 {
        self.left + self.width * share(value, self.x)
    }

    pub(crate) fn y_of(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - share(value, self.y))
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Lines across at round values, with their numbers.
    pub(crate) fn y_axis(&self, canvas: &mut Canvas, name: &str) {
        self.y_axis_in_steps(canvas, name, 5.0);
    }

    /// The same with a limit on the number of steps.
    pub(crate) fn y_axis_in_steps(&self, canvas: &mut Canvas, name: &str, steps_max: f64) {
        for value in round_values(self.y, steps_max) {
            let y = self.y_of(value);
            canvas.line([self.left, y, self.left + self.width, y], "grid");
            canvas.text([self.left - 6.0, y + 4.0], Anchor::End, "soft", &short(value));
        }
        canvas.text([0.0, self.top - 12.0], Anchor::Start, "soft", name);
    }

    pub(crate) fn x_axis(&self, canvas: &mut Canvas, name: &str) {
        let bottom = self.bottom();
        for value in round_values(self.x, 6.0) {
            let x = self.x_of(value);
            canvas.line([x, bottom, x, bottom + 4.0], "axis");
            canvas.text([x, bottom + 17.0], Anchor::Middle, "soft", &short(value));
        }
        self.x_line(canvas, name);
    }

    pub(crate) fn x_line(&self, canvas: &mut Canvas, name: &str) {
        let (bottom, right) = (self.bottom(), self.left + self.width);
        canvas.line([self.left, bottom, right, bottom], "axis");
        canvas.text([right, bottom + 34.0], Anchor::End, "soft", name);
    }

    /// Limits as vertical lines, each with its name beside it: as high as neither another name nor
    /// a curve is in its way. `crossed` says from where to where curves go between two places.
    pub(crate) fn limits(&self, canvas: &mut Canvas, limits: &[Limit], crossed: &dyn Fn([f64; 2]) -> Vec<[f64; 2]>) {
        const LINE: f64 = 15.0;
        let shown = limits.iter().filter(|limit| (self.x[0]..=self.x[1]).contains(&limit.at));
        let mut taken: Vec<[f64; 2]> = Vec::new();
        for limit in shown {
            let x = self.x_of(limit.at);
            canvas.line([x, self.top, x, self.bottom()], "limit");
            let width = width_of(&limit.name) + 5.0;
            let (at, anchor, ends) = if x > self.left + self.width * 0.6 {
                (x - 5.0, Anchor::End, [x - width, x])
            } else {
                (x + 5.0, Anchor::Start, [x, x + width])
            };
            let lines = ((self.height / LINE) as usize).max(2) - 1;
            let heights = (1..=lines).map(|line| self.top + LINE * line as f64);
            let in_the_way = [crossed(ends), taken.clone()].concat();
            // From below the letters to above them.
            let is_free = |y: &f64| in_the_way.iter().all(|[high, low]| *low < *y - LINE || *high > *y + 5.0);
            let y = heights.clone().find(is_free).or_else(|| heights.clone().next()).unwrap_or(self.top);
            taken.push([y - LINE + 1.0, y]);
            canvas.text([at, y], anchor, "alarm", &limit.name);
        }
    }
}

/// How far a value is from one end to the other; ends that agree are 0.
fn share(value: f64, [low, high]: [f64; 2]) -> f64 {
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
}

fn round_values([low, high]: [f64; 2], steps_max: f64) -> Vec<f64> {
    let step = round_step(high - low, steps_max);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last.min(first + 20)).map(|index| rounded(index as f64 * step)).collect()
}

/// Without the last bits of a sum of steps.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_lie_at_the_edges_and_outside_is_clamped() {
        let frame = Frame { left: 10.0, top: 5.0, width: 100.0, height: 50.0, x: [0.0, 4.0], y: [0.0, 2.0] };
        assert_eq!([-1.0, 0.0, 1.0, 4.0, 9.0].map(|x| frame.x_of(x)), [10.0, 10.0, 35.0, 110.0, 110.0]);
        assert_eq!([0.0, 1.0, 2.0].map(|y| frame.y_of(y)), [55.0, 30.0, 5.0]);
        let flat = Frame { x: [3.0, 3.0], ..frame };
        assert_eq!(flat.x_of(3.0), 10.0);
    }

    #[test]
    fn numbers_stand_at_round_values() {
        assert_eq!(round_values([0.0, 1.0], 5.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(round_values([0.0, 0.0], 5.0), [0.0]);
    }
}
