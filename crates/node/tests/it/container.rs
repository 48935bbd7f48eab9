//! The container recipe without a container engine: its steps are run in a root folder of the
//! distribution that it names, and the node is started from there as the engine would start it.
//!
//! It needs root, `debootstrap`, and a mirror of Debian (`HEDGEROW_DEBIAN_MIRROR`, or the usual
//! one). `HEDGEROW_NODE` names another program than that of the tests, such as a release build.
//! It does not show that the first stage compiles in its image, nor layers, nor the engine.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::federation::{Federation, POLICY, people};

const RECIPE: &str = include_str!("../../../../examples/node/Containerfile");
/// The user, as the recipe's first lines say: `--user 1000`.
const USER: u32 = 1000;
/// As `--read-only`, `--cap-drop all`, `--user 1000` and the two volumes of the recipe's first
/// lines.
const ENGINE: &str = r#"set -e
root="$1" etc="$2" data="$3"; shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mkdir -p "$root/etc/hedgerow"
mount --bind "$etc" "$root/etc/hedgerow"
mount -o remount,ro,bind "$root/etc/hedgerow"
mount --bind "$data" "$root/var/lib/hedgerow"
mount -t proc proc "$root/proc"
mount -o remount,ro,bind "$root"
exec chroot "$root" setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set=-all --no-new-privs "$@"
"#;

/// The instructions of the recipe by stage, lines that end with a backslash joined.
fn stages() -> Vec<Vec<(String, String)>> {
    let mut stages: Vec<Vec<(String, String)>> = Vec::new();
    let lines = RECIPE.lines().filter(|line| !line.starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    for line in joined.lines().filter(|line| !line.trim().is_empty()) {
        let (instruction, rest) = line.split_once(' ').unwrap();
        if instruction == "FROM" {
            stages.push(Vec::new());
        }
        stages.last_mut().unwrap().push((instruction.to_owned(), rest.trim().to_owned()));
    }
    stages
}

fn done(what: &str, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{what}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

struct Root {
    folder: tempfile::TempDir,
    /// The command that the container starts.
    starts: Vec<String>,
}

impl Root {
    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside.trim_start_matches('/'))
    }

    /// A root folder of the image that the last stage begins with.
    fn new(from: &str) -> Root {
        let suite = from.strip_prefix("docker.io/library/debian:").and_then(|tag| tag.strip_suffix("-slim")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mirror = std::env::var("HEDGEROW_DEBIAN_MIRROR");
        let mirror = mirror.unwrap_or_else(|_| "http://deb.debian.org/debian".to_owned());
        let mut debootstrap = Command::new("debootstrap");
        let made = debootstrap.args(["--variant=minbase", suite]).arg(folder.path()).arg(mirror).output();
        done("debootstrap", &made.expect("debootstrap is there"));
        Root { folder, starts: Vec::new() }
    }

    fn sh(&self, command: &str) -> String {
        let mut chroot = Command::new("chroot");
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let run = chroot.arg(self.folder.path()).args(["/bin/sh", "-c", command]).env("PATH", path);
        done(command, &run.output().unwrap())
    }

    /// One instruction of the last stage.
    fn step(&mut self, instruction: &str, rest: &str) {
        match instruction {
            "FROM" | "EXPOSE" | "HEALTHCHECK" => {}
            "COPY" => {
                let built = "--from=build /hedgerow/target/release/hedgerow-node ";
                let to = rest.strip_prefix(built).unwrap_or_else(|| panic!("not what the first stage builds: {rest}"));
                let program = std::env::var("HEDGEROW_NODE");
                let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_hedgerow-node").to_owned());
                fs::copy(program, self.path(to).join("hedgerow-node")).unwrap();
            }
            "RUN" => drop(self.sh(rest)),
            "USER" => assert_eq!(self.sh(&format!("id -u {rest}")).trim(), USER.to_string()),
            "VOLUME" => {
                let found = fs::metadata(self.path(rest)).unwrap();
                assert_eq!((found.uid(), found.mode() & 0o7777), (USER, 0o700), "{rest}");
            }
            "ENTRYPOINT" | "CMD" => {
                let words: Vec<String> = serde_json::from_str(rest).unwrap();
                self.starts.extend(words);
            }
            _ => panic!("an instruction that this test does not run: {instruction} {rest}"),
        }
    }

    /// As the engine would start it.
    fn start(&self, etc: &Path, data: &Path, words: &[String], log: Stdio) -> Child {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENGINE, "engine"]);
        command.arg(self.folder.path()).arg(etc).arg(data).args(words).stderr(log);
        command.spawn().unwrap()
    }
}

