//! Labels by hand, and every label that a hierarchy gives against what it covers there.

use hedgerow_table::{DateUnit, Domain, Hierarchy, HierarchySpec};

use super::*;

fn attribute<'a>(kind: Kind, hierarchy: Option<&'a str>, recoding: Recoding) -> AttributeMeaning<'a> {
    AttributeMeaning { kind, hierarchy, recoding, ..AttributeMeaning::TEXTS }
}

fn interval(low: &str, high: &str) -> Cover {
    Cover::Interval { low: Bound::parse(low), high: Bound::parse(high) }
}

fn leaves(texts: &[&str]) -> Cover {
    Cover::Leaves(texts.iter().map(|text| (*text).to_owned()).collect())
}

/// The publisher's hierarchies say what this reader computes.
#[test]
fn labels_of_hierarchies_mean_what_they_cover_and_are_of_one_level() {
    let cuts = |cuts: &[i64]| cuts.iter().map(|cut| Bound::Integer(*cut)).collect::<Vec<_>>();
    let numbers = ["-5", "-1", "0", "7", "23", "120", "9223372036854775807"];
    let days = ["0000-02-29", "1999-12-31", "2020-02-29", "9999-12-31"];
    let units = DateUnit::ALL.to_vec();
    let cases: [(HierarchySpec, &[&str]); 7] = [
        (HierarchySpec::Widths(vec![1.0, 5.0, 10.0, 1e17]), &numbers),
        (HierarchySpec::Widths(vec![0.5, 2.0]), &["0.1", "-0.7", "3", "17.25"]),
        (HierarchySpec::Breaks(vec![cuts(&[0, 1, 18, 65]), cuts(&[18])]), &numbers),
        (HierarchySpec::Breaks(vec![cuts(&[1])]), &["0.1", "-0.7", "3", "17.25"]),
        (HierarchySpec::Dates(units), &days),
        (HierarchySpec::Mask(3), &["1", "22", "333", "4444"]),
        (HierarchySpec::Mask(2), &["ab", "abc", "b"]),
    ];
    for (spec, values) in cases {
        let (domain, _) = Domain::from_texts(values, true, None).unwrap();
        let hierarchy = Hierarchy::build(&spec, "x", "policy", &domain, &[]).unwrap();
        for level in hierarchy.levels() {
            let own = attribute(domain.kind(), spec.name(), Recoding::FullDomain);
            // A mask's leaf is the pattern, and a codebook has no words for an interval without
            // ends.
            let cover = |label: &hedgerow_table::Label| match &label.cover {
                Cover::Leaves(_) => leaves(&[label.text.as_str()]),
                Cover::Interval { low: None, high: None } => Cover::Everything,
                cover => cover.clone(),
            };
            let covers: Vec<(&str, Cover)> =
                level.labels.iter().map(|label| (label.text.as_str(), cover(label))).collect();
            for (label, cover) in &covers {
                assert!(own.means(label, cover), "{spec:?}: {label} {cover:?}");
            }
            let labels: Vec<(&str, &Cover)> = covers.iter().map(|(label, cover)| (*label, cover)).collect();
            assert!(own.is_one_level(&labels), "{spec:?}: {labels:?}");
        }
    }
}

#[test]
fn another_cover_than_the_label_says_is_found() {
    let ages = attribute(Kind::Integer, Some("widths"), Recoding::FullDomain);
    for (low, high) in [("20", "29"), ("21", "30"), ("20", "31"), ("", "30"), ("20", "")] {
        assert!(!ages.means("20 to 29", &interval(low, high)), "{low} {high}");
    }
    assert!(ages.means("20 to 29", &interval("20", "30")));
    assert!(!ages.means("twenties", &interval("20", "30")), "only a hierarchy's file has such a label");
    assert!(attribute(Kind::Integer, Some("file"), Recoding::FullDomain).means("twenties", &interval("20", "30")));
    assert!(!ages.means("*", &interval("20", "30")) && !ages.means("20 to 29", &Cover::Everything));
    assert!(!ages.means("20", &Cover::Point(Bound::Integer(21))));
    let range = Some([Some(Bound::Integer(0)), Some(Bound::Integer(120))]);
    let bounded = AttributeMeaning { range, ..ages };
    assert!(bounded.means("65+", &interval("65", "121")) && !bounded.means("65+", &interval("65", "")));
    assert!(bounded.means("<18", &interval("0", "18")) && !bounded.means("<18", &interval("1", "18")));
    let days = attribute(Kind::Date, Some("dates"), Recoding::FullDomain);
    assert!(days.means("2020-Q1", &interval("2020-01-01", "2020-04-01")));
    assert!(!days.means("2020-Q1", &interval("2020-01-01", "2020-05-01")));
    let zips = attribute(Kind::Category, Some("mask"), Recoding::FullDomain);
    assert!(zips.means("021**", &leaves(&["021**"])) && !zips.means("021**", &leaves(&["02139"])));
    let cities = attribute(Kind::Category, None, Recoding::None);
    assert!(cities.means("Aa", &leaves(&["Aa"])) && !cities.means("Aa", &leaves(&["Bb"])));
    assert!(!cities.means("Aa", &leaves(&["Aa", "Bb"])) && !cities.means("*", &Cover::Everything));
    let tight = attribute(Kind::Float, None, Recoding::Local);
    let end = Bound::Float(2.5f64.next_up());
    assert!(tight.means("0.5 to 2.5", &Cover::Interval { low: Bound::parse("0.5"), high: Some(end) }));
    assert!(tight.means("not missing", &Cover::Everything) && !tight.means("0.5 to 2.5", &interval("0.5", "2.5")));
}

