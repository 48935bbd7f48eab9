//! The identifiers of the HIPAA Safe Harbor list (45 CFR 164.514(b)(2)), looked for in the released
//! columns where a machine can: by the names of columns and the form of their values. What is not
//! found may still be there under another name; a person decides.

use hedgerow_release::Release;
use hedgerow_release::shape::CODEBOOK;
use hedgerow_table::{Domain, Kind};
use serde::Serialize;

/// Values of a column whose form is looked at.
const VALUES_MAX: u32 = 2000;

/// One item of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SafeHarborItem {
    /// Its letter in the regulation.
    pub item: char,
    pub what: &'static str,
    /// The released columns that look like it.
    pub columns: Vec<String>,
    /// Whether it can be looked for at all.
    pub mechanical: bool,
}

type Form = fn(&str) -> bool;

/// Letter, what it is, words in names of columns, and the form of values.
const ITEMS: [(char, &str, &[&str], Option<Form>); 18] = [
    ('A', "names", &["name", "surname", "firstname", "lastname", "fullname"], None),
    (
        'B',
        "geographic units smaller than a state, beyond three digits of a ZIP code",
        &[
            "address",
            "street",
            "city",
            "county",
            "precinct",
            "district",
            "municipality",
            "town",
            "village",
            "parish",
            "borough",
            "neighborhood",
            "tract",
            "puma",
        ],
        Some(is_long_zip),
    ),
    ('C', "dates more exact than a year, and ages over 89", &["birthdate", "dob", "birthday"], Some(is_exact_date)),
    ('D', "telephone numbers", &["phone", "telephone", "mobile", "cell"], None),
    ('E', "fax numbers", &["fax"], None),
    ('F', "email addresses", &["email", "mail"], Some(is_email)),
    ('G', "social security numbers", &["ssn", "socialsecurity"], Some(is_ssn)),
    ('H', "medical record numbers", &["mrn", "medicalrecord"], None),
    ('I', "health plan beneficiary numbers", &["beneficiary", "healthplan"], None),
    ('J', "account numbers", &["account", "iban"], None),
    ('K', "certificate and license numbers", &["license", "certificate"], None),
    ('L', "vehicle identifiers", &["vin", "plate", "vehicle"], None),
    ('M', "device identifiers", &["device", "imei", "serial"], None),
    ('N', "web addresses", &["url", "website"], Some(is_url)),
    ('O', "IP addresses", &["ip", "ipaddress"], Some(is_ip)),
    ('P', "biometric identifiers", &["fingerprint", "voiceprint", "biometric"], None),
    ('Q', "full-face photographs", &["photo", "image", "portrait"], None),
    ('R', "any other unique identifying number or code", &["id", "uuid", "guid"], None),
];

/// The letter of places.
const GEOGRAPHIC: char = 'B';

/// Names of columns whose numbers are ZIP codes.
const ZIP_CODES: [&str; 5] = ["zip", "zipcode", "zip5", "postcode", "postalcode"];

/// Letters that a machine can say little about.
const NOT_MECHANICAL: [char; 2] = ['P', 'Q'];

