//! Mondrian among custodians: each holds some of the rows, and together they find the classes
//! that one who held all of them would find.
//!
//! Jurczyk, Xiong: *Privacy-preserving data publishing for horizontally partitioned databases*
//! (TR-2008-013). What is decided is in `cuts/src/decide.rs`, the same functions that a single
//! table is divided by; here the numbers that they decide by come from secure sums and largest
//! values (`smc`), in whichever profile the custodians run. None leads: every custodian asks the
//! same, gets the same, and cuts its own rows.
//!
//! **Agreed beforehand**: the attributes, their values and hierarchies (`axes`), the rules, the
//! kind of cuts. Values must be agreed as a *domain*; a domain taken from a custodian's rows would
//! tell that they have them.
//!
//! **What opens**, and is listed in the ledger with part, attribute and thresholds: the number of
//! all rows, and where rules look at shares of protected values their distribution; for every part
//! that could be divided the lowest and highest value of each attribute, comparisons at the probes
//! of its median, and whether its sides are large enough; where rules ask for different values,
//! which there are on both sides of every cut that was tried; where they look at shares, the
//! histograms of sides whose sizes hold, also of cuts that were given up. The profiles of today
//! answer a comparison by opening the total. All of this is about the union; who contributed what
//! stays hidden as far as the profile hides it.
//!
//! **What is promised to whom.** Rules, l-site-diversity and m-privacy are promised towards readers
//! of the release. What custodians see while classes are being found is covered by no promise: a
//! custodian who takes its own rows out of an opened total may learn more than from the release.
//!
//! **Rounds.** Every round asks for what each part needs next, so no part holds up another: rounds
//! grow with the depth of the tree and the logarithm of the largest domain, not with the number of
//! parts. A range takes a round for every three binary digits of the domain, a median one for each;
//! where cuts are judged by more than sizes, attributes that fail are tried one, two, four at a
//! time, so that nine of them take four turns.
//!
//! **Ties.** A relaxed cut goes through the people at the median. Who of them goes left is settled
//! by lot, since counts along an order of their other values would show single people. A single
//! table orders them; strict cuts are the same in both, and relaxed ones differ in who is where.

mod coalitions;
mod digest;
mod inquiry;
mod judging;
mod own;
mod part;
mod profile;
mod ranges;
#[cfg(feature = "rehearse")]
mod rehearse;
mod request;
mod rows;
mod rules;
mod share;
mod ties;
mod trial;

use std::sync::Arc;

use hedgerow_privacy::{BoundRule, OnMerge};
use hedgerow_smc::{OpenedKind, RunLimits};
use hedgerow_table::{Codes, Domain, with_codes};

use hedgerow_cuts::{Axis, Shape, Span};

pub use digest::{AGREEMENT_VERSION, ANSWERED_VERSIONS};
pub use inquiry::Joint;
pub use profile::{Profile, ProfileRun};
#[cfg(feature = "rehearse")]
pub use rehearse::{Rehearsed, RehearsedRelease, rehearse, rehearse_release};
pub use rows::{Batch, BatchFitting, JointRow};
pub use rules::JointRule;
pub use share::Share;

/// The agreement of all custodians before they start.
#[derive(Debug)]
pub struct Agreed {
    /// Names and values of all attributes, the quasi-identifiers first; empty where only a trial is
    /// made, with the rows of one table dealt out.
    pub attributes: Vec<JointAttribute>,
    pub axes: Vec<Axis>,
    /// How much the extent of each axis counts where the widest is chosen.
    pub weights: Vec<f64>,
    /// How many values each attribute has that rules look at besides.
    pub cardinalities: Vec<usize>,
    /// Whether rows carry more than these attributes into the release, which then goes through the
    /// shuffle (`rows.rs`).
    pub carries: bool,
    pub rules: Vec<JointRule>,
    pub strict: bool,
    /// Cells are described by the values inside, not by the cuts around them.
    pub tight: bool,
    /// l-site-diversity: the least number of custodians with rows in a class. 1 requires nothing.
    pub sites: u64,
    /// m-privacy: every rule also holds towards this number of custodians who take their own rows
    /// out of a class (`coalitions.rs`). 0 requires nothing.
    pub towards: u64,
    /// Whether rows stay with their custodians when the classes are found: then no custodian has
    /// the release, and every question about it is a computation of its own.
    pub apart: bool,
    /// The limits of a run.
    pub limits: RunLimits,
}

/// An attribute with all values that there can be: declared, never taken from rows.
#[derive(Debug, Clone, PartialEq)]
pub struct JointAttribute {
    pub name: String,
    pub domain: Domain,
}

/// A class of the union: its region, and how many rows it has over all custodians.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JointClass {
    pub region: Vec<Span>,
    pub rows: u64,
}

impl JointClass {
    /// From the first and the last value of each attribute, and its rows.
    pub fn of_ends(rows: u64, ends: impl IntoIterator<Item = (u32, u32)>) -> JointClass {
        JointClass { region: ends.into_iter().map(|(first, last)| Span { first, last }).collect(), rows }
    }

    /// The first and the last value of each attribute.
    pub fn ends(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.region.iter().map(|span| (span.first, span.last))
    }
}

/// The result of a run for a custodian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointResult {
    /// The same for all custodians.
    pub classes: Vec<JointClass>,
    /// The class of each of this custodian's rows.
    pub of_row: Vec<u32>,
    /// How often the whole was divided on the longest way to a class.
    pub depth: u32,
}

