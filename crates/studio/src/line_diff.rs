//! The difference of two texts, line by line, as a reader expects it: the longest common
//! subsequence stays, everything else is removed or added.

/// Texts with more lines are shown as removed and added as a whole.
const LINES_MAX: usize = 2000;
/// Unchanged lines around a change that are shown.
const CONTEXT: usize = 1;

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DiffLine {
    Same(String),
    Removed(String),
    Added(String),
    /// Unchanged lines that are not shown.
    Skipped,
}

/// The changes between two texts, with a line of context around each change.
pub(crate) fn diff(before: &str, after: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut lines: Vec<DiffLine> = old[..start].iter().map(|line| DiffLine::Same((*line).to_owned())).collect();
    lines.extend(middle(old_middle, new_middle));
    lines.extend(old[old.len() - end..].iter().map(|line| DiffLine::Same((*line).to_owned())));
    shortened(lines)
}

fn middle(old: &[&str], new: &[&str]) -> Vec<DiffLine> {
    let removed = |line: &&str| DiffLine::Removed((*line).to_owned());
    let added = |line: &&str| DiffLine::Added((*line).to_owned());
    if old.len().max(new.len()) > LINES_MAX {
        return old.iter().map(removed).chain(new.iter().map(added)).collect();
    }
    // common[i][j]: how long the common subsequence of what follows i and j is.
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(DiffLine::Same(old[i].to_owned()));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            lines.push(removed(&old[i]));
            i += 1;
        } else {
            lines.push(added(&new[j]));
            j += 1;
        }
    }
    lines
}

fn shortened(lines: Vec<DiffLine>) -> Vec<DiffLine> {
    let is_change = |line: &DiffLine| matches!(line, DiffLine::Removed(_) | DiffLine::Added(_));
    let near = |place: usize| {
        let around = place.saturating_sub(CONTEXT)..(place + CONTEXT + 1).min(lines.len());
        lines[around].iter().any(is_change)
    };
    let shown: Vec<bool> = (0..lines.len()).map(near).collect();
    let mut short = Vec::new();
    for (line, shown) in lines.into_iter().zip(shown) {
        if shown {
            short.push(line);
        } else if short.last().is_some_and(|last| *last != DiffLine::Skipped) {
            short.push(DiffLine::Skipped);
        }
    }
    if short.last() == Some(&DiffLine::Skipped) {
        short.pop();
    }
    short
}

#[cfg(test)]
mod tests {
    use super::DiffLine::*;
    use super::*;

    #[test]
    fn a_changed_line_is_shown_with_its_neighbors() {
        let lines = diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nx\ne\nf\n");
        let expected = [Same("c".into()), Removed("d".into()), Added("x".into()), Same("e".into())];
        assert_eq!(lines, expected);
        assert_eq!(diff("a\n", "a\n"), []);
        assert_eq!(diff("", "a\n"), [Added("a".into())]);
    }

    #[test]
    fn a_difference_leads_from_one_text_to_the_other() {
        let texts = ["", "a\nb\nc", "b\nc\nd", "c\nb\na", "a\na\na", "d\na\nb\nc\nd"];
        for before in texts {
            for after in texts {
                let old: Vec<&str> = before.lines().collect();
                let new: Vec<&str> = after.lines().collect();
                let lines = middle(&old, &new);
                let kept = |skip: fn(&DiffLine) -> bool| -> Vec<String> {
                    let text = |line: &DiffLine| match line {
                        Same(text) | Removed(text) | Added(text) => text.clone(),
                        Skipped => String::new(),
                    };
                    lines.iter().filter(|line| !skip(line)).map(text).collect()
                };
                assert_eq!(kept(|line| matches!(line, Added(_))), old);
                assert_eq!(kept(|line| matches!(line, Removed(_))), new);
            }
        }
    }
}
