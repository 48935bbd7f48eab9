//! Everything that can be wrong with what a user supplies: exit code 2, where and what and what to
//! do, and nothing written. No message may show another person's row.

use crate::running::{Folder, PEOPLE, POLICY};

/// A person whom no message is about: none of this may be shown.
const BYSTANDER: &str = "Lou,38,Bb,Flu";

/// Runs `publish` over the good files with some replaced.
#[track_caller]
fn refused(case: &str, files: &[(&str, &[u8])], place: &str, words: &str) {
    let folder = Folder::with_people();
    for (name, bytes) in files {
        folder.write(name, bytes);
    }
    refused_in(&folder, case, &["publish", "policy.toml", "-o", "release"], place, words);
}

#[track_caller]
fn refused_in(folder: &Folder, case: &str, arguments: &[&str], place: &str, words: &str) {
    let before = folder.names();
    let ran = folder.run(arguments);
    assert_eq!(ran.code, Some(2), "{case}: {ran:?}");
    assert!(ran.stderr.starts_with(&format!("error: {place}")), "{case}: {}", ran.stderr);
    assert!(ran.stderr.contains(words), "{case}: {}", ran.stderr);
    let hint = ran.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_default();
    assert!(hint.len() > 10, "{case} has no hint: {}", ran.stderr);
    assert!(!ran.stderr.contains(BYSTANDER) && !ran.stderr.contains("Lou"), "{case}: {}", ran.stderr);
    assert!(ran.stderr.len() < 3000, "{case}: {} bytes", ran.stderr.len());
    assert_eq!(ran.stdout, "", "{case}");
    assert_eq!(folder.names(), before, "{case}");
}

fn data_refused(case: &str, data: impl AsRef<[u8]>, place: &str, words: &str) {
    refused(case, &[("people.csv", data.as_ref())], place, words);
}

fn hierarchy_refused(case: &str, hierarchy: impl AsRef<[u8]>, place: &str, words: &str) {
    refused(case, &[("city.csv", hierarchy.as_ref())], place, words);
}

fn policy_refused(case: &str, from: &str, to: &str, place: &str, words: &str) {
    assert!(POLICY.contains(from), "{from}");
    refused(case, &[("policy.toml", POLICY.replace(from, to).as_bytes())], place, words);
}

