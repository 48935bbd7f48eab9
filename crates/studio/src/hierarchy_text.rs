//! The hierarchy of an attribute as a policy writes it, and the values that the page sends for it.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Value};

/// A cut point, and the highest level on which it still divides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CutPoint {
    pub(crate) at: String,
    pub(crate) height: usize,
}

/// How a policy describes a hierarchy, as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HierarchyText {
    /// The value, then `*`.
    None,
    Widths(Vec<String>),
    Cuts(Vec<CutPoint>),
    Mask(usize),
    Dates(Vec<String>),
    File(String),
}

/// Levels that the page lets a cut point reach.
pub(crate) const HEIGHT_MAX: usize = 6;
/// Cut points that the page takes.
const CUTS_MAX: usize = 200;

impl HierarchyText {
    /// The hierarchy of an attribute in the text of a policy.
    pub(crate) fn of(text: &str, attribute: &str) -> HierarchyText {
        let Ok(document) = text.parse::<DocumentMut>() else { return HierarchyText::None };
        let entry = document.get("attributes").and_then(|attributes| attributes.get(attribute)?.get("hierarchy"));
        entry.and_then(read).unwrap_or(HierarchyText::None)
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            HierarchyText::None => "none",
            HierarchyText::Widths(_) => "widths",
            HierarchyText::Cuts(_) => "breaks",
            HierarchyText::Mask(_) => "mask",
            HierarchyText::Dates(_) => "dates",
            HierarchyText::File(_) => "file",
        }
    }

    /// As a policy writes it; `None` where the key is absent.
    pub(crate) fn value(&self) -> Option<Value> {
        let numbers =
            |texts: &[String]| Value::Array(texts.iter().map(|text| crate::edit::number_or_text(text)).collect());
        let (key, value): (&str, Value) = match self {
            HierarchyText::None => return None,
            HierarchyText::File(path) => return Some(path.as_str().into()),
            HierarchyText::Widths(widths) => ("widths", numbers(widths)),
            HierarchyText::Mask(characters) => ("mask", (*characters as i64).into()),
            HierarchyText::Dates(units) => ("dates", Value::Array(units.iter().map(String::as_str).collect())),
            HierarchyText::Cuts(cuts) => {
                let top = cuts.iter().map(|cut| cut.height).max().unwrap_or(1);
                let of_level = |level: usize| {
                    let high = cuts.iter().filter(|cut| cut.height >= level).map(|cut| cut.at.clone());
                    numbers(&high.collect::<Vec<_>>())
                };
                ("breaks", Value::Array((1..=top).map(of_level).collect::<Array>()))
            }
        };
        let mut table = InlineTable::new();
        table.insert(key, value);
        Some(Value::InlineTable(table))
    }
}

fn read(item: &Item) -> Option<HierarchyText> {
    if let Some(path) = item.as_str() {
        return Some(HierarchyText::File(path.to_owned()));
    }
    let table = item.as_table_like()?;
    let list =
        |key: &str| table.get(key).and_then(Item::as_array).map(|array| array.iter().map(plain).collect::<Vec<_>>());
    if let Some(path) = table.get("file").and_then(Item::as_str) {
        return Some(HierarchyText::File(path.to_owned()));
    }
    if let Some(characters) = table.get("mask").and_then(Item::as_integer) {
        return Some(HierarchyText::Mask(usize::try_from(characters).ok()?));
    }
    if let Some(levels) = table.get("breaks").and_then(Item::as_array) {
        let levels: Vec<Vec<String>> =
            levels.iter().filter_map(Value::as_array).map(|level| level.iter().map(plain).collect()).collect();
        let height = |at: &String| levels.iter().take_while(|level| level.contains(at)).count();
        let first = levels.first().cloned().unwrap_or_default();
        return Some(HierarchyText::Cuts(first.into_iter().map(|at| CutPoint { height: height(&at), at }).collect()));
    }
    list("widths").map(HierarchyText::Widths).or_else(|| list("dates").map(HierarchyText::Dates))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string().trim().to_owned(), str::to_owned)
}

