//! The range that a policy declares for an attribute: what is public about its values without
//! the data.
//!
//! Cells that would be open at an end stop there, so that the codebook bounds them by public
//! knowledge and never by the lowest or highest person. Values outside were refused when the policy
//! was bound.

use hedgerow_policy::Attribute;
use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Cover, HierarchySpec, Kind, Label};

/// An interval (low inclusive, high exclusive) whose open ends stop where the declared range does.
/// Without any end it stays open: it is the top.
pub fn bounded(
    attribute: &Attribute,
    kind: Kind,
    (low, high): (Option<Bound>, Option<Bound>),
) -> (Option<Bound>, Option<Bound>) {
    let (Some(range), true) = (&attribute.declared.range, low.is_some() || high.is_some()) else { return (low, high) };
    (low.or_else(|| range.low?.first_from(kind)), high.or_else(|| range.high?.first_after(kind)))
}

/// The cover of a label, its open ends bounded by the declared range.
pub fn bounded_cover(attribute: &Attribute, kind: Kind, cover: &Cover) -> Cover {
    match cover {
        Cover::Interval { low, high } => {
            let (low, high) = bounded(attribute, kind, (*low, *high));
            Cover::Interval { low, high }
        }
        other => other.clone(),
    }
}

/// The cover of a label as the codebook has it. A masked label has no other leaves than the values
/// of the people under it, and where it has one, naming it would undo the mask. So its only leaf is
/// the pattern itself.
pub fn public_cover(attribute: &Attribute, kind: Kind, label: &Label) -> Cover {
    let masked = matches!(attribute.hierarchy, Some((HierarchySpec::Mask(_), _)));
    match &label.cover {
        Cover::Leaves(_) if masked => Cover::Leaves(vec![label.text.clone()]),
        cover => bounded_cover(attribute, kind, cover),
    }
}
