//! A policy as programs hold it.

use std::path::Path;

use hedgerow_policy::builder;
use hedgerow_policy::{Loss, Method, Role};

use crate::{Error, Problem};

pub use builder::{Attribute, Coarsening, DataSource, Dependency, Hierarchy, Model, Publication, Rule};

/// A checked policy: the roles of the columns, the rules, and how to publish.
///
/// ```
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// assert_eq!(policy.method(), hedgerow::Method::FullDomain);
/// assert_eq!(policy.attributes().next(), Some(("name", hedgerow::Role::Identifier)));
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    inner: hedgerow_policy::Policy,
}

impl Policy {
    /// Reads a policy file. Paths in it are relative to its folder. Every error of the file is
    /// reported at once.
    pub fn load(path: impl AsRef<Path>) -> Result<Policy, Error> {
        Ok(Policy { inner: hedgerow_policy::Policy::load(path.as_ref())? })
    }

    /// Reads a policy file that may lack rules: for an audit, which needs only to know how releases
    /// were made.
    pub fn load_without_rules(path: impl AsRef<Path>) -> Result<Policy, Error> {
        Ok(Policy { inner: hedgerow_policy::Policy::load_without_rules(path.as_ref())? })
    }

    /// Reads the text of a policy. `path` names it in messages, and its folder is where relative
    /// paths start; there need not be such a file.
    pub fn parse(text: &str, path: impl AsRef<Path>) -> Result<Policy, Error> {
        Ok(Policy { inner: hedgerow_policy::Policy::parse(text, path.as_ref())? })
    }

    /// A policy built in code from typed values.
    ///
    /// ```
    /// use hedgerow::{Attribute, Hierarchy, Method, Model, Policy, Publication, Rule};
    ///
    /// let policy = Policy::builder()
    ///     .source("patients.csv")
    ///     .attribute("name", Attribute::identifier())
    ///     .attribute("age", Attribute::quasi().hierarchy(Hierarchy::widths([5, 10, 20])))
    ///     .attribute("disease", Attribute::sensitive())
    ///     .rule(Rule::require(Model::k_anonymity(5)))
    ///     .rule(Rule::require(Model::t_closeness(0.3)).protect("disease"))
    ///     .publish(Publication::by(Method::FullDomain).suppression(0.02))
    ///     .build()?;
    /// assert_eq!(Policy::parse(&policy.to_toml(), "policy")?, policy);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// A builder that makes this policy again. Paths are those that the policy resolved; a password
    /// in the address of a database is not carried over.
    pub fn to_builder(&self) -> PolicyBuilder {
        PolicyBuilder(builder::PolicyBuilder::from(&self.inner))
    }

    /// The policy as TOML, as a policy file says it, without comments.
    pub fn to_toml(&self) -> String {
        self.to_builder().to_toml()
    }

    /// The file that it was read from, or the name that it was given.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Every attribute with its role, in the order of the policy.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, Role)> {
        self.inner.attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.role))
    }

    /// How the release is made.
    pub fn method(&self) -> Method {
        self.inner.publish.method
    }

    /// The loss that the search minimizes.
    pub fn loss(&self) -> Loss {
        self.inner.publish.loss
    }

    /// Warnings: what is allowed but probably unintended.
    pub fn warnings(&self) -> Vec<Problem> {
        self.inner.warnings.iter().cloned().map(Problem::warning).collect()
    }

    pub(crate) fn inner(&self) -> &hedgerow_policy::Policy {
        &self.inner
    }
}

/// A policy in the making. Nothing is checked before [`PolicyBuilder::build`].
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use = "a policy is made by `build`"]
pub struct PolicyBuilder(builder::PolicyBuilder);

impl PolicyBuilder {
    /// Where the data is. Without it, rows are handed over in memory.
    pub fn source(self, source: impl Into<DataSource>) -> Self {
        PolicyBuilder(self.0.source(source))
    }

    /// Declares a column. A name that is given twice is refused.
    pub fn attribute(self, name: impl Into<String>, attribute: Attribute) -> Self {
        PolicyBuilder(self.0.attribute(name, attribute))
    }

    /// Adds a rule: at least one is needed, unless the method is [`Method::Clone`].
    pub fn rule(self, rule: impl Into<Rule>) -> Self {
        PolicyBuilder(self.0.rule(rule.into()))
    }

    /// Which attributes determine which, as attackers know too.
    pub fn dependency(self, dependency: Dependency) -> Self {
        PolicyBuilder(self.0.dependency(dependency))
    }

    /// How to publish: full-domain recoding without suppression by default.
    pub fn publish(self, publication: impl Into<Publication>) -> Self {
        PolicyBuilder(self.0.publish(publication))
    }

    /// A release that others have published already about the same people: a directory or a glob.
    pub fn community(self, release: impl Into<String>) -> Self {
        PolicyBuilder(self.0.community(release))
    }

    /// A text of an attribute that other publishers write differently.
    pub fn spelling(self, attribute: &str, theirs: &str, ours: &str) -> Self {
        PolicyBuilder(self.0.spelling(attribute, theirs, ours))
    }

    /// The policy as TOML, as a policy file says it. Paths are as they were given.
    pub fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// The policy, or all that is wrong with it, as in a policy file.
    pub fn build(&self) -> Result<Policy, Error> {
        Ok(Policy { inner: self.0.build()? })
    }
}

/// The whole policy, for the other crates of this workspace.
impl std::ops::Deref for Policy {
    type Target = hedgerow_policy::Policy;

    fn deref(&self) -> &hedgerow_policy::Policy {
        &self.inner
    }
}

/// For the other crates of this workspace, such as the command that publishes on a cluster.
impl AsRef<hedgerow_policy::Policy> for Policy {
    fn as_ref(&self) -> &hedgerow_policy::Policy {
        &self.inner
    }
}

/// For the other crates of this workspace.
impl From<hedgerow_policy::Policy> for Policy {
    fn from(inner: hedgerow_policy::Policy) -> Policy {
        Policy { inner }
    }
}
