//! The search as data: every combination of levels at which all rules hold.

use std::fmt::Write as _;

use hedgerow_policy::Loss;
use hedgerow_publish::bind::Bound;
use hedgerow_publish::community::read_earlier;
use hedgerow_publish::explore::Exploration as Found;
use hedgerow_release::manifest::ClassSizes;
use hedgerow_report::pictures::{Lattice, LatticeNode};
use hedgerow_table::InputError;
use serde::Serialize;

use crate::{ByName, Error, Monitor, Policy, Problem, Source};

/// The nodes of a policy's generalization lattice at which every rule holds. Serialized, it is what
/// `hedgerow explore --json` prints.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Exploration {
    /// Every quasi-identifier with its top level, in the order of the policy.
    pub attributes: Vec<ExploredAttribute>,
    /// The measure by which nodes are ordered: the policy's.
    pub loss: &'static str,
    /// The number of nodes of the lattice.
    pub nodes: u64,
    /// The number of nodes evaluated; the others fail because a coarser one does.
    pub evaluated: u64,
    /// The nodes at which every rule holds, the one with the least loss first.
    pub holding: Vec<ExploredNode>,
    /// Warnings: what is allowed but probably unintended.
    pub warnings: Vec<Problem>,
}

/// A quasi-identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExploredAttribute {
    /// Its name.
    pub name: String,
    /// Its top level.
    pub top: usize,
}

/// A combination of levels at which every rule holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExploredNode {
    /// The level of every quasi-identifier.
    pub levels: ByName<usize>,
    /// Every loss measure, by name.
    pub loss: ByName<f64>,
    /// Rows that are suppressed.
    pub suppressed: u64,
    /// The number of equivalence classes, and their sizes.
    pub classes: ClassSizes,
    /// The risk of re-identification by the quasi-identifiers.
    pub risk: ExploredRisk,
}

/// The prosecutor's risk: one of the rows that match.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExploredRisk {
    /// In the smallest class.
    pub highest: f64,
    /// Over all released rows.
    pub mean: f64,
}

/// Evaluates every node of a policy's lattice. [`crate::Publish::levels`] publishes at one of them.
/// [`Explore`] has options.
///
/// ```
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let found = hedgerow::explore(&policy)?;
/// println!("{} of {} nodes hold", found.holding.len(), found.nodes);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn explore(policy: &Policy) -> Result<Exploration, Error> {
    Explore::new(policy).run()
}

/// Exploring the lattice, with options.
#[derive(Debug)]
#[must_use = "nothing is explored before `run`"]
pub struct Explore<'a> {
    policy: &'a Policy,
    source: Source<'a>,
}

impl<'a> Explore<'a> {
    /// Explores the lattice of `policy` over its source.
    pub fn new(policy: &'a Policy) -> Explore<'a> {
        Explore { policy, source: Source::of_policy() }
    }

    /// Takes the rows from `source` instead of what the policy names.
    pub fn source(mut self, source: impl Into<Source<'a>>) -> Self {
        self.source = source.into();
        self
    }

    /// Explores.
    pub fn run(self) -> Result<Exploration, Error> {
        self.run_with(&Monitor::default())
    }

    /// Explores, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Exploration, Error> {
        let policy = self.policy.inner();
        let table = self.source.read(policy, monitor)?;
        let earlier = read_earlier(policy, &table, monitor)?;
        let closed = hedgerow_publish::closed_policy(policy, &table)?;
        let bound = Bound::with_earlier(closed.as_ref().unwrap_or(policy), &table, earlier)?;
        let found = hedgerow_publish::explore::explore(&bound, monitor)?;
        let about_units = bound.units().map(|units| units_warning(policy, units.count));
        let warnings = bound.warnings.iter().cloned().chain(about_units).map(Problem::warning).collect();
        Ok(Exploration::new(&found, warnings))
    }
}

