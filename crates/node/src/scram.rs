//! SCRAM-SHA-256 (RFC 5802, RFC 7677), with and without channel binding: an analyst proves a
//! password without sending it. The settings hold a verifier in PostgreSQL's notation, from which
//! the password cannot be read.

use aws_lc_rs::{constant_time, digest, hmac, pbkdf2};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand::rngs::{StdRng, SysRng};

pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";
const MECHANISM_PLUS: &str = "SCRAM-SHA-256-PLUS";
/// As PostgreSQL has it.
const ITERATIONS: u32 = 4096;
const ITERATIONS_MAX: u32 = 1_000_000;
const SALT_BYTES: usize = 16;
const SALT_BYTES_MAX: usize = 64;

/// The verifier of an analyst's password in the settings.
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

    /// The verifier of a name that does not exist. A name always gets the same salt, and a count of
    /// iterations and a length of salt that a real analyst has, so that an answer does not show
    /// whether the name exists.
    pub(crate) fn decoy(secret: &[u8; 32], name: &str, real: &[&Verifier]) -> Verifier {
        let salt = sign(secret, name.as_bytes());
        let like = real.get(usize::from(salt[31]) % real.len().max(1));
        let (iterations, length) = like.map_or((ITERATIONS, SALT_BYTES), |real| (real.iterations, real.salt.len()));
        let salt: Vec<u8> = salt.iter().chain(&sign(secret, &salt)).copied().take(length).collect();
        Verifier { iterations, salt, stored_key: [0; 32], server_key: [0; 32] }
    }
}

pub(crate) fn random() -> Result<StdRng, String> {
    StdRng::try_from_rng(&mut SysRng).map_err(|_| "the system gives no randomness".to_owned())
}

/// The mechanisms that are offered: with a binding to the TLS connection, where it has one.
pub(crate) fn mechanisms(binding: Option<&[u8]>) -> &'static [&'static str] {
    if binding.is_some() { &[MECHANISM_PLUS, MECHANISM] } else { &[MECHANISM] }
}

/// One exchange, between its first and its last message.
#[derive(Debug)]
pub(crate) struct Exchange {
    verifier: Verifier,
    /// The header about channel binding with the binding itself, which the last message repeats.
    bound: Vec<u8>,
    client_first: String,
    server_first: String,
    nonce: String,
}

impl Exchange {
    /// Takes the client's first message under a mechanism that was offered; gives what to send.
    pub(crate) fn begin(
        verifier: Verifier,
        mechanism: &str,
        binding: Option<&[u8]>,
        first: &str,
    ) -> Option<(Exchange, String)> {
        let flag = first.split(',').next()?;
        let bound = match (mechanism, flag, binding) {
            (MECHANISM, "n", _) | (MECHANISM, "y", None) => None,
            // `y` says that the client knows of bindings and was offered none: if one was offered,
            // an attacker in between has removed it.
            (MECHANISM_PLUS, "p=tls-server-end-point", Some(binding)) => Some(binding),
            _ => return None,
        };
        let rest = first.strip_prefix(flag)?.strip_prefix(",,")?;
        let own = rest.split(',').find_map(|part| part.strip_prefix("r=")).filter(|nonce| !nonce.is_empty())?;
        let bytes: [u8; 18] = random().ok()?.random();
        let nonce = format!("{own}{}", STANDARD.encode(bytes));
        let server_first = format!("r={nonce},s={},i={}", STANDARD.encode(&verifier.salt), verifier.iterations);
        let bound = [format!("{flag},,").as_bytes(), bound.unwrap_or_default()].concat();
        let client_first = rest.to_owned();
        Some((Exchange { verifier, bound, client_first, server_first: server_first.clone(), nonce }, server_first))
    }

