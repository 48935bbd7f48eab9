//! Work under way: what is done, how far it is, and the ways to stop it.

use maud::{Markup, html};

use crate::server::Server;

/// The work of this run, where there is some to show on a page.
pub(crate) fn panel(server: &Server, page: &str) -> Markup {
    let Some(job) = server.studio.job() else { return html! {} };
    let standing = job.standing();
    if standing.is_done {
        let Some(problem) = standing.problem.filter(|_| job.page == page) else { return html! {} };
        return html! {
            div #job.notice.bad role="alert" data-announce {
                p { strong { (job.name) } " ended without a result." }
                pre { (hedgerow_report::with_code(&server.studio.confinement.shortened(&problem))) }
                button hx-post="/job/dismiss" hx-vals={ "{\"page\":\"" (page) "\"}" } hx-target="#app" hx-swap="outerHTML" { "Dismiss" }
            }
        };
    }
    let percent = standing.fraction.map(|fraction| (fraction * 100.0).round() as u32);
    // Work looks at intervals whether it was canceled: until then the page says that it was heard.
    let is_canceled = job.cancel.is_canceled();
    let phase = if is_canceled { "canceling".to_owned() } else { standing.phase };
    // The first pictures are fetched as soon as there are some.
    let pictures = if server.studio.glimpse().is_some() { "" } else { "&pictures=no" };
    html! {
        div #job.notice hx-get={ "/job?page=" (page) (pictures) } hx-trigger="every 250ms" hx-target="#job" hx-swap="outerHTML" {
            p { strong { (job.name) } " · " (phase) @if let Some(percent) = percent { " " (percent) " %" } " · " (format!("{:.0} s", job.seconds())) }
            @match standing.fraction {
                Some(fraction) => progress max="1" value=(fraction) aria-label=(job.name) {},
                None => progress aria-label=(job.name) {},
            }
            @if let Some(found) = standing.found { p { "Best so far: " (found) } }
            div.row {
                @if job.can_finish_early && !is_canceled {
                    button #finish-early hx-post="/job/finish" hx-vals={ "{\"page\":\"" (page) "\"}" } hx-target="#job" hx-swap="outerHTML" { "Take the best found so far" }
                }
                button #cancel-job disabled[is_canceled] hx-post="/job/cancel" hx-vals={ "{\"page\":\"" (page) "\"}" } hx-target="#job" hx-swap="outerHTML" { "Cancel" }
            }
        }
    }
}

/// The answer to a poll: the panel, or an order to fetch the whole page once the work has ended or
/// has more to show than the page.
pub(crate) fn poll(server: &Server, page: &str, has_pictures: bool) -> Markup {
    let is_behind = !has_pictures && page == "data" && server.studio.glimpse().is_some();
    if !is_behind && server.studio.job().is_some_and(|job| !job.is_done()) {
        return panel(server, page);
    }
    html! { div #job hx-get={ "/" (page) } hx-trigger="load" hx-target="#app" hx-swap="outerHTML" {} }
}
