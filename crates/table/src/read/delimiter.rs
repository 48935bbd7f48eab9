//! Which byte separates the fields of a text.

use super::blocks::{Quoting, closing_quote};
use super::interner::PADDING;
use super::marks::Marks;

/// How much of a file is looked at. Fixed, so that the answer depends on nothing but the file.
pub(crate) const SAMPLE_BYTES: usize = 1 << 16;
const SAMPLE_RECORDS: usize = 100;

/// The name of a delimiter in a sentence.
pub(crate) fn name(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        other => format!("`{}`", char::from(other)),
    }
}

/// The candidate that splits the most sampled records as it splits the first, into more than one
/// field; the earlier one when several do. When none splits the first record, the first candidate
/// that splits any: such a file is then refused where it is uneven, rather than read as one column
/// of unsplit lines.
///
/// `ended` says that the text goes on no further than the sample.
pub(crate) fn detect(sample: &[u8], ended: bool, quote: u8, candidates: &[u8]) -> u8 {
    let default = candidates.first().copied().unwrap_or(b',');
    let mut best = (default, 0);
    let mut fallback = None;
    for &candidate in candidates {
        let counts = field_counts(sample, ended, Quoting { delimiter: candidate, quote });
        let Some(&first) = counts.first() else { continue };
        if first > 1 {
            // Parts per million: a longer agreement counts as a larger share, whatever the number
            // of records.
            let agreeing = counts.iter().filter(|&&count| count == first).count() * 1_000_000 / counts.len();
            if agreeing > best.1 {
                best = (candidate, agreeing);
            }
        } else if fallback.is_none() && counts.iter().any(|&count| count > 1) {
            fallback = Some(candidate);
        }
    }
    if best.1 > 0 { best.0 } else { fallback.unwrap_or(default) }
}

/// Fields in each of the first records that are whole and not empty.
fn field_counts(sample: &[u8], ended: bool, quoting: Quoting) -> Vec<usize> {
    let padded = [sample, &[0; PADDING]].concat();
    let mut quotes = Marks::new(&padded, [quoting.quote; 2]);
    let mut counts = Vec::new();
    let mut start = 0;
    let mut fields = 1;
    let mut at = 0;
    while at < sample.len() && counts.len() < SAMPLE_RECORDS {
        let byte = sample[at];
        let opens = byte == quoting.quote && (at == start || sample[at - 1] == quoting.delimiter);
        if opens {
            match closing_quote(sample, at, &mut quotes) {
                Some((close, _)) => at = close,
                None => return counts,
            }
        } else if byte == quoting.delimiter {
            fields += 1;
        } else if byte == b'\n' {
            if !matches!(&sample[start..at], b"" | b"\r") {
                counts.push(fields);
            }
            start = at + 1;
            fields = 1;
        }
        at += 1;
    }
    if ended && start < sample.len() && counts.len() < SAMPLE_RECORDS {
        counts.push(fields);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_splits_evenly() {
        let cases: [(&str, u8); 12] = [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2\n", b';'),
            ("a\tb\n1,5\t2\n", b'\t'),
            ("a|b\nx;y|2", b'|'),
            ("a;b,c;d\n1;2;3\n4,1;2;3\n", b';'),
            ("\"a,b\";c\n\"1,2\";3\n", b';'),
            ("\"a\n,b\";c\n\"1,2\";3\n", b';'),
            ("a,b;c\n1,2;3\n", b','),
            ("one\n1\n2\n", b','),
            ("", b','),
            ("a;b\n\n1;2\n1;2;3\n", b';'),
            ("a title\na;b\n1;2\n", b';'),
        ];
        for (text, expected) in cases {
            assert_eq!(char::from(detect(text.as_bytes(), true, b'"', b",;\t|")), char::from(expected), "{text:?}");
        }
    }

    #[test]
    fn a_record_cut_off_by_the_sample_does_not_count() {
        assert_eq!(field_counts(b"a,b\n1,2\n3", false, Quoting { delimiter: b',', quote: b'"' }), [2, 2]);
        assert_eq!(field_counts(b"a,b\n1,2\n3", true, Quoting { delimiter: b',', quote: b'"' }), [2, 2, 1]);
    }
}
