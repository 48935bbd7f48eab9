//! Rules: what must hold against whom, as sentences with sliders.

use hedgerow::{Role, RulesReport};
use maud::{Markup, PreEscaped, html};

use super::models::{MODELS, ModelText, PRESETS, Parameter, Preset, text};
use super::{PageView, count, waiting};
use crate::rule_text::{ModelInText, RuleInText, rules_in};

pub(crate) fn page(view: &PageView<'_>) -> Markup {
    let rules = rules_in(&view.current.text);
    html! {
        p.soft { "All rules must hold. A rule is about an attacker: what the attacker knows, and what the attacker must not learn." }
        @for (index, rule) in rules.iter().enumerate() { (card(view, rule, index)) }
        @if rules.is_empty() { p { "There is no rule: nothing would be protected." } }
        h2 { "Add a rule" }
        (add(view))
        h2 { "Values that others use" }
        (presets(view))
        h2 { "What the rules imply" }
        div #implied.part { (implied(view)) }
    }
}

fn card(view: &PageView<'_>, rule: &RuleInText, index: usize) -> Markup {
    let protect = rule.protect.join(" and ");
    let knowable = names(view, |role| role != Role::Identifier);
    let stamp = rule.stamp();
    html! {
        section.card.rule aria-label={ "Rule " (index + 1) } {
            div.who {
                span.number { (index + 1) }
                span { "An attacker who knows " strong { (know_words(view, rule)) } }
                details #{ "know-" (index) } {
                    summary { "change what the attacker knows" }
                    form hx-post="/rules/know" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
                        input type="hidden" name="rule" value=(index);
                        input type="hidden" name="of" value=(stamp);
                        fieldset.checks {
                            legend.hidden { "Known to the attacker of rule " (index + 1) }
                            label { input #{ "know-all-" (index) } type="checkbox" name="all" value="yes" checked[rule.know.is_none()]; "every quasi-identifier" }
                            @for (place, name) in knowable.iter().enumerate() {
                                @let is_known = match &rule.know { Some(know) => know.contains(name), None => is_quasi(view, name) };
                                label { input #{ "know-" (index) "-" (place) } type="checkbox" name="know" value=(name) checked[is_known] disabled[rule.know.is_none()]; (name) }
                            }
                        }
                    }
                }
            }
            @for (place, model) in rule.models.iter().enumerate() { (sentence(model, (index, place), &protect, &stamp)) }
            div.row.rule-foot {
                @if rule.models.iter().any(|model| text(&model.name).is_none_or(|known| known.needs_protected)) || !rule.protect.is_empty() {
                    form hx-post="/rules/protect" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
                        input type="hidden" name="rule" value=(index);
                        input type="hidden" name="of" value=(stamp);
                        label { "protects " select #{ "protect-" (index) } name="protect" {
                            option value="" selected[rule.protect.is_empty()] { "(nothing)" }
                            @for name in &knowable { option value=(name) selected[rule.protect.len() == 1 && rule.protect[0] == *name] { (name) } }
                            @if rule.protect.len() > 1 || rule.protect.iter().any(|name| !knowable.contains(name)) { option value=(protect) selected disabled { (protect) } }
                        } }
                    }
                }
                form.row hx-post="/rules/add-model" hx-target="#app" hx-swap="outerHTML" {
                    input type="hidden" name="rule" value=(index);
                    input type="hidden" name="of" value=(stamp);
                    label { "and also " select #{ "also-" (index) } name="model" { @for model in MODELS.iter().filter(|model| rule.models.iter().all(|own| own.name != model.name)) { option value=(model.name) { (model.title) } } } }
                    button.small { "Require" span.hidden { " it in rule " (index + 1) } }
                }
                button.small.danger hx-post="/rules/remove" hx-vals=(serde_json::json!({ "rule": index, "of": stamp }).to_string()) hx-target="#app" hx-swap="outerHTML" { "Remove rule " (index + 1) }
            }
        }
    }
}

fn sentence(model: &ModelInText, (index, place): (usize, usize), protect: &str, stamp: &str) -> Markup {
    let protected = if protect.is_empty() { "(choose what it protects)" } else { protect };
    let Some(known) = text(&model.name) else {
        return html! { p.sentence { "must find that " code { (model.name) } " holds." } };
    };
    let several = place > 0;
    html! {
        div.sentence {
            // A form would end a paragraph.
            div.words {
                @if several { "and " }
                (words(known.before, protected)) " "
                @for (parameter, after) in known.parameters {
                    (slider(model, parameter, (index, place), stamp))
                    " " (words(after, protected)) " "
                }
            }
            span.model { (known.title) }
            @if several { button.small hx-post="/rules/remove-model" hx-vals=(serde_json::json!({ "rule": index, "place": place, "of": stamp }).to_string()) hx-target="#app" hx-swap="outerHTML" { "Remove" span.hidden { " " (known.title) } } }
        }
    }
}

