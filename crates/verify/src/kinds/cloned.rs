//! A cloned release, judged class by class: every tuple of a sub-class goes with all sensitive values of its class, since the
//! statistics say nothing about which is whose (Baig et al. 2011, section 6).
//!
//! An adversary who recognizes somebody in one sub-class, or in several, holds one class's distribution or a mixture of several;
//! what survives merging survives such mixtures (the argument is told with bucketized releases). How many people look alike is
//! judged by the sub-classes, whose tuples the statistics do not tell apart; counterfeits are announced, and are nobody.

use std::path::Path;

use hedgerow_release::cloned::Cloned;
use hedgerow_release::manifest::{ClassSizes, Manifest};
use hedgerow_release::shape::Shape;
use hedgerow_table::{Codes, Column, Domain, Progress, TableError, Values};

use super::Released;
use crate::check::{Checked, NamedRule, claim};
use hedgerow_privacy::judge::achieved_over;
use hedgerow_privacy::{Class, Distribution, Guarantee, Model, OnMerge, models};

#[derive(Debug)]
pub(super) struct Clones {
    tables: Cloned,
    /// The values of each category, for the codebook.
    categories: Vec<Column>,
    contradictions: Vec<String>,
    place: String,
}

/// Why clones cannot keep a guarantee, whatever they hold, in words that follow its name; `None` when they can.
pub fn refused_in_clones(guarantee: &dyn Guarantee) -> Option<&'static str> {
    match guarantee.model() {
        Model::AlphaKAnonymity { k: 2.., .. } => Some("asks for k rows and a share at once, and these are told apart"),
        _ if guarantee.on_merge() == OnMerge::Neither => {
            Some("can break where somebody may be in several classes, though it holds in each of them")
        }
        _ => None,
    }
}

impl Clones {
    pub(super) fn read(directory: &Path, manifest: &Manifest, progress: &dyn Progress) -> Result<Self, TableError> {
        let place = directory.display().to_string();
        let Shape::Cloned { statistics, sensitive } = Shape::of_release(directory, manifest)? else {
            return Err(TableError::Internal("a release of another kind was read as a cloned one".to_owned()));
        };
        let (tables, mut contradictions) = Cloned::examine(directory, statistics, sensitive, progress)?;
        let smallest = tables.sub_classes().map(|part| part.tuples).min().unwrap_or(0);
        let promised = manifest.hedgerow.cloning.get("k").and_then(|k| k.as_u64());
        if promised.is_some_and(|k| smallest < k) {
            let k = promised.unwrap_or_default();
            contradictions
                .push(format!("the manifest says sub-classes of at least {k} tuples, and one has {smallest}"));
        }
        let categories = categories(&tables);
        Ok(Clones { tables, categories, contradictions, place })
    }
}

fn categories(tables: &Cloned) -> Vec<Column> {
    let mut seen = vec![vec![false; tables.texts.len()]; tables.attributes.len()];
    for part in tables.sub_classes() {
        for (attribute, seen) in part.attributes.iter().zip(&mut seen) {
            attribute.categories.iter().for_each(|&(text, _)| seen[text as usize] = true);
        }
    }
    let column = |(name, seen): (&String, Vec<bool>)| {
        let texts = tables.texts.iter().zip(seen).filter(|(_, seen)| *seen).map(|(text, _)| text.as_str().into());
        let domain = Domain::new(Values::Category(texts.collect()), false);
        Column { name: name.clone(), domain, codes: Codes::from_iter(1, std::iter::empty()) }
    };
    tables.attributes.iter().zip(seen).map(column).collect()
}

impl Released for Clones {
    fn domain(&self, attribute: &str) -> Option<&Domain> {
        (attribute == self.tables.sensitive).then_some(&self.tables.domain)
    }

    fn quasi(&self) -> Vec<&Column> {
        self.categories.iter().collect()
    }

    fn contradictions(&self) -> &[String] {
        &self.contradictions
    }

    fn judge(&self, rules: &[NamedRule]) -> Result<Checked, TableError> {
        let tables = &self.tables;
        let told = || tables.classes.iter().filter(|class| !class.values.is_empty());
        let classes = || told().map(|class| Class { rows: class.tuples(), values: &class.values });
        let sub_classes = || tables.sub_classes().map(|part| Class { rows: part.people(), values: &[] });
        let mut claims = Vec::new();
        for rule in rules {
            if let Some(name) = rule.protect.as_ref().filter(|name| **name != tables.sensitive) {
                let problem = format!("a rule protects `{name}`, and the classes hide `{}` alone", tables.sensitive);
                return Err(TableError::input(
                    &self.place,
                    problem,
                    "only the attribute in sensitive.csv is protected",
                ));
            }
            let whole = Distribution::new(tables.counts(), rule.tree.as_ref());
            for model in &rule.require {
                let name = rule.protect.as_deref().unwrap_or_default();
                let guarantee = models::guarantee(model, Some(&tables.domain), rule.tree.as_ref())
                    .map_err(|unfit| unfit.refusal(name, model.name(), &self.place))?;
                if let Some(why) = refused_in_clones(guarantee.as_ref()) {
                    let problem = format!("a cloned release cannot promise {}: it {why}", model.name());
                    return Err(TableError::input(&self.place, problem, "do not trust this release in that point"));
                }
                let achieved = match model {
                    Model::KAnonymity { .. } => achieved_over(guarantee.as_ref(), None, &whole, sub_classes()),
                    _ => achieved_over(guarantee.as_ref(), None, &whole, classes()),
                };
                let mut claim = claim(model, &rule.know, rule.protect.as_ref(), &achieved);
                if !matches!(model, Model::KAnonymity { .. }) {
                    // (α,1)-anonymity would tell the size of classes as if people were hidden among so many.
                    claim.achieved.shift_remove("k");
                }
                claims.push(claim);
            }
        }
        let classes = ClassSizes::of(classes().map(|class| class.rows));
        Ok(Checked { claims, classes, rows: tables.people() })
    }
}
