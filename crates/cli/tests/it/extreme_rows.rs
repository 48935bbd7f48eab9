//! No bound in a release comes from the lowest or the highest person: the one extreme row moves,
//! and nothing that a release says of an axis follows it.

use crate::running::Folder;

const METHODS: [&str; 11] = [
    "method = \"full-domain\"",
    "method = \"mondrian\"",
    "method = \"mondrian\"\nstrict = false",
    "method = \"mondrian\"\nimprove = true",
    "method = \"best-cut\"",
    "method = \"best-cut\"\nimprove = true",
    "method = \"cluster\"",
    "method = \"cluster\"\nlabels = \"hierarchy\"",
    "method = \"cluster\"\nloss = \"ncp\"",
    "method = \"cluster\"\nimprove = true",
    "method = \"decompose\"\nanonymizer = \"mondrian\"",
];

/// The finite bounds of an attribute in a codebook.
fn bounds(folder: &Folder, release: &str, attribute: &str) -> Vec<String> {
    let codebook = folder.read(&format!("{release}/codebook.csv"));
    let mut bounds = Vec::new();
    for line in codebook.lines().skip(1).filter(|line| line.starts_with(&format!("{attribute},"))) {
        let fields: Vec<&str> = line.rsplitn(4, ',').collect();
        bounds.extend(fields[1..3].iter().filter(|bound| !bound.is_empty()).map(|bound| (*bound).to_owned()));
    }
    bounds
}

