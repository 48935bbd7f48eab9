//! The rules of a policy as they are written, whether or not the policy is valid.

use toml_edit::{DocumentMut, Item, TableLike, Value};

/// A model with its parameters as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelInText {
    pub(crate) name: String,
    parameters: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleInText {
    /// `None` means every quasi-identifier.
    pub(crate) know: Option<Vec<String>>,
    pub(crate) protect: Vec<String>,
    pub(crate) models: Vec<ModelInText>,
}

impl RuleInText {
    /// Its models and the attribute that it protects: other rules differ in them. Numbers may
    /// change.
    pub(crate) fn stamp(&self) -> String {
        let models: Vec<&str> = self.models.iter().map(|model| model.name.as_str()).collect();
        format!("{} of {}", models.join("+"), self.protect.join("+"))
    }
}

impl ModelInText {
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == key).map(|(_, text)| text.as_str())
    }
}

/// The rules of a policy; none where the text is not TOML.
pub(crate) fn rules_in(text: &str) -> Vec<RuleInText> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    match document.get("rule") {
        Some(Item::ArrayOfTables(rules)) => rules.iter().map(|rule| rule_in(rule)).collect(),
        Some(Item::Value(Value::Array(rules))) => {
            rules.iter().filter_map(Value::as_inline_table).map(|rule| rule_in(rule)).collect()
        }
        _ => Vec::new(),
    }
}

/// The rule and the place in it of a model against an attacker who knows every quasi-identifier.
pub(crate) fn place_of(text: &str, model: &str, protect: Option<&str>) -> Option<(usize, usize)> {
    rules_in(text).iter().enumerate().find_map(|(index, rule)| {
        let is_same = rule.know.is_none() && rule.protect.iter().map(String::as_str).eq(protect);
        let place = rule.models.iter().position(|known| known.name == model)?;
        is_same.then_some((index, place))
    })
}

/// The releases that `[community]` names.
pub(crate) fn community_in(text: &str) -> Vec<String> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    document.get("community").and_then(|community| community.get("releases")).map(texts).unwrap_or_default()
}

fn rule_in(rule: &dyn TableLike) -> RuleInText {
    let models = match rule.get("require") {
        Some(Item::Value(Value::Array(models))) => {
            models.iter().filter_map(Value::as_inline_table).map(|model| model_in(model)).collect()
        }
        Some(item) => item.as_table_like().map(model_in).into_iter().collect(),
        None => Vec::new(),
    };
    RuleInText {
        know: rule.get("know").map(texts),
        protect: rule.get("protect").map(texts).unwrap_or_default(),
        models,
    }
}

fn model_in(model: &dyn TableLike) -> ModelInText {
    let parameters = model.iter().filter_map(|(key, item)| Some((key.to_owned(), plain(item.as_value()?))));
    let (name, parameters) = parameters.partition::<Vec<_>, _>(|(key, _)| key == "model");
    ModelInText { name: name.into_iter().next().map(|(_, name)| name).unwrap_or_default(), parameters }
}

/// One text or a list of them.
fn texts(item: &Item) -> Vec<String> {
    match item {
        Item::Value(Value::Array(list)) => list.iter().map(plain).collect(),
        Item::Value(value) => vec![plain(value)],
        _ => Vec::new(),
    }
}

/// A value without quotes and without what stands around it.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string().trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        let text = "[[rule]]\nrequire = { model = \"k-anonymity\", k = 3 } # three\n\n[[rule]]\nknow = [\"age\"]\nprotect = \"d\"\n\
                    require = [{ model = \"t-closeness\", t = 0.30 }, { model = \"x\" }]\n";
        let rules = rules_in(text);
        assert_eq!((rules[0].models[0].name.as_str(), rules[0].models[0].value("k")), ("k-anonymity", Some("3")));
        assert_eq!((&rules[0].know, rules[0].protect.len()), (&None, 0));
        assert_eq!(rules[1].stamp(), "t-closeness+x of d");
        assert_eq!(rules_in(&text.replace("k = 3", "k = 4"))[0].stamp(), rules[0].stamp());
        assert_eq!(rules[1].know, Some(vec!["age".to_owned()]));
        assert_eq!((rules[1].models.len(), rules[1].models[0].value("t")), (2, Some("0.30")));
        assert!(rules_in("= = not TOML").is_empty());
        assert_eq!(rules_in("rule = [{ require = { model = \"a\" } }]").len(), 1);
    }
}