#[test]
#[ignore = "needs root, debootstrap and a mirror of Debian"]
fn the_steps_of_the_container_recipe_make_a_node_that_publishes() {
    let stages = stages();
    let [build, last] = stages.as_slice() else { panic!("{} stages", stages.len()) };
    let compiles = "cargo build --release --locked --package hedgerow-node";
    assert!(build.iter().any(|(instruction, rest)| instruction == "RUN" && rest == compiles));
    let mut root = Root::new(&last[0].1);
    for (instruction, rest) in last {
        root.step(instruction, rest);
    }
    let libraries = root.sh("ldd /usr/local/bin/hedgerow-node");
    assert!(libraries.contains("libc.so") && !libraries.contains("not found"), "{libraries}");

    let mut federation = Federation::new(POLICY, &people(3), "");
    let (etc, data) = (federation.home("site-0"), federation.data(0));
    let settings = fs::read_to_string(etc.join("node.toml")).unwrap();
    let listen = format!("listen = \"127.0.0.1:{}\"", federation.ports[0]);
    assert!(settings.contains(&listen) && settings.contains("data = \"data\""), "{settings}");
    let settings = settings.replace(&listen, &listen.replace("127.0.0.1", "0.0.0.0"));
    let settings = settings.replace("data = \"data\"", "data = \"/var/lib/hedgerow\"");
    fs::write(etc.join("node.toml"), settings).unwrap();
    fs::create_dir_all(&data).unwrap();
    done("chown", &Command::new("chown").args(["-R", "1000:1000"]).arg(&etc).output().unwrap());

    let tries = "touch /usr/here && exit 1; touch /etc/hedgerow/here && exit 2; touch /var/lib/hedgerow/here || exit 3; \
                 rm /var/lib/hedgerow/here; grep -q '^CapBnd:[[:space:]]*0*$' /proc/self/status || exit 4";
    let tries: Vec<String> = ["sh", "-c", tries].map(str::to_owned).to_vec();
    let tried = root.start(&etc, &data, &tries, Stdio::null()).wait().unwrap();
    assert_eq!(tried.code(), Some(0), "it writes elsewhere than in its volume");

    let log = fs::File::create(federation.home("site-1").join("log-of-the-container")).unwrap();
    federation.adopt(0, root.start(&etc, &data, &root.starts, log.into()));
    [1, 2].into_iter().for_each(|place| federation.start(place));
    let endings = federation.run(0);
    assert!(endings.iter().all(|ending| ending["ended"] == "published"), "{endings:?}");
    assert_eq!(federation.released(0, 1), federation.released(1, 1));
    assert_eq!(fs::metadata(data.join("journal.db")).unwrap().uid(), USER);

    // The engine's signal goes to the first process of the container.
    let mut engine = federation.release(0);
    let children = format!("/proc/{0}/task/{0}/children", engine.id());
    let node = fs::read_to_string(children).unwrap();
    done("kill", &Command::new("kill").args(["-TERM", node.trim()]).output().unwrap());
    let until = Instant::now() + Duration::from_secs(30);
    let ended = loop {
        match engine.try_wait().unwrap() {
            Some(ended) => break ended,
            None => assert!(Instant::now() < until, "it does not end"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(ended.success(), "{ended}");
}
