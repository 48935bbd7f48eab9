//! The terms of a custodian, from its policy alone, and its own rows as a run takes them.

use std::sync::Arc;

use hedgerow_audit::query::parts::Outline;
use hedgerow_joint::{Agreed, AgreedRef, JointAttribute, JointClass, JointRow, Share};
use hedgerow_policy::{Method, Policy, Summary};
use hedgerow_publish::bind::{Bound, declared_table, read_source};
use hedgerow_publish::{Divided, PublishError, PublishOptions, outline, publish_divided};
use hedgerow_smc::RunLimits;
use hedgerow_table::progress::NoProgress;
use hedgerow_table::{Codes, Column, Domain, InputError, Table, TableError};
use sha2::{Digest as _, Sha256};

use crate::settings::Settings;

/// A policy with what all custodians derive from it.
#[derive(Debug)]
pub struct Terms {
    pub policy: Policy,
    pub agreed: AgreedRef,
    /// A table without rows, whose columns have every declared value.
    declared: Table,
}

impl Terms {
    /// From the values that the policy declares, without a look at any rows.
    pub fn load(settings: &Settings) -> Result<Terms, PublishError> {
        let policy = Policy::load(&settings.policy)?;
        Terms::new(policy, |agreed| settings.bound(agreed))
    }

    pub fn new(policy: Policy, promised: impl FnOnce(Agreed) -> Agreed) -> Result<Terms, PublishError> {
        let place = policy.path.display().to_string();
        if policy.publish.method != Method::Mondrian {
            let problem = format!("custodians together cannot publish by `{}`", policy.publish.method.name());
            return Err(InputError::new(place, problem, "set `method = \"mondrian\"` under [publish]").into());
        }
        hedgerow_publish::joint_refusals::refuse(&policy)?;
        let declared = declared_table(&policy)?;
        let agreed = {
            let bound = Bound::new(&policy, &declared)?;
            let attribute =
                |(name, domain): (&str, &Domain)| JointAttribute { name: name.to_owned(), domain: domain.clone() };
            let attributes = bound.judged_domains().into_iter().map(attribute).collect();
            let (strict, tight) = (policy.publish.strict, policy.publish.summarise == Summary::Tight);
            let rules = bound.judge()?.into_rules();
            let agreed = Agreed::new(bound.axes(), &bound.judged_cardinalities(), rules, strict, tight);
            let agreed = agreed.and_then(|agreed| agreed.weighted(bound.weights()));
            let agreed = agreed.and_then(|agreed| agreed.declared(attributes));
            agreed.ok_or_else(|| {
                let problem = "custodians together cannot keep these rules";
                let hint = "every rule must know quasi-identifiers only, and its models must survive merging classes";
                InputError::new(place, problem, hint)
            })?
        };
        let agreed = Arc::new(promised(agreed));
        Ok(Terms { policy, agreed, declared })
    }

    /// This custodian's rows as they are now. An error names the row and its value: it is for the
    /// eyes of the custodian that holds the rows.
    pub fn read_rows(&self) -> Result<Share, TableError> {
        let table = read_source(&self.policy, &NoProgress)?;
        let RunLimits { rows_max, .. } = self.agreed.limits;
        let source = self.policy.source.path.display().to_string();
        if table.rows as u64 > rows_max {
            let problem = format!("{} rows, but all custodians together agreed on at most {rows_max}", table.rows);
            return Err(TableError::input(source, problem, "agree on larger `limits`, or hand in fewer rows"));
        }
        Ok(Share::from_table(&self.agreed, &table, &source)?)
    }

    /// The warnings of `publish` for this custodian's rows alone.
    pub fn warnings(&self) -> Result<Vec<InputError>, PublishError> {
        let table = read_source(&self.policy, &NoProgress)?;
        let mut warnings = Bound::new(&self.policy, &table)?.warnings;
        // What it refuses is about columns that custodians together do not release.
        warnings.extend(hedgerow_publish::singling_out::examine(&self.policy, &table).unwrap_or_default());
        Ok(warnings)
    }

    /// Writes an ordinary release of the rows of all custodians, verified from its bytes.
    pub fn release(
        &self,
        classes: &[JointClass],
        rows: &[JointRow],
        destination: std::path::PathBuf,
    ) -> Result<(), PublishError> {
        let regions: Vec<_> = classes.iter().map(|class| class.region.clone()).collect();
        // Rows in the order of their content, then in an order that follows from all of it: the
        // same bytes at all custodians, and no trace of an owner.
        let mut rows = rows.to_vec();
        rows.sort_unstable_by(|one, other| {
            (one.class, &one.codes, &one.carried).cmp(&(other.class, &other.codes, &other.carried))
        });
        let of_row: Vec<u32> = rows.iter().map(|row| row.class).collect();
        let table = self.table(classes, &rows).ok_or_else(|| PublishError::Internal("rows of no class".to_owned()))?;
        let options = PublishOptions { seed: Some(order_of(classes, &rows)), ..PublishOptions::to(destination) };
        let divided = Divided { axes: &self.agreed.axes, regions: &regions, of_row: &of_row };
        publish_divided(&self.policy, &table, divided, &options).map(|_| ())
    }

