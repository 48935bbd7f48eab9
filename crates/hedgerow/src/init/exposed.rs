//! A draft that an audit with people would find fault with says so, before it is published.
//!
//! Some combinations of values do not occur, and exclude rows of a class for those who know them.
//! Rules hold among the rows that are left where `consistent = true` is kept at a price; else the
//! draft says how many people the adversary `consistency` finds.

use hedgerow_policy::propose::Proposal;
use hedgerow_table::{InputError, Table};

use super::trial::{EXAMINED_ROWS_MAX, Exposed, PolicyTrial};
use crate::{Error, Monitor};

/// The findings of an audit of this draft; `None` where they are not known.
pub(super) fn examine(
    table: &Table,
    proposed: &Proposal,
    draft: &str,
    monitor: &Monitor<'_>,
) -> Result<Option<Exposed>, Error> {
    if table.rows > EXAMINED_ROWS_MAX {
        return Ok(None);
    }
    match PolicyTrial::of_rows(table, proposed, table.rows)? {
        Some(trial) => trial.exposed(draft, monitor),
        None => Ok(None),
    }
}

/// The warning and its hint; `found` is absent where it was not looked for.
pub(super) fn warning(place: &str, found: Option<&Exposed>, of_units: bool) -> InputError {
    let about = "for those who know which combinations of values do not occur";
    let problem = match found {
        Some(Exposed { people, attributes, examined }) => {
            let people = match examined {
                None => format!("{people} people"),
                Some(examined) => format!("at least {people} people ({examined} were examined)"),
            };
            match attributes.is_empty() {
                true => format!("the draft leaves {people} too few rows {about}"),
                false => {
                    format!(
                        "the draft leaves {people} too few rows, or one value of {}, {about}",
                        attributes.join(", ")
                    )
                }
            }
        }
        None => format!("the draft may leave people too few rows or one value {about}; it was not counted"),
    };
    let hint = "`audit RELEASE --policy POLICY --people DATA` fails on them. Release fewer attributes as they are, or make \
                them coarser";
    let hint = match (of_units, found) {
        (true, _) => {
            format!("{hint}, or let cluster keep rules over units with `consistent = true`, by suppressing units")
        }
        (false, Some(_)) => {
            format!("{hint}; with `consistent = true` in every rule no release that keeps half of the data was found")
        }
        (false, None) => format!("{hint}, or write `consistent = true` in every rule"),
    };
    let attributes = found.map_or(&[][..], |found| found.attributes.as_slice());
    InputError::new(place, problem, hint).about("combinations", attributes, found.map(|found| found.people))
}

/// The same as a comment at the end of the draft.
pub(super) fn comment(warning: &InputError) -> String {
    const COLUMNS: usize = 116;
    let mut text = String::from("\n");
    for sentence in [format!("{}.", capitalized(&warning.problem)), format!("{}.", warning.hint)] {
        let mut line = String::from("#");
        for word in sentence.split(' ') {
            if line.chars().count() + 1 + word.chars().count() > COLUMNS {
                text.push_str(&line);
                text.push('\n');
                line = String::from("#");
            }
            line.push(' ');
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
