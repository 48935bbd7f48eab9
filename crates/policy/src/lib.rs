//! What is asked: the policy file, from TOML to plain values that need no further checking.
//!
//! Reading collects everything that is wrong in one run, and every complaint says where (line, column, key path), what
//! was found and expected, and what to do. What only the data can tell (is there such a column? does the hierarchy
//! cover it?) is checked by those who read it; the places kept here let them point into the policy too.
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
mod cloning;
mod community;
mod dependency;
mod error;
mod hierarchy;
mod model;
mod number;
mod position;
pub mod propose;
mod publish;
mod reader;
mod rule;
pub mod sidecar;
mod source;
mod syntax;
mod tree;
pub mod words;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hedgerow_table::InputError;

pub use attribute::{Attribute, Role};
pub use cloning::{Cloning, RareValues};
pub use community::Community;
pub use dependency::Dependency;
pub use error::{PolicyError, PolicyErrors};
pub use position::{Excerpt, Position};
pub use publish::{Algorithm, Anonymizer, Assignment, Loss, Method, Publish, SECONDS_MAX, Summary};
pub use rule::Rule;
pub use sidecar::Sidecar;
pub use source::{Format, Source};

use attribute::Draft;
use reader::Reader;
use rule::Context;
use tree::{At, Node};

/// A policy is written by hand; anything larger is the wrong file.
const BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub path: PathBuf,
    pub source: Source,
    /// In the order of the policy; at least one is quasi, unless the method is [`Method::Decompose`].
    pub attributes: Vec<Attribute>,
    /// Never empty.
    pub rules: Vec<Rule>,
    /// What attackers know of how attributes determine one another.
    pub dependencies: Vec<Dependency>,
    pub publish: Publish,
    pub community: Community,
    /// What is allowed but probably not meant.
    pub warnings: Vec<InputError>,
}

impl Policy {
    pub fn load(path: &Path) -> Result<Policy, PolicyErrors> {
        Policy::parse(&read_text(path)?, path)
    }

    /// `path` names the file in messages, and its folder is where relative paths start.
    pub fn parse(text: &str, path: &Path) -> Result<Policy, PolicyErrors> {
        if text.len() as u64 > BYTES_MAX {
            let problem = "larger than 1 MiB, which no policy is";
            let hint = "name the policy, not the data; long hierarchies go into files of their own";
            return Err(PolicyErrors::about_file(path.display().to_string(), problem, hint));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::new(text, path);
        let root = match Node::parse(text) {
            Ok(root) => root,
            Err(error) => {
                syntax::refuse(&mut reader, &error);
                return reader.finish(None);
            }
        };
        let policy = read_root(&mut reader, &root, path);
        reader.finish(policy)
    }

    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The quasi attributes, in the order of the policy.
    pub fn quasi(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.role == Role::Quasi)
    }
}

fn read_text(path: &Path) -> Result<String, PolicyErrors> {
    let bytes = read_bytes(path).map_err(|error| unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let start = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let line = start.matches('\n').count() + 1;
        let column = start.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let place = format!("{}:{line}:{column}", path.display());
        PolicyErrors::about_file(place, "not valid UTF-8", "a policy is a text file: save it with the encoding UTF-8")
    })
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed, so that too large a file is noticed without being read.
    File::open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> PolicyErrors {
    let (problem, hint) = match error.kind() {
        io::ErrorKind::NotFound => {
            ("no such file".to_owned(), "check the path, or let `hedgerow init DATA` write a policy")
        }
        io::ErrorKind::IsADirectory => {
            ("a folder, not a file".to_owned(), "name the policy file in it, such as `policy.toml`")
        }
        io::ErrorKind::PermissionDenied => ("may not be read".to_owned(), "ask for permission to read the file"),
        _ => (format!("cannot be read: {error}"), "check the path and the disk"),
    };
    PolicyErrors::about_file(path.display().to_string(), problem, hint)
}

fn read_root(reader: &mut Reader<'_>, root: &Node, path: &Path) -> Option<Policy> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let sections = reader.table(root, words::SECTIONS, "[source]")?;
    let source = sections.get("source").and_then(|field| source::read(reader, field.node, folder));
    let mut publish = match sections.get("publish") {
        Some(field) => publish::read(reader, field.node),
        None => Some(Publish::by_default(path.display().to_string())),
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
    if rules.is_empty() && sections.get("rule").is_none() {
        let at = At::missing(&root.at, "rule");
        reader.refuse_key(&at, "no rule: nothing would be protected", rule::NO_RULE_HINT);
    }
    let community = match sections.get("community") {
        Some(field) => community::read(reader, field.node),
        None => Some(Community::default()),
    };
    if let Some(community) = &community {
        community::hold_against_rules(reader, community, &rules, sections.get("community").map(|field| field.node));
    }
    let drafts = drafts?;
    warn_of_gaps(reader, &drafts, &rules);
    let attributes = drafts.into_iter().map(|draft| draft.finish(reader)).collect::<Option<Vec<_>>>()?;
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

/// Attributes whose role promises something that no rule asks for.
fn warn_of_gaps(reader: &mut Reader<'_>, drafts: &[Draft], rules: &[Rule]) {
    let protected: HashSet<&str> = rules.iter().flat_map(Rule::protected).map(String::as_str).collect();
    let known: HashSet<&str> = rules.iter().flat_map(|rule| &rule.know).map(String::as_str).collect();
    for draft in drafts {
        let name = draft.name.as_str();
        if draft.role == Some(Role::Sensitive) && !protected.contains(name) {
            let hint = format!("add a `[[rule]]` with `protect = {name:?}`, or give it the role `plain`");
            reader.warn(&draft.at, "sensitive, but no rule protects it: it is released as it is", hint);
        }
        if draft.role == Some(Role::Quasi) && !known.contains(name) && !protected.contains(name) {
            let hint = "add it to the `know` of a rule, or leave `know` out for every quasi attribute";
            reader.warn(&draft.at, "quasi, but no rule takes it as known: nothing protects people against it", hint);
        }
    }
}
