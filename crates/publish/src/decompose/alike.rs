//! Rows that a bucketized table does not tell apart, as far as they lose by it.
//!
//! Where rows are dealt to buckets round and round ([`Round`]), the buckets of a value are neighbours. So rows that look alike are put
//! in the order of their buckets: those whose buckets hold a row's value stand together then, and around that row. Which they are is
//! found once; what one more attribute changes is seen by how many of them it leaves alike, and nothing needs to be
//! divided for that.
//!
//! Rows whose buckets say the same of all their values lose nothing by looking alike, and so does every part of them: they are
//! left out. Of the others it is known what they lose at least, whatever comes to tell them apart: no bucket tells a row's value
//! with a larger share than the bucket that has most of it. Large classes lose most and are measured first, so that what cannot be
//! the best is seen early ([`Alike::least`]).

use std::ops::Range;

use super::Groups;
use super::groups::{Held, Round};
use super::partition::{Member, Partition};

/// A row, and what a bucketized table tells of it.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub row: u32,
    pub group: u32,
    pub value: u32,
}

impl Member for Line {
    fn row(self) -> u32 {
        self.row
    }
}

#[derive(Debug)]
pub struct Alike {
    /// Large classes first; each in the order of buckets, where they are dealt.
    pub lines: Partition<Line>,
    /// For every line the lines of its class whose buckets hold its value, counted within the class: from the first number to the
    /// second, if need be round the end. [`MANY`] in a class that is better divided.
    pub reach: Vec<(u32, u32)>,
    stretches: Vec<Stretch>,
}

/// Classes that are measured at a time: up to which, and what they lose at least.
#[derive(Debug)]
struct Stretch {
    end: usize,
    least: f64,
}

/// Where so many lines are reached that it is cheaper to divide a class, or some more than once.
pub const MANY: (u32, u32) = (u32::MAX, u32::MAX);

/// So many lines are looked at in the time in which one is divided from others.
const LOOKS: usize = 64;

/// Into so many stretches large partitions are cut, but into none of fewer rows than this; tests are about small ones.
const STRETCHES: usize = 16;
const ROWS_MIN: usize = if cfg!(test) { 8 } else { 4096 };

impl Alike {
    /// Of lines that look alike.
    pub fn new(alike: &Partition<Line>, groups: &Groups) -> Alike {
        let longest = (alike.members().len() / STRETCHES).max(ROWS_MIN);
        let mut found = Alike { lines: Partition::empty(), reach: Vec::new(), stretches: Vec::new() };
        let mut tiers: Vec<Vec<&[Line]>> = vec![Vec::new(); usize::BITS as usize];
        alike.classes().for_each(|class| tiers[class.len().ilog2() as usize].push(class));
        let (mut sorted, mut reach) = (Vec::new(), Vec::new());
        let (mut since, mut least) = (0, 0.0);
        for class in tiers.into_iter().rev().flatten() {
            sorted.clear();
            sorted.extend_from_slice(class);
            let loses = match &groups.held {
                Held::Dealt(round) => reaches(round, &mut sorted, &mut reach),
                Held::Listed(_) => {
                    reach.clear();
                    reach.resize(class.len(), MANY);
                    Some(f64::NEG_INFINITY)
                }
            };
            let Some(loses) = loses else { continue };
            found.lines.push(sorted.iter().copied());
            found.reach.extend_from_slice(&reach);
            least += loses;
            if found.lines.members().len() >= since + longest {
                found.stretches.push(Stretch { end: found.lines.class_count(), least });
                (since, least) = (found.lines.members().len(), 0.0);
            }
        }
        if since < found.lines.members().len() {
            found.stretches.push(Stretch { end: found.lines.class_count(), least });
        }
        found
    }

    /// The classes of a stretch; `None` behind the last.
    pub fn stretch(&self, number: usize) -> Option<Range<usize>> {
        let start = number.checked_sub(1).map_or(0, |before| self.stretches[before].end);
        Some(start..self.stretches.get(number)?.end)
    }

    /// What all lines from a stretch on lose at least.
    pub fn least(&self, number: usize) -> f64 {
        self.stretches[number..].iter().map(|stretch| stretch.least).sum()
    }
}

/// Puts a class in the order of buckets, and finds for every line which lines are in buckets that hold its value. Returns what they
/// lose at least, added up, or `None` when they lose nothing, nor any part of them.
fn reaches(round: &Round, class: &mut [Line], reach: &mut Vec<(u32, u32)>) -> Option<f64> {
    let rows = class.len();
    let longer = class.iter().filter(|line| line.group < round.longer).count();
    let same_size = longer == 0 || longer == rows;
    let first = class[0].value;
    if same_size && round.dealt(first).rounds == 0 && class.iter().all(|line| line.value == first) {
        return None;
    }
    class.sort_unstable_by_key(|line| line.group);
    reach.clear();
    let (mut even, mut once, mut looks, mut least) = (same_size, true, 0, 0.0);
    for (place, line) in class.iter().enumerate() {
        let dealt = round.dealt(line.value);
        let (from, to) = (before(class, place, dealt.from), before(class, place, dealt.to));
        even &= from == to || from.abs_diff(to) == rows;
        once &= dealt.rounds == 0 || dealt.rounds == 1 && dealt.to <= dealt.from;
        // The share that the value has here, of the largest that it has anywhere.
        let (size, smallest) = (round.size(line.group), if same_size { round.size(line.group) } else { round.full });
        if size != smallest || dealt.count(line.group) != dealt.most() {
            let share = f64::from(dealt.count(line.group)) / f64::from(size);
            least += (share * f64::from(smallest) / f64::from(dealt.most())).ln();
        }
        // What goes round is nothing or all where both ends meet.
        let (from, to) = if dealt.rounds == 1 && from == to { (0, rows) } else { (from, to) };
        looks += if from < to { to - from } else { rows - from + to };
        reach.push((from as u32, to as u32));
    }
    if !once || looks > LOOKS * rows {
        reach.fill(MANY);
    }
    (!even).then_some(least)
}

/// How many rows of a class are in buckets before one that is near the bucket of the row at some place.
pub fn before(class: &[Line], place: usize, bucket: u32) -> usize {
    let is_before = |line: &Line| line.group < bucket;
    let (left, right) = class.split_at(place);
    if is_before(&right[0]) {
        let near = right.iter().take(NEAR).take_while(|line| is_before(line)).count();
        place + if near < NEAR { near } else { near + right[near..].partition_point(is_before) }
    } else {
        let near = left.iter().rev().take(NEAR).take_while(|line| !is_before(line)).count();
        if near < NEAR { place - near } else { left[..place - near].partition_point(is_before) }
    }
}

/// So many neighbours are asked one after the other.
const NEAR: usize = 4;
