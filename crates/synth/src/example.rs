//! The census as a complete example: data, hierarchies and a policy in one directory, ready to
//! publish.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{census, people, places, schooling, work};

/// The folder of the hierarchies, as the policy names it.
const HIERARCHY_FOLDER: &str = "hierarchies";

/// The hierarchy of every attribute but age, sex and income, as `(attribute, CSV)` in ARX's layout.
pub fn census_hierarchies() -> Vec<(&'static str, String)> {
    vec![
        ("education", lines(schooling::LEVELS.iter().map(|level| vec![level.name, level.stage, level.tier]))),
        (
            "birthplace",
            lines(places::COUNTRIES.iter().map(|country| {
                let region = &places::REGIONS[country.region];
                vec![country.name, region.name, region.continent]
            })),
        ),
        (
            "occupation",
            lines(work::OCCUPATIONS.iter().map(|job| {
                let (major, broad) = work::GROUPS[job.group];
                vec![job.name, major, broad]
            })),
        ),
        ("race", lines(people::RACES.iter().map(|race| vec![*race]))),
        ("workclass", lines(work::WORK_CLASSES.iter().map(|&(name, group)| vec![name, group]))),
        ("marital-status", lines(people::MARITAL_STATUSES.iter().map(|&(name, group)| vec![name, group]))),
    ]
}

/// One line per leaf, from the leaf to the common top.
fn lines<'a>(paths: impl Iterator<Item = Vec<&'a str>>) -> String {
    paths.map(|path| path.join(";") + ";*\n").collect()
}

/// The policy that goes with the data and the hierarchies.
pub fn census_policy() -> String {
    POLICY.to_owned()
}

const POLICY: &str = r#"# A synthetic census: nobody in it exists.
# The rule: everyone shares the values of all eight quasi-identifiers with at least four others.

[source]
path = "census.csv"

[attributes]
age = { role = "quasi", hierarchy = { widths = [5, 10, 20] } }
sex = { role = "quasi" }
education = { role = "quasi", hierarchy = "hierarchies/education.csv" }
birthplace = { role = "quasi", hierarchy = "hierarchies/birthplace.csv" }
occupation = { role = "quasi", hierarchy = "hierarchies/occupation.csv" }
race = { role = "quasi", hierarchy = "hierarchies/race.csv" }
workclass = { role = "quasi", hierarchy = "hierarchies/workclass.csv" }
marital-status = { role = "quasi", hierarchy = "hierarchies/marital-status.csv" }
# Or "sensitive", with a rule that protects it: see the end. In small tables an income can be unique.
income = { role = "plain", allow-unique = true }

[[rule]]
require = { model = "k-anonymity", k = 5 }

[publish]
method = "full-domain"
suppression = 0.02
loss = "ncp"

# [[rule]]                    # at least three incomes remain possible for everyone
# protect = "income"
# require = { model = "distinct-l-diversity", l = 3 }
"#;

/// Writes `census.csv`, `policy.toml` and the hierarchies into `dir`, which is made when missing. A
/// file that is already there is not overwritten: the error is then
/// [`io::ErrorKind::AlreadyExists`].
pub fn write_example(dir: &Path, rows: u64, seed: u64) -> io::Result<()> {
    let mut written = Vec::new();
    let outcome = write_files(dir, rows, seed, &mut written);
    if outcome.is_err() {
        // All or nothing; a folder that holds something else stays.
        written.iter().for_each(|path| drop(fs::remove_file(path)));
        let _ = fs::remove_dir(dir.join(HIERARCHY_FOLDER)).and_then(|()| fs::remove_dir(dir));
    }
    outcome
}

fn write_files(dir: &Path, rows: u64, seed: u64, written: &mut Vec<PathBuf>) -> io::Result<()> {
    let hierarchies = dir.join(HIERARCHY_FOLDER);
    fs::create_dir_all(&hierarchies)?;
    let mut write = |path: PathBuf, fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
        write_new(&path, fill)?;
        written.push(path);
        Ok::<(), io::Error>(())
    };
    write(dir.join("policy.toml"), &mut |out| out.write_all(census_policy().as_bytes()))?;
    for (attribute, text) in census_hierarchies() {
        write(hierarchies.join(format!("{attribute}.csv")), &mut |out| out.write_all(text.as_bytes()))?;
    }
    write(dir.join("census.csv"), &mut |out| census(rows, seed, out))
}

/// Writes one data file into `dir`, which is made when missing, and overwrites none.
pub fn write_data(dir: &Path, name: &str, fill: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let is_new = !dir.exists();
    fs::create_dir_all(dir)?;
    let written = write_new(&dir.join(format!("{name}.csv")), |out| fill(out));
    if written.is_err() && is_new {
        // The error to report is the first one.
        let _ = fs::remove_dir(dir);
    }
    written
}

/// Writes a file that must not exist yet; one that cannot be finished is removed, so that none is
/// left cut short.
fn write_new(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(named)?;
    let mut out = BufWriter::new(file);
    fill(&mut out).and_then(|()| out.flush()).map_err(|error| {
        // The first error is the one to report; that the removal failed too would only hide it.
        let _ = fs::remove_file(path);
        named(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_finished_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("census.csv");
        let error = write_new(&path, |out| {
            out.write_all(b"half of it")?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("census.csv"), "{error}");
        assert!(!path.exists());
    }
}
