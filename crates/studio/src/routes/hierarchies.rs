//! Changes of hierarchies: kinds, widths, cut points, masks, calendar units and groups.

use std::path::PathBuf;

use super::document;
use crate::confine::Confinement;
use crate::edit;
use crate::form::Form;
use crate::groups::{Groups, ROWS_MAX};
use crate::hierarchy_text::{CutPoint, HierarchyText, cuts_sent, round_widths};
use crate::pages::hierarchies::{kinds_of, span};
use crate::server::Server;

/// Widths of one hierarchy.
const WIDTHS_MAX: usize = 20;

pub(super) fn act(server: &Server, what: &str, form: &Form) -> Option<Result<(), String>> {
    let attribute = form.get("attribute");
    let level = form.number("level").unwrap_or(0);
    Some(match what {
        "kind" => set_kind(server, attribute, form.get("kind")),
        "widths" => {
            let widths: Vec<String> = form
                .get("widths")
                .split([',', ' ', ';'])
                .filter(|width| !width.is_empty())
                .map(str::to_owned)
                .collect();
            if widths.is_empty()
                || widths.len() > WIDTHS_MAX
                || widths.iter().any(|width| width.parse::<f64>().is_err())
            {
                return Some(Err("Widths are numbers separated by commas.".to_owned()));
            }
            set(server, attribute, &HierarchyText::Widths(widths), "widths")
        }
        "cuts" => match cuts_sent(form.get("cuts")) {
            Ok(cuts) => set(server, attribute, &HierarchyText::Cuts(cuts), "cut points"),
            Err(problem) => Err(problem),
        },
        "mask" => match form.number("mask").filter(|mask| (1..=64).contains(mask)) {
            Some(mask) => set(server, attribute, &HierarchyText::Mask(mask), "mask"),
            None => Err("From 1 to 64 characters can be hidden.".to_owned()),
        },
        "dates" => {
            let units: Vec<String> = form.all("unit").iter().map(|unit| (*unit).to_owned()).collect();
            let hierarchy = if units.is_empty() { HierarchyText::None } else { HierarchyText::Dates(units) };
            set(server, attribute, &hierarchy, "calendar units")
        }
        "move" => {
            regroup(server, attribute, &format!("{} moves to {}", form.get("member"), form.get("group")), |groups| {
                groups.put(level, form.get("member"), form.get("group"))
            })
        }
        "rename" => {
            regroup(server, attribute, &format!("{} is called {}", form.get("from"), form.get("to")), |groups| {
                groups.rename(level, form.get("from"), form.get("to"))
            })
        }
        "add-level" => regroup(server, attribute, "a level more", |groups| groups.add_level(level)),
        "remove-level" => regroup(server, attribute, "a level less", |groups| groups.remove_level(level)),
        _ => return None,
    })
}

fn set(server: &Server, attribute: &str, hierarchy: &HierarchyText, what: &str) -> Result<(), String> {
    super::change(server, &format!("{what} of {attribute}"), |doc| {
        edit::set_attribute_key(doc, attribute, "hierarchy", hierarchy.value())
    })
}

/// Uses a hierarchy file that was uploaded, where it is one.
pub(super) fn use_file(server: &Server, attribute: &str, path: &std::path::Path) -> Result<(), String> {
    Groups::parse(&crate::document::read(path)?)?;
    let name = relative(server, path)?;
    set(server, attribute, &HierarchyText::File(name), "hierarchy file")
}

/// A path as the policy names it.
fn relative(server: &Server, path: &std::path::Path) -> Result<String, String> {
    let folder = document(server)?.document.folder().to_path_buf();
    Ok(path.strip_prefix(&folder).unwrap_or(path).display().to_string())
}

fn set_kind(server: &Server, attribute: &str, kind: &str) -> Result<(), String> {
    let current = document(server)?;
    let data = server.studio.found().data.clone().ok_or("The data is not read yet.")?;
    let column =
        data.columns.iter().find(|column| column.profile.name == attribute).ok_or("There is no such column.")?;
    let known = HierarchyText::of(&current.text, attribute);
    if !kinds_of(column).iter().any(|(known, _)| *known == kind) {
        return Err(format!("{attribute} cannot have such a hierarchy."));
    }
    let (low, high) = span(&column.histogram).unwrap_or((0.0, 1.0));
    let hierarchy = match kind {
        "widths" => HierarchyText::Widths(round_widths(high - low)),
        "mask" => HierarchyText::Mask(column.profile.length_max.clamp(1, 5)),
        "dates" => HierarchyText::Dates(vec!["month".to_owned(), "year".to_owned()]),
        "breaks" => HierarchyText::Cuts(first_cuts(column.profile.kind.name(), (low, high), &known)),
        "file" => return group_values(server, attribute, &data.table),
        _ => HierarchyText::None,
    };
    set(server, attribute, &hierarchy, "kind of hierarchy")
}

