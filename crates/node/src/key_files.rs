//! The key of one party for real use: a private key that never leaves its machine, a request that
//! the federation's authority signs, the fingerprint that the other parties pin, and a new key in
//! the place of an old one.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, PublicKeyData as _};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};

use crate::hex;
use crate::keys::{KeysError, draw_signing_key, io_error, read_signing_key, write_new};
use crate::settings::Settings;
use crate::tls;

const FILE_BYTES_MAX: u64 = 1 << 20;

/// A private key with its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRequest {
    pub key: PathBuf,
    pub request: PathBuf,
    pub fingerprint: [u8; 32],
}

/// Makes a private key, readable by its owner only, and a request for a certificate. An existing
/// key is kept, and its request made again.
pub fn request(name: &str, hosts: &[String], key: &Path, request: &Path) -> Result<KeyRequest, KeysError> {
    let pair = match key.exists() {
        true => read_key(key)?,
        false => {
            let pair = KeyPair::generate()?;
            write_new(key, &pair.serialize_pem(), true)?;
            pair
        }
    };
    let names: Vec<String> = std::iter::once(name.to_owned()).chain(hosts.iter().cloned()).collect();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let text = params.serialize_request(&pair)?.pem()?;
    fs::write(request, text).map_err(|source| io_error(request, source))?;
    let fingerprint = Sha256::digest(pair.subject_public_key_info()).into();
    Ok(KeyRequest { key: key.to_path_buf(), request: request.to_path_buf(), fingerprint })
}

/// The public key of the signing key in a file, which is made if it does not exist.
pub fn signing_key(path: &Path) -> Result<[u8; 32], KeysError> {
    if !path.exists() {
        write_new(path, &format!("{}\n", hex::encode(&draw_signing_key()?.secret())), true)?;
    }
    Ok(read_signing_key(path)?.public())
}

/// The fingerprint of the public key in a file with a certificate or a private key.
pub fn fingerprint(path: &Path) -> Result<[u8; 32], KeysError> {
    let text = read(path)?;
    if let Ok(certificate) = CertificateDer::from_pem_slice(text.as_bytes()) {
        let found = tls::fingerprint(&certificate);
        return found.ok_or_else(|| KeysError::Input(format!("{}: not a certificate", path.display())));
    }
    read_key(path).map(|pair| Sha256::digest(pair.subject_public_key_info()).into())
}

/// Beside a file, with another ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The first step of a new key: it is made beside the one in use.
pub fn rotate(settings: &Settings, hosts: &[String]) -> Result<KeyRequest, KeysError> {
    request(&settings.name, hosts, &beside(&settings.key, ".new"), &beside(&settings.certificate, ".csr"))
}

/// The last step: the new key and its certificate take the places of the old ones, which are kept
/// with the ending `.old`. Gives the fingerprint of the new key.
pub fn install(settings: &Settings) -> Result<[u8; 32], KeysError> {
    let Settings { key, certificate, .. } = settings;
    let (new_key, new_certificate) = (beside(key, ".new"), beside(certificate, ".new"));
    let [of_key, of_certificate] = [&new_key, &new_certificate].map(|path| fingerprint(path));
    let (of_key, of_certificate) = (of_key?, of_certificate?);
    if of_key != of_certificate {
        let problem = "the certificate is for another key";
        let hint = "have the authority sign the request that `keys rotate` made";
        return Err(KeysError::Input(format!("{}: {problem}\nhint: {hint}", new_certificate.display())));
    }
    for (new, used) in [(&new_key, key), (&new_certificate, certificate)] {
        let old = beside(used, ".old");
        fs::copy(used, &old).map_err(|source| io_error(&old, source))?;
        fs::rename(new, used).map_err(|source| io_error(used, source))?;
    }
    Ok(of_key)
}

fn read(path: &Path) -> Result<String, KeysError> {
    let length = fs::metadata(path).map_err(|source| io_error(path, source))?.len();
    if length > FILE_BYTES_MAX {
        return Err(KeysError::Input(format!("{}: larger than 1 MiB: not a key or certificate", path.display())));
    }
    fs::read_to_string(path).map_err(|source| io_error(path, source))
}

fn read_key(path: &Path) -> Result<KeyPair, KeysError> {
    let wrong = |_| KeysError::Input(format!("{}: neither a certificate nor a private key in PEM", path.display()));
    KeyPair::from_pem(&read(path)?).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Authority, Party, make_trial};

    #[test]
    fn a_key_its_certificate_and_its_request_have_one_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let made = request("north", &["north.example".to_owned()], &path("key"), &path("csr")).unwrap();
        assert_eq!(fingerprint(&path("key")).unwrap(), made.fingerprint);
        assert!(fs::read_to_string(&made.request).unwrap().contains("CERTIFICATE REQUEST"));
        let certificate = Authority::new().unwrap().certify(&["north"], &read(&path("key")).unwrap()).unwrap();
        fs::write(path("certificate"), certificate).unwrap();
        assert_eq!(fingerprint(&path("certificate")).unwrap(), made.fingerprint);
        let again = request("north", &[], &path("key"), &path("csr")).unwrap();
        assert_eq!(again.fingerprint, made.fingerprint, "a key that exists is kept");
        fs::write(path("key"), "no key").unwrap();
        assert!(fingerprint(&path("key")).unwrap_err().to_string().contains("neither"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            request("north", &[], &path("other"), &path("csr")).unwrap();
            assert_eq!(fs::metadata(path("other")).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_new_key_is_installed_with_its_own_certificate_only() {
        let folder = tempfile::tempdir().unwrap();
        let party = |(name, port): (&str, u16)| Party::custodian(name, format!("127.0.0.1:{port}"));
        let parties: Vec<Party> = ["a", "b", "c"].into_iter().zip(7401..).map(party).collect();
        let home = make_trial(folder.path(), &parties, "policy.toml", "").unwrap().swap_remove(0);
        let settings = Settings::load(&home.join("node.toml")).unwrap();
        let old = fingerprint(&settings.key).unwrap();
        let made = rotate(&settings, &[]).unwrap();
        assert_eq!(fingerprint(&settings.key).unwrap(), old, "the old key is in use");
        let mut authority = Authority::new().unwrap();
        let wrong = authority.issue("a").unwrap();
        let place = beside(&settings.certificate, ".new");
        fs::write(&place, wrong.certificate).unwrap();
        assert!(install(&settings).unwrap_err().to_string().contains("for another key"));
        fs::write(&place, authority.certify(&["a"], &read(&made.key).unwrap()).unwrap()).unwrap();
        assert_eq!(install(&settings).unwrap(), made.fingerprint);
        assert_eq!(fingerprint(&settings.key).unwrap(), made.fingerprint);
        assert_eq!(fingerprint(&settings.certificate).unwrap(), made.fingerprint);
        assert_eq!(fingerprint(&beside(&settings.key, ".old")).unwrap(), old);
    }
}
