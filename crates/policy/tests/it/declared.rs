//! A policy's declarations about values: ranges, orders, date formats, how numbers are written, and
//! what other publishers' texts mean.

use hedgerow_policy::{Kind, Policy};
use hedgerow_table::hierarchy::Bound;

use crate::good::{GOOD, changed, line_refused, parse, refused};

#[track_caller]
fn with_age(keys: &str) -> Policy {
    parse(&changed(5, &format!("age = {{ role = \"quasi\", {keys} }}"))).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
fn age_refused(keys: &str, place: &str, problem: &str, hint: &str) {
    line_refused(5, &format!("age = {{ role = \"quasi\", {keys} }}"), place, problem, hint);
}

#[test]
fn a_range_is_two_numbers_or_dates_and_an_end_may_be_open() {
    let range = |keys: &str| with_age(keys).attribute("age").unwrap().declared.range.clone().unwrap();
    let ages = range("range = [0, 120]");
    assert_eq!((ages.low, ages.high), (Some(Bound::Integer(0)), Some(Bound::Integer(120))));
    assert_eq!(ages.place, "policy.toml:5:25: attributes.age.range");
    assert!(ages.contains(Bound::Integer(120)) && !ages.contains(Bound::Float(120.5)));
    let money = range("range = [0, inf]");
    assert_eq!((money.low, money.high), (Some(Bound::Integer(0)), None));
    assert!(money.contains(Bound::Float(1e300)) && !money.contains(Bound::Integer(-1)));
    assert_eq!(range("range = [-inf, 0.5]").low, None);
    let dates = range("range = [2020-01-01, 2024-12-31]");
    assert!(matches!(dates.low, Some(Bound::Date(_))));
    assert!(!dates.contains(Bound::Integer(3)), "a number is not a date");
}

#[test]
fn a_range_that_declares_nothing_or_contradicts_itself_is_refused() {
    let place = "5:33: attributes.age.range";
    age_refused("range = [0]", place, "found 1 values", "range = [0, 120]");
    age_refused("range = [5, 5]", place, "not above the lowest", "range = [0, 120]");
    age_refused("range = [-inf, inf]", place, "both ends are open", "range = [0, 120]");
    age_refused("range = [0, 2020-01-01]", place, "one end is a number, the other a date", "");
    age_refused("range = [inf, 3]", "5:34: attributes.age.range[1]", "expected a number, found `inf`", "");
    age_refused("range = [0, \"x\"]", "5:37: attributes.age.range[2]", "expected a number or a date", "");
    age_refused("type = \"category\", range = [0, 9]", "5:44: attributes.age.range", "is for numbers", "change `type`");
    age_refused("type = \"date\", range = [0, 9]", "5:40: attributes.age.range", "is for numbers", "change `type`");
    let text = changed(4, "name = { role = \"identifier\", range = [0, 9] }");
    refused(&text, "4:31: attributes.name.range", "never released", "change the role");
}

#[test]
fn an_order_lists_every_text_once() {
    let policy = with_age("order = [\"low\", \"mid\", \"high\"]");
    let attribute = policy.attribute("age").unwrap();
    assert_eq!(attribute.declared.order.as_ref().unwrap().values, ["low", "mid", "high"]);
    assert_eq!(attribute.kind, Some(Kind::Category), "an order is of texts");
    let numbers = with_age("order = [3, 1, 2]").attribute("age").unwrap().declared.order.clone().unwrap();
    assert_eq!(numbers.values, ["3", "1", "2"]);
    age_refused("order = [\"low\"]", "5:33: attributes.age.order", "fewer than two values", "order = [");
    age_refused("order = [\"a\", \"a\"]", "5:39: attributes.age.order[2]", "`a` is listed twice", "once");
    age_refused("type = \"integer\", order = [1, 2]", "5:43: attributes.age.order", "is for texts", "change `type`");
    let both = "range = [0, 9], order = [\"a\", \"b\"]";
    age_refused(both, "5:41: attributes.age.order", "together with `range`", "texts need an `order`");
}

#[test]
fn a_date_format_states_day_month_and_year() {
    let policy = with_age("date-format = \"%d.%m.%Y\"");
    let attribute = policy.attribute("age").unwrap();
    assert_eq!(attribute.declared.date_format.as_ref().unwrap().pattern(), "%d.%m.%Y");
    assert_eq!(attribute.kind, Some(Kind::Date));
    let place = "5:39: attributes.age.date-format";
    age_refused("date-format = \"%d.%m\"", place, "it lacks the year", "%Y");
    age_refused("date-format = \"DD.MM.YYYY\"", place, "describes no date", "%d.%m.%Y");
    let typed = "type = \"integer\", date-format = \"%d.%m.%Y\"";
    age_refused(typed, "5:43: attributes.age.date-format", "is for dates", "change `type`");
    let source = parse(&changed(2, "path = \"patients.csv\"\ndate-format = \"%m/%d/%Y\"")).unwrap().source;
    assert_eq!(source.date_format.unwrap().pattern(), "%m/%d/%Y");
}

#[test]
fn numbers_may_have_commas_and_thousands() {
    let source =
        |lines: &str| parse(&changed(2, &format!("path = \"patients.csv\"\n{lines}"))).map(|policy| policy.source);
    let plain = source("").unwrap();
    assert_eq!((plain.decimal, plain.thousands), ('.', None));
    let german = source("decimal = \",\"\nthousands = \".\"").unwrap();
    assert_eq!((german.decimal, german.thousands), (',', Some('.')));
    assert_eq!(source("thousands = \"'\"").unwrap().thousands, Some('\''));
    let refused = |lines: &str| source(lines).unwrap_err().to_string();
    assert!(refused("thousands = \".\"").contains("separates the fraction already"));
    assert!(refused("decimal = \";\"").contains("expected one of `.` and `,`, found `;`"));
    assert!(refused("thousands = \"..\"").contains("found `..`"));
}

#[test]
fn unique_values_are_allowed_where_values_are_released_as_they_are() {
    let policy = parse(&changed(8, "ward = { role = \"plain\", allow-unique = true }")).unwrap();
    assert!(policy.attribute("ward").unwrap().declared.allow_unique);
    assert!(!policy.attribute("disease").unwrap().declared.allow_unique);
    let place = "5:25: attributes.age.allow-unique";
    age_refused("allow-unique = true", place, "no meaning for an attribute with the role `quasi`", "omit it");
    let line = "ward = { role = \"plain\", allow-unique = \"yes\" }";
    line_refused(8, line, "8:41: attributes.ward.allow-unique", "expected true or false", "allow-unique = true");
}

#[test]
fn other_publishers_texts_are_mapped_to_ours() {
    let community = "[community]\nreleases = [\"../a\"]\n[community.values.disease]\n\"Flu\" = \"influenza\"\nGrippe = \"influenza\"\n";
    let policy = parse(&format!("{GOOD}{community}")).unwrap();
    assert_eq!(policy.community.values[0].attribute, "disease");
    assert_eq!(policy.community.spelling().ours("disease", "Flu"), "influenza");
    assert_eq!(policy.community.spelling().ours("disease", "asthma"), "asthma");
    assert_eq!(policy.community.spelling().ours("ward", "Flu"), "Flu");
    let errors = |text: &str| parse(&format!("{GOOD}[community]\n{text}\n")).unwrap_err().to_string();
    let joint = "[community]\nreleases = [\"../a\"]\njoint = [\"P(age >= 40 | zip >= 20000) = 4/9\"]\n";
    let policy = parse(&format!("{GOOD}{joint}")).unwrap();
    assert_eq!(policy.community.joint[0].to_string(), "P(age >= 40 | zip >= 20000) = 4/9");
    assert!(errors("joint = [\"age >= 40\"]").contains("expected a share such as P(age >= 40"));
    assert!(errors("joint = [\"P(age >= old) = 1/2\"]").contains("is not a condition"));
    assert!(errors("joint = [\"P(age >= 40) = 3/2\"]").contains("is not a share"));
    assert!(errors("values.diseas = {}").contains("unknown attribute `diseas`"));
    assert!(errors("values.disease = { Flu = 3 }").contains("expected a text in quotes"));
    assert!(errors("values = [\"Flu\"]").contains("expected a table, found a list"));
}
