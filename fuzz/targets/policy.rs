//! Any text as a policy: it is understood, or refused with a message that a person can act on.
#![no_main]

use std::path::Path;

use hedgerow_policy::Policy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(refusal) = Policy::parse(text, Path::new("policy.toml")) {
        let message = refusal.to_string();
        assert!(message.contains("policy.toml"), "no place: {message}");
    }
});
