//! Tables that contradict each other, or what is known of people: which of them are taken together.

use hedgerow_table::TableError;

use super::attacker::Part;
use super::fewest::Solution;
use super::hypothesis::Assumption;
use super::listed::Means;
use super::setting::Setting;

/// Releases that contradict each other are divided into groups that do not, up to this number.
pub(super) const DIVIDED_MAX: usize = 4;

impl Setting<'_> {
    /// The tables that everyone can be in as the list of people says, where it is one of them.
    pub(super) fn fitting_the_list(
        &self,
        strong: &[usize],
        standings: &[Assumption],
        means: Means<'_>,
    ) -> Result<Vec<usize>, TableError> {
        let Some(list) = self.list(strong) else { return Ok(strong.to_vec()) };
        let mut fitting = Vec::with_capacity(strong.len());
        for &table in strong {
            let tables = [list.min(table), list.max(table)];
            if table == list || !self.solve(&tables, standings, means)?.solved.contradiction {
                fitting.push(table);
            }
        }
        Ok(fitting)
    }

    /// The list of people among tables.
    fn list(&self, tables: &[usize]) -> Option<usize> {
        tables.iter().copied().find(|&table| self.tables.tables[table].part == Part::List)
    }

    /// Groups of tables that some world fits, each as large as it can be made from the newest
    /// release on, and each with the list of people.
    pub(super) fn divided(
        &self,
        strong: &[usize],
        standings: &[Assumption],
        means: Means<'_>,
    ) -> Result<Vec<Solution>, TableError> {
        let together = strong.len() <= DIVIDED_MAX;
        let list = self.list(strong);
        let mut groups = Vec::new();
        let mut left: Vec<usize> = strong.iter().rev().copied().filter(|table| Some(*table) != list).collect();
        while !left.is_empty() {
            let mut first: Vec<usize> = list.into_iter().chain([left.remove(0)]).collect();
            first.sort_unstable();
            let mut group = self.solve(&first, standings, means)?;
            if group.solved.contradiction {
                continue;
            }
            let mut others = Vec::new();
            for table in left {
                let mut tables = group.tables.clone();
                tables.push(table);
                tables.sort_unstable();
                let with = if together { Some(self.solve(&tables, standings, means)?) } else { None };
                match with.filter(|with| !with.solved.contradiction) {
                    Some(with) => group = with,
                    None => others.push(table),
                }
            }
            groups.push(group);
            left = others;
        }
        Ok(groups)
    }
}
