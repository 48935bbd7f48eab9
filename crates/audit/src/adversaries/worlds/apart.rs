//! Classes that an attacker can distinguish by columns that the list of people lacks. Who knows the
//! columns knows the class only where no other class that fits covers the same values.

use hedgerow_release::classes::{QuasiLabels, ReleasedClasses};

use crate::overlap::overlap;

/// More classes of one place are not compared, and are taken to be alike.
const COMPARED_MAX: usize = 500;

/// By place, the buckets that cannot be distinguished, each with the first of them; and whether
/// these are just the buckets that someone who knows the columns cannot distinguish. Else some of
/// them can be: labels overlap without being the same.
pub(super) fn buckets_alike(
    classes: &ReleasedClasses,
    places: &[Vec<u32>],
    unknown: impl Fn(&&QuasiLabels) -> bool,
) -> (Vec<Vec<(u32, u32)>>, bool) {
    let columns: Vec<usize> = (0..classes.quasi.len()).filter(|&at| unknown(&&classes.quasi[at])).collect();
    let label = |class: u32, at: usize| classes.cells(class as usize)[at] as usize;
    let cover = |class: u32, at: usize| &classes.quasi[at].covers[label(class, at)];
    let mut is_exact = true;
    let mut of_place = |place: &Vec<u32>| -> Vec<(u32, u32)> {
        // By class of the place, the position of the first one that it is alike.
        let mut first: Vec<usize> = (0..place.len()).collect();
        if place.len() > COMPARED_MAX {
            first.fill(0);
            is_exact = false;
        } else {
            for one in 0..place.len() {
                for two in 0..one {
                    let (a, b) = (place[one], place[two]);
                    if !columns.iter().all(|&at| overlap(cover(a, at), cover(b, at))) {
                        continue;
                    }
                    unite(&mut first, one, two);
                }
            }
        }
        // Classes of one bucket are shown as one.
        for one in 0..place.len() {
            for two in 0..one.min(COMPARED_MAX) {
                if classes.bucket_of[place[one] as usize] == classes.bucket_of[place[two] as usize] {
                    unite(&mut first, one, two);
                }
            }
        }
        for (one, &first_of) in first.iter().enumerate() {
            let (a, b) = (place[one], place[first_of]);
            let is_same = columns.iter().all(|&at| label(a, at) == label(b, at));
            is_exact &= is_same || !alike_others(&first, place, classes, classes.bucket_of[a as usize]);
        }
        let bucket = |position: usize| classes.bucket_of[place[position] as usize];
        let mut alike: Vec<(u32, u32)> = (0..place.len()).map(|at| (bucket(at), bucket(first[at]))).collect();
        alike.sort_unstable();
        alike.dedup();
        alike.into_iter().filter(|(own, _)| alike_others(&first, place, classes, *own)).collect()
    };
    let alike = places.iter().map(&mut of_place).collect();
    (alike, is_exact)
}

fn unite(first: &mut [usize], one: usize, two: usize) {
    let (low, high) = (first[one].min(first[two]), first[one].max(first[two]));
    if low != high {
        first.iter_mut().filter(|own| **own == high).for_each(|own| *own = low);
    }
}

/// Whether a bucket is alike to another one.
fn alike_others(first: &[usize], place: &[u32], classes: &ReleasedClasses, own: u32) -> bool {
    let bucket = |at: usize| classes.bucket_of[place[at] as usize];
    let Some(position) = (0..place.len()).find(|&at| bucket(at) == own) else { return false };
    (0..place.len()).any(|at| first[at] == first[position] && bucket(at) != own)
}
