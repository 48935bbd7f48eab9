//! Whether tables fit together as a tree, and what neighbors in it share. Then the most likely
//! table behind them has a closed form: the product of the tables over the product of what
//! neighbors share (Lauritzen: *Graphical models*, 1996; Kifer, Gehrke 2006).
//!
//! Tables form such a tree exactly when a spanning tree with the largest shares has a total of
//! Σ|table| − |all attributes|. A bucketized table counts as two, what is released by row and what
//! is released by bucket, which share the bucket's number and nothing else.
//!
//! Jin and others take for granted that tables in guardian normal form always fit together like
//! this. They need not: three tables {a,b}, {b,c}, {c,a} keep every rule that is about other
//! attributes. So it is tested for every decomposition.

use hedgerow_privacy::rules::AttributeSet;

use super::Subtable;

/// One side of a table: its attributes, and which table's bucket numbers it shares.
#[derive(Debug, Clone, Copy)]
struct TableSide {
    attributes: AttributeSet,
    buckets: Option<usize>,
}

/// The attributes that neighboring tables share, where they share any; `None` when the tables do
/// not form a tree.
pub fn separators(tables: &[Subtable]) -> Option<Vec<AttributeSet>> {
    let parts = parts(tables);
    let share = |one: &TableSide, other: &TableSide| {
        let same_buckets = one.buckets.is_some() && one.buckets == other.buckets;
        (one.attributes & other.attributes).len() + usize::from(same_buckets)
    };
    // Prim's: for every part outside, the neighbor inside with the largest share.
    let mut nearest = vec![(0usize, 0usize); parts.len()];
    let mut inside = vec![false; parts.len()];
    let mut total = 0;
    let mut separators = Vec::new();
    for step in 0..parts.len() {
        let next = if step == 0 {
            0
        } else {
            (0..parts.len()).filter(|&part| !inside[part]).max_by_key(|&part| (nearest[part].0, usize::MAX - part))?
        };
        if step > 0 {
            let (weight, neighbor) = nearest[next];
            total += weight;
            let shared = parts[next].attributes & parts[neighbor].attributes;
            separators.extend((!shared.is_empty()).then_some(shared));
        }
        inside[next] = true;
        for (part, nearest) in nearest.iter_mut().enumerate() {
            let weight = share(&parts[part], &parts[next]);
            if !inside[part] && weight > nearest.0 {
                *nearest = (weight, next);
            }
        }
    }
    let all = parts.iter().fold(AttributeSet::EMPTY, |all, part| all | part.attributes).len();
    let bucketized = tables.iter().filter(|table| !table.sensitive.is_empty()).count();
    let sizes: usize = parts.iter().map(|part| part.attributes.len() + usize::from(part.buckets.is_some())).sum();
    (total == sizes - all - bucketized).then_some(separators)
}

fn parts(tables: &[Subtable]) -> Vec<TableSide> {
    let mut parts = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        if table.sensitive.is_empty() {
            parts.push(TableSide { attributes: table.attributes, buckets: None });
        } else {
            parts.push(TableSide { attributes: table.open(), buckets: Some(index) });
            parts.push(TableSide { attributes: table.sensitive, buckets: Some(index) });
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(attributes: &[usize]) -> Subtable {
        Subtable::plain(attributes.iter().copied().collect())
    }

    fn bucketized(attributes: &[usize], sensitive: usize) -> Subtable {
        Subtable { sensitive: AttributeSet::of(sensitive), ..plain(attributes) }
    }

    #[test]
    fn a_chain_is_a_tree_and_a_ring_is_not() {
        let chain = [plain(&[0, 1]), plain(&[1, 2]), plain(&[2, 3])];
        let shared: Vec<AttributeSet> = vec![AttributeSet::of(1), AttributeSet::of(2)];
        assert_eq!(separators(&chain), Some(shared));
        let ring = [plain(&[0, 1]), plain(&[1, 2]), plain(&[2, 0])];
        assert_eq!(separators(&ring), None);
        let filled = [plain(&[0, 1]), plain(&[1, 2]), plain(&[2, 0]), plain(&[0, 1, 2])];
        assert_eq!(separators(&filled).map(|shared| shared.len()), Some(3));
        assert_eq!(separators(&[plain(&[0]), plain(&[1])]), Some(vec![]), "apart from each other is fine");
        assert_eq!(separators(&[]), Some(vec![]));
    }

    #[test]
    fn both_sides_of_a_bucketized_table_cannot_meet_again_elsewhere() {
        assert_eq!(separators(&[bucketized(&[0, 1, 2], 2), plain(&[0, 2])]), None);
        let fine = [bucketized(&[0, 1, 2], 2), plain(&[2, 3]), plain(&[0, 4])];
        let mut shared = separators(&fine).unwrap();
        shared.sort_unstable();
        assert_eq!(shared, [AttributeSet::of(0), AttributeSet::of(2)]);
    }
}
