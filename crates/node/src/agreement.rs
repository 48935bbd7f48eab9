//! The terms of a custodian, field by field, so that two custodians who refuse each other's
//! proposals find out where their policies or settings differ. It has declared values, rules and
//! limits, and nothing of the rows or of where they are.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_joint::{AGREEMENT_VERSION, Agreed, JointAttribute, Profile};
use hedgerow_smc::PROTOCOL_VERSION;
use hedgerow_smc::baseline::Chances;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hex;

/// The most values that a difference names on each side.
const SHOWN_MAX: usize = 5;

/// The fields of an agreement under names of the policy and of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// The digest of all terms: proposals name it.
    pub terms: String,
    pub fields: BTreeMap<String, Vec<String>>,
}

impl Agreement {
    pub fn new(agreed: &Agreed, profile: Profile) -> Agreement {
        let mut fields = BTreeMap::new();
        let mut add = |name: String, values: Vec<String>| fields.insert(name, values);
        let Agreed { attributes, axes, weights, rules, limits, .. } = agreed;
        add("version of the agreement".to_owned(), vec![AGREEMENT_VERSION.to_string()]);
        add("version of messages".to_owned(), vec![PROTOCOL_VERSION.to_string()]);
        let names = attributes.iter().map(|attribute| attribute.name.clone());
        add("attributes, quasi-identifiers first".to_owned(), names.collect());
        for (place, JointAttribute { name, domain }) in attributes.iter().enumerate() {
            let role = if place < axes.len() { "quasi" } else { "sensitive" };
            add(format!("attributes.{name}.role"), vec![role.to_owned()]);
            add(format!("attributes.{name}.type"), vec![domain.kind().name().to_owned()]);
            let values = (0..domain.present() as u32).map(|code| domain.text(code));
            add(format!("attributes.{name}.values"), values.collect());
            if let Some(axis) = axes.get(place) {
                let cuts = hex::encode(&Sha256::digest(format!("{axis:?}"))[..8]);
                add(format!("attributes.{name}.hierarchy"), vec![cuts]);
            }
        }
        for (weight, JointAttribute { name, .. }) in weights.iter().zip(attributes) {
            add(format!("attributes.{name}.weight"), vec![weight.to_string()]);
        }
        for (number, rule) in (1..).zip(rules) {
            let protected = rule.protect.and_then(|place| attributes.get(axes.len() + place));
            let protected = protected.map_or(String::new(), |attribute| format!(" for {}", attribute.name));
            let mut models: Vec<String> =
                rule.guarantees.iter().map(|guarantee| format!("{:?}{protected}", guarantee.model())).collect();
            if let Some(tree) = &rule.tree {
                let levels = hex::encode(&Sha256::digest(format!("{:?}", tree.levels))[..8]);
                models.push(format!("over the hierarchy {levels}"));
            }
            add(format!("rule[{number}]"), models);
        }
        let yes = |value: bool| vec![if value { "yes" } else { "no" }.to_owned()];
        add("publish.strict".to_owned(), yes(agreed.strict));
        add("publish.summarise = \"tight\"".to_owned(), yes(agreed.tight));
        add("other released columns".to_owned(), yes(agreed.carries));
        add("rows = \"apart\"".to_owned(), yes(agreed.apart));
        add("profile".to_owned(), vec![profile.name().to_owned()]);
        for (name, value) in [
            ("promises.sites", agreed.sites),
            ("promises.towards", agreed.towards),
            ("limits.rows", limits.rows_max),
            ("limits.rounds", limits.rounds_max.into()),
            ("limits.parts", limits.parts_max),
            ("limits.message-bytes, as words of a vector", limits.words_max),
        ] {
            add(name.to_owned(), vec![value.to_string()]);
        }
        let terms = hex::encode(&agreed.digest(profile, Chances::default()));
        Agreement { terms, fields }
    }

