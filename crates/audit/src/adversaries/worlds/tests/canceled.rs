//! Progress and cancellation of a whole run: with a list of people and without one, with columns
//! that the list lacks, and with people who stayed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// The stages with what was done of each, and how often work was asked whether to go on.
#[derive(Default)]
struct Listener {
    stages: Mutex<Vec<(Option<u64>, u64)>>,
    checks: AtomicU64,
    checks_max: Option<u64>,
}

impl Progress for Listener {
    fn stage(&self, _name: &str, total: Option<u64>) {
        self.stages.lock().unwrap().push((total, 0));
    }

    fn advance(&self, amount: u64) {
        if let Some((_, done)) = self.stages.lock().unwrap().last_mut() {
            *done += amount;
        }
    }

    fn is_canceled(&self) -> bool {
        let before = self.checks.fetch_add(1, Ordering::Relaxed);
        self.checks_max.is_some_and(|most| before >= most)
    }
}

#[test]
fn a_run_can_be_canceled_at_any_time_and_every_stage_ends_at_its_total() {
    let one = classes(&["a", "s"], &[["0", "q"], ["0", "r"], ["1", "q"], ["1", "r"], ["3", "q"], ["3", "r"]]);
    let two = classes(&["b", "s"], &[["x", "q"], ["x", "r"], ["x", "r"], ["y", "q"], ["y", "q"], ["y", "r"]]);
    let own = |name, classes| Released { custodian: Some(0), ..released(name, classes) };
    let tables = [own("1", &one), own("2", &two)];
    let rows = [["0", "x", "q"], ["0", "x", "r"], ["1", "y", "q"], ["1", "x", "r"], ["3", "y", "r"], ["3", "y", "q"]];
    let full = table(&["a", "b", "s"], &rows);
    let lacking = table(&["a", "s"], &rows.map(|[a, _, s]| [a, s]));
    let stayed = [rows.as_slice(), &[["1", "y", "q"], ["3", "x", "r"]]].concat();
    let stayed = table(&["a", "b", "s"], &stayed);
    for people in [None, Some(&full), Some(&lacking), Some(&stayed)] {
        let attack = |listener: &Listener| {
            let attacker = Attacker { people, columns: Columns::All, prior: &[], joint: &[], progress: listener };
            run("s", &tables, attacker)
        };
        let listener = Listener::default();
        attack(&listener).unwrap();
        let stages = listener.stages.into_inner().unwrap();
        assert!(!stages.is_empty(), "{people:?}");
        assert!(stages.iter().all(|&(total, done)| total == Some(done)), "{stages:?}");
        let checks = listener.checks.into_inner();
        assert!(checks > 1, "{checks}");
        // Early, late, and now and then.
        for checks_max in (0..checks).filter(|at| *at < 5 || checks - at < 5 || at % (checks / 20).max(1) == 0) {
            let canceled = attack(&Listener { checks_max: Some(checks_max), ..Listener::default() });
            assert!(matches!(canceled, Err(TableError::Canceled)), "after {checks_max} of {checks} checks");
        }
    }
}
