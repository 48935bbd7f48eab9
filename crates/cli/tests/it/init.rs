//! From a file that nobody prepared to a policy, and from the policy to a release.

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
            let ran = folder.run(&["publish", "tax.toml", "-o", "out", "--force", "--max-seconds", "3"]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let released = folder.read("out/data.csv");
            let header: Vec<&str> = released.lines().next().unwrap().split(',').collect();
            assert!(header.iter().all(|name| !["RECID", "h_seq", "ffpos", "s006"].contains(name)), "{header:?}");
        }
    }
}
