//! Plain attributes with values that few share: an attacker who knows such a value of a person can
//! point at a row, or at a unit.

use hedgerow_policy::{Method, Role};
use hedgerow_table::InputError;

use crate::bind::Bound;

/// One warning for each attribute that is released as it is and has values that fewer than k share.
pub fn warnings(bound: &Bound<'_>) -> Vec<InputError> {
    let k = bound.k().max(2);
    let mut warnings = Vec::new();
    // Clones do not have plain attributes, and say so.
    if bound.policy.publish.method == Method::Clone {
        return warnings;
    }
    let plain = bound.policy.attributes.iter().filter(|attribute| attribute.role == Role::Plain);
    for attribute in plain.filter(|attribute| !attribute.declared.allow_unique) {
        let Some(column) = bound.table.column(&attribute.name) else { continue };
        let (rare, all, who) = match bound.units() {
            Some(units) => (units.with_rare_values(column, k), units.count as u64, "unit"),
            None => (bound.counts_of(column).into_iter().filter(|&count| count < k).sum(), bound.rows(), "row"),
        };
        if rare > 0 {
            let problem = format!(
                "`{}` is released as it is, and {rare} of {all} {who}s carry a value that fewer than {k} share: an \
                 attacker who knows it can point at a {who}",
                attribute.name,
            );
            let hint = "make it `quasi` so that the rules count it, or `identifier` so that it is not released; or release \
                        coarser values: `coarsen = { round = 100 }`, `{ dates = \"month\" }` or `{ level = 1 }`";
            let warning = InputError::new(attribute.place.clone(), problem, hint);
            warnings.push(warning.about("rare-values", [&attribute.name], Some(rare)));
        }
    }
    warnings
}
