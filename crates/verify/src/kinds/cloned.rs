//! A cloned release, judged class by class: every tuple of a sub-class goes with all sensitive
//! values of its class, since the statistics say nothing about which is whose (Baig et al. 2011,
//! section 6).
//!
//! An adversary who recognizes somebody in one sub-class, or in several, holds one class's
//! distribution or a mixture of several; what survives merging survives such mixtures (the argument
//! is given for bucketized releases). How many people look alike is judged by the sub-classes,
//! whose tuples the statistics do not distinguish; counterfeits are announced, and are nobody.

use hedgerow_release::Release;
use hedgerow_release::cloned::Cloned;
use hedgerow_release::manifest::ClassSizes;
use hedgerow_table::TableError;

use super::Judged;
use crate::check::{Checked, NamedRule};
use hedgerow_privacy::judge::achieved_over;
use hedgerow_privacy::{Class, Distribution, Guarantee, Model, OnMerge, models};

/// Why clones cannot keep a guarantee, whatever they hold, in words that follow its name; `None`
/// when they can.
pub fn refused_in_clones(guarantee: &dyn Guarantee) -> Option<&'static str> {
    match guarantee.model() {
        Model::AlphaKAnonymity { k: 2.., .. } => {
            Some("requires k rows and a share at once, and these are published separately")
        }
        _ if guarantee.on_merge() == OnMerge::Neither => {
            Some("can break where somebody may be in several classes, though it holds in each of them")
        }
        _ => None,
    }
}

impl Judged for Cloned {
    fn contradictions(&self, release: &Release) -> Vec<String> {
        let smallest = self.sub_classes().map(|part| part.tuples).min().unwrap_or(0);
        let k = release.manifest().and_then(|manifest| manifest.hedgerow.cloning.get("k")?.as_u64());
        let broken = k.filter(|&k| smallest < k);
        let problem = |k| format!("the manifest states sub-classes of at least {k} tuples, and one has {smallest}");
        broken.map(problem).into_iter().collect()
    }

    fn judge(&self, release: &Release, rules: &[NamedRule]) -> Result<Checked, TableError> {
        let (tables, place) = (self, release.name());
        let counted = || tables.classes.iter().filter(|class| !class.values.is_empty());
        let classes = || counted().map(|class| Class { rows: class.tuples(), values: &class.values });
        let sub_classes = || tables.sub_classes().map(|part| Class { rows: part.people(), values: &[] });
        let mut claims = Vec::new();
        for rule in rules {
            if let Some(name) = rule.protect.as_ref().filter(|name| **name != tables.sensitive) {
                let problem = format!("a rule protects `{name}`, and the classes hide `{}` alone", tables.sensitive);
                return Err(TableError::input(place, problem, "only the attribute in sensitive.csv is protected"));
            }
            let table = Distribution::new(tables.counts(), rule.tree.as_ref());
            for model in &rule.require {
                let name = rule.protect.as_deref().unwrap_or_default();
                let guarantee = models::guarantee(model, &rule.context(Some(&tables.domain)))
                    .map_err(|unfit| unfit.refusal(name, model.name(), place))?;
                if let Some(why) = refused_in_clones(guarantee.as_ref()) {
                    let problem = format!("a cloned release cannot promise {}: it {why}", model.name());
                    return Err(TableError::input(place, problem, "do not trust this release in that point"));
                }
                let achieved = match model {
                    Model::KAnonymity { .. } => achieved_over(guarantee.as_ref(), None, &table, sub_classes()),
                    _ => achieved_over(guarantee.as_ref(), None, &table, classes()),
                };
                let mut claim = rule.claim(model, &achieved);
                if !matches!(model, Model::KAnonymity { .. }) {
                    // (α,1)-anonymity would state the size of classes as if people were hidden
                    // among so many.
                    claim.achieved.shift_remove("k");
                }
                claims.push(claim);
            }
        }
        let classes = ClassSizes::of(classes().map(|class| class.rows));
        Ok(Checked { claims, classes, rows: tables.people() })
    }
}
