//! Failures around a running program: two tabs, edits by hand, files that vanish, a full disk,
//! uploads that are too large or not what they seem, a kill. A clear message, nothing lost.

use crate::client::{Studio, hospital};

#[test]
fn two_tabs_and_an_editor_change_one_policy() {
    let folder = hospital(true);
    let mut studio = Studio::start(folder.path(), &["policy.toml"]);
    let first = studio.enter();
    studio.token = studio.new_token();
    let second = studio.enter();
    let path = folder.path().join("policy.toml");
    let policy = || std::fs::read_to_string(&path).unwrap();
    studio.settled(&first, "/data");
    studio.post(&first, "/rules/set", "rule=0&place=0&key=k&value=4");
    studio.post(&second, "/publish/suppression", "value=10");
    std::fs::write(&path, policy().replace("loss = \"ncp\"", "loss = \"entropy\" # by hand")).unwrap();
    studio.post(&first, "/data/role", "name=sex&role=plain");
    let text = policy();
    assert!(
        text.contains("k = 4") && text.contains("suppression = 0.1") && text.contains("\"entropy\" # by hand"),
        "{text}"
    );
    assert!(text.contains("sex = { role = \"plain\" }") && text.contains("# never released"), "comments stay: {text}");
    std::fs::write(&path, text.replace("k = 4", "k = 6")).unwrap();
    let refused = studio.post(&second, "/undo", "page=data").body;
    assert!(refused.contains("was changed by another program"), "{refused}");
    assert!(policy().contains("k = 6"));
    assert!(studio.get(&second, "/rules").body.contains("value=\"6\""), "the page shows what is on the disk");
    std::fs::write(&path, "this is not [ TOML").unwrap();
    let page = studio.get(&first, "/rules").body;
    assert!(page.contains("One problem"), "{page}");
    assert!(studio.post(&first, "/data/role", "name=sex&role=quasi").body.contains("mend it by hand"));
    assert_eq!(policy(), "this is not [ TOML");
}

#[test]
fn files_that_vanish_are_reported_and_can_come_back() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let (policy, data) = (folder.path().join("policy.toml"), folder.path().join("patients.csv"));
    let text = std::fs::read_to_string(&policy).unwrap();
    std::fs::remove_file(&policy).unwrap();
    let page = studio.get(&session, "/data").body;
    assert!(page.contains("The policy cannot be read") && page.contains("Write the policy again"), "{page}");
    studio.post(&session, "/restore", "");
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), text);

    let rows = std::fs::read(&data).unwrap();
    std::fs::remove_file(&data).unwrap();
    let page = studio.get(&session, "/data").body;
    assert!(page.contains("does not exist any more") && page.contains("Histogram of diagnosis"), "{page}");
    let page = studio.post(&session, "/publish/run", "destination=r").body;
    assert!(page.contains("does not exist any more"), "{page}");
    std::fs::write(&data, [rows.as_slice(), b"Zoe,44,02139,f,2021-03-04,flu\n"].concat()).unwrap();
    assert!(studio.settled(&session, "/data").contains("<dd>97</dd>"), "the file is read again");
}

#[test]
fn uploads_are_limited_and_whole_or_absent() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Studio::start(folder.path(), &[]);
    let session = studio.enter();
    assert!(studio.get(&session, "/data").body.contains("Drop a file here"));
    let files = || {
        let entries = std::fs::read_dir(folder.path()).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let large = studio.post_bytes(&session, "/upload?as=data&name=large.csv", b"a,b\n", Some(2 << 30));
    assert!(large.body.contains("larger than 1024 MiB"), "{large:?}");
    studio.cut_upload(&session, "/upload?as=data&name=cut.csv", b"a,b\n1,2\n", 1000);
    for (name, bytes) in [("noise.parquet", &b"\x00\xff\xfe not parquet"[..]), ("one.csv", b"only"), ("none.csv", b"")]
    {
        studio.post_bytes(&session, &format!("/upload?as=data&name={name}"), bytes, None);
        let page = studio.settled(&session, "/data");
        assert!(page.contains("ended without a result") && page.contains("Drop a file here"), "{name}: {page}");
        assert!(!folder.path().join("policy.toml").exists());
    }
    assert!(
        !files().iter().any(|name| name.starts_with("large") || name.starts_with("cut") || name.contains(".part")),
        "{:?}",
        files()
    );
    let patients = std::fs::read(hospital(false).path().join("patients.csv")).unwrap();
    let good = studio.post_bytes(&session, "/upload?as=data&name=patients.csv", &patients, None);
    assert_eq!((good.status, good.body.as_str()), (200, ""));
    assert!(studio.settled(&session, "/data").contains("Histogram of diagnosis"));
    let again = studio.post_bytes(&session, "/upload?as=data&name=patients.csv", &patients, None);
    assert!(again.body.contains("in the folder already"), "{again:?}");
}

#[test]
fn a_killed_studio_starts_again_where_it_was() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    studio.post(&session, "/rules/set", "rule=0&place=0&key=k&value=4");
    studio.post(&session, "/publish/run", "destination=release");
    studio.settled(&session, "/publish");
    studio.kill();
    let studio = Studio::start(folder.path(), &["policy.toml", "release"]);
    assert_eq!(studio.get(&session, "/data").status, 403, "the old cookie died with the old server");
    let session = studio.enter();
    assert!(studio.settled(&session, "/rules").contains("value=\"4\""));
}

