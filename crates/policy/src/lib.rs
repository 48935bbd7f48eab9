//! The policy file, from TOML to plain values that need no further checking.
//!
//! Reading collects everything that is wrong in one run, and every error states where (line,
//! column, key path), what was found and expected, and what to do. What only the data shows (is
//! there such a column? does the hierarchy cover it?) is checked by those who read it; the places
//! kept here let them point into the policy too.
//!
//! ```
//! let text = r#"
//! [source]
//! path = "patients.csv"
//! [attributes]
//! age = { role = "quasi", hierarchy = { widths = [5, 10] } }
//! [[rule]]
//! require = { model = "k-anonymity", k = 5 }
//! "#;
//! let policy = hedgerow_policy::Policy::parse(text, "study/policy.toml".as_ref()).unwrap();
//! assert_eq!(policy.source.path, std::path::Path::new("study/patients.csv"));
//! assert_eq!(policy.rules[0].know, ["age"]);
//! ```

mod attribute;
pub mod builder;
mod cloning;
mod coarsen;
mod community;
mod declared;
mod dependency;
mod hierarchy;
mod model;
pub mod propose;
mod publish;
mod rule;
mod toml_text;
mod unit;
pub mod words;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hedgerow_table::InputError;

pub use attribute::Attribute;
pub use cloning::{Cloning, RareValues};
pub use community::{Community, TextPair, ValueMapping};
pub use declared::{Declared, Range, ValueOrder};
pub use dependency::Dependency;
pub use hedgerow_config::{ConfigError, ConfigErrors, Excerpt, Position, SourceSettings};
pub use hedgerow_privacy::KnownRows;
pub use hedgerow_release::Role;
pub use hedgerow_table::{Format, Kind};
pub use publish::{
    Algorithm, Anonymizer, Assignment, ClassLabels, Loss, Method, PublishSettings, SECONDS_MAX, Summary, WEIGHT_MAX,
    Weight,
};
pub use rule::Rule;

use attribute::AttributeDraft;
use hedgerow_config::{At, FileKind, Reader, TomlNode, source};
use rule::Context;

const POLICY_FILE: FileKind = FileKind {
    noun: "policy",
    absent: "check the path, or let `hedgerow init DATA` write a policy",
    too_large: "name the policy, not the data; long hierarchies go into files of their own",
};

#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub path: PathBuf,
    pub source: SourceSettings,
    /// In the order of the policy; at least one is quasi, unless the method is
    /// [`Method::Decompose`].
    pub attributes: Vec<Attribute>,
    /// Empty only where [`Policy::load_without_rules`] was called.
    pub rules: Vec<Rule>,
    /// The dependencies between attributes that attackers know.
    pub dependencies: Vec<Dependency>,
    pub publish: PublishSettings,
    pub community: Community,
    /// Warnings: what is allowed but probably not meant.
    pub warnings: Vec<InputError>,
}

impl Policy {
    pub fn load(path: &Path) -> Result<Policy, ConfigErrors> {
        hedgerow_config::load(path, POLICY_FILE, |reader, root| read_root(reader, root, path))
    }

    /// As [`Policy::load`], for what needs a description of the columns alone: rules may be absent.
    pub fn load_without_rules(path: &Path) -> Result<Policy, ConfigErrors> {
        hedgerow_config::load(path, POLICY_FILE, |reader, root| read(reader, root, path, false))
    }

    /// `path` names the file in messages, and its folder is where relative paths start.
    pub fn parse(text: &str, path: &Path) -> Result<Policy, ConfigErrors> {
        hedgerow_config::parse(text, path, POLICY_FILE, |reader, root| read_root(reader, root, path))
    }

    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The quasi-identifiers, in the order of the policy.
    pub fn quasi(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.role == Role::Quasi)
    }
}

fn read_root(reader: &mut Reader<'_>, root: &TomlNode, path: &Path) -> Option<Policy> {
    read(reader, root, path, true)
}

fn read(reader: &mut Reader<'_>, root: &TomlNode, path: &Path, needs_rules: bool) -> Option<Policy> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let sections = reader.table(root, words::SECTIONS, "[source]")?;
    let source = match sections.get("source") {
        Some(field) => source::read(reader, field.node, folder),
        None => Some(SourceSettings::of_rows_in_memory(format!("{}: source", path.display()))),
    };
    let mut publish = match sections.get("publish") {
        Some(field) => publish::read(reader, field.node),
        None => Some(PublishSettings::by_default(path.display().to_string())),
    };
    let decomposed = publish.as_ref().is_some_and(|publish| publish.method == Method::Decompose);
    let drafts = sections.get("attributes").and_then(|field| attribute::read(reader, field.node, folder, decomposed));
    let context = Context { drafts: drafts.as_deref(), decomposed };
    let mut rules = match sections.get("rule") {
        Some(field) => rule::read_all(reader, field.node, context),
        None => Vec::new(),
    };
    let dependencies = match sections.get("dependency") {
        Some(field) => dependency::read_all(reader, field.node, context),
        None => Vec::new(),
    };
    if let (Some(publish), Some(drafts)) = (publish.as_mut(), &drafts)
        && publish.method == Method::Clone
    {
        cloning::imply(&mut rules, drafts, publish);
    }
    if let (Some(publish), Some(drafts)) = (&publish, &drafts) {
        publish::validate_weights(reader, publish, drafts);
    }
    if needs_rules && rules.is_empty() && sections.get("rule").is_none() {
        let at = At::missing(&root.at, "rule");
        reader.refuse_key(&at, "no rule: nothing would be protected", rule::NO_RULE_HINT);
    }
    let community = match sections.get("community") {
        Some(field) => community::read(reader, field.node, context),
        None => Some(Community::default()),
    };
    if let Some(community) = &community {
        community::validate(reader, community, &rules, sections.get("community").map(|field| field.node));
    }
    let drafts = drafts?;
    warn_of_gaps(reader, &drafts, &rules);
    let mut attributes = drafts.into_iter().map(|draft| draft.finish(reader)).collect::<Option<Vec<_>>>()?;
    if let (Some(source), Some(publish)) = (&source, &publish) {
        unit::settle(reader, source, &mut attributes, &rules, publish);
    }
    let warnings = std::mem::take(&mut reader.warnings);
    Some(Policy {
        path: path.to_owned(),
        source: source?,
        attributes,
        rules,
        dependencies,
        publish: publish?,
        community: community?,
        warnings,
    })
}

/// Attributes whose role promises something that no rule requires.
fn warn_of_gaps(reader: &mut Reader<'_>, drafts: &[AttributeDraft], rules: &[Rule]) {
    let protected: HashSet<&str> = rules.iter().flat_map(Rule::protected).map(String::as_str).collect();
    let known: HashSet<&str> = rules.iter().flat_map(|rule| &rule.know).map(String::as_str).collect();
    for draft in drafts {
        let name = draft.name.as_str();
        if draft.role == Some(Role::Sensitive) && !protected.contains(name) {
            let hint = format!("add a `[[rule]]` with `protect = {name:?}`, or give it the role `plain`");
            reader.warn(&draft.at, "sensitive, but no rule protects it: it is released as it is", hint);
        }
        if draft.role == Some(Role::Quasi) && !known.contains(name) && !protected.contains(name) {
            let hint = "add it to the `know` of a rule, or omit `know` for every quasi-identifier";
            reader.warn(&draft.at, "quasi, but no rule takes it as known: nothing protects people against it", hint);
        }
    }
}
