//! Mutual TLS 1.3, always: both ends show a certificate of the federation's authority, and each end
//! compares the other's public key with the one that its settings pin to the name.
//!
//! The key exchange is X25519 together with ML-KEM-768 wherever both ends offer it, as two nodes
//! do: an attacker who records a connection today and breaks one of the two later reads nothing.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use sha2::{Digest as _, Sha256};

use crate::channel_binding::server_end_point;
use crate::endpoint_settings::Options;
use crate::rejections::RejectionKind;
use crate::settings::Settings;

/// The largest file of keys or certificates.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Why TLS cannot be set up. A node does not start without it.
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
        // No session is resumed: every connection proves its identity again.
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

/// The authority that signs all certificates.
fn authority(settings: &Settings) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in read_all::<CertificateDer<'static>>(&settings.authority)? {
        roots.add(certificate).map_err(|error| refused(&settings.authority, error.to_string()))?;
    }
    Ok(Arc::new(roots))
}

/// Lists of revoked certificates.
fn revoked(settings: &Settings) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    settings.revoked.as_deref().map_or(Ok(Vec::new()), read_all)
}

/// TLS of the endpoint for analysts: the server shows its certificate. Where the settings name
/// analysts by their keys a client may show a certificate; all others prove a password.
#[derive(Debug, Clone)]
pub struct AnalystTls {
    pub server: Arc<ServerConfig>,
    /// The channel binding of SCRAM, where the certificate has one.
    pub(crate) binding: Option<Vec<u8>>,
}

impl AnalystTls {
    pub fn new(settings: &Settings, options: &Options) -> Result<AnalystTls, TlsError> {
        let own = (&settings.certificate, &settings.key);
        let (certificate, key) = options.identity.as_ref().map_or(own, |(certificate, key)| (certificate, key));
        refuse_readable(key)?;
        let chain = read_all::<CertificateDer<'static>>(certificate)?;
        let key = read_all::<PrivateKeyDer<'static>>(key)?.swap_remove(0);
        let setup = |error: &dyn std::fmt::Display| TlsError::Setup(error.to_string());
        let provider = Arc::new(provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| setup(&error))?;
        let builder = if options.certified.is_empty() {
            builder.with_no_client_auth()
        } else {
            let clients = WebPkiClientVerifier::builder_with_provider(authority(settings)?, provider)
                .with_crls(revoked(settings)?)
                .only_check_end_entity_revocation()
                .allow_unauthenticated()
                .build()
                .map_err(|error| setup(&error))?;
            builder.with_client_cert_verifier(clients)
        };
        let binding = server_end_point(&chain[0]);
        let mut server = builder.with_single_cert(chain, key).map_err(|error| setup(&error))?;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        Ok(AnalystTls { server: Arc::new(server), binding })
    }
}

/// Why a handshake failed: a certificate that is not accepted, or no handshake at all.
pub(crate) fn failed_handshake(error: &io::Error) -> (RejectionKind, String) {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error @ (rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)) => {
            (RejectionKind::Certificate, error.to_string())
        }
        _ if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
            (RejectionKind::Handshake, "no handshake in time".to_owned())
        }
        _ => (RejectionKind::Handshake, format!("no handshake: {error}")),
    }
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
        return Err(refused(path, "larger than 1 MiB: not a file of keys or certificates"));
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
    Err(refused(path, "not only its owner can read the private key; run `chmod 600` on it"))
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
