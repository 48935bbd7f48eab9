//! The time of the tests: the slowest by name, and the processor time of each program beside the
//! time that passed, so that what has become slow is seen while it is still one test.

use std::ffi::OsString;
use std::path::Path;

/// More are not worth a look.
const SHOWN: usize = 20;

/// A test that has ended, and how many seconds it took beside the others.
#[derive(Debug, PartialEq)]
pub(crate) struct TestTime {
    pub(crate) seconds: f64,
    pub(crate) name: String,
}

/// The options with which a test program prints the time of each test, and the variable without
/// which one of a stable compiler refuses them.
pub(crate) const TIMED: [&str; 3] = ["-Z", "unstable-options", "--report-time"];
pub(crate) const TIMED_VARIABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// The tests in the output of a program: `test name ... ok <1.234s>`.
pub(crate) fn read(program: &str, output: &[u8]) -> Vec<TestTime> {
    let text = String::from_utf8_lossy(output);
    let test = |line: &str| {
        let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let seconds = outcome.rsplit_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
        Some(TestTime { seconds, name: format!("{program}: {}", name.trim_end_matches(" - should panic")) })
    };
    text.lines().filter_map(test).collect()
}

/// The slowest tests, a line each.
pub(crate) fn listed(mut tests: Vec<TestTime>) -> String {
    tests.sort_by(|one, other| other.seconds.total_cmp(&one.seconds).then_with(|| one.name.cmp(&other.name)));
    let shown = tests.len().min(SHOWN);
    let taken: f64 = tests.iter().map(|test| test.seconds).sum();
    let of_shown: f64 = tests[..shown].iter().map(|test| test.seconds).sum();
    let mut text =
        format!("== the {shown} slowest of {} tests: {of_shown:.0} of {taken:.0} s, each beside others\n", tests.len());
    for test in &tests[..shown] {
        text.push_str(&format!("{:>8.1} s  {}\n", test.seconds, test.name));
    }
    text
}

/// A command line that runs another and leaves its processor time in the file. Without such a shell
/// it is the other one itself.
pub(crate) fn with_processor_time(words: &[OsString], file: &Path) -> Vec<OsString> {
    if !cfg!(unix) {
        return words.to_vec();
    }
    let script = r#""$@"; ended=$?; times > "$0"; exit $ended"#;
    let shell = ["sh".into(), "-c".into(), script.into(), file.as_os_str().to_owned()];
    shell.into_iter().chain(words.iter().cloned()).collect()
}

/// The seconds in the second line that `times` prints, which is about the programs that the shell
/// ran: user and system, each as `1m2.345s`.
pub(crate) fn processor_seconds(times: &str) -> Option<f64> {
    let seconds = |word: &str| {
        let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
        // Some languages write a comma.
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.replace(',', ".").parse::<f64>().ok()?)
    };
    times.lines().nth(1)?.split_whitespace().map(seconds).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_read_with_their_times_and_the_slowest_are_first() {
        let output = b"running 3 tests\ntest a::quick ... ok <0.003s>\ntest a::slow - should panic ... ok <12.500s>\n\
                       test b ... FAILED <1.000s>\ntest c ... ignored, minutes\ntest result: FAILED. 2 passed\n";
        let tests = read("crates/audit it", output);
        let time = |seconds, name: &str| TestTime { seconds, name: format!("crates/audit it: {name}") };
        assert_eq!(tests, [time(0.003, "a::quick"), time(12.5, "a::slow"), time(1.0, "b")]);
        let expected = "== the 3 slowest of 3 tests: 14 of 14 s, each beside others\n    12.5 s  crates/audit it: a::slow\n     \
                        1.0 s  crates/audit it: b\n     0.0 s  crates/audit it: a::quick\n";
        assert_eq!(listed(tests), expected);
        let many = listed((0..50).map(|n| time(f64::from(n), "one")).collect());
        assert_eq!(many.lines().count(), 1 + SHOWN);
        assert!(many.contains("the 20 slowest of 50 tests: 790 of 1225 s"), "{many}");
    }

    #[test]
    fn processor_time_is_that_of_what_ran() {
        assert_eq!(processor_seconds("0m0.010s 0m0.020s\n1m2.500s 0m1.250s\n"), Some(63.75));
        assert_eq!(processor_seconds("0m0,010s 0m0,020s\n0m2,500s 0m1,250s\n"), Some(3.75));
        assert_eq!(processor_seconds("killed"), None);
        if cfg!(unix) {
            let folder = std::env::temp_dir().join(format!("hedgerow-times-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let busy = ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3"].map(OsString::from);
            let words = with_processor_time(&busy, &folder.join("times"));
            let status = std::process::Command::new(&words[0]).args(&words[1..]).status().unwrap();
            let seconds = processor_seconds(&std::fs::read_to_string(folder.join("times")).unwrap());
            std::fs::remove_dir_all(&folder).unwrap();
            assert_eq!(status.code(), Some(3), "the outcome is that of the program");
            assert!(seconds.is_some_and(|seconds| seconds > 0.01), "{seconds:?}");
        }
    }
}
