//! Numbers as people write them: with a decimal comma, with marks between thousands.

/// The marks inside a number: `1.234,5` has the decimal mark `,` and `.` between thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberFormat {
    decimal: char,
    thousands: Option<char>,
}

impl Default for NumberFormat {
    /// A decimal point and nothing between thousands.
    fn default() -> NumberFormat {
        NumberFormat { decimal: '.', thousands: None }
    }
}

/// The marks of the formats that are tried besides the default; spaces are of three widths.
const COMMON: [(char, Option<char>); 10] = [
    (',', None),
    (',', Some('.')),
    (',', Some(' ')),
    (',', Some('\u{a0}')),
    (',', Some('\u{202f}')),
    ('.', Some(',')),
    ('.', Some(' ')),
    ('.', Some('\u{a0}')),
    ('.', Some('\'')),
    ('.', Some('’')),
];

impl NumberFormat {
    /// `None` when the marks are the same, or could be taken for a digit or a sign.
    pub fn new(decimal: char, thousands: Option<char>) -> Option<NumberFormat> {
        let is_mark = |mark: char| !mark.is_alphanumeric() && !matches!(mark, '-' | '+' | '\0'..='\x1f');
        let fits = is_mark(decimal) && thousands.is_none_or(|mark| is_mark(mark) && mark != decimal);
        fits.then_some(NumberFormat { decimal, thousands })
    }

    pub fn decimal(self) -> char {
        self.decimal
    }

    pub fn thousands(self) -> Option<char> {
        self.thousands
    }

    /// The number with a decimal point and without marks between thousands; `None` when the text is
    /// no number in this format. Marks must stand between groups of three digits.
    pub fn plain(self, text: &str) -> Option<String> {
        let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
        let (mantissa, exponent) = unsigned.find(['e', 'E']).map_or((unsigned, ""), |at| unsigned.split_at(at));
        let (whole, fraction) = mantissa.split_once(self.decimal).map_or((mantissa, None), |(w, f)| (w, Some(f)));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut plain = sign.to_owned();
        match self.thousands.filter(|&mark| whole.contains(mark)) {
            None if digits(whole) => plain.push_str(whole),
            None => return None,
            Some(mark) => {
                for (index, group) in whole.split(mark).enumerate() {
                    let fits = if index == 0 { (1..=3).contains(&group.len()) } else { group.len() == 3 };
                    if !fits || !digits(group) {
                        return None;
                    }
                    plain.push_str(group);
                }
            }
        }
        if let Some(fraction) = fraction {
            if !digits(fraction) {
                return None;
            }
            plain.push('.');
            plain.push_str(fraction);
        }
        let power = exponent.get(1..).unwrap_or("");
        if !exponent.is_empty() && !digits(power.strip_prefix(['-', '+']).unwrap_or(power)) {
            return None;
        }
        plain.push_str(exponent);
        Some(plain)
    }

    /// The formats in which every text is a number, when the default is none of them. Several when
    /// the texts leave it open: `1,234` may be a thousand or a little more than one.
    pub fn detect<T: AsRef<str>>(texts: &[T]) -> Vec<NumberFormat> {
        let plain_texts = |format: NumberFormat| -> Option<Vec<String>> {
            texts.iter().map(|text| format.plain(text.as_ref())).collect()
        };
        if texts.is_empty() || plain_texts(NumberFormat::default()).is_some() {
            return Vec::new();
        }
        let mut found: Vec<(NumberFormat, Vec<String>)> = Vec::new();
        for (decimal, thousands) in COMMON {
            let format = NumberFormat { decimal, thousands };
            if let Some(plain) = plain_texts(format)
                && found.iter().all(|(_, known)| *known != plain)
            {
                found.push((format, plain));
            }
        }
        found.into_iter().map(|(format, _)| format).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(decimal: char, thousands: Option<char>) -> NumberFormat {
        NumberFormat::new(decimal, thousands).unwrap()
    }

    #[test]
    fn numbers_are_read_in_their_format_only() {
        let german = format(',', Some('.'));
        let cases = [
            ("1.234.567,89", Some("1234567.89")),
            ("-12,5", Some("-12.5")),
            ("1234", Some("1234")),
            ("1234,5e-3", Some("1234.5e-3")),
            ("1.5", None),
            ("1.2345", None),
            (".234", None),
            ("1234.567", None),
            ("1,", None),
            (",5", None),
            ("1,2,3", None),
            ("1,5e", None),
            ("", None),
            ("-", None),
        ];
        for (text, expected) in cases {
            assert_eq!(german.plain(text).as_deref(), expected, "{text}");
        }
        assert_eq!(format('.', Some('\'')).plain("1'234.5").as_deref(), Some("1234.5"));
        assert_eq!(format(',', None).plain("1.5"), None);
    }

    #[test]
    fn marks_that_could_belong_to_a_number_are_refused() {
        assert_eq!(NumberFormat::new(',', Some(',')), None);
        assert_eq!(NumberFormat::new('e', None), None);
        assert_eq!(NumberFormat::new('.', Some('-')), None);
        assert_eq!(NumberFormat::new('.', None), Some(NumberFormat::default()));
    }

    #[test]
    fn the_format_is_detected_and_doubt_is_stated() {
        assert_eq!(NumberFormat::detect(&["1,5", "12"]), [format(',', None)]);
        assert_eq!(NumberFormat::detect(&["1.234,5", "12"]), [format(',', Some('.'))]);
        assert_eq!(NumberFormat::detect(&["1,234.5", "12"]), [format('.', Some(','))]);
        assert_eq!(NumberFormat::detect(&["1,234"]), [format(',', None), format('.', Some(','))]);
        assert_eq!(NumberFormat::detect(&["1.5", "2"]), [], "the default format");
        assert_eq!(NumberFormat::detect(&["1,5", "x"]), []);
        assert_eq!(NumberFormat::detect::<&str>(&[]), []);
    }
}