    /// The known columns of a release whose rows stay with their custodians: everything but the
    /// protected values.
    pub fn outline(&self, classes: &[JointClass]) -> Result<Outline, PublishError> {
        let RunLimits { rows_max, .. } = self.agreed.limits;
        let rows = classes.iter().try_fold(0u64, |sum, class| sum.checked_add(class.rows));
        if rows.is_none_or(|rows| rows > rows_max) {
            return Err(PublishError::Internal("more rows than were agreed on".to_owned()));
        }
        let axes = &self.agreed.axes;
        let is_region = |class: &JointClass| {
            let within = class.ends().zip(axes).all(|((first, last), axis)| first <= last && last < axis.size());
            class.region.len() == axes.len() && within
        };
        if !classes.iter().all(is_region) {
            return Err(PublishError::Internal("classes of other attributes than were agreed on".to_owned()));
        }
        let codes = vec![0; self.agreed.cardinalities.len()];
        let row = |class: u32| JointRow { class, codes: codes.clone(), carried: Vec::new() };
        let of_class = |(number, class): (u32, &JointClass)| std::iter::repeat_n(number, class.rows as usize);
        let of_row: Vec<u32> = (0u32..).zip(classes).flat_map(of_class).collect();
        let rows: Vec<JointRow> = of_row.iter().map(|class| row(*class)).collect();
        let table = self.table(classes, &rows).ok_or_else(|| PublishError::Internal("rows of no class".to_owned()))?;
        let regions: Vec<_> = classes.iter().map(|class| class.region.clone()).collect();
        let divided = Divided { axes: &self.agreed.axes, regions: &regions, of_row: &of_row };
        let release = outline(&self.policy, &table, divided)?;
        let protected = &self.agreed.attributes[self.agreed.axes.len()..];
        let protected: Vec<&str> = protected.iter().map(|attribute| attribute.name.as_str()).collect();
        let sizes: Vec<u64> = classes.iter().map(|class| class.rows).collect();
        Ok(Outline::new(release, &sizes, &protected)?)
    }

    /// The rows with some value of their class's region for every quasi-identifier: only the region
    /// is released.
    fn table(&self, classes: &[JointClass], rows: &[JointRow]) -> Option<Table> {
        let quasi = self.agreed.axes.len();
        let column = |(place, attribute): (usize, &JointAttribute)| {
            let code = |row: &JointRow| match self.agreed.axes.get(place) {
                Some(axis) => Some(axis.code(classes.get(row.class as usize)?.region.get(place)?.first)),
                None => row.codes.get(place - quasi).copied(),
            };
            let codes = rows.iter().map(code).collect::<Option<Vec<u32>>>()?;
            let codes = Codes::from_iter(attribute.domain.cardinality(), codes);
            Some(Column { name: attribute.name.clone(), domain: attribute.domain.clone(), codes })
        };
        let columns = self.agreed.attributes.iter().enumerate().map(column).collect::<Option<Vec<_>>>()?;
        Some(Table { columns, rows: rows.len(), header: self.declared.header.clone(), warnings: Vec::new() })
    }
}