    /// Takes the client's last message; gives the proof that the node has the verifier, if the
    /// client has the password.
    pub(crate) fn finish(self, last: &str) -> Option<String> {
        let (bare, proof) = last.rsplit_once(",p=")?;
        let part = |name: &str| bare.split(',').find_map(|part| part.strip_prefix(name));
        let binding = STANDARD.encode(&self.bound);
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
            bound: b"n,,".to_vec(),
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
    fn prove(password: &str, client_first: &str, server_first: &str, bound: &[u8]) -> String {
        let part = |name: &str| server_first.split(',').find_map(|part| part.strip_prefix(name)).unwrap();
        let salted = salted(password, &STANDARD.decode(part("s=")).unwrap(), part("i=").parse().unwrap());
        let key = sign(&salted, b"Client Key");
        let bare = format!("c={},r={}", STANDARD.encode(bound), part("r="));
        let signature = sign(&hash(&key), format!("{client_first},{server_first},{bare}").as_bytes());
        let proof: Vec<u8> = key.iter().zip(signature).map(|(key, sign)| key ^ sign).collect();
        format!("{bare},p={}", STANDARD.encode(proof))
    }

    #[test]
    fn the_password_is_needed_and_nothing_else_will_do() {
        let (password, verifier) = Verifier::generate().unwrap();
        assert!(!verifier.contains(&password));
        let verifier = Verifier::parse(&verifier).unwrap();
        let begin = |verifier: &Verifier| Exchange::begin(verifier.clone(), MECHANISM, None, "n,,n=,r=abc").unwrap();
        let prove = |password: &str, first: &str, bound: &[u8]| prove(password, "n=,r=abc", first, bound);
        let (exchange, first) = begin(&verifier);
        assert!(exchange.finish(&prove(&password, &first, b"n,,")).unwrap().starts_with("v="));
        let (exchange, first) = begin(&verifier);
        assert_eq!(exchange.finish(&prove("another", &first, b"n,,")), None, "a wrong password");
        let (exchange, first) = begin(&verifier);
        assert_eq!(exchange.finish(&prove(&password, &first, b"y,,")), None, "another header");
        let (_, first) = begin(&verifier);
        let replayed = prove(&password, &first, b"n,,");
        assert_eq!(begin(&verifier).0.finish(&replayed), None, "a proof of an earlier exchange");
        let (exchange, first) = begin(&Verifier::decoy(&[7; 32], "eve", &[]));
        assert_eq!(exchange.finish(&prove(&password, &first, b"n,,")), None, "a name that does not exist");
        assert!(Exchange::begin(verifier, MECHANISM, None, "n,,n=").is_none());
    }

    #[test]
    fn a_proof_is_bound_to_the_connection() {
        let (password, verifier) = Verifier::generate().unwrap();
        let verifier = Verifier::parse(&verifier).unwrap();
        let begin = |mechanism: &str, binding: Option<&[u8]>, flag: &str| {
            Exchange::begin(verifier.clone(), mechanism, binding, &format!("{flag},,n=,r=abc"))
        };
        let flag = "p=tls-server-end-point";
        let bound = |binding: &[u8]| [flag.as_bytes(), b",,", binding].concat();
        let (exchange, first) = begin(MECHANISM_PLUS, Some(b"own"), flag).unwrap();
        assert!(exchange.finish(&prove(&password, "n=,r=abc", &first, &bound(b"own"))).is_some());
        let (exchange, first) = begin(MECHANISM_PLUS, Some(b"own"), flag).unwrap();
        assert_eq!(exchange.finish(&prove(&password, "n=,r=abc", &first, &bound(b"another"))), None, "relayed");
        assert!(begin(MECHANISM_PLUS, None, flag).is_none(), "not offered");
        assert!(begin(MECHANISM_PLUS, Some(b"own"), "n").is_none());
        assert!(begin(MECHANISM_PLUS, Some(b"own"), "p=tls-unique").is_none());
        assert!(begin(MECHANISM, Some(b"own"), "y").is_none(), "an offer that was removed on the way");
        assert!(begin(MECHANISM, None, "y").is_some() && begin(MECHANISM, Some(b"own"), "n").is_some());
    }

    #[test]
    fn a_decoy_looks_like_a_real_verifier() {
        let of = |name: &str, real: &[&Verifier]| Verifier::decoy(&[7; 32], name, real);
        assert_eq!(of("eve", &[]), of("eve", &[]));
        assert_ne!(of("eve", &[]).salt, of("mallory", &[]).salt);
        let real = Verifier { iterations: 30_000, salt: vec![1; 40], stored_key: [0; 32], server_key: [0; 32] };
        let decoy = of("eve", &[&real]);
        assert_eq!((decoy.iterations, decoy.salt.len()), (30_000, 40));
    }

    #[test]
    fn an_invalid_verifier_is_refused() {
        let (_, good) = Verifier::generate().unwrap();
        assert!(Verifier::parse(&good).is_some());
        let bad = [good.replace("4096", "1"), good.replace("SHA-256", "SHA-1"), format!("{good}$"), String::new()];
        assert!(bad.iter().all(|text| Verifier::parse(text).is_none()));
        assert!(Verifier::parse("md5e2fc714c4727ee9395f324cd2e7f331f").is_none());
    }
}
