//! Classes found anew, neighbor by neighbor, in pieces of rows that lie next to each other.
//!
//! Rows are ordered by their values, the attribute with the fewest first: to differ in that one
//! costs the most. A piece is a run of rows, and rows that are enough of the same kind for a class
//! are one before that. Where a piece cannot keep every rule, the pieces are runs of the classes of
//! cuts, of which each can.

use hedgerow_table::frequency::KeyField;
use hedgerow_table::parallel;
use rayon::slice::ParallelSliceMut;

use super::checked::Checked;
use super::greedy::greedy;
use super::improve::{Improving, RowClasses, piece_rows};
use super::objective::Spread;
use super::piece::{Piece, ROWS_MAX};
use crate::partition::{PackedKey, Scratch};
use crate::rules::Rules;

/// A piece has at least this multiple of the fewest rows of a class.
const PIECE_CLASSES_MIN: usize = 4;

/// Of rows that agree in everything, this multiple of the fewest of a class takes part in the
/// search for neighbors; the others are classes already.
const EQUAL_ROWS_FACTOR: usize = 4;

/// Puts the rows into the order of their values and finds classes in it. `None` where some piece
/// of it cannot keep every rule.
pub fn in_order<const W: usize>(
    keys: &mut [PackedKey<W>],
    spreads: &[Spread<'_>],
    fields: &[KeyField],
    row: KeyField,
    rules: &Rules<'_>,
) -> Option<RowClasses> {
    let mut quasi = [0u64; W];
    for field in &fields[..spreads.len()] {
        field.set(&mut quasi, (field.values() - 1) as u32);
    }
    let values = |key: &PackedKey<W>| -> PackedKey<W> { std::array::from_fn(|word| key[word] & quasi[word]) };
    // The last word has the attributes with the fewest values, in its highest bits.
    keys.par_sort_unstable_by(|one, other| {
        // Among equals the place in the source decides, never what a rule protects.
        values(one).iter().rev().cmp(values(other).iter().rev()).then_with(|| row.get(one).cmp(&row.get(other)))
    });
    let minimum = rules.minimum().max(1) as usize;
    // A piece can have almost twice the rows that it should, and those of a class for its border.
    if (2 * PIECE_CLASSES_MIN + 1) * minimum > ROWS_MAX {
        return None;
    }
    let keys: &[PackedKey<W>] = keys;
    let (mut alike, rest) = alike(keys, values, rules);
    let rows = piece_rows(keys.len()).max(PIECE_CLASSES_MIN * minimum);
    let pieces = pieces(&rest, rows, if rules.by_size_alone() { minimum } else { 1 });
    let of_piece = |rows: &[u32]| rows.iter().map(|&row| keys[row as usize]).collect::<Vec<PackedKey<W>>>();
    let holds = parallel::map_items(pieces.iter(), |_, rows| rules.hold(&of_piece(rows), &mut Scratch::new(0)));
    if holds.contains(&false) {
        return None;
    }
    let found = parallel::map_items(pieces, |_, rows| {
        // What sizes alone decide must not depend on what else a key holds.
        let seen = if rules.by_size_alone() { &fields[..spreads.len()] } else { fields };
        let piece = Piece::new(spreads, seen, of_piece(rows));
        let classes = greedy(&piece, &mut Checked::new(rules))?;
        let mut found = RowClasses::default();
        classes.iter().for_each(|class| found.push(class.iter().map(|&row| rows[usize::from(row)])));
        Some(found)
    });
    for piece in found {
        let piece = piece?;
        alike.rows.extend(piece.rows);
        alike.sizes.extend(piece.sizes);
    }
    Some(alike)
}

/// Classes of rows that agree in every quasi attribute, where these keep every rule, and all other
/// rows.
fn alike<const W: usize>(
    keys: &[PackedKey<W>],
    values: impl Fn(&PackedKey<W>) -> PackedKey<W>,
    rules: &Rules<'_>,
) -> (RowClasses, Vec<u32>) {
    let (mut alike, mut rest) = (RowClasses::default(), Vec::new());
    let minimum = rules.minimum().max(1) as usize;
    let mut scratch = Scratch::new(0);
    let mut start = 0u32;
    for same in keys.chunk_by(|one, other| values(one) == values(other)) {
        let rows = start..start + same.len() as u32;
        start = rows.end;
        if rules.hold(same, &mut scratch) { alike.push(rows) } else { rest.extend(rows) }
    }
    // Too few for a class of their own: with the class next to them in the order.
    if !rest.is_empty() && rest.len() < minimum {
        let before = alike.iter().take_while(|class| class[0] < rest[0]).count();
        let next = before.min(alike.sizes.len() - 1);
        let mut kept = RowClasses::default();
        for (number, class) in alike.iter().enumerate() {
            if number == next {
                // As many as are needed, where enough stay.
                let stays = class.len().saturating_sub(minimum);
                let stays = if stays >= minimum && rules.by_size_alone() { stays } else { 0 };
                rest.extend(&class[stays..]);
                if stays > 0 {
                    kept.push(class[..stays].iter().copied());
                }
            } else {
                kept.push(class.iter().copied());
            }
        }
        alike = kept;
    }
    (alike, rest)
}

/// Runs of about `rows` rows, each but the last a multiple of `step`.
fn pieces(rest: &[u32], rows: usize, step: usize) -> Vec<&[u32]> {
    let count = (rest.len() / rows).max(1);
    let border = |piece: usize| match piece {
        last if last == count => rest.len(),
        piece => rest.len() * piece / count / step * step,
    };
    (0..count).map(|piece| &rest[border(piece)..border(piece + 1)]).filter(|rows| !rows.is_empty()).collect()
}

/// Among the classes of cuts, which keep every rule: those of every piece, found neighbor by
/// neighbor, where that is cheaper.
pub fn in_cuts<const W: usize>(improving: &Improving<'_, W>, classes: RowClasses) -> RowClasses {
    let (classes, mut done) = without_alike(improving, classes);
    let mut classes = with_large_divided(improving, classes);
    // By values: classes that are next to each other in a few attributes share a piece.
    improving.order(&mut classes, 1);
    let rows = piece_rows(improving.keys.len());
    let found = parallel::map_items(classes.pieces(rows, rows), |_, cut| {
        if cut.rows.len() > ROWS_MAX {
            return cut;
        }
        let keys = cut.rows.iter().map(|&row| improving.keys[row as usize]).collect();
        let piece = Piece::new(improving.spreads, improving.seen(), keys);
        let mut rules = Checked::new(improving.rules);
        let Some(anew) = greedy(&piece, &mut rules) else { return cut };
        let mut start = 0u16;
        let mut old = 0.0;
        for &size in &cut.sizes {
            old += piece.cost(&(start..start + size as u16).collect::<Vec<u16>>());
            start += size as u16;
        }
        if anew.iter().map(|class| piece.cost(class)).sum::<f64>() >= old {
            return cut;
        }
        let mut found = RowClasses::default();
        anew.iter().for_each(|class| found.push(class.iter().map(|&row| cut.rows[row as usize])));
        found
    });
    for piece in found {
        done.rows.extend(piece.rows);
        done.sizes.extend(piece.sizes);
    }
    done
}

/// Classes that are too large for a piece, because rules forbade every cut, in parts that are each
/// like the whole, where all of these keep every rule.
fn with_large_divided<const W: usize>(improving: &Improving<'_, W>, classes: RowClasses) -> RowClasses {
    let mut divided = RowClasses::default();
    let mut scratch = Scratch::new(0);
    for class in classes.iter() {
        let parts = class.len() / piece_rows(improving.keys.len());
        if parts < 2 {
            divided.push(class.iter().copied());
            continue;
        }
        let mut alone = RowClasses::default();
        class.iter().for_each(|&row| alone.push(std::iter::once(row)));
        improving.order(&mut alone, 1);
        let part = |part: usize| alone.rows.iter().copied().skip(part).step_by(parts);
        let holds = (0..parts).all(|number| {
            let keys: Vec<PackedKey<W>> = part(number).map(|row| improving.keys[row as usize]).collect();
            improving.rules.hold(&keys, &mut scratch)
        });
        match holds {
            true => (0..parts).for_each(|number| divided.push(part(number))),
            false => divided.push(class.iter().copied()),
        }
    }
    divided
}

/// Sets aside what has enough rows that agree in everything: it loses nothing as it is.
fn without_alike<const W: usize>(improving: &Improving<'_, W>, classes: RowClasses) -> (RowClasses, RowClasses) {
    let (mut rest, mut alike) = (RowClasses::default(), RowClasses::default());
    let few = EQUAL_ROWS_FACTOR * improving.rules.minimum().max(1) as usize;
    let mut scratch = Scratch::new(0);
    let quasi = &improving.fields[..improving.spreads.len()];
    let values = |row: u32| quasi.iter().map(move |field| field.get(&improving.keys[row as usize]));
    for class in classes.iter() {
        let same = |&row: &u32| values(row).eq(values(class[0]));
        if class.len() > 2 * few && class.iter().all(same) {
            let (taking_part, done) = class.split_at(few);
            let keys =
                |rows: &[u32]| rows.iter().map(|&row| improving.keys[row as usize]).collect::<Vec<PackedKey<W>>>();
            if improving.rules.hold(&keys(done), &mut scratch) && improving.rules.hold(&keys(taking_part), &mut scratch)
            {
                alike.push(done.iter().copied());
                rest.push(taking_part.iter().copied());
                continue;
            }
        }
        rest.push(class.iter().copied());
    }
    (rest, alike)
}
