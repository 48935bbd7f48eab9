//! Properties of hierarchies of every family, over random domains and declarations.

use std::fmt::Write as _;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::testing::{build, check, domain, domain_of, refusal, texts};
use super::*;
use crate::date::Date;
use crate::domain::{Kind, Values};

#[test]
fn without_a_declaration_the_value_then_the_top() {
    let domain = domain(&["b", "a", ""]);
    let hierarchy = build(&HierarchySpec::None, &domain);
    check(&hierarchy, &domain, "none");
    assert_eq!(hierarchy.top(), 1);
    assert_eq!(texts(&hierarchy, 0), ["a", "b", ""]);
    assert_eq!(texts(&hierarchy, 1), ["*", "*", "*"]);
    assert_eq!(hierarchy.levels()[0].labels[0].cover, Cover::Leaves(vec!["a".to_owned()]));
    assert_eq!(hierarchy.levels()[0].labels[2].cover, Cover::Missing);
    assert_eq!(hierarchy.levels()[1].labels[0].cover, Cover::Everything);
    assert_eq!((hierarchy.leaves(), hierarchy.occurring(1)), (3, vec![3]));
    assert!(matches!(
        build(&HierarchySpec::None, &domain_of(&["7"], None)).levels()[0].labels[0].cover,
        Cover::Point(Bound::Integer(7))
    ));
}

#[test]
fn a_column_without_values_fits_every_declaration() {
    let specs = [
        HierarchySpec::None,
        HierarchySpec::Widths(vec![5.0, 10.0]),
        HierarchySpec::Breaks(vec![vec![Bound::Integer(1)]]),
        HierarchySpec::Mask(2),
        HierarchySpec::Dates(vec![DateUnit::Year]),
    ];
    for spec in specs {
        for domain in [domain(&[]), domain(&[""]), domain_of(&[""], Some(Kind::Float))] {
            let hierarchy = build(&spec, &domain);
            check(&hierarchy, &domain, &format!("{spec:?}"));
            assert_eq!(hierarchy.leaves(), domain.cardinality() as u64);
        }
    }
}

#[test]
fn a_star_or_an_empty_text_in_the_data_is_refused() {
    let star = refusal(&HierarchySpec::None, &domain(&["*", "a"]));
    assert!(star.contains("the value `*`") && star.contains("`null`"), "{star}");
    let empty = Domain::new(Values::Category(vec!["".into(), "a".into()]), true);
    assert!(refusal(&HierarchySpec::None, &empty).contains("empty cells"));
}

#[test]
fn every_random_hierarchy_is_one() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..3000 {
        let random = &mut StdRng::seed_from_u64(seed);
        let domain = random_domain(random);
        let spec = random_spec(random, &domain, &directory.path().join("random.csv"));
        check(&build(&spec, &domain), &domain, &format!("seed {seed}, {spec:?}, {domain:?}"));
    }
}

fn random_domain(random: &mut StdRng) -> Domain {
    let size = random.random_range(0..25);
    let missing = random.random_range(0..3) == 0;
    match random.random_range(0..4) {
        0 => {
            let edge = random.random_range(0..5) == 0;
            let mut values: Vec<i64> = (0..size).map(|_| random.random_range(-60..60)).collect();
            values.extend([i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX].iter().filter(|_| edge));
            values.sort_unstable();
            values.dedup();
            Domain::new(Values::Integer(values), missing)
        }
        1 => {
            let mut tenths: Vec<i32> = (0..size).map(|_| random.random_range(-60..60)).collect();
            tenths.sort_unstable();
            tenths.dedup();
            Domain::new(Values::Float(tenths.into_iter().map(|value| f64::from(value) / 10.0).collect()), missing)
        }
        2 => {
            let mut values: Vec<Date> = (0..size).map(|_| Date(random.random_range(-9000..9000))).collect();
            values.sort_unstable();
            values.dedup();
            Domain::new(Values::Date(values), missing)
        }
        _ => {
            let mut values: Vec<Box<str>> = (0..size).map(|_| random_word(random).into()).collect();
            values.sort_unstable();
            values.dedup();
            Domain::new(Values::Category(values), missing)
        }
    }
}

