//! Files as users write them, and every way in which one is refused.

use super::super::testing::{build, check, domain, domain_of, refusal, texts};
use super::super::{Bound, Cover, Hierarchy, HierarchySpec};
use crate::domain::{Domain, Kind};

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn spec(&self, content: impl AsRef<[u8]>) -> HierarchySpec {
        let path = self.0.path().join("levels.csv");
        std::fs::write(&path, content).unwrap();
        HierarchySpec::File(path)
    }

    fn build(&self, content: &str, domain: &Domain) -> Hierarchy {
        let hierarchy = build(&self.spec(content), domain);
        check(&hierarchy, domain, content);
        hierarchy
    }

    /// The refusal without the directory, so that it begins with the file's name.
    fn refusal(&self, content: impl AsRef<[u8]>, texts: &[&str]) -> String {
        let error = refusal(&self.spec(content), &domain(texts));
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn leaves(texts: &[&str]) -> Cover {
    Cover::Leaves(texts.iter().map(|text| (*text).to_owned()).collect())
}

const JOBS: &str = "nurse;care;*\ndoctor;care;*\nbaker;food;*\ncook;food;*\n";

#[test]
fn leaves_count_whether_or_not_they_occur() {
    let domain = domain(&["doctor", "cook"]);
    let hierarchy = Files::new().build(JOBS, &domain);
    assert_eq!((hierarchy.top(), hierarchy.leaves()), (2, 4));
    assert_eq!(texts(&hierarchy, 1), ["food", "care"], "numbered by the first value in the data");
    let food = &hierarchy.levels()[1].labels[0];
    assert_eq!((&food.cover, food.leaves), (&leaves(&["baker", "cook"]), 2));
    assert_eq!(hierarchy.levels()[2].labels[0].cover, leaves(&["nurse", "doctor", "baker", "cook"]));
    assert_eq!(hierarchy.occurring(1), [1, 1]);
}

/// Where a level is released in place of the values, its labels are the leaves of those above.
#[test]
fn the_levels_above_one_that_is_released() {
    let files = Files::new();
    let spec = files.spec("nurse;care;people;*\ndoctor;care;people;*\nbaker;food;things;*\nNA;none;none;*\n");
    let released = domain(&["care", "food", ""]);
    let nulls = ["NA".to_owned()];
    let (hierarchy, under) =
        Hierarchy::above_level(&spec, 1, "job", "policy.toml", &released, &nulls).unwrap().unwrap();
    assert_eq!((hierarchy.top(), hierarchy.leaves()), (2, 4));
    assert_eq!(texts(&hierarchy, 1), ["people", "things", ""]);
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!((&under["care"], &under["none"]), (&owned(&["nurse", "doctor"]), &owned(&[""])));
    let codes = domain(&["021**", "94***", "022**"]);
    let above = Hierarchy::above_level(&HierarchySpec::Mask(4), 2, "zip", "policy.toml", &codes, &nulls);
    let (hierarchy, _) = above.unwrap().unwrap();
    assert_eq!(texts(&hierarchy, 3), ["02***", "02***", "94***"]);
    let widths = HierarchySpec::Widths(vec![10.0]);
    let none = Hierarchy::above_level(&widths, 1, "job", "policy.toml", &released, &nulls).unwrap();
    assert!(none.is_none());
}

#[test]
fn delimiters_marks_line_endings_and_quotes_are_seen_through() {
    let domain = domain(&["a;b", "c"]);
    for content in ["\u{feff}\"a;b\",x,*\r\nc,x,*\r\n", "\"a;b\"\tx\t*\n\nc\tx\t*", "\"a;b\";x;*\nc;\"x\";*"] {
        let hierarchy = Files::new().build(content, &domain);
        assert_eq!((hierarchy.top(), texts(&hierarchy, 1)), (2, vec!["x".to_owned(); 2]), "{content}");
    }
}

#[test]
fn runs_of_numbers_and_dates_are_intervals() {
    let ages = domain(&["1", "4"]);
    let hierarchy = Files::new().build("4;b;x;*\n1;a;x;*\n2;a;x;*\n3;b;x;*\n9;c;x;*\n7;a;x;*\n", &ages);
    assert_eq!(texts(&hierarchy, 1), ["a", "b"]);
    let labels = &hierarchy.levels()[1].labels;
    assert_eq!(labels[0].cover, leaves(&["1", "2", "7"]), "3 and 4 lie between");
    let run = Cover::Interval { low: Some(Bound::Integer(3)), high: Some(Bound::Integer(5)) };
    assert_eq!((&labels[1].cover, labels[1].leaves), (&run, 2));
    let all = Cover::Interval { low: Some(Bound::Integer(1)), high: Some(Bound::Integer(10)) };
    assert_eq!(hierarchy.levels()[3].labels[0].cover, all);

    let days = domain(&["2020-01-01", "2020-06-01"]);
    let hierarchy = Files::new().build("2020-01-01;a;*\n2020-06-01;b;*\n2020-07-01;b;*\n", &days);
    assert!(matches!(hierarchy.levels()[1].labels[0].cover, Cover::Point(_)));
    assert!(matches!(hierarchy.levels()[1].labels[1].cover, Cover::Interval { .. }));

    let floats = domain(&["1.5", "2"]);
    let hierarchy = Files::new().build("1.50;a;*\n2;b;*\n2.5;b;*\n", &floats);
    assert_eq!(hierarchy.levels()[1].labels[0].cover, Cover::Point(Bound::Float(1.5)));
    assert_eq!(hierarchy.levels()[1].labels[1].cover, leaves(&["2", "2.5"]));

    let edge = domain_of(&["9223372036854775807", "9223372036854775806"], None);
    let hierarchy = Files::new().build("9223372036854775807;*\n9223372036854775806;*\n", &edge);
    assert!(matches!(hierarchy.levels()[1].labels[0].cover, Cover::Interval { high: None, .. }));
}

#[test]
fn a_missing_value_without_a_row_stays_by_itself_until_the_top() {
    let hierarchy = Files::new().build(JOBS, &domain(&["cook", ""]));
    assert_eq!(hierarchy.leaves(), 5);
    assert_eq!(texts(&hierarchy, 1), ["food", ""]);
    assert_eq!(hierarchy.levels()[1].labels[1].cover, Cover::Missing);
    let top = &hierarchy.levels()[2].labels[0];
    assert_eq!((&top.cover, top.leaves), (&leaves(&["nurse", "doctor", "baker", "cook", ""]), 5));

    let ages = Files::new().build("1;*\n2;*\n", &domain(&["1", ""]));
    assert_eq!(ages.levels()[1].labels[0].cover, leaves(&["1", "2", ""]));
    let empty = Files::new().build(JOBS, &domain(&[""]));
    assert_eq!((texts(&empty, 1), texts(&empty, 2)), (vec![String::new()], vec!["*".to_owned()]));
}

#[test]
fn a_row_for_the_missing_value_is_followed() {
    let content = "1;low;*\n2;low;*\n?;low;*\n3;high;*\n";
    let hierarchy = Files::new().build(content, &domain(&["1", "3", ""]));
    assert_eq!(hierarchy.leaves(), 4);
    assert_eq!(texts(&hierarchy, 0), ["1", "3", ""]);
    assert_eq!(texts(&hierarchy, 1), ["low", "high", "low"]);
    assert_eq!(hierarchy.levels()[1].labels[0].cover, leaves(&["1", "2", ""]));

    let apart = Files::new().build("?;unknown;*\na;b;*\n", &domain(&["a", ""]));
    assert_eq!(texts(&apart, 1), ["b", ""], "a label for missing cells alone is a missing cell");
    assert_eq!(apart.levels()[1].labels[1].cover, Cover::Missing);
    let unused = Files::new().build(content, &domain(&["1", "3"]));
    assert_eq!((unused.leaves(), unused.levels()[1].labels[0].leaves), (4, 3));
    let only = Files::new().build("?;*\n", &domain(&[""]));
    assert_eq!(only.levels()[1].labels[0].cover, Cover::Everything);
}

#[test]
fn a_single_column_is_a_hierarchy_of_one_value() {
    let hierarchy = Files::new().build("all\n", &domain(&["all"]));
    assert_eq!((hierarchy.top(), hierarchy.leaves()), (0, 1));
    assert!(Files::new().refusal("a\nb\n", &["a"]).starts_with("levels.csv: attribute `age`: the file has one column"));
    assert!(Files::new().refusal("a\n", &["a", ""]).contains("no common top"));
}

#[test]
fn an_empty_column_still_has_its_levels() {
    let hierarchy = Files::new().build(JOBS, &domain(&[]));
    assert_eq!((hierarchy.top(), hierarchy.leaves()), (2, 4));
    assert_eq!(hierarchy.levels()[1].labels.len(), 0);
}

#[test]
fn every_fault_is_refused_where_it_is() {
    let cases: [(&str, &[&str], &str); 18] = [
        ("", &["a"], "levels.csv: attribute `age`: the file is empty"),
        ("\n\n", &["a"], "the file is empty"),
        ("a;x;*\nb;*\n", &["a"], "levels.csv:2: attribute `age`: the row of `b` has 2 columns, but line 1 has 3"),
        ("a;x;*\nb;;*\n", &["a"], "levels.csv:2: attribute `age`: the row of `b` has no label on level 1"),
        ("a;x;*\nb;y;\n", &["a"], "the row of `b` has no label on level 2"),
        ("a;x;*\nb;x;*\n\na;x;*\n", &["a"], "levels.csv:4: attribute `age`: the leaf `a` is also on line 1"),
        ("a;x;*\na;y;*\n", &["a"], "also on line 1, with `x` on level 1 there and `y` here"),
        ("1;x;*\n2;x;*\n1;y;*\n", &["1"], "levels.csv:3: attribute `age`: the leaf `1` is also on line 1"),
        ("1.5;*\n1.50;*\n", &["1.5"], "the leaf `1.50` is also on line 1"),
        ("07;*\n8;*\n", &["8"], "levels.csv:1: attribute `age`: the leaf `07` is not an integer"),
        ("x;*\n", &["8.5"], "the leaf `x` is not a number"),
        ("2020-02-30;*\n", &["2020-01-01"], "the leaf `2020-02-30` is not a date"),
        (
            "a;x;p;*\nb;x;q;*\n",
            &["a"],
            "levels.csv:2: attribute `age`: level 2 is not a coarsening: `x` on level 1 becomes `q` here but `p` on line 1",
        ),
        (
            "a;x\nb;y\n",
            &["a"],
            "levels.csv:2: attribute `age`: the values have no common top: the last level, 1, has `y` here and `x` on line 1",
        ),
        ("a;*\n", &["a", "b"], "levels.csv: attribute `age`: the file lacks 1 value that the data holds: `b`"),
        (" a;*\n", &["a"], "hint: line 1 has ` a`, which differs in spaces only"),
        (
            "a;*\n?;*\n;*\n",
            &["a"],
            "levels.csv:3: attribute `age`: `` stands for a missing value, and so does `?` on line 2",
        ),
        ("*;*\na;*\n", &["*", "a"], "the data holds the value `*`"),
    ];
    for (content, texts, expected) in cases {
        let error = Files::new().refusal(content, texts);
        assert!(error.contains(expected), "{content:?} gave {error}");
    }
}

#[test]
fn a_label_that_is_another_value_is_refused() {
    let cases: [(&str, &[&str], &str); 5] = [
        (
            "M;F;*\nF;M;*\n",
            &["F", "M"],
            "levels.csv:1: attribute `age`: the label `F` of `M` on level 1 is the value of line 2",
        ),
        ("M;F;*\nF;F;*\n", &["F", "M"], "levels.csv:1: attribute `age`: the label `F` of `M` on level 1"),
        ("a;x;*\nb;x;*\nx;y;*\n", &["a"], "levels.csv:1: attribute `age`: the label `x` of `a` on level 1"),
        ("1;10;*\n10;10;*\n", &["1", "10"], "levels.csv:1: attribute `age`: the label `10` of `1` on level 1"),
        ("1.5;2.50;*\n2.5;b;*\n", &["1.5"], "levels.csv:1: attribute `age`: the label `2.50` of `1.5` on level 1"),
    ];
    for (content, texts, expected) in cases {
        let error = Files::new().refusal(content, texts);
        assert!(error.contains(expected), "{content:?} gave {error}");
    }
    let kept = Files::new().build("F;F;*\nM;M;*\nX;other;*\n", &domain(&["F", "M", "X"]));
    assert_eq!(texts(&kept, 1), ["F", "M", "other"], "a value may keep its own text on a higher level");
}

#[test]
fn values_that_the_file_lacks_are_counted_and_some_named() {
    let error = Files::new().refusal("z;*\n", &["a", "b", "c", "d", "e", "f", "z"]);
    assert!(error.contains("the file lacks 6 values that the data holds: `a`, `b`, `c`, `d`, `e`, …"), "{error}");
    let numbers = Files::new().refusal("1;*\n", &["1", "2"]);
    assert!(numbers.contains("lacks 1 value that the data holds: `2`"), "{numbers}");
}

#[test]
fn an_empty_leaf_is_the_missing_value_or_refused() {
    let files = Files::new();
    let spec = files.spec("a;*\n;*\n");
    let data = domain(&["a"]);
    assert_eq!(build(&spec, &data).leaves(), 2);
    let error = Hierarchy::build(&spec, "age", "policy.toml", &data, &["NA".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("levels.csv:2: attribute `age`: the row has no leaf"), "{error}");
}

#[test]
fn limits_hold() {
    let files = Files::new();
    let wide = |levels: usize| format!("a{}\n", ";*".repeat(levels));
    assert_eq!(files.build(&wide(64), &domain(&["a"])).top(), 64);
    assert!(files.refusal(wide(65), &["a"]).contains("levels.csv:1: attribute `age`: the row has 65 levels"));
    let long: String = (0..=super::ROWS_MAX).map(|row| format!("{row};*\n")).collect();
    assert!(files.refusal(&long, &["1"]).contains("levels.csv:1000001: attribute `age`: the file has more than"));
    let mut large = vec![b'\n'; super::BYTES_MAX as usize + 1];
    large[0] = b'a';
    let HierarchySpec::File(path) = files.spec(&large) else { unreachable!() };
    let error = Hierarchy::build(&HierarchySpec::File(path), "age", "policy", &domain(&["a"]), &[]).unwrap_err();
    assert!(error.to_string().contains("larger than 64 MiB"), "{error}");
}

#[test]
fn a_path_that_leads_nowhere_is_a_mistake_in_the_policy() {
    let files = Files::new();
    let data = domain_of(&["a"], Some(Kind::Category));
    for (path, expected) in
        [(files.0.path().join("none.csv"), "does not exist"), (files.0.path().into(), "is a directory")]
    {
        let error = refusal(&HierarchySpec::File(path), &data);
        assert!(error.starts_with("policy.toml:9: ") && error.contains(expected), "{error}");
    }
}
