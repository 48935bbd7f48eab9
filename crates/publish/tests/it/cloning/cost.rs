//! The cost of cloning: answers from statistics, and what they cannot show; how far apart classes
//! lie; suppressed and counterfeit tuples.

use hedgerow_audit::query;
use hedgerow_release::Release;

use super::*;

/// Count queries from the statistics, by the words of the estimator and nothing else.
#[test]
fn answers_follow_from_the_statistics() {
    let mut rng = StdRng::seed_from_u64(5);
    for seed in 0..12 {
        let case =
            Case { settings: "method = \"clone\"\nk = 4\nlambda = 2\n".to_owned(), ..random_case(7 + 14 * seed) };
        let folder = scratch();
        let policy = Policy::load(&case.write(folder.path(), "")).unwrap();
        let destination = folder.path().join("release");
        if publish(&policy, RowSource::Policy, &options(destination.clone())).is_err() {
            continue;
        }
        let (listed, release) = (Listed::read(&destination), Release::open(&destination, &NoProgress).unwrap());
        for _ in 0..5 {
            let (low, place) = (20 + rng.random_range(0..20), format!("p{}", rng.random_range(0..4)));
            let high = low + rng.random_range(0..8);
            let sql = format!(
                "SELECT COUNT(*) FROM data WHERE age BETWEEN {low} AND {high} AND place = '{place}' AND disease <> 'd0'"
            );
            let found = serde_json::to_value(query::answer(&release, &sql).unwrap()).unwrap();
            let found = &found["answer"][0]["COUNT(*)"];
            let expected = by_hand(&listed, f64::from(low), f64::from(high), &place);
            let estimate = found["estimate"].as_f64().unwrap();
            assert!(
                (estimate - expected).abs() < 1e-6 * expected.max(1.0),
                "seed {seed}: {estimate} is {expected}\n{sql}"
            );
            let real = case.rows.iter().filter(|row| {
                let age: Option<i32> = row[0].parse().ok();
                age.is_some_and(|age| (low..=high).contains(&age))
                    && row[1] == place
                    && !["", "d0"].contains(&row[3].as_str())
            });
            let possible = found["possible"].as_u64().unwrap();
            let suppressed = case.rows.len() as u64 + listed.counterfeits() - listed.tuples();
            assert!(real.count() as u64 <= possible + suppressed, "seed {seed}");
        }
    }
}

fn by_hand(listed: &Listed, low: f64, high: f64, place: &str) -> f64 {
    let mut sum = 0.0;
    for ((class, _), part) in &listed.parts {
        let people = (Listed::total(part, "tuples") - Listed::total(part, "counterfeits")) as f64;
        let values = &listed.classes[class];
        let size: u64 = values.values().sum();
        let matching: u64 =
            values.iter().filter(|(value, _)| !["", "d0"].contains(&value.as_str())).map(|(_, n)| n).sum();
        let places = Listed::counts(part, "place", "category");
        let there: u64 = places.iter().filter(|(known, _)| known == place).map(|(_, n)| n).sum();
        let mut ages = 0.0;
        if let [(mean, count)] = Listed::counts(part, "age", "mean").as_slice() {
            let (from, covered) = &Listed::counts(part, "age", "low")[0];
            let (to, _) = &Listed::counts(part, "age", "high")[0];
            let [mean, from, to]: [f64; 3] = [mean, from, to].map(|text| text.parse().unwrap());
            let half = (to - from + 1.0) * *count as f64 / *covered as f64 / 2.0;
            let inside = ((high + 0.5).min(mean + half) - (low - 0.5).max(mean - half)).max(0.0);
            ages = *count as f64 * inside / (2.0 * half);
        }
        if people > 0.0 {
            sum += people * (ages / people) * (there as f64 / people) * (matching as f64 / size as f64);
        }
    }
    sum
}

