//! A bucketized release, judged bucket by bucket.
//!
//! An attacker who knows the quasi values of an individual finds the rows that carry them, and for
//! each row its bucket; the row's sensitive value may be any of the bucket's, each as likely as it
//! is frequent there, since the tables say nothing else (Xiao, Tao: *Anatomy*, 2006, section 3.2).
//! Equal quasi values can lead to several buckets, and so does knowing only some of the attributes.
//! The adversary's belief is then a mixture of the buckets' distributions, bucket b weighing mᵦ/m
//! when mᵦ of the m rows lie in it.
//!
//! **A guarantee that survives merging survives these mixtures.** Take mᵦ·L/|b| copies of every
//! bucket b, L being a common multiple of the sizes. Their union has m·L rows, and a value with nᵦ
//! rows in b has Σ nᵦ·mᵦ·L/|b| of them: exactly its share in the mixture. A union of classes that
//! hold, copies among them, holds. So it is enough that every bucket holds, whatever the adversary
//! knows of `quasi.csv`; and where a guarantee declares nothing about merging, nothing can be
//! concluded.
//!
//! Buckets never give a number of rows to hide among: the rows themselves are released as they are.

use hedgerow_release::Release;
use hedgerow_release::bucketized::{Bucketized, GROUP};
use hedgerow_release::manifest::ClassSizes;
use hedgerow_table::TableError;

use super::Judged;
use crate::check::{Checked, NamedRule, squares};
use hedgerow_privacy::judge::achieved_over;
use hedgerow_privacy::{Class, Distribution, Guarantee, Model, OnMerge, models};

/// Why buckets cannot keep a guarantee, whatever they hold, in words that follow its name; `None`
/// when they can.
pub fn refused_in_buckets(guarantee: &dyn Guarantee) -> Option<&'static str> {
    match guarantee.model() {
        Model::KAnonymity { .. } | Model::AlphaKAnonymity { k: 2.., .. } => {
            Some("requires k rows that look alike, and buckets show every row's quasi values as they are")
        }
        // A person's rows may be in several buckets, and how many rows share their quasi values is
        // not how many a bucket has.
        Model::Conditional { .. } => {
            Some("is about some classes alone, and a bucket is not a class of rows that look alike")
        }
        _ if guarantee.on_merge() == OnMerge::Neither => {
            Some("can break where equal quasi values lead to several buckets, though it holds in each of them")
        }
        _ => None,
    }
}

/// Refuses a rule about attributes that are not where the argument above needs them.
fn refuse_misplaced(tables: &Bucketized, rule: &NamedRule, place: &str) -> Result<(), TableError> {
    if let Some(name) = rule.protect.as_ref().filter(|name| **name != tables.sensitive) {
        let problem = format!("a rule protects `{name}`, and buckets hide `{}` alone", tables.sensitive);
        return Err(TableError::input(place, problem, "only the attribute in sensitive.csv is protected"));
    }
    let known = |name: &str| name != GROUP && tables.quasi.column(name).is_some();
    if let Some(name) = rule.know.iter().find(|name| !known(name)) {
        let problem = format!("a rule's adversary knows `{name}`, which is not an attribute of quasi.csv");
        return Err(TableError::input(place, problem, "the tables and their manifest do not belong together"));
    }
    Ok(())
}

impl Judged for Bucketized {
    fn judge(&self, release: &Release, rules: &[NamedRule]) -> Result<Checked, TableError> {
        let (tables, place) = (self, release.name());
        let classes = || {
            (0..tables.len())
                .map(|bucket| tables.values(bucket))
                .filter(|values| !values.is_empty())
                .map(|values| Class { rows: values.iter().map(|&(_, count)| u64::from(count)).sum(), values })
        };
        let mut claims = Vec::new();
        for rule in rules {
            refuse_misplaced(tables, rule, place)?;
            let table = Distribution::new(tables.counts(), rule.tree.as_ref());
            for model in &rule.require {
                let name = rule.protect.as_deref().unwrap_or_default();
                let guarantee = models::guarantee(model, &rule.context(Some(&tables.domain)))
                    .map_err(|unfit| unfit.refusal(name, model.name(), place))?;
                if let Some(why) = refused_in_buckets(guarantee.as_ref()) {
                    let problem = format!("a release in buckets cannot promise {}: it {why}", model.name());
                    return Err(TableError::input(place, problem, "do not trust this release in that point"));
                }
                let achieved = achieved_over(guarantee.as_ref(), None, &table, classes());
                let mut claim = rule.claim(model, &achieved);
                // (α,1)-anonymity would state the size of buckets as if rows were hidden among so
                // many.
                claim.achieved.shift_remove("k");
                claims.push(claim);
            }
        }
        let sizes = || tables.sizes.iter().map(|&size| u64::from(size));
        let (classes, squares) = (ClassSizes::of(sizes()), squares(sizes()));
        Ok(Checked { claims, classes, squares, rows: tables.quasi.rows as u64, units: None })
    }
}