/// Reads the cut points that the page sends: `18:1,30:2`. They come back in order, each once.
pub(crate) fn cuts_sent(text: &str) -> Result<Vec<CutPoint>, String> {
    let mut cuts: Vec<CutPoint> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (at, height) = part.rsplit_once(':').unwrap_or((part, "1"));
        let is_date = at.len() == 10 && at.chars().all(|c| c.is_ascii_digit() || c == '-');
        let is_number = at.parse::<f64>().is_ok_and(f64::is_finite);
        let height = height.parse::<usize>().ok().filter(|height| (1..=HEIGHT_MAX).contains(height));
        match height {
            Some(height) if is_number || is_date => {
                if cuts.iter().all(|known| known.at != at) {
                    cuts.push(CutPoint { at: at.to_owned(), height });
                }
            }
            _ => return Err(format!("{part:?} is not a cut point")),
        }
    }
    if cuts.is_empty() || cuts.len() > CUTS_MAX {
        return Err(format!("A hierarchy of intervals has from 1 to {CUTS_MAX} cut points."));
    }
    let key = |cut: &CutPoint| cut.at.parse::<f64>().unwrap_or(0.0);
    cuts.sort_by(|a, b| key(a).total_cmp(&key(b)).then_with(|| a.at.cmp(&b.at)));
    Ok(cuts)
}

/// Widths around a span of values: three levels of round numbers.
pub(crate) fn round_widths(span: f64) -> Vec<String> {
    let round = |width: f64| {
        let ten = 10f64.powf(width.abs().max(1e-9).log10().floor());
        let lead = [1.0, 2.0, 5.0, 10.0].into_iter().find(|lead| lead * ten >= width * 0.99).unwrap_or(10.0);
        lead * ten
    };
    let first = round(span / 16.0);
    let lead = first / 10f64.powf((first * 1.0001).log10().floor());
    // Each width is a multiple of the one before.
    let factors: [f64; 3] = if lead.round() as i64 == 5 { [1.0, 2.0, 4.0] } else { [1.0, 2.0, 10.0] };
    let factors = if lead.round() as i64 == 2 { [1.0, 5.0, 10.0] } else { factors };
    factors.iter().map(|factor| format!("{}", (first * factor * 1e6).round() / 1e6)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_hierarchy_reads_back() {
        let all = [
            HierarchyText::None,
            HierarchyText::Widths(vec!["5".into(), "10".into()]),
            HierarchyText::Cuts(cuts_sent("18:1,65:2,30:1").unwrap()),
            HierarchyText::Cuts(cuts_sent("2020-01-01:1,2021-01-01:2").unwrap()),
            HierarchyText::Mask(3),
            HierarchyText::Dates(vec!["month".into(), "year".into()]),
            HierarchyText::File("hierarchies/a.csv".into()),
        ];
        for hierarchy in all {
            let mut document: DocumentMut = "[attributes]\na = { role = \"quasi\" }\n".parse().unwrap();
            crate::edit::set_attribute_key(&mut document, "a", "hierarchy", hierarchy.value()).unwrap();
            assert_eq!(HierarchyText::of(&document.to_string(), "a"), hierarchy, "{document}");
        }
        let text = "[attributes.a.hierarchy]\nbreaks = [[18, 30, 65], [65]]\n";
        let HierarchyText::Cuts(cuts) = HierarchyText::of(text, "a") else { panic!() };
        assert_eq!(cuts, cuts_sent("18:1,30:1,65:2").unwrap());
    }

    #[test]
    fn what_is_not_a_cut_point_is_refused() {
        for bad in ["", "x:1", "5:0", "5:99", "nan:1", "inf:1", "1];[2:1"] {
            assert!(cuts_sent(bad).is_err(), "{bad:?}");
        }
        assert_eq!(cuts_sent("5:1,5:2").unwrap().len(), 1);
    }

    #[test]
    fn widths_are_round_and_multiples_of_one_another() {
        for span in [3.0, 17.0, 73.0, 100.0, 99_999.0, 0.4] {
            let widths: Vec<f64> = round_widths(span).iter().map(|width| width.parse().unwrap()).collect();
            for pair in widths.windows(2) {
                let ratio = pair[1] / pair[0];
                assert!((ratio - ratio.round()).abs() < 1e-6 && ratio > 1.0, "{span}: {widths:?}");
            }
        }
    }
}