/// Every class lists the same values, so no estimator knows how they go with the rest: two tables
/// with one release, of which one has twice as many young people with x.
#[test]
fn no_release_of_clones_tells_how_values_go_with_the_rest() {
    let release = |diseases: [&str; 8]| {
        let ages = [20, 21, 22, 23, 60, 61, 62, 63];
        let row = |(age, disease): (i32, &str)| {
            vec![age.to_string(), "p".to_owned(), "2020-01-01".to_owned(), disease.to_owned()]
        };
        let rows = ages.into_iter().zip(diseases).map(row).collect();
        let settings = "method = \"clone\"\nk = 4\nlambda = 2\n".to_owned();
        let case = Case { rows, settings, k: 4, max_epsilon: None, suppresses: false, ..random_case(0) };
        let folder = scratch();
        let policy = Policy::load(&case.write(folder.path(), "")).unwrap();
        publish(&policy, RowSource::Policy, &options(folder.path().join("release"))).unwrap();
        let listed = Listed::read(&folder.path().join("release"));
        let young = ages.into_iter().zip(diseases).filter(|&(age, disease)| age <= 21 && disease == "x").count();
        (listed, young)
    };
    let (mixed, one) = release(["x", "y", "x", "y", "x", "y", "x", "y"]);
    let (apart, two) = release(["x", "x", "y", "y", "y", "y", "x", "x"]);
    assert_eq!(mixed, apart);
    assert_eq!((one, two, mixed.classes.len()), (1, 2, 2));
}

/// Whose sensitive value goes with the rest, as in a census: the default keeps classes at least as
/// close as the scan does.
#[test]
fn classes_are_at_most_as_far_apart_as_by_the_scan() {
    let mut fewer = 0;
    for seed in seeds(12) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (places, diseases) = (rng.random_range(2..5u32), rng.random_range(2..6u32));
        let rows = (0..rng.random_range(100..400)).map(|_| {
            let disease = rng.random_range(0..diseases);
            let place = if rng.random_bool(0.4) { disease % places } else { rng.random_range(0..places) };
            let age = 20 + (5 * disease + rng.random_range(0..30)) % 40;
            vec![age.to_string(), format!("p{place}"), format!("20{:02}-01-01", age % 7), format!("d{disease}")]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let [order, scan] = ["", "assignment = \"scan\"\nrho = 0.2\n"].map(|assignment| {
            let settings = format!("method = \"clone\"\nk = 3\n{assignment}");
            let case = Case { rows: rows.clone(), settings, ..random_case(0) };
            let folder = scratch();
            let policy = Policy::load(&case.write(folder.path(), "")).unwrap();
            publish(&policy, RowSource::Policy, &options(folder.path().join("release")))
                .unwrap()
                .cloned
                .unwrap()
                .distortion
                .steps
        });
        assert!(order <= scan, "seed {seed}: {order} steps, {scan} by the scan");
        fewer += u64::from(order < scan);
    }
    assert!(fewer > 8 || seeds(12).count() == 1, "{fewer}");
}

/// `max-distorted` is kept by as many classes as can be, and one class of all distorts nothing.
#[test]
fn distorted_tuples_are_limited_on_request() {
    for seed in seeds(40) {
        let case = random_case(3000 + seed);
        let most = [0.0, 0.02, 0.1][seed as usize % 3];
        let settings = format!("method = \"clone\"\nk = 1\nmax-distorted = {most}\n");
        let case = Case { settings, k: 1, max_epsilon: None, suppresses: false, ..case };
        let folder = scratch();
        let policy = Policy::load(&case.write(folder.path(), "")).unwrap();
        let published = publish(&policy, RowSource::Policy, &options(folder.path().join("release"))).unwrap();
        let report = published.cloned.unwrap();
        let allowed = (most * case.rows.len() as f64 + 1e-9).floor() as u64;
        assert!(report.suppressed + report.counterfeits <= allowed, "seed {seed}");
        let counts = case.counts();
        let rarest = *counts.values().min().unwrap();
        for classes in report.divided + 1..=rarest {
            // Half rounds up for one value and down for the next, and costs the same.
            let off = |rows: &u64| (rows % classes).min(classes - rows % classes);
            assert!(counts.values().map(off).sum::<u64>() > allowed, "seed {seed}: {classes} classes would do");
        }
    }
}
