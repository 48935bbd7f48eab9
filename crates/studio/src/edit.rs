//! Edits of a policy that keep everything else as its author wrote it: order, spacing, comments.

use toml_edit::{Array, ArrayOfTables, Decor, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// Sets a key in place: what stands around the old value stays around the new one.
fn set(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            if let Some(space) = take_space_after_the_last(table) {
                *value.decor_mut() = Decor::new(" ", space);
            }
            table.insert(key, Item::Value(value));
        }
    }
}

/// The space before the brace that ends an inline table: it stays before the brace when a key is
/// added.
fn take_space_after_the_last(table: &mut dyn TableLike) -> Option<String> {
    let last = table.iter().last()?.0.to_owned();
    let decor = table.get_mut(&last)?.as_value_mut()?.decor_mut();
    let space = decor.suffix()?.as_str()?.to_owned();
    let is_space = !space.is_empty() && space.chars().all(|c| c == ' ');
    is_space.then(|| {
        decor.set_suffix("");
        space
    })
}

fn section<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut dyn TableLike, String> {
    let item = document.entry(name).or_insert_with(|| Item::Table(Table::new()));
    item.as_table_like_mut().ok_or_else(|| format!("`{name}` is not a table"))
}

fn attribute<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut dyn TableLike, String> {
    let attributes = section(document, "attributes")?;
    let item = attributes.get_mut(name).ok_or_else(|| format!("the policy has no attribute {name:?}"))?;
    item.as_table_like_mut().ok_or_else(|| format!("attributes.{name} is not a table"))
}

/// Sets an attribute's role; `None` omits the column from the release.
pub(crate) fn set_role(document: &mut DocumentMut, name: &str, role: Option<&str>) -> Result<(), String> {
    let attributes = section(document, "attributes")?;
    match role {
        None => {
            attributes.remove(name);
        }
        Some(role) if attributes.contains_key(name) => set(attribute(document, name)?, "role", role.into()),
        Some(role) => {
            let mut entry = InlineTable::new();
            entry.insert("role", role.into());
            attributes.insert(name, Item::Value(Value::InlineTable(entry)));
        }
    }
    Ok(())
}

/// Sets or removes a key of an attribute, such as its hierarchy or its type.
pub(crate) fn set_attribute_key(
    document: &mut DocumentMut,
    name: &str,
    key: &str,
    value: Option<Value>,
) -> Result<(), String> {
    let entry = attribute(document, name)?;
    match value {
        Some(value) if entry.get(key).is_some_and(|item| !item.is_value()) => {
            entry.insert(key, Item::Value(value));
        }
        Some(value) => set(entry, key, value),
        None => {
            entry.remove(key);
        }
    }
    if key == "hierarchy" {
        forget_proposed_comment(document, name);
    }
    Ok(())
}

/// A proposal explains each hierarchy in a comment behind it, which another hierarchy makes wrong.
/// Other comments stay.
fn forget_proposed_comment(document: &mut DocumentMut, name: &str) {
    let entry = section(document, "attributes").ok().and_then(|attributes| attributes.get_mut(name)?.as_value_mut());
    let Some(decor) = entry.map(Value::decor_mut) else { return };
    let comment = decor.suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default().trim();
    if comment.starts_with('#') && (comment.ends_with("then *") || comment.ends_with(", …")) {
        decor.set_suffix("");
    }
}

/// Sets or removes a key of a section, such as `method` of `[publish]`.
pub(crate) fn set_section_key(
    document: &mut DocumentMut,
    name: &str,
    key: &str,
    value: Option<Value>,
) -> Result<(), String> {
    let table = section(document, name)?;
    match value {
        Some(value) => set(table, key, value),
        None => {
            table.remove(key);
        }
    }
    Ok(())
}

