//! The loss that a search minimizes. All costs are integers, so that the same node costs the same
//! whichever way it was counted.
//!
//! `ncp` (Xu et al., *Utility-based anonymization using local recoding*, 2006), `precision`
//! (Sweeney, 2002) and `granularity` (Iyengar, 2002, as ARX's "Loss") are sums over cells: a
//! table's cost on given levels follows from the counts of single attributes, and a row that is
//! suppressed costs as much as a row of tops. That makes the cost without suppression a lower bound
//! of a node's cost, known before the node is counted.
//!
//! `entropy` is non-uniform entropy (De Waal, Willenborg: *Information loss through global recoding
//! and local suppression*, 1999; Gionis, Tassa, 2009), normalized by attribute as ARX does: a cell
//! costs what it leaves open about its value, log2 of how many rows' values it covers over how many
//! rows have its own value. Suppressed rows cost the way from their labels to one `*` over all of
//! them besides. It is a sum over cells too, but for the suppressed rows, which look at each other:
//! their number bounds nothing. `entropy-bits` is the same sum without the normalization, in bits
//! over all cells: what ARX minimizes.
//!
//! `discernibility` (Bayardo, Agrawal, 2005)
//! and `average-class` (LeFevre et al., 2006) look at whole classes and have no such bound.

use hedgerow_cuts::{clipped_share, interval_share, position};
use hedgerow_policy::Loss;
use hedgerow_table::frequency::{FrequencySet, Layout};
use hedgerow_table::{Cover, Domain, Hierarchy, Kind, Label, Level, hierarchy::Bound};

/// The weight of a cell that tells nothing, as a fixed-point number.
const WHOLE: u64 = 1 << 40;

/// The cost of a node in units of its loss measure; smaller is better.
pub type Cost = u128;

/// One quasi attribute as a loss sees it.
#[derive(Debug, Clone, Copy)]
pub struct LossAttribute<'a> {
    pub domain: &'a Domain,
    pub hierarchy: &'a Hierarchy,
    /// Rows per code of the domain.
    pub counts: &'a [u64],
    /// How much its cells count, above 0.
    pub weight: f64,
}

#[derive(Debug, Clone)]
pub struct LossModel {
    loss: Loss,
    rows: u64,
    /// The k that `average-class` refers to.
    k: u64,
    /// Per attribute, level and label: the weight of a cell; empty unless the loss is a sum over
    /// cells.
    weights: Vec<Vec<Vec<u64>>>,
    /// Per attribute and level: the weight of all rows' cells.
    totals: Vec<Vec<Cost>>,
    /// Per attribute: the weight of a cell that tells nothing.
    wholes: Vec<u64>,
    /// Per attribute, in bits: what one `*` leaves open about all rows' values. For `entropy`.
    bits: Vec<f64>,
    /// The loss of a table that tells nothing: 1, or for `entropy-bits` as many bits.
    unit: f64,
}

