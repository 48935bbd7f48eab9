//! The types that are printed, as their source has them.

use std::collections::BTreeMap;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Fields, Item, Lit, LitStr, Meta, Token, Type};

/// Every type that derives `Serialize`, by name: with the file that has it.
#[derive(Default)]
pub(super) struct Types(BTreeMap<String, Vec<(String, Printed)>>);

/// A type that is printed.
pub(super) struct Printed {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) content: Content,
}

pub(super) enum Content {
    Object(Vec<Field>),
    /// A type with one field, printed as that field.
    Wrapped(Type),
    /// One of these texts.
    Words(Vec<String>),
    /// One of these, by which keys it has; none where the type does not say how it is printed.
    Any(Vec<Variant>),
}

pub(super) enum Variant {
    Object(Vec<Field>),
    Wrapped(Type),
}

pub(super) struct Field {
    /// In the source.
    pub(super) name: String,
    /// In the output.
    pub(super) key: String,
    pub(super) description: String,
    pub(super) of: Type,
    pub(super) is_flat: bool,
    pub(super) may_be_absent: bool,
    /// A way of printing of its own, which its type does not say.
    pub(super) special: Option<String>,
}

/// The `serde` attributes of a type or a field.
#[derive(Default)]
struct Stated {
    rename: Option<String>,
    rename_all: Option<String>,
    is_skipped: bool,
    is_flat: bool,
    is_transparent: bool,
    is_untagged: bool,
    may_be_absent: bool,
    special: Option<String>,
    into: Option<String>,
}

impl Types {
    pub(super) fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Types, String> {
        let mut types = Types::default();
        for (path, text) in files {
            // Others are not parsed: it takes a while.
            if path.starts_with("crates/") && path.contains("/src/") && text.contains("Serialize") {
                let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
                types.add(path, file.items)?;
            }
        }
        Ok(types)
    }

    fn add(&mut self, path: &str, items: Vec<Item>) -> Result<(), String> {
        for item in items {
            let (name, attributes) = match &item {
                Item::Struct(item) => (item.ident.to_string(), &item.attrs),
                Item::Enum(item) => (item.ident.to_string(), &item.attrs),
                _ => continue,
            };
            if !derives_serialize(attributes) {
                continue;
            }
            let stated = stated(attributes).map_err(|problem| format!("{path}: {name}: {problem}"))?;
            // Printing such a type is refused.
            let is_said = stated.special.is_none();
            let content = if is_said { content(&item, &stated) } else { Ok(Content::Any(Vec::new())) };
            let content = content.map_err(|problem| format!("{path}: {name}: {problem}"))?;
            let printed = Printed { name: name.clone(), description: description(attributes), content };
            self.0.entry(name).or_default().push((path.to_owned(), printed));
        }
        Ok(())
    }

    /// A type by its name, as a file of `path` means it: of that file, of its crate, or the only
    /// one.
    pub(super) fn find(&self, name: &str, path: &str) -> Result<(&str, &Printed), String> {
        let found = self.0.get(name).map(Vec::as_slice).unwrap_or_default();
        let of_crate = |path: &str| path.split('/').nth(1).map(str::to_owned);
        let same_file = found.iter().find(|(other, _)| other == path);
        let same_crate: Vec<_> = found.iter().filter(|(other, _)| of_crate(other) == of_crate(path)).collect();
        let (path, printed) = match (same_file, same_crate.as_slice(), found) {
            (Some(found), ..) => found,
            (None, [only], _) => *only,
            (None, [], [only]) => only,
            (None, _, []) => return Err(format!("no type {name} derives Serialize")),
            _ => return Err(format!("several types are called {name}")),
        };
        Ok((path, printed))
    }
}

/// `Serialize`, or `serde::Serialize`.
fn is_serialize(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == "Serialize")
}

fn derives_serialize(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let list = attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
        list.is_ok_and(|list| list.iter().any(is_serialize))
    })
}

