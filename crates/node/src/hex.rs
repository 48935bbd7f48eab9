//! Bytes as digits from 0 to f: fingerprints, runs and digests as people read them.

/// Every message is signed over its digits, so they are looked up and not formatted.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    text
}

/// Exactly `N` bytes, in small or capital digits; colons between them are ignored.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
    let mut bytes = [0; N];
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = (digit(*high)? * 16 + digit(*low)?) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_decodes_and_nothing_else_does() {
        assert_eq!(encode(&[0, 255, 16, 9, 0xa8]), "00ff1009a8");
        assert_eq!(decode(&encode(&[0, 255, 16])), Some([0, 255, 16]));
        assert_eq!(decode("00:FF:10"), Some([0, 255, 16]));
        for wrong in ["", "00ff1", "00ff1g", "00ff10aa"] {
            assert_eq!(decode::<3>(wrong), None, "{wrong}");
        }
    }
}
