//! From an unprepared file to a policy, and from the policy to a release.

use crate::running::Folder;

/// Issue 20, point 21: what `init` finds stands in the policy, and `publish` reads the file so.
#[test]
fn init_writes_how_numbers_and_dates_are_written() {
    let folder = Folder::new();
    let row = |n: u32| format!("{:02}.{:02}.1980;{},5;{};{}\n", 1 + n % 28, 1 + n % 12, 1000 + n, n % 60, n % 4);
    let rows: String = (0..200).map(row).collect();
    folder.write("people.csv", format!("birthdate;income;age;disease\n{rows}"));
    let ran = folder.run(&["init", "people.csv"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let policy = folder.read("policy.toml");
    assert!(policy.contains("decimal = \",\"\n"), "{policy}");
    assert!(policy.contains("date-format = \"%d.%m.%Y\""), "{policy}");
    assert!(!policy.contains("the other way round"), "{policy}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rows: String = (0..200).map(|n| format!("0{}/0{}/1980,{}\n", 1 + n % 9, 1 + n / 9 % 9, n % 60)).collect();
    folder.write("open.csv", format!("birthdate,age\n{rows}"));
    let ran = folder.run(&["init", "open.csv", "-o", "open.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let policy = folder.read("open.toml");
    assert!(policy.contains("day and month could be the other way round: %m/%d/%Y"), "{policy}");
}

/// 68 columns as tax records have them: a record number, household and person keys, weights, flags,
/// codes and money.
fn tax_records(rows: u64) -> Vec<(String, Vec<String>)> {
    let mix = |row: u64, salt: u64| {
        (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(salt | 1) >> 33
    };
    let column = |name: &str, cell: &dyn Fn(u64) -> u64| {
        (name.to_owned(), (0..rows).map(|row| cell(row).to_string()).collect::<Vec<_>>())
    };
    let household = |row: u64| row * 2 / 5;
    let mut columns = vec![
        column("RECID", &|row| row + 1),
        column("h_seq", &|row| 10 + household(row)),
        column("ffpos", &|row| {
            1 + (0..row).rev().take_while(|other| household(*other) == household(row)).count() as u64
        }),
        column("a_lineno", &|row| 1 + row % 2),
        column("s006", &|row| 20_000 + mix(row, 5) % 60_000),
        column("wt_alt", &|row| 20_000 + mix(row, 7) % 60_000),
        column("FLPDYR", &|_| 2015),
        column("fips", &|row| 1 + mix(row, 11) % 50),
        column("age_head", &|row| 18 + mix(row, 13) % 70),
        column("age_spouse", &|row| if mix(row, 17) % 2 == 0 { 0 } else { 18 + mix(row, 19) % 70 }),
        column("MARS", &|row| 1 + mix(row, 23) % 5),
        column("DSI", &|row| mix(row, 29) % 2),
        column("EIC", &|row| mix(row, 31) % 4),
    ];
    for number in 0..15 {
        columns.push(column(&format!("f{}", 2000 + number), &|row| u64::from(mix(row, 101 + number) % 9 == 0)));
    }
    for number in 0..40 {
        let amount = |row: u64| mix(row, 201 + number) % 90_000;
        columns.push(column(&format!("e{:05}", 200 + 100 * number), &|row| {
            if mix(row, 301 + number) % 4 == 0 { amount(row) } else { 0 }
        }));
    }
    assert_eq!(columns.len(), 68);
    columns
}

/// Issue 20, point 2: whatever the order of the columns, no record number and no household key is
/// released.
#[test]
fn a_record_number_is_never_released() {
    let folder = Folder::new();
    let mut columns = tax_records(300);
    let mut roles: Option<Vec<(String, String)>> = None;
    for turn in 0..6 {
        // 25 and 68 have no common divisor: each turn is another order.
        columns = (0..68).map(|place| columns[place * 25 % 68].clone()).collect();
        columns.rotate_left(turn);
        let mut text = columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",") + "\n";
        for row in 0..300 {
            text.push_str(&columns.iter().map(|(_, cells)| cells[row].as_str()).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        folder.write("tax.csv", text);
        let ran = folder.run(&["init", "tax.csv", "-o", "tax.toml", "--force", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let role = |column: &serde_json::Value| (column["name"].to_string(), column["role"].to_string());
        let mut found: Vec<(String, String)> = found["columns"].as_array().unwrap().iter().map(role).collect();
        found.sort();
        for (name, role) in &found {
            let released = role == "\"quasi\"" || role == "\"sensitive\"" || role == "\"plain\"";
            let key = ["\"RECID\"", "\"h_seq\"", "\"ffpos\"", "\"s006\"", "\"wt_alt\""].contains(&name.as_str());
            assert!(!(released && key), "{name} is proposed as {role}");
        }
        assert_eq!(roles.get_or_insert_with(|| found.clone()), &found, "roles depend on the order");
        if turn < 2 {
            // Whatever is found first has the columns that are released.
            let ran = folder.run(&["publish", "tax.toml", "-o", "out", "--force", "--max-seconds", "1"]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let released = folder.read("out/data.csv");
            let header: Vec<&str> = released.lines().next().unwrap().split(',').collect();
            assert!(header.iter().all(|name| !["RECID", "h_seq", "ffpos", "s006"].contains(name)), "{header:?}");
        }
    }
}

/// Where no other column could be known, names, addresses and record numbers are not proposed as
/// quasi-identifiers either, under any name: the draft releases none of them, or there is nothing
/// to publish.
#[test]
fn identifiers_are_not_known_where_no_better_column_is_there() {
    const FIRST: [&str; 10] = ["Grace", "Anna", "Olga", "Peter", "Hans", "Yusuf", "Chen", "Rosa", "Ivan", "Nina"];
    const LAST: [&str; 13] = [
        "Klein", "Smith", "Novak", "Weber", "Rossi", "Silva", "Tanaka", "Kim", "Brown", "Ali", "Costa", "Haas", "Berg",
    ];
    let folder = Folder::new();
    type Written = fn(usize) -> String;
    let kinds: [(&str, Written); 3] = [
        ("name", |row| format!("{} {}", FIRST[row % 10], LAST[row % 13])),
        ("email", |row| format!("{}{row}@example.org", FIRST[row % 10].to_lowercase())),
        ("id", |row| (1000 + row).to_string()),
    ];
    for (kind, value) in kinds {
        for header in [kind, "V7"] {
            let rows: String = (0..130).map(|row| value(row) + "\n").collect();
            folder.write("alone.csv", format!("{header}\n{rows}"));
            let ran = folder.run(&["init", "alone.csv", "-o", "alone.toml", "--force"]);
            assert_eq!(ran.code, Some(2), "{header}: {ran:?}");
            assert!(ran.stderr.contains("every column identifies a person"), "{header}: {ran:?}");
            let row = |row: usize| format!("{},{}\n", value(row), ["flu", "cold", "ache"][row * row % 3]);
            folder.write("ill.csv", format!("{header},illness\n{}", (0..130).map(row).collect::<String>()));
            let ran = folder.run(&["init", "ill.csv", "-o", "ill.toml", "--force"]);
            assert_eq!(ran.code, Some(0), "{header}: {ran:?}");
            let policy = folder.read("ill.toml");
            let proposed = policy.lines().find(|line| line.starts_with(header)).unwrap_or_default();
            assert!(proposed.contains("role = \"identifier\""), "{kind}: {policy}");
            let ran = folder.run(&["publish", "ill.toml", "-o", "release", "--force", "-q"]);
            assert_eq!(ran.code, Some(0), "{header}: {ran:?}");
            let released = folder.read("release/data.csv") + &folder.read("release/codebook.csv");
            assert!((0..130).all(|row| !released.contains(&value(row))), "{kind} as {header}: {released}");
        }
    }
}

/// The values that make a column of dates or of amounts a text are named, and facts about a number
/// stand in the draft.
#[test]
fn odd_texts_are_named_and_known_ranges_are_drafted() {
    let folder = Folder::new();
    let row = |n: u32| {
        let (day, month, year) = (1 + n % 28, 1 + n % 12, 1950 + n % 50);
        let seen = if n.is_multiple_of(3) {
            format!("{day:02}/{month:02}/{year}")
        } else {
            format!("{year}-{month:02}-{day:02}")
        };
        let income = if n == 7 { "inf".to_owned() } else { (1000 + n * 37 % 9000).to_string() };
        format!("{},{seen},{income},{}\n", 20 + n % 60, ["flu", "cold", "ache"][n as usize % 3])
    };
    let rows: String = (0..300).map(row).collect();
    folder.write("people.csv", format!("age,admitted,income,disease\n{rows}"));
    let ran = folder.run(&["init", "people.csv"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("`admitted` has dates in more than one format"), "{ran:?}");
    assert!(ran.stderr.contains("`income` has numbers and the text \"inf\""), "{ran:?}");
    let policy = folder.read("policy.toml");
    let age = policy.lines().find(|line| line.starts_with("age")).unwrap();
    assert!(age.contains("range = [0, "), "{age}");
    // With the range, sums of the released number have bounds although rows are suppressed; without
    // it the note says which key is missing.
    let rows: String =
        (0..21).map(|n| format!("{},{}\n", if n == 20 { "X" } else { ["F", "M"][n % 2] }, 20 + n)).collect();
    folder.write("pairs.csv", format!("sex,age\n{rows}"));
    for (range, bounded) in [("range = [0, 120]", true), ("type = \"integer\"", false)] {
        folder.write(
            "two.toml",
            format!(
                "[source]\npath = \"pairs.csv\"\n[attributes]\nsex = {{ role = \"quasi\" }}\n\
                 age = {{ role = \"plain\", {range}, allow-unique = true }}\n[[rule]]\n\
                 require = {{ model = \"k-anonymity\", k = 2 }}\n[publish]\nsuppression = 0.2\nmethod = \"full-domain\"\n"
            ),
        );
        let ran = folder.run(&["publish", "two.toml", "-o", "release", "--force", "-q"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let ran = folder.run(&["query", "release", "SELECT SUM(age), AVG(age) FROM data", "--json"]);
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        for name in ["SUM(age)", "AVG(age)"] {
            assert_eq!(answer["answer"][0][name]["possible"].is_number(), bounded, "{answer}");
        }
        let notes = answer["notes"].to_string();
        assert_eq!(notes.contains("`range`"), !bounded, "{notes}");
    }
}

/// A dictionary beside the file says what `V1` is, and that its numbers are codes.
#[test]
fn a_data_dictionary_beside_the_file_gives_codes_their_labels() {
    let folder = Folder::new();
    let mut text = String::from("V1,V2,V3\n");
    for row in 0..120 {
        text.push_str(&format!("{},{},{}\n", 1 + row / 3 % 2, 20 + row % 40, 1 + row * 7 / 3 % 5));
    }
    folder.write("survey.csv", text);
    folder.write(
        "survey-dictionary.csv",
        "name,label,values\nV1,Sex of the respondent,1=male; 2=female\nV2,Age,\nV3,Diagnosis,1=flu;2=cough;3=angina;4=asthma;5=cold\n",
    );
    let ran = folder.run(&["init", "survey.csv", "-o", "policy.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let policy = folder.read("policy.toml");
    let line = |name: &str| policy.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(line("V1").contains("quasi") && line("V1").contains("category"), "{policy}");
    assert!(policy.contains("1 male, 2 female"), "{policy}");
    assert!(line("V2").contains("quasi"), "{policy}");
    assert!(line("V3").contains("sensitive"), "{policy}");
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "release"]).code, Some(0));
    // A file of that name that is no dictionary is said so, and the draft is made without it.
    folder.write("survey-dictionary.csv", "a,b\n1,2\n");
    let ran = folder.run(&["init", "survey.csv", "-o", "policy.toml", "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("not read as a data dictionary"), "{ran:?}");
}

/// Stays of patients who return, with many drugs that few take, as in hospitals: rules for all of
/// them at once would leave one class of all rows.
#[test]
fn a_draft_protects_no_more_than_leaves_a_release_of_use() {
    let folder = Folder::new();
    let mix = |a: u64, b: u64| {
        let z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b.wrapping_mul(0xd134_2543_de82_ef95));
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let row = |n: u64| {
        let patient = mix(n, 1) % 900;
        let of = |salt: u64, values: u64| (mix(patient, salt) % values) as usize;
        let stay = |salt: u64, values: u64| (mix(n, salt) % values) as usize;
        let taken = (0..14).map(|drug| match drug {
            0..2 => ["No", "Steady", "Up"][stay(100 + drug, 3)],
            2..13 => ["No", "Steady"][usize::from(stay(100 + drug, 16) == 0)],
            _ => ["No", "Steady"][usize::from(stay(100 + drug, 300) == 0)],
        });
        let taken: Vec<&str> = taken.collect();
        format!(
            "{},{},{},{},{},{},{},{}\n",
            8_000_000 + patient * 17,
            ["Female", "Male"][of(2, 2)],
            of(3, 9) * 10,
            ["Asian", "Black", "White", "Other"][of(4, 4)],
            1 + stay(5, 14),
            ["MC", "HM", "SP", "BC"][stay(6, 4)],
            ["flu", "asthma", "gout", "angina", "ulcer", "stroke"][stay(7, 6)],
            taken.join(",")
        )
    };
    let rows: String = (0..1300).map(row).collect();
    let drugs: Vec<String> = (1..15).map(|drug| format!("medication_{drug}")).collect();
    let header = "patient_nbr,gender,age,race,time_in_hospital,payer_code,diagnosis";
    folder.write("stays.csv", format!("{header},{}\n{rows}", drugs.join(",")));
    let ran = folder.run(&["init", "stays.csv"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let policy = folder.read("policy.toml");
    let line = |name: &str| policy.lines().find(|line| line.contains(&format!("{name} "))).unwrap_or_default();
    assert!(line("patient_nbr").contains("role = \"unit\""), "{policy}");
    for name in ["diagnosis", "medication_1", "medication_2"] {
        assert!(line(name).contains("role = \"sensitive\"") && !line(name).starts_with('#'), "{name}\n{policy}");
    }
    assert!(line("medication_14").contains("% of the rows agree"), "{policy}");
    let costly =
        ["with its rule beside the others, the release would lose ", "no release was found that keeps its rule"];
    assert!(costly.iter().any(|why| policy.contains(&format!("# omitted: {why}"))), "{policy}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}\n{policy}");
    let loss = ran.stdout.lines().find_map(|line| line.strip_prefix("loss     ncp ")).unwrap();
    let ncp: f64 = loss.split([',', ' ']).next().unwrap().parse().unwrap();
    assert!(ncp < 0.5, "{ncp}\n{policy}");
    assert_eq!(ran.stdout.matches("gender, age, race").count(), 1, "what the attacker knows is stated once\n{ran:?}");
    let ran = folder.run(&["audit", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn long_names_are_on_lines_of_their_own() {
    let folder = Folder::new();
    let name = "Number of visits in the year before the interview";
    let rows: String = (0..40).map(|row| format!("{},{}\n", row % 4, 20 + row)).collect();
    folder.write("people.csv", format!("{name},age\n{rows}"));
    let ran = folder.run(&["init", "people.csv"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let at = lines.iter().position(|line| *line == name).unwrap_or_else(|| panic!("{ran:?}"));
    let types = |line: &str| line.find("integer").unwrap_or_else(|| panic!("{ran:?}"));
    assert_eq!(types(lines[at + 1]), types(lines[at + 2]), "{ran:?}");
    assert!(lines.iter().all(|line| !line.ends_with(' ')), "{ran:?}");
}
