//! Which classes of a release expose people together with a catalog, as a hint.

use hedgerow_audit::finding::Finding;

/// Classes that a hint names.
const CLASSES_MAX: usize = 3;

/// The classes of the new release in which people are exposed, as a hint.
pub(crate) fn hint(findings: &[Finding], newest: &str) -> String {
    let mut classes: Vec<String> = Vec::new();
    for exposure in findings.iter().flat_map(|finding| &finding.worst).filter(|exposure| exposure.values.len() <= 1) {
        for cells in exposure.cells.iter().filter(|cells| cells.release == newest && !cells.cells.is_empty()) {
            let labels: Vec<String> = cells.cells.iter().map(|(name, label)| format!("{name} `{label}`")).collect();
            let class = labels.join(", ");
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
    }
    let more = match classes.len().saturating_sub(CLASSES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    classes.truncate(CLASSES_MAX);
    let ways = match classes.is_empty() {
        true => String::new(),
        false => format!("coarsen or suppress these classes of the new release: ({}){more}; or ", classes.join("), (")),
    };
    format!("{ways}require more with cross-release-l-diversity and [community], or publish less. Nothing was written")
}
