//! The pages, point by point: each kind of hierarchy with what it does level by level, a
//! table in a database, the method found by questions, the colors of the lattice, the sources of
//! values.

use std::collections::HashMap;

use crate::client::{Session, Studio, hospital};

fn opened() -> (tempfile::TempDir, Studio, Session) {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    (folder, studio, session)
}

/// The cells of the rows of the first table of a class.
fn cells(page: &str, class: &str) -> Vec<Vec<String>> {
    let table =
        page.split(class).nth(1).unwrap_or_else(|| panic!("no {class}: {page}")).split("</table>").next().unwrap();
    let body = table.split("<tbody>").nth(1).unwrap();
    let plain = |cell: &str| {
        let mut text = String::new();
        let mut inside = false;
        for c in cell.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => text.push(c),
                _ => {}
            }
        }
        text.trim().to_owned()
    };
    let rows = body.split("<tr>").skip(1);
    rows.map(|row| row.split("<td").skip(1).map(|cell| plain(&format!("<td{cell}"))).collect()).collect()
}

/// Labels and rows singled out of each level, as the page shows them.
fn shown(studio: &Studio, session: &Session, attribute: &str) -> Vec<(String, String)> {
    let page = studio.settled(session, &format!("/hierarchies?attribute={attribute}"));
    cells(&page, "class=\"plain levels\"").into_iter().map(|row| (row[1].clone(), row[4].clone())).collect()
}

/// The same, counted from the file: `label` says what a value becomes at each level.
fn counted(place: usize, levels: usize, label: impl Fn(&str, usize) -> String) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(hospital(false).path().join("patients.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let at = |level: usize| {
        let mut labels: HashMap<String, usize> = HashMap::new();
        let mut classes: HashMap<Vec<String>, usize> = HashMap::new();
        for row in &rows {
            let own = label(row[place], level);
            // The quasi-identifiers: age, zip, sex and the day of admission.
            let seen = (1..5).map(|other| if other == place { own.clone() } else { row[other].to_owned() });
            *classes.entry(seen.collect()).or_default() += 1;
            *labels.entry(own).or_default() += 1;
        }
        (labels.len().to_string(), classes.values().filter(|&&rows| rows == 1).count().to_string())
    };
    (0..levels).map(at).collect()
}

#[test]
fn each_kind_of_hierarchy_shows_what_it_does_level_by_level() {
    let (folder, studio, session) = opened();
    let policy = || std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    let floor = |value: &str, width: u32| (value.parse::<u32>().unwrap() / width).to_string();

    studio.post(&session, "/hierarchies/mask", "attribute=zip&mask=3");
    assert!(policy().contains("zip = { role = \"quasi\", hierarchy = { mask = 3 } }"), "{}", policy());
    let masked = |value: &str, level: usize| value[..value.len() - level.min(3)].to_owned() + &"*".repeat(level.min(3));
    let all = |level: usize, top: usize, label: String| if level == top { "*".to_owned() } else { label };
    assert_eq!(shown(&studio, &session, "zip"), counted(2, 5, |value, level| all(level, 4, masked(value, level))));

    studio.post(&session, "/hierarchies/widths", "attribute=age&widths=10,40");
    assert!(policy().contains("widths = [10, 40]"), "{}", policy());
    let interval = |value: &str, level: usize| match level {
        0 => value.to_owned(),
        1 => floor(value, 10),
        2 => floor(value, 40),
        _ => "*".to_owned(),
    };
    assert_eq!(shown(&studio, &session, "age"), counted(1, 4, interval));

    studio.post(&session, "/hierarchies/cuts", "attribute=age&cuts=30:1,50:2,60:1");
    assert!(policy().contains("breaks"), "{}", policy());
    let cut = |value: &str, level: usize| {
        let age: u32 = value.parse().unwrap();
        match level {
            0 => value.to_owned(),
            1 => [30, 50, 60].iter().filter(|&&at| age >= at).count().to_string(),
            2 => (age >= 50).to_string(),
            _ => "*".to_owned(),
        }
    };
    assert_eq!(shown(&studio, &session, "age"), counted(1, 4, cut));

    studio.post(&session, "/hierarchies/dates", "attribute=admitted&unit=month&unit=year");
    assert!(policy().contains("dates = [\"month\", \"year\"]"), "{}", policy());
    let unit = |value: &str, level: usize| match level {
        0 => value.to_owned(),
        1 => value[..7].to_owned(),
        2 => value[..4].to_owned(),
        _ => "*".to_owned(),
    };
    assert_eq!(shown(&studio, &session, "admitted"), counted(4, 4, unit));

    // Groups: a level more, a new group in it, its name.
    studio.post(&session, "/hierarchies/kind", "attribute=sex&kind=file");
    studio.post(&session, "/hierarchies/add-level", "attribute=sex&level=1");
    studio.post(&session, "/hierarchies/move", "attribute=sex&level=1&member=M&group=men");
    let file = std::fs::read_to_string(folder.path().join("hierarchies/sex.csv")).unwrap();
    assert!(file.lines().any(|line| line.starts_with("M;men;")), "{file}");
    studio.post(&session, "/hierarchies/rename", "attribute=sex&level=1&from=men&to=male");
    let file = std::fs::read_to_string(folder.path().join("hierarchies/sex.csv")).unwrap();
    assert!(file.lines().any(|line| line.starts_with("M;male;")), "{file}");
    let shown = shown(&studio, &session, "sex");
    assert_eq!(shown.first(), counted(3, 1, |value, _| value.to_owned()).first());
    assert_eq!(shown[1].0, "2");
    for bad in [
        ("mask", "attribute=zip&mask=0"),
        ("mask", "attribute=zip&mask=65"),
        ("widths", "attribute=age&widths=ten"),
        ("cuts", "attribute=age&cuts=x:1"),
        ("kind", "attribute=age&kind=mask"),
        ("move", "attribute=zip&level=1&member=M&group=x"),
    ] {
        let before = policy();
        let page = studio.post(&session, &format!("/hierarchies/{}", bad.0), bad.1).body;
        assert!(page.contains("class=\"notice bad\""), "{bad:?}");
        assert_eq!(policy(), before, "{bad:?}");
    }
}