#[test]
fn a_set_has_the_values_that_its_label_names() {
    let cells = attribute(Kind::Category, None, Recoding::Local);
    let many = ["Aa", "Bb", "Cc", "Dd", "Ee"];
    for (label, texts) in [
        ("Aa or Bb", &["Aa", "Bb"][..]),
        ("Aa, Bb or missing", &["Aa", "Bb", ""]),
        ("Aa or Bb (several)'", &["Aa", "Bb"]),
        ("Aa or Bb (2)", &["Aa", "Bb"]),
        ("Aa to Bb", &["Aa", "Bb"]),
        ("Cc to Aa or missing", &["Aa", "Bb", "Cc", ""]),
        ("Aa, Cc, Ee or 2 others", &many),
        ("Black/African… +2", &["Black/African American", "Multi-racial", "White"]),
        ("a, b or c", &["a, b", "c"]),
    ] {
        assert!(cells.means(label, &leaves(texts)), "{label}");
        let mut other: Vec<&str> = texts.to_vec();
        other[0] = "Zz";
        assert!(label == "Aa, Cc, Ee or 2 others" || !cells.means(label, &leaves(&other)), "{label}");
        other[0] = texts[0];
        other.push("Zz");
        assert!(label.contains(" to ") || !cells.means(label, &leaves(&other)), "{label}");
    }
    assert!(!cells.means("Aa, Cc, Ee or 2 others", &leaves(&many[..4])));
}

#[test]
fn labels_of_several_levels_are_not_of_one() {
    let one_level = |kind: Kind, hierarchy: Option<&str>, labels: &[(&str, Cover)]| {
        let labels: Vec<(&str, &Cover)> = labels.iter().map(|(label, cover)| (*label, cover)).collect();
        attribute(kind, hierarchy, Recoding::FullDomain).is_one_level(&labels)
    };
    let ages = |ends: &[(i64, i64)]| -> Vec<(&str, Cover)> {
        ends.iter().map(|(low, high)| ("", interval(&low.to_string(), &high.to_string()))).collect()
    };
    assert!(one_level(Kind::Integer, Some("widths"), &ages(&[(20, 30), (0, 10)])));
    assert!(!one_level(Kind::Integer, Some("widths"), &ages(&[(20, 30), (30, 50)])), "two widths");
    assert!(!one_level(Kind::Integer, Some("widths"), &ages(&[(21, 31), (31, 41)])), "not from zero on");
    assert!(one_level(Kind::Integer, Some("breaks"), &ages(&[(20, 30), (30, 50)])));
    assert!(!one_level(Kind::Integer, Some("breaks"), &ages(&[(20, 31), (30, 50)])), "30 is under two");
    assert!(!one_level(Kind::Integer, None, &ages(&[(20, 30)])), "without a hierarchy there are values and `*`");
    let top = ("*", Cover::Everything);
    let value = |text: &'static str| (text, leaves(&[text]));
    assert!(one_level(Kind::Category, None, &[value("a"), value("b"), ("", Cover::Missing)]));
    assert!(!one_level(Kind::Category, None, &[value("a"), top.clone()]));
    assert!(!one_level(Kind::Category, None, &[top.clone(), ("", Cover::Missing)]));
    assert!(one_level(Kind::Category, None, &[top]));
    let north = |texts: &[&str]| ("North", leaves(texts));
    assert!(one_level(Kind::Category, Some("file"), &[north(&["a", "b"]), ("South", leaves(&["c"]))]));
    assert!(!one_level(Kind::Category, Some("file"), &[north(&["a", "b"]), ("South", leaves(&["b"]))]));
    assert!(one_level(Kind::Category, Some("mask"), &[value("02**"), value("*")]), "a short text is hidden whole");
    assert!(!one_level(Kind::Category, Some("mask"), &[value("02**"), value("021*")]));
    let unit = |text: &'static str| (text, DateUnit::read(text).unwrap().1);
    assert!(one_level(Kind::Date, Some("dates"), &[unit("2020"), unit("2021")]));
    assert!(!one_level(Kind::Date, Some("dates"), &[unit("2020"), unit("2021-03")]));
}
