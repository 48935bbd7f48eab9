//! Several custodians publish together without showing each other their rows.

use std::sync::Arc;

use hedgerow_joint::{Agreed, Attribute, Profile as JointProfile, Share};
use hedgerow_policy::{Policy, Summary};
use hedgerow_publish::bind::{Bound, declared_table};
use hedgerow_smc::baseline::Chances;
use hedgerow_table::{Domain, InputError, Table};

use crate::{Error, Unsatisfiable};

pub use hedgerow_smc::{Fault, Ledger, lop};

/// Which protocols compute the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Pairwise masks that cancel in the total: no coalition that leaves two custodians outside
    /// learns more than what opens.
    #[default]
    Masked,
    /// The ring of Jurczyk and Xiong (TR-2008-013), for comparison.
    Baseline,
}

/// What a joint run would find, open and send.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rehearsal {
    /// Rows of every equivalence class, over all custodians.
    pub class_sizes: Vec<u64>,
    /// For every custodian, the class of each of its rows.
    pub class_of_row: Vec<Vec<u32>>,
    /// Every value that the run opens to all custodians.
    pub ledger: Ledger,
    /// Rounds of messages.
    pub rounds: u64,
    /// Messages that all custodians send together.
    pub messages: u64,
    /// Bytes that all custodians send together.
    pub bytes: u64,
}

/// What custodians agree on before they publish together: made from a policy alone, so that
/// nobody's rows have to be looked at.
///
/// ```
/// use hedgerow::Policy;
/// use hedgerow::federation::{Agreement, Profile, Promises};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("policy.toml");
/// std::fs::write(&path, r#"
/// [source]
/// path = "patients.csv"
/// [attributes]
/// age = { role = "quasi", range = [0, 120] }
/// disease = { role = "sensitive", order = ["cold", "flu", "gout"] }
/// [[rule]]
/// require = { model = "k-anonymity", k = 2 }
/// [publish]
/// method = "mondrian"
/// "#)?;
/// let agreement = Agreement::new(&Policy::load(&path)?, Promises::default())?;
/// println!("{:x?}", agreement.digest(Profile::Masked));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Agreement {
    agreed: Arc<Agreed>,
}

/// What is promised beyond the policy's rules, to readers of the joint release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Promises {
    /// l-site-diversity: every class has rows of at least so many custodians. 1 asks for nothing.
    pub sites: u64,
    /// m-privacy: the rules still hold in a class without the rows of any so many custodians. 0
    /// asks for nothing.
    pub towards: u64,
}

impl Default for Promises {
    fn default() -> Promises {
        Promises { sites: 1, towards: 0 }
    }
}

impl Agreement {
    /// From the values that the policy declares: a `range` of whole numbers or dates, an `order` of
    /// texts, or the leaves of a hierarchy file, for every quasi-identifier and protected
    /// attribute.
    pub fn new(policy: &Policy, promises: Promises) -> Result<Agreement, Error> {
        let declared = declared_table(policy)?;
        let bound = Bound::new(policy, &declared)?;
        let attribute = |(name, domain): (&str, &Domain)| Attribute { name: name.to_owned(), domain: domain.clone() };
        let attributes = bound.judged_domains().into_iter().map(attribute).collect();
        let agreed = agree(policy, &bound)?.declared(attributes);
        let agreed = agreed.ok_or_else(|| Error::Internal("declared values of other attributes".to_owned()))?;
        let Promises { sites, towards } = promises;
        Ok(Agreement { agreed: Arc::new(Agreed { sites, towards, ..agreed }) })
    }

    /// Equal for custodians who agree on everything: values, hierarchies, rules, promises, limits,
    /// profile and version. Every message of a run is bound to it.
    pub fn digest(&self, profile: Profile) -> [u8; 32] {
        self.agreed.digest(profile.into(), Chances::default())
    }

    /// Holds a custodian's table against the agreement, and counts its rows. A value that was not
    /// agreed on is an error with its row.
    pub fn check_rows(&self, table: &Table, source: &str) -> Result<usize, Error> {
        Ok(Share::from_table(&self.agreed, table, source).map_err(Error::from)?.rows())
    }
}

impl From<Profile> for JointProfile {
    fn from(profile: Profile) -> JointProfile {
        match profile {
            Profile::Masked => JointProfile::Masked,
            Profile::Baseline => JointProfile::Baseline,
        }
    }
}

fn agree(policy: &Policy, bound: &Bound<'_>) -> Result<Agreed, Error> {
    let tight = policy.publish.summarise == Summary::Tight;
    let rules = bound.judge()?.into_rules();
    let agreed = Agreed::new(bound.axes(), &bound.judged_cardinalities(), rules, policy.publish.strict, tight);
    agreed.and_then(|agreed| agreed.weighted(bound.weights())).ok_or_else(|| {
        let problem = "custodians together cannot keep these rules";
        let hint = "every rule must know quasi-identifiers only, and its models must survive merging classes";
        InputError::new(policy.path.display().to_string(), problem, hint).into()
    })
}

/// Rehearses Mondrian among custodians in one process: the rows of `union` are dealt to
/// `custodians` by `owner`, and the classes are those that one custodian with all rows would find.
/// Randomness is seeded: this is for trials, never for rows that must be kept from anybody.
///
/// ```
/// use hedgerow::Policy;
/// use hedgerow::federation::{Profile, rehearse};
///
/// let policy = Policy::load("../../examples/hospital/policy-local.toml".as_ref())?;
/// let union = hedgerow::read_source(&policy)?;
/// let run = rehearse(&policy, &union, 3, |row| row % 3, Profile::Masked, 1)?;
/// assert_eq!(run.class_sizes.iter().sum::<u64>(), union.rows as u64);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn rehearse(
    policy: &Policy,
    union: &Table,
    custodians: usize,
    owner: impl Fn(usize) -> usize,
    profile: Profile,
    seed: u64,
) -> Result<Rehearsal, Error> {
    let refuse = |problem: &str, hint: &str| -> Error {
        InputError::new(policy.path.display().to_string(), problem, hint).into()
    };
    let owner: Vec<usize> = (0..union.rows).map(owner).collect();
    if owner.iter().any(|&owner| owner >= custodians) {
        return Err(refuse("a row belongs to no custodian", "let `owner` return a number below `custodians`"));
    }
    let bound = Bound::new(policy, union)?;
    let agreed = Arc::new(agree(policy, &bound)?);
    let shares = agreed.deal(&bound.judged_codes(), &owner, custodians);
    let found = hedgerow_joint::rehearse(profile.into(), &agreed, shares, seed)
        .map_err(|fault| refuse(&fault.to_string(), "three or more custodians are needed"))?;
    let joined = found.joined.ok_or_else(|| {
        let summary = "no release satisfies the policy: even all rows of all custodians as one class violate a rule";
        let hint = "require less in that rule".to_owned();
        Error::Unsatisfiable(Unsatisfiable { summary: summary.to_owned(), reasons: Vec::new(), hint })
    })?;
    let classes = joined.first().map_or(&[][..], |joined| joined.classes.as_slice());
    Ok(Rehearsal {
        class_sizes: classes.iter().map(|class| class.rows).collect(),
        class_of_row: joined.into_iter().map(|joined| joined.of_row).collect(),
        ledger: found.ledger,
        rounds: found.traffic.rounds,
        messages: found.traffic.messages,
        bytes: found.traffic.bytes,
    })
}
