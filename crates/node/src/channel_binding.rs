//! The channel binding `tls-server-end-point` (RFC 5929): a hash of the server's certificate, which
//! a client of SCRAM-SHA-256-PLUS mixes into its proof. A proof that was given to one server is
//! worthless at another, also to an attacker in between whose certificate the client accepted.

use aws_lc_rs::digest::{self, Algorithm};
use rustls::pki_types::CertificateDer;

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// Signature algorithms (in DER) with the hash of the binding. SHA-1 and MD5 give way to SHA-256.
/// Others, such as Ed25519, have no binding by the standard: the server does not offer it then.
const ALGORITHMS: [(&[u8], &Algorithm); 7] = [
    // RSA with SHA-256, SHA-384, SHA-512 and SHA-1.
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b], &digest::SHA256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0c], &digest::SHA384),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0d], &digest::SHA512),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05], &digest::SHA256),
    // ECDSA with SHA-256, SHA-384 and SHA-512.
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02], &digest::SHA256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03], &digest::SHA384),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04], &digest::SHA512),
];

/// The binding to a connection whose server shows this certificate.
pub(crate) fn server_end_point(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let signed_with = signature_algorithm(certificate)?;
    let (_, hash) = ALGORITHMS.iter().find(|(identifier, _)| *identifier == signed_with)?;
    Some(digest::digest(hash, certificate).as_ref().to_vec())
}

/// A certificate is a sequence of what is signed, the algorithm (a sequence that begins with its
/// object identifier) and the signature.
fn signature_algorithm<'a>(certificate: &'a CertificateDer<'_>) -> Option<&'a [u8]> {
    let (content, _) = element(certificate, SEQUENCE)?;
    let (_, rest) = element(content, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    element(algorithm, OBJECT_IDENTIFIER).map(|(identifier, _)| identifier)
}

/// The content of a DER element with this tag, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    if first != tag {
        return None;
    }
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::pem::PemObject as _;

    use super::*;

    #[test]
    fn a_trial_certificate_is_bound_by_sha256() {
        let issued = crate::keys::Authority::new().unwrap().issue("north").unwrap();
        let certificate = CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap();
        let expected = digest::digest(&digest::SHA256, &certificate);
        assert_eq!(server_end_point(&certificate).unwrap(), expected.as_ref());
        for length in 0..certificate.len().min(600) {
            // Whatever is cut off before the algorithm gives no binding, and no panic.
            let _ = server_end_point(&CertificateDer::from(certificate[..length].to_vec()));
        }
        assert_eq!(server_end_point(&CertificateDer::from(vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff])), None);
    }
}
