//! Any bytes as a message between custodians, and as a book of burned questions: read whole and
//! written back byte for byte, or refused.
#![no_main]

use hedgerow_smc::{BurnBook, Message};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = Message::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    if let Ok(book) = BurnBook::decode(bytes) {
        assert_eq!(BurnBook::decode(&book.encode()), Ok(book));
    }
});