/// Publishes people of which one is extreme; `None` where no release is possible.
fn publish(folder: &Folder, values: &[String], kind: &str, method: &str) -> Option<Vec<String>> {
    let mut rows = String::from("value,sex,illness\n");
    for (index, value) in values.iter().enumerate() {
        rows.push_str(&format!("{value},{},{}\n", ["F", "M"][index / 2 % 2], ["flu", "cold", "ache"][index % 3]));
    }
    folder.write("people.csv", rows);
    let hierarchy = match kind {
        "date" => "hierarchy = { dates = [\"year\", \"decade\"] }",
        _ => "hierarchy = { widths = [10, 20] }",
    };
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nvalue = {{ role = \"quasi\", type = \"{kind}\", {hierarchy} }}\n\
             sex = {{ role = \"quasi\" }}\nillness = {{ role = \"sensitive\" }}\n[[rule]]\n\
             protect = \"illness\"\nrequire = [{{ model = \"distinct-l-diversity\", l = 2 }}]\n[publish]\n{method}\n"
        ),
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-q"]);
    assert!(matches!(ran.code, Some(0 | 3)), "{method}: {ran:?}");
    (ran.code == Some(0)).then(|| bounds(folder, "release", "value"))
}

/// Whether the extreme lies at the top or at the bottom of others within 20 to 60, or within a
/// century.
fn values(kind: &str, extreme: i64, seed: i64) -> Vec<String> {
    let others = (0..11).map(|index| 21 + (index * 7 + seed * 13) % 39);
    let shown = |value: i64| match kind {
        "integer" => value.to_string(),
        "float" => format!("{value}.25"),
        _ => format!("{}-03-{:02}", 1900 + value, 1 + value.rem_euclid(27)),
    };
    others.chain([extreme]).map(shown).collect()
}

fn number(kind: &str, text: &str) -> f64 {
    match kind {
        "date" => {
            let parts: Vec<f64> = text.split('-').map(|part| part.parse().unwrap()).collect();
            parts[0] * 400.0 + parts[1] * 32.0 + parts[2]
        }
        _ => text.parse().unwrap(),
    }
}

#[test]
fn no_bound_lies_between_the_extreme_person_and_the_next() {
    let folder = Folder::new();
    let mut released = 0;
    for kind in ["integer", "float", "date"] {
        for method in METHODS {
            for (extreme, seed) in [(64, 1), (83, 2), (5, 3), (17, 4)] {
                let values = values(kind, extreme, seed);
                let Some(found) = publish(&folder, &values, kind, method) else { continue };
                released += 1;
                let mut numbers: Vec<f64> = values.iter().map(|value| number(kind, value)).collect();
                let own = numbers.pop().unwrap();
                let next = if extreme > 40 {
                    numbers.iter().copied().fold(f64::MIN, f64::max)
                } else {
                    numbers.iter().copied().fold(f64::MAX, f64::min)
                };
                let (low, high) = (own.min(next), own.max(next));
                // A bound at the next value itself, or behind it, tells nothing of the extreme one.
                // One from a hierarchy may lie anywhere, since it is the same wherever the row is.
                let declared = |bound: &str| match kind {
                    "date" => bound.ends_with("-01-01"),
                    _ => number(kind, bound) % 10.0 == 0.0,
                };
                let telling = |bound: &&String| {
                    let bound = number(kind, bound);
                    let beyond = if extreme > 40 {
                        bound > low && bound <= high + 1.0
                    } else {
                        bound >= low - 1.0 && bound < high
                    };
                    beyond && bound != next
                };
                let is_hierarchical = method.contains("full-domain");
                let telling: Vec<&String> =
                    found.iter().filter(telling).filter(|bound| !is_hierarchical || !declared(bound)).collect();
                assert!(telling.is_empty(), "{kind}, {method}, {extreme}: {telling:?} of {found:?}\n{values:?}");
            }
        }
    }
    assert!(released > 100, "{released}");
}

/// Six people of two sexes: the label of the older women does not say how old the oldest man is.
#[test]
fn a_class_of_neighbors_does_not_end_at_the_oldest_person() {
    let folder = Folder::new();
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\nsex = { role = \"quasi\" }\n\
         [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n[publish]\nmethod = \"cluster\"\n",
    );
    let mut codebooks = Vec::new();
    for oldest in ["44", "45", "59", "97"] {
        folder.write("people.csv", format!("age,sex\n20,F\n21,F\n40,F\n41,F\n30,M\n{oldest},M\n"));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-q"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        codebooks.push(folder.read("release/codebook.csv"));
    }
    assert!(codebooks.iter().all(|codebook| *codebook == codebooks[0]), "{codebooks:?}");
}

/// A relaxed cut leaves people of one value on both sides, and the next value may be that of one
/// person: what a class covers does not follow that person. Where enough people lie beyond, it has
/// bounds.
#[test]
fn a_shared_value_does_not_end_where_the_oldest_person_begins() {
    let folder = Folder::new();
    let few_above = (&[25, 37, 47, 47, 47][..], [48, 50, 60, 77, 93], false);
    let few_below = (&[47, 47, 47, 52, 55][..], [5, 17, 33, 44, 46], false);
    let enough = (&[25, 26, 37, 38, 47, 47, 47, 47, 60, 61][..], [62, 66, 70, 77, 93], true);
    for kind in ["integer", "float", "date"] {
        folder.write(
            "policy.toml",
            format!(
                "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", type = \"{kind}\" }}\n\
                 illness = {{ role = \"sensitive\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = 2 }}\n\
                 [publish]\nmethod = \"mondrian\"\nstrict = false\n"
            ),
        );
        for (others, extremes, is_bounded) in [few_above, few_below, enough] {
            let mut found = Vec::new();
            for extreme in extremes {
                let ages = others.iter().copied().chain([extreme]);
                let row = |age: i32| match kind {
                    "integer" => format!("{age},flu\n"),
                    "float" => format!("{age}.5,flu\n"),
                    _ => format!("{}-03-09,flu\n", 1900 + age),
                };
                folder.write("people.csv", format!("age,illness\n{}", ages.map(row).collect::<String>()));
                let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-q"]);
                assert_eq!(ran.code, Some(0), "{ran:?}");
                found.push(bounds(&folder, "release", "age"));
            }
            assert!(found.iter().all(|bounds| *bounds == found[0]), "{kind}, {others:?}: {found:?}");
            assert_eq!(!found[0].is_empty(), is_bounded, "{kind}, {others:?}: {found:?}");
        }
    }
}
