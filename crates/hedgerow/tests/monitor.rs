//! Progress and cancellation, seen from outside.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use hedgerow::{Cancel, ErrorKind, Monitor, Policy, Publish};

fn census(folder: &Path) -> Policy {
    hedgerow::synthetic::write_example(folder.join("census"), 20_000, 1).unwrap();
    Policy::load(folder.join("census/policy.toml")).unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_fraction_never_falls_within_its_phase() {
    let folder = tempfile::tempdir().unwrap();
    let policy = census(folder.path());
    let seen: Mutex<Vec<(String, Option<f64>)>> = Mutex::new(Vec::new());
    let monitor = Monitor::default().on_progress(|progress| {
        seen.lock().unwrap().push((progress.phase.to_owned(), progress.fraction));
    });
    Publish::new(&policy, folder.path().join("release")).run_with(&monitor).unwrap();
    drop(monitor);
    let seen = seen.into_inner().unwrap();
    let phases: BTreeSet<&str> = seen.iter().map(|(phase, _)| phase.as_str()).collect();
    assert!(phases.len() >= 3, "{phases:?}");
    for pair in seen.windows(2) {
        let ((phase, before), (next, after)) = (&pair[0], &pair[1]);
        // A phase of the same name may begin again, at nothing.
        if phase == next && *after != Some(0.0) {
            assert!(before <= after, "{phase}: {before:?}, then {after:?}");
        }
    }
    let fractions = seen.iter().filter_map(|(_, fraction)| *fraction);
    assert!(fractions.clone().all(|fraction| (0.0..=1.0).contains(&fraction)));
    assert!(fractions.clone().any(|fraction| fraction > 0.9), "no phase came to its end");
}

/// Whatever phase is canceled, the call says so and leaves nothing behind.
#[test]
fn canceling_any_phase_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let policy = census(folder.path());
    let phases: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let listen = Monitor::default().on_progress(|progress| {
        let mut phases = phases.lock().unwrap();
        if !phases.iter().any(|known| known == progress.phase) {
            phases.push(progress.phase.to_owned());
        }
    });
    Publish::new(&policy, folder.path().join("complete")).run_with(&listen).unwrap();
    drop(listen);
    for phase in phases.into_inner().unwrap() {
        let cancel = Cancel::new();
        let monitor = Monitor::default()
            .on_progress(|progress| {
                if progress.phase == phase {
                    cancel.cancel();
                }
            })
            .cancel_by(&cancel);
        let outcome = Publish::new(&policy, folder.path().join("release")).run_with(&monitor);
        assert!(outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Canceled), "{phase}: {outcome:?}");
        assert_eq!(names(folder.path()), BTreeSet::from(["census", "complete"].map(str::to_owned)), "{phase}");
    }
}

/// Methods without a lattice: one protected attribute in buckets or clones, or several tables.
const SETTINGS: [(&str, &str); 4] = [
    (
        "anatomy",
        "[[rule]]\nprotect = \"occupation\"\nrequire = { model = \"frequency-l-diversity\", l = 3 }\n\
         [publish]\nmethod = \"anatomy\"\n",
    ),
    ("clone", "[publish]\nmethod = \"clone\"\nk = 4\n"),
    ("clone by scan", "[publish]\nmethod = \"clone\"\nk = 4\nassignment = \"scan\"\nrho = 0.01\n"),
    (
        "decompose",
        "[[rule]]\nknow = [\"age\", \"sex\"]\nprotect = \"occupation\"\n\
         require = { model = \"frequency-l-diversity\", l = 3 }\n[[rule]]\nknow = [\"occupation\"]\n\
         protect = \"education\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }\n\
         [publish]\nmethod = \"decompose\"\n",
    ),
];

/// The search tells how far it is while it is going on, and stops where it is canceled in the
/// middle.
#[test]
fn methods_without_a_lattice_report_and_stop_inside_their_loops() {
    let folder = tempfile::tempdir().unwrap();
    hedgerow::synthetic::write_example(folder.path().join("census"), 6_000, 1).unwrap();
    let (source, before) = (folder.path().join("census"), BTreeSet::from(["census".to_owned()]));
    for (name, settings) in SETTINGS {
        let text = format!(
            "[source]\npath = \"census.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [10] }} }}\n\
             sex = {{ role = \"quasi\" }}\neducation = {{ role = \"quasi\" }}\nworkclass = {{ role = \"quasi\" }}\n\
             occupation = {{ role = \"sensitive\" }}\n{settings}"
        );
        let policy =
            Policy::parse(&text, source.join("other.toml")).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        // Somewhere in the middle, and never.
        for limit in [0.3, 2.0] {
            let (cancel, seen) = (Cancel::new(), Mutex::new(Vec::new()));
            let monitor = Monitor::default()
                .on_progress(|progress| {
                    if let Some(fraction) = progress.fraction.filter(|_| progress.phase == "searching") {
                        seen.lock().unwrap().push(fraction);
                        if fraction >= limit {
                            cancel.cancel();
                        }
                    }
                })
                .cancel_by(&cancel);
            let outcome = Publish::new(&policy, folder.path().join("release")).run_with(&monitor);
            drop(monitor);
            let seen = seen.into_inner().unwrap();
            let inside = seen.iter().filter(|fraction| (0.001..0.999).contains(*fraction)).count();
            if limit > 1.0 {
                assert!(outcome.is_ok(), "{name}: {outcome:?}");
                assert!(inside >= 3, "{name} tells nothing between begin and end: {seen:?}");
                std::fs::remove_dir_all(folder.path().join("release")).unwrap();
            } else {
                assert!(
                    outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Canceled),
                    "{name}: {outcome:?}"
                );
                assert!(*seen.last().unwrap() < 0.9, "{name} went on: {seen:?}");
            }
            assert_eq!(names(folder.path()), before, "{name}");
        }
    }
}

#[test]
fn a_search_that_ends_early_keeps_the_best_found() {
    let folder = tempfile::tempdir().unwrap();
    let policy = census(folder.path());
    let cancel = Cancel::new();
    cancel.finish_early();
    let monitor = Monitor::default().cancel_by(&cancel);
    let published = Publish::new(&policy, folder.path().join("release")).run_with(&monitor).unwrap();
    assert!(published.guarantees.iter().all(|guarantee| guarantee.holds));
    assert!(!published.search.unwrap().proven, "the search was cut short, so nothing is proven");
}
