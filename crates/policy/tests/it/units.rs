//! The unit that a row is about: the role `unit`, `unit` of the source, and the keys that count
//! units.

use hedgerow_policy::{KnownRows, Role};

use crate::good::{GOOD, changed, line_refused, parse, refused};

#[test]
fn a_unit_is_an_attribute_or_a_column_of_the_source() {
    let by_role = parse(&changed(4, "name = { role = \"unit\" }")).unwrap();
    let by_source = parse(&changed(2, "path = \"patients.csv\"\nunit = \"name\"")).unwrap();
    let unnamed = parse(&changed(2, "path = \"patients.csv\"\nunit = [\"name\", \"site\"]")).unwrap();
    for policy in [&by_role, &by_source, &unnamed] {
        assert_eq!(policy.attribute("name").unwrap().role, Role::Unit);
        assert!(policy.has_units() && policy.warnings.is_empty(), "{:?}", policy.warnings);
        assert!(policy.rules.iter().all(|rule| rule.rows == KnownRows::All));
    }
    let names: Vec<&str> = unnamed.units().map(|unit| unit.name.as_str()).collect();
    assert_eq!(names, ["name", "site"]);
    assert!(!parse(GOOD).unwrap().has_units());
}

#[test]
fn a_released_attribute_cannot_be_a_unit() {
    let text = changed(2, "path = \"patients.csv\"\nunit = \"ward\"");
    refused(&text, "3:1: source.unit", "has the role `plain`", "role `unit`");
    line_refused(2, "path = \"patients.csv\"\nunit = []", "3:8: source.unit", "names no column", "unit = ");
    line_refused(2, "path = \"patients.csv\"\nunit = [\"a\", \"a\"]", "3:14: source.unit[2]", "twice", "once");
    let unit = changed(4, "name = { role = \"unit\" }");
    let known = unit.replace("k-anonymity\", k = 5 }", "k-anonymity\", k = 5 }\nknow = [\"name\"]");
    refused(&known, "11:9: rule[1].know[1]", "is a unit: it is never released", "`quasi`");
    let protected = unit.replace("protect = \"disease\"", "protect = \"name\"");
    assert!(parse(&protected).unwrap_err().to_string().contains("says whom a row is about"));
    let hierarchy = changed(4, "name = { role = \"unit\", hierarchy = { mask = 2 } }");
    refused(&hierarchy, "4:25: attributes.name.hierarchy", "never released as it is", "remove");
    let range = changed(4, "name = { role = \"unit\", range = [0, 9] }");
    refused(&range, "4:25: attributes.name.range", "a unit is never released", "remove");
}

#[test]
fn keys_about_units_need_a_unit() {
    let one = changed(10, "require = { model = \"k-anonymity\", k = 5 }\nrows = \"one\"");
    assert!(parse(&one).unwrap_err().to_string().contains("`rows` has no meaning without a unit"));
    let linked = changed(15, "method = \"full-domain\"\nlink = true");
    assert!(parse(&linked).unwrap_err().to_string().contains("`link = true` has no meaning without a unit"));
    let with_unit = |text: &str| text.replace("role = \"identifier\"", "role = \"unit\"");
    let policy = parse(&with_unit(&one)).unwrap();
    assert_eq!(policy.rules.iter().map(|rule| rule.rows).collect::<Vec<_>>(), [KnownRows::One, KnownRows::All]);
    assert_eq!(policy.warnings.len(), 1, "{:?}", policy.warnings);
    assert!(policy.warnings[0].problem.contains("one row of a unit"), "{:?}", policy.warnings);
    assert!(parse(&with_unit(&linked)).unwrap().publish.link);
    let two = with_unit(&changed(10, "require = { model = \"k-anonymity\", k = 5 }\nrows = \"two\""));
    refused(&two, "11:8: rule[1].rows", "unknown number of rows", "`all`");
}
