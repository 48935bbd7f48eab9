//! The bytes that signatures add to those of a run, beside the table of docs/custodians.md.

use hedgerow_node::message::{Frame, FrameContent, Heads, Hex, JournalMessage};

use crate::world::signing;

const DOCUMENT: &str = include_str!("../../../../docs/custodians.md");
const CUSTODIANS: [u64; 4] = [3, 10, 30, 100];
/// Joined, approved, staged, prepared, the heads after the run, and that those of the other are
/// kept.
const NOTES: u64 = 6;

fn bytes(content: FrameContent) -> u64 {
    Frame::sign(content, &signing(0)).encode().len() as u64
}

fn numbers(cell: &str) -> Vec<f64> {
    cell.split(", ").map(|number| number.trim().replace(',', "").parse().unwrap()).collect()
}

/// Without trouble no certificate is sent (`simulation.rs`), so what signatures cost are the
/// frames.
#[test]
fn signatures_take_at_most_a_fifth_of_every_line_of_the_table() {
    let frame = bytes(FrameContent::Step(Vec::new()));
    assert_eq!(frame, 70, "as documented");
    let lines: Vec<&str> = DOCUMENT.lines().filter(|line| line.starts_with("| 10")).collect();
    assert_eq!(lines.len(), 10);
    let mut most = 0.0_f64;
    for line in lines {
        let cells: Vec<&str> = line.split('|').collect();
        let (megabytes, messages) = (numbers(cells[8]), numbers(cells[9]));
        for ((custodians, megabytes), messages) in CUSTODIANS.into_iter().zip(megabytes).zip(messages) {
            let sent = messages / custodians as f64 + (NOTES * (custodians - 1)) as f64;
            let share = sent * frame as f64 / (megabytes * 1e6);
            assert!(share <= 0.2, "{share} among {custodians}: {line}");
            most = most.max(share);
        }
    }
    assert!((most - 0.17).abs() < 0.005, "{most}, and the document says 17 %");
}

#[test]
fn heads_after_a_run_and_the_answer_have_less_than_400_bytes() {
    let heads = Heads { rows: 1_000_000, journal: Hex([255; 32]), entries: 1000, book: Hex([255; 32]) };
    let after = bytes(FrameContent::Standing(JournalMessage::After { heads }));
    let kept = bytes(FrameContent::Standing(JournalMessage::Kept { rows: heads.rows }));
    assert!((350..400).contains(&(after + kept)), "{after} and {kept}");
}
