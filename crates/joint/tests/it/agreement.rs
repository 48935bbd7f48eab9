//! The agreement of custodians, and their own rows: a run is bound to the agreement and to the rows
//! of all custodians, and unknown values are refused with their place.

use std::path::Path;
use std::sync::Arc;

use hedgerow_joint::{AGREEMENT_VERSION, ANSWERED_VERSIONS, Agreed, Joint, JointAttribute, Profile, Share};
use hedgerow_policy::Policy;
use hedgerow_privacy::Tree;
use hedgerow_publish::bind::{Bound, declared_table, read_source};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{BurnBook, Coins, Digest, Fault, Roster, RunLimits, masked, simulate};
use hedgerow_table::progress::NoProgress;

const ROWS: [&str; 3] =
    ["21,north,flu\n24,south,flu\n38,north,\n", "37,south,gout\n45,east,gout\n", "41,south,cold\n,east,flu\n"];

fn policy(folder: &Path, k: u64, places: &str) -> Policy {
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", range = [0, 99] }}\n\
         place = {{ role = \"quasi\", hierarchy = \"places.csv\" }}\n\
         disease = {{ role = \"sensitive\", order = [\"cold\", \"flu\", \"gout\"] }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n[[rule]]\nprotect = \"disease\"\n\
         require = {{ model = \"distinct-l-diversity\", l = 1 }}\n[publish]\nmethod = \"mondrian\"\n"
    );
    std::fs::write(folder.join("places.csv"), places).unwrap();
    std::fs::write(folder.join("policy.toml"), text).unwrap();
    Policy::load(&folder.join("policy.toml")).unwrap()
}

const PLACES: &str = "north;cold;*\neast;warm;*\nsouth;warm;*\nwest;warm;*\n";

fn agreed(policy: &Policy) -> Agreed {
    let table = declared_table(policy).unwrap();
    let bound = Bound::new(policy, &table).unwrap();
    let attributes = bound.judged_domains().into_iter();
    let attributes = attributes.map(|(name, domain)| JointAttribute { name: name.to_owned(), domain: domain.clone() });
    let agreed = crate::joint::agree(&bound, true, false).unwrap();
    agreed.declared(attributes.collect()).unwrap()
}

fn share(folder: &Path, policy: &Policy, agreed: &Agreed, rows: &str) -> Result<Share, String> {
    std::fs::write(folder.join("people.csv"), format!("age,place,disease\n{rows}")).unwrap();
    let table = read_source(policy, &NoProgress).unwrap();
    Share::from_table(agreed, &table, "people.csv").map_err(|error| error.to_string())
}

#[test]
fn custodians_start_from_their_own_rows_and_a_declared_domain() {
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(folder.path(), 2, PLACES);
    let agreed = Arc::new(agreed(&policy));
    assert_eq!(agreed.axes[0].size(), 101, "from 0 to 99, and missing");
    let shares: Vec<Share> = ROWS.iter().map(|rows| share(folder.path(), &policy, &agreed, rows).unwrap()).collect();
    let (books, plans) = plans(&agreed, &shares, Roster::numbered(3).unwrap());
    assert!(plans.iter().all(|plan| plan.question("classes") == plans[0].question("classes")));
    let start = |(me, (mut book, plan)): (usize, (BurnBook, hedgerow_smc::Plan))| {
        let permit = book.permit_run([1; 16], &plan, "classes").unwrap();
        let joint = Joint::new(Arc::clone(&agreed), shares[me].clone(), Coins::danger_from_seed(me as u64));
        masked::start(permit, me as u16, joint, Coins::danger_from_seed(9 + me as u64)).unwrap()
    };
    let starts = books.into_iter().zip(plans).enumerate().map(start).collect();
    let (concluded, _) = simulate::run(starts, 1).unwrap();
    let joined = concluded[0].output.as_ref().unwrap();
    assert_eq!(joined.classes.iter().map(|class| class.rows).sum::<u64>(), 7);
    assert!(joined.classes.len() > 1);
}

/// Every custodian's own book, and the plan that it makes with all commitments.
fn plans(agreed: &Agreed, shares: &[Share], roster: Roster) -> (Vec<BurnBook>, Vec<hedgerow_smc::Plan>) {
    let books: Vec<BurnBook> =
        (0..shares.len()).map(|me| BurnBook::new(&mut Coins::danger_from_seed(70 + me as u64))).collect();
    let snapshots: Vec<_> = books
        .iter()
        .zip(shares)
        .map(|(book, share)| book.snapshot(share.row_bytes(agreed).iter().map(Vec::as_slice)))
        .collect();
    let commitments: Vec<Digest> = snapshots.iter().map(|snapshot| snapshot.commitment()).collect();
    let plan =
        |own| agreed.plan(Profile::Masked, Chances::default(), roster.clone(), commitments.clone(), own).unwrap();
    let plans = snapshots.into_iter().map(plan).collect();
    (books, plans)
}

