//! The measures as a person reads them: aligned, each with a line that says what is good and what
//! is bad.

use std::fmt;

use hedgerow::{
    AttributeLoss, Losses, Measures, NumberError, QueryError, Scenario, SingledOut, SizeDistribution, TableMeasures,
};

/// The longest bar of the histogram.
const BAR_MAX: u64 = 40;

/// Measures to print.
pub(crate) struct MeasuresText<'a>(pub(crate) &'a Measures);

impl fmt::Display for MeasuresText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Measures::Table(measures) => table(f, measures),
            Measures::Decomposed(measures) => f.write_str(&super::decomposed::decomposed(measures)),
        }
    }
}

fn table(f: &mut fmt::Formatter<'_>, measures: &TableMeasures) -> fmt::Result {
    let rows = &measures.rows;
    let share = percent(rows.suppressed as f64 / rows.source as f64);
    writeln!(f, "Rows: {} in, {} out, {} suppressed ({share})", rows.source, rows.released, rows.suppressed)?;
    losses(f, &measures.losses)?;
    attributes(f, &measures.attributes)?;
    class_sizes(f, &measures.classes, measures.buckets)?;
    risk(f, measures)?;
    singled_out(f, &measures.singled_out)?;
    if let Some(queries) = &measures.queries {
        query_error(f, queries)?;
    }
    measures.numbers.iter().try_for_each(|numbers| number_error(f, numbers))
}

/// Lines that are shown: the others are in the JSON.
const SINGLED_OUT_MAX: usize = 8;

fn singled_out(f: &mut fmt::Formatter<'_>, found: &[SingledOut]) -> fmt::Result {
    let found: Vec<&SingledOut> = found.iter().filter(|found| found.people > 0).take(SINGLED_OUT_MAX).collect();
    if found.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nAlone in their class for an attacker who also knows")?;
    found.iter().try_for_each(|found| {
        writeln!(f, "  {:>8} {:<6}   {}", found.people, found.counted.name(), found.attributes.join(", "))
    })
}

fn losses(f: &mut fmt::Formatter<'_>, losses: &Losses) -> fmt::Result {
    writeln!(f, "\nLoss (lower is better; shares run from 0, untouched, to 1, all lost)")?;
    let mut line = |name: &str, value: String, meaning: &str| writeln!(f, "  {name:<16}{value:>16}   {meaning}");
    line("ncp", decimal(losses.ncp), "how wide cells are, compared with all values")?;
    let by_level = [
        ("precision", losses.precision, "how far up the hierarchies cells were taken"),
        ("granularity", losses.granularity, "how many leaves of the hierarchies, or values, cells cover"),
        ("entropy", losses.entropy, "what cells leave open about values, by how frequent these are"),
        ("kl", losses.kl, "nats between the data and its best estimate; 0 is the same, no upper end"),
    ];
    for (name, value, meaning) in by_level {
        match value {
            Some(value) => line(name, decimal(value), meaning)?,
            None => line(name, "undefined".to_owned(), "only where all cells of an attribute are on one level")?,
        }
    }
    line("average-class", decimal(losses.average_class), "class size over the required k; 1 is as small as k allows")?;
    line("discernibility", losses.discernibility.to_string(), "rows that look like each row, summed")
}

fn attributes(f: &mut fmt::Formatter<'_>, attributes: &[AttributeLoss]) -> fmt::Result {
    if attributes.is_empty() {
        return Ok(());
    }
    let widest = attributes.iter().map(|attribute| attribute.name.chars().count()).max().unwrap_or(0).max(9);
    let has_levels = attributes.iter().all(|attribute| attribute.level.is_some());
    let has_cells = attributes.iter().any(|attribute| attribute.granularity.is_some());
    let levels = if has_levels { "  level of top" } else { "" };
    let cells = if has_cells { "  granularity  entropy" } else { "" };
    writeln!(f, "\n  {:<widest$}{levels}       ncp{cells}", "attribute")?;
    for attribute in attributes {
        let (name, top, ncp) = (&attribute.name, attribute.top, decimal(attribute.ncp));
        let level = attribute.level.filter(|_| has_levels);
        let level = level.map_or_else(String::new, |level| format!("  {level:>5} of {top:<3}"));
        let [granularity, entropy] =
            [attribute.granularity, attribute.entropy].map(|loss| loss.map_or_else(|| "-".to_owned(), decimal));
        let cells = if has_cells { format!("  {granularity:>11}  {entropy:>7}") } else { String::new() };
        writeln!(f, "  {name:<widest$}{level}  {ncp:>8}{cells}")?;
    }
    Ok(())
}

