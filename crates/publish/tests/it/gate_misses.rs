//! Disclosures that `worlds` and the gate once missed, or were wrongly certain of: each with the
//! tables that showed it.

use std::path::Path;

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, Audited, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_any;
use hedgerow_publish::catalog::{Catalog, Gate, as_the_gate};
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::NoProgress;
use tempfile::TempDir;

use crate::cloning::scratch;

const TWO: &str = "[[rule]]\nprotect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }";
const BOTH: &str = "[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n[[rule]]\nprotect = \"s\"\n\
                    require = { model = \"distinct-l-diversity\", l = 2 }";
const S: &str = "s = { role = \"sensitive\" }";
const PLAIN: &str = "p = { role = \"plain\", allow-unique = true }";
const ROUNDED: &str = "n = { role = \"sensitive\", type = \"integer\", allow-unique = true, coarsen = { round = 2 } }";

/// A source, the releases beside it, and the catalog.
struct Case {
    folder: TempDir,
    custodian: Option<&'static str>,
}

impl Case {
    fn new(people: &str) -> Case {
        let folder = scratch();
        std::fs::write(folder.path().join("p.csv"), people).unwrap();
        Case { folder, custodian: None }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn policy(&self, attributes: &[&str], rules: &str, how: &str) -> Policy {
        let attributes = attributes.join("\n");
        let text = format!(
            "[source]\npath = \"p.csv\"\ndelimiter = \",\"\n[attributes]\n{attributes}\n{rules}\n[publish]\n{how}\n"
        );
        Policy::parse(&text, &self.path("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// A table of others; `quasi` are its quasi-identifiers.
    fn foreign(&self, name: &str, table: &str, attributes: &[&str]) {
        let folder = self.path(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("data.csv"), table).unwrap();
        let attributes = attributes.join("\n");
        let text = format!("[source]\npath = \"data.csv\"\ndelimiter = \",\"\n[attributes]\n{attributes}\n");
        std::fs::write(folder.join("release.toml"), text).unwrap();
        self.add(name);
    }

    fn add(&self, name: &str) {
        Catalog::add(&self.path("catalog"), &self.path(name), None, self.custodian, &NoProgress).unwrap();
    }

    fn publish(
        &self,
        policy: &Policy,
        name: &str,
        levels: &[(&str, u64)],
        gated: bool,
    ) -> Result<Published, PublishError> {
        let custodian = self.custodian.map(str::to_owned);
        let gate = Gate { catalog: gated.then(|| self.path("catalog")), custodian, ..Gate::default() };
        let levels = levels.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect();
        let options = PublishOptions { seed: Some(8), levels, gate, ..PublishOptions::to(self.path(name)) };
        publish(policy, RowSource::Policy, &options)
    }

    /// The verdict of the gate, with what `worlds` says of `protect`.
    fn refused(&self, policy: &Policy, levels: &[(&str, u64)], protect: &str) -> Finding {
        match self.publish(policy, "new", levels, true) {
            Err(PublishError::Audit { audited, .. }) => worlds(&audited, protect),
            Err(error) => panic!("{error}"),
            Ok(passed) => panic!("the gate passes: {:?}", passed.audited),
        }
    }

    /// The audit of a catalog and people.
    fn audit(&self, policy: &Policy, people: &Path) -> Audited {
        let catalog = Catalog::load(&self.path("catalog")).unwrap();
        let open = |name: &str| Release::open(&self.path("catalog").join(name), &NoProgress).unwrap();
        let releases: Vec<Release> = catalog.entries.iter().map(|entry| open(&entry.name)).collect();
        let listed = read_any(policy, people, &NoProgress).unwrap();
        let custodians = vec![self.custodian; releases.len()];
        audit(&releases, &as_the_gate(Some(policy), &custodians, Some(&listed))).unwrap()
    }
}

fn worlds(audited: &Audited, protect: &str) -> Finding {
    let is_wanted =
        |finding: &&Finding| finding.adversary == Adversary::Worlds && finding.protect.as_deref() == Some(protect);
    audited.findings.iter().find(is_wanted).unwrap_or_else(|| panic!("{audited:?}")).clone()
}

/// Of each b two people with two values, rounded to 4 and 6; the 3 of the first can be in `old`.
#[test]
fn values_are_compared_as_they_are_in_the_source_and_not_as_they_are_rounded() {
    let case = Case::new("a,b,n\n0,0,3\n0,1,1\n1,0,5\n1,1,7\n");
    let exact = "n = { role = \"sensitive\", type = \"integer\", allow-unique = true }";
    let rules = TWO.replace("\"s\"", "\"n\"");
    let how = "method = \"full-domain\"";
    let old = case.policy(&["a = { role = \"quasi\" }", exact], &rules, how);
    case.publish(&old, "old", &[("a", 0)], true).unwrap();
    let rounded = case.policy(&["b = { role = \"quasi\" }", ROUNDED], &rules, how);
    let found = case.refused(&rounded, &[("b", 0)], "n");
    assert_eq!((found.people_at_risk.as_slice(), found.effective_l), (&[0, 1, 2, 3][..], Some(1)), "{found:?}");
    let audited = {
        case.publish(&rounded, "new", &[("b", 0)], false).unwrap();
        case.add("new");
        case.audit(&rounded, &case.path("p.csv"))
    };
    assert!(audited.breach);
    assert_eq!(worlds(&audited, "n").people_at_risk, [0, 1, 2, 3]);
}

/// Buckets show p of each b; the classes of a show p beside s.
#[test]
fn plain_columns_beside_buckets_link_rows() {
    let people = "a,b,p,s\n0,0,u,q\n0,1,v,r\n1,2,v,q\n1,3,u,r\n";
    let all = [0, 1, 2, 3];
    // The buckets are the later release.
    let case = Case::new(people);
    case.foreign(
        "r1",
        "a,p,s\n0,u,q\n0,v,r\n1,v,q\n1,u,r\n",
        &["a = { role = \"quasi\" }", "p = { role = \"plain\" }", S],
    );
    for p in [PLAIN, "p = { role = \"quasi\", type = \"category\" }"] {
        let buckets = case.policy(&["b = { role = \"quasi\" }", p, S], TWO, "method = \"anatomy\"");
        let found = case.refused(&buckets, &[], "s");
        assert_eq!((found.people_at_risk.as_slice(), &found.details["exact"]), (&all[..], &true.into()), "{found:?}");
    }
    // They are the earlier one.
    let case = Case::new(people);
    let buckets = case.policy(&["b = { role = \"quasi\" }", PLAIN, S], TWO, "method = \"anatomy\"");
    case.publish(&buckets, "old", &[], true).unwrap();
    let classes = case.policy(&["a = { role = \"quasi\" }", PLAIN, S], TWO, "method = \"full-domain\"");
    let found = case.refused(&classes, &[("a", 0)], "s");
    assert_eq!((found.people_at_risk.as_slice(), &found.details["exact"]), (&all[..], &true.into()), "{found:?}");
}

/// The old release shows p beside classes of a; the new one describes people by p, as `*`: who
/// knows p of everyone knows their row in the old one.
#[test]
fn what_one_release_knows_people_by_tells_their_row_in_another() {
    let people = "a,b,p,s\n0,x0,u,q\n1,x0,v,r\n2,x1,u,r\n3,x1,v,q\n";
    let how = "method = \"full-domain\"";
    let new = ["b = { role = \"quasi\" }", "p = { role = \"quasi\" }", S];
    let case = Case::new(people);
    let table = "a,p,s\n\"[0,2)\",u,q\n\"[0,2)\",v,r\n\"[2,4)\",u,r\n\"[2,4)\",v,q\n";
    case.foreign("r1", table, &["a = { role = \"quasi\" }", "p = { role = \"plain\" }", S]);
    let policy = case.policy(&new, BOTH, how);
    let found = case.refused(&policy, &[("b", 0), ("p", 1)], "s");
    assert_eq!((found.people_at_risk.as_slice(), found.effective_l), (&[0, 1, 2, 3][..], Some(1)), "{found:?}");
    // Of one's own.
    let case = Case { custodian: Some("us"), ..Case::new(people) };
    let wide = "a = { role = \"quasi\", hierarchy = { widths = [2] } }";
    let old = case.policy(&[wide, "p = { role = \"plain\" }", S], BOTH, how);
    case.publish(&old, "old", &[("a", 1)], true).unwrap();
    let policy = case.policy(&new, BOTH, how);
    let found = case.refused(&policy, &[("b", 0), ("p", 1)], "s");
    assert_eq!(found.people_at_risk, [0, 1, 2, 3], "{found:?}");
}

/// 3 and 4 are both rounded to 4: no text of one release is a value of the other.
#[test]
fn rounded_values_are_not_compared_as_texts() {
    let case = Case::new("a,n\n0,1\n0,4\n0,3\n");
    case.foreign("r0", "a,n\n0,4\n0,1\n0,3\n", &["a = { role = \"quasi\" }", "n = { role = \"sensitive\" }"]);
    let policy =
        case.policy(&["a = { role = \"quasi\" }", ROUNDED], &TWO.replace("\"s\"", "\"n\""), "method = \"full-domain\"");
    let passed = case.publish(&policy, "new", &[("a", 0)], true).unwrap();
    let findings = passed.audited.unwrap().findings;
    let by_text = [Adversary::Composition, Adversary::Independence];
    for finding in findings.iter().filter(|finding| by_text.contains(&finding.adversary)) {
        assert_eq!((finding.at_risk, finding.effective_l), (0, None), "{finding:?}");
        assert!(finding.notes[0].text.contains("precision"), "{finding:?}");
    }
    let worlds = findings.iter().find(|finding| finding.adversary == Adversary::Worlds).unwrap();
    assert_eq!((worlds.at_risk, worlds.effective_l), (0, Some(3)), "{worlds:?}");
}

/// `*` covers x1 too: who knows that a person has x1 does not know which of the classes they are
/// in.
#[test]
fn knowing_a_column_is_not_knowing_the_class_where_labels_overlap() {
    let case = Case::new("a,s\n0,s0\n1,s1\n");
    case.foreign("r0", "b,s\nx1,s0\n*,s1\n", &["b = { role = \"quasi\" }", S]);
    case.foreign("r1", "a,s\n*,s0\n*,s1\n", &["a = { role = \"quasi\" }", S]);
    std::fs::write(case.path("full.csv"), "a,b,s\n0,x1,s0\n1,x1,s1\n").unwrap();
    let policy = case.policy(&["a = { role = \"quasi\" }", S], TWO, "method = \"full-domain\"");
    let without = worlds(&case.audit(&policy, &case.path("p.csv")), "s");
    assert_eq!((without.at_risk, &without.details["exact"]), (0, &false.into()), "{without:?}");
    let with = ["a = { role = \"quasi\" }", "b = { role = \"quasi\" }", S];
    let with = worlds(&case.audit(&case.policy(&with, TWO, "method = \"full-domain\""), &case.path("full.csv")), "s");
    assert_eq!((with.at_risk, &with.details["exact"]), (0, &true.into()), "{with:?}");
}

/// t has no rule, and stands beside the rows of another attribute's buckets.
#[test]
fn a_sensitive_attribute_in_the_rows_of_a_decomposed_release_counts() {
    let case = Case::new("a,b,s,t\n1,x0,q,k\n0,x0,q,k\n1,x0,r,m\n1,x1,r,k\n1,x0,r,k\n0,x1,r,m\n");
    case.foreign(
        "r0",
        "a,t\n*,k\n*,m\n*,k\n*,k\n*,m\n*,k\n",
        &["a = { role = \"quasi\" }", "t = { role = \"sensitive\" }"],
    );
    let attributes = [
        "a = { role = \"quasi\", type = \"category\" }",
        "b = { role = \"quasi\" }",
        S,
        "t = { role = \"sensitive\" }",
    ];
    let dependency = |from: &str, to: &str| format!("[[dependency]]\nfrom = [{from}]\nto = \"{to}\"\naccept = \"t\"\n");
    let rules = format!(
        "[[rule]]\nknow = [\"a\", \"b\"]\nprotect = \"s\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n{}{}{}{}",
        dependency("\"a\"", "b"),
        dependency("\"a\"", "s"),
        dependency("\"s\", \"t\"", "a"),
        dependency("\"s\", \"t\"", "b"),
    );
    let policy = case.policy(&attributes, &rules, "method = \"decompose\"");
    let found = case.refused(&policy, &[], "t");
    assert!(found.releases.len() > 1 && found.at_risk > 0, "{found:?}");
}

/// The policy does not mention p, and two releases of others show it: the source tells that no
/// person is in them.
#[test]
fn the_source_is_read_with_what_links_the_rows_of_others() {
    let case = Case::new("a,b,p,s\n0,0,u,q\n0,1,u,r\n1,0,u,q\n1,1,u,r\n");
    let p = "p = { role = \"plain\" }";
    case.foreign("r0", "a,p,s\n0,v,q\n0,v,r\n1,v,q\n1,v,r\n", &["a = { role = \"quasi\" }", p, S]);
    case.foreign("r1", "b,p,s\n0,v,q\n0,v,r\n1,v,q\n1,v,r\n", &["b = { role = \"quasi\" }", p, S]);
    let policy = case.policy(&["a = { role = \"quasi\" }", S], TWO, "method = \"full-domain\"");
    let passed = case.publish(&policy, "new", &[("a", 0)], true).unwrap();
    let of_gate = passed.audited.unwrap().findings;
    let of_gate = of_gate.iter().find(|finding| finding.adversary == Adversary::Worlds).unwrap();
    assert!(of_gate.details["assumed"].as_str().unwrap().contains("not all people can be in r0 and r1"), "{of_gate:?}");
    let of_audit = worlds(&case.audit(&policy, &case.path("p.csv")), "s");
    assert!(of_audit.details["assumed"].as_str().unwrap().contains("not all people can be in"), "{of_audit:?}");
    assert_eq!((of_gate.at_risk, &of_gate.details["exact"]), (of_audit.at_risk, &of_audit.details["exact"]));
}

/// The source lacks c, by which r1 describes people, and which r0 shows beside its classes: who
/// knows c knows a row of r0.
#[test]
fn a_column_that_the_source_lacks_tells_the_rows_of_a_release_that_shows_it() {
    let case = Case::new("a,b,s\n0,0,s0\n0,0,s1\n");
    let c = "c = { role = \"plain\" }";
    case.foreign("r0", "a,c,s\n0,u,s0\n0,v,s1\n", &["a = { role = \"quasi\" }", c, S]);
    case.foreign("r1", "b,c\n*,*\n*,*\n", &["b = { role = \"quasi\" }", "c = { role = \"quasi\" }"]);
    let policy = case.policy(&["a = { role = \"quasi\" }", S], TWO, "method = \"full-domain\"");
    let found = case.refused(&policy, &[("a", 0)], "s");
    assert_eq!((found.people_at_risk.as_slice(), found.effective_l), (&[0, 1][..], Some(1)), "{found:?}");
    case.publish(&policy, "new", &[("a", 0)], false).unwrap();
    case.add("new");
    assert!(case.audit(&policy, &case.path("p.csv")).breach);
}
