//! Governance: what the release does not promise, and how a reader can check this page.

use maud::{Markup, html};

use crate::facts::{ReleaseFacts, ReportFacts};

pub(super) fn section(report: &ReportFacts) -> Markup {
    let releases: &[ReleaseFacts] = &report.releases;
    html! {
        ul {
            li { "The guarantees are about adversaries who know the attributes listed as known, and nothing more. Who knows a sensitive value, or an attribute that no rule names, may learn more." }
            li { "They are about this release, and about it together with the releases named here. A later release about the same people, or one that was not named, can take from it: audit them together." }
            li { "k-anonymity says nothing about sensitive values; l-diversity and t-closeness say nothing about values that are close in meaning, unless their distance is part of the rule." }
            li { "They are not differential privacy: what is learned about a group is learned about its members." }
            li { "The report states facts about files. It does not say that a law, a standard or an agreement is met: that depends on the context of the release, which a person has to judge." }
        }
        @for release in releases {
            @for known in &release.dependencies {
                @if let Some(reason) = known.accept.as_ref().filter(|reason| !reason.is_empty()) {
                    p { "Accepted: who knows " (super::sentences::list(&known.from)) " knows " (known.to) ". The publisher's reason: " (reason) }
                }
            }
        }
        @if !report.omitted.is_empty() {
            h3 { "Omitted here" }
            p { "This report is for publication. These panels need the private source or a list of people and were omitted:" }
            ul { @for panel in &report.omitted { li { (panel) } } }
        }
        @if let Some(source) = &report.source {
            h3 { "What it was made from" (super::internal()) }
            p { "Source " (source.name) ": " code { (source.digest) } "." }
        }
        @if let Some(policy) = &report.policy {
            details {
                summary { "The policy, " (policy.name) (super::internal()) }
                pre { code { (policy.text) } }
            }
        }
        h3 { "Decision" }
        p { "Who decides that the release may be published, for whom and for what purpose." }
        dl.sign {
            dt { "Recipients and purpose" } dd {}
            dt { "Decision" } dd {}
            dt { "Decided by" } dd {}
            dt { "Date" } dd {}
            dt { "Signature" } dd {}
        }
        h3 { "Check it yourself" }
        p { "Any reader of the files can recompute what this page says of them." }
        @for release in releases {
            @if let Some(digest) = &release.digest {
                p { (release.name) ": " code { (digest) } }
            }
        }
        pre { code {
            @for release in releases { "hedgerow check " (release.name) "\n" }
            "hedgerow audit" @for release in releases { " " (release.name) } "\n"
        } }
    }
}
