//! The memory of the studio beside that of the command, on the same data and policy.

use std::path::Path;

use crate::client::{Studio, program};
use crate::speed::{peak_kib, run};

const ROWS: usize = 200_000;

/// People with a name and a note of their own, which a release does not have.
fn people(folder: &Path) {
    let mut text = "person,age,zip,sex,education,income,note\n".to_owned();
    for row in 0..ROWS {
        // A walk over all numbers below 2²⁰, so that columns do not follow from each other.
        let drawn = (row * 406_889 + 12_345) % (1 << 20);
        let (age, zip, sex) = (18 + drawn % 70, 10_000 + drawn / 70 % 300, ["f", "m"][drawn / 21_000 % 2]);
        let (education, income) = (drawn / 13 % 16, 1000 + drawn % 997 * 10);
        text.push_str(&format!("P-{row:09},{age},{zip},{sex},level {education},{income},came on day {row} at noon\n"));
    }
    std::fs::write(folder.join("people.csv"), text).unwrap();
    let policy = "[source]\npath = \"people.csv\"\n\n[attributes]\nperson = { role = \"identifier\" }\n\
                  age = { role = \"quasi\", hierarchy = { widths = [5, 10, 20, 40] } }\n\
                  zip = { role = \"quasi\", hierarchy = { mask = 5 } }\nsex = { role = \"quasi\" }\n\
                  education = { role = \"quasi\" }\nincome = { role = \"sensitive\" }\n\n\
                  [[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n\n[publish]\nmethod = \"full-domain\"\n";
    std::fs::write(folder.join("policy.toml"), policy).unwrap();
}

/// At most half more: what is read, every page, and publishing.
#[test]
#[cfg(target_os = "linux")]
fn the_studio_takes_hardly_more_memory_than_the_command() {
    let command = program().with_file_name("hedgerow");
    if !command.is_file() {
        let how = "the command is not built beside the studio: cargo build -p hedgerow-cli";
        assert!(std::env::var_os("HEDGEROW_CI").is_none(), "{how}");
        return eprintln!("skipped: {how}");
    }
    let folder = tempfile::tempdir().unwrap();
    people(folder.path());
    let of_command = run(&command, folder.path(), &["publish", "policy.toml", "-o", "by-command", "--quiet"]);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let peak = |what: &str| {
        let peak = peak_kib(studio.process());
        println!("{what:<12} {:>5} MiB, the command {:>5} MiB", peak >> 10, of_command >> 10);
        peak
    };
    peak("started");
    let data = studio.settled(&session, "/data");
    peak("read");
    assert!(data.contains("Histogram of income") && data.contains("&gt; 65,536"), "{data}");
    for page in ["data", "hierarchies", "hierarchies/levels", "rules", "publish", "explore", "utility", "community"] {
        studio.settled(&session, &format!("/{page}"));
    }
    peak("seen");
    studio.post(&session, "/publish/run", "destination=by-studio");
    let published = studio.settled(&session, "/publish");
    assert!(published.contains("class=\"verified\""), "{published}");
    let of_studio = peak("published");
    assert!(2 * of_studio <= 3 * of_command, "{of_studio} KiB, more than 1.5 times {of_command} KiB");
}
