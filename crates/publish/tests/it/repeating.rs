//! Identifiers that repeat where no attribute has the role `unit`: publishing warns that rules
//! count rows, from memory and from the disk alike.

use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, Published, RowSource, RowStore, publish};
use hedgerow_table::read::{ReadOptions, read_table, read_within};
use hedgerow_table::{InputError, Spill};

/// Stays with the patient's number, age and sex, a ward, and a name that repeats by chance.
fn stays(folder: &Path, patient: impl Fn(usize) -> String) {
    let mut text = "patient,name,age,sex,ward\n".to_owned();
    for row in 0..600 {
        let (person, name) = (row / 3, ["Ada", "Ben", "Cleo", "Dan"][row * row % 11 % 4]);
        let (age, sex, ward) = (20 + person * 13 % 60, ["f", "m"][person * 7 % 2], row * 5 % 7);
        text += &format!("{},{name}{},{age},{sex},w{ward}\n", patient(row), row * 31 % 17);
    }
    std::fs::write(folder.join("stays.csv"), text).unwrap();
}

fn policy(folder: &Path, patient: &str) -> Policy {
    let text = format!(
        "[source]\npath = \"stays.csv\"\n[attributes]\npatient = {{ role = \"{patient}\" }}\nname = {{ role = \"identifier\" }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [10, 30] }} }}\nsex = {{ role = \"quasi\" }}\nward = {{ role = \"plain\" }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 4 }}\n"
    );
    Policy::parse(&text, &folder.join("policy.toml")).unwrap()
}

/// The warnings about units, of the same rows read by the policy, from the disk, and as a table.
fn warnings(policy: &Policy, folder: &Path) -> [Vec<InputError>; 3] {
    let spill = Spill::new(folder, 4 << 20).with_held(0);
    let open =
        |options: &ReadOptions<'_>| Ok(RowStore::held(read_within(&policy.source.path, options, &spill)?, &spill));
    let table = read_table(&policy.source.path, &ReadOptions::default()).unwrap();
    let sources = [RowSource::Policy, RowSource::Open(&open), RowSource::Table(&table)];
    let published = |source: RowSource<'_>| -> Published {
        let options = PublishOptions { overwrite: true, ..PublishOptions::to(folder.join("release")) };
        publish(policy, source, &options).unwrap_or_else(|error| panic!("{error}"))
    };
    sources.map(|source| {
        let is_about_units = |warning: &InputError| warning.about.as_ref().is_some_and(|about| about.code == "units");
        published(source).warnings.into_iter().filter(is_about_units).collect()
    })
}

#[test]
fn rows_of_one_individual_are_distinguished_from_rows_of_several() {
    let folder = tempfile::tempdir().unwrap();
    let number = |row: usize| format!("R{:05}", row / 3);
    stays(folder.path(), number);
    let [read, from_disk, given] = warnings(&policy(folder.path(), "identifier"), folder.path());
    assert_eq!(read.len(), 1);
    let text = read[0].to_string();
    assert!(text.contains("`patient` repeats: 600 rows have 200 values of it"), "{text}");
    assert!(text.contains("give `patient` the role `unit`"), "{text}");
    assert_eq!(read[0].about.as_ref().unwrap().people, Some(200));
    assert_eq!(read, from_disk);
    assert_eq!(read, given);
    // Where it is the unit, rules count individuals.
    let policy_of_units = policy(folder.path(), "unit");
    let table = read_table(&policy_of_units.source.path, &ReadOptions::default()).unwrap();
    let options = PublishOptions { overwrite: true, ..PublishOptions::to(folder.path().join("release")) };
    let counted = publish(&policy_of_units, RowSource::Table(&table), &options).unwrap();
    assert!(!counted.warnings.iter().any(|warning| warning.to_string().contains("repeats")), "{:?}", counted.warnings);
}

/// Rows without a number may be about anyone.
#[test]
fn identifiers_that_say_nothing_of_individuals_are_not_warned_of() {
    let numbers: [&dyn Fn(usize) -> String; 4] = [
        &|row| format!("R{row:05}"),
        // As often as patients come back, but at random.
        &|row| format!("R{:05}", row * 7919 % 601 % 200),
        &|row| if row % 2 == 0 { String::new() } else { format!("R{row:05}") },
        &|row| format!("R{}", row / 100),
    ];
    for (place, number) in numbers.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        stays(folder.path(), number);
        let found = warnings(&policy(folder.path(), "identifier"), folder.path());
        assert_eq!(found, [vec![], vec![], vec![]], "{place}");
    }
    let folder = tempfile::tempdir().unwrap();
    stays(folder.path(), |row| if row % 150 == 0 { String::new() } else { format!("R{:05}", row / 3) });
    let found = warnings(&policy(folder.path(), "identifier"), folder.path());
    assert!(found.iter().all(|found| found.len() == 1 && found[0].to_string().contains("596 rows")), "{found:?}");
}
