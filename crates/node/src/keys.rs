//! An authority, certificates and settings for a trial, all made at once. For real use the
//! federation has an authority of its own, and every custodian makes its own private key
//! (`key_files.rs`).

use std::fs;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use hedgerow_smc::{Coins, SigningKey};
use rand::SeedableRng as _;
use rand::rngs::{StdRng, SysRng};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, PublicKeyData as _, RevokedCertParams,
    SerialNumber,
};
use sha2::{Digest as _, Sha256};

use crate::hex;

/// Trial certificates are valid for this many years.
const YEARS: i32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
    #[error("a key or certificate could not be made: {0}")]
    Made(#[from] rcgen::Error),
    #[error("{0}")]
    Input(String),
}

/// A party of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    pub name: String,
    pub place: PartyRole,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartyRole {
    /// And where it listens.
    Custodian(String),
    Analyst,
    Auditor,
}

impl Party {
    pub fn custodian(name: impl Into<String>, address: impl Into<String>) -> Party {
        Party { name: name.into(), place: PartyRole::Custodian(address.into()) }
    }
}

/// Signs the certificates of a trial.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    year: i32,
    issued: u64,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Authority({} certificates)", self.issued)
    }
}

/// A certificate with its private key, in PEM.
pub struct Issued {
    pub certificate: String,
    pub key: String,
    pub fingerprint: [u8; 32],
    serial: u64,
}

impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Issued({})", hex::encode(&self.fingerprint))
    }
}

impl Authority {
    pub fn new() -> Result<Authority, KeysError> {
        let days = crate::clock::unix_ms() / 86_400_000;
        let (year, _, _) = hedgerow_table::date::Date(days as i32).ymd();
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "hedgerow trial authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.not_before = rcgen::date_time_ymd(year - 1, 12, 31);
        params.not_after = rcgen::date_time_ymd(year + YEARS, 12, 31);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Authority { issuer, year, issued: 0 })
    }

    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    pub fn issue(&mut self, name: &str) -> Result<Issued, KeysError> {
        self.issue_for(&[name])
    }

    /// A new key with a certificate for a name, and for the hosts where it listens.
    pub fn issue_for(&mut self, names: &[&str]) -> Result<Issued, KeysError> {
        let key = KeyPair::generate()?;
        let certificate = self.sign(names, &key)?;
        let fingerprint = Sha256::digest(key.subject_public_key_info()).into();
        Ok(Issued { certificate, key: key.serialize_pem(), fingerprint, serial: self.issued })
    }

    /// A certificate for a key that exists.
    pub fn certify(&mut self, names: &[&str], key: &str) -> Result<String, KeysError> {
        self.sign(names, &KeyPair::from_pem(key)?)
    }

    fn sign(&mut self, names: &[&str], key: &KeyPair) -> Result<String, KeysError> {
        self.issued += 1;
        let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
        params.distinguished_name.push(DnType::CommonName, names.first().copied().unwrap_or_default());
        params.serial_number = Some(SerialNumber::from(self.issued));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.not_before = rcgen::date_time_ymd(self.year - 1, 12, 31);
        params.not_after = rcgen::date_time_ymd(self.year + YEARS, 12, 31);
        Ok(params.signed_by(key, &self.issuer)?.pem())
    }

    /// A list of revoked certificates, in PEM.
    pub fn revoke(&self, revoked: &[&Issued]) -> Result<String, KeysError> {
        let since = rcgen::date_time_ymd(self.year, 1, 1);
        let revoked = revoked.iter().map(|issued| RevokedCertParams {
            serial_number: SerialNumber::from(issued.serial),
            revocation_time: since,
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: since,
            next_update: rcgen::date_time_ymd(self.year + YEARS, 12, 31),
            crl_number: SerialNumber::from(1u64),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        Ok(params.signed_by(&self.issuer)?.pem()?)
    }
}

/// Makes an authority and, for every party, a folder below `folder` with its key, certificate and
/// `node.toml`; gives the folders. The authority's own key is not kept.
pub fn make_trial(folder: &Path, parties: &[Party], policy: &str, more: &str) -> Result<Vec<PathBuf>, KeysError> {
    if parties.iter().filter(|party| matches!(party.place, PartyRole::Custodian(_))).count() < 3 {
        return Err(KeysError::Input("at least 3 custodians are needed".to_owned()));
    }
    let mut authority = Authority::new()?;
    let issue = |party: &Party| match &party.place {
        // Analysts verify the host that they connect to.
        PartyRole::Custodian(address) => {
            authority.issue_for(&[&[party.name.as_str()], hosts(address).as_slice()].concat())
        }
        PartyRole::Analyst | PartyRole::Auditor => authority.issue(&party.name),
    };
    let issued: Vec<Issued> = parties.iter().map(issue).collect::<Result<_, _>>()?;
    let signing: Vec<SigningKey> = parties.iter().map(|_| draw_signing_key()).collect::<Result<_, _>>()?;
    let mut folders = Vec::new();
    for ((party, own), signs) in parties.iter().zip(&issued).zip(&signing) {
        let home = folder.join(&party.name);
        fs::create_dir_all(&home).map_err(|source| io_error(&home, source))?;
        write_new(&home.join("authority.pem"), &authority.pem(), false)?;
        write_new(&home.join("certificate.pem"), &own.certificate, false)?;
        write_new(&home.join("private.key"), &own.key, true)?;
        if let PartyRole::Custodian(address) = &party.place {
            write_new(&home.join("signing.key"), &format!("{}\n", hex::encode(&signs.secret())), true)?;
            let others = parties.iter().zip(&issued).zip(&signing).filter(|((other, _), _)| other.name != party.name);
            let peers: String = others.map(|((other, issued), signs)| peer(other, issued, &signs.public())).collect();
            let Party { name, .. } = party;
            let own = format!(
                "name = \"{name}\"\nlisten = \"{address}\"\ndata = \"data\"\npolicy = \"{policy}\"\n\
                 certificate = \"certificate.pem\"\nkey = \"private.key\"\nauthority = \"authority.pem\"\n{more}"
            );
            write_new(&home.join("node.toml"), &format!("{own}{peers}"), false)?;
        }
        folders.push(home);
    }
    Ok(folders)
}

/// The names under which an address is reached: on this machine there are two.
fn hosts(address: &str) -> Vec<&str> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(ip) if ip.is_loopback() => vec![host, "localhost"],
        Ok(ip) if ip.is_unspecified() => Vec::new(),
        _ => vec![host],
    }
}

