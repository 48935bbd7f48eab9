//! Mutual TLS 1.3, always: both ends show a certificate of the federation's authority, and each end
//! compares the other's public key with the one that its settings pin to the name.
//!
//! The key exchange is X25519 together with ML-KEM-768 wherever both ends offer it, as two nodes
//! do: what is recorded today stays closed to whoever breaks one of the two later.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use sha2::{Digest as _, Sha256};

use crate::settings::Settings;

/// The largest file of keys or certificates.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Why there is no TLS: then there is no node.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{path}: {problem}")]
    File { path: String, problem: String },
    #[error("TLS cannot be set up: {0}")]
    Setup(String),
}

#[derive(Debug, Clone)]
pub struct Tls {
    pub server: Arc<ServerConfig>,
    pub client: Arc<ClientConfig>,
    /// The fingerprint of our own public key.
    pub own: [u8; 32],
}

/// SHA-256 of a certificate's public key with its algorithm.
pub fn fingerprint(certificate: &CertificateDer<'_>) -> Option<[u8; 32]> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    Some(Sha256::digest(parsed.subject_public_key_info()).into())
}

impl Tls {
    pub fn new(settings: &Settings) -> Result<Tls, TlsError> {
        refuse_readable(&settings.key)?;
        let chain = read_all::<CertificateDer<'static>>(&settings.certificate)?;
        let key = read_all::<PrivateKeyDer<'static>>(&settings.key)?.swap_remove(0);
        let own = fingerprint(&chain[0]).ok_or_else(|| refused(&settings.certificate, "not a certificate"))?;
        let (roots, crls, provider) = (authority(settings)?, revoked(settings)?, Arc::new(provider()));
        let setup = |error: &dyn std::fmt::Display| TlsError::Setup(error.to_string());
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
            .with_crls(crls.clone())
            .only_check_end_entity_revocation()
            .build()
            .map_err(|error| setup(&error))?;
        let servers = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .with_crls(crls)
            .only_check_end_entity_revocation()
            .build()
            .map_err(|error| setup(&error))?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| setup(&error))?
            .with_client_cert_verifier(clients)
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(|error| setup(&error))?;
        // Every connection proves anew who it is.
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| setup(&error))?
            .with_webpki_verifier(servers)
            .with_client_auth_cert(chain, key)
            .map_err(|error| setup(&error))?;
        client.resumption = Resumption::disabled();
        Ok(Tls { server: Arc::new(server), client: Arc::new(client), own })
    }
}

/// Who signs the certificates of all.
fn authority(settings: &Settings) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in read_all::<CertificateDer<'static>>(&settings.authority)? {
        roots.add(certificate).map_err(|error| refused(&settings.authority, error.to_string()))?;
    }
    Ok(Arc::new(roots))
}

/// The certificates that hold no longer.
fn revoked(settings: &Settings) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    settings.revoked.as_deref().map_or(Ok(Vec::new()), read_all)
}

/// TLS of the endpoint for analysts: the server shows its certificate. Where analysts are known by
/// theirs they may show it; the others prove a password, as all do otherwise.
pub(crate) fn for_analysts(
    settings: &Settings,
    (certificate, key): (&Path, &Path),
    certified: bool,
) -> Result<Arc<ServerConfig>, TlsError> {
    refuse_readable(key)?;
    let chain = read_all::<CertificateDer<'static>>(certificate)?;
    let key = read_all::<PrivateKeyDer<'static>>(key)?.swap_remove(0);
    let setup = |error: &dyn std::fmt::Display| TlsError::Setup(error.to_string());
    let provider = Arc::new(provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| setup(&error))?;
    let builder = if certified {
        let clients = WebPkiClientVerifier::builder_with_provider(authority(settings)?, provider)
            .with_crls(revoked(settings)?)
            .only_check_end_entity_revocation()
            .allow_unauthenticated()
            .build()
            .map_err(|error| setup(&error))?;
        builder.with_client_cert_verifier(clients)
    } else {
        builder.with_no_client_auth()
    };
    let mut server = builder.with_single_cert(chain, key).map_err(|error| setup(&error))?;
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.send_tls13_tickets = 0;
    Ok(Arc::new(server))
}

fn provider() -> CryptoProvider {
    aws_lc_rs::default_provider()
}

fn refused(path: &Path, problem: impl Into<String>) -> TlsError {
    TlsError::File { path: path.display().to_string(), problem: problem.into() }
}

/// All sections of one kind; at least one.
fn read_all<T: rustls::pki_types::pem::PemObject>(path: &Path) -> Result<Vec<T>, TlsError> {
    let length = fs::metadata(path).map_err(|error| refused(path, error.to_string()))?.len();
    if length > PEM_BYTES_MAX {
        return Err(refused(path, "larger than 1 MiB, which no such file is"));
    }
    let bytes = fs::read(path).map_err(|error| refused(path, error.to_string()))?;
    let found: Result<Vec<T>, _> = T::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(refused(path, "not in PEM, or of another kind than expected here")),
    }
}

/// A private key that others can read is not private.
#[cfg(unix)]
fn refuse_readable(path: &Path) -> Result<(), TlsError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path).map_err(|error| refused(path, error.to_string()))?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(refused(path, "others than its owner can use the private key; `chmod 600` mends it"))
}

#[cfg(not(unix))]
fn refuse_readable(_: &Path) -> Result<(), TlsError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_exchange_is_hybrid() {
        let first = provider().kx_groups[0].name();
        assert_eq!(first, rustls::NamedGroup::X25519MLKEM768);
    }
}
