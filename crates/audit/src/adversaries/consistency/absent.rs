//! People who match a class and are not in the release: none of the rows that can be theirs has
//! their own values.
//!
//! The adversary takes everyone who matches to be released. Of someone whose row was suppressed
//! that is false, and so is the conclusion that one of few rows is theirs. A value that follows
//! from it can be right all the same, and is then counted.
//!
//! The people's values are compared with the rows alone. Only where more people lack a row
//! than the manifest states as suppressed is the table about others, or written differently, and
//! everyone who matches is taken to be released.

use hedgerow_release::Release;
use hedgerow_release::classes::ReleasedClasses;

use crate::people::FoundPeople;
use crate::shown::ShownColumns;

/// By row of the people's table, whether it is in no class that it matches. Empty where that is not
/// known.
#[derive(Default)]
pub(super) struct Absent {
    of_person: Vec<bool>,
}

impl Absent {
    pub(super) fn new(
        release: &Release,
        classes: &ReleasedClasses,
        shown: &ShownColumns<'_>,
        found: &FoundPeople,
        rows: usize,
    ) -> Absent {
        let suppressed = release.manifest().map_or(0, |manifest| manifest.hedgerow.rows.suppressed);
        let unknown = Absent::default();
        if suppressed == 0 || shown.attributes.is_empty() {
            return unknown;
        }
        let mut own = vec![None; shown.attributes.len()];
        let mut of_person = Vec::with_capacity(rows);
        let mut without = 0;
        for (row, &place) in found.of_person.iter().enumerate() {
            own.iter_mut().zip(&shown.attributes).for_each(|(own, column)| *own = Some(column.codes.get(row)));
            let matching = &found.places[place as usize];
            let is_shown = matching.iter().any(|&class| shown.has_row(classes.bucket_of[class as usize], &own));
            without += u64::from(!is_shown);
            of_person.push(!is_shown && !matching.is_empty());
        }
        if without > suppressed { unknown } else { Absent { of_person } }
    }

    pub(super) fn is_absent(&self, person: u32) -> bool {
        self.of_person.get(person as usize).copied().unwrap_or(false)
    }
}
