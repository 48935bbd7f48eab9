//! TLS as libpq's `sslmode` says: any certificate, one of a known authority, or one of a known
//! authority for this host.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Which certificates of a server are accepted. Roots are a file, or `system`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// `prefer` and `require`: the connection is encrypted, and the server may be anyone.
    Any,
    /// `verify-ca`.
    Authority(String),
    /// `verify-full`.
    Host(String),
}

/// Connects a client of PostgreSQL by TLS.
pub(crate) fn connector(trust: Trust) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (roots, by_host) = match trust {
        Trust::Any => (None, false),
        Trust::Authority(roots) => (Some(roots), false),
        Trust::Host(roots) => (Some(roots), true),
    };
    let known = match roots {
        Some(roots) => {
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(read(&roots)?), provider.clone());
            Some(verifier.build().map_err(|error| format!("{roots}: {error}"))?)
        }
        None => None,
    };
    let verifier = Arc::new(Verifier { known, by_host, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?;
    let config = config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn read(roots: &str) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    if roots == "system" {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    } else {
        let certificates = CertificateDer::pem_file_iter(roots).map_err(|error| format!("{roots}: {error}"))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| format!("{roots}: {error}"))?;
            store.add(certificate).map_err(|error| format!("{roots}: {error}"))?;
        }
    }
    if store.is_empty() { Err(format!("{roots} holds no certificates")) } else { Ok(store) }
}

#[derive(Debug)]
struct Verifier {
    /// `None`: any certificate.
    known: Option<Arc<WebPkiServerVerifier>>,
    by_host: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(known) = &self.known else { return Ok(ServerCertVerified::assertion()) };
        match known.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is compared last, so everything else was verified.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.by_host => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
