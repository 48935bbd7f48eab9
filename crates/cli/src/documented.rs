//! The command lines that the documents print, for tests that parse each of them: a reader types
//! them as they are. The test of `hedgerow-node` reads them by this file too.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;

/// A command line in a document.
#[derive(Debug)]
struct Documented {
    /// The document and the line.
    place: String,
    /// The program and its arguments.
    words: Vec<String>,
    /// Whether it stands in a sentence, where arguments may be absent: `hedgerow publish -o DIR`.
    in_sentence: bool,
}

/// Parses every command line of `program` that the documents have. Returns how many there are;
/// panics with those that the parser refuses.
pub(crate) fn parse_all<P: Parser>(program: &str) -> usize {
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for path in documents(&root) {
        let text = fs::read_to_string(&path).unwrap();
        commands_of(program, &path.strip_prefix(&root).unwrap().display().to_string(), &text, &mut found);
    }
    let refused: Vec<String> = found.iter().filter_map(|command| refusal::<P>(command)).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    found.len()
}

fn refusal<P: Parser>(command: &Documented) -> Option<String> {
    let kind = P::try_parse_from(&command.words).err()?.kind();
    let shortened =
        matches!(kind, ErrorKind::MissingRequiredArgument | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    match kind {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => None,
        _ if shortened && command.in_sentence => None,
        _ => Some(format!("{}: {}: {kind:?}", command.place, command.words.join(" "))),
    }
}

/// The documents at the top, those under `docs`, and what lies beside the examples.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf(), root.join("docs"), root.join("docs/guide"), root.join("examples")];
    folders.extend(entries(&root.join("examples")).into_iter().filter(|path| path.is_dir()));
    for folder in folders {
        let is_text = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.ends_with(".md") || name.ends_with(".service") || name == "Containerfile"
        };
        found.extend(entries(&folder).into_iter().filter(is_text));
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn commands_of(program: &str, document: &str, text: &str, found: &mut Vec<Documented>) {
    let mut in_block = !document.ends_with(".md");
    let mut started: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let mut put = |line: usize, command: &str, in_sentence| {
            if let Some(words) = arguments(program, command) {
                found.push(Documented { place: format!("{document}:{line}"), words, in_sentence });
            }
        };
        if !in_block {
            // Between single backticks: every second part.
            line.split('`').skip(1).step_by(2).for_each(|code| put(number, code, true));
            continue;
        }
        let (first, before) = started.take().unwrap_or((number, String::new()));
        match line.strip_suffix('\\') {
            Some(part) => started = Some((first, before + part + " ")),
            None => put(first, &(before + line), false),
        }
    }
}

/// The program's name and its arguments, if the line starts it.
fn arguments(program: &str, line: &str) -> Option<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ");
    let line = line.strip_prefix("ExecStart=").or_else(|| line.strip_prefix("ExecReload=")).unwrap_or(line);
    let words = words(line);
    let words = match words.as_slice() {
        [sudo, user, _, rest @ ..] if sudo == "sudo" && user == "-u" => rest,
        [cargo, run, rest @ ..] if cargo == "cargo" && run == "run" => {
            let package = rest.windows(2).find(|pair| pair[0] == "-p").map_or("hedgerow", |pair| &pair[1]);
            let arguments = rest.iter().position(|word| word == "--").map_or(&[][..], |place| &rest[place + 1..]);
            return (package == program).then(|| [&[program.to_owned()], arguments].concat());
        }
        words => words,
    };
    let name = Path::new(words.first()?).file_name()?.to_str()?;
    (name == program).then(|| words.to_vec())
}

/// The words of a line up to a redirection, a pipe or a comment, as a shell divides them. A
/// placeholder becomes a value of its kind.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars().chain([' ']) {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '>' | '|' | '#' | ';') if word.is_none() => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    for word in &mut words {
        match word.as_str() {
            "N" => *word = "1".to_owned(),
            "LEVELS" => *word = "age=1".to_owned(),
            // One of several subcommands.
            either if either.chars().all(|letter| letter.is_ascii_lowercase() || letter == '|') => {
                *word = either.split('|').next().unwrap_or_default().to_owned();
            }
            _ => {}
        }
    }
    words
}

#[test]
fn the_line_is_divided_as_a_shell_divides_it() {
    let line = "$ sudo -u me /usr/bin/hedgerow query DIR \"SELECT 'a b' > 1\" --threads N > out # comment";
    let expected = ["/usr/bin/hedgerow", "query", "DIR", "SELECT 'a b' > 1", "--threads", "1"];
    assert_eq!(arguments("hedgerow", line).unwrap(), expected);
    assert_eq!(arguments("hedgerow-node", line), None);
    let run = "cargo run --release -p hedgerow-node -- demo --apart";
    assert_eq!(arguments("hedgerow-node", run).unwrap(), ["hedgerow-node", "demo", "--apart"]);
}