impl Agreed {
    /// `axes` are those of the quasi-identifiers; `cardinalities` are those of all attributes that
    /// rules look at, the quasi-identifiers first. Rules must know quasi-identifiers only, and
    /// their guarantees must survive merging; others are left to methods over one table.
    pub fn new(
        axes: Vec<Axis>,
        cardinalities: &[usize],
        rules: Vec<BoundRule>,
        strict: bool,
        tight: bool,
    ) -> Option<Agreed> {
        let quasi = axes.len();
        let joint = |rule: BoundRule| {
            let over_quasi = rule.know.iter().all(|&attribute| attribute < quasi) && !rule.know.is_empty();
            let protect = match rule.protect {
                Some(attribute) => Some(attribute.checked_sub(quasi)?),
                None => None,
            };
            // What readers see may be unions of classes, and only opened counts of single ones are
            // judged.
            let merging = rule.guarantees.iter().all(|guarantee| guarantee.on_merge() >= OnMerge::Merging);
            // Without a protected attribute there is nothing to judge but rows.
            let judged =
                protect.is_some() || rule.guarantees.iter().all(|guarantee| !guarantee.model().needs_protect());
            (over_quasi && merging && judged).then_some(JointRule {
                protect,
                guarantees: rule.guarantees,
                tree: rule.tree,
            })
        };
        let rules = rules.into_iter().map(joint).collect::<Option<Vec<_>>>()?;
        let further = cardinalities.get(quasi..)?.to_vec();
        Some(Agreed { rules, strict, tight, ..Agreed::of_axes(axes, further) })
    }

    /// The same with other weights for the axes; `None` when they are not as many.
    pub fn weighted(self, weights: Vec<f64>) -> Option<Agreed> {
        (weights.len() == self.axes.len()).then_some(Agreed { weights, ..self })
    }

    /// The same with the declared values of all attributes, the quasi-identifiers first; nothing
    /// when they are not those that the axes and rules were made for.
    pub fn declared(self, attributes: Vec<JointAttribute>) -> Option<Agreed> {
        let sizes = self.axes.iter().map(|axis| axis.size() as usize).chain(self.cardinalities.iter().copied());
        let found = attributes.iter().map(|attribute| attribute.domain.cardinality());
        sizes.eq(found).then_some(Agreed { attributes, ..self })
    }

    /// Axes along which the missing value is one among others, with its rank: it is always
    /// declared, and counts where some row lacks its value.
    pub(crate) fn declared_missing(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let axes = self.axes.iter().zip(&self.attributes).enumerate();
        axes.filter_map(|(place, (axis, attribute))| {
            let missing = attribute.domain.missing_code()?;
            let ranks = axis.ranks().filter(|_| !matches!(axis.shape(), Shape::Line(_)))?;
            Some((place, ranks[missing as usize]))
        })
    }

    /// Without any rule.
    fn of_axes(axes: Vec<Axis>, cardinalities: Vec<usize>) -> Agreed {
        Agreed {
            attributes: Vec::new(),
            weights: vec![1.0; axes.len()],
            axes,
            cardinalities,
            carries: false,
            rules: Vec::new(),
            strict: true,
            tight: false,
            sites: 1,
            towards: 0,
            apart: false,
            limits: RunLimits::default(),
        }
    }

    /// The kinds of values that finding the classes can open: what custodians agree to before they
    /// start.
    pub fn may_open(&self) -> Vec<OpenedKind> {
        let values = self.different_values().next().is_some();
        let objections = self.objects_by_own_rows() || self.objects_after_opening();
        let requested = [
            (OpenedKind::Sizes, true),
            (OpenedKind::Digits, true),
            (OpenedKind::CountsAtProbe, true),
            (OpenedKind::Histograms, self.needs_histograms()),
            (OpenedKind::Presence, (values && self.towards == 0) || self.declared_missing().next().is_some()),
            (OpenedKind::Sites, self.sites > 1),
            (OpenedKind::Holders, values && self.towards > 0),
            (OpenedKind::ClippedSizes, !self.clips().is_empty()),
            (OpenedKind::Objections, objections),
        ];
        requested.into_iter().filter(|(_, requested)| *requested).map(|(kind, _)| kind).collect()
    }

    /// The rows of a table, dealt to custodians: `columns` are those of the attributes that rules
    /// look at, the quasi-identifiers first; `owner` says for every row whose it is.
    pub fn deal(&self, columns: &[&Codes], owner: &[usize], custodians: usize) -> Vec<Share> {
        let quasi = self.axes.len();
        let codes = vec![Vec::new(); self.cardinalities.len()];
        let empty = Share { ranks: vec![Vec::new(); quasi], codes, carried: Vec::new() };
        let mut shares = vec![empty; custodians];
        for (attribute, codes) in columns.iter().enumerate() {
            let ranks = self.axes.get(attribute).and_then(Axis::ranks);
            with_codes!(codes, codes => {
                for (row, &code) in codes.iter().enumerate() {
                    #[allow(clippy::useless_conversion)] // One of the three widths is 32 bits already.
                    let code = u32::from(code);
                    let Some(share) = shares.get_mut(owner[row]) else { continue };
                    match attribute.checked_sub(quasi) {
                        None => share.ranks[attribute].push(ranks.map_or(code, |ranks| ranks[code as usize])),
                        Some(place) => share.codes[place].push(code),
                    }
                }
            });
        }
        shares
    }
}

/// An agreement is shared by everything that a custodian runs.
pub type AgreedRef = Arc<Agreed>;