/// A new signing key, from the system's randomness.
pub fn draw_signing_key() -> Result<SigningKey, KeysError> {
    let failed = |error| KeysError::Input(format!("the system gives no randomness: {error}"));
    let mut rng = StdRng::try_from_rng(&mut SysRng).map_err(failed)?;
    Ok(SigningKey::draw(&mut Coins::from_source(&mut rng)))
}

/// Reads the key that a custodian signs with: 64 digits from 0 to f.
pub fn read_signing_key(path: &Path) -> Result<SigningKey, KeysError> {
    let text = fs::read_to_string(path).map_err(|source| io_error(path, source))?;
    let bytes = hex::decode(text.trim());
    let problem = || KeysError::Input(format!("{}: not a signing key: 64 digits from 0 to f", path.display()));
    Ok(SigningKey::from_bytes(&bytes.ok_or_else(problem)?))
}

fn peer(party: &Party, issued: &Issued, signing_key: &[u8; 32]) -> String {
    let more = match &party.place {
        PartyRole::Custodian(address) => {
            format!("signing-key = \"{}\"\naddress = \"{address}\"", hex::encode(signing_key))
        }
        PartyRole::Analyst => "role = \"analyst\"".to_owned(),
        PartyRole::Auditor => "role = \"auditor\"".to_owned(),
    };
    let key = hex::encode(&issued.fingerprint);
    format!("\n[[peer]]\nname = \"{}\"\nkey = \"{key}\"\n{more}\n", party.name)
}

pub(crate) fn io_error(path: &Path, source: io::Error) -> KeysError {
    KeysError::Io { path: path.display().to_string(), source }
}

/// Never over a file that exists: a key that is in use would be lost.
pub fn write_new(path: &Path, text: &str, private: bool) -> Result<(), KeysError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    let mut file = options.open(path).map_err(|source| io_error(path, source))?;
    file.write_all(text.as_bytes()).map_err(|source| io_error(path, source))
}