/// Looks for every item in the columns of a release.
pub fn safe_harbor(release: &Release) -> Vec<SafeHarborItem> {
    let mut columns: Vec<String> = Vec::new();
    for resource in release.manifest().into_iter().flat_map(|manifest| &manifest.resources) {
        let fields = resource.schema.fields.iter().filter(|_| resource.name != CODEBOOK);
        for field in fields.filter(|field| field.role.is_some() || release.domain(&field.name).is_some()) {
            if !columns.contains(&field.name) {
                columns.push(field.name.clone());
            }
        }
    }
    // Labels and single numbers together are texts; the manifest says that they stand for numbers.
    let stands_for_numbers = |name: &str| {
        let resources = release.manifest().into_iter().flat_map(|manifest| &manifest.resources);
        resources.flat_map(|resource| &resource.schema.fields).any(|field| field.name == name && field.values.is_some())
    };
    let found = |item: char, words: &[&str], form: Option<Form>| {
        let looks_like = |name: &&String| {
            // A number of five digits is an amount of money more often than a ZIP code.
            let is_read = |domain: &&Domain| {
                let is_code = domain.kind() == Kind::Category && !stands_for_numbers(name);
                item != GEOGRAPHIC || is_code || has_word(name, &ZIP_CODES)
            };
            let has_form =
                |form: Form| release.domain(name).filter(is_read).is_some_and(|domain| has_form(domain, form));
            has_word(name, words) || form.is_some_and(has_form)
        };
        columns.iter().filter(looks_like).cloned().collect::<Vec<String>>()
    };
    let item = |(item, what, words, form)| SafeHarborItem {
        item,
        what,
        columns: found(item, words, form),
        mechanical: !NOT_MECHANICAL.contains(&item),
    };
    ITEMS.into_iter().map(item).collect()
}

/// Whether the name of a column has one of the words, or is all of them run together.
fn has_word(name: &str, words: &[&str]) -> bool {
    let small = name.to_lowercase();
    let run_together: String = small.chars().filter(|c| c.is_alphanumeric()).collect();
    let mut parts = small.split(|c: char| !c.is_alphanumeric());
    parts.any(|part| words.contains(&part)) || words.contains(&run_together.as_str())
}

/// Whether some value has the form. Values that fit by accident are rare enough to be looked at.
fn has_form(domain: &Domain, form: Form) -> bool {
    (0..(domain.cardinality() as u32).min(VALUES_MAX)).any(|code| form(&domain.text(code)))
}

fn digits(text: &str) -> usize {
    text.chars().filter(char::is_ascii_digit).count()
}

fn is_long_zip(text: &str) -> bool {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    text.chars().count() == 5 && digits > 3 && text.chars().skip(digits).all(|c| c == '*')
}

/// A day, a month or a quarter, alone or as an end of what a label covers.
fn is_exact_date(text: &str) -> bool {
    let is_number = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
    let is_part_of_year = |part: &str| is_number(part, 2) || matches!(part, "Q1" | "Q2" | "Q3" | "Q4");
    let is_date = |word: &str| match word.split('-').collect::<Vec<_>>()[..] {
        [year, part] => is_number(year, 4) && is_part_of_year(part),
        [year, month, day] => is_number(year, 4) && is_number(month, 2) && is_number(day, 2),
        _ => false,
    };
    text.split([' ', '<', 'T']).any(is_date)
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !text.contains(' '))
}

fn is_ssn(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([3, 2, 4]) && digits(text) == 9
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://") || text.starts_with("www.")
}

fn is_ip(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok() || (text.contains("::") && text.parse::<std::net::Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_are_read_by_words() {
        assert!(has_word("Last Name", &["name"]) && has_word("first_name", &["name"]));
        assert!(!has_word("username", &["name"]) && !has_word("width", &["id"]));
        assert!(has_word("Birth-Date", &["birthdate"]));
    }

    #[test]
    fn values_are_read_by_their_form() {
        assert!(is_long_zip("02139") && is_long_zip("0213*") && !is_long_zip("021**") && !is_long_zip("*****"));
        for exact in
            ["1980-02-03", "1980-02", "1980-Q2", "1980-02-03 to <1980-03-01", "<1980-02-03", "1980-02-03T10:00"]
        {
            assert!(is_exact_date(exact), "{exact}");
        }
        for year in ["1980", "1980 to 1989", "1980-1989", "*", "12-34", "1980s"] {
            assert!(!is_exact_date(year), "{year}");
        }
        assert!(is_email("a@b.org") && !is_email("a @ b.org") && is_ssn("123-45-6789") && !is_ssn("1-2-3"));
        assert!(is_ip("10.0.0.1") && is_ip("fe80::1") && !is_ip("1.5") && is_url("https://a.org") && !is_url("http"));
    }
}
