//! A published run whose rows stayed with their custodians: what all of them know, and this one's
//! own rows with their classes.
//!
//! ```text
//! epochs/1/outline.json    classes with their sizes, who took part, under which terms
//! epochs/1/part.json       of this custodian's own rows: the class and the protected values
//! ```

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use hedgerow_joint::JointClass;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::message::{Hex, RosterEntry, RunId};

/// The longest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 32;
pub(crate) const OUTLINE: &str = "outline.json";
const OWN: &str = "part.json";

/// The data that all custodians of an epoch know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    pub run: RunId,
    pub terms: Hex<32>,
    pub plan: Hex<32>,
    pub roster: Vec<RosterEntry>,
    #[serde(with = "written_classes")]
    pub classes: Vec<JointClass>,
}

/// A custodian's own rows: never printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnRows {
    /// The class of every row.
    pub class: Vec<u32>,
    /// By protected attribute, the code of every row.
    pub codes: Vec<Vec<u32>>,
}

impl std::fmt::Debug for OwnRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OwnRows({} rows)", self.class.len())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpochPart {
    pub common: Common,
    pub own: OwnRows,
}

impl Common {
    /// Of an epoch's folder; `None` where the epoch is a whole release.
    pub fn read(folder: &Path) -> Result<Option<Common>, String> {
        read(&folder.join(OUTLINE))
    }
}

impl EpochPart {
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        write(&folder.join(OUTLINE), &self.common)?;
        write(&folder.join(OWN), &self.own)
    }

    /// Of an epoch's folder; `None` where the epoch is a whole release.
    pub fn read(folder: &Path) -> Result<Option<EpochPart>, String> {
        let Some(common) = Common::read(folder)? else { return Ok(None) };
        let path = folder.join(OWN);
        let own = read(&path)?.ok_or_else(|| format!("{}: it is gone", path.display()))?;
        Ok(Some(EpochPart { common, own }))
    }

    /// Whether its rows are rows of its classes, with values below these cardinalities.
    pub fn fits(&self, cardinalities: &[usize]) -> bool {
        let OwnRows { class, codes } = &self.own;
        let column = |(codes, values): (&Vec<u32>, &usize)| {
            codes.len() == class.len() && codes.iter().all(|code| (*code as usize) < *values)
        };
        let classes = self.common.classes.len();
        class.iter().all(|class| (*class as usize) < classes)
            && codes.len() == cardinalities.len()
            && codes.iter().zip(cardinalities).all(column)
    }
}

fn write(path: &PathBuf, content: &impl Serialize) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(path)?);
    serde_json::to_writer(&mut out, content)?;
    out.write_all(b"\n")?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(file) if file.len() > FILE_BYTES_MAX => return Err(failed(&"too large")),
        _ => {}
    }
    let file = File::open(path).map_err(|error| failed(&error))?;
    // What is wrong in it may be a value of a row.
    serde_json::from_reader(BufReader::new(file)).map(Some).map_err(|_| failed(&"not written by a node"))
}

/// For each class its rows, and the first and the last value of each attribute.
mod written_classes {
    use super::{Deserialize as _, JointClass, Serialize as _};

    pub(super) fn serialize<S: serde::Serializer>(classes: &[JointClass], to: S) -> Result<S::Ok, S::Error> {
        let written: Vec<(u64, Vec<(u32, u32)>)> =
            classes.iter().map(|class| (class.rows, class.ends().collect())).collect();
        written.serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<JointClass>, D::Error> {
        let written = Vec::<(u64, Vec<(u32, u32)>)>::deserialize(from)?;
        Ok(written.into_iter().map(|(rows, ends)| JointClass::of_ends(rows, ends)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> EpochPart {
        let class = |first, last, rows| JointClass::of_ends(rows, [(first, last)]);
        let roster = ["east", "north", "south"].map(|name| RosterEntry {
            name: name.to_owned(),
            key: Hex([1; 32]),
            signing_key: Hex([2; 32]),
        });
        let common = Common {
            run: Hex([7; 16]),
            terms: Hex([8; 32]),
            plan: Hex([9; 32]),
            roster: roster.to_vec(),
            classes: vec![class(0, 49, 3), class(50, 99, 4)],
        };
        EpochPart { common, own: OwnRows { class: vec![0, 1, 1], codes: vec![vec![5, 4711, 0]] } }
    }

    #[test]
    fn what_is_written_reads_back_and_what_is_not_ours_is_refused_without_its_content() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(EpochPart::read(folder.path()).unwrap(), None, "a whole release");
        part().write(folder.path()).unwrap();
        assert_eq!(EpochPart::read(folder.path()).unwrap(), Some(part()));
        assert_eq!(Common::read(folder.path()).unwrap(), Some(part().common));
        fs::write(folder.path().join(OWN), "{\"class\":[0],\"codes\":[[\"4711\"]]}").unwrap();
        let refused = EpochPart::read(folder.path()).unwrap_err();
        assert!(refused.contains(OWN) && !refused.contains("4711"), "{refused}");
        fs::remove_file(folder.path().join(OWN)).unwrap();
        assert!(EpochPart::read(folder.path()).unwrap_err().contains("gone"));
    }

    #[test]
    fn rows_of_other_classes_or_values_do_not_fit() {
        assert!(part().fits(&[4712]));
        assert!(!part().fits(&[4711]) && !part().fits(&[]) && !part().fits(&[4712, 2]));
        let mut other = part();
        other.own.class[0] = 2;
        assert!(!other.fits(&[4712]));
        assert!(!format!("{:?}", part()).contains("4711"));
    }
}