fn class_sizes(f: &mut fmt::Formatter<'_>, classes: &SizeDistribution, buckets: bool) -> fmt::Result {
    let SizeDistribution { count, min, lower_quartile, median, upper_quartile, max, mean, .. } = classes;
    let name = if buckets { "Buckets" } else { "Classes" };
    writeln!(f, "\n{name}: {count}, of {mean:.1} rows on average (small ones are easier to attack)")?;
    writeln!(f, "  smallest {min}, quartiles {lower_quartile} {median} {upper_quartile}, largest {max}")?;
    let most = classes.histogram.iter().map(|range| range.classes).max().unwrap_or(0).max(1);
    let width = count.to_string().len().max(7);
    writeln!(f, "  {:>7}  {:>width$}", "rows", "classes")?;
    for range in &classes.histogram {
        // A range that is not empty shows, however rare it is.
        let length = (range.classes * BAR_MAX).div_ceil(most) as usize;
        let line = format!("  {:>7}  {:>width$}  {}", range.size, range.classes, "#".repeat(length));
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

fn risk(f: &mut fmt::Formatter<'_>, measures: &TableMeasures) -> fmt::Result {
    let risk = &measures.risk;
    writeln!(f, "\nRisk of re-identification by the quasi-identifiers (lower is better)")?;
    // Without a k nothing is above what is required; then it matters how many have the highest
    // risk.
    let over = if risk.k > 1 { format!("rows above 1/{}", risk.k) } else { "rows at highest".to_owned() };
    writeln!(f, "  {:<12}{:>9}{:>9}  {over:>15}", "adversary", "highest", "mean")?;
    let mut line = |name: &str, scenario: &Scenario, meaning: &str| {
        let rows = if risk.k > 1 { scenario.share_above } else { scenario.share_at_max };
        let [max, mean, rows] = [scenario.max, scenario.mean, rows].map(percent);
        writeln!(f, "  {name:<12}{max:>9}{mean:>9}  {rows:>15}   {meaning}")
    };
    line("prosecutor", &risk.prosecutor, "knows that the person is in the release")?;
    match &risk.journalist {
        Some(journalist) => {
            line("journalist", journalist, "knows only that the person is in the source, its population")?
        }
        None => writeln!(f, "  {:<12}{:>9}", "journalist", "unknown")?,
    }
    let (marketer, unique) = (percent(risk.marketer), risk.unique_rows);
    writeln!(
        f,
        "  {:<12}{:>9}{marketer:>9}  {:>15}   links every row to a person; this share is linked correctly",
        "marketer", "", ""
    )?;
    if measures.buckets {
        writeln!(f, "  rows with unique quasi-identifiers: {unique}; a row that is found leads to its bucket")?;
        return Ok(());
    }
    writeln!(f, "  rows alone in their class: {unique}")
}

fn query_error(f: &mut fmt::Formatter<'_>, queries: &QueryError) -> fmt::Result {
    let QueryError { options, sanity_bound, mean, median, percentile_95, max, .. } = queries;
    writeln!(f, "\nRelative error of {} random count queries (0% is an exact answer)", options.count)?;
    let [mean, median, percentile_95, max] = [mean, median, percentile_95, max].map(|&error| percent(error));
    writeln!(f, "  mean {mean}, median {median}, 95 of 100 within {percentile_95}, worst {max}")?;
    let selectivity = percent(options.selectivity);
    writeln!(
        f,
        "  seed {}, selecting about {selectivity}; true counts below {sanity_bound} count as that",
        options.seed
    )
}

fn number_error(f: &mut fmt::Formatter<'_>, numbers: &NumberError) -> fmt::Result {
    let NumberError { attribute, deviation, by_class, by_value } = numbers;
    writeln!(
        f,
        "\nError of means and quartiles of {attribute} (0 is exact; its standard deviation is {})",
        rounded(*deviation)
    )?;
    let names = by_value.iter().map(|(name, _)| name.chars().count() + 3);
    let widest = names.max().unwrap_or(0).max("by class".len());
    writeln!(f, "  {:<widest$}  {:>10}{:>16}{:>10}{:>16}", "", "mean", "lower quartile", "median", "upper quartile")?;
    let by_class = std::iter::once(("by class".to_owned(), by_class));
    for (name, errors) in by_class.chain(by_value.iter().map(|(name, errors)| (format!("by {name}"), errors))) {
        let [mean, lower, median, upper] = errors.map(rounded);
        writeln!(f, "  {name:<widest$}  {mean:>10}{lower:>16}{median:>10}{upper:>16}")?;
    }
    Ok(())
}

/// Four significant digits, or whole where they end before the point.
fn rounded(value: f64) -> String {
    let whole = if value < 1.0 { 0 } else { value.log10() as usize };
    format!("{value:.*}", 3usize.saturating_sub(whole))
}

pub(super) fn decimal(value: f64) -> String {
    format!("{value:.4}")
}

/// Two digits after the point below ten percent, where they matter.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || (99.95..=100.0).contains(&percent) {
        format!("{percent:.0}%")
    } else if percent < 10.0 {
        format!("{percent:.2}%")
    } else {
        format!("{percent:.1}%")
    }
}
