//! The schema of a type as `serde` prints it.

use serde_json::{Map, Value, json};
use syn::{GenericArgument, PathArguments, Type};

use super::outputs::{NARROWER, PARTS};
use super::printed::{Content, Field, Printed, Types, Variant};

/// How deep types may nest.
const DEPTH_MAX: usize = 20;

pub(super) struct Shaper<'a> {
    types: &'a Types,
}

/// A place in the sources: the file, and how deep within types.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    depth: usize,
}

impl<'a> Shaper<'a> {
    pub(super) fn new(types: &'a Types) -> Shaper<'a> {
        Shaper { types }
    }

    /// A type by its crate and its name, such as `hedgerow::Check`.
    pub(super) fn of_output(&self, of: &str) -> Result<Value, String> {
        let (of_crate, name) = of.split_once("::").ok_or_else(|| format!("{of} has no crate"))?;
        let (path, printed) = self.types.find(name, &format!("crates/{of_crate}/src/lib.rs"))?;
        self.of_printed(printed, Place { path, depth: 0 })
    }

    fn of_printed(&self, printed: &Printed, place: Place<'_>) -> Result<Value, String> {
        if place.depth > DEPTH_MAX {
            return Err(format!("{} contains itself", printed.name));
        }
        let schema = match &printed.content {
            Content::Object(fields) => self.of_fields(printed, fields, place)?,
            Content::Wrapped(of) => {
                self.of_type(of, place).map_err(|problem| format!("{}: {problem}", printed.name))?
            }
            Content::Words(words) => json!({ "enum": words }),
            Content::Any(variants) if variants.is_empty() => {
                return Err(format!("{} is an enum whose values carry data", printed.name));
            }
            Content::Any(variants) => {
                let any = variants.iter().map(|variant| match variant {
                    Variant::Object(fields) => self.of_fields(printed, fields, place),
                    Variant::Wrapped(of) => self.of_type(of, place),
                });
                json!({ "anyOf": any.collect::<Result<Vec<_>, _>>()? })
            }
        };
        Ok(described(schema, &printed.description))
    }

    fn of_fields(&self, printed: &Printed, fields: &[Field], place: Place<'_>) -> Result<Value, String> {
        let (mut required, mut properties) = (Vec::new(), Map::new());
        let (mut others, mut alternatives) = (None, Vec::new());
        for field in fields {
            let named = format!("{}.{}", printed.name, field.name);
            let schema = match NARROWER.iter().find(|(known, _)| *known == named) {
                Some((_, text)) => {
                    let written = serde_json::from_str(text).map_err(|error| format!("{named}: {error}"))?;
                    self.with_types(written, place).map_err(|problem| format!("{named}: {problem}"))?
                }
                None => self.of_field(field, place).map_err(|problem| format!("{named}: {problem}"))?,
            };
            if field.is_flat && schema.get("anyOf").is_some() {
                alternatives.push(schema);
                continue;
            }
            if field.is_flat {
                flatten(schema, is_option(&field.of), &mut required, &mut properties, &mut others);
                continue;
            }
            if !field.may_be_absent {
                required.push(Value::from(field.key.as_str()));
            }
            properties.insert(field.key.clone(), described(schema, &field.description));
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("properties".to_owned(), properties.into());
        schema.extend(others.map(|others| ("additionalProperties".to_owned(), others)));
        alternatives.into_iter().try_fold(Value::Object(schema), with_each)
    }

    /// A schema that was written by hand, with types in the place of their names.
    fn with_types(&self, written: Value, place: Place<'_>) -> Result<Value, String> {
        Ok(match written {
            Value::Object(keys) => match keys.get("$type").and_then(Value::as_str) {
                Some(name) => self.of_name(name, &[], place)?,
                None => {
                    let each = keys.into_iter().map(|(key, value)| Ok((key, self.with_types(value, place)?)));
                    Value::Object(each.collect::<Result<_, String>>()?)
                }
            },
            Value::Array(items) => {
                let each = items.into_iter().map(|item| self.with_types(item, place));
                Value::Array(each.collect::<Result<_, _>>()?)
            }
            other => other,
        })
    }

    fn of_field(&self, field: &Field, place: Place<'_>) -> Result<Value, String> {
        if let Some(special) = &field.special {
            return Err(format!("`{special}` prints it in a way that its type does not say"));
        }
        let schema = match option(&field.of) {
            // Where nothing is printed for none, null is not printed either.
            Some(inner) if field.may_be_absent || field.is_flat => self.of_type(inner, place)?,
            _ => self.of_type(&field.of, place)?,
        };
        let says_null =
            field.description.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "null");
        Ok(if says_null { with_null(schema) } else { schema })
    }

    fn of_type(&self, of: &Type, place: Place<'_>) -> Result<Value, String> {
        match of {
            Type::Reference(of) => self.of_type(&of.elem, place),
            Type::Slice(of) => self.list(&of.elem, place),
            Type::Array(of) => self.list(&of.elem, place),
            Type::Path(of) => {
                let last = of.path.segments.last().ok_or("a type without a name")?;
                let arguments = arguments(&last.arguments);
                self.of_name(&last.ident.to_string(), &arguments, place)
            }
            _ => Err("a type that has no schema".to_owned()),
        }
    }

    fn of_name(&self, name: &str, arguments: &[&Type], place: Place<'_>) -> Result<Value, String> {
        match (name, arguments) {
            ("String" | "str" | "PathBuf" | "Path" | "char", []) => Ok(json!({ "type": "string" })),
            ("bool", []) => Ok(json!({ "type": "boolean" })),
            ("u8" | "u16" | "u32" | "u64" | "usize", []) => Ok(json!({ "type": "integer", "minimum": 0 })),
            ("i8" | "i16" | "i32" | "i64" | "isize", []) => Ok(json!({ "type": "integer" })),
            ("f32" | "f64", []) => Ok(json!({ "type": "number" })),
            ("Value", []) => Ok(json!({})),
            ("Option", [of]) => Ok(with_null(self.of_type(of, place)?)),
            ("Vec", [of]) => self.list(of, place),
            ("Box" | "Arc" | "Cow", [of]) => self.of_type(of, place),
            ("Map", [..]) => Ok(json!({ "type": "object", "additionalProperties": true })),
            ("ByName", [of]) | ("BTreeMap", [_, of]) => {
                Ok(json!({ "type": "object", "additionalProperties": self.of_type(of, place)? }))
            }
            (name, _) => {
                let (path, printed) = self.types.find(name, place.path)?;
                let full = format!("{}::{name}", path.split('/').nth(1).unwrap_or_default());
                match PARTS.iter().find(|(.., of)| *of == full) {
                    Some((file, part, _)) => Ok(json!({ "$ref": format!("{file}#/$defs/{part}") })),
                    None => self.of_printed(printed, Place { path, depth: place.depth + 1 }),
                }
            }
        }
    }

    fn list(&self, of: &Type, place: Place<'_>) -> Result<Value, String> {
        Ok(json!({ "type": "array", "items": self.of_type(of, place)? }))
    }
}

/// An object that also has the keys of one of several others.
fn with_each(object: Value, alternatives: Value) -> Result<Value, String> {
    let Some(Value::Array(alternatives)) = alternatives.get("anyOf") else { return Err("no alternatives".to_owned()) };
    let joined = alternatives.iter().map(|alternative| {
        let (mut required, mut properties, mut others) = (Vec::new(), Map::new(), None);
        flatten(alternative.clone(), false, &mut required, &mut properties, &mut others);
        flatten(object.clone(), false, &mut required, &mut properties, &mut others);
        json!({ "type": "object", "required": required, "properties": properties })
    });
    Ok(json!({ "anyOf": joined.collect::<Vec<_>>() }))
}

/// Puts the keys of a part among those of the whole.
fn flatten(
    schema: Value,
    may_be_absent: bool,
    required: &mut Vec<Value>,
    properties: &mut Map<String, Value>,
    others: &mut Option<Value>,
) {
    let Value::Object(mut part) = schema else { return };
    if let (Some(Value::Array(keys)), false) = (part.remove("required"), may_be_absent) {
        required.extend(keys);
    }
    if let Some(Value::Object(keys)) = part.remove("properties") {
        properties.extend(keys);
    }
    if let Some(rest) = part.remove("additionalProperties") {
        *others = Some(rest);
    }
}

/// With what it is, said before all else.
fn described(schema: Value, description: &str) -> Value {
    let Value::Object(keys) = schema else { return schema };
    let mut found = Map::new();
    let own = keys.get("description").cloned();
    let stated = (!description.is_empty()).then(|| Value::from(description)).or(own);
    found.extend(stated.map(|description| ("description".to_owned(), description)));
    found.extend(keys.into_iter().filter(|(key, _)| key != "description"));
    Value::Object(found)
}

fn with_null(schema: Value) -> Value {
    match schema {
        Value::Object(mut keys) if keys.contains_key("type") => {
            if let Some(Value::String(name)) = keys.get("type") {
                let both = json!([name, "null"]);
                keys.insert("type".to_owned(), both);
            }
            Value::Object(keys)
        }
        Value::Object(keys) if keys.is_empty() => Value::Object(keys),
        Value::Object(keys) if is_any_with_null(&keys) => Value::Object(keys),
        other => json!({ "anyOf": [other, { "type": "null" }] }),
    }
}

fn is_any_with_null(keys: &Map<String, Value>) -> bool {
    let any = keys.get("anyOf").and_then(Value::as_array);
    any.is_some_and(|any| any.contains(&json!({ "type": "null" })))
}

fn is_option(of: &Type) -> bool {
    option(of).is_some()
}

fn option(of: &Type) -> Option<&Type> {
    let Type::Path(of) = of else { return None };
    let last = of.path.segments.last()?;
    match (last.ident == "Option", arguments(&last.arguments).as_slice()) {
        (true, [inner]) => Some(inner),
        _ => None,
    }
}

fn arguments(arguments: &PathArguments) -> Vec<&Type> {
    let PathArguments::AngleBracketed(list) = arguments else { return Vec::new() };
    list.args
        .iter()
        .filter_map(|argument| if let GenericArgument::Type(of) = argument { Some(of) } else { None })
        .collect()
}