    /// Where another agreement differs, a line for each field.
    pub fn differences(&self, other: &Agreement) -> Vec<String> {
        let names: BTreeSet<&String> = self.fields.keys().chain(other.fields.keys()).collect();
        let differs = |name: &&String| self.fields.get(*name) != other.fields.get(*name);
        let line = |name: &String| match (self.fields.get(name), other.fields.get(name)) {
            (Some(_), None) => format!("{name}: only in the first"),
            (None, Some(_)) => format!("{name}: only in the second"),
            (Some(first), Some(second)) => format!("{name}: {}", difference(first, second)),
            (None, None) => name.clone(),
        };
        let mut lines: Vec<String> = names.into_iter().filter(differs).map(line).collect();
        if lines.is_empty() && self.terms != other.terms {
            lines.push("the digests differ, and every field that is shown is the same".to_owned());
        }
        lines
    }
}

fn difference(first: &[String], second: &[String]) -> String {
    if let ([first], [second]) = (first, second) {
        return format!("{first} in the first, {second} in the second");
    }
    let only = |these: &[String], others: &[String]| {
        let others: BTreeSet<&String> = others.iter().collect();
        let only: Vec<&str> = these.iter().filter(|text| !others.contains(text)).map(String::as_str).collect();
        let more = if only.len() > SHOWN_MAX { ", …" } else { "" };
        (!only.is_empty()).then(|| format!("{}{more}", only[..only.len().min(SHOWN_MAX)].join(", ")))
    };
    let parts = [("first", only(first, second)), ("second", only(second, first))];
    let parts: Vec<String> =
        parts.into_iter().filter_map(|(side, only)| Some(format!("only in the {side}: {}", only?))).collect();
    match parts.is_empty() {
        true => "the same values in another order, or another number of times".to_owned(),
        false => parts.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hedgerow_policy::Policy;

    use super::*;
    use crate::terms::Terms;

    const POLICY: &str = r#"[source]
path = "people.csv"
[attributes]
age = { role = "quasi", range = [0, 99] }
disease = { role = "sensitive", order = ["asthma", "flu", "gout"] }
[[rule]]
require = { model = "k-anonymity", k = 3 }
[[rule]]
protect = "disease"
require = { model = "distinct-l-diversity", l = 2 }
[publish]
method = "mondrian"
"#;

    fn agreement(policy: &str, promised: impl FnOnce(Agreed) -> Agreed) -> Agreement {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        fs::write(&path, policy).unwrap();
        Agreement::new(&Terms::new(Policy::load(&path).unwrap(), promised).unwrap().agreed, Profile::Masked)
    }

    #[test]
    fn every_change_of_the_terms_is_named() {
        let same = |agreed: Agreed| agreed;
        let base = agreement(POLICY, same);
        assert!(base.differences(&agreement(POLICY, same)).is_empty());
        for (from, to, expected) in [
            ("k = 3", "k = 4", "rule[1]"),
            ("l = 2", "l = 3", "rule[2]"),
            ("[0, 99]", "[0, 89]", "attributes.age.values: only in the first: 90, 91, 92, 93, 94, …"),
            ("\"gout\"]", "\"gout\", \"rare\"]", "attributes.disease.values: only in the second: rare"),
            ("disease", "illness", "attributes.disease.role: only in the first"),
        ] {
            let other = agreement(&POLICY.replace(from, to), same);
            let differences = base.differences(&other);
            assert_ne!(base.terms, other.terms);
            assert!(differences.iter().any(|line| line.starts_with(expected)), "{to}: {differences:#?}");
        }
        type Change = fn(Agreed) -> Agreed;
        let settings: [(Change, &str); 3] = [
            (|agreed| Agreed { apart: true, ..agreed }, "rows = \"apart\": no in the first, yes in the second"),
            (|agreed| Agreed { towards: 1, ..agreed }, "promises.towards: 0 in the first, 1 in the second"),
            (
                |mut agreed| {
                    agreed.limits.rows_max = 7;
                    agreed
                },
                "limits.rows",
            ),
        ];
        for (promised, expected) in settings {
            let differences = base.differences(&agreement(POLICY, promised));
            assert!(differences.len() == 1 && differences[0].starts_with(expected), "{differences:#?}");
        }
    }

    #[test]
    fn it_reads_back_and_names_no_path() {
        let base = agreement(POLICY, |agreed| agreed);
        let text = serde_json::to_string(&base).unwrap();
        assert_eq!(serde_json::from_str::<Agreement>(&text).unwrap(), base);
        assert!(!text.contains("people.csv") && !text.contains("/tmp"), "{text}");
    }
}
