//! Guarantees across releases, recomputed from what was released.

use std::collections::BTreeSet;
use std::path::Path;

use hedgerow::{Policy, Release};

/// Two cells of an attribute: x 3, y 1 and x 1, y 3.
fn write(folder: &Path, column: &str, cells: [&str; 2]) {
    let rows = |cell: &str, x: usize, y: usize| format!("{cell},x\n").repeat(x) + &format!("{cell},y\n").repeat(y);
    let text = format!("{column},s\n{}{}", rows(cells[0], 3, 1), rows(cells[1], 1, 3));
    std::fs::write(folder.join("people.csv"), text).unwrap();
}

fn publish(folder: &Path, column: &str, model: &str, community: &str, release: &str) {
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\n{column} = {{ role = \"quasi\" }}\n\
         s = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \"s\"\nrequire = {{ model = \"{model}\", l = 2 }}\n\
         {community}"
    );
    let path = folder.join(format!("{release}.toml"));
    std::fs::write(&path, text).unwrap();
    hedgerow::publish(&Policy::load(&path).unwrap(), folder.join(release)).unwrap();
}

/// The fewest values that are left in a joint cell, where `both` people are in the first cell of
/// each release: every table of four x and four y, by how many of each are in both. `None`
/// without a table.
fn fewest(both: i32) -> Option<usize> {
    let mut possible: [BTreeSet<char>; 4] = Default::default();
    for x in 0..=3 {
        for y in 0..=1 {
            // By value: in both first cells, in either one, in both second cells.
            let cells = |own: i32, first: i32| [own, first - own, first - own, 4 - 2 * first + own];
            let (of_x, of_y) = (cells(x, 3), cells(y, 1));
            if x + y != both || of_x.iter().chain(&of_y).any(|&people| people < 0) {
                continue;
            }
            for (cell, possible) in possible.iter_mut().enumerate() {
                possible.extend((of_x[cell] > 0).then_some('x'));
                possible.extend((of_y[cell] > 0).then_some('y'));
            }
        }
    }
    possible.iter().map(BTreeSet::len).filter(|&values| values > 0).min()
}

/// The share is part of the claim: `check` judges with it, and a reader who knows another one sees
/// what that leaves.
#[test]
fn a_share_of_people_in_both_cells_is_judged_by_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "b", ["u", "v"]);
    publish(folder, "b", "distinct-l-diversity", "", "earlier");
    write(folder, "a", ["0", "1"]);
    let community = "[community]\nreleases = [\"earlier\"]\njoint = [\"P(a = 0 | b = u) = 3/4\"]\n";
    publish(folder, "a", "cross-release-l-diversity", community, "new");
    let earlier = [Release::open(folder.join("earlier")).unwrap()];
    let check = || Release::open(folder.join("new")).unwrap().check_among(&earlier).unwrap();
    let found = check();
    assert!(found.holds() && found.unchecked.is_empty(), "{found:?}");
    assert_eq!(found.guarantees[0].required["joint"][0], "P(a = 0 | b = u) = 3/4");

    let manifest = std::fs::read_to_string(folder.join("new/datapackage.json")).unwrap();
    let with = |share: &str| {
        let text = manifest.replace("P(a = 0 | b = u) = 3/4", share);
        assert!(text != manifest || share.ends_with("3/4"));
        std::fs::write(folder.join("new/datapackage.json"), text).unwrap();
        check()
    };
    let (mut refused, mut absurd) = (0, 0);
    for both in 0..=4 {
        let found = with(&format!("P(a = 0 | b = u) = {both}/4"));
        let claim = &found.guarantees[0];
        match fewest(both) {
            None => {
                absurd += 1;
                assert!(claim.holds, "{both}: sets of values leave two");
                assert!(found.unchecked.iter().any(|text| text.contains("no table")), "{both}: {found:?}");
            }
            Some(fewest) => {
                refused += u32::from(fewest < 2);
                assert!(found.unchecked.is_empty(), "{both}: {found:?}");
                assert_eq!(claim.holds, fewest >= 2, "{both}: {claim:?}");
                assert_eq!(found.holds(), claim.holds, "{both}");
                assert!(claim.holds || claim.achieved["l"] == fewest, "{both}: {claim:?}");
            }
        }
    }
    assert!(refused > 0 && absurd > 0);
    let unread = with("three quarters");
    assert!(unread.unchecked.iter().any(|text| text.contains("expected a share")), "{unread:?}");
}

/// Every way in which four people with one value are in the eight joint cells of three releases, of
/// whom as many as `first` are in the first cell of each.
fn of_three(first: usize) -> BTreeSet<[usize; 8]> {
    let cells_of = |number: usize| {
        let mut cells = [0; 8];
        (0..4).for_each(|person| cells[number / 8usize.pow(person) % 8] += 1);
        cells
    };
    let in_first = |cells: &[usize; 8], release: usize| -> usize {
        (0..8).filter(|cell| cell >> release & 1 == 0).map(|cell| cells[cell]).sum()
    };
    let ways = (0..8usize.pow(4)).map(cells_of);
    ways.filter(|cells| (0..3).all(|release| in_first(cells, release) == first)).collect()
}

/// The fewest values that are left in a joint cell of three releases, where `all` people are in the
/// first cell of each.
fn fewest_of_three(all: usize) -> Option<usize> {
    let mut possible: [BTreeSet<char>; 8] = Default::default();
    for of_x in of_three(3) {
        for of_y in of_three(1).iter().filter(|of_y| of_x[0] + of_y[0] == all) {
            for (cell, possible) in possible.iter_mut().enumerate() {
                possible.extend((of_x[cell] > 0).then_some('x'));
                possible.extend((of_y[cell] > 0).then_some('y'));
            }
        }
    }
    possible.iter().map(BTreeSet::len).filter(|&values| values > 0).min()
}

/// A share of the people in one cell of each of three releases.
#[test]
fn a_share_of_people_in_three_cells_is_judged_by_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (column, release) in [("b", "first"), ("c", "second")] {
        write(folder, column, ["u", "v"]);
        publish(folder, column, "distinct-l-diversity", "", release);
    }
    write(folder, "a", ["0", "1"]);
    let share = |people: usize| format!("P(a = 0, b = u, c = u) = {people}/8");
    let community = format!("[community]\nreleases = [\"first\", \"second\"]\njoint = [\"{}\"]\n", share(3));
    publish(folder, "a", "cross-release-l-diversity", &community, "new");
    let earlier = ["first", "second"].map(|name| Release::open(folder.join(name)).unwrap());
    let manifest = std::fs::read_to_string(folder.join("new/datapackage.json")).unwrap();
    let mut refused = 0;
    for people in 0..=8 {
        std::fs::write(folder.join("new/datapackage.json"), manifest.replace(&share(3), &share(people))).unwrap();
        let found = Release::open(folder.join("new")).unwrap().check_among(&earlier).unwrap();
        let (claim, fewest) = (&found.guarantees[0], fewest_of_three(people));
        assert_eq!(claim.holds, fewest.is_none_or(|fewest| fewest >= 2), "{people}: {claim:?}");
        assert_eq!(found.unchecked.is_empty(), fewest.is_some(), "{people}: {found:?}");
        refused += u32::from(!claim.holds);
    }
    assert_eq!(refused, 2);
}
