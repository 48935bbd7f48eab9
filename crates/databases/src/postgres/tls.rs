//! TLS as libpq's `sslmode` says: any certificate, one of a known authority, or one of a known
//! authority for this host.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

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

#[derive(Debug, Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    pub(crate) fn new(trust: Trust) -> Result<Tls, String> {
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
        Ok(Tls { config: Arc::new(config) })
    }
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

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Connect;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Connect, Self::Error> {
        Ok(Connect { config: self.config.clone(), host: ServerName::try_from(host.to_owned())? })
    }
}

#[derive(Debug)]
pub(crate) struct Connect {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connect {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Encrypted(TlsConnector::from(self.config).connect(self.host, stream).await?)) })
    }
}

/// A connection that is encrypted.
pub(crate) struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
