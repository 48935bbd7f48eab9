//! The data that a browser sends: the pairs of a query or a form.

use percent_encoding::percent_decode_str;

/// Names with values, in the order in which they were sent.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `name=value&name=value`.
    pub(crate) fn parse(text: &str) -> Form {
        let decoded = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        };
        Form(text.split('&').filter(|part| !part.is_empty()).map(pair).collect())
    }

    /// The first value of a name; empty when it is absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| found == name)
    }

    /// All values of a name that are not empty.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.0
            .iter()
            .filter(|(found, value)| found == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
            .collect()
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.get(name).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded() {
        let form = Form::parse("a=1&b=x+y%26z&a=2&c&%ff=%");
        assert_eq!((form.get("a"), form.get("b"), form.get("c"), form.get("d")), ("1", "x y&z", "", ""));
        assert_eq!(form.all("a"), ["1", "2"]);
        assert_eq!(form.number("a"), Some(1));
        assert_eq!(Form::parse(""), Form::default());
    }
}