#[test]
fn a_column_of_very_many_values_is_not_grouped_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..20_001).map(|row| format!("street {row},{}\n", row % 3)).collect();
    std::fs::write(folder.path().join("people.csv"), format!("street,ill\n{rows}")).unwrap();
    let policy = "[source]\npath = \"people.csv\"\n[attributes]\nstreet = { role = \"quasi\" }\n\
                  ill = { role = \"sensitive\" }\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";
    std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let page = studio.post(&session, "/hierarchies/kind", "attribute=street&kind=file").body;
    assert!(page.contains("street has 20,001 values: too many to group by hand"), "{page}");
    assert_eq!(std::fs::read_to_string(folder.path().join("policy.toml")).unwrap(), policy);
    assert!(!folder.path().join("hierarchies").exists());
}

/// However many values a hierarchy has, its pages stay small: a browser draws them at each click.
#[test]
fn pages_about_many_values_stay_small() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..10_000).map(|row| format!("street {},{}\n", row % 5000, row % 3)).collect();
    std::fs::write(folder.path().join("people.csv"), format!("street,ill\n{rows}")).unwrap();
    let policy = "[source]\npath = \"people.csv\"\n[attributes]\nstreet = { role = \"quasi\" }\n\
                  ill = { role = \"sensitive\" }\n[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";
    std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let page = studio.post(&session, "/hierarchies/kind", "attribute=street&kind=file").body;
    assert!(page.contains("Undo: groups of street") && page.contains("more lines"), "{page}");
    let page = studio.post(&session, "/hierarchies/move", "attribute=street&level=1&member=street+7&group=Seven").body;
    assert!(page.contains("Undo: street 7 moves to Seven"), "{page}");
    for page in ["hierarchies", "rules", "export"] {
        let bytes = studio.settled(&session, &format!("/{page}")).len();
        assert!(bytes < 150_000, "{page}: {bytes} bytes");
    }
    let file = std::fs::read_to_string(folder.path().join("hierarchies/street.csv")).unwrap();
    assert!(file.lines().count() == 5000 && file.contains("street 7;Seven"), "{file}");
}

