//! Bytes that a release can hide where no reader of its tables looks, and guarantees whose own
//! numbers contradict each other: `check` refuses both. And releases that look odd and are honest:
//! `check` accepts them.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::false_claims::put;
use crate::running::{Folder, Ran};

const SECRET: &[u8] = b"Ann has the flu, Bob has a cough";

#[track_caller]
fn accepted(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[track_caller]
fn refused(folder: &Folder, target: &str, words: &str) {
    let ran = folder.run(&["check", target]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains(words) || ran.stderr.contains(words), "{words}: {ran:?}");
}

#[test]
fn bytes_between_the_columns_of_parquet_and_its_footer() {
    let folder = Folder::with_people();
    accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "--format", "parquet", "-q"]));
    accepted(&folder.run(&["check", "release"]));
    let honest = std::fs::read(folder.path("release/data.parquet")).unwrap();
    let tail = honest.len() - 8;
    let footer = u32::from_le_bytes(honest[tail..tail + 4].try_into().unwrap()) as usize;
    let (columns, rest) = honest.split_at(tail - footer);
    folder.write("release/data.parquet", [columns, SECRET, rest].concat());
    refused(&folder, "release", "32 bytes that belong to no column");
    // Behind the fields of the footer, where its length counts them.
    let (fields, _) = rest.split_at(footer);
    let length = ((footer + SECRET.len()) as u32).to_le_bytes();
    folder.write("release/data.parquet", [columns, fields, SECRET, &length, b"PAR1"].concat());
    refused(&folder, "release", "footer that describes more than its columns");
    folder.write("release/data.parquet", &honest);
    accepted(&folder.run(&["check", "release"]));
}

/// All bits are tried where files are read; here by the command, from the first field to the last
/// byte.
#[test]
fn a_footer_with_another_bit_is_refused() {
    let folder = Folder::with_people();
    accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "--format", "parquet", "-q"]));
    let honest = std::fs::read(folder.path("release/data.parquet")).unwrap();
    let tail = honest.len() - 8;
    let footer = u32::from_le_bytes(honest[tail..tail + 4].try_into().unwrap()) as usize;
    for bit in (8 * (tail - footer)..8 * honest.len()).step_by(41) {
        let mut changed = honest.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        folder.write("release/data.parquet", changed);
        refused(&folder, "release", "CONTRADICTION");
    }
}

/// Numbers, dates and texts, some missing, in one group of rows and in several, by three methods.
#[test]
fn honest_tables_of_every_type_are_accepted_as_parquet() {
    let folder = Folder::new();
    for (seed, rows) in [1, 7, 300, 9_000, 70_000, 300_000].into_iter().enumerate() {
        let row = |row: usize| {
            let mixed = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
            let age = if mixed.is_multiple_of(11) { String::new() } else { (mixed % 80).to_string() };
            let pay = if seed % 2 == 0 { mixed as f64 / 64.0 } else { (mixed % 5) as f64 / 2.0 };
            let day = format!("20{:02}-{:02}-{:02}", 10 + mixed % 12, 1 + mixed % 12, 1 + mixed % 28);
            let illness = ["Flu", "Ache", "", "Cough"][(mixed >> 9) as usize % 4];
            format!("{age},{pay},{day},{},{illness}\n", mixed % 100_000)
        };
        folder.write("people.csv", format!("age,pay,day,number,illness\n{}", (0..rows).map(row).collect::<String>()));
        for method in ["full-domain", "mondrian", "anatomy"] {
            let require = match (method, rows) {
                ("anatomy", 1 | 7) | ("mondrian" | "anatomy", 300_000) => continue,
                ("anatomy", _) => "protect = \"illness\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }",
                _ => "require = { model = \"k-anonymity\", k = 1 }",
            };
            let others = "pay = { role = \"plain\", allow-unique = true }\nday = { role = \"plain\", allow-unique = true }\n\
                          number = { role = \"plain\", allow-unique = true }";
            folder.write(
                "policy.toml",
                format!(
                    "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\n{others}\n\
                     illness = {{ role = \"sensitive\" }}\n[[rule]]\n{require}\n[publish]\nmethod = \"{method}\"\n"
                ),
            );
            accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "--format", "parquet", "-q", "--force"]));
            accepted(&folder.run(&["check", "release"]));
        }
    }
}

