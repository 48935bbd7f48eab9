//! A policy built in code: typed values in, the same policy out that the text would give.
//!
//! [`PolicyBuilder::build`] writes the policy as TOML and reads it as any other, so that a policy
//! built in code is refused for the same reasons, with the same hints. [`PolicyBuilder::from`] goes
//! the other way.

mod attribute;
mod from_policy;
mod publication;
mod rule;
mod source;
mod write;

use std::path::Path;

use crate::{ConfigErrors, Policy};

pub use attribute::{Attribute, Coarsening, Hierarchy};
pub use publication::Publication;
pub use rule::{Dependency, Model, Rule};
pub use source::DataSource;

/// How a policy that was built in code is named in messages.
pub const PLACE: &str = "policy";

/// A policy in the making. Nothing is checked before [`PolicyBuilder::build`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyBuilder {
    pub(crate) source: Option<DataSource>,
    pub(crate) attributes: Vec<(String, Attribute)>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) publication: Publication,
    pub(crate) releases: Vec<String>,
    /// For each attribute, the texts of other publishers and ours that mean the same.
    pub(crate) spellings: Vec<(String, Vec<(String, String)>)>,
}

impl PolicyBuilder {
    /// A policy that says nothing yet.
    pub fn new() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// Where the data is. Without it, rows are handed over in memory.
    pub fn source(mut self, source: impl Into<DataSource>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Declares a column. The order of attributes is that of the release. A name that is given
    /// twice is refused.
    pub fn attribute(mut self, name: impl Into<String>, attribute: Attribute) -> Self {
        self.attributes.push((name.into(), attribute));
        self
    }

    /// Adds a rule: at least one is needed, unless the method is
    /// [`Method::Clone`](crate::Method::Clone).
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Which attributes determine which, as attackers know too.
    pub fn dependency(mut self, dependency: Dependency) -> Self {
        self.dependencies.push(dependency);
        self
    }

    /// How to publish: full-domain recoding without suppression by default.
    pub fn publish(mut self, publication: impl Into<Publication>) -> Self {
        self.publication = publication.into();
        self
    }

    /// A release that others have published already about the same people: a directory or a glob.
    pub fn community(mut self, release: impl Into<String>) -> Self {
        self.releases.push(release.into());
        self
    }

    /// A text of an attribute that other publishers write differently.
    pub fn spelling(mut self, attribute: &str, theirs: &str, ours: &str) -> Self {
        let pair = (theirs.to_owned(), ours.to_owned());
        match self.spellings.iter_mut().find(|(name, _)| name == attribute) {
            Some((_, pairs)) => pairs.push(pair),
            None => self.spellings.push((attribute.to_owned(), vec![pair])),
        }
        self
    }

    /// The policy as TOML, as a policy file says it. Paths are as they were given.
    pub fn to_toml(&self) -> String {
        write::policy(self)
    }

    /// The policy, or all that is wrong with it.
    pub fn build(&self) -> Result<Policy, ConfigErrors> {
        Policy::parse(&self.to_toml(), Path::new(PLACE))
    }
}

#[cfg(test)]
mod tests;
