//! How the texts of one column become values: the declared or inferred kind, and the format they
//! are written in.

use std::borrow::Cow;

use super::number_format::NumberFormat;
use super::{ReadOptions, header::shorten};
use crate::date_format::{DateFormat, iso_day};
use crate::domain::{Typed, first_pair};
use crate::{Domain, Kind};

pub(super) struct ColumnReading<'a> {
    declared: Option<Kind>,
    dates: Option<&'a DateFormat>,
    numbers: NumberFormat,
}

/// A warning about a column, with a hint.
pub(super) type Doubt = (String, String);

impl<'a> ColumnReading<'a> {
    /// `stored` is the kind that the source itself declares; the options go before it. `is_text`
    /// says that the cells are texts as people write them, and not numbers that a program stored.
    pub(super) fn new(
        column: &str,
        stored: Option<Kind>,
        is_text: bool,
        options: &'a ReadOptions,
    ) -> ColumnReading<'a> {
        let own_format = options.date_formats.get(column);
        let implied = own_format.map(|_| Kind::Date);
        ColumnReading {
            declared: options.kind(column).or(implied).or(stored),
            dates: own_format.or(options.date_format.as_ref().filter(|_| is_text)),
            numbers: if is_text { options.numbers } else { NumberFormat::default() },
        }
    }

    pub(super) fn declared(&self) -> Option<Kind> {
        self.declared
    }

    pub(super) fn date_format(&self) -> Option<&DateFormat> {
        self.dates
    }

    /// `Err` holds the position of the first text that the declared kind cannot take.
    pub(super) fn typed(&self, texts: &[&str], missing: bool) -> Result<Typed, usize> {
        if let Some(kind) = self.declared {
            if kind != Kind::Date && self.numbers == NumberFormat::default() {
                return Domain::typed(texts, missing, Some(kind));
            }
            let texts = texts.iter().enumerate();
            let canonical: Vec<Cow<'_, str>> =
                texts.map(|(index, text)| self.canonical(kind, text).ok_or(index)).collect::<Result<_, _>>()?;
            return Domain::typed(&canonical, missing, Some(kind));
        }
        if let Some(format) = self.dates.filter(|_| !texts.is_empty())
            && let Some(days) =
                texts.iter().map(|text| Some(format.read(text)?.to_string())).collect::<Option<Vec<_>>>()
        {
            let typed = Domain::typed(&days, missing, Some(Kind::Date))?;
            if typed.domain.present() == texts.len() {
                return Ok(typed);
            }
        }
        if self.numbers == NumberFormat::default() {
            return Domain::typed(texts, missing, None);
        }
        let plain: Option<Vec<String>> = texts.iter().map(|text| self.numbers.plain(text)).collect();
        let mut kept_apart = None;
        if let Some(plain) = plain {
            let typed = Domain::typed(&plain, missing, None)?;
            kept_apart = typed.kept_apart.or_else(|| first_pair(&typed.codes));
            if typed.domain.kind().is_number() && kept_apart.is_none() {
                return Ok(typed);
            }
        }
        let typed = Domain::typed(texts, missing, None)?;
        // `1.5` is not a number where the decimal mark is a comma.
        let is_number = typed.domain.kind().is_number();
        let typed = if is_number { Domain::typed(texts, missing, Some(Kind::Category))? } else { typed };
        Ok(Typed { kept_apart, ..typed })
    }

    /// Whether the declared kind can take a text.
    pub(super) fn takes(&self, text: &str) -> bool {
        self.declared.is_none_or(|kind| self.canonical(kind, text).is_some_and(|text| kind.takes(&text)))
    }

    /// The text as a program would write it.
    fn canonical<'t>(&self, kind: Kind, text: &'t str) -> Option<Cow<'t, str>> {
        match kind {
            Kind::Integer | Kind::Float if self.numbers != NumberFormat::default() => {
                self.numbers.plain(text).map(Cow::Owned)
            }
            Kind::Date => match self.dates {
                Some(format) => format.read(text).map(|day| Cow::Owned(day.to_string())),
                None => iso_day(text).map(|_| Cow::Borrowed(&text[..10])),
            },
            _ => Some(Cow::Borrowed(text)),
        }
    }

    /// Texts that were read as text and are probably not meant so.
    pub(super) fn doubt(&self, texts: &[&str], typed: &Typed) -> Option<Doubt> {
        if let Some([first, second]) = typed.kept_apart.map(|pair| pair.map(|position| shorten(texts[position]))) {
            let problem = format!("is read as text: as numbers, `{first}` and `{second}` would be one value");
            let hint = "declare the type: \"float\" if they are the same number, \"category\" if they are codes";
            return Some((problem, hint.to_owned()));
        }
        if self.declared.is_some() || typed.domain.kind() != Kind::Category {
            return None;
        }
        date_doubt(texts).or_else(|| number_doubt(texts))
    }
}

fn date_doubt(texts: &[&str]) -> Option<Doubt> {
    let patterns: Vec<String> = DateFormat::detect(texts).iter().map(|format| format!("`{format}`")).collect();
    let (first, others) = patterns.split_first()?;
    let problem = if others.is_empty() {
        format!("is read as text, and looks like dates in the format {first}")
    } else {
        format!("is read as text, and looks like dates; the values leave open whether as {}", patterns.join(" or "))
    };
    Some((problem, "declare its `date-format`, or its type as \"category\"".to_owned()))
}

fn number_doubt(texts: &[&str]) -> Option<Doubt> {
    let formats = NumberFormat::detect(texts);
    let format = formats.first()?;
    if formats.len() > 1 {
        let problem = "is read as text, and looks like numbers; the values leave open which mark is the decimal mark";
        return Some((problem.to_owned(), "set `decimal` and `thousands` of the source".to_owned()));
    }
    let decimal = format!("`decimal = \"{}\"`", format.decimal());
    let thousands = format.thousands().map(|mark| format!(" and `thousands = \"{mark}\"`")).unwrap_or_default();
    let problem = format!("is read as text, and looks like numbers with the decimal mark `{}`", format.decimal());
    Some((problem, format!("set {decimal}{thousands} of the source, or declare its type as \"category\"")))
}
