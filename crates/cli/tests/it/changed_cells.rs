//! `check RELEASE --policy POLICY` compares what is released with the source: a changed cell is
//! found where the release alone does not betray it.

use crate::running::Folder;

const METHODS: [&str; 7] = ["full-domain", "mondrian", "best-cut", "cluster", "anatomy", "clone", "decompose"];

/// Sixty people with an illness and a cost of their own, and the release of a method.
fn published(method: &str) -> Folder {
    let folder = Folder::new();
    let row = |row: usize| {
        let illness = ["flu", "gout", "ulcer", "angina", "asthma"][row * 7 / 3 % 5];
        format!("{},{},{illness},{}\n", 20 + row * 13 % 60, ["f", "m"][row / 2 % 2], 100 + row)
    };
    folder.write("people.csv", format!("age,sex,illness,cost\n{}", (0..60).map(row).collect::<String>()));
    let (rule, publish) = match method {
        "anatomy" => ("frequency-l-diversity\", l = 2", "method = \"anatomy\""),
        "clone" => ("distinct-l-diversity\", l = 2", "method = \"clone\"\nk = 2\nsuppression = 0.2"),
        _ => ("distinct-l-diversity\", l = 2", &*format!("method = \"{method}\"")),
    };
    let cost = if matches!(method, "clone" | "decompose") { "identifier\"" } else { "plain\", allow-unique = true" };
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [10, 20, 40] }} }}\n\
             sex = {{ role = \"quasi\" }}\nillness = {{ role = \"sensitive\" }}\ncost = {{ role = \"{cost} }}\n\
             [[rule]]\nknow = [\"age\", \"sex\"]\nprotect = \"illness\"\nrequire = {{ model = \"{rule} }}\n[publish]\n{publish}\n"
        ),
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
    folder
}

fn check(folder: &Folder) -> [i32; 2] {
    let alone = folder.run(&["check", "release"]);
    let with_source = folder.run(&["check", "release", "--policy", "policy.toml"]);
    if with_source.code == Some(4) && alone.code == Some(0) {
        let words = ["do not come from the source", "rows in the source, which has", "the source has no column"];
        assert!(words.iter().any(|words| with_source.stdout.contains(words)), "{with_source:?}");
    }
    [alone, with_source].map(|ran| ran.code.unwrap())
}

#[test]
fn releases_as_they_were_published_come_from_their_source() {
    for method in METHODS {
        assert_eq!(check(&published(method)), [0, 0], "{method}");
    }
}

/// Illnesses of two rows of one class, exchanged: every class has the values that it had.
#[test]
fn values_that_change_places_are_noticed() {
    for method in ["full-domain", "mondrian", "best-cut", "cluster"] {
        let folder = published(method);
        let text = folder.read("release/data.csv");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let divided = |line: &str| -> [String; 3] {
            let mut cells = line.rsplitn(3, ',').map(str::to_owned);
            let [cost, illness, class] = [(); 3].map(|()| cells.next().unwrap());
            [class, illness, cost]
        };
        let pairs = (1..lines.len()).flat_map(|one| (one + 1..lines.len()).map(move |other| (one, other)));
        let differ = |&(one, other): &(usize, usize)| {
            let (one, other) = (divided(&lines[one]), divided(&lines[other]));
            one[0] == other[0] && one[1] != other[1]
        };
        let (one, other) = { pairs }.find(differ).unwrap();
        let ([class, illness, cost], [_, other_illness, other_cost]) = (divided(&lines[one]), divided(&lines[other]));
        lines[one] = format!("{class},{other_illness},{cost}");
        lines[other] = format!("{class},{illness},{other_cost}");
        folder.write("release/data.csv", lines.join("\n") + "\n");
        assert_eq!(check(&folder), [0, 4], "{method}");
    }
}

/// An illness in a bucket in place of one of another: in the whole it occurs more often than in
/// the source.
#[test]
fn values_of_buckets_are_noticed() {
    let folder = published("anatomy");
    let text = folder.read("release/sensitive.csv");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let cells = |line: &str| -> [String; 3] { [0, 1, 2].map(|at| line.split(',').nth(at).unwrap().to_owned()) };
    let is_there = |bucket: &str, illness: &str| {
        lines[1..].iter().any(|line| cells(line)[0] == bucket && cells(line)[1] == illness)
    };
    let changed = (1..lines.len()).find_map(|at| {
        let [bucket, _, count] = cells(&lines[at]);
        let free =
            ["flu", "gout", "ulcer", "angina", "asthma"].into_iter().find(|illness| !is_there(&bucket, illness))?;
        Some((at, format!("{bucket},{free},{count}")))
    });
    let (at, line) = changed.unwrap();
    lines[at] = line;
    folder.write("release/sensitive.csv", lines.join("\n") + "\n");
    assert_eq!(check(&folder)[1], 4);
}

/// The source without a row, or with other rows, is not that of the release; without any source,
/// `check` says what it did not compare.
#[test]
fn another_source_is_noticed_and_a_missing_one_is_said() {
    let folder = published("mondrian");
    let people = folder.read("people.csv");
    let without_last = people.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n";
    folder.write("people.csv", without_last);
    assert_eq!(check(&folder), [0, 4]);
    folder.write("people.csv", people.replace("flu", "influenza"));
    assert_eq!(check(&folder), [0, 4]);
    std::fs::remove_file(folder.path("people.csv")).unwrap();
    let ran = folder.run(&["check", "release", "--policy", "policy.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("the source is not here: released rows were not compared with it"), "{ran:?}");
}
