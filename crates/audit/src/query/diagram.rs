//! WHERE as a decision diagram: one attribute after the other, one branch for each region of its
//! axis.
//!
//! The paths that end in "true" are boxes (one region per attribute) that do not overlap. So OR and
//! NOT are estimated exactly under the model, where multiplying and adding the shares of
//! overlapping terms would not be; and a condition is certain, or possible, for a row exactly when
//! all, or some, of the paths open to its cells end in "true", since each attribute is met once on
//! a path.
//!
//! Equal remainders of the condition share a node. Conditions can still be made whose diagram
//! explodes; these are refused.

use hashbrown::HashMap;
use hedgerow_table::{InputError, TableError};

use super::condition::{Condition, Where};
use crate::estimate::regions::{Portion, Regions};

/// The most branches in a diagram.
const BRANCHES_MAX: usize = 1 << 18;

/// The most nodes of conditions looked at on the way.
const WORK_MAX: usize = 1 << 27;

const FALSE: u32 = 0;
const TRUE: u32 = 1;

#[derive(Debug)]
pub(crate) struct Diagram {
    /// Children come before their parents; the first two are the ends, false and true.
    nodes: Vec<DiagramNode>,
    root: u32,
}

#[derive(Debug)]
struct DiagramNode {
    attribute: usize,
    /// By region.
    children: Vec<u32>,
}

/// Some attributes, each with the regions of its axis that are meant.
pub(crate) type Boxed = Vec<(usize, Vec<bool>)>;

/// How a condition stands for a row of which only the cells are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ConditionTruth {
    /// The probability that it holds; not a number when nothing is known.
    pub(crate) share: f64,
    pub(crate) possible: bool,
    pub(crate) certain: bool,
}

impl ConditionTruth {
    pub(crate) const NEVER: ConditionTruth = ConditionTruth { share: 0.0, possible: false, certain: false };
    pub(crate) const ALWAYS: ConditionTruth = ConditionTruth { share: 1.0, possible: true, certain: true };
}

impl Diagram {
    /// `regions` are those of every attribute, cut by its predicates in the order in which `wanted`
    /// names them.
    pub(crate) fn new(wanted: &Where, regions: &[Regions]) -> Result<Diagram, TableError> {
        let mut places = vec![0usize; wanted.predicates.len()];
        let mut counts = vec![0usize; regions.len()];
        for (place, (attribute, _)) in places.iter_mut().zip(&wanted.predicates) {
            *place = counts[*attribute];
            counts[*attribute] += 1;
        }
        let end = |_| DiagramNode { attribute: usize::MAX, children: Vec::new() };
        let mut builder = Builder {
            wanted,
            regions,
            places,
            order: (0..regions.len()).filter(|attribute| counts[*attribute] > 0).collect(),
            nodes: (0..2).map(end).collect(),
            known: HashMap::new(),
            branches: 0,
            work: 0,
        };
        let root = builder.node(&wanted.condition, 0)?;
        Ok(Diagram { nodes: builder.nodes, root })
    }

    /// How many branches one judgment looks at, at most.
    pub(crate) fn branches(&self) -> usize {
        self.nodes.iter().map(|node| node.children.len()).sum()
    }

    /// The boxes in which the condition holds: for attributes that matter there, which regions.
    /// They do not overlap. `None` when there are more than `most`.
    pub(crate) fn boxes(&self, most: usize) -> Option<Vec<Boxed>> {
        let mut found = Vec::new();
        let mut open = vec![(self.root, Vec::new())];
        while let Some((at, path)) = open.pop() {
            match at {
                FALSE => continue,
                TRUE => found.push(path),
                _ => {
                    let DiagramNode { attribute, children } = &self.nodes[at as usize];
                    let mut below = children.clone();
                    below.sort_unstable();
                    below.dedup();
                    open.extend(below.into_iter().map(|child| {
                        let regions = children.iter().map(|other| *other == child).collect();
                        let mut path: Boxed = path.clone();
                        path.push((*attribute, regions));
                        (child, path)
                    }));
                }
            }
            if found.len() + open.len() > most {
                return None;
            }
        }
        Some(found)
    }

    /// `cell` gives the parts of the row's cell for an attribute; `values` is a buffer that is used
    /// again.
    pub(crate) fn judge<'c>(
        &self,
        cell: impl Fn(usize) -> &'c [Portion],
        values: &mut Vec<ConditionTruth>,
    ) -> ConditionTruth {
        values.clear();
        values.extend([ConditionTruth::NEVER, ConditionTruth::ALWAYS]);
        for node in &self.nodes[2..] {
            let parts = cell(node.attribute);
            let child = |part: &Portion| values[node.children[part.region as usize] as usize];
            let mut found = ConditionTruth { share: 0.0, possible: false, certain: true };
            let mut first = None;
            let mut differ = false;
            for part in parts {
                let below = child(part);
                differ |= *first.get_or_insert(below.share) != below.share;
                found.share += times(part.mass, below.share);
                found.possible |= below.possible;
                found.certain &= below.certain;
            }
            // What does not depend on the attribute is known although the attribute is not; and
            // sums of shares round.
            if !differ && let Some(share) = first {
                found.share = share;
            }
            values.push(found);
        }
        values[self.root as usize]
    }
}

/// Nothing times the unknown is nothing.
pub(crate) fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

struct Builder<'a> {
    wanted: &'a Where,
    regions: &'a [Regions],
    /// Each predicate's place among those of its attribute.
    places: Vec<usize>,
    order: Vec<usize>,
    nodes: Vec<DiagramNode>,
    known: HashMap<(usize, Condition), u32>,
    branches: usize,
    work: usize,
}

impl Builder<'_> {
    /// The node of a condition in which the attributes before `depth` are decided.
    fn node(&mut self, condition: &Condition, depth: usize) -> Result<u32, TableError> {
        match condition {
            Condition::False => return Ok(FALSE),
            Condition::True => return Ok(TRUE),
            _ => {}
        }
        if let Some(&node) = self.known.get(&(depth, condition.clone())) {
            return Ok(node);
        }
        let (wanted, regions, places) = (self.wanted, self.regions, &self.places);
        let attribute = self.order[depth];
        let node = if condition.mentions(&|predicate| wanted.predicates[predicate as usize].0 == attribute) {
            let holds = &regions[attribute].holds;
            self.branches += holds.len();
            self.work += holds.len().saturating_mul(condition.size());
            if self.branches > BRANCHES_MAX || self.work > WORK_MAX {
                let problem = "WHERE distinguishes too many combinations of values to be estimated";
                let hint = "use fewer columns at once, or ranges instead of many single values";
                return Err(InputError::new("SQL", problem, hint).into());
            }
            let below: Vec<Condition> = holds
                .iter()
                .map(|holds| {
                    condition.given(&|predicate| {
                        let ours = wanted.predicates[predicate as usize].0 == attribute;
                        ours.then(|| holds[places[predicate as usize]])
                    })
                })
                .collect();
            let children = below.iter().map(|below| self.node(below, depth + 1)).collect::<Result<Vec<u32>, _>>()?;
            if children.iter().all(|child| *child == children[0]) {
                children[0]
            } else {
                self.nodes.push(DiagramNode { attribute, children });
                self.nodes.len() as u32 - 1
            }
        } else {
            self.node(condition, depth + 1)?
        };
        self.known.insert((depth, condition.clone()), node);
        Ok(node)
    }
}