fn random_word(random: &mut StdRng) -> String {
    let letters = ['a', 'b', 'é', '漢', '0', ';', ',', '"'];
    (0..random.random_range(1..5)).map(|_| letters[random.random_range(0..letters.len())]).collect()
}

fn random_spec(random: &mut StdRng, domain: &Domain, path: &std::path::Path) -> HierarchySpec {
    let kind = domain.kind();
    match random.random_range(0..5) {
        0 if kind.is_number() => {
            let unit = if kind == Kind::Float { [0.1, 0.2, 0.05, 1.0][random.random_range(0..4)] } else { 1.0 };
            let mut times = random.random_range(1..6);
            let mut widths = Vec::new();
            for _ in 0..random.random_range(1..4) {
                // Written as the decimal that a policy would hold.
                widths.push(format!("{:.2}", unit * f64::from(times)).parse().unwrap());
                times *= random.random_range(1..4);
            }
            HierarchySpec::Widths(widths)
        }
        1 if kind != Kind::Category => HierarchySpec::Breaks(random_breaks(random, kind)),
        2 if kind == Kind::Date => {
            let units = DateUnit::ALL.into_iter().filter(|_| random.random::<bool>()).collect::<Vec<_>>();
            HierarchySpec::Dates(if units.is_empty() { vec![DateUnit::Quarter] } else { units })
        }
        3 => HierarchySpec::Mask(random.random_range(1..7)),
        4 => {
            std::fs::write(path, random_file(random, domain)).unwrap();
            HierarchySpec::File(path.to_path_buf())
        }
        _ => HierarchySpec::None,
    }
}

fn random_breaks(random: &mut StdRng, kind: Kind) -> Vec<Vec<Bound>> {
    let mut points: Vec<i32> = (0..random.random_range(1..8)).map(|_| random.random_range(-60..60)).collect();
    points.sort_unstable();
    points.dedup();
    let mut levels = Vec::new();
    for _ in 0..random.random_range(1..4) {
        let cuts = points.iter().map(|point| match kind {
            Kind::Integer => Bound::Integer(i64::from(*point)),
            Kind::Float if point % 2 == 0 => Bound::Integer(i64::from(point / 2)),
            Kind::Float => Bound::Float(f64::from(*point) / 2.0),
            _ => Bound::Date(Date(point * 150)),
        });
        levels.push(cuts.collect());
        points = points.iter().copied().filter(|_| random.random::<bool>()).chain(points.last().copied()).collect();
        points.sort_unstable();
        points.dedup();
    }
    levels
}

/// A file over the domain and some more leaves, in a random order, sometimes with a row for the
/// missing value.
fn random_file(random: &mut StdRng, domain: &Domain) -> String {
    let mut leaves: Vec<String> = (0..domain.present() as u32).map(|code| domain.text(code)).collect();
    let more = match domain.kind() {
        Kind::Integer => ["1000", "70", "-1000"],
        Kind::Float => ["1000", "0.55", "-7.25"],
        Kind::Date => ["2030-01-01", "1900-01-01", "2040-12-31"],
        Kind::Category => ["more", "another", "x;y"],
    };
    leaves.extend(more.iter().filter(|_| random.random::<bool>()).map(|leaf| (*leaf).to_owned()));
    if leaves.is_empty() || random.random_range(0..4) == 0 {
        leaves.push("?".to_owned());
    }
    for index in (1..leaves.len()).rev() {
        leaves.swap(index, random.random_range(0..=index));
    }
    let delimiter = [";", ",", "\t"][random.random_range(0..3)];
    // Groups of neighbors, or of anything, halved level by level so that each level is a
    // coarsening.
    let levels = random.random_range(0..4);
    let scattered = random.random::<bool>();
    let groups: Vec<usize> =
        (0..leaves.len()).map(|index| if scattered { random.random_range(0..16) } else { index }).collect();
    let mut text = String::new();
    for (leaf, group) in leaves.iter().zip(groups) {
        write!(text, "\"{}\"", leaf.replace('"', "\"\"")).unwrap();
        for level in 1..=levels {
            write!(text, "{delimiter}g{}", group >> level).unwrap();
        }
        writeln!(text, "{delimiter}*").unwrap();
    }
    text
}
