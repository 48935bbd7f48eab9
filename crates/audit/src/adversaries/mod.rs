//! Adversaries: what each one knows, how they put releases together, and what they learn. One file
//! each.

pub mod attribute;
pub mod composition;
pub mod consistency;
pub mod correlation;
pub mod definetti;
pub mod difference;
pub mod independence;
pub mod intersection;
pub mod linker;
pub mod minimality;
#[cfg(test)]
pub(crate) mod testing;
pub mod worlds;

use crate::combined_view::{Combination, CombinationGroup, CombinedView};
use crate::finding::{Exposure, ReleaseCells, likeliest_first};

/// The cells of a combination as a person reads them, in the releases that are used; where several
/// classes fit, the first stands for them.
fn exposure(
    combined: &CombinedView<'_>,
    group: &CombinationGroup,
    combination: &Combination,
    values: Vec<(u32, f64)>,
) -> Exposure {
    let used = group.sides.iter().zip(&combination.views).zip(&group.may_lack).filter(|(_, may_lack)| !**may_lack);
    let cells = used.map(|((&side, &view), _)| {
        let side = &combined.sides[side];
        let class = side.views[view as usize].classes.first();
        let cells = class.map_or_else(Vec::new, |&class| side.classes.describe(class as usize));
        ReleaseCells::new(side.name, cells)
    });
    let mut values: Vec<(String, f64)> =
        values.into_iter().map(|(value, confidence)| (combined.text(value).to_owned(), confidence)).collect();
    likeliest_first(&mut values);
    Exposure { cells: cells.collect(), values, people: combination.people, why: String::new() }
}
