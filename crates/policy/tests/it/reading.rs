//! Good policies: everything the contract shows, other ways to write it, warnings, and files as
//! they come.

use std::path::{Path, PathBuf};

use hedgerow_policy::{Format, Loss, Method, Policy, Role};
use hedgerow_privacy::{Distance, Model, NumberCloseness};
use hedgerow_table::date::Date;
use hedgerow_table::hierarchy::{Bound, DateUnit};
use hedgerow_table::{HierarchySpec, Kind, Ratio};

const EVERYTHING: &str = r#"
[source]
path = "data/patients.dat"
format = "csv"
delimiter = ";"
quote = "'"
null = ["", "?", "NA", "?"]

[attributes]
name      = { role = "identifier" }
age       = { role = "quasi", type = "integer", hierarchy = { widths = [5, 10, 20] } }
zip       = { role = "quasi", type = "category", hierarchy = { mask = 5 } }
sex       = { role = "quasi" }
education = { role = "quasi", hierarchy = "education.csv" }
income    = { role = "quasi", hierarchy = { breaks = [[0, 1000.5, 2000], [1000.5]] } }
height    = { role = "quasi", hierarchy = { breaks = [150, 170] } }
admitted  = { role = "quasi", hierarchy = { dates = ["month", "quarter", "year"] } }
"date of birth" = { role = "quasi", type = "date", hierarchy = { breaks = ["1950-01-01", 2000-01-01] } }
disease   = { role = "sensitive", hierarchy = { file = "/abs/disease.csv" } }
ward      = { role = "plain" }

[[rule]]
require = { model = "k-anonymity", k = 5 }
[[rule]]
know = ["age", "ward"]
protect = "disease"
require = [
  { model = "distinct-l-diversity", l = 3 },
  { model = "frequency-l-diversity", l = 2.5 },
  { model = "entropy-l-diversity", l = 2 },
  { model = "recursive-l-diversity", c = 0.5, l = 2 },
  { model = "t-closeness", t = 0.3 },
  { model = "t-closeness", t = 0.25, distance = "hierarchical" },
  { model = "alpha-k-anonymity", alpha = 0.5, k = 4, values = ["HIV", 3] },
  { model = "epsilon-m-anonymity", epsilon = 12.5, m = 2 },
  { model = "epsilon-m-anonymity", epsilon = 0.1, m = 2.5, relative = true },
  { model = "delta-l-diversity", delta = 7.5, l = 2 },
  { model = "delta-l-diversity", delta = 3, l = 4, reading = "pairwise" },
]

[publish]
method = "full-domain"
suppression = 0.02
loss = "average-class"
max-nodes = 100_000
max-seconds = 2.5

[community]
releases = []
"#;

