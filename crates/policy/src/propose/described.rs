//! A column as a data dictionary describes it.

/// The label of a column and the meaning of its codes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Described {
    pub label: String,
    /// Codes and what they mean.
    pub values: Vec<(String, String)>,
}

impl Described {
    /// The meanings of the first codes, for a comment; `None` without codes.
    pub(super) fn codes_in_words(&self) -> Option<String> {
        const NAMED_MAX: usize = 4;
        let clean = |text: &str| text.chars().filter(|character| !character.is_control()).take(30).collect::<String>();
        let named = self.values.iter().take(NAMED_MAX);
        let named: Vec<String> = named.map(|(code, label)| format!("{} {}", clean(code), clean(label))).collect();
        let more = if self.values.len() > NAMED_MAX { ", …" } else { "" };
        (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
    }
}
