//! Several custodians publish together without showing each other their rows.

use std::sync::Arc;

use hedgerow_joint::{Agreed, JointAttribute, Profile as JointProfile, Share};
use hedgerow_policy::Summary;
use hedgerow_publish::bind::{Bound, declared_table};
use hedgerow_smc::baseline::Chances;
use hedgerow_table::{Domain, InputError, Table};

use crate::{Error, Policy};

#[cfg(feature = "danger-seeded")]
mod rehearsal;

pub use crate::ledger::ledger_lines;
#[cfg(feature = "danger-seeded")]
pub use hedgerow_smc::lop;
pub use hedgerow_smc::{Fault, Ledger};
#[cfg(feature = "danger-seeded")]
pub use rehearsal::{Rehearsal, rehearse};

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

/// The agreement of custodians who publish together: made from a policy alone, without
/// looking at any custodian's rows.
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

/// Promises to readers of the joint release, beyond the policy's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Promises {
    /// l-site-diversity: every class has rows of at least this many custodians. 1 asks for nothing.
    pub sites: u64,
    /// m-privacy: the rules still hold in a class without the rows of any group of this many
    /// custodians. 0 asks for nothing.
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
        let policy = policy.inner();
        let declared = declared_table(policy)?;
        let bound = Bound::new(policy, &declared)?;
        let attribute =
            |(name, domain): (&str, &Domain)| JointAttribute { name: name.to_owned(), domain: domain.clone() };
        let attributes = bound.judged_domains().into_iter().map(attribute).collect();
        let agreed = agree(policy, &bound)?.declared(attributes);
        let agreed = agreed.ok_or_else(|| Error::internal("declared values of other attributes"))?;
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

fn agree(policy: &hedgerow_policy::Policy, bound: &Bound<'_>) -> Result<Agreed, Error> {
    hedgerow_publish::joint_refusals::refuse(policy)?;
    let tight = policy.publish.summarise == Summary::Tight;
    let rules = bound.judge()?.into_rules();
    let agreed = Agreed::new(bound.axes(), &bound.judged_cardinalities(), rules, policy.publish.strict, tight);
    agreed.and_then(|agreed| agreed.weighted(bound.weights())).ok_or_else(|| {
        let problem = "custodians together cannot keep these rules";
        let hint = "every rule must know quasi-identifiers only, and its models must survive merging classes";
        InputError::new(policy.path.display().to_string(), problem, hint).into()
    })
}