impl LossModel {
    pub fn new(loss: Loss, attributes: &[LossAttribute<'_>], rows: u64, k: u64) -> LossModel {
        let weigh: Option<fn(LossAttribute<'_>, usize) -> Vec<f64>> = match loss {
            Loss::Ncp => Some(ncp),
            Loss::Precision => Some(precision),
            Loss::Granularity => Some(granularity),
            Loss::Entropy => return LossModel::of_entropy(attributes, rows),
            Loss::EntropyBits => return LossModel::of_entropy_bits(attributes, rows),
            Loss::Discernibility | Loss::AverageClass => None,
        };
        let mut model = LossModel::without_cells(loss, rows, k);
        let Some(weigh) = weigh else { return model };
        model.wholes = wholes(attributes);
        for (&attribute, &whole) in attributes.iter().zip(&model.wholes) {
            let levels = attribute.hierarchy.levels();
            let fixed = |share: f64| (share * whole as f64).round() as u64;
            let weights: Vec<Vec<u64>> =
                (0..levels.len()).map(|level| weigh(attribute, level).into_iter().map(fixed).collect()).collect();
            let total = |(level, weights): (usize, &Vec<u64>)| {
                let rows_and_labels = attribute.counts.iter().zip(&levels[level].map);
                rows_and_labels.map(|(&rows, &label)| Cost::from(rows) * Cost::from(weights[label as usize])).sum()
            };
            model.totals.push(weights.iter().enumerate().map(total).collect());
            model.weights.push(weights);
        }
        model
    }

    fn without_cells(loss: Loss, rows: u64, k: u64) -> LossModel {
        let (weights, totals, wholes, bits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        LossModel { loss, rows, k: k.max(1), weights, totals, wholes, bits, unit: 1.0 }
    }

    fn of_entropy(attributes: &[LossAttribute<'_>], rows: u64) -> LossModel {
        let mut model = LossModel::without_cells(Loss::Entropy, rows, 1);
        model.wholes = wholes(attributes);
        for (attribute, &whole) in attributes.iter().zip(&model.wholes) {
            let levels = attribute.hierarchy.levels();
            let all = conditional_entropy_bits(attribute.counts, &vec![0; attribute.counts.len()], 1);
            let total = |level: &Level| {
                let open = conditional_entropy_bits(attribute.counts, &level.map, level.labels.len());
                if all > 0.0 { (open / all * rows as f64 * whole as f64).round() as Cost } else { 0 }
            };
            model.totals.push(levels.iter().map(total).collect());
            model.bits.push(all);
        }
        model
    }

    /// The same sum in bits: an attribute counts as much as one `*` would leave open about it.
    fn of_entropy_bits(attributes: &[LossAttribute<'_>], rows: u64) -> LossModel {
        let bits = |attribute: &LossAttribute<'_>| {
            attribute.weight * conditional_entropy_bits(attribute.counts, &vec![0; attribute.counts.len()], 1)
        };
        let in_bits: Vec<LossAttribute<'_>> =
            attributes.iter().map(|attribute| LossAttribute { weight: bits(attribute), ..*attribute }).collect();
        let mut model = LossModel::of_entropy(&in_bits, rows);
        model.unit = in_bits.iter().map(|attribute| attribute.weight).sum();
        model
    }

    /// Whether a node's cost without suppression is known before it is counted.
    pub fn is_sum_over_cells(&self) -> bool {
        !self.totals.is_empty()
    }

    /// No node on these levels, nor any coarser one, costs less.
    pub fn lower_bound(&self, levels: &[u8]) -> Cost {
        self.totals.iter().zip(levels).map(|(totals, &level)| totals[level as usize]).sum()
    }

    /// A stronger bound when at least `suppressed` rows are known to be suppressed on these levels:
    /// each of them costs a whole row in place of at most the weight of the dearest label on every
    /// attribute.
    pub fn lower_bound_with(&self, levels: &[u8], suppressed: u64) -> Cost {
        if !self.is_sum_over_cells() {
            return match self.loss {
                Loss::Discernibility => Cost::from(suppressed) * Cost::from(self.rows),
                _ => 0,
            };
        }
        if self.loss == Loss::Entropy {
            return self.lower_bound(levels);
        }
        let dearest: u64 = self
            .weights
            .iter()
            .zip(levels)
            .map(|(weights, &level)| weights[level as usize].iter().copied().max().unwrap_or(0))
            .sum();
        let gap = self.row_of_tops() - dearest;
        self.lower_bound(levels) + Cost::from(suppressed) * Cost::from(gap)
    }

    /// The cost of a node: `quasi` are the positions of the quasi attributes in the layout.
    pub fn cost<const W: usize>(
        &self,
        layout: &Layout,
        quasi: &[usize],
        levels: &[u8],
        set: &FrequencySet<W>,
        kept: &[bool],
    ) -> Cost {
        let entries = set.keys().iter().zip(set.counts()).zip(kept);
        if !self.is_sum_over_cells() {
            return self.cost_of_classes(layout, quasi, set, kept);
        }
        let mut cost = self.lower_bound(levels);
        if self.loss == Loss::Entropy {
            return cost + self.entropy_of_suppressed(layout, quasi, set, kept);
        }
        let weights: Vec<(_, &Vec<u64>)> = (quasi.iter().zip(&self.weights).zip(levels))
            .map(|((&attribute, weights), &level)| (layout.field(attribute), &weights[level as usize]))
            .collect();
        for ((key, &count), _) in entries.filter(|(_, kept)| !**kept) {
            let row: u64 = weights.iter().map(|(field, weights)| weights[field.get(key) as usize]).sum();
            cost += Cost::from(count) * Cost::from(self.row_of_tops() - row);
        }
        cost
    }

    /// The entropy that one `*` leaves about the labels of the suppressed rows.
    fn entropy_of_suppressed<const W: usize>(
        &self,
        layout: &Layout,
        quasi: &[usize],
        set: &FrequencySet<W>,
        kept: &[bool],
    ) -> Cost {
        let mut labels: Vec<Vec<u64>> = vec![Vec::new(); quasi.len()];
        for ((key, &count), _) in set.keys().iter().zip(set.counts()).zip(kept).filter(|(_, kept)| !**kept) {
            for (labels, &attribute) in labels.iter_mut().zip(quasi) {
                let label = layout.field(attribute).get(key) as usize;
                labels.resize(labels.len().max(label + 1), 0);
                labels[label] += u64::from(count);
            }
        }
        let parts = labels.iter().zip(&self.bits).zip(&self.wholes);
        parts
            .filter(|((_, bits), _)| **bits > 0.0)
            .map(|((labels, bits), &whole)| {
                let open = conditional_entropy_bits(labels, &vec![0; labels.len()], 1);
                (open / bits * self.rows as f64 * whole as f64).round() as Cost
            })
            .sum()
    }

    fn cost_of_classes<const W: usize>(
        &self,
        layout: &Layout,
        quasi: &[usize],
        set: &FrequencySet<W>,
        kept: &[bool],
    ) -> Cost {
        let classes = set.classes(&layout.mask_of::<W>(quasi.iter().copied()));
        let mut sizes = vec![0u64; classes.sizes.len()];
        for ((&class, &count), _) in classes.of_entry.iter().zip(set.counts()).zip(kept).filter(|(_, kept)| **kept) {
            sizes[class as usize] += u64::from(count);
        }
        let out: u64 = sizes.iter().sum();
        match self.loss {
            Loss::Discernibility => {
                let squares: Cost = sizes.iter().map(|&size| Cost::from(size) * Cost::from(size)).sum();
                squares + Cost::from(self.rows) * Cost::from(self.rows - out)
            }
            _ => {
                let classes = sizes.iter().filter(|size| **size > 0).count().max(1);
                Cost::from(out) * Cost::from(WHOLE) / classes as Cost
            }
        }
    }

    /// A cost as the number that people read: to twelve places, since weights are rounded beyond.
    pub fn loss(&self, cost: Cost) -> f64 {
        let loss = match self.loss {
            Loss::Discernibility => cost as f64,
            Loss::AverageClass => cost as f64 / WHOLE as f64 / self.k as f64,
            _ if self.rows == 0 || self.wholes.is_empty() => 0.0,
            // No attribute has anything to lose.
            _ if self.row_of_tops() == 0 => 0.0,
            _ => cost as f64 / (self.rows as f64 * self.row_of_tops() as f64) * self.unit,
        };
        if loss < 1e3 { (loss * 1e12).round() / 1e12 } else { loss }
    }

    fn row_of_tops(&self) -> u64 {
        self.wholes.iter().sum()
    }
}

/// The weight of a whole cell of every attribute; the heaviest has [`WHOLE`].
fn wholes(attributes: &[LossAttribute<'_>]) -> Vec<u64> {
    let heaviest = attributes.iter().map(|attribute| attribute.weight).fold(f64::MIN_POSITIVE, f64::max);
    attributes.iter().map(|attribute| (attribute.weight / heaviest * WHOLE as f64).round() as u64).collect()
}

/// In bits, what is left open about the values of all rows when their labels are known: `counts`
/// has the rows of every value, `map` its label.
fn conditional_entropy_bits(counts: &[u64], map: &[u32], labels: usize) -> f64 {
    let mut covered = vec![0u64; labels];
    for (&rows, &label) in counts.iter().zip(map) {
        covered[label as usize] += rows;
    }
    let open = |(&rows, &label): (&u64, &u32)| {
        let covered = covered[label as usize];
        // No rounding where nothing is left open.
        if rows == covered { 0.0 } else { rows as f64 * (covered as f64 / rows as f64).log2() }
    };
    counts.iter().zip(map).filter(|(rows, _)| **rows > 0).map(open).sum()
}

/// For every label of a level, how much of its attribute's domain a cell hides: from 0 to 1.
fn precision(attribute: LossAttribute<'_>, level: usize) -> Vec<f64> {
    let share = level as f64 / attribute.hierarchy.top().max(1) as f64;
    vec![share; attribute.hierarchy.levels()[level].labels.len()]
}

fn granularity(attribute: LossAttribute<'_>, level: usize) -> Vec<f64> {
    let others = (attribute.hierarchy.leaves() as f64 - 1.0).max(1.0);
    let labels = &attribute.hierarchy.levels()[level].labels;
    labels.iter().map(|label| (label.leaves as f64 - 1.0).max(0.0) / others).collect()
}

fn ncp(attribute: LossAttribute<'_>, level: usize) -> Vec<f64> {
    let labels = &attribute.hierarchy.levels()[level].labels;
    if level == 0 || level == attribute.hierarchy.top() {
        return vec![if level == 0 { 0.0 } else { 1.0 }; labels.len()];
    }
    let domain = attribute.domain;
    let mut codes = vec![(u32::MAX, 0u32, 0u64); labels.len()];
    for (code, &label) in (0u32..).zip(&attribute.hierarchy.levels()[level].map) {
        let (first, last, occurring) = &mut codes[label as usize];
        *occurring += 1;
        // The missing value lies on no axis.
        if Some(code) != domain.missing_code() {
            (*first, *last) = ((*first).min(code), code);
        }
    }
    let share = |(label, &(first, last, occurring)): (&Label, &(u32, u32, u64))| match (&label.cover, domain.kind()) {
        (Cover::Missing | Cover::Point(_), _) => 0.0,
        (Cover::Everything, _) => 1.0,
        (Cover::Interval { low, high }, kind) => interval_share(domain, kind, *low, *high),
        (Cover::Leaves(_), Kind::Category) if label.leaves == 1 => 0.0,
        (Cover::Leaves(_), Kind::Category) => occurring as f64 / domain.cardinality() as f64,
        (Cover::Leaves(leaves), _) => match (leaf_ends(leaves), domain.number(first), domain.number(last)) {
            (Some((from, to)), ..) | (None, Some(from), Some(to)) => clipped_share(domain, from, to),
            _ => 0.0,
        },
    };
    labels.iter().zip(&codes).map(share).collect()
}

/// Numbers in a cell that is not an interval lie between its lowest and its highest leaf, whether
/// or not these occur: a coarser cell then never seems narrower than a finer one. `None` for a
/// mask, whose leaf is its pattern.
fn leaf_ends(leaves: &[String]) -> Option<(f64, f64)> {
    let numbers = leaves.iter().filter_map(|leaf| Bound::parse(leaf)).map(position);
    numbers.map(|number| (number, number)).reduce(|(low, high), (number, _)| (low.min(number), high.max(number)))
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use super::*;

    /// A file may put the missing value among numbers; the wider cell must not seem to cost less
    /// than the narrow one.
    #[test]
    fn a_cell_of_numbers_and_the_missing_value_is_as_wide_as_its_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("age.csv");
        let rows = "10;young;any age;*\n20;young;any age;*\n40;old;any age;*\n50;old;any age;*\n?;unknown;any age;*\n";
        std::fs::write(&path, rows).unwrap();
        let (domain, _) = Domain::from_texts(&["10", "20", "40", "50"], true, None).unwrap();
        let nulls = ["?".to_owned()];
        let hierarchy = Hierarchy::build(&HierarchySpec::File(path), "age", "policy.toml", &domain, &nulls).unwrap();
        let model = LossModel::new(
            Loss::Ncp,
            &[LossAttribute { domain: &domain, hierarchy: &hierarchy, counts: &[1, 1, 1, 1, 1], weight: 1.0 }],
            5,
            1,
        );
        let losses: Vec<f64> = (0..4).map(|level| model.loss(model.lower_bound(&[level]))).collect();
        assert!((losses[1] - 4.0 * 0.25 / 5.0).abs() < 1e-9, "{losses:?}");
        assert!((losses[2] - 1.0).abs() < 1e-9, "from 10 to 50, all of them: {losses:?}");
        assert!(losses.is_sorted(), "{losses:?}");
    }
}