/// Cut points to start from: the ends of the intervals that were there, or thirds of the span.
fn first_cuts(kind: &str, (low, high): (f64, f64), known: &HierarchyText) -> Vec<CutPoint> {
    const START_MAX: usize = 30;
    if let HierarchyText::Widths(widths) = known {
        let widths: Vec<f64> =
            widths.iter().filter_map(|width| width.parse().ok()).filter(|width| *width > 0.0).collect();
        if let Some(&finest) = widths.iter().find(|width| (high - low) / **width <= START_MAX as f64) {
            let coarser: Vec<f64> = widths.iter().copied().filter(|width| *width >= finest).collect();
            let first = (low / finest).floor() + 1.0;
            let ends = (0..).map(|step| (first + f64::from(step)) * finest).take_while(|end| *end < high);
            let height = |end: f64| {
                coarser.iter().take_while(|width| ((end / **width).round() * **width - end).abs() < 1e-9).count()
            };
            return ends.map(|end| CutPoint { at: format!("{end}"), height: height(end).max(1) }).collect();
        }
    }
    let at = |part: f64| {
        let value = low + (high - low) * part;
        match kind {
            "date" => date(value as i64),
            "integer" => format!("{}", value.round()),
            _ => format!("{}", (value * 1000.0).round() / 1000.0),
        }
    };
    vec![
        CutPoint { at: at(0.25), height: 1 },
        CutPoint { at: at(0.5), height: 2 },
        CutPoint { at: at(0.75), height: 1 },
    ]
}

/// A day since 1970 as `2024-02-29` (Howard Hinnant's civil_from_days).
fn date(day: i64) -> String {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let part = (5 * of_year + 2) / 153;
    let (month, day) = (if part < 10 { part + 3 } else { part - 9 }, of_year - (153 * part + 2) / 5 + 1);
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Writes a file with all values of a column in one group, to be divided by hand.
fn group_values(server: &Server, attribute: &str, table: &hedgerow::Table) -> Result<(), String> {
    let column = table.column(attribute).ok_or("There is no such column.")?;
    if column.domain.present() > ROWS_MAX {
        let count = crate::pages::count(column.domain.present() as u64);
        return Err(format!("{attribute} has {count} values: too many to group by hand. Import a hierarchy file."));
    }
    let values: Vec<String> = (0..column.domain.present() as u32).map(|code| column.domain.text(code)).collect();
    if values.iter().any(|value| value.contains(['\n', '\r'])) {
        return Err(format!("{attribute}: a value has a line break, which a hierarchy file cannot hold."));
    }
    let path = new_file(&server.studio.confinement, attribute)?;
    let name = relative(server, &path)?;
    document(server)?.document.change(&format!("groups of {attribute}"), |doc| {
        edit::set_attribute_key(doc, attribute, "hierarchy", HierarchyText::File(name).value())?;
        Ok(vec![(path, Groups::of_values(&values).text())])
    })
}

fn new_file(confinement: &Confinement, attribute: &str) -> Result<PathBuf, String> {
    let plain: String = attribute.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    for number in 1..100 {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        let path = confinement.new_path(&format!("hierarchies/{plain}{more}.csv"))?;
        if !path.exists() {
            return Ok(path);
        }
    }
    Err("There are too many hierarchy files of this name.".to_owned())
}

/// Rearranges the file of an attribute's groups.
fn regroup(
    server: &Server,
    attribute: &str,
    what: &str,
    edit: impl FnOnce(&mut Groups) -> Result<(), String>,
) -> Result<(), String> {
    let current = document(server)?;
    let HierarchyText::File(name) = HierarchyText::of(&current.text, attribute) else {
        return Err(format!("{attribute} has no groups: the policy was changed meanwhile."));
    };
    let path = current.document.folder().join(&name);
    // A policy can name any file; the studio writes only where it may.
    let path = server.studio.confinement.existing(&path.display().to_string())?;
    current.document.change(what, |_| {
        let mut groups = Groups::parse(&crate::document::read(&path)?)?;
        edit(&mut groups)?;
        Ok(vec![(path.clone(), groups.text())])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!([date(0), date(11_016), date(-1)], ["1970-01-01", "2000-02-29", "1969-12-31"]);
        for day in (-200_000..200_000).step_by(37) {
            assert_eq!(crate::pages::cuts::day(&date(day)), Some(day as f64));
        }
    }

    #[test]
    fn intervals_become_cut_points_with_their_levels() {
        let widths = HierarchyText::Widths(vec!["5".into(), "10".into(), "20".into()]);
        let cuts = first_cuts("integer", (18.0, 45.0), &widths);
        let expected = [("20", 3), ("25", 1), ("30", 2), ("35", 1), ("40", 3)];
        assert_eq!(cuts.iter().map(|cut| (cut.at.as_str(), cut.height)).collect::<Vec<_>>(), expected);
        assert_eq!(first_cuts("integer", (0.0, 100.0), &HierarchyText::None).len(), 3);
    }
}
