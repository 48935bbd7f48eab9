//! The census as a complete example: data, hierarchies and a policy in one directory, ready to
//! publish.

use std::io::{self, Write};
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

/// Writes what a file holds.
pub type Fill = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()>>;

/// `policy.toml`, the hierarchies and `census.csv`, as files of a folder, each with what writes it.
pub fn example_files(folder: &Path, rows: u64, seed: u64) -> Vec<(PathBuf, Fill)> {
    let text = |text: String| -> Fill { Box::new(move |out| out.write_all(text.as_bytes())) };
    let mut files = vec![(folder.join("policy.toml"), text(census_policy()))];
    for (attribute, hierarchy) in census_hierarchies() {
        files.push((folder.join(HIERARCHY_FOLDER).join(format!("{attribute}.csv")), text(hierarchy)));
    }
    files.push((folder.join("census.csv"), Box::new(move |out| census(rows, seed, out))));
    files
}
