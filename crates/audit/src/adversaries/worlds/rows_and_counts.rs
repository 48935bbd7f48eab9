//! The two parts of a bucketized table, its rows and its counts, are about the same people. Where
//! not all people can be among the rows as other releases describe them, the counts alone are used:
//! a value that follows then for people whose row is denied follows from no table.

use super::attacker::Part;
use super::hypothesis::Assumption;
use super::left::ValuesLeft;
use super::setting::Setting;

impl Setting<'_> {
    /// It is not used that whoever is in one part is in the other, unless everyone is in both and
    /// no one else is.
    pub(super) fn not_used_of_rows(&self, standings: &[Assumption]) -> Option<String> {
        let is_whole = |own: &Assumption| *own == Assumption::Everyone { absent: 0, unlisted: 0 };
        let rows = standings.iter().enumerate().filter(|(table, _)| self.tables.is_rows(*table));
        let names: Vec<&str> =
            rows.filter(|(_, own)| !is_whole(own)).map(|(table, _)| self.tables.tables[table].name).collect();
        let names = names.join(" and ");
        (!names.is_empty()).then(|| format!("not all people, or others too, are among the rows of {names} by bucket"))
    }

    /// The same assumptions, but that of the parts of a table either both or none has everyone;
    /// `None` where that is so.
    pub(super) fn with_parts_alike(&self, standings: &[Assumption]) -> Option<Vec<Assumption>> {
        let mut alike = standings.to_vec();
        for (rows, counts) in self.parts() {
            if [rows, counts].iter().any(|&part| standings[part] == Assumption::Target) {
                alike[rows] = Assumption::Target;
                alike[counts] = Assumption::Target;
            }
        }
        (alike != *standings).then_some(alike)
    }

    /// The same, but not one value alone for people of whom one part of a table speaks and the
    /// other does not.
    pub(super) fn unless_denied(&self, left: ValuesLeft, speak: &[bool]) -> ValuesLeft {
        if left.values.len() != 1 || self.parts().all(|(rows, counts)| speak[rows] == speak[counts]) {
            return left;
        }
        ValuesLeft { is_decided: false, is_unsaid: true, ..ValuesLeft::nothing(left.people) }
    }

    /// The numbers of the rows and of the counts of tables that have both.
    fn parts(&self) -> impl Iterator<Item = (usize, usize)> {
        let tables = &self.tables.tables;
        let is_both = move |rows: &usize| {
            let [one, two] = [&tables[*rows], &tables[*rows + 1]];
            one.part == Part::Rows && two.part == Part::Counts && one.name == two.name
        };
        (0..tables.len().saturating_sub(1)).filter(is_both).map(|rows| (rows, rows + 1))
    }
}
