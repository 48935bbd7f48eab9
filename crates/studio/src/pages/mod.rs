//! The pages: one file each, functions from what is known to HTML.

pub(crate) mod aside;
pub(crate) mod community;
pub(crate) mod cuts;
pub(crate) mod data;
pub(crate) mod explore;
pub(crate) mod export;
pub(crate) mod frame;
pub(crate) mod hierarchies;
pub(crate) mod models;
pub(crate) mod open;
pub(crate) mod progress;
pub(crate) mod publish;
pub(crate) mod rules;
pub(crate) mod sketch;
pub(crate) mod tradeoff;
pub(crate) mod utility;

use std::sync::Arc;

use hedgerow::{Error, Monitor, Policy};
use maud::{Markup, html};

use crate::delayed_parts::PagePart;
use crate::engine::Data;
use crate::form::Form;
use crate::server::Server;
use crate::studio::Current;

/// A step of the way, as the navigation shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageStep {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    /// The question that it answers, in a few words.
    pub(crate) question: &'static str,
}

pub(crate) const STEPS: &[PageStep] = &[
    PageStep { path: "data", name: "Data", question: "What is in the table?" },
    PageStep { path: "hierarchies", name: "Hierarchies", question: "How coarse may each value become?" },
    PageStep { path: "rules", name: "Rules", question: "What must hold, against whom?" },
    PageStep { path: "publish", name: "Publish", question: "Which method, at what loss?" },
    PageStep { path: "explore", name: "Explore", question: "What else would hold?" },
    PageStep { path: "utility", name: "Utility and risk", question: "What is left, of use and of risk?" },
    PageStep { path: "community", name: "Community", question: "What do other releases add?" },
    PageStep { path: "export", name: "Export", question: "What to hand on?" },
];

/// The inputs of a page.
#[derive(Debug)]
pub(crate) struct PageView<'v> {
    pub(crate) server: &'v Server,
    pub(crate) current: &'v Current,
    pub(crate) data: Option<Arc<Data>>,
    pub(crate) query: &'v Form,
}

impl PageView<'_> {
    pub(crate) fn policy(&self) -> Option<&Arc<Policy>> {
        self.current.policy.as_ref().ok()
    }

    /// A part of a page that may take long: at once where it does not, else how far it is. What it
    /// shows depends on its address, the data, and the policy with its hierarchies.
    pub(crate) fn part(
        &self,
        words: &str,
        path: &str,
        work: impl FnOnce(&Monitor<'_>) -> Result<Markup, Error> + Send + 'static,
    ) -> Markup {
        self.part_of(words, path, &self.current.version, work)
    }

    /// A part that depends on its address, the data and `of` alone.
    pub(crate) fn part_of(
        &self,
        words: &str,
        path: &str,
        of: &str,
        work: impl FnOnce(&Monitor<'_>) -> Result<Markup, Error> + Send + 'static,
    ) -> Markup {
        let stamp = self.data.as_ref().map_or("", |data| data.stamp.as_str());
        let key = format!("{path}\n{stamp}\n{of}");
        let sides = &self.server.studio.sides;
        if self.query.has("cancel") {
            sides.cancel(&key);
        }
        let wanted =
            PagePart { key: &key, path, words, again: self.query.has("again"), patience: self.server.patience };
        sides.part(wanted, work)
    }

    /// The policy as a name for a command line.
    pub(crate) fn policy_name(&self) -> String {
        quoted(&self.server.studio.confinement.shown(&self.current.document.path))
    }
}

/// A word of a command line.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A number for people: `12,345`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share for people: `12 %`, `0.3 %`, `none`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "none".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    match share {
        share if share < 0.1 => "< 0.1 %".to_owned(),
        share if share < 10.0 => format!("{share:.1} %"),
        share => format!("{share:.0} %"),
    }
}

/// The text of a page while the data is missing.
pub(crate) fn waiting(view: &PageView<'_>) -> Markup {
    let unreadable = view.server.studio.found().unreadable.clone();
    html! {
        @if let Some((_, problem)) = unreadable {
            div.notice.bad role="alert" { p { strong { "The data cannot be read." } } pre { (hedgerow_report::with_code(&view.server.studio.confinement.shortened(&problem))) } }
        } @else if view.policy().is_none() {
            div.notice.bad { p { "The policy has problems, listed under “Policy”. Mend them, or undo the last change." } }
        } @else {
            p.soft { "The data is being read." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_are_readable() {
        assert_eq!([count(0), count(999), count(1000), count(1234567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([percent(0, 5), percent(1, 2), percent(1, 200)], ["none", "50 %", "0.5 %"]);
        assert_eq!([quoted("a.csv"), quoted("it's"), quoted("")], ["a.csv", "'it'\\''s'", "''"]);
    }
}