fn parse(text: &str) -> Policy {
    Policy::parse(text, Path::new("study/policy.toml")).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn everything_the_contract_shows() {
    let policy = parse(EVERYTHING);
    assert_eq!(policy.path, Path::new("study/policy.toml"));
    assert_eq!(policy.source.path, Path::new("study/data/patients.dat"));
    assert_eq!(policy.source.format, Some(Format::Csv));
    assert_eq!((policy.source.delimiter, policy.source.quote), (Some(b';'), Some(b'\'')));
    assert_eq!(policy.source.nulls, ["", "?", "NA"]);
    assert_eq!(policy.source.place, "study/policy.toml:3:1: source.path");
    assert!(policy.community.releases.is_empty());
    assert!(policy.warnings.is_empty(), "{:?}", policy.warnings);

    let publish = &policy.publish;
    assert_eq!((publish.method, publish.loss), (Method::FullDomain, Loss::AverageClass));
    assert_eq!(publish.suppression, Ratio { numerator: 1, denominator: 50 });
    assert_eq!((publish.max_nodes, publish.max_seconds), (Some(100_000), Some(2.5)));
}

#[test]
fn attributes_keep_their_order_and_hierarchies() {
    let policy = parse(EVERYTHING);
    let names: Vec<&str> = policy.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    let quasi = ["age", "zip", "sex", "education", "income", "height", "admitted", "date of birth"];
    assert_eq!(names, [&["name"], &quasi[..], &["disease", "ward"]].concat());
    assert!(policy.quasi().map(|attribute| attribute.name.as_str()).eq(quasi));

    let spec = |name: &str| policy.attribute(name).unwrap().hierarchy.as_ref().map(|(spec, _)| spec.clone());
    let day = |y, m, d| Bound::Date(Date::from_ymd(y, m, d).unwrap());
    assert_eq!(spec("age"), Some(HierarchySpec::Widths(vec![5.0, 10.0, 20.0])));
    assert_eq!(spec("zip"), Some(HierarchySpec::Mask(5)));
    assert_eq!(spec("sex"), None);
    assert_eq!(spec("education"), Some(HierarchySpec::File(PathBuf::from("study/education.csv"))));
    let income = vec![vec![Bound::Float(0.0), Bound::Float(1000.5), Bound::Float(2000.0)], vec![Bound::Float(1000.5)]];
    assert_eq!(spec("income"), Some(HierarchySpec::Breaks(income)));
    let height = vec![vec![Bound::Integer(150), Bound::Integer(170)]];
    assert_eq!(spec("height"), Some(HierarchySpec::Breaks(height)), "a flat list is one level");
    let units = vec![DateUnit::Month, DateUnit::Quarter, DateUnit::Year];
    assert_eq!(spec("admitted"), Some(HierarchySpec::Dates(units)));
    let births = HierarchySpec::Breaks(vec![vec![day(1950, 1, 1), day(2000, 1, 1)]]);
    assert_eq!(spec("date of birth"), Some(births));
    assert_eq!(spec("disease"), Some(HierarchySpec::File(PathBuf::from("/abs/disease.csv"))));

    let born = policy.attribute("date of birth").unwrap();
    assert_eq!((born.role, born.kind), (Role::Quasi, Some(Kind::Date)));
    assert_eq!(born.place, "study/policy.toml:18:1: attributes.\"date of birth\"");
    let (_, place) = policy.attribute("zip").unwrap().hierarchy.as_ref().unwrap();
    assert_eq!(place, "study/policy.toml:12:50: attributes.zip.hierarchy");
    assert_eq!(policy.attribute("absent"), None);
}

#[test]
fn rules_are_resolved() {
    let policy = parse(EVERYTHING);
    let [first, second] = policy.rules.as_slice() else { panic!("two rules") };
    assert!(first.know.iter().eq(policy.quasi().map(|attribute| &attribute.name)), "every quasi attribute by default");
    assert_eq!((first.protect.as_deref(), first.require.as_slice()), (None, &[Model::KAnonymity { k: 5 }][..]));
    assert_eq!(first.place, "study/policy.toml:22:1: rule[1]");
    assert_eq!(second.know, ["age", "ward"]);
    assert_eq!(second.protect.as_deref(), Some("disease"));
    let ratio = |numerator, denominator| Ratio { numerator, denominator };
    assert_eq!(
        second.require,
        [
            Model::DistinctLDiversity { l: 3 },
            Model::FrequencyLDiversity { l: ratio(5, 2) },
            Model::EntropyLDiversity { l: ratio(2, 1) },
            Model::RecursiveLDiversity { c: ratio(1, 2), l: 2 },
            Model::TCloseness { t: ratio(3, 10), distance: Distance::Equal, order: None },
            Model::TCloseness { t: ratio(1, 4), distance: Distance::Hierarchical, order: None },
            Model::AlphaKAnonymity { alpha: ratio(1, 2), k: 4, values: Some(vec!["HIV".into(), "3".into()]) },
            Model::EpsilonMAnonymity { epsilon: ratio(25, 2), m: ratio(2, 1), relative: false },
            Model::EpsilonMAnonymity { epsilon: ratio(1, 10), m: ratio(5, 2), relative: true },
            Model::DeltaLDiversity { delta: ratio(15, 2), l: ratio(2, 1), reading: NumberCloseness::Window },
            Model::DeltaLDiversity { delta: ratio(3, 1), l: ratio(4, 1), reading: NumberCloseness::Pairwise },
        ]
    );
    assert_eq!(second.require_places.len(), second.require.len());
    assert_eq!(second.require_places[6], "study/policy.toml:34:3: rule[2].require[7]");
}

const SMALL: &str = "[source]\npath = \"a.csv\"\n[attributes]\nage = { role = \"quasi\" }\n[[rule]]\n\
                     require = { model = \"k-anonymity\", k = 2 }\n";

#[test]
fn omitted_keys_have_defaults() {
    let policy = parse(SMALL);
    assert_eq!(policy.source.nulls, [""]);
    assert_eq!((policy.source.format, policy.source.delimiter, policy.source.quote), (None, None, None));
    assert_eq!((policy.publish.method, policy.publish.loss), (Method::FullDomain, Loss::Ncp));
    assert_eq!(policy.publish.suppression, Ratio::ZERO);
    assert_eq!((policy.publish.max_nodes, policy.publish.max_seconds), (None, None));
    assert_eq!(policy.rules[0].know, ["age"]);
    let none_missing = parse(&SMALL.replace("[attributes]", "null = []\n[attributes]"));
    assert!(none_missing.source.nulls.is_empty(), "the list given is the whole list");
}

#[test]
fn other_ways_to_write_the_same() {
    let inline = "source = { path = \"a.csv\" }\nattributes.age.role = \"quasi\"\n\
                  rule = [{ require = [{ k = 2, model = \"k-anonymity\" }] }]\n";
    let headers = "[source]\npath = 'a.csv'\n[attributes.age]\nrole = \"quasi\"\n[[rule]]\n[rule.require]\n\
                   model = \"k-anonymity\"\nk = 0x2\n";
    let listed = "[source]\npath = 'a.csv'\n[attributes.age]\nrole = \"quasi\"\n[[rule]]\n[[rule.require]]\n\
                  model = \"k-anonymity\"\nk = 2\n";
    let small = parse(SMALL);
    for text in [inline, headers, listed] {
        let policy = parse(text);
        assert_eq!(policy.source.path, small.source.path);
        assert_eq!(policy.rules[0].require, small.rules[0].require);
        assert_eq!(policy.rules[0].know, small.rules[0].know);
    }
}

#[test]
fn probable_mistakes_are_warnings() {
    let text = SMALL.replace("k = 2", "k = 1").replace(
        "[[rule]]\n",
        "zip = { role = \"quasi\" }\ndisease = { role = \"sensitive\" }\n[[rule]]\nknow = [\"age\"]\n",
    );
    let warnings: Vec<String> = parse(&text).warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 3, "{warnings:#?}");
    let starts = [
        "study/policy.toml:9:1: rule[1].require: `k-anonymity` with these parameters holds for any table\nhint: ",
        "study/policy.toml:5:1: attributes.zip: quasi, but no rule takes it as known",
        "study/policy.toml:6:1: attributes.disease: sensitive, but no rule protects it",
    ];
    for (warning, start) in warnings.iter().zip(starts) {
        assert!(warning.starts_with(start), "{warning}");
    }
}

