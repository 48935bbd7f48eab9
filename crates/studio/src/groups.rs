//! Categories in groups: a hierarchy file in ARX's layout (`leaf;level 1;…;top`) as a thing that
//! can be rearranged. Leaves that do not occur in the data stay in the file.

/// Rows of a file that is edited on a page.
pub(crate) const ROWS_MAX: usize = 20_000;
/// Characters of a label.
const LABEL_CHARS_MAX: usize = 80;

/// A hierarchy file: one row per leaf, from the leaf to the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Groups {
    rows: Vec<Vec<String>>,
}

/// A group of a level with what is in it, by the labels of the level below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LevelGroup {
    pub(crate) label: String,
    pub(crate) members: Vec<String>,
}

impl Groups {
    pub(crate) fn parse(text: &str) -> Result<Groups, String> {
        let rows: Vec<Vec<String>> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(cells)
            .collect::<Option<_>>()
            .ok_or("a quote is not closed")?;
        let width = rows.first().map_or(0, Vec::len);
        if rows.len() > ROWS_MAX {
            return Err(format!("more than {ROWS_MAX} values: edit the file by hand"));
        }
        if width < 2 || rows.iter().any(|row| row.len() != width) {
            return Err(
                "not a hierarchy: every line has a value and its label on each level, separated by `;`".to_owned()
            );
        }
        Ok(Groups { rows })
    }

    /// From rows that are known to be whole; `None` without a row.
    pub(crate) fn from_rows(rows: Vec<Vec<String>>) -> Option<Groups> {
        (!rows.is_empty()).then_some(Groups { rows })
    }

    /// All values in one group.
    pub(crate) fn of_values(values: &[String]) -> Groups {
        Groups { rows: values.iter().map(|value| vec![value.clone(), "Group 1".to_owned(), "*".to_owned()]).collect() }
    }

    pub(crate) fn text(&self) -> String {
        let line = |row: &Vec<String>| row.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(";") + "\n";
        self.rows.iter().map(line).collect()
    }

    /// Levels between the values and the top that can be edited, from 1 on.
    pub(crate) fn levels(&self) -> usize {
        let width = self.rows.first().map_or(0, Vec::len);
        let top = self.rows.iter().all(|row| row.last() == self.rows[0].last());
        width.saturating_sub(1 + usize::from(top))
    }

    /// The groups of a level, in the order in which they occur.
    pub(crate) fn at(&self, level: usize) -> Vec<LevelGroup> {
        let mut groups: Vec<LevelGroup> = Vec::new();
        let (mut places, mut seen) = (std::collections::HashMap::new(), std::collections::HashSet::new());
        for row in &self.rows {
            let (Some(label), Some(member)) = (row.get(level), level.checked_sub(1).and_then(|below| row.get(below)))
            else {
                continue;
            };
            let place = *places.entry(label.as_str()).or_insert_with(|| {
                groups.push(LevelGroup { label: label.clone(), members: Vec::new() });
                groups.len() - 1
            });
            if seen.insert((place, member.as_str())) {
                groups[place].members.push(member.clone());
            }
        }
        groups
    }

    /// Moves a label of the level below into a group; an unknown group is made, next to the one
    /// that the label was in.
    pub(crate) fn put(&mut self, level: usize, member: &str, group: &str) -> Result<(), String> {
        self.is_level(level)?;
        let group = self.label(group)?;
        let above = self.rows.iter().find(|row| row[level] == group).map(|row| row[level..].to_vec());
        let mut moved = false;
        for row in self.rows.iter_mut().filter(|row| row[level - 1] == member) {
            moved = true;
            match &above {
                Some(above) => row[level..].clone_from_slice(above),
                None => row[level].clone_from(&group),
            }
        }
        if moved {
            Ok(())
        } else {
            Err(format!("{member:?} is not on the level below: the file was changed meanwhile"))
        }
    }