fn stated(attributes: &[Attribute]) -> Result<Stated, String> {
    let mut stated = Stated::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let read = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            if meta.input.peek(syn::token::Paren) {
                stated.special = Some(name);
                return meta.parse_nested_meta(|inner| match inner.input.peek(Token![=]) {
                    true => inner.value()?.parse::<LitStr>().map(drop),
                    false => Ok(()),
                });
            }
            let text = match meta.input.peek(Token![=]) {
                true => Some(meta.value()?.parse::<LitStr>()?.value()),
                false => None,
            };
            match name.as_str() {
                "rename" => stated.rename = text,
                "rename_all" => stated.rename_all = text,
                "skip" | "skip_serializing" => stated.is_skipped = true,
                "flatten" => stated.is_flat = true,
                "transparent" => stated.is_transparent = true,
                "untagged" => stated.is_untagged = true,
                "skip_serializing_if" => stated.may_be_absent = true,
                "into" => stated.into = text,
                // About reading.
                "default" | "deny_unknown_fields" | "deserialize_with" | "alias" | "bound" | "borrow" => {}
                _ => stated.special = Some(name),
            }
            Ok(())
        });
        read.map_err(|error| error.to_string())?;
    }
    Ok(stated)
}

fn content(item: &Item, stated: &Stated) -> Result<Content, String> {
    if let Some(printed) = &stated.into {
        return syn::parse_str(printed).map(Content::Wrapped).map_err(|error| error.to_string());
    }
    match item {
        Item::Struct(item) => match &item.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Ok(Content::Wrapped(fields.unnamed.first().map(|field| field.ty.clone()).ok_or("no field")?))
            }
            fields => {
                let fields = named(fields, stated)?;
                match fields.as_slice() {
                    [only] if stated.is_transparent => Ok(Content::Wrapped(only.of.clone())),
                    _ => Ok(Content::Object(fields)),
                }
            }
        },
        Item::Enum(item) if item.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit)) => {
            let word = |variant: &syn::Variant| {
                let own = self::stated(&variant.attrs)?;
                Ok(own.rename.unwrap_or_else(|| spelled(&variant.ident.to_string(), stated)))
            };
            Ok(Content::Words(item.variants.iter().map(word).collect::<Result<_, String>>()?))
        }
        Item::Enum(item) if stated.is_untagged => {
            let variant = |variant: &syn::Variant| match &variant.fields {
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    let only = fields.unnamed.first().map(|field| field.ty.clone());
                    only.map(Variant::Wrapped).ok_or("no field".to_owned())
                }
                fields => named(fields, stated).map(Variant::Object),
            };
            Ok(Content::Any(item.variants.iter().map(variant).collect::<Result<_, _>>()?))
        }
        _ => Ok(Content::Any(Vec::new())),
    }
}

fn named(fields: &Fields, of_type: &Stated) -> Result<Vec<Field>, String> {
    let mut found = Vec::new();
    for field in fields {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        let stated = stated(&field.attrs).map_err(|problem| format!("{name}: {problem}"))?;
        if stated.is_skipped {
            continue;
        }
        found.push(Field {
            key: stated.rename.unwrap_or_else(|| spelled(&name, of_type)),
            name,
            description: description(&field.attrs),
            of: field.ty.clone(),
            is_flat: stated.is_flat,
            may_be_absent: stated.may_be_absent,
            special: stated.special,
        });
    }
    Ok(found)
}

/// A name as `rename_all` has it: of a field, or of a variant in capitals.
fn spelled(name: &str, stated: &Stated) -> String {
    let joint = match stated.rename_all.as_deref() {
        Some("kebab-case") => "-",
        Some("snake_case") => "_",
        Some("lowercase") => "",
        _ => return name.to_owned(),
    };
    let mut text = String::new();
    for (place, character) in name.chars().enumerate() {
        match character {
            '_' => text.push_str(joint),
            _ if character.is_uppercase() => {
                text.push_str(if place > 0 { joint } else { "" });
                text.extend(character.to_lowercase());
            }
            _ => text.push(character),
        }
    }
    text
}

/// The documentation, on one line and without links.
fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(value) => match &value.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<_>>().join(" ");
    text.replace("[`", "`").replace("`]", "`").replace("`None`", "null").trim().to_owned()
}