/// A seed that follows from what is released.
fn order_of(classes: &[JointClass], rows: &[JointRow]) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"hedgerow release order 1");
    for class in classes {
        hash.update(class.rows.to_le_bytes());
        class.ends().for_each(|(first, last)| hash.update([first.to_le_bytes(), last.to_le_bytes()].concat()));
    }
    for JointRow { class, codes, carried } in rows {
        hash.update(class.to_le_bytes());
        codes.iter().for_each(|code| hash.update(code.to_le_bytes()));
        hash.update((carried.len() as u64).to_le_bytes());
        hash.update(carried);
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_cuts::Span;

    fn terms(folder: &std::path::Path) -> Terms {
        let policy = "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\", range = [0, 99] }\n\
                      disease = { role = \"sensitive\", order = [\"cold\", \"flu\"] }\n\
                      [[rule]]\nrequire = { model = \"k-anonymity\", k = 3 }\n\
                      [[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n\
                      [publish]\nmethod = \"mondrian\"\n";
        std::fs::write(folder.join("policy.toml"), policy).unwrap();
        std::fs::write(folder.join("people.csv"), "age,disease\n7,cold\n8,cough\n").unwrap();
        Terms::new(Policy::load(&folder.join("policy.toml")).unwrap(), |agreed| agreed).unwrap()
    }

    fn class(first: u32, last: u32) -> JointClass {
        JointClass { region: vec![Span::new(first, last)], rows: 3 }
    }

    fn rows(classes: &[u32]) -> Vec<JointRow> {
        let row = |(number, class): (usize, &u32)| JointRow {
            class: *class,
            codes: vec![number as u32 % 2],
            carried: Vec::new(),
        };
        classes.iter().enumerate().map(row).collect()
    }

    #[test]
    fn classes_become_a_release_and_what_is_no_class_or_breaks_a_rule_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let terms = terms(folder.path());
        let release = |name: &str, classes: &[JointClass], of_row: &[u32]| {
            terms.release(classes, &rows(of_row), folder.path().join(name)).map_err(|error| error.to_string())
        };
        let two = [class(0, 49), class(50, 99)];
        release("good", &two, &[0, 0, 0, 1, 1, 1]).unwrap();
        let table = std::fs::read_to_string(folder.path().join("good").join("data.csv")).unwrap();
        assert_eq!(table.lines().count(), 7, "{table}");
        let labels: std::collections::BTreeSet<_> = table.lines().skip(1).map(|line| line.split(',').next()).collect();
        assert_eq!(labels.len(), 2, "{table}");
        for (classes, of_row) in [
            (vec![class(0, 49), class(50, 500)], [0, 0, 0, 1, 1, 1]),
            (vec![class(49, 0), class(50, 99)], [0, 0, 0, 1, 1, 1]),
            (vec![class(0, 49), class(50, 99)], [0, 0, 0, 1, 1, 2]),
            (vec![class(0, 49), class(50, 99)], [0, 0, 1, 1, 1, 1]),
        ] {
            assert!(release("bad", &classes, &of_row).is_err(), "{classes:?} {of_row:?}");
            assert!(!folder.path().join("bad").exists());
        }
    }

    /// Counting units, and whatever needs the rows of all custodians in one place, is refused by
    /// name before anything is agreed on.
    #[test]
    fn what_custodians_together_cannot_do_is_refused_with_the_reason() {
        let of = |attributes: &str, rule: &str, publish: &str| {
            let text = format!(
                "[source]\npath = \"people.csv\"\n[attributes]\n{attributes}age = {{ role = \"quasi\", range = [0, 99] }}\n\
                 ward = {{ role = \"quasi\", range = [0, 9] }}\n[[rule]]\n{rule}require = {{ model = \"k-anonymity\", k = 3 }}\n\
                 [publish]\nmethod = \"mondrian\"\n{publish}"
            );
            let policy =
                Policy::parse(&text, std::path::Path::new("policy.toml")).map_err(|errors| errors.to_string())?;
            Terms::new(policy, |agreed| agreed).map(|_| ()).map_err(|error| error.to_string())
        };
        of("", "", "").unwrap();
        let unit = "patient = { role = \"unit\" }\n";
        let counts_rows = "a joint release counts rows, not units, and `patient` has the role `unit`";
        let dependency = "[[dependency]]\nfrom = [\"ward\"]\nto = \"age\"\n";
        for (attributes, rule, publish, why) in [
            (unit, "", "", counts_rows),
            (unit, "", "link = true\n", counts_rows),
            (unit, "rows = \"one\"\n", "", counts_rows),
            ("", "", "link = true\n", "`link = true` has no meaning without a unit"),
            ("", "rows = \"one\"\n", "", "`rows` has no meaning without a unit"),
            ("", "consistent = true\n", "", "a joint release does not keep `consistent`: the combinations that occur"),
            (
                "",
                "",
                dependency,
                "a joint release does not judge dependencies, and `age` is declared to follow from `ward`",
            ),
        ] {
            let error = of(attributes, rule, publish).unwrap_err();
            assert!(error.contains(why), "{attributes}{rule}{publish}{error}");
            assert!(error.contains("hint: "), "{error}");
        }
        // A dependency that the custodians accept asks nothing of the run.
        of("", "", &format!("{dependency}accept = \"wards have people of any age\"\n")).unwrap();
        // So with the unit named by the source.
        let text = "[source]\npath = \"people.csv\"\nunit = \"patient\"\n[attributes]\nage = { role = \"quasi\", range = [0, 99] }\n\
                    [[rule]]\nrequire = { model = \"k-anonymity\", k = 3 }\n[publish]\nmethod = \"mondrian\"\n";
        let policy = Policy::parse(text, std::path::Path::new("policy.toml")).unwrap();
        let error = Terms::new(policy, |agreed| agreed).unwrap_err().to_string();
        assert!(error.contains(counts_rows), "{error}");
    }

    #[test]
    fn an_error_about_rows_names_the_row() {
        let folder = tempfile::tempdir().unwrap();
        let error = terms(folder.path()).read_rows().unwrap_err().to_string();
        assert!(error.contains("row 2, disease"), "{error}");
    }
}