/// Nodes hold over units, and their classes and risks are those of rows.
fn units_warning(policy: &hedgerow_policy::Policy, units: usize) -> InputError {
    let problem =
        format!("the rows are about {units} units: the rules count these, and class sizes and risks are of rows");
    let hint = "take the k of the rules for the risk of a unit";
    InputError::new(policy.path.display().to_string(), problem, hint).about("units", [""; 0], Some(units as u64))
}

impl Exploration {
    pub(crate) fn new(found: &Found, warnings: Vec<Problem>) -> Exploration {
        let node = |node: &hedgerow_publish::search::explore::HoldingNode| ExploredNode {
            levels: found
                .attributes
                .iter()
                .zip(&node.levels)
                .map(|((name, _), &level)| (name.clone(), usize::from(level)))
                .collect(),
            loss: Loss::ALL.iter().zip(&node.losses).map(|(loss, &value)| (loss.name().to_owned(), value)).collect(),
            suppressed: node.suppressed,
            classes: node.classes,
            risk: ExploredRisk {
                highest: 1.0 / node.classes.min.max(1) as f64,
                mean: 1.0 / node.classes.mean.max(1.0),
            },
        };
        Exploration {
            attributes: found
                .attributes
                .iter()
                .map(|(name, top)| ExploredAttribute { name: name.clone(), top: *top })
                .collect(),
            loss: found.loss.name(),
            nodes: found.nodes,
            evaluated: found.judged,
            holding: found.holding.iter().map(node).collect(),
            warnings,
        }
    }

    /// The nodes as a table: levels, losses, suppressed rows, classes and risk.
    pub fn csv(&self) -> String {
        let losses = Loss::ALL.map(Loss::name);
        let names = self.attributes.iter().map(|attribute| quoted(&attribute.name));
        let others = ["suppressed", "classes", "smallest-class", "largest-class", "highest-risk", "mean-risk"];
        let header = names.chain(losses.iter().chain(&others).map(|&name| name.to_owned()));
        let mut text = header.collect::<Vec<_>>().join(",");
        text.push('\n');
        for node in &self.holding {
            for level in node.levels.values() {
                let _ = write!(text, "{level},");
            }
            for loss in node.loss.values() {
                let _ = write!(text, "{loss:?},");
            }
            let ExploredNode { suppressed, classes, risk, .. } = node;
            let ClassSizes { count, min, max, .. } = classes;
            let _ = writeln!(text, "{suppressed},{count},{min},{max},{},{}", risk.highest, risk.mean);
        }
        text
    }

    /// The lattice as SVG: which nodes hold, the one with the least loss outlined.
    pub fn svg(&self) -> String {
        let levels = |node: &ExploredNode| -> Vec<usize> { node.levels.values().collect() };
        let loss = |node: &ExploredNode| node.loss.get(self.loss);
        let holding: std::collections::HashMap<Vec<usize>, Option<f64>> =
            self.holding.iter().map(|node| (levels(node), loss(node))).collect();
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new()];
        for attribute in &self.attributes {
            let raised = |node: &Vec<usize>| -> Vec<Vec<usize>> {
                (0..=attribute.top).map(|level| [node.as_slice(), &[level]].concat()).collect()
            };
            nodes = nodes.iter().flat_map(raised).collect();
        }
        let node = |levels: Vec<usize>| {
            let found = holding.get(&levels);
            LatticeNode { holds: found.is_some(), loss: found.copied().flatten(), levels }
        };
        let picture = Lattice {
            title: "The generalization lattice".to_owned(),
            description: format!(
                "{} of {} combinations of levels satisfy every rule. The coarsest is on top. The heavy outline has the least {}.",
                self.holding.len(),
                self.nodes,
                self.loss
            ),
            attributes: self.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
            tops: self.attributes.iter().map(|attribute| attribute.top).collect(),
            nodes: nodes.into_iter().map(node).collect(),
            chosen: self.holding.first().map(levels),
        };
        picture.picture().to_svg()
    }
}

fn quoted(name: &str) -> String {
    hedgerow_release::quoting::quoted(name).into_owned()
}
