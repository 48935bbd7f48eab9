//! Parts of the report for a page of another program, such as a notebook. Each brings its style,
//! which applies to the part alone.

use maud::{Markup, PreEscaped, html};

use super::cursor::{At, at};
use super::{PAGE_STYLE, data, facts_table, together, verdict};
use crate::facts::{AuditFacts, CheckFacts, GuaranteeFacts, PolicyFacts, ReleaseFacts, ReportFacts};
use crate::pictures::STYLE;

/// The class of the element around a part.
const CLASS: &str = "hedgerow-part";

/// Guarantees, required and achieved, as a check found them.
pub fn guarantees(check: CheckFacts) -> String {
    let release = ReleaseFacts { check: Some(check), ..ReleaseFacts::default() };
    whole(&verdict::of_release(&At::root(&release), verdict::RECOMPUTED))
}

/// Guarantees as a manifest claims them.
pub fn claims(guarantees: Vec<GuaranteeFacts>) -> String {
    let check = Some(CheckFacts { guarantees, ..CheckFacts::default() });
    whole(&verdict::of_release(&At::root(&ReleaseFacts { check, ..ReleaseFacts::default() }), "Claimed"))
}

/// The findings of adversaries.
pub fn adversaries(audit: AuditFacts, people_named: bool) -> String {
    let report = ReportFacts { audit, ..ReportFacts::default() };
    whole(&together::adversaries(&at!(At::root(&report), audit), people_named))
}

/// One release of a report: the verdict and the released columns.
pub fn release(release: &ReleaseFacts) -> String {
    whole(&html! {
        p { strong { (release.name) } }
        (verdict::of_release(&At::root(release), verdict::RECOMPUTED))
        (data::columns(&release.columns))
    })
}

/// A policy: its attributes, what its rules require, and its text.
pub fn policy(policy: &PolicyFacts) -> String {
    let attributes = policy.attributes.iter();
    let attributes = attributes.map(|(name, role)| vec![html! { (name) }, html! { (data::role(role)) }]);
    whole(&html! {
        p { "Method: " (policy.method) "." }
        (facts_table("Attributes", &[("Attribute", false), ("Role", false)], attributes.collect()))
        (verdict::required(&At::root(policy)))
        details { summary { "As a policy file" } pre { code { (policy.text) } } }
    })
}

fn whole(body: &Markup) -> String {
    let part = html! {
        div class=(CLASS) {
            style { (PreEscaped(scoped(STYLE))) (PreEscaped(scoped(PAGE_STYLE))) }
            (body)
        }
    };
    part.into_string()
}

/// A style nested under the part's class: what it says of the page is then said of the part.
fn scoped(style: &str) -> String {
    let own = style.replace(":root{", "&{").replace("body{", "&{");
    format!(".{CLASS}{{{own}}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{AdversaryFacts, AdversaryKind, FindingFacts, ModelParameter, WarningFacts};

    fn claim() -> GuaranteeFacts {
        let k = |k: u64| vec![("k".to_owned(), ModelParameter::Number(k.into()))];
        GuaranteeFacts {
            model: "k-anonymity".to_owned(),
            required: k(5),
            achieved: k(7),
            know: vec!["age".to_owned(), "<zip>".to_owned()],
            holds: true,
            ..GuaranteeFacts::default()
        }
    }

    #[test]
    fn styles_reach_no_further_than_the_part() {
        let style = scoped(STYLE) + &scoped(PAGE_STYLE);
        assert!(!style.contains(":root") && !style.contains("body{"), "{style}");
        assert!(style.contains(".hedgerow-part{&{--ink") && style.matches('{').count() == style.matches('}').count());
    }

    #[test]
    fn guarantees_are_sentences_with_their_numbers() {
        let warnings = vec![WarningFacts { message: "a warning".to_owned() }];
        let shown = guarantees(CheckFacts { guarantees: vec![claim()], warnings, ..CheckFacts::default() });
        assert!(
            shown.contains("An attacker who knows age and &lt;zip&gt; of a person finds at least k rows"),
            "{shown}"
        );
        assert!(shown.contains("Recomputed") && shown.contains("Warning: a warning"));
        let shown = claims(vec![claim()]);
        assert!(shown.contains("Claimed") && !shown.contains("Recomputed"), "what was not recomputed is not called so");
    }

    #[test]
    fn a_policy_has_roles_rules_and_its_text() {
        let shown = policy(&PolicyFacts {
            method: "cluster".to_owned(),
            attributes: vec![("age".to_owned(), "quasi".to_owned())],
            guarantees: vec![claim()],
            text: "[source]".to_owned(),
        });
        for expected in ["cluster", "quasi-identifier", "k = ", "[source]"] {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
        assert!(!shown.contains("Achieved"), "nothing was achieved yet");
    }

    #[test]
    fn adversaries_are_as_in_the_report() {
        let finding = FindingFacts {
            name: AdversaryFacts { name: "linker", does: "matches a person", kind: AdversaryKind::Other },
            releases: vec!["a".to_owned()],
            protect: None,
            people: 12,
            at_risk: 0,
            max_confidence: 0.25,
            effective_k: Some(4),
            effective_l: None,
            breach: false,
            explanations: Vec::new(),
        };
        let audit = AuditFacts { adversaries: vec![finding], ..AuditFacts::default() };
        let shown = adversaries(audit, true);
        assert!(shown.contains("matches a person") && shown.contains("People") && shown.contains("25.0 %"), "{shown}");
    }
}
