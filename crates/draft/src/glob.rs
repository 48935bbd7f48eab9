//! Paths with `*` and `?` in their parts, expanded against the disk.

use std::path::{Component, Path, PathBuf};

/// The paths that exist, sorted. Without `*` or `?` that is the path itself, when it exists.
pub fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy();
        let wild = matches!(part, Component::Normal(_)) && text.contains(['*', '?']);
        found = if wild {
            found.iter().flat_map(|folder| matching(folder, &text)).collect()
        } else {
            found.into_iter().map(|path| path.join(part)).collect()
        };
    }
    found.retain(|path| path.exists());
    found.sort_unstable();
    found
}

fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = std::fs::read_dir(listed) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    // A hidden folder is meant only when its dot is written: killed runs leave hidden ones behind.
    let fits = |name: &str| fits(pattern, name) && (pattern.starts_with('.') || !name.starts_with('.'));
    names.filter(|name| fits(&name.to_string_lossy())).map(|name| folder.join(name)).collect()
}

/// Time proportional to the product of both lengths.
fn fits(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // Whether the pattern so far fits each prefix of the name.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for wanted in pattern.chars() {
        if wanted == '*' {
            let mut before = false;
            reached.iter_mut().for_each(|fits| {
                before |= *fits;
                *fits = before;
            });
        } else {
            for place in (0..name.len()).rev() {
                reached[place + 1] = reached[place] && (wanted == '?' || wanted == name[place]);
            }
            reached[0] = false;
        }
    }
    reached[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_letters() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "abc", true),
            ("a*c", "abbbc", true),
            ("a*c", "abbb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("**b*", "aab", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn only_what_exists_is_found_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/release", "a/release", ".c/release", "d/other"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let found = expand(&folder.path().join("*/release"));
        assert_eq!(found, ["a/release", "b/release"].map(|name| folder.path().join(name)));
        assert_eq!(expand(&folder.path().join("d/other")).len(), 1);
        assert!(expand(&folder.path().join("e")).is_empty());
    }
}