#[test]
fn custodians_whose_hierarchies_order_values_differently_fail_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let ours = policy(folder.path(), 2, PLACES);
    let own = Arc::new(agreed(&ours));
    let shares: Vec<Share> = ROWS.iter().map(|rows| share(folder.path(), &ours, &own, rows).unwrap()).collect();
    // The same values, in other places of the tree: sums of these would mix.
    let theirs = policy(folder.path(), 2, "north;warm;*\neast;cold;*\nsouth;warm;*\nwest;cold;*\n");
    let other = Arc::new(agreed(&theirs));
    assert_eq!(own.axes[1].size(), other.axes[1].size());
    let roster = Roster::numbered(3).unwrap();
    let start = |me: usize| {
        let agreed = if me == 2 { &other } else { &own };
        let (mut books, plans) = plans(agreed, &shares, roster.clone());
        let permit = books[me].permit_run([1; 16], &plans[me], "classes").unwrap();
        let joint = Joint::new(Arc::clone(agreed), shares[me].clone(), Coins::danger_from_seed(me as u64));
        masked::start(permit, me as u16, joint, Coins::danger_from_seed(9 + me as u64)).unwrap()
    };
    let mut words = 0;
    let faults = simulate::tampered((0..3).map(start).collect(), 1, |delivery| {
        words += usize::from(matches!(delivery.message.body, hedgerow_smc::Body::Masked { .. }));
    });
    assert_eq!(words, 0, "sums were sent");
    assert!(
        faults.contains(&(0, Fault::OtherQuestion { sender: 2 }))
            || faults.contains(&(1, Fault::OtherQuestion { sender: 2 }))
    );
}

#[test]
fn everything_that_is_agreed_on_is_in_the_digest() {
    let folder = tempfile::tempdir().unwrap();
    let base = || agreed(&policy(folder.path(), 2, PLACES));
    let digest = |agreed: &Agreed| agreed.digest(Profile::Masked, Chances::default());
    assert_eq!(digest(&base()), digest(&base()));
    let mut digests = vec![digest(&base()), base().digest(Profile::Baseline, Chances::default())];
    digests.push(base().digest(Profile::Baseline, Chances { passes: 7, ..Chances::default() }));
    digests.push(digest(&agreed(&policy(folder.path(), 3, PLACES))));
    digests.push(digest(&agreed(&policy(folder.path(), 2, "north;cold;*\neast;cold;*\nsouth;warm;*\nwest;warm;*\n"))));
    let changes: [fn(&mut Agreed); 17] = [
        |agreed| agreed.strict = false,
        |agreed| agreed.tight = true,
        |agreed| agreed.carries = true,
        |agreed| agreed.weights[0] = 2.0,
        |agreed| agreed.sites = 2,
        |agreed| agreed.towards = 1,
        |agreed| agreed.apart = true,
        |agreed| agreed.limits = RunLimits { rounds_max: 9, ..RunLimits::default() },
        |agreed| agreed.limits = RunLimits { words_max: 9, ..RunLimits::default() },
        |agreed| agreed.limits = RunLimits { rows_max: 9, ..RunLimits::default() },
        |agreed| agreed.limits = RunLimits { parts_max: 9, ..RunLimits::default() },
        |agreed| agreed.limits = RunLimits { batch_bytes_max: 9, ..RunLimits::default() },
        |agreed| agreed.limits = RunLimits { inbox_bytes_max: 9, ..RunLimits::default() },
        |agreed| agreed.attributes[0].name.push('x'),
        |agreed| agreed.rules.truncate(1),
        // Which values are near each other decides what closeness means.
        |agreed| agreed.rules[1].tree = Some(Tree { levels: vec![vec![0, 0, 1, 1]] }),
        |agreed| agreed.rules[1].tree = Some(Tree { levels: vec![vec![0, 1, 1, 1]] }),
    ];
    for change in changes {
        let mut agreed = base();
        change(&mut agreed);
        digests.push(digest(&agreed));
    }
    let distinct: std::collections::BTreeSet<&Digest> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
}

/// An upgrade that raises a version and decides answers as before lists the version before it.
#[test]
fn terms_are_recognized_under_the_versions_that_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let [three, four] = [3, 4].map(|k| agreed(&policy(folder.path(), k, PLACES)));
    let (profile, chances) = (Profile::Masked, Chances::default());
    let now = three.digest(profile, chances);
    assert!(three.is_under(&now, ANSWERED_VERSIONS, profile, chances));
    assert!(!four.is_under(&now, ANSWERED_VERSIONS, profile, chances), "other rules");
    let (agreement, messages) = ANSWERED_VERSIONS[ANSWERED_VERSIONS.len() - 1];
    assert_eq!((agreement, messages), (AGREEMENT_VERSION, hedgerow_smc::PROTOCOL_VERSION));
    let later = [(agreement + 1, messages), (agreement, messages + 1)];
    assert!(!three.is_under(&now, &later, profile, chances), "after an upgrade that changes answers");
    assert!(three.is_under(&now, &[later[0], later[1], (agreement, messages)], profile, chances));
}

#[test]
fn an_unknown_value_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(folder.path(), 2, PLACES);
    let agreed = agreed(&policy);
    let refused = |rows: &str| share(folder.path(), &policy, &agreed, rows).unwrap_err();
    let error = refused("21,north,flu\n100,south,flu\n");
    assert!(error.contains("people.csv: row 2, age") && error.contains("\"100\""), "{error}");
    let error = refused("21,south,flu\n22,midlands,flu\n");
    assert!(error.contains("row 2, place") && error.contains("midlands"), "{error}");
    let error = refused("21,south,flu\n22,south,plague\n");
    assert!(error.contains("row 2, disease"), "{error}");
    std::fs::write(folder.path().join("people.csv"), "age,place\n21,north\n").unwrap();
}

#[test]
fn an_undeclared_domain_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\n\
                [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n[publish]\nmethod = \"mondrian\"\n";
    std::fs::write(folder.path().join("policy.toml"), text).unwrap();
    let policy = Policy::load(&folder.path().join("policy.toml")).unwrap();
    let error = declared_table(&policy).unwrap_err().to_string();
    assert!(error.contains("nothing says what values there can be"), "{error}");
}

#[test]
fn rows_are_never_printed() {
    let share = Share { ranks: vec![vec![4711]], codes: vec![vec![4712]], carried: vec![b"4713".to_vec()] };
    assert_eq!(format!("{share:?}"), "Share(1 rows)");
}
