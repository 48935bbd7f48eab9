//! The trade between risk and loss: every node that holds as a dot, the methods that were compared
//! as diamonds, and the curve of those that no other beats in both.

use hedgerow::Exploration;
use hedgerow_report::pictures::short;
use maud::{Markup, html};

use super::PageView;
use super::explore::{levels_of, link, loss_of, name_of};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;
/// Room for the names of methods above the dots.
const TOP: f64 = 66.0;
const NAME_STEP: f64 = 14.0;
/// About the width of a letter.
const LETTER: f64 = 7.5;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 40.0;
/// Dots that are drawn; those on the curve always are.
const DOTS_MAX: usize = 800;

pub(crate) fn picture(view: &PageView<'_>, found: &Exploration, chosen: &[usize]) -> Markup {
    let mut dots: Vec<(f64, f64, Vec<usize>)> =
        found.holding.iter().map(|node| (loss_of(found, node), node.risk.highest, levels_of(node))).collect();
    dots.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut curve = Vec::new();
    let mut lowest = f64::INFINITY;
    for (place, dot) in dots.iter().enumerate() {
        if dot.1 < lowest {
            lowest = dot.1;
            curve.push(place);
        }
    }
    let methods = methods(view, found);
    let all = || dots.iter().map(|dot| (dot.0, dot.1)).chain(methods.iter().map(|method| (method.1, method.2)));
    let most_loss = all().map(|dot| dot.0).fold(f64::MIN_POSITIVE, f64::max);
    let most_risk = all().map(|dot| dot.1).fold(f64::MIN_POSITIVE, f64::max);
    let x = |loss: f64| LEFT + (WIDTH - LEFT - 20.0) * loss / most_loss;
    let y = |risk: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * risk / most_risk;
    let stride = dots.len().div_ceil(DOTS_MAX).max(1);
    let line: Vec<String> =
        curve.iter().map(|&place| format!("{:.1},{:.1}", x(dots[place].0), y(dots[place].1))).collect();
    html! {
        p.soft { "Each dot is a combination of levels at which every rule holds. The line joins those that no other beats in both. Diamonds are methods that were compared under Publish." }
        div.plot.wide { svg.picture viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) role="group" aria-label="Risk against loss" {
            line.axis x1=(LEFT) y1=(HEIGHT - BOTTOM) x2=(WIDTH - 10.0) y2=(HEIGHT - BOTTOM) {}
            line.axis x1=(LEFT) y1=(TOP - 10.0) x2=(LEFT) y2=(HEIGHT - BOTTOM) {}
            @for part in 0..=4 {
                @let share = f64::from(part) / 4.0;
                text.soft x=(x(most_loss * share)) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" { (short(most_loss * share)) }
                text.soft x=(LEFT - 6.0) y=(y(most_risk * share) + 4.0) text-anchor="end" { (format!("{:.2}", most_risk * share)) }
            }
            text.strong x=(WIDTH - 10.0) y=(HEIGHT - 6.0) text-anchor="end" { "loss (" (found.loss) ")" }
            text.strong x="0" y=(TOP - 18.0) { "highest risk" }
            polyline.step-0 points=(line.join(" ")) {}
            @for (place, (loss, risk, levels)) in dots.iter().enumerate() {
                @let on_curve = curve.binary_search(&place).is_ok();
                @if on_curve || place % stride == 0 || levels == chosen {
                    @let path = link(view, levels);
                    a href=(path) hx-get=(path) hx-target="#app" hx-swap="outerHTML" hx-push-url="true" tabindex=(if on_curve { "0" } else { "-1" }) aria-label={ "Levels " (name_of(levels)) ", loss " (short(*loss)) ", risk " (format!("{risk:.3}")) } {
                        circle class={ @if levels == chosen { "chosen" } @else if on_curve { "one" } @else { "heat-3" } } cx=(format!("{:.1}", x(*loss))) cy=(format!("{:.1}", y(*risk))) r=(if levels == chosen { "7" } else if on_curve { "5" } else { "3" }) { title { (name_of(levels)) } }
                    }
                }
            }
            @for ((name, loss, risk), raised) in methods.iter().zip(raised(&methods, x, y)) {
                @if raised > 0.0 { line.axis x1=(format!("{:.1}", x(*loss))) x2=(format!("{:.1}", x(*loss))) y1=(format!("{:.1}", y(*risk) - 7.0)) y2=(format!("{:.1}", y(*risk) - 7.0 - raised)) {} }
                rect.two x=(format!("{:.1}", x(*loss) - 5.0)) y=(format!("{:.1}", y(*risk) - 5.0)) width="10" height="10" transform={ "rotate(45 " (format!("{:.1} {:.1}", x(*loss), y(*risk))) ")" } {}
                text x=(format!("{:.1}", x(*loss) + 4.0)) y=(format!("{:.1}", y(*risk) - 9.0 - raised)) { (name) }
            }
        } }
    }
}

/// How much higher each name stands, so that it runs into no other. A name stands to the right of
/// its line, so those to the left are the higher ones: no line crosses a name.
fn raised(methods: &[(&str, f64, f64)], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut placed: Vec<(f64, f64, f64)> = Vec::new();
    let mut placing = |(name, loss, risk): &(&str, f64, f64)| {
        let (from, to) = (x(*loss), x(*loss) + 10.0 + LETTER * name.len() as f64);
        let is_free = |raised: f64| {
            let at = y(*risk) - raised;
            placed.iter().all(|(other, end, height)| to < *other || from > *end || (at - height).abs() >= NAME_STEP)
        };
        let raised = (0..4).map(|step| NAME_STEP * f64::from(step)).find(|raised| is_free(*raised)).unwrap_or(0.0);
        placed.push((from, to, y(*risk) - raised));
        raised
    };
    let mut raised: Vec<f64> = methods.iter().rev().map(&mut placing).collect();
    raised.reverse();
    raised
}

/// The methods that were compared under the same policy, with loss and risk.
fn methods(view: &PageView<'_>, found: &Exploration) -> Vec<(&'static str, f64, f64)> {
    let Some((version, compared)) = view.server.studio.found().compared.clone() else { return Vec::new() };
    if version != view.current.version {
        return Vec::new();
    }
    let point = |compared: &hedgerow::Compared| {
        let losses = serde_json::to_value(compared.loss.as_ref()?).ok()?;
        let smallest = compared.classes.as_ref()?.min.max(1);
        Some((compared.method, losses.get(found.loss)?.as_f64()?, 1.0 / smallest as f64))
    };
    let mut points: Vec<(&'static str, f64, f64)> = compared.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_run_into_one_another() {
        let methods = [("mondrian", 0.30, 0.3), ("best-cut", 0.32, 0.3), ("full-domain", 0.35, 0.3), ("far", 0.9, 0.3)];
        let found = raised(&methods, |loss| 600.0 * loss, |risk| 300.0 * risk);
        assert_eq!(found, [2.0 * NAME_STEP, NAME_STEP, 0.0, 0.0]);
    }
}
