//! Scripts and styles, compiled into the program. `htmx.min.js` is htmx 2.0.11 as published on npm,
//! under the Zero-Clause BSD license (`assets/LICENSE-htmx`); everything else is ours.

/// The content and the media type of an asset.
pub(crate) fn find(path: &str) -> Option<(&'static str, &'static str)> {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    const STYLE: &str = "text/css; charset=utf-8";
    Some(match path {
        "/assets/htmx.min.js" => (include_str!("../assets/htmx.min.js"), SCRIPT),
        "/assets/studio.js" => (include_str!("../assets/studio.js"), SCRIPT),
        "/assets/drag.js" => (include_str!("../assets/drag.js"), SCRIPT),
        "/assets/enter.js" => (include_str!("../assets/enter.js"), SCRIPT),
        "/assets/studio.css" => (include_str!("../assets/studio.css"), STYLE),
        "/assets/marks.css" => (hedgerow_report::pictures::STYLE, STYLE),
        "/assets/icon.svg" => (include_str!("../assets/icon.svg"), "image/svg+xml"),
        _ => return None,
    })
}