/// A change, an upload and a release fail with a message, and what was there stays.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let folder = hospital(true);
    let path = folder.path().join("policy.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    let release = folder.path().join("release");
    hedgerow::publish(&hedgerow::Policy::load(&path).unwrap(), &release).unwrap();
    let released = std::fs::read(release.join("data.csv")).unwrap();
    let studio = Studio::start_on_full_disk(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let page = studio.post(&session, "/rules/set", "rule=0&place=0&key=k&value=4").body;
    assert!(page.contains("nothing was changed"), "{page}");
    let kept = studio.post_bytes(&session, "/upload?as=data&name=more.csv", b"a,b\n1,2\n", None).body;
    assert!(kept.contains("nothing was kept"), "{kept}");
    studio.post(&session, "/publish/run", "destination=release");
    let page = studio.settled(&session, "/publish");
    assert!(page.contains("ended without a result"), "{page}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    assert_eq!(std::fs::read(release.join("data.csv")).unwrap(), released);
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["patients.csv", "policy.toml", "release"], "nothing half-written is left");
}

#[test]
fn changes_can_be_undone_after_a_kill() {
    let folder = hospital(true);
    let path = folder.path().join("policy.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    studio.post(&session, "/rules/set", "rule=0&place=0&key=k&value=4");
    studio.post(&session, "/hierarchies/kind", "attribute=sex&kind=file");
    assert!(folder.path().join("hierarchies/sex.csv").is_file());
    studio.kill();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let page = studio.settled(&session, "/rules");
    assert!(page.contains("Undo: groups of sex") && page.contains("<ins>"), "the last change is shown: {page}");
    studio.post(&session, "/undo", "page=rules");
    assert!(!folder.path().join("hierarchies/sex.csv").exists());
    studio.post(&session, "/undo", "page=rules");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    assert!(studio.post(&session, "/undo", "page=rules").body.contains("There is no change to undo"));
}

#[test]
fn a_tab_that_was_left_open_changes_no_other_rule() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let policy = || std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    // Both tabs show k-anonymity first. One removes it; the other then has another rule there.
    let stale = "rule=0&place=0&key=k&value=9&of=k-anonymity+of+";
    studio.post(&session, "/rules/remove", "rule=0&of=k-anonymity+of+");
    let after = policy();
    assert!(!after.contains("k-anonymity"));
    let page = studio.post(&session, "/rules/set", stale).body;
    assert!(page.contains("the policy was changed meanwhile"), "{page}");
    let page = studio.post(&session, "/rules/remove", "rule=0&of=k-anonymity+of+").body;
    assert!(page.contains("the policy was changed meanwhile"), "{page}");
    assert_eq!(policy(), after);
}

#[test]
fn a_destination_that_is_not_a_release_is_left_alone() {
    let folder = hospital(true);
    std::fs::create_dir(folder.path().join("letters")).unwrap();
    std::fs::write(folder.path().join("letters/mine.txt"), "dear").unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let patients = std::fs::read(folder.path().join("patients.csv")).unwrap();
    for destination in ["letters", "patients.csv", "policy.toml"] {
        studio.post(&session, "/publish/run", &format!("destination={destination}"));
        let page = studio.settled(&session, "/publish");
        assert!(page.contains("ended without a result"), "{destination}: {page}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("letters/mine.txt")).unwrap(), "dear");
    assert_eq!(std::fs::read(folder.path().join("patients.csv")).unwrap(), patients);
}

#[test]
fn two_uploads_of_one_name_leave_one_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Studio::start(folder.path(), &[]);
    let session = studio.enter();
    let body = |letter: &str| format!("a,b\n{}", format!("{letter},{letter}\n").repeat(50_000));
    let bodies = [body("1"), body("2")];
    let replies: Vec<String> = std::thread::scope(|scope| {
        let send =
            |body: &String| studio.post_bytes(&session, "/upload?as=data&name=x.csv", body.as_bytes(), None).body;
        let sent: Vec<_> = bodies.iter().map(|body| scope.spawn(move || send(body))).collect();
        sent.into_iter().map(|sent| sent.join().unwrap()).collect()
    });
    assert_eq!(replies.iter().filter(|reply| reply.contains("in the folder already")).count(), 1, "{replies:?}");
    let kept = std::fs::read_to_string(folder.path().join("x.csv")).unwrap();
    assert!(bodies.contains(&kept), "whole");
}

#[test]
fn a_table_that_cannot_be_read_can_be_mended_and_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Studio::start(folder.path(), &[]);
    let session = studio.enter();
    let path = "/upload?as=data&name=people.csv";
    assert_eq!(studio.post_bytes(&session, path, b"a,b\n1,2,3\n", None).body, "");
    let page = studio.settled(&session, "/data");
    assert!(page.contains("people.csv:2: expected 2 fields"), "{page}");
    let real = folder.path().canonicalize().unwrap();
    assert!(!page.contains(&format!("{}/people.csv", real.display())), "files are named as the page names them");
    assert!(!page.contains("Back to"), "there is no policy to go back to");
    assert!(!folder.path().join("people.csv").exists(), "the copy is not kept");
    let rows: String = (0..40).map(|row| format!("{},{}\n", 20 + row % 5, ["flu", "cold"][row % 2])).collect();
    assert_eq!(studio.post_bytes(&session, path, format!("age,illness\n{rows}").as_bytes(), None).body, "");
    let page = studio.settled(&session, "/data");
    assert!(page.contains("Histogram of illness"), "{page}");
    // A file that was there before stays, whatever is in it.
    std::fs::write(folder.path().join("own.csv"), "a,b\n1,2,3\n").unwrap();
    studio.post(&session, "/open", "data=own.csv");
    studio.settled(&session, "/data");
    assert!(folder.path().join("own.csv").exists());
}