fn rules(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, String> {
    let item = document.entry("rule").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    if item.is_array() {
        *item = match std::mem::take(item).into_array_of_tables() {
            Ok(tables) => Item::ArrayOfTables(tables),
            Err(other) => other,
        };
    }
    item.as_array_of_tables_mut().ok_or_else(|| "`rule` is not a list of tables".to_owned())
}

fn rule(document: &mut DocumentMut, index: usize) -> Result<&mut Table, String> {
    let missing = || format!("the policy has no rule {}: it was changed meanwhile", index + 1);
    rules(document)?.get_mut(index).ok_or_else(missing)
}

/// Adds a rule with one model.
pub(crate) fn add_rule(document: &mut DocumentMut, protect: Option<&str>, model: InlineTable) -> Result<(), String> {
    let mut table = Table::new();
    if let Some(protect) = protect {
        table.insert("protect", toml_edit::value(protect));
    }
    table.insert("require", Item::Value(Value::InlineTable(model)));
    rules(document)?.push(table);
    Ok(())
}

pub(crate) fn remove_rule(document: &mut DocumentMut, index: usize) -> Result<(), String> {
    rule(document, index)?;
    rules(document)?.remove(index);
    Ok(())
}

/// Sets what the attacker of a rule knows; `None` means every quasi-identifier.
pub(crate) fn set_know(document: &mut DocumentMut, index: usize, know: Option<&[&str]>) -> Result<(), String> {
    let rule = rule(document, index)?;
    match know {
        Some(names) => set(rule, "know", Value::Array(names.iter().copied().collect::<Array>())),
        None => {
            rule.remove("know");
        }
    }
    Ok(())
}

pub(crate) fn set_protect(document: &mut DocumentMut, index: usize, protect: Option<&str>) -> Result<(), String> {
    let rule = rule(document, index)?;
    match protect {
        Some(name) => set(rule, "protect", name.into()),
        None => {
            rule.remove("protect");
        }
    }
    Ok(())
}

/// One of the models that a rule requires.
fn model(document: &mut DocumentMut, index: usize, place: usize) -> Result<&mut dyn TableLike, String> {
    let missing = || format!("rule {} has no model {}: it was changed meanwhile", index + 1, place + 1);
    let require = rule(document, index)?.get_mut("require").ok_or_else(missing)?;
    if require.is_array() {
        let item = require.as_array_mut().and_then(|models| models.get_mut(place)).ok_or_else(missing)?;
        return item.as_inline_table_mut().map(|table| table as &mut dyn TableLike).ok_or_else(missing);
    }
    require.as_table_like_mut().filter(|_| place == 0).ok_or_else(missing)
}

/// Sets or removes a parameter of a model. The text is a TOML value.
pub(crate) fn set_parameter(
    document: &mut DocumentMut,
    (index, place): (usize, usize),
    key: &str,
    text: &str,
) -> Result<(), String> {
    let model = model(document, index, place)?;
    if text.is_empty() {
        model.remove(key);
    } else {
        set(model, key, number_or_text(text));
    }
    Ok(())
}

pub(crate) fn add_model(document: &mut DocumentMut, index: usize, model: InlineTable) -> Result<(), String> {
    let rule = rule(document, index)?;
    let mut models = models_of(rule)?;
    models.push(Value::InlineTable(model));
    rule.insert("require", Item::Value(Value::Array(models)));
    Ok(())
}

/// Removes a model, and the rule with its last one.
pub(crate) fn remove_model(document: &mut DocumentMut, index: usize, place: usize) -> Result<(), String> {
    let of_rule = rule(document, index)?;
    let mut models = models_of(of_rule)?;
    if models.len() <= 1 {
        return remove_rule(document, index);
    }
    if place < models.len() {
        models.remove(place);
    }
    let only = models.get(0).filter(|_| models.len() == 1).cloned();
    of_rule.insert("require", Item::Value(only.unwrap_or(Value::Array(models))));
    Ok(())
}

fn models_of(rule: &Table) -> Result<Array, String> {
    match rule.get("require") {
        Some(Item::Value(Value::Array(models))) => Ok(models.clone()),
        Some(item) => {
            let table = item.clone().into_table().map(Table::into_inline_table);
            table
                .map(|table| [Value::InlineTable(table)].into_iter().collect())
                .map_err(|_| "`require` is not a model".to_owned())
        }
        None => Ok(Array::new()),
    }
}

/// A model by name with its parameters.
pub(crate) fn model_table(name: &str, parameters: &[(&str, &str)]) -> InlineTable {
    let mut table = InlineTable::new();
    table.insert("model", name.into());
    for (key, text) in parameters {
        table.insert(*key, number_or_text(text));
    }
    table
}

/// A number as it was typed, or else a text.
pub(crate) fn number_or_text(text: &str) -> Value {
    let text = text.trim();
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    text.parse::<Value>()
        .ok()
        .filter(|value| is_number && (value.is_integer() || value.is_float()))
        .unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"# A policy.
[source]
path = "a.csv" # here

[attributes]
age = { role = "quasi", hierarchy = { widths = [5, 10] } } # years
zip = { role = "quasi" }

# k.
[[rule]]
require = { model = "k-anonymity", k = 3 } # three

[[rule]]
protect = "zip"
require = [{ model = "distinct-l-diversity", l = 2 }, { model = "t-closeness", t = 0.3 }]
"#;

    fn edited(edit: impl FnOnce(&mut DocumentMut) -> Result<(), String>) -> String {
        let mut document: DocumentMut = POLICY.parse().unwrap();
        edit(&mut document).unwrap();
        document.to_string()
    }

    #[test]
    fn a_role_changes_in_its_place() {
        let text = edited(|document| set_role(document, "age", Some("sensitive")));
        assert_eq!(text, POLICY.replace("age = { role = \"quasi\"", "age = { role = \"sensitive\""));
        let text = edited(|document| set_role(document, "sex", Some("plain")));
        assert!(text.contains("zip = { role = \"quasi\" }\nsex = { role = \"plain\" }\n"), "{text}");
        assert!(!edited(|document| set_role(document, "zip", None)).contains("\nzip ="));
        let text = edited(|document| set_attribute_key(document, "zip", "hierarchy", Some("zip.csv".into())));
        assert_eq!(
            text,
            POLICY.replace("zip = { role = \"quasi\" }", "zip = { role = \"quasi\", hierarchy = \"zip.csv\" }")
        );
    }

    #[test]
    fn a_comment_about_another_hierarchy_goes() {
        let text = "[attributes]\nage = { role = \"quasi\", hierarchy = { widths = [5] } } # intervals of 5 years, then *\n\
                    zip = { role = \"quasi\", hierarchy = { mask = 5 } } # by our doctor\n";
        let mut document: DocumentMut = text.parse().unwrap();
        for name in ["age", "zip"] {
            set_attribute_key(&mut document, name, "hierarchy", Some("a.csv".into())).unwrap();
        }
        let expected = "[attributes]\nage = { role = \"quasi\", hierarchy = \"a.csv\" }\n\
                        zip = { role = \"quasi\", hierarchy = \"a.csv\" } # by our doctor\n";
        assert_eq!(document.to_string(), expected);
    }

    #[test]
    fn a_parameter_keeps_the_comment_beside_it() {
        let text = edited(|document| set_parameter(document, (0, 0), "k", "5"));
        assert_eq!(text, POLICY.replace("k = 3", "k = 5"));
        let text = edited(|document| set_parameter(document, (1, 1), "t", "0.25"));
        assert_eq!(text, POLICY.replace("t = 0.3", "t = 0.25"));
        let mut document: DocumentMut = POLICY.parse().unwrap();
        assert!(set_parameter(&mut document, (7, 0), "k", "5").is_err());
        assert!(set_parameter(&mut document, (0, 1), "k", "5").is_err());
    }

    #[test]
    fn rules_and_models_come_and_go() {
        let text = edited(|document| add_model(document, 0, model_table("t-closeness", &[("t", "0.2")])));
        assert!(text.contains(r#"k = 3 }, { model = "t-closeness", t = 0.2 }]"#), "{text}");
        let text = edited(|document| remove_model(document, 1, 0));
        assert!(text.contains("require = { model = \"t-closeness\", t = 0.3 }"), "{text}");
        assert!(!edited(|document| remove_model(document, 0, 0)).contains("k-anonymity"));
        let text = edited(|document| add_rule(document, Some("age"), model_table("t-closeness", &[("t", "0.1")])));
        assert!(
            text.ends_with("[[rule]]\nprotect = \"age\"\nrequire = { model = \"t-closeness\", t = 0.1 }\n"),
            "{text}"
        );
        let text = edited(|document| set_know(document, 0, Some(&["age"])));
        assert!(text.contains("know = [\"age\"]"), "{text}");
    }

    #[test]
    fn other_ways_to_write_the_same_are_understood() {
        let text = "rule = [{ require = { model = \"k-anonymity\", k = 3 } }]\n[attributes.age]\nrole = \"quasi\"\n";
        let mut document: DocumentMut = text.parse().unwrap();
        set_parameter(&mut document, (0, 0), "k", "4").unwrap();
        set_role(&mut document, "age", Some("plain")).unwrap();
        let text = document.to_string();
        assert!(text.contains("k = 4") && text.contains("role = \"plain\""), "{text}");
    }

    #[test]
    fn numbers_stay_as_they_were_typed() {
        assert_eq!(number_or_text("0.30").to_string(), "0.30");
        assert_eq!(number_or_text("5").to_string(), "5");
        assert_eq!(number_or_text("ordered").to_string(), "\"ordered\"");
        assert_eq!(number_or_text("1, x = 2").to_string(), "\"1, x = 2\"");
        assert!(number_or_text("inf").is_str());
    }
}