#[test]
fn a_table_in_a_database_is_opened_by_its_address() {
    let folder = hospital(true);
    let policy = hedgerow::Policy::load(folder.path().join("policy.toml")).unwrap();
    let database = folder.path().join("people.db");
    let address = format!("sqlite:{}", database.display());
    let released = hedgerow::Publish::new(&policy, &address).run();
    released.unwrap_or_else(|error| panic!("a database with a table: {error}"));
    std::fs::remove_file(folder.path().join("policy.toml")).unwrap();
    let studio = Studio::start(folder.path(), &[]);
    let session = studio.enter();
    studio.post(&session, "/open", "address=sqlite:people.db%3Ftable%3Ddata");
    let page = studio.settled(&session, "/data");
    assert!(page.contains("Histogram of diagnosis") && page.contains("The policy is valid."), "{page}");
    let proposed = std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    assert!(proposed.contains("sqlite:"), "{proposed}");
}

#[test]
fn questions_lead_to_a_method() {
    let (folder, studio, session) = opened();
    let answers = [
        ("others=unseen&cells=levels", "clone"),
        ("others=no&cells=exact", "anatomy"),
        ("others=no&cells=regions", "cluster"),
    ];
    for (query, method) in answers {
        let page = studio.get(&session, &format!("/publish?{query}")).body;
        assert!(page.contains(&format!("Use {method}</button>")), "{query}: {page}");
    }
    let page = studio.get(&session, "/publish?others=no&cells=levels").body;
    assert!(page.contains("The policy says so already."), "{page}");
    let page = studio.get(&session, "/publish?others=seen").body;
    assert!(page.contains("List their releases under Community"), "{page}");
    studio.post(&session, "/publish/set", "key=method&value=anatomy");
    assert!(std::fs::read_to_string(folder.path().join("policy.toml")).unwrap().contains("method = \"anatomy\""));
}

#[test]
fn the_lattice_is_colored_by_what_is_requested() {
    let (_folder, studio, session) = opened();
    studio.post(&session, "/explore/run", "");
    studio.settled(&session, "/explore");
    let shades = |color: &str| {
        let page = studio.get(&session, &format!("/explore?color={color}")).body;
        assert!(page.contains(&format!("value=\"{color}\" selected")), "{color}");
        let lattice = page.split("aria-label=\"Lattice\"").nth(1).unwrap().split("</svg>").next().unwrap();
        // Every combination of levels is there; what breaks a rule is hollow.
        assert_eq!(lattice.matches("<circle").count(), 300);
        assert_eq!(lattice.matches("class=\"blank").count(), 300 - 96);
        lattice
            .split("<circle class=\"")
            .skip(1)
            .map(|node| node.split('"').next().unwrap().replace(" picked", ""))
            .collect()
    };
    let [loss, suppression, risk]: [Vec<String>; 3] = ["loss", "suppression", "risk"].map(shades);
    assert!(loss != suppression && loss != risk && suppression != risk);
    // The coarsest node, on top, loses the most and has the least risk.
    assert!(loss[0].starts_with("heat-5") && risk[0].starts_with("heat-0"), "{} {}", loss[0], risk[0]);
    // A node that breaks a rule says which, and cannot be published.
    let page = studio.settled(&session, "/explore?node=0.0.0.0");
    assert!(page.contains("A rule breaks here.") && !page.contains("id=\"publish-node\""), "{page}");
}

#[test]
fn roles_have_reasons_and_values_have_sources() {
    let folder = hospital(false);
    let studio = Studio::start(folder.path(), &["patients.csv"]);
    let session = studio.enter();
    let page = studio.settled(&session, "/data");
    let cards: Vec<&str> = page.split("<section class=\"card\"").skip(1).collect();
    assert_eq!(cards.len(), 6);
    for card in cards {
        let name = card.split("<h3").nth(1).unwrap().split('<').next().unwrap();
        let reason = card.split("<p class=\"soft\">").nth(1).unwrap_or_default().split("</p>").next().unwrap();
        assert!(reason.len() > 10, "{name}: why {reason:?}");
        assert_eq!(card.matches("aria-pressed=\"true\"").count(), 1, "{name} has one role");
        assert!(card.contains("(proposed)"), "{name}");
    }
    let rules = studio.get(&session, "/rules").body;
    let presets = rules.split("<ul class=\"presets\">").nth(1).unwrap().split("</ul>").next().unwrap();
    let sources: Vec<&str> = presets.split("<span class=\"soft\">: ").skip(1).collect();
    assert!(sources.len() == presets.matches("<li>").count() && sources.len() >= 7);
    let named = |source: &&&str| source.split("</span>").next().unwrap().contains(|c: char| c.is_ascii_uppercase());
    assert_eq!(sources.iter().filter(named).count(), sources.len(), "each is somebody's: {presets}");
}