fn slider(model: &ModelInText, parameter: &Parameter, (index, place): (usize, usize), stamp: &str) -> Markup {
    let value = model.value(parameter.key).unwrap_or(parameter.first).to_owned();
    let id = format!("{}-{index}-{place}", parameter.key);
    let (low, high) = parameter.range;
    let high = value.parse::<f64>().map_or(high, |value| high.max(value));
    html! {
        form.parameter hx-post="/rules/set" hx-trigger="change" hx-target="#app" hx-swap="outerHTML" {
            input type="hidden" name="rule" value=(index);
            input type="hidden" name="place" value=(place);
            input type="hidden" name="key" value=(parameter.key);
            input type="hidden" name="of" value=(stamp);
            input #{ (id) "-number" } type="number" name="value" value=(value) step="any" min="0" data-twin={ (id) "-slider" } aria-label={ (parameter.key) " of rule " (index + 1) };
            input #{ (id) "-slider" } type="range" value=(value) min=(low) max=(high) step=(parameter.step) data-twin={ (id) "-number" } aria-label={ (parameter.key) " of rule " (index + 1) ", slider" };
        }
    }
}

fn words(text: &str, protected: &str) -> String {
    text.replace("{}", protected)
}

fn know_words(view: &PageView<'_>, rule: &RuleInText) -> String {
    let all = names(view, |role| role == Role::Quasi);
    match &rule.know {
        Some(know) => know.join(", "),
        None if view.policy().is_none() => "every quasi-identifier".to_owned(),
        None if all.is_empty() => "every quasi-identifier (there is none)".to_owned(),
        None => all.join(", "),
    }
}

fn names(view: &PageView<'_>, is_wanted: impl Fn(Role) -> bool) -> Vec<String> {
    let attributes = view.policy().map(|policy| policy.attributes.as_slice()).unwrap_or_default();
    attributes.iter().filter(|attribute| is_wanted(attribute.role)).map(|attribute| attribute.name.clone()).collect()
}

fn is_quasi(view: &PageView<'_>, name: &str) -> bool {
    view.policy().and_then(|policy| policy.attribute(name)).is_some_and(|attribute| attribute.role == Role::Quasi)
}

fn add(view: &PageView<'_>) -> Markup {
    let sensitive = names(view, |role| role == Role::Sensitive);
    let others = names(view, |role| !matches!(role, Role::Sensitive | Role::Identifier));
    html! {
        form.row hx-post="/rules/add" hx-target="#app" hx-swap="outerHTML" {
            label { span { "Model" } select #add-model name="model" { @for ModelText { name, title, .. } in MODELS { option value=(name) { (title) } } } }
            label { span { "Protects" } select #add-protect name="protect" {
                option value="" { "(nothing: re-identification alone)" }
                @for name in sensitive.iter().chain(&others) { option value=(name) selected[sensitive.first() == Some(name)] { (name) } }
            } }
            button #add-rule { "Add rule" }
        }
    }
}

fn presets(view: &PageView<'_>) -> Markup {
    let protect = names(view, |role| role == Role::Sensitive).into_iter().next().unwrap_or_default();
    html! {
        ul.presets {
            @for (place, preset) in PRESETS.iter().enumerate() {
                li {
                    @let is_there = is_in_policy(view, preset, &protect);
                    button.small disabled[is_there] hx-post="/rules/preset" hx-vals=(serde_json::json!({ "preset": place, "protect": protect }).to_string()) hx-target="#app" hx-swap="outerHTML" { (preset.name) }
                    span { (text(preset.model).map_or(preset.model, |model| model.title)) span.soft { ": " (preset.source) } @if is_there { " " span.tag { "in the policy" } } }
                }
            }
        }
    }
}

/// Whether a rule has these very values.
fn is_in_policy(view: &PageView<'_>, preset: &Preset, protect: &str) -> bool {
    let needs_protected = text(preset.model).is_some_and(|model| model.needs_protected);
    let protect = Some(protect).filter(|_| needs_protected);
    let Some((rule, place)) = crate::rule_text::place_of(&view.current.text, preset.model, protect) else {
        return false;
    };
    let rules = rules_in(&view.current.text);
    let model = &rules[rule].models[place];
    preset.parameters.iter().all(|(key, value)| model.value(key) == Some(*value))
}

/// Contradictions, implied rules and the graph, from the data: after every change.
pub(crate) fn implied(view: &PageView<'_>) -> Markup {
    let (Some(policy), Some(data)) = (view.policy().cloned(), view.data.clone()) else { return waiting(view) };
    view.part("Working out what the rules imply", "/rules/implied", move |monitor| {
        Ok(examined(&crate::engine::rules(&policy, &data, monitor)?))
    })
}

fn examined(report: &RulesReport) -> Markup {
    let is_possible = report.impossible.is_empty() && report.rules.iter().all(|rule| rule.possible);
    html! {
        @if is_possible { p.good { "No rule contradicts the data or another rule." } }
        @for problem in &report.impossible { div.notice.bad { p { (problem) } } }
        p.soft { "What an attacker knows ⇸ what stays hidden, numbered as in the graph. Rules that only ask for people who match protect no attribute, and are not in it." }
        table.plain {
            thead { tr { th scope="col" { "number" } th scope="col" { "says" } th scope="col" { "standing" } } }
            tbody { @for rule in &report.rules { tr {
                td { (rule.rule) }
                td { (rule.text) }
                td {
                    @if !rule.possible { strong.bad-text { "impossible: " (count(rule.most_frequent)) " of " (count(rule.rows)) " rows have one value" } }
                    @else if let Some(by) = rule.implied_by { "implied by " (by) }
                    @else if rule.added { "added by a dependency" }
                    @else { "stands by itself" }
                }
            } } }
        }
        div.plot tabindex="0" role="group" aria-label="Rules graph" { (PreEscaped(report.svg())) }
    }
}
