//! Mondrian among custodians: everybody holds some of the rows, and together they find the classes
//! that one who held all of them would find.
//!
//! Jurczyk, Xiong: *Privacy-preserving data publishing for horizontally partitioned databases*
//! (TR-2008-013). What is decided is in `cuts/src/decide.rs`, the same functions that a single
//! table is divided by; here the numbers that they decide by come from secure sums and largest
//! values (`smc`), in whichever profile the custodians run. Nobody leads: every custodian asks the
//! same, gets the same, and cuts its own rows.
//!
//! **Agreed beforehand**: the attributes, their values and hierarchies (`axes`), the rules, the
//! kind of cuts. Values must be agreed as a *domain*; a domain taken from somebody's rows would
//! tell that they have them.
//!
//! **What opens**, and is listed in the ledger: the number of all rows, and where rules ask for it
//! the distribution of protected values; for every part that could be divided the lowest and
//! highest value of each attribute, counts at the probes of its median, and the sizes of its
//! halves; where rules look at protected values, their distribution in both halves of every cut
//! that was tried, also of those that were given up. Relaxed cuts also open how many of the people
//! at the median lie below some thresholds of their other values. All of this is about the union;
//! who contributed what stays hidden as far as the profile hides it.
//!
//! **Rounds.** Every round asks for what each part needs next, so no part holds up another: rounds
//! grow with the depth of the tree and the logarithm of the largest domain, not with the number of
//! parts. A range takes a round for every three binary digits of the domain, a median one for each;
//! where cuts are judged by more than sizes, attributes that fail are tried one, two, four at a
//! time, so that nine of them take four turns.
//!
//! **Ties.** A relaxed cut goes through the people at the median. Who of them goes left is settled
//! by the order of their other values, as in a single table, so that both find the same regions;
//! people who agree in everything are interchangeable, and are shared by lot.

mod coalitions;
mod inquiry;
mod part;
mod ranges;
mod rehearse;
mod rows;
mod rules;
mod ties;
mod trial;

use std::sync::Arc;

use hedgerow_privacy::{OnMerge, Rule};
use hedgerow_smc::{Item, Kind};
use hedgerow_table::{Codes, with_codes};

use hedgerow_cuts::{Axis, Span};

pub use inquiry::Joint;
pub use rehearse::{Profile, Rehearsed, RehearsedRelease, rehearse, rehearse_release};
pub use rows::JointRow;
pub use rules::JointRule;

/// What all custodians agree on before they start.
#[derive(Debug)]
pub struct Agreed {
    pub axes: Vec<Axis>,
    /// How many values each attribute has that rules look at besides.
    pub cardinalities: Vec<usize>,
    /// Whether rows carry more than these attributes into the release, which then goes through the
    /// shuffle (`rows.rs`).
    pub carries: bool,
    pub rules: Vec<JointRule>,
    pub strict: bool,
    /// Cells are described by the values inside, not by the cuts around them.
    pub tight: bool,
    /// l-site-diversity: every class holds rows of at least so many custodians. 1 asks for nothing.
    pub sites: u64,
    /// m-privacy: every rule also holds towards any so many custodians who take their own rows out
    /// of a class (`coalitions.rs`). 0 asks for nothing.
    pub towards: u64,
}

/// One custodian's rows: for each attribute the rank of every row, for each further attribute the
/// code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Share {
    pub ranks: Vec<Vec<u32>>,
    pub codes: Vec<Vec<u32>>,
    /// What every row carries besides, where rows carry something.
    pub carried: Vec<Item>,
}

impl Share {
    pub fn rows(&self) -> usize {
        self.ranks.first().or(self.codes.first()).map_or(0, Vec::len)
    }
}

/// A class of the union: its region, and how many rows it has over all custodians.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JointClass {
    pub region: Vec<Span>,
    pub rows: u64,
}

/// What a custodian knows at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
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
        rules: Vec<Rule>,
        strict: bool,
        tight: bool,
    ) -> Option<Agreed> {
        let quasi = axes.len();
        let joint = |rule: Rule| {
            let over_quasi = rule.know.iter().all(|&attribute| attribute < quasi) && !rule.know.is_empty();
            let protect = match rule.protect {
                Some(attribute) => Some(attribute.checked_sub(quasi)?),
                None => None,
            };
            // What readers see may be unions of classes, and only opened counts of single ones are
            // judged.
            let merging = rule.guarantees.iter().all(|guarantee| guarantee.on_merge() >= OnMerge::Merging);
            (over_quasi && merging).then_some(JointRule { protect, guarantees: rule.guarantees, tree: rule.tree })
        };
        let rules = rules.into_iter().map(joint).collect::<Option<Vec<_>>>()?;
        Some(Agreed {
            axes,
            cardinalities: cardinalities[quasi..].to_vec(),
            carries: false,
            rules,
            strict,
            tight,
            sites: 1,
            towards: 0,
        })
    }

    /// The kinds of values that finding the classes can open: what custodians agree to before they
    /// start.
    pub fn may_open(&self) -> Vec<Kind> {
        let protects = self.rules.iter().any(|rule| rule.protect.is_some());
        let requested = [
            (Kind::Sizes, true),
            (Kind::Largest, true),
            (Kind::Digits, true),
            (Kind::CountsAtProbe, true),
            (Kind::Histograms, protects),
            (Kind::Sites, self.sites > 1),
            (Kind::Holders, self.counts_holders()),
            (Kind::ClippedSizes, !self.clips().is_empty()),
            (Kind::Objections, self.asks_for_objections()),
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
