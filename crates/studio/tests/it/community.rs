//! Releases of others and of one's own: brought in, audited together, compared by difference.

use std::path::Path;

use crate::client::{Studio, hospital};

/// Publishes into a folder and waits.
fn publish(studio: &Studio, session: &crate::client::Session, destination: &str) {
    studio.post(session, "/publish/run", &format!("destination={destination}"));
    assert!(studio.settled(session, "/publish").contains("class=\"verified\""), "{destination}");
}

#[test]
fn rereleases_of_ones_own_are_compared_by_difference() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    publish(&studio, &session, "first");
    let page = studio.post(&session, "/community/audit", "release=first&own=first").body;
    assert!(!page.contains("id=\"differences\""), "one release differs from nothing");
    studio.settled(&session, "/community");
    // The same table without the patients of one illness: by the difference all of them had it.
    let data = folder.path().join("patients.csv");
    let text = std::fs::read_to_string(&data).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.ends_with("Influenza")).collect();
    let gone = text.lines().count() - kept.len();
    assert!(gone > 0);
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(&data, kept.join("\n") + "\n").unwrap();
    studio.settled(&session, "/data");
    studio.post(&session, "/publish/set", "key=method&value=full-domain");
    publish(&studio, &session, "second");
    studio.post(&session, "/community/audit", "release=first&release=second&own=second&own=first");
    let page = studio.settled(&session, "/community");
    let differences = page.split("id=\"differences\"").nth(1).expect("a section");
    assert!(differences.contains("first → second"), "in the order in which they were made: {differences}");
    assert!(differences.contains("follows from the difference") && differences.contains("Influenza"), "{differences}");
    assert!(page.contains("Breach: people are exposed"), "{page}");
    assert!(page.contains("hedgerow audit first second --adversary difference"), "{page}");
    studio.post(&session, "/community/audit", "release=first&release=second");
    assert!(
        !studio.settled(&session, "/community").contains("id=\"differences\""),
        "only where they are said to be own"
    );
}

#[test]
fn a_table_of_another_program_is_described_and_audited() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let table = "age,zip,sex,diagnosis\n30-39,021**,M,Influenza\n30-39,021**,M,Influenza\n40-49,021**,F,Diabetes\n40-49,021**,F,Asthma\n";
    // A table that is not read at once is read on the page, which also tells what is wrong with it.
    let drop = |name: &str, bytes: &[u8]| {
        let path = format!("/upload?as=release&name=community%2F{name}");
        let said = studio.post_bytes(&session, &path, bytes, None).body;
        let page = studio.settled(&session, "/community");
        let problem = page.split("id=\"job\"").nth(1).unwrap_or_default().split("</div>").next().unwrap_or_default();
        said + problem
    };
    assert_eq!(drop("theirs.csv", table.as_bytes()), "");
    let described = folder.path().join("community/theirs-table");
    let text = std::fs::read_to_string(described.join("release.toml")).unwrap();
    assert!(text.contains("role = \"quasi\"") && text.contains("role = \"sensitive\""), "{text}");
    assert!(studio.get(&session, "/community").body.contains("community/theirs-table"));
    studio.post(&session, "/community/audit", "release=community%2Ftheirs-table");
    let page = studio.settled(&session, "/community");
    assert!(page.contains("Breach: people are exposed"), "all of a class have one illness: {page}");
    assert!(drop("theirs.csv", table.as_bytes()).contains("there already"), "the first is not replaced");
    assert_eq!(std::fs::read_to_string(described.join("release.toml")).unwrap(), text);
    let refused = drop("noise.csv", b"\x00\x01\x02");
    assert!(!refused.is_empty() && !folder.path().join("community/noise.csv").exists(), "{refused}");

    // Counted in the policy: a rule across releases can name it.
    studio.post(&session, "/community/add", "release=community%2Ftheirs-table");
    let policy = std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    assert!(policy.contains("releases = [\"community/theirs-table\"]"), "{policy}");
}

#[test]
fn a_catalog_is_listed_and_audited() {
    let folder = hospital(true);
    let policy = hedgerow::Policy::load(folder.path().join("policy.toml")).unwrap();
    let release = folder.path().join("first");
    hedgerow::publish(&policy, &release).unwrap();
    let add = |name: &str| {
        let entry = hedgerow::AddToCatalog::new(folder.path().join("catalog"), &release);
        entry.name(Some(name.to_owned())).custodian(Some("hospital".to_owned())).run().unwrap();
    };
    add("spring");
    add("summer");
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let page = studio.settled(&session, "/community");
    assert!(page.contains("spring") && page.contains("summer") && page.contains("hospital"), "{page}");
    studio.post(&session, "/community/catalog", "catalog=catalog");
    let page = studio.settled(&session, "/community");
    assert!(page.contains("All of catalog") && page.contains("<strong>difference</strong>"), "{page}");
    assert!(studio.post(&session, "/community/catalog", "catalog=..").body.contains("not a file in"));
}

#[test]
fn the_release_of_an_earlier_run_is_found_again() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    publish(&studio, &session, "release");
    studio.kill();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    // A release that is being written is hidden, and newer.
    std::fs::create_dir(folder.path().join(".release.partial-1")).unwrap();
    std::fs::write(folder.path().join(".release.partial-1/datapackage.json"), "{}").unwrap();
    let page = studio.settled(&session, "/publish");
    assert!(page.contains("Every guarantee that was recomputed holds."), "{page}");
    assert!(!page.contains("partial") && !studio.get(&session, "/community").body.contains("partial"));
    studio.post(&session, "/utility/query", "sql=SELECT+COUNT(*)+FROM+data");
    let page = studio.settled(&session, "/utility");
    assert!(page.contains("id=\"answer\"") && page.contains(">96<"), "the truth beside the estimate: {page}");
    assert!(studio.get(&session, "/export").body.contains("release:data.csv"));
    // A release that was tampered with does not pass for one that holds.
    let data = Path::new(folder.path()).join("release/data.csv");
    let text = std::fs::read_to_string(&data).unwrap();
    std::fs::write(&data, text.lines().take(2).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    studio.kill();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let page = studio.settled(&session, "/publish");
    assert!(!page.contains("Every guarantee that was recomputed holds."), "{page}");
}
