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