#[test]
fn the_good_files_are_good() {
    let folder = Folder::with_people();
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn tables() {
    let people = |from: &str, to: &str| PEOPLE.replace(from, to);
    data_refused("no bytes", "", "people.csv", "");
    data_refused("only blank lines", "\n\n\n", "people.csv", "");
    data_refused("only a header", "name,age,city,illness\n", "people.csv", "no rows");
    data_refused("a field too few", people("Dot,24,Bb,Ache", "Dot,24,Bb"), "people.csv:5", "found 3");
    data_refused("a field too many", people("Dot,24,Bb,Ache", "Dot,24,Bb,Ache,x"), "people.csv:5", "found 5");
    data_refused("a quote never closed", people("Dot,24,Bb,Ache", "Dot,24,\"Bb,Ache"), "people.csv:5", "quote");
    data_refused("text after a quote", people("Dot,24,Bb,Ache", "Dot,24,\"Bb\"x,Ache"), "people.csv:5", "quote");
    data_refused("a repeated header", people("name,age,city", "age,age,city"), "people.csv:1", "age");
    data_refused("an empty header", people("name,age,city", "name,,city"), "people.csv:1", "");
    data_refused("a lone carriage return", people("Ann,21,Aa,Flu\n", "Ann,21,Aa,Flu\r"), "people.csv:2", "carriage");
    data_refused("a missing column", people("name,age,city", "name,years,city"), "policy.toml:5", "`age`");
    data_refused("a value that the hierarchy lacks", people("Dot,24,Bb", "Dot,24,Zz"), "", "Zz");
    data_refused("text where widths want numbers", people("Dot,24,Bb", "Dot,old,Bb"), "", "old");
    let mut latin = PEOPLE.as_bytes().to_vec();
    latin[22..25].copy_from_slice(b"An\xe9");
    data_refused("latin-1", latin, "people.csv:2", "UTF-8");
    let wide: Vec<u8> = PEOPLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    data_refused("utf-16", [vec![0xff, 0xfe], wide].concat(), "people.csv", "UTF-");
    data_refused("a huge field", people("Dot", &"D".repeat(17 << 20)), "people.csv:5", "16777216 bytes");
    data_refused("binary", [0u8, 159, 146, 150, 10, 0, 0, 10], "people.csv", "");
    data_refused("a semicolon file with commas declared", people(",", ";").replace(";Aa;", ",Aa;"), "", "");
}

#[test]
fn other_formats() {
    let with = |path: &str| POLICY.replace("people.csv", path).into_bytes();
    let source = |case: &str, name: &str, bytes: &[u8], place: &str, words: &str| {
        refused(case, &[("policy.toml", &with(name)), (name, bytes)], place, words);
    };
    source("an unknown suffix", "people.dat", PEOPLE.as_bytes(), "people.dat", "csv");
    source("a damaged workbook", "people.xlsx", b"PK\x03\x04", "people.xlsx", "Excel");
    source("no suffix", "people", PEOPLE.as_bytes(), "people", "csv");
    source("not parquet", "people.parquet", PEOPLE.as_bytes(), "people.parquet", "");
    source("empty parquet", "people.parquet", b"", "people.parquet", "");
    source("parquet cut short", "people.parquet", b"PAR1\x15\x04PAR1", "people.parquet", "");
    source("not gzip", "people.csv.gz", PEOPLE.as_bytes(), "people.csv.gz", "gzip");
    source("gzip cut short", "people.csv.gz", &[31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 75, 204], "people.csv.gz", "");
    source("not zstd", "people.csv.zst", PEOPLE.as_bytes(), "people.csv.zst", "");
    source("not json", "people.ndjson", PEOPLE.as_bytes(), "people.ndjson:1", "");
    let nested = b"{\"name\":\"Ann\",\"age\":[21],\"city\":\"Aa\",\"illness\":\"Flu\"}\n";
    source("json in json", "people.ndjson", nested, "people.ndjson:1", "age");
    let cut = b"{\"name\":\"Ann\",\"age\":21,\"city\":\"Aa\",\"illness\":\"Flu\"}\n{\"name\":\"Bob\",";
    source("json cut short", "people.ndjson", cut, "people.ndjson:2", "");
    let deep = "[".repeat(100_000);
    source("deep json", "people.ndjson", deep.as_bytes(), "people.ndjson:1", "");
}

#[test]
fn hierarchies() {
    hierarchy_refused("no bytes", "", "city.csv", "");
    hierarchy_refused("a row too short", "Aa;North;*\nBb;North\nCc;South;*\n", "city.csv:2", "2");
    hierarchy_refused("two parents", "Aa;North;*\nBb;North;*\nCc;South;*\nAa;South;*\n", "city.csv:4", "Aa");
    hierarchy_refused("two tops", "Aa;North;*\nBb;North;+\nCc;South;*\n", "city.csv", "");
    hierarchy_refused("no coarsening", "Aa;North;E;*\nBb;North;W;*\nCc;South;W;*\n", "city.csv:2", "North");
    hierarchy_refused("a value missing", "Aa;North;*\nBb;North;*\n", "city.csv", "Cc");
    hierarchy_refused("a quote never closed", "Aa;North;*\nBb;\"North;*\nCc;South;*\n", "city.csv:2", "quote");
    hierarchy_refused("latin-1", b"Aa;N\xf6rth;*\n", "city.csv", "UTF-8");
    let folder = Folder::with_people();
    std::fs::remove_file(folder.path("city.csv")).unwrap();
    refused_in(&folder, "no file", &["publish", "policy.toml", "-o", "release"], "", "city.csv");
    let folder = Folder::with_people();
    folder.write("policy.toml", POLICY.replace("\"city.csv\"", "\".\""));
    refused_in(&folder, "a directory", &["publish", "policy.toml", "-o", "release"], "", "directory");
    let widths = "widths = [10]";
    policy_refused("width 0", widths, "widths = [0]", "policy.toml:5", "");
    policy_refused("widths that do not nest", widths, "widths = [10, 15]", "policy.toml:5", "15");
    policy_refused("widths that shrink", widths, "widths = [10, 5]", "policy.toml:5", "");
    policy_refused("no widths", widths, "widths = []", "policy.toml:5", "");
    policy_refused("breaks that fall", widths, "breaks = [[30, 20]]", "policy.toml:5", "");
    policy_refused("breaks that are finer above", widths, "breaks = [[30], [20, 30]]", "policy.toml:5", "");
    policy_refused("dates of numbers", widths, "dates = [\"month\"]", "policy.toml:5", "");
    policy_refused("a mask of nothing", widths, "mask = 0", "policy.toml:5", "");
}

#[test]
fn policies() {
    let whole = |case: &str, text: &[u8], place: &str, words: &str| {
        refused(case, &[("policy.toml", text)], place, words);
    };
    whole("no bytes", b"", "policy.toml", "attributes");
    whole("not TOML", b"{ \"source\": 1 }", "policy.toml:1", "");
    whole("not text", b"[source]\npath = \"\xff\"\n", "policy.toml:2", "UTF-8");
    whole("huge", &vec![b'#'; 2 << 20], "policy.toml", "");
    whole("a table instead", PEOPLE.as_bytes(), "policy.toml:1", "");
    whole("deep", format!("a = {}", "[".repeat(50_000)).as_bytes(), "policy.toml:1", "");
    policy_refused(
        "an unknown key",
        "suppression",
        "supression",
        "policy.toml:14:1: publish.supression",
        "unknown key",
    );
    policy_refused("a key twice", "[publish]", "[publish]\nsuppression = 0", "policy.toml", "");
    policy_refused("k of 0", "k = 2", "k = 0", "policy.toml:9", "at least 1");
    policy_refused("l beyond numbers", "l = 2", "l = 99999999999999999999", "policy.toml:12", "");
    policy_refused("a share above 1", "suppression = 0.0", "suppression = 1.5", "policy.toml:14", "from 0 to 1");
    policy_refused("an unknown model", "distinct-l", "distant-l", "policy.toml:12", "distinct-l-diversity");
    policy_refused("a method misspelled", "[publish]", "[publish]\nmethod = \"mondrain\"", "policy.toml", "`mondrian`");
    policy_refused("a database of another kind", "path = \"people.csv\"", "url = \"mysql://h/d\"", "policy.toml", "");
    policy_refused(
        "protects nothing known",
        "protect = \"illness\"",
        "protect = \"ilness\"",
        "policy.toml:11",
        "illness",
    );
    policy_refused("no quasi", "\"quasi\"", "\"plain\"", "policy.toml", "quasi");
    policy_refused("a type that the data is not", "\"city.csv\"", "\"city.csv\", type = \"integer\"", "", "");
    policy_refused("no such source", "people.csv", "absent.csv", "", "absent.csv");
    policy_refused("a directory as source", "\"people.csv\"", "\".\"", "", "");
}

#[test]
fn what_is_named_on_the_command_line() {
    let folder = Folder::with_release("release");
    let refused = |case: &str, arguments: &[&str], place: &str, words: &str| {
        refused_in(&folder, case, arguments, place, words);
    };
    refused("no policy", &["publish", "none.toml", "-o", "out"], "none.toml", "");
    refused("a directory as policy", &["publish", "release", "-o", "out"], "release", "");
    refused("check nothing", &["check", "none"], "none", "no release");
    refused("check a file", &["check", "people.csv"], "people.csv", "");
    refused("check a folder without manifest", &["check", "."], "", "no release");
    refused("check a table that is not there", &["check", "--policy", "policy.toml", "none.csv"], "none.csv", "");
    refused("check by a policy that is not there", &["check", "--policy", "none.toml", "people.csv"], "none.toml", "");
    refused("check a table of others", &["check", "--policy", "policy.toml", "city.csv"], "city.csv", "column");
    refused("measure nothing", &["measure", "none", "--policy", "policy.toml"], "none", "");
    assert_eq!(folder.run(&["synth", "census", "--rows", "5", "-o", "census"]).code, Some(0));
    refused("synth onto what exists", &["synth", "census", "--rows", "5", "-o", "census"], "census", "");
    folder.write("people.csv", PEOPLE.replace("Ann,21,Aa,Flu\n", ""));
    refused("measure against others", &["measure", "release", "--policy", "policy.toml"], "", "11");
}

#[test]
fn usage() {
    let folder = Folder::with_people();
    let before = folder.names();
    let wrong: &[&[&str]] = &[
        &[],
        &["publich"],
        &["publish"],
        &["publish", "policy.toml"],
        &["publish", "policy.toml", "-o"],
        &["publish", "policy.toml", "-o", "release", "--seed", "x"],
        &["publish", "policy.toml", "-o", "release", "--seed", "-1"],
        &["publish", "policy.toml", "-o", "release", "--format", "xlsx"],
        &["publish", "policy.toml", "-o", "release", "--threads", "0"],
        &["publish", "policy.toml", "-o", "release", "--max-nodes", "0"],
        &["publish", "policy.toml", "-o", "release", "--max-seconds", "0"],
        &["publish", "policy.toml", "-o", "release", "--max-seconds", "nan"],
        &["publish", "policy.toml", "-o", "release", "--max-seconds", "1e300"],
        &["publish", "policy.toml", "-o", "release", "-q", "-v"],
        &["publish", "policy.toml", "extra", "-o", "release"],
        &["publish", "policy.toml", "-o", ""],
        &["check"],
        &["measure", "release"],
        &["synth"],
        &["synth", "census"],
        &["synth", "census", "--rows", "0"],
        &["completions", "cmd"],
    ];
    for arguments in wrong {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
        assert_eq!(folder.names(), before, "{arguments:?}");
    }
}

#[test]
fn unsatisfiable_policies_state_the_reason() {
    for (from, to, words) in [
        ("k = 2", "k = 13", "k-anonymity requires k = 13"),
        ("l = 2", "l = 4", "distinct-l-diversity requires l = 4 of `illness`"),
    ] {
        let folder = Folder::with_people();
        folder.write("policy.toml", POLICY.replace(from, to));
        let before = folder.names();
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
        assert!(ran.stderr.starts_with("error: no release can meet the policy"), "{ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.contains("\nhint: "), "{ran:?}");
        assert_eq!(folder.names(), before);
    }
}
