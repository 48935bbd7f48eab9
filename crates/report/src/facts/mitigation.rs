//! The reasons of a choice: the lattice, what one level less would break, and the classes that were
//! not divided.

use super::{ModelParameter, Named};

/// A small generalization lattice.
#[derive(Debug, Clone)]
pub struct LatticeFacts {
    pub attributes: Vec<LatticeAttributeFacts>,
    /// The number of nodes.
    pub nodes: u64,
    pub holding_count: u64,
    /// The levels at which every rule holds.
    pub holding: Vec<Vec<usize>>,
    pub chosen: Vec<usize>,
}

/// An attribute and its top level.
#[derive(Debug, Clone)]
pub struct LatticeAttributeFacts {
    pub name: String,
    pub top: usize,
}

/// Why a full-domain release is as coarse as it is.
#[derive(Debug, Clone)]
pub struct WhyFacts {
    pub finer: Vec<FinerFacts>,
    /// The number of suppressed groups.
    pub groups: u64,
    /// The largest of them.
    pub suppressed: Vec<SuppressedFacts>,
}

/// One attribute on one level less.
#[derive(Debug, Clone)]
pub struct FinerFacts {
    pub attribute: String,
    pub level: u64,
    pub holds: bool,
    pub suppressed: Option<u64>,
    pub breaks: Vec<BrokenFacts>,
}

/// A guarantee that classes break.
#[derive(Debug, Clone)]
pub struct BrokenFacts {
    pub model: String,
    pub protect: Option<String>,
    pub achieved: Named<ModelParameter>,
    pub rows: u64,
}

/// Suppressed rows that agree on every quasi-identifier.
#[derive(Debug, Clone)]
pub struct SuppressedFacts {
    pub cells: Named<String>,
    pub rows: u64,
    pub breaks: Vec<BrokenFacts>,
    pub nearest: Vec<NearestFacts>,
}

/// A released class near a suppressed group.
#[derive(Debug, Clone)]
pub struct NearestFacts {
    pub rows: u64,
    pub differs: Vec<String>,
}

/// Why the classes of a local recoding were not divided.
#[derive(Debug, Clone)]
pub struct UndividedFacts {
    pub settled_by: Vec<SettledFacts>,
    pub settled: CountedFacts,
    pub single_valued: CountedFacts,
    pub open: CountedFacts,
    pub attributes: Vec<GeneralizedFacts>,
    pub largest: Vec<OpenClassFacts>,
}

/// A number of classes, and their number of rows.
#[derive(Debug, Clone, Copy)]
pub struct CountedFacts {
    pub classes: u64,
    pub rows: u64,
}

/// A guarantee that keeps classes from being divided.
#[derive(Debug, Clone)]
pub struct SettledFacts {
    pub model: String,
    pub required: Named<ModelParameter>,
    pub protect: Option<String>,
    pub classes: u64,
    pub rows: u64,
}

/// In how many classes an attribute is generalized.
#[derive(Debug, Clone)]
pub struct GeneralizedFacts {
    pub attribute: String,
    pub classes: u64,
    pub rows: u64,
    pub settled: u64,
}

/// A class that might have been divided.
#[derive(Debug, Clone)]
pub struct OpenClassFacts {
    pub cells: Named<String>,
    pub rows: u64,
    pub wide: Vec<String>,
}
