//! SCRAM-SHA-256 (RFC 5802, RFC 7677): who an analyst is, without the password passing by. The
//! settings hold a verifier in PostgreSQL's own notation, from which no password can be read.

use aws_lc_rs::{constant_time, digest, hmac, pbkdf2};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand::rngs::{StdRng, SysRng};

pub(super) const MECHANISM: &str = "SCRAM-SHA-256";
/// As PostgreSQL has it.
const ITERATIONS: u32 = 4096;
const ITERATIONS_MAX: u32 = 1_000_000;
const SALT_BYTES: usize = 16;
const SALT_BYTES_MAX: usize = 64;

/// What the settings know of an analyst's password.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    iterations: u32,
    salt: Vec<u8>,
    stored_key: [u8; 32],
    server_key: [u8; 32],
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier(…)")
    }
}

fn sign(key: &[u8], message: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    let mut bytes = [0; 32];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    let mut hashed = [0; 32];
    hashed.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hashed
}

fn salted(password: &str, salt: &[u8], iterations: u32) -> [u8; 32] {
    let mut key = [0; 32];
    let iterations = iterations.try_into().unwrap_or(std::num::NonZeroU32::MIN);
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password.as_bytes(), &mut key);
    key
}

impl Verifier {
    /// Reads `SCRAM-SHA-256$4096:salt$stored key:server key`.
    pub fn parse(text: &str) -> Option<Verifier> {
        let mut parts = text.split('$');
        let (mechanism, cost, keys) = (parts.next()?, parts.next()?, parts.next()?);
        let (iterations, salt) = cost.split_once(':')?;
        let (stored, server) = keys.split_once(':')?;
        let decode = |text: &str| STANDARD.decode(text).ok();
        let iterations = iterations.parse().ok().filter(|count| (ITERATIONS..=ITERATIONS_MAX).contains(count))?;
        let salt = decode(salt).filter(|salt| (8..=SALT_BYTES_MAX).contains(&salt.len()))?;
        let fits = mechanism == MECHANISM && parts.next().is_none();
        let (stored_key, server_key) = (decode(stored)?.try_into().ok()?, decode(server)?.try_into().ok()?);
        fits.then_some(Verifier { iterations, salt, stored_key, server_key })
    }

    fn of(password: &str, salt: Vec<u8>) -> Verifier {
        let salted = salted(password, &salt, ITERATIONS);
        let stored_key = hash(&sign(&salted, b"Client Key"));
        Verifier { iterations: ITERATIONS, salt, stored_key, server_key: sign(&salted, b"Server Key") }
    }

    /// A password of its own making, and its verifier as it is written in the settings.
    pub fn generate() -> Result<(String, String), String> {
        const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let mut rng = random()?;
        let password: String = (0..24).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect();
        let salt: [u8; SALT_BYTES] = rng.random();
        let Verifier { iterations, salt, stored_key, server_key } = Verifier::of(&password, salt.to_vec());
        let encode = |bytes: &[u8]| STANDARD.encode(bytes);
        let (salt, stored, server) = (encode(&salt), encode(&stored_key), encode(&server_key));
        Ok((password, format!("{MECHANISM}${iterations}:{salt}${stored}:{server}")))
    }

    /// Nobody's verifier, which always has the same salt for a name: whether an analyst of that
    /// name exists shows in no answer.
    pub(super) fn of_nobody(secret: &[u8; 32], name: &str) -> Verifier {
        let salt = sign(secret, name.as_bytes())[..SALT_BYTES].to_vec();
        Verifier { iterations: ITERATIONS, salt, stored_key: [0; 32], server_key: [0; 32] }
    }
}

pub(super) fn random() -> Result<StdRng, String> {
    StdRng::try_from_rng(&mut SysRng).map_err(|_| "the system gives no randomness".to_owned())
}

/// One exchange, between its first and its last message.
#[derive(Debug)]
pub(super) struct Exchange {
    verifier: Verifier,
    /// The header about channel binding, which the last message repeats.
    header: String,
    client_first: String,
    server_first: String,
    nonce: String,
}

impl Exchange {
    /// Takes the client's first message; gives what to send.
    pub(super) fn begin(verifier: Verifier, first: &str) -> Option<(Exchange, String)> {
        let binding = first.split(',').next()?;
        // `p` names a binding to the TLS channel, which was not offered.
        if binding != "n" && binding != "y" {
            return None;
        }
        let rest = first.strip_prefix(binding)?.strip_prefix(",,")?;
        let own = rest.split(',').find_map(|part| part.strip_prefix("r=")).filter(|nonce| !nonce.is_empty())?;
        let bytes: [u8; 18] = random().ok()?.random();
        let nonce = format!("{own}{}", STANDARD.encode(bytes));
        let server_first = format!("r={nonce},s={},i={}", STANDARD.encode(&verifier.salt), verifier.iterations);
        let (header, client_first) = (format!("{binding},,"), rest.to_owned());
        Some((Exchange { verifier, header, client_first, server_first: server_first.clone(), nonce }, server_first))
    }

