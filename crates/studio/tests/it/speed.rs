//! The speed and the memory of a release build of the studio, on request.
//!
//! ```text
//! cargo build --release -p hedgerow-cli -p hedgerow-studio
//! HEDGEROW_STUDIO=$PWD/target/release/hedgerow-studio \
//!     cargo test -p hedgerow-studio --test it -- --ignored --nocapture --test-threads 1 speed
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::client::{Session, Studio, program};

/// The command, where it was built beside the studio.
fn command() -> PathBuf {
    let beside = program().with_file_name("hedgerow");
    assert!(beside.is_file(), "{} is missing: cargo build --release -p hedgerow-cli", beside.display());
    beside
}

pub(crate) fn peak_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Runs the command and returns the most memory that it took.
pub(crate) fn run(command: &Path, folder: &Path, arguments: &[&str]) -> u64 {
    let mut child =
        Command::new(command).current_dir(folder).args(arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    loop {
        peak = std::fs::read_to_string(format!("/proc/{}/status", child.id()))
            .ok()
            .and_then(|status| {
                status.lines().find(|line| line.starts_with("VmHWM"))?.split_whitespace().nth(1)?.parse().ok()
            })
            .unwrap_or(0)
            .max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return peak;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A request of a browser: its phase and its path, and the milliseconds until the answer.
struct Click {
    what: String,
    milliseconds: f64,
}

fn click(what: &str, asking: impl FnOnce()) -> Click {
    let started = Instant::now();
    asking();
    Click { what: what.to_owned(), milliseconds: started.elapsed().as_secs_f64() * 1e3 }
}

/// The same five times over; the slowest is printed.
fn five(what: &str, asking: impl Fn()) -> Vec<Click> {
    let clicks: Vec<Click> = (0..5).map(|_| click(what, &asking)).collect();
    let slowest = clicks.iter().map(|click| click.milliseconds).fold(0.0, f64::max);
    println!("{what:<44} {slowest:7.1} ms");
    clicks
}

fn synthetic(folder: &Path, rows: &str) -> PathBuf {
    let command = command();
    run(&command, folder, &["synth", "census", "--quiet", "--rows", rows, "--seed", "1", "-o", "made"]);
    std::fs::rename(folder.join("made/census.csv"), folder.join("census.csv")).unwrap();
    command
}

/// A folder with UCI Adult, its policies and hierarchies.
fn adult() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult");
    std::fs::create_dir(folder.path().join("hierarchies")).unwrap();
    for from in ["", "hierarchies"] {
        for file in std::fs::read_dir(example.join(from)).unwrap().map(|file| file.unwrap().path()) {
            if file.is_file() {
                std::fs::copy(&file, folder.path().join(from).join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    folder
}

/// From the start of the program to the first histogram: of the file alone, and of a policy.
#[test]
#[ignore = "needs a release build, see above"]
fn speed_of_the_first_picture() {
    let slowest = |name: &str| {
        let once = |_: usize| {
            let folder = adult();
            if name == "adult.csv.gz" {
                for policy in ["policy.toml", "policy-l.toml", "policy-t.toml", "policy-cluster.toml"] {
                    std::fs::remove_file(folder.path().join(policy)).unwrap();
                }
            }
            let started = Instant::now();
            let studio = Studio::start(folder.path(), &[name]);
            let session = studio.enter();
            while !studio.get(&session, "/data").body.contains("Histogram of") {
                assert!(started.elapsed() < Duration::from_secs(60));
                std::thread::sleep(Duration::from_millis(5));
            }
            started.elapsed().as_secs_f64()
        };
        let slowest = (0..3).map(once).fold(0.0, f64::max);
        println!("{name}: start to the first histogram {slowest:.2} s");
        slowest
    };
    let seconds = ["adult.csv.gz", "policy.toml"].map(slowest);
    assert!(seconds.iter().all(|seconds| *seconds < 1.0), "{seconds:?}");
}

#[test]
#[ignore = "needs a release build, see above"]
fn speed_with_a_million_rows() {
    let folder = tempfile::tempdir().unwrap();
    let command = synthetic(folder.path(), "1000000");
    run(&command, folder.path(), &["init", "census.csv", "-o", "policy.toml"]);
    let of_command = run(&command, folder.path(), &["publish", "policy.toml", "-o", "by-command"]);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let started = Instant::now();
    studio.settled(&session, "/data");
    println!("a million rows are read and profiled in {:.1} s", started.elapsed().as_secs_f64());
    let mut all = clicks(&studio, &session, "before any work");
    all.extend(work(&studio, &session, "publishing", "/publish/run", "destination=release"));
    let of_studio = peak_kib(studio.process());
    println!("memory: {} MiB, the command {} MiB", of_studio >> 10, of_command >> 10);
    for (what, path, form) in [
        ("exploring", "/explore/run", ""),
        ("measuring", "/utility/measure", ""),
        ("asking", "/utility/query", "sql=SELECT+sex,COUNT(*)+FROM+data+GROUP+BY+sex"),
        ("counting sets of columns", "/data/sets", ""),
        ("auditing", "/community/audit", "release=release"),
        ("comparing methods", "/publish/compare", ""),
    ] {
        all.extend(work(&studio, &session, what, path, form));
    }
    println!("memory after all work: {} MiB", peak_kib(studio.process()) >> 10);
    println!("after all of that:");
    all.extend(clicks(&studio, &session, "after all work"));
    all.sort_by(|a, b| b.milliseconds.total_cmp(&a.milliseconds));
    println!("of {} clicks the slowest:", all.len());
    let listed = |click: &Click| format!("{:7.1} ms  {}", click.milliseconds, click.what);
    all.iter().take(12).for_each(|click| println!("{}", listed(click)));
    let slow: Vec<String> = all.iter().filter(|click| click.milliseconds >= 100.0).map(listed).collect();
    assert!(slow.is_empty(), "of {} clicks:\n{}", all.len(), slow.join("\n"));
    assert!(of_studio as f64 <= 1.5 * of_command as f64, "{of_studio} KiB against {of_command} KiB");
}

/// Every page, and a change on each.
fn clicks(studio: &Studio, session: &Session, phase: &str) -> Vec<Click> {
    let pages = ["data", "hierarchies", "rules", "publish", "explore", "utility", "community", "export"];
    let page = |page: &&str| five(&format!("{phase}: GET /{page}"), || drop(studio.get(session, &format!("/{page}"))));
    let mut all: Vec<Click> = pages.iter().flat_map(page).collect();
    let posts = [
        ("/data/role", "name=sex&role=plain"),
        ("/data/role", "name=sex&role=quasi"),
        ("/rules/set", "rule=0&place=0&key=k&value=6"),
        ("/publish/suppression", "value=3"),
        ("/hierarchies/widths", "attribute=age&widths=5,10,20"),
        ("/hierarchies/cuts", "attribute=age&cuts=30:1,60:2"),
        ("/undo", "page=hierarchies"),
    ];
    all.extend(posts.iter().flat_map(|(path, form)| {
        five(&format!("{phase}: POST {path} {form}"), || drop(studio.post(session, path, form)))
    }));
    all
}

/// Work that takes long answers at once, with how far it is; pages are as fast meanwhile, and
/// canceling is a click like any other.
fn work(studio: &Studio, session: &Session, what: &str, path: &str, form: &str) -> Vec<Click> {
    let started = Instant::now();
    let is_under_way = |body: &str| body.contains("id=\"cancel-job\"");
    let mut is_long = false;
    let first = click(&format!("{what}: POST {path}"), || {
        is_long = is_under_way(&studio.post(session, path, form).body);
    });
    println!("{what}: answered in {:.0} ms", first.milliseconds);
    let mut all = vec![first];
    if is_long {
        let canceled = click(&format!("{what}: POST /job/cancel"), || {
            assert_eq!(studio.post(session, "/job/cancel", "").status, 200);
        });
        println!("{what}: canceled in {:.0} ms", canceled.milliseconds);
        all.push(canceled);
        studio.settled(session, "/rules");
        all.push(click(&format!("{what}: POST {path} again"), || drop(studio.post(session, path, form))));
    }
    loop {
        let mut is_running = false;
        all.push(click(&format!("{what} meanwhile: GET /export"), || {
            is_running = is_under_way(&studio.get(session, "/export").body);
        }));
        if !is_running {
            break;
        }
        for page in ["data", "rules", "publish", "explore", "community"] {
            all.push(click(&format!("{what} meanwhile: GET /{page}"), || {
                drop(studio.get(session, &format!("/{page}")));
            }));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("{what}: done in {:.1} s", started.elapsed().as_secs_f64());
    all
}
