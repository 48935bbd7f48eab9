//! Where a release goes: what exists is not touched unless that is requested, and what is
//! impossible is refused before the work.

use std::fs;

use crate::running::{Folder, POLICY};

const FILES: [&str; 3] = ["codebook.csv", "data.csv", "datapackage.json"];

#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], words: &str) {
    let before = folder.names();
    let ran = folder.run(arguments);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("error: "), "{ran:?}");
    assert!(ran.stderr.contains(words), "{ran:?}");
    assert!(ran.stderr.contains("\nhint: "), "{ran:?}");
    assert_eq!(ran.stdout, "");
    assert_eq!(folder.names(), before);
}

#[test]
fn a_release_that_exists_stays_as_it_is() {
    let folder = Folder::with_release("release");
    let before: Vec<String> = FILES.iter().map(|file| folder.read(&format!("release/{file}"))).collect();
    refused(&folder, &["publish", "policy.toml", "-o", "release"], "release: exists already");
    let after: Vec<String> = FILES.iter().map(|file| folder.read(&format!("release/{file}"))).collect();
    assert_eq!(before, after);
}

#[test]
fn force_replaces_a_release_whole() {
    let folder = Folder::with_release("release");
    folder.write("policy.toml", POLICY.replace("k = 2", "k = 12"));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut files: Vec<_> =
        fs::read_dir(folder.path("release")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, FILES);
    assert_eq!(folder.run(&["check", "release"]).code, Some(0));
    assert!(folder.read("release/datapackage.json").contains("\"k\": 12"));
    assert_eq!(folder.names(), ["city.csv", "people.csv", "policy.toml", "release"]);
}

#[test]
fn force_deletes_no_file_that_is_not_of_a_release() {
    let folder = Folder::with_release("release");
    let before = folder.read("release/data.csv");
    for (file, shown) in [("release/thesis.txt", "thesis.txt"), ("release/notes/of-mine.csv", "notes")] {
        folder.write(file, "years of work");
        let words = format!("holds `{shown}`, which is not a file of the release there");
        refused(&folder, &["publish", "policy.toml", "-o", "release", "--force"], &words);
        assert_eq!((folder.read(file), folder.read("release/data.csv")), ("years of work".to_owned(), before.clone()));
        fs::remove_file(folder.path(file)).unwrap();
    }
    fs::remove_dir(folder.path("release/notes")).unwrap();
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "release", "--force"]).code, Some(0));
}

#[test]
fn force_that_fails_leaves_the_old_release() {
    let folder = Folder::with_release("release");
    let before = folder.read("release/data.csv");
    folder.write("policy.toml", POLICY.replace("k = 2", "k = 13"));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(folder.read("release/data.csv"), before);
    assert_eq!(folder.names(), ["city.csv", "people.csv", "policy.toml", "release"]);
}

#[test]
fn force_replaces_nothing_but_a_release_or_an_empty_directory() {
    let folder = Folder::with_people();
    folder.write("mine/thesis.txt", "years of work");
    folder.write("file", "also mine");
    let not_a_release = "exists and is not a release";
    refused(&folder, &["publish", "policy.toml", "-o", "mine", "--force"], not_a_release);
    refused(&folder, &["publish", "policy.toml", "-o", "file", "--force"], not_a_release);
    refused(&folder, &["publish", "policy.toml", "-o", "mine"], "mine: exists already");
    refused(&folder, &["publish", "policy.toml", "-o", "file"], "file: exists already");
    assert_eq!(folder.read("mine/thesis.txt"), "years of work");
    assert_eq!(folder.read("file"), "also mine");
    #[cfg(unix)]
    {
        // The target of a link may belong to another program.
        folder.write("elsewhere/datapackage.json", "{}");
        std::os::unix::fs::symlink(folder.path("elsewhere"), folder.path("link")).unwrap();
        refused(&folder, &["publish", "policy.toml", "-o", "link", "--force"], not_a_release);
        assert_eq!(folder.read("elsewhere/datapackage.json"), "{}");
    }
    fs::create_dir(folder.path("empty")).unwrap();
    refused(&folder, &["publish", "policy.toml", "-o", "empty"], "empty: exists already");
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "empty", "--force"]).code, Some(0));
    assert_eq!(folder.run(&["check", "empty"]).code, Some(0));
}

#[test]
fn impossible_destinations_are_refused_before_the_data_is_read() {
    let folder = Folder::with_people();
    folder.write("file", "a file");
    // Reading would fail: that it is not complained of shows the order.
    folder.write("people.csv", "");
    refused(&folder, &["publish", "policy.toml", "-o", "no/such/release"], "the directory no/such does not exist");
    refused(&folder, &["publish", "policy.toml", "-o", "file/release"], "the directory file does not exist");
    refused(&folder, &["publish", "policy.toml", "-o", ".."], "not a name for a directory");
    refused(&folder, &["publish", "policy.toml", "-o", "/"], "not a name for a directory");
    refused(&folder, &["publish", "policy.toml", "-o", ".", "--force"], "not a name for a directory");
}

#[test]
fn a_destination_may_be_written_in_any_way() {
    let folder = Folder::with_people();
    fs::create_dir(folder.path("sub")).unwrap();
    let absolute = folder.path("absolute");
    for destination in
        ["plain", "trailing/", "./dotted", "sub/inner", "sub/../up", "ümlaut ✓", absolute.to_str().unwrap()]
    {
        let ran = folder.run(&["publish", "policy.toml", "-o", destination]);
        assert_eq!(ran.code, Some(0), "{destination}: {ran:?}");
        assert_eq!(folder.run(&["check", destination]).code, Some(0), "{destination}");
    }
    assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{:?}", folder.names());
}

#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_written_to() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_people();
    fs::create_dir(folder.path("locked")).unwrap();
    fs::set_permissions(folder.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.path("locked/probe"), "").is_ok() {
        // Nothing is locked for a superuser.
        return;
    }
    let ran = folder.run(&["publish", "policy.toml", "-o", "locked/release"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("locked"), "{ran:?}");
    assert_eq!(fs::read_dir(folder.path("locked")).unwrap().count(), 0);
}

/// A socket, a folder or a link to nowhere is never replaced; a file behind a link is.
#[cfg(unix)]
#[test]
fn a_report_replaces_files_and_nothing_else() {
    let folder = Folder::with_release("release");
    let socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("dangling")).unwrap();
    std::os::unix::fs::symlink("page.html", folder.path("link")).unwrap();
    folder.write("page.html", "something else");
    for output in ["socket", "dangling", "release"] {
        let ran = folder.run(&["report", "release", "-o", output, "--force"]);
        assert_eq!(ran.code, Some(2), "{output}: {ran:?}");
        assert!(ran.stderr.contains("not a file that can be replaced"), "{output}: {ran:?}");
    }
    drop(socket);
    let ran = folder.run(&["report", "release", "-o", "link", "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(std::fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert!(folder.read("page.html").contains("<html"));
}

/// Before the data is read, which may take long: here it could not even be read.
#[test]
fn init_refuses_an_existing_policy_before_it_reads() {
    let folder = Folder::with_people();
    let before = folder.read("policy.toml");
    let ran = folder.run(&["init", "absent.csv", "-o", "policy.toml"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("policy.toml: exists already") && ran.stderr.contains("--force"), "{ran:?}");
    assert_eq!(folder.read("policy.toml"), before);
}
