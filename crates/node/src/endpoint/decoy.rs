//! The secret from which salts of names that do not exist are made. It is kept in the node's
//! folder: if salts changed with a restart, those of real analysts would be the ones that stay.

use std::fs;
use std::path::Path;

use rand::RngExt as _;

use crate::hex;
use crate::keys::write_new;
use crate::scram::random;

const FILE: &str = "decoy";

pub(super) fn secret(data: &Path) -> Result<[u8; 32], String> {
    let path = data.join(FILE);
    if !path.exists() {
        let secret: [u8; 32] = random()?.random();
        fs::create_dir_all(data).map_err(|error| format!("{}: {error}", data.display()))?;
        write_new(&path, &hex::encode(&secret), true).map_err(|error| error.to_string())?;
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    hex::decode(text.trim()).ok_or_else(|| format!("{}: not 64 digits from 0 to f; remove the file", path.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_secret_outlives_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let first = super::secret(folder.path()).unwrap();
        assert_eq!(super::secret(folder.path()).unwrap(), first);
        assert_ne!(super::secret(tempfile::tempdir().unwrap().path()).unwrap(), first);
    }
}
