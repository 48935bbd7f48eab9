//! m-privacy: what is promised of a class still holds for any m custodians who take their own rows out of it and look at the rest.
//!
//! Goryczka, Xiong, Fung: *m-privacy for collaborative data publishing*, 2011. A class whose rest is empty protects nobody from them and breaks nothing.
//!
//! **One custodian** (m = 1) knows its own rows and the opened counts of the class, so it judges the rest by itself, exactly, whatever the guarantee, and
//! objects where it would learn too much. Only whether *anybody* objects opens.
//!
//! **Several** (m > 1) would have to show each other their rows to find out. Opening everybody's counts without names would let anybody
//! judge every coalition, and would tell the very thing that is to be kept: rows of single custodians. So three conditions are asked that are enough, each by sums:
//!
//! * *Enough rows.* The rest of a class holds at least k rows whoever the m are, if for some θ the rows counted with at most θ of each custodian's are at least
//!   k + mθ: the m have at most mθ of these. (Over all θ this is also necessary: with θ the (m+1)-th largest part, what is counted without the m
//!   largest parts is the rest itself. Only θ = 1, 2, 4, … k are opened, so some classes are given up that could stand.)
//! * *Enough different values.* A value that more than m custodians have survives any m of them; l such values are enough. (Who has which is not needed.)
//! * *Anything that survives merging* (shares of values, closeness to the whole): if it holds for each custodian's own rows, it holds for the rows of any of them
//!   together. Everybody judges its own part and objects where that fails.
//!
//! Each condition holds towards fewer than m as well. Guarantees that survive no merging are not judged jointly at all.

use hedgerow_privacy::{Guarantee, Whole};

use super::Agreed;
use super::rules::{Counts, by_core};

impl Agreed {
    /// The most rows of each custodian that are counted: one total is opened for each.
    pub(super) fn clips(&self) -> Vec<u64> {
        let wanted = self.rows_wanted();
        if self.towards < 2 || wanted < 2 {
            return Vec::new();
        }
        let doubled = std::iter::successors(Some(1u64), |most| most.checked_mul(2));
        doubled.take_while(|most| *most < wanted).chain([wanted]).collect()
    }

    /// Whether it is counted how many custodians have each value.
    pub(super) fn counts_holders(&self) -> bool {
        self.towards >= 2 && self.guarantees().any(|guarantee| by_core(guarantee) && guarantee.core().distinct > 1)
    }

    /// Whether there is something that only custodians themselves can judge.
    pub(super) fn asks_for_objections(&self) -> bool {
        self.towards == 1 || (self.towards >= 2 && !self.guarantees().all(by_core))
    }

    /// The rows that guarantees about rows alone ask for.
    fn rows_wanted(&self) -> u64 {
        let cores = self.guarantees().filter(|guarantee| by_core(*guarantee)).map(|guarantee| guarantee.core());
        // So many different values take as many rows: nothing more to ask for.
        cores.filter(|core| core.rows > core.distinct).map(|core| core.rows).max().unwrap_or(0)
    }

    /// Whether enough rows and enough different values are left by any of the custodians, where there are to be several.
    pub(super) fn holds_towards_several(&self, counts: &Counts) -> bool {
        if self.towards < 2 {
            return true;
        }
        let (wanted, clips) = (self.rows_wanted(), self.clips());
        let enough = |(most, rows): (&u64, &u64)| *rows >= wanted.saturating_add(self.towards.saturating_mul(*most));
        let rows = clips.is_empty() || clips.iter().zip(&counts.clipped).any(enough);
        let mut holders = counts.holders.iter();
        let values = self.rules.iter().filter(|rule| rule.protect.is_some()).all(|rule| {
            let surviving = holders.next().map_or(0, |held| held.iter().filter(|held| **held > self.towards).count());
            let wanted = |guarantee: &dyn Guarantee| if by_core(guarantee) { guarantee.core().distinct } else { 1 };
            rule.guarantees.iter().all(|guarantee| {
                let wanted = wanted(guarantee.as_ref());
                wanted <= 1 || surviving as u64 >= wanted
            })
        });
        rows && values
    }

    /// Whether we have nothing against a class in which `own` are our rows.
    pub(super) fn agrees(&self, counts: &Counts, own: &Counts, wholes: &[Whole]) -> bool {
        match self.towards {
            0 => true,
            1 => {
                let rest = counts.without(own);
                rest.rows == 0 || self.rules_hold(&rest, wholes, |_| true)
            }
            _ => own.rows == 0 || self.rules_hold(own, wholes, |guarantee| !by_core(guarantee)),
        }
    }
}

impl Counts {
    fn without(&self, own: &Counts) -> Counts {
        let less = |(all, own): (&Vec<u64>, &Vec<u64>)| {
            all.iter().zip(own).map(|(all, own)| all.saturating_sub(*own)).collect()
        };
        let histograms = self.histograms.iter().zip(&own.histograms).map(less).collect();
        Counts { rows: self.rows.saturating_sub(own.rows), histograms, ..Counts::default() }
    }
}

#[cfg(test)]
mod tests {
    /// The rest of a class after the `m` largest parts are taken out.
    fn rest(parts: &[u64], m: usize) -> u64 {
        let mut parts = parts.to_vec();
        parts.sort_unstable();
        parts.iter().rev().skip(m).sum()
    }

    fn clipped(parts: &[u64], most: u64) -> u64 {
        parts.iter().map(|part| (*part).min(most)).sum()
    }

    #[test]
    fn counting_at_most_so_many_of_each_decides_what_any_m_leave() {
        // All parts up to 4 of up to four custodians: the condition with every θ is exactly that k are left.
        for code in 0..5u64.pow(4) {
            let parts: Vec<u64> = (0..4).map(|place| code / 5u64.pow(place) % 5).collect();
            for (m, k) in [(1, 1), (1, 3), (2, 2), (2, 4), (3, 3)] {
                let left = rest(&parts, m) >= k;
                let some = (1..=k).any(|most| clipped(&parts, most) >= k + m as u64 * most);
                assert_eq!(some, left, "{parts:?} m {m} k {k}");
            }
        }
    }
}
