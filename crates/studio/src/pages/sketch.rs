//! Small pictures in tables: a histogram without axes. The table beside it has the numbers.

use hedgerow::HistogramBar;
use maud::{Markup, html};

const WIDTH: f64 = 180.0;
const HEIGHT: f64 = 40.0;

/// Bars of a column, each with its value and its rows as a tooltip.
pub(crate) fn histogram(bars: &[HistogramBar], name: &str) -> Markup {
    let pairs: Vec<(&str, u64)> = bars.iter().map(|bar| (bar.label.as_str(), bar.rows)).collect();
    labeled(&pairs, name)
}

/// Bars of labels with their rows.
pub(crate) fn labeled(bars: &[(&str, u64)], name: &str) -> Markup {
    let most = bars.iter().map(|(_, rows)| *rows).max().unwrap_or(0).max(1) as f64;
    // A few bars stand next to each other.
    let step = (WIDTH / bars.len().max(1) as f64).min(27.0);
    html! {
        svg.picture.sketch viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) role="img" aria-label={ "Histogram of " (name) } {
            line.axis x1="0" y1=(HEIGHT - 0.5) x2=(WIDTH) y2=(HEIGHT - 0.5) {}
            @for (place, (label, rows)) in bars.iter().enumerate() {
                @let height = if *rows == 0 { 0.0 } else { ((HEIGHT - 3.0) * *rows as f64 / most).max(1.0) };
                rect.one x=(format!("{:.2}", place as f64 * step + step * 0.06)) y=(format!("{:.2}", HEIGHT - 1.0 - height))
                    width=(format!("{:.2}", step * 0.88)) height=(format!("{height:.2}")) {
                    title { (if label.is_empty() { "(missing)" } else { label }) ": " (super::count(*rows)) }
                }
            }
        }
    }
}
