//! The frame around every page: what a browser gets before it shows its key, and the parts that all
//! pages share.

use maud::{DOCTYPE, Markup, html};

use super::{
    PageView, STEPS, aside, community, data, explore, export, hierarchies, open, progress, publish, rules, utility,
};
use crate::engine::Glimpse;
use crate::form::Form;
use crate::server::Server;

/// No page is kept by the browser: it would outlive the studio.
const SETTINGS: &str = r#"{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,"historyCacheSize":0,"refreshOnHistoryMiss":true,"scrollBehavior":"auto","defaultSettleDelay":0,"defaultSwapDelay":0,"responseHandling":[{"code":"[23]..","swap":true},{"code":"[45]..","swap":false,"error":true}]}"#;

fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="robots" content="noindex";
        title { (title) }
        link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
        link rel="stylesheet" href="/assets/marks.css";
        link rel="stylesheet" href="/assets/studio.css";
    }
}

/// The page that redeems the token: it keeps the key and the proof, and goes on.
pub(crate) fn welcome(key: &str, proof: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { (head("Hedgerow studio")) meta name="studio-key" content=(key); meta name="studio-proof" content=(proof); script src="/assets/enter.js" defer {} }
            body { main.alone { p { "Opening the studio …" } } }
        }
    }
}

pub(crate) fn refusal(problem: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { (head("Hedgerow studio")) }
            body { main.alone { h1 { "Hedgerow studio" } p { (problem) } } }
        }
    }
}

/// An empty page that fetches its content with the key.
pub(crate) fn frame(path: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head("Hedgerow studio"))
                meta name="htmx-config" content=(SETTINGS);
                script src="/assets/htmx.min.js" defer {}
                script src="/assets/studio.js" defer {}
                script src="/assets/drag.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the page" }
                div #app data-path=(path) { main.alone { p { "Loading …" } noscript { p { "The studio needs JavaScript." } } } }
                div #status role="status" aria-live="polite" {}
            }
        }
    }
}

/// Everything inside the frame.
pub(crate) fn app(server: &Server, page: &str, query: &Form, notice: Option<&str>) -> Markup {
    let studio = &server.studio;
    let current = studio.current();
    let Some(current) = current else {
        return match studio.glimpse().filter(|_| page == "data") {
            Some(glimpse) => with_a_glimpse(server, &glimpse),
            None => with_nothing_open(server, notice),
        };
    };
    let current = match current {
        Ok(current) => current,
        Err(problem) => return with_document_gone(&problem),
    };
    let data = current
        .policy
        .as_ref()
        .ok()
        .and_then(|policy| studio.data(policy, server.patience))
        .or_else(|| studio.found().data.clone());
    let view = PageView { server, current: &current, data, query };
    let step = STEPS.iter().find(|step| step.path == page).unwrap_or(&STEPS[0]);
    // Before the page: work that ends meanwhile is still followed, and its result is fetched.
    let panel = progress::panel(server, step.path);
    let body = match step.path {
        "hierarchies" => hierarchies::page(&view),
        "rules" => rules::page(&view),
        "publish" => publish::page(&view),
        "explore" => explore::page(&view),
        "utility" => utility::page(&view),
        "community" => community::page(&view),
        "export" => export::page(&view),
        _ => data::page(&view),
    };
    let name = studio.confinement.shown(&current.document.path);
    html! {
        title { (step.name) " · " (name) " · Hedgerow studio" }
        div #app data-page=(step.path) {
            (top(Some(&name)))
            div.columns {
                (steps(step.path))
                main #main tabindex="-1" {
                    h1 { (step.name) " " small { (step.question) } }
                    @if let Some(notice) = notice { div.notice.bad role="alert" data-announce { pre { (hedgerow_report::with_code(&studio.confinement.shortened(notice))) } } }
                    @if source_is_gone(&view) {
                        div.notice.bad role="alert" { p { "The data file does not exist any more. Figures are from when it was read; publishing needs it back." } }
                    }
                    (panel)
                    (body)
                }
                (aside::aside(&view, step.path))
            }
        }
    }
}

fn source_is_gone(view: &PageView<'_>) -> bool {
    view.data.is_some() && view.policy().is_some_and(|policy| crate::engine::stamp(policy).is_none())
}

/// The page on which a table or a policy is opened.
pub(crate) fn with_nothing_open(server: &Server, notice: Option<&str>) -> Markup {
    // A proposal that failed left no policy to go back to.
    let open = server.studio.document().filter(|document| document.path.exists());
    let open = open.map(|document| server.studio.confinement.shown(&document.path));
    html! {
        title { "Hedgerow studio" }
        div #app data-page="open" {
            (top(None))
            div.columns.narrow {
                main #main tabindex="-1" {
                    h1 { "Open a table " small { "with rows about people, to publish it under privacy rules" } }
                    @if let Some(notice) = notice { div.notice.bad role="alert" data-announce { pre { (hedgerow_report::with_code(&server.studio.confinement.shortened(notice))) } } }
                    @if let Some(name) = &open { p { a href="/data" hx-get="/data" hx-target="#app" hx-swap="outerHTML" hx-push-url="true" { "Back to " code { (name) } } } }
                    (progress::panel(server, "data"))
                    (open::page(server))
                }
            }
        }
    }
}

/// The columns of a table, while its policy is proposed.
fn with_a_glimpse(server: &Server, glimpse: &Glimpse) -> Markup {
    html! {
        title { "Data · Hedgerow studio" }
        div #app data-page="data" {
            (top(None))
            div.columns.narrow {
                main #main tabindex="-1" {
                    h1 { (STEPS[0].name) " " small { (STEPS[0].question) } }
                    (progress::panel(server, "data"))
                    (data::glimpse(glimpse))
                }
            }
        }
    }
}

fn with_document_gone(problem: &str) -> Markup {
    html! {
        title { "The policy is gone · Hedgerow studio" }
        div #app data-page="gone" {
            (top(None))
            div.columns.narrow {
                main #main tabindex="-1" {
                    h1 { "The policy cannot be read" }
                    div.notice.bad role="alert" data-announce { pre { (problem) } }
                    p { "If it was deleted or moved, the studio can write it again as it was last read." }
                    div.row {
                        button.primary hx-post="/restore" hx-target="#app" hx-swap="outerHTML" { "Write the policy again" }
                        button hx-get="/data" hx-target="#app" hx-swap="outerHTML" { "Look again" }
                    }
                }
            }
        }
    }
}

fn top(name: Option<&str>) -> Markup {
    html! {
        header.top {
            span.brand { img src="/assets/icon.svg" alt="" width="22" height="22"; span.name { "Hedgerow studio" } }
            @if let Some(name) = name {
                span.file { code { (name) } }
                a.other href="/open" hx-get="/open" hx-target="#app" hx-swap="outerHTML" hx-push-url="true" { "Open another" }
            }
            span.private { "Private: this page shows the data of people." }
        }
    }
}

fn steps(here: &str) -> Markup {
    html! {
        nav.steps aria-label="Steps" {
            ol {
                @for step in STEPS {
                    li {
                        a href={ "/" (step.path) } hx-get={ "/" (step.path) } hx-target="#app" hx-swap="outerHTML" hx-push-url="true"
                            aria-current=[(step.path == here).then_some("page")] { (step.name) }
                    }
                }
            }
        }
    }
}
