//! The editor of cut points: a histogram with a handle for each cut. A handle is dragged or moved
//! with the arrow keys; its height is the highest level on which it still divides.

use hedgerow::ProfiledColumn;
use maud::{Markup, html};

use super::count;
use super::hierarchies::span;
use crate::hierarchy_text::{CutPoint, HEIGHT_MAX};

const WIDTH: f64 = 720.0;
const PLOT: f64 = 130.0;
const STEP: f64 = 13.0;

/// Days from 1970 of a date `2024-02-29`.
pub(crate) fn day(text: &str) -> Option<f64> {
    let mut parts = text.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    // Howard Hinnant's days_from_civil: years begin in March, so that a leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    Some((era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468) as f64)
}

fn number(at: &str) -> Option<f64> {
    at.parse::<f64>().ok().or_else(|| day(at))
}

pub(crate) fn editor(attribute: &str, column: &ProfiledColumn, cuts: &[CutPoint]) -> Markup {
    let Some((low, high)) = span(&column.histogram) else { return html! { p.soft { "The column has no numbers." } } };
    let numbers = cuts.iter().filter_map(|cut| number(&cut.at));
    let (low, high) = numbers.fold((low, high), |(low, high), at| (low.min(at), high.max(at)));
    let x = |value: f64| 10.0 + (WIDTH - 20.0) * (value - low) / (high - low).max(f64::MIN_POSITIVE);
    let most = column.histogram.iter().map(|bar| bar.rows).max().unwrap_or(1).max(1) as f64;
    let kind = column.profile.kind.name();
    let base = STEP * HEIGHT_MAX as f64 + 14.0 + PLOT;
    html! {
        div.cuts #cuts data-attribute=(attribute) data-low=(low) data-high=(high) data-kind=(kind) data-width=(WIDTH) data-height-max=(HEIGHT_MAX) {
            p.soft { "Drag a handle to move a cut, or up and down to change how many levels keep it. With the keyboard: arrow keys move and raise it, Delete removes it." }
            div.plot.wide { svg.picture viewBox={ "0 0 " (WIDTH) " " (base + 22.0) } width=(WIDTH) height=(base + 22.0) role="group" aria-label={ "Cut points of " (attribute) } {
                line.axis x1="10" y1=(base) x2=(WIDTH - 10.0) y2=(base) {}
                @for bar in &column.histogram {
                    @if let Some((from, to)) = bar.range {
                        @let height = PLOT * bar.rows as f64 / most;
                        rect.heat-2 x=(format!("{:.2}", x(from) + 0.5)) y=(format!("{:.2}", base - height)) width=(format!("{:.2}", (x(to) - x(from) - 1.0).max(0.5))) height=(format!("{height:.2}")) { title { (bar.label) " …: " (count(bar.rows)) } }
                    }
                }
                text.soft x="10" y=(base + 16.0) { (shown(low, kind)) }
                text.soft x=(WIDTH - 10.0) y=(base + 16.0) text-anchor="end" { (shown(high, kind)) }
                @for (place, cut) in cuts.iter().enumerate() {
                    @if let Some(value) = number(&cut.at) {
                        @let top = base - PLOT - 10.0 - STEP * (cut.height as f64 - 1.0);
                        g.cut #{ "cut-" (place) } tabindex="0" role="slider" data-at=(cut.at) data-value=(value) data-height=(cut.height)
                            aria-label={ "Cut " (place + 1) ", up to level " (cut.height) } aria-valuemin=(low) aria-valuemax=(high) aria-valuenow=(value) aria-valuetext=(cut.at)
                            transform={ "translate(" (format!("{:.2}", x(value))) " 0)" } {
                            line.limit x1="0" x2="0" y1=(top) y2=(base) {}
                            circle.chosen cx="0" cy=(top) r="7" {}
                            text.strong x="0" y=(top - 10.0) text-anchor="middle" { (cut.at) }
                        }
                    }
                }
            } }
            form.row #add-cut {
                label { span { "A new cut at" } input #new-cut type=(if kind == "date" { "date" } else { "number" }) step="any" name="at"; }
                button { "Add" }
            }
        }
    }
}

fn shown(value: f64, kind: &str) -> String {
    if kind == "date" { String::new() } else { hedgerow_report::pictures::short(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!([day("1970-01-01"), day("1970-03-01"), day("2000-02-29")], [Some(0.0), Some(59.0), Some(11_016.0)]);
        assert_eq!(day("1969-12-31"), Some(-1.0));
        assert_eq!(day("x"), None);
    }
}
