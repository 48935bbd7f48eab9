//! Progress, cancellation and rows in memory: what a program sees that publishes.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hedgerow_policy::Policy;
use hedgerow_publish::{PHASES, PublishError, PublishOptions, Published, RowSource, TableFormat, publish};
use hedgerow_table::{NoProgress, Progress, Table};

use crate::cloning::scratch;

/// The settings of every method that the tests run through.
const METHODS: [&str; 6] = [
    "method = \"full-domain\"\nsuppression = 0.1\n",
    "method = \"mondrian\"\n",
    "method = \"best-cut\"\n",
    "method = \"anatomy\"\n",
    "method = \"clone\"\nk = 5\n",
    "method = \"decompose\"\n",
];

struct Case {
    folder: tempfile::TempDir,
    policy: Policy,
}

fn rows() -> Vec<Vec<String>> {
    let row = |number: u32| {
        let (age, place, disease) = (20 + number * number % 61, number * 5 % 9, number * 11 % 7);
        vec![age.to_string(), format!("p{place}"), format!("d{disease}")]
    };
    (0..400).map(row).collect()
}

fn case(settings: &str) -> Case {
    let folder = scratch();
    let lines: Vec<String> = rows().iter().map(|row| row.join(",")).collect();
    std::fs::write(folder.path().join("people.csv"), format!("age,place,disease\n{}\n", lines.join("\n"))).unwrap();
    // Clones have rules of their own.
    let rule = "[[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 5 }\n";
    let rule = if settings.contains("clone") { "" } else { rule };
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
         place = {{ role = \"quasi\" }}\ndisease = {{ role = \"sensitive\" }}\n{rule}[publish]\n{settings}"
    );
    let policy = Policy::parse(&text, &folder.path().join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    Case { folder, policy }
}

impl Case {
    fn publish(
        &self,
        source: RowSource<'_>,
        format: TableFormat,
        candidates: bool,
        progress: &dyn Progress,
    ) -> Result<Published, PublishError> {
        let options = PublishOptions {
            format,
            seed: Some(1),
            candidates,
            progress,
            ..PublishOptions::to(self.folder.path().join("release"))
        };
        publish(&self.policy, source, &options)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries.map(|entry| PathBuf::from(entry.unwrap().file_name())).collect()
    }
}

/// The phases that were begun, each with its total and what is done; cancels on reaching some
/// amount in one of them.
#[derive(Default)]
struct Listener {
    phases: Mutex<Vec<(String, Option<u64>, u64)>>,
    cancels_at: Option<(String, u64)>,
}

impl Progress for Listener {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.phases.lock().unwrap().push((name.to_owned(), total, 0));
    }

    fn advance(&self, amount: u64) {
        let mut phases = self.phases.lock().unwrap();
        let (name, total, done) = phases.last_mut().expect("a phase has begun");
        *done += amount;
        assert!(total.is_none_or(|total| *done <= total), "{name}: {done} of {total:?}");
    }

    fn is_canceled(&self) -> bool {
        let phases = self.phases.lock().unwrap();
        let reached =
            |(phase, from): &(String, u64)| phases.last().is_some_and(|last| last.0 == *phase && last.2 >= *from);
        self.cancels_at.as_ref().is_some_and(reached)
    }
}

#[test]
fn every_phase_ends_at_its_total_and_phases_come_in_order() {
    for settings in METHODS {
        for (format, candidates) in [(TableFormat::Csv, false), (TableFormat::Parquet, true)] {
            if settings.contains("clone") && format == TableFormat::Parquet {
                continue;
            }
            let listener = Listener::default();
            case(settings).publish(RowSource::Policy, format, candidates, &listener).unwrap();
            let phases = listener.phases.into_inner().unwrap();
            let names: Vec<&str> = phases.iter().map(|(name, ..)| name.as_str()).collect();
            let mut begun = names.clone();
            begun.dedup();
            assert_eq!(begun, PHASES[..4], "{settings}");
            for phase in &PHASES[..4] {
                let last = phases.iter().rfind(|(name, ..)| name == phase);
                assert!(last.is_some_and(|(_, total, done)| *total == Some(*done)), "{phase}: {phases:?}, {settings}");
            }
        }
    }
}

#[test]
fn canceling_in_any_phase_leaves_nothing() {
    for settings in METHODS {
        for phase in &PHASES[..4] {
            for from in [0, 1] {
                let case = case(settings);
                let cancels_at = Some(((*phase).to_owned(), from));
                let listener = Listener { cancels_at, ..Listener::default() };
                let found = case.publish(RowSource::Policy, TableFormat::Csv, false, &listener);
                let context = || format!("canceled while {phase} from {from} on, {settings}");
                assert!(matches!(found, Err(PublishError::Canceled)), "{}: {found:?}", context());
                assert_eq!(case.files(), [PathBuf::from("people.csv")], "{}", context());
            }
        }
    }
}

/// Ends the search with the best found so far.
struct Early;

impl Progress for Early {
    fn finishes_early(&self) -> bool {
        true
    }
}

#[test]
fn a_search_that_ends_early_publishes_the_best_found_so_far() {
    let case = case(METHODS[0]);
    let published = case.publish(RowSource::Policy, TableFormat::Csv, false, &Early).unwrap();
    let searched = published.searched.unwrap();
    assert!(!searched.proven);
    assert!(published.checked.claims.iter().all(|claim| claim.holds));
}

#[test]
fn rows_in_memory_are_published_as_those_of_a_file() {
    let rows = rows();
    let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let table = Table::from_texts(&["age", "place", "disease"], &cells);
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    for settings in METHODS {
        let (from_file, from_memory) = (case(settings), case(settings));
        std::fs::remove_file(from_memory.folder.path().join("people.csv")).unwrap();
        from_file.publish(RowSource::Policy, TableFormat::Csv, false, &NoProgress).unwrap();
        from_memory.publish((&table).into(), TableFormat::Csv, false, &NoProgress).unwrap();
        let release = |case: &Case| case.folder.path().join("release");
        let files = files_below(&release(&from_file));
        assert_eq!(files, files_below(&release(&from_memory)), "{settings}");
        for name in &files {
            assert_eq!(read(&release(&from_file).join(name)), read(&release(&from_memory).join(name)), "{name:?}");
        }
        assert!(files.len() >= 3, "a manifest, a codebook and a table");
    }
}

/// By their paths below a folder, sorted.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        match path.is_dir() {
            true => files.extend(files_below(&path).into_iter().map(|below| name.join(below))),
            false => files.push(name),
        }
    }
    files.sort();
    files
}