    pub(crate) fn rename(&mut self, level: usize, from: &str, to: &str) -> Result<(), String> {
        self.is_level(level)?;
        let to = self.label(to)?;
        if from != to && self.rows.iter().any(|row| row[level] == to) {
            return Err(format!("there is a group {to:?} already: move its members instead"));
        }
        self.rows.iter_mut().filter(|row| row[level] == from).for_each(|row| row[level].clone_from(&to));
        Ok(())
    }

    /// Adds a level above this one, with the same groups.
    pub(crate) fn add_level(&mut self, level: usize) -> Result<(), String> {
        self.is_level(level)?;
        for row in &mut self.rows {
            let label = format!("{} +", row[level]);
            row.insert(level + 1, label);
        }
        Ok(())
    }

    pub(crate) fn remove_level(&mut self, level: usize) -> Result<(), String> {
        self.is_level(level)?;
        if self.levels() < 2 {
            return Err("The last level stays: choose another kind of hierarchy instead.".to_owned());
        }
        self.rows.iter_mut().for_each(|row| {
            row.remove(level);
        });
        Ok(())
    }

    fn is_level(&self, level: usize) -> Result<(), String> {
        if (1..=self.levels()).contains(&level) { Ok(()) } else { Err(format!("there is no level {level} to edit")) }
    }

    /// A label that a file can hold and that is not a value.
    fn label(&self, text: &str) -> Result<String, String> {
        let text = text.trim();
        if text.is_empty()
            || text == "*"
            || text.chars().count() > LABEL_CHARS_MAX
            || text.chars().any(char::is_control)
        {
            return Err("A group needs a name of up to 80 characters that is not `*`.".to_owned());
        }
        if self.rows.iter().any(|row| row[0] == text && row[1..].iter().all(|label| label != text)) {
            return Err(format!("{text:?} is a value: a group needs another name"));
        }
        Ok(text.to_owned())
    }
}

fn cells(line: &str) -> Option<Vec<String>> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = characters.next() {
        let cell = cells.last_mut()?;
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if cell.is_empty() => is_quoted = true,
            ';' if !is_quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    (!is_quoted).then_some(cells)
}

fn quoted(cell: &str) -> String {
    let needs =
        cell.contains(['"', ';']) || cell.starts_with(char::is_whitespace) || cell.ends_with(char::is_whitespace);
    if needs { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "flu;infection;*\ncold;infection;*\nasthma;chronic;*\n\"a;b\";chronic;*\n";

    #[test]
    fn a_file_reads_back_as_it_was() {
        let groups = Groups::parse(FILE).unwrap();
        assert_eq!(groups.text(), FILE);
        assert_eq!(groups.levels(), 1);
        assert_eq!(
            groups.at(1)[1],
            LevelGroup { label: "chronic".into(), members: vec!["asthma".into(), "a;b".into()] }
        );
        for bad in ["", "a\n", "a;b\nc\n", "\"a;b\n"] {
            assert!(Groups::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_member_moves_with_everything_above_it() {
        let mut groups = Groups::parse(FILE).unwrap();
        groups.put(1, "asthma", "infection").unwrap();
        assert_eq!(groups.at(1)[0].members, ["flu", "cold", "asthma"]);
        groups.put(1, "flu", "new").unwrap();
        assert_eq!(groups.at(1).len(), 3);
        groups.add_level(1).unwrap();
        assert_eq!(groups.levels(), 2);
        groups.put(2, "new", "infection +").unwrap();
        groups.put(1, "flu", "chronic").unwrap();
        assert_eq!(groups.text().lines().next(), Some("flu;chronic;chronic +;*"));
        groups.rename(2, "chronic +", "long").unwrap();
        assert!(groups.rename(2, "long", "infection +").is_err());
        groups.remove_level(1).unwrap();
        assert!(groups.remove_level(1).is_err());
        assert!(groups.put(1, "flu", "cold").is_err(), "a value is not a group");
        assert!(groups.put(1, "nothing", "long").is_err() && groups.put(9, "flu", "long").is_err());
        assert!(groups.put(1, "flu", "*").is_err() && groups.put(1, "flu", " ").is_err());
    }
}
