//! Parts of the report for a page of another program, such as a notebook. Each brings its style,
//! which applies to the part alone.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::cursor::At;
use super::{PAGE_STYLE, data, facts_table, together, verdict};
use crate::pictures::STYLE;

/// The class of the element around a part.
const CLASS: &str = "hedgerow-part";

/// Guarantees, required and achieved. `check` is what `hedgerow check --json` prints.
pub fn guarantees(check: &Value) -> String {
    let release = serde_json::json!({ "check": check });
    whole(&verdict::of_release(&At::root(&release), verdict::RECOMPUTED))
}

/// Guarantees as a manifest claims them, in a list as `hedgerow` has it there.
pub fn claims(claims: &Value) -> String {
    let release = serde_json::json!({ "check": { "guarantees": claims } });
    whole(&verdict::of_release(&At::root(&release), "Claimed"))
}

/// The findings of adversaries. `audit` is what `hedgerow audit --json` prints.
pub fn adversaries(audit: &Value) -> String {
    let people_named = &audit["people_named"];
    let root = serde_json::json!({ "audit": audit, "people_named": people_named });
    whole(&together::adversaries(&At::root(&root)).unwrap_or_else(|| html! {}))
}

/// One release of a report: the verdict and the released columns.
pub fn release(release: &Value) -> String {
    let at = At::root(release);
    whole(&html! {
        p { strong { (at.text_of("name")) } }
        (verdict::of_release(&at, verdict::RECOMPUTED))
        (data::columns(&at))
    })
}

/// A policy: `attributes` with name and role, `guarantees` with what its rules require, `method`
/// and `text`.
pub fn policy(policy: &Value) -> String {
    let at = At::root(policy);
    let attributes = at.items("attributes").into_iter().map(|attribute| {
        vec![html! { (attribute.text_of("name")) }, html! { (data::role(attribute.text_of("role"))) }]
    });
    whole(&html! {
        p { "Method: " (at.text_of("method")) "." }
        (facts_table("Attributes", &[("Attribute", false), ("Role", false)], attributes.collect()))
        (verdict::required(&at))
        details { summary { "As a policy file" } pre { code { (at.text_of("text")) } } }
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
    use serde_json::json;

    fn claim() -> Value {
        json!({
            "model": "k-anonymity", "required": { "k": 5 }, "achieved": { "k": 7 }, "know": ["age", "<zip>"],
            "protect": null, "holds": true,
        })
    }

    #[test]
    fn styles_reach_no_further_than_the_part() {
        let style = scoped(STYLE) + &scoped(PAGE_STYLE);
        assert!(!style.contains(":root") && !style.contains("body{"), "{style}");
        assert!(style.contains(".hedgerow-part{&{--ink") && style.matches('{').count() == style.matches('}').count());
    }

    #[test]
    fn guarantees_are_sentences_with_their_numbers() {
        let shown = guarantees(&json!({ "guarantees": [claim()], "warnings": [{ "message": "a warning" }] }));
        assert!(
            shown.contains("An attacker who knows age and &lt;zip&gt; of a person finds at least k rows"),
            "{shown}"
        );
        assert!(shown.contains("Recomputed") && shown.contains("Warning: a warning"));
        let shown = claims(&json!([claim()]));
        assert!(shown.contains("Claimed") && !shown.contains("Recomputed"), "what was not recomputed is not called so");
    }

    #[test]
    fn a_policy_has_roles_rules_and_its_text() {
        let shown = policy(&json!({
            "method": "cluster", "attributes": [{ "name": "age", "role": "quasi" }], "guarantees": [claim()], "text": "[source]",
        }));
        for expected in ["cluster", "quasi-identifier", "k = ", "[source]"] {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
        assert!(!shown.contains("Achieved"), "nothing was achieved yet");
    }

    #[test]
    fn adversaries_are_as_in_the_report() {
        let audit = json!({ "people_named": true, "adversaries": [{
            "name": "linker", "releases": ["a"], "people": 12, "at_risk": 0, "max_confidence": 0.25, "breach": false,
        }] });
        let shown = adversaries(&audit);
        assert!(shown.contains("matches a person") && shown.contains("People") && shown.contains("25.0 %"), "{shown}");
    }
}