#[test]
fn bytes_in_the_free_room_of_a_database() {
    let folder = Folder::with_people();
    accepted(&folder.run(&["publish", "policy.toml", "-o", "sqlite:honest.db", "-q"]));
    accepted(&folder.run(&["check", "sqlite:honest.db"]));
    let honest = std::fs::read(folder.path("honest.db")).unwrap();
    let page = 4096;
    let mut hidden = 0;
    for start in (0..honest.len()).step_by(page) {
        let zeros = honest[start..start + page].windows(64).position(|room| room.iter().all(|byte| *byte == 0));
        let Some(place) = zeros.map(|place| start + place + 16) else { continue };
        let mut changed = honest.clone();
        changed[place..place + SECRET.len()].copy_from_slice(SECRET);
        folder.write("changed.db", changed);
        refused(&folder, "sqlite:changed.db", "");
        hidden += 1;
    }
    assert!(hidden >= 3, "{hidden} pages with room");
    // The change counter, and the number that a program may compare schemas by.
    for place in [24, 40] {
        let mut changed = honest.clone();
        changed[place] = 21;
        folder.write("changed.db", changed);
        refused(&folder, "sqlite:changed.db", "other bytes");
    }
    // Deleted rows stay on their page, and a page that is empty joins the free ones.
    for change in ["DELETE FROM data WHERE rowid = 12", "PRAGMA page_size = 8192; VACUUM"] {
        folder.write("changed.db", &honest);
        Connection::open(folder.path("changed.db")).unwrap().execute_batch(change).unwrap();
        refused(&folder, "sqlite:changed.db", "");
    }
}

/// Large enough for several levels of pages.
#[test]
fn a_large_database_is_written_again_as_it_is() {
    let folder = Folder::new();
    accepted(&folder.run(&["synth", "census", "--rows", "20000", "--seed", "1", "-o", "census"]));
    let policy = folder.read("census/policy.toml");
    folder.write("census/policy.toml", policy.replace("[publish]", "[publish]\nmax-nodes = 5"));
    accepted(&folder.run(&["publish", "census/policy.toml", "-o", "sqlite:census.db", "-q"]));
    accepted(&folder.run(&["check", "sqlite:census.db"]));
}

#[test]
fn columns_that_hide_the_numbers_of_rows() {
    let folder = Folder::new();
    folder.write("people.csv", "rowid,oid,_rowid_\n1,a,x\n1,a,y\n1,b,x\n2,b,y\n2,a,x\n2,b,y\n");
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nrowid = { role = \"quasi\" }\noid = { role = \"quasi\" }\n\
         _rowid_ = { role = \"sensitive\" }\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n",
    );
    accepted(&folder.run(&["publish", "policy.toml", "-o", "sqlite:release.db", "-q"]));
    accepted(&folder.run(&["check", "sqlite:release.db"]));
}

#[test]
fn a_time_of_day_and_other_texts_of_one_value() {
    let folder = Folder::new();
    let rows = ["2024-01-31,1.5", "2024-02-29,2.5"].map(|row| format!("30,{row},Flu\n30,{row},Ache\n").repeat(3));
    folder.write("people.csv", format!("age,day,cost,illness\n{}", rows.concat()));
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\nday = { role = \"plain\" }\n\
         cost = { role = \"plain\" }\nillness = { role = \"sensitive\" }\n\
         [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n",
    );
    accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "-q"]));
    accepted(&folder.run(&["check", "release"]));
    let honest = folder.read("release/data.csv");
    for (from, to) in [
        ("2024-01-31", "2024-01-31T09:30:00"),
        ("2024-01-31", "2024-01-31 23:59"),
        (",1.5,", ",1.50,"),
        (",1.5,", ",1.5e0,"),
    ] {
        folder.write("release/data.csv", honest.replacen(from, to, 1));
        refused(&folder, "release", "is not how a release writes");
    }
}

fn changed(folder: &Folder, release: &str, pointer: &str, value: Value) {
    let file = format!("{release}/datapackage.json");
    let mut manifest: Value = serde_json::from_str(&folder.read(&file)).unwrap();
    put(&mut manifest, pointer, value);
    folder.write(&file, manifest.to_string());
}