#[test]
fn keys_that_a_method_does_not_use_are_warnings() {
    for method in ["mondrian", "best-cut", "anatomy"] {
        let publish = format!("[publish]\nmethod = \"{method}\"\nsuppression = 0.02\nloss = \"ncp\"\n");
        let warnings: Vec<String> =
            parse(&(SMALL.to_owned() + &publish)).warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 2, "{warnings:#?}");
        assert!(warnings.iter().all(|warning| warning.contains("every row is released")), "{warnings:#?}");
    }
    let full_domain = parse(&(SMALL.to_owned() + "[publish]\nsuppression = 0.02\nloss = \"ncp\"\n"));
    assert!(full_domain.warnings.is_empty(), "{:?}", full_domain.warnings);
}

#[test]
fn files_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    let windows = format!("\u{feff}{}", SMALL.replace('\n', "\r\n"));
    std::fs::write(&file, windows).unwrap();
    let policy = Policy::load(&file).unwrap();
    assert_eq!(policy.source.path, folder.path().join("a.csv"));
    assert!(policy.source.place.ends_with("policy.toml:2:1: source.path"), "{}", policy.source.place);

    let refusal = |path: &Path| Policy::load(path).unwrap_err().to_string();
    let missing = refusal(&folder.path().join("polcy.toml"));
    assert!(missing.contains("polcy.toml: no such file\nhint: ") && missing.contains("hedgerow init"), "{missing}");
    let directory = refusal(folder.path());
    assert!(directory.contains(": a folder, not a file\nhint: "), "{directory}");
    std::fs::write(&file, b"[source]\npath = \"\xe4.csv\"\n").unwrap();
    let latin = refusal(&file);
    assert!(latin.contains("policy.toml:2:9: not valid UTF-8\nhint: "), "{latin}");
    std::fs::write(&file, vec![b'a'; 3 << 20]).unwrap();
    assert!(refusal(&file).contains("policy.toml: larger than 1 MiB"), "{}", refusal(&file));
    std::fs::write(&file, b"\0\0PAR1\0").unwrap();
    assert!(refusal(&file).contains("policy.toml:1:8: not valid TOML"), "{}", refusal(&file));
}
