//! The columns of a built policy.

use std::path::Path;

use hedgerow_table::hierarchy::{Bound, DateUnit};
use hedgerow_table::{HierarchySpec, Kind};

use crate::Role;

/// The declaration of a column: its role, and what is declared of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    pub(crate) role: Role,
    pub(crate) kind: Option<Kind>,
    pub(crate) hierarchy: Option<Hierarchy>,
    /// Both ends inclusive; `None` is open.
    pub(crate) range: Option<[Option<Bound>; 2]>,
    pub(crate) order: Option<Vec<String>>,
    pub(crate) date_format: Option<String>,
    pub(crate) allow_unique: bool,
    pub(crate) coarsen: Option<Coarsening>,
}

impl Attribute {
    /// A column of this role.
    pub fn new(role: Role) -> Attribute {
        let (kind, hierarchy, range, order, date_format) = (None, None, None, None, None);
        Attribute { role, kind, hierarchy, range, order, date_format, allow_unique: false, coarsen: None }
    }

    /// A column that names a person; never released.
    pub fn identifier() -> Attribute {
        Attribute::new(Role::Identifier)
    }

    /// A quasi-identifier: an attacker may know it; generalized.
    pub fn quasi() -> Attribute {
        Attribute::new(Role::Quasi)
    }

    /// An attribute that an attacker must not learn.
    pub fn sensitive() -> Attribute {
        Attribute::new(Role::Sensitive)
    }

    /// Says which rows are about one individual, household or firm: guarantees count units, not
    /// rows. Never released as it is.
    pub fn unit() -> Attribute {
        Attribute::new(Role::Unit)
    }

    /// Released as it is.
    pub fn plain() -> Attribute {
        Attribute::new(Role::Plain)
    }

    /// The kind of the values; inferred by default.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// How it may be generalized. By default a quasi-identifier has two levels, its value and `*`.
    pub fn hierarchy(mut self, hierarchy: Hierarchy) -> Self {
        self.hierarchy = Some(hierarchy);
        self
    }

    /// The lowest and the highest value there can be, as everyone knows without the data; `None`
    /// leaves an end open.
    pub fn range(mut self, low: Option<impl Into<Bound>>, high: Option<impl Into<Bound>>) -> Self {
        self.range = Some([low.map(Into::into), high.map(Into::into)]);
        self
    }

    /// All its texts, lowest first.
    pub fn order<T: Into<String>>(mut self, values: impl IntoIterator<Item = T>) -> Self {
        self.order = Some(values.into_iter().map(Into::into).collect());
        self
    }

    /// How its dates are written, such as `%d.%m.%Y`; as the source's by default.
    pub fn date_format(mut self, pattern: impl Into<String>) -> Self {
        self.date_format = Some(pattern.into());
        self
    }

    /// For plain and sensitive attributes: coarser values, in place of the source's from the start.
    pub fn coarsen(mut self, coarsening: Coarsening) -> Self {
        self.coarsen = Some(coarsening);
        self
    }

    /// For plain and sensitive attributes: values that single out a row may be released.
    pub fn allow_unique(mut self, allow: bool) -> Self {
        self.allow_unique = allow;
        self
    }
}

/// How the values of a plain or sensitive attribute become coarser.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Coarsening {
    pub(crate) way: Option<CoarseningWay>,
    pub(crate) bottom: Option<Bound>,
    pub(crate) top: Option<Bound>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CoarseningWay {
    Round(f64),
    Significant(u32),
    Dates(DateUnit),
    Level(usize),
}

impl Coarsening {
    /// To the nearest multiple of this number.
    pub fn round(multiple: f64) -> Coarsening {
        Coarsening { way: Some(CoarseningWay::Round(multiple)), ..Coarsening::default() }
    }

    /// To this many significant digits.
    pub fn significant(digits: u32) -> Coarsening {
        Coarsening { way: Some(CoarseningWay::Significant(digits)), ..Coarsening::default() }
    }

    /// Days as a longer unit.
    pub fn dates(unit: DateUnit) -> Coarsening {
        Coarsening { way: Some(CoarseningWay::Dates(unit)), ..Coarsening::default() }
    }

    /// The labels of this level of the attribute's hierarchy.
    pub fn level(level: usize) -> Coarsening {
        Coarsening { way: Some(CoarseningWay::Level(level)), ..Coarsening::default() }
    }

    /// Numbers below become this one.
    pub fn bottom(mut self, value: impl Into<Bound>) -> Self {
        self.bottom = Some(value.into());
        self
    }

    /// Numbers above become this one.
    pub fn top(mut self, value: impl Into<Bound>) -> Self {
        self.top = Some(value.into());
        self
    }
}

/// How a column may be generalized: levels from the value up to `*`.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy(pub(crate) HierarchySpec);

impl Hierarchy {
    /// Intervals of these widths, one for each level; each width a multiple of the one before.
    pub fn widths<N: Into<f64>>(widths: impl IntoIterator<Item = N>) -> Hierarchy {
        Hierarchy(HierarchySpec::Widths(widths.into_iter().map(Into::into).collect()))
    }

    /// Cut points for each level, among those of the level below.
    pub fn breaks<N: Into<Bound>>(levels: impl IntoIterator<Item = Vec<N>>) -> Hierarchy {
        let level = |cuts: Vec<N>| cuts.into_iter().map(Into::into).collect();
        Hierarchy(HierarchySpec::Breaks(levels.into_iter().map(level).collect()))
    }

    /// One character from the right is hidden on each level, this many times.
    pub fn mask(characters: usize) -> Hierarchy {
        Hierarchy(HierarchySpec::Mask(characters))
    }

    /// Calendar units, finest first.
    pub fn dates(units: impl IntoIterator<Item = DateUnit>) -> Hierarchy {
        Hierarchy(HierarchySpec::Dates(units.into_iter().collect()))
    }

    /// A CSV file in ARX's layout: `leaf;level 1;…;top`, one row for each leaf.
    pub fn file(path: impl AsRef<Path>) -> Hierarchy {
        Hierarchy(HierarchySpec::File(path.as_ref().to_path_buf()))
    }
}
