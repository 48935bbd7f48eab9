//! Governance: what the release does not promise, and how anybody can check this page.

use maud::{Markup, html};

use super::cursor::At;

pub(super) fn section(root: &At<'_>, releases: &[At<'_>]) -> Markup {
    let omitted = root.texts_of("omitted");
    html! {
        ul {
            li { "The guarantees are about adversaries who know the attributes listed as known, and nothing more. Who knows a sensitive value, or an attribute that no rule names, may learn more." }
            li { "They are about this release, and about it together with the releases named here. A later release about the same people, or one that was not named, can take from it: audit them together." }
            li { "k-anonymity says nothing about sensitive values; l-diversity and t-closeness say nothing about values that are close in meaning, unless their distance is part of the rule." }
            li { "They are not differential privacy: what is learned about a group is learned about its members." }
            li { "The report states facts about files. It does not say that a law, a standard or an agreement is met: that depends on the context of the release, which a person has to judge." }
        }
        @if !omitted.is_empty() {
            h3 { "Omitted here" }
            p { "This report is for publication. These panels need the private source or a list of people and were omitted:" }
            ul { @for panel in omitted { li { (panel) } } }
        }
        h3 { "Check it yourself" }
        p { "Whoever has the files can recompute what this page says of them." }
        @for release in releases {
            @if let Some(digest) = release.get("digest") {
                p { (release.text_of("name")) ": " code { (digest.text()) } }
            }
        }
        pre { code {
            @for release in releases { "hedgerow check " (release.text_of("name")) "\n" }
            "hedgerow audit" @for release in releases { " " (release.text_of("name")) } "\n"
        } }
    }
}