#[test]
fn a_guarantee_across_releases_that_contradicts_itself() {
    let folder = crate::community::departments();
    accepted(&folder.run(&["publish", "census-beside.toml", "-o", "safe", "-q"]));
    let honest = folder.read("safe/datapackage.json");
    let ran = folder.run(&["check", "safe"]);
    accepted(&ran);
    assert!(ran.stdout.contains("cross-release-l-diversity: was not recomputed"), "{ran:?}");
    let claim = "/hedgerow/guarantees/0";
    for (key, value) in [
        ("holds", json!(false)),
        ("achieved", json!({"l": 1})),
        ("achieved", json!({"l": 99})),
        ("achieved", json!({"l": -7})),
        ("achieved", json!({"l": "2"})),
        ("achieved", json!({})),
        ("achieved", json!({"l": 2, "m": 3})),
        ("required/l", json!(3)),
        ("required/l", json!(0)),
        ("required/releases", json!([])),
        ("required/releases", json!(["Ann has the flu"])),
        ("know", json!([])),
        ("protect", json!(null)),
        ("protect", json!("name")),
    ] {
        changed(&folder, "safe", &format!("{claim}/{key}"), value.clone());
        refused(&folder, "safe", "cross-release-l-diversity: ");
        folder.write("safe/datapackage.json", &honest);
    }
}

#[test]
fn numbers_of_units_that_contradict_what_is_required() {
    let folder = crate::units::stays();
    crate::units::policy(&folder, "policy.toml", "method = \"full-domain\"");
    accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "-q"]));
    let honest = folder.read("release/datapackage.json");
    accepted(&folder.run(&["check", "release"]));
    for (pointer, value) in [
        ("/hedgerow/guarantees/0/achieved/k", json!(0)),
        ("/hedgerow/guarantees/0/achieved/k", json!(-7)),
        ("/hedgerow/guarantees/0/achieved/k", json!(3)),
        ("/hedgerow/guarantees/0/achieved/k", json!(4.5)),
        ("/hedgerow/guarantees/0/required/k", json!(1000)),
        ("/hedgerow/guarantees/1/achieved/l", json!(0)),
        ("/hedgerow/guarantees/1/required/l", json!(5)),
    ] {
        changed(&folder, "release", pointer, value);
        refused(&folder, "release", "CONTRADICTION");
        folder.write("release/datapackage.json", &honest);
    }
}

#[test]
fn coarser_values_that_no_row_has_or_that_are_not_coarser() {
    let folder = Folder::with_people();
    let policy = crate::running::POLICY.replace(
        "illness = { role = \"sensitive\" }",
        "illness = { role = \"sensitive\", hierarchy = \"illness.csv\", coarsen = { level = 1 } }",
    );
    folder.write("illness.csv", "Flu;Virus;*\nCough;Virus;*\nAche;Pain;*\n");
    folder.write("policy.toml", policy);
    accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "-q"]));
    let honest = folder.read("release/datapackage.json");
    accepted(&folder.run(&["check", "release"]));
    let coarse = "/hedgerow/coarsened/illness";
    changed(&folder, "release", &format!("{coarse}/labels/Ann has the flu"), json!({"leaves": ["Flu"]}));
    refused(&folder, "release", "explains 1 values of `illness` that no row has");
    folder.write("release/datapackage.json", &honest);
    changed(&folder, "release", &format!("{coarse}/level"), json!(0));
    refused(&folder, "release", "cannot be read");
}

/// A quasi-identifier may be called as a column that counts or joins rows.
#[test]
fn a_quasi_identifier_that_is_called_count() {
    let folder = Folder::with_people();
    let people = crate::running::PEOPLE.replace("name,age,city,", "name,age,count,");
    folder.write("people.csv", people);
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\ncount = { role = \"quasi\" }\n\
         illness = { role = \"sensitive\" }\n[[rule]]\nprotect = \"illness\"\n\
         require = { model = \"frequency-l-diversity\", l = 2 }\n[publish]\nmethod = \"anatomy\"\n",
    );
    accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "-q"]));
    accepted(&folder.run(&["check", "release"]));
}