    /// Takes the client's last message; gives the proof that the node has the verifier, if the
    /// client has the password.
    pub(super) fn finish(self, last: &str) -> Option<String> {
        let (bare, proof) = last.rsplit_once(",p=")?;
        let part = |name: &str| bare.split(',').find_map(|part| part.strip_prefix(name));
        let binding = STANDARD.encode(&self.header);
        if part("c=") != Some(&binding) || part("r=") != Some(&self.nonce) {
            return None;
        }
        let said = format!("{},{},{bare}", self.client_first, self.server_first);
        let proof: [u8; 32] = STANDARD.decode(proof).ok()?.try_into().ok()?;
        let signature = sign(&self.verifier.stored_key, said.as_bytes());
        let mut key = [0; 32];
        key.iter_mut().zip(proof.iter().zip(signature)).for_each(|(key, (proof, sign))| *key = proof ^ sign);
        constant_time::verify_slices_are_equal(&hash(&key), &self.verifier.stored_key).ok()?;
        Some(format!("v={}", STANDARD.encode(sign(&self.verifier.server_key, said.as_bytes()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_standard_is_proven() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let exchange = Exchange {
            verifier: Verifier::of("pencil", salt),
            header: "n,,".to_owned(),
            client_first: "n=user,r=rOprNGfwEbeRWgbNEkqO".to_owned(),
            server_first: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
                .to_owned(),
            nonce: "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0".to_owned(),
        };
        let last = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(exchange.finish(last).unwrap(), "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    /// A client by the definition, independent of the server's code but for the hash functions.
    fn prove(password: &str, client_first: &str, server_first: &str, header: &str) -> String {
        let part = |name: &str| server_first.split(',').find_map(|part| part.strip_prefix(name)).unwrap();
        let salted = salted(password, &STANDARD.decode(part("s=")).unwrap(), part("i=").parse().unwrap());
        let key = sign(&salted, b"Client Key");
        let bare = format!("c={},r={}", STANDARD.encode(header), part("r="));
        let signature = sign(&hash(&key), format!("{client_first},{server_first},{bare}").as_bytes());
        let proof: Vec<u8> = key.iter().zip(signature).map(|(key, sign)| key ^ sign).collect();
        format!("{bare},p={}", STANDARD.encode(proof))
    }

    #[test]
    fn the_password_is_needed_and_nothing_else_will_do() {
        let (password, verifier) = Verifier::generate().unwrap();
        assert!(!verifier.contains(&password));
        let verifier = Verifier::parse(&verifier).unwrap();
        let begin = |verifier: &Verifier| Exchange::begin(verifier.clone(), "n,,n=,r=abc").unwrap();
        let (exchange, first) = begin(&verifier);
        assert!(exchange.finish(&prove(&password, "n=,r=abc", &first, "n,,")).unwrap().starts_with("v="));
        let (exchange, first) = begin(&verifier);
        assert_eq!(exchange.finish(&prove("another", "n=,r=abc", &first, "n,,")), None, "a wrong password");
        let (exchange, first) = begin(&verifier);
        assert_eq!(exchange.finish(&prove(&password, "n=,r=abc", &first, "y,,")), None, "another header");
        let (_, first) = begin(&verifier);
        let replayed = prove(&password, "n=,r=abc", &first, "n,,");
        assert_eq!(begin(&verifier).0.finish(&replayed), None, "a proof of an earlier exchange");
        let nobody = Verifier::of_nobody(&[7; 32], "eve");
        assert_eq!(nobody, Verifier::of_nobody(&[7; 32], "eve"));
        let (exchange, first) = begin(&nobody);
        assert_eq!(exchange.finish(&prove(&password, "n=,r=abc", &first, "n,,")), None, "nobody");
        assert!(Exchange::begin(verifier.clone(), "p=tls-unique,,n=,r=abc").is_none());
        assert!(Exchange::begin(verifier, "n,,n=").is_none());
    }

    #[test]
    fn what_is_no_verifier_is_refused() {
        let (_, good) = Verifier::generate().unwrap();
        assert!(Verifier::parse(&good).is_some());
        let bad = [good.replace("4096", "1"), good.replace("SHA-256", "SHA-1"), format!("{good}$"), String::new()];
        assert!(bad.iter().all(|text| Verifier::parse(text).is_none()));
        assert!(Verifier::parse("md5e2fc714c4727ee9395f324cd2e7f331f").is_none());
    }
}