#[test]
fn floats_that_take_more_digits_than_they_have_are_cloned() {
    let folder = Folder::new();
    let row = |number: usize| {
        let illness = ["Flu", "Ache", "Cough"][number * number / 7 % 3];
        format!("{}.5e{},{illness}\n", 1 + number % 9, 17 + number % 2)
    };
    let rows: Vec<String> = (0..60).map(row).collect();
    folder.write("people.csv", format!("income,illness\n{}", rows.concat()));
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nincome = { role = \"quasi\", type = \"float\" }\n\
         illness = { role = \"sensitive\" }\n[[rule]]\nprotect = \"illness\"\n\
         require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"clone\"\nk = 2\nmax-epsilon = 1.0\n",
    );
    accepted(&folder.run(&["publish", "policy.toml", "-o", "release", "-q"]));
    accepted(&folder.run(&["check", "release"]));
    // Every sub-class of numbers states its mean and a range around it.
    let statistics = folder.read("release/statistics.csv");
    let count = |words: &str| statistics.lines().filter(|line| line.contains(words)).count();
    assert!(count(",,tuples,") > 0, "{statistics}");
    for statistic in [",income,mean,", ",income,low,", ",income,high,"] {
        assert_eq!(count(statistic), count(",,tuples,"), "{statistics}");
    }
}

/// Labels over coarser values cover the source values that these stand for, by every algorithm;
/// cells that are not generalized have the coarser values.
#[test]
fn coarser_values_are_generalized_by_what_they_stand_for() {
    let folder = Folder::new();
    let row = |number: usize| {
        let illness = ["Flu", "Ache", "Cough"][number * 7 / 3 % 3];
        format!("{},{},{illness},{}\n", 20 + number % 50, number % 3, 1000 + number * 37 % 8000)
    };
    let rows: Vec<String> = (0..300).map(row).collect();
    folder.write("people.csv", format!("age,job,illness,income\n{}", rows.concat()));
    let policy = "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\njob = { role = \"quasi\" }\n\
                  illness = { role = \"sensitive\" }\nincome = { role = \"sensitive\", coarsen = { round = 1000 } }\n\
                  [[rule]]\nknow = [\"age\", \"income\"]\nprotect = \"illness\"\n\
                  require = { model = \"distinct-l-diversity\", l = 2 }\n\
                  [publish]\nmethod = \"decompose\"\nanonymizer = \"mondrian\"\n";
    for algorithm in ["", "algorithm = \"uad\"\n", "algorithm = \"gd\"\n", "algorithm = \"best\"\n"] {
        for anonymizer in ["mondrian", "anatomy"] {
            folder.write("policy.toml", format!("{}{algorithm}", policy.replace("mondrian", anonymizer)));
            let ran = folder.run(&["publish", "policy.toml", "-o", anonymizer, "--force"]);
            accepted(&ran);
            assert!(!ran.stderr.contains("in buckets"), "{ran:?}");
            accepted(&folder.run(&["check", anonymizer]));
            // Tables with labels are not measured together: the manifest states their loss.
            let measured = folder.run(&["measure", anonymizer, "--policy", "policy.toml"]);
            assert_eq!(measured.code, Some(if anonymizer == "mondrian" { 2 } else { 0 }), "{measured:?}");
            for command in [&["audit", anonymizer][..], &["report", anonymizer, "-o", "r.html", "--force"]] {
                accepted(&folder.run(command));
            }
            let codebook = folder.read(&format!("{anonymizer}/codebook.csv"));
            let labels: Vec<Vec<&str>> = codebook
                .lines()
                .filter(|line| line.starts_with("income,"))
                .map(|line| line.split(',').collect())
                .collect();
            // Under `uad` the income is in the guardian.
            assert!(!labels.is_empty() || anonymizer == "anatomy" || !algorithm.contains("uad"), "{ran:?}");
            for ends in labels.iter().flat_map(|label| &label[2..4]).filter(|end| !end.is_empty()) {
                assert_eq!(ends.parse::<i64>().unwrap() % 1000, 500, "a cut through a rounded income: {labels:?}");
            }
        }
    }
}
