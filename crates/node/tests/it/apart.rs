//! Rows that stay with their custodians: every answer is one of all, and the one that the whole
//! release would give.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hedgerow_node::Verifier;
use hedgerow_node::demo::free_ports;
use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::message::{Asking, Frame, FrameContent, Hex, Question};
use hedgerow_node::operator::Request;
use hedgerow_node::part::EpochPart;
use hedgerow_node::store::Store as _;
use hedgerow_node::terms::Terms;
use hedgerow_node::{Unanswered, query};
use hedgerow_policy::Policy;
use postgres::{NoTls, SimpleQueryMessage};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

use crate::example::release_united;
use crate::federation::{Federation, POLICY, dealt, people};
use crate::processes::{adult, adult_policy, alone};
use crate::simulation::{Case, calm_down, count, publish_one, seeds};
use crate::world::{SITES, Trouble, World};

pub(crate) const APART: &str = "rows = \"apart\"\ndeadlines = { silence-s = 6, handshake-s = 3, answer-s = 3 }\n";

const QUESTIONS: [&str; 15] = [
    "SELECT disease, COUNT(*) FROM data GROUP BY disease",
    "SELECT COUNT(*) FROM data WHERE disease = 'flu'",
    "SELECT COUNT(*), AVG(age) FROM data WHERE disease <> 'cold' AND age BETWEEN 25 AND 40",
    "SELECT village, disease, COUNT(*) FROM data WHERE age > 30 OR disease = 'gout' GROUP BY village, disease",
    "SELECT age, COUNT(*) FROM data GROUP BY age",
    "SELECT * FROM data",
    "SELECT disease FROM data WHERE age < 35",
    "SELECT village FROM data WHERE disease = 'flu' AND village = 'hill'",
    "SELECT COUNT(*) FROM data WHERE disease = 'flu' AND age > 1000",
    "SELECT disease FROM data GROUP BY disease",
    "SELECT disease, MIN(age), MAX(age), MEDIAN(age) FROM data GROUP BY disease",
    "SELECT disease, COUNT(*) FROM data GROUP BY disease HAVING COUNT(*) > 3",
    "SELECT village, COUNT(DISTINCT disease) FROM data WHERE age > 30 GROUP BY village",
    "SELECT SUM(CASE WHEN disease = 'flu' AND age > 30 THEN age ELSE 0 END) / COUNT(*) FROM data",
    "SELECT disease, QUANTILE(age, 0.9), STDDEV(age) FROM data GROUP BY disease",
];

/// More combinations of protected values than can be counted.
pub(crate) const TWO_PROTECTED: &str = "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\", range = [0, 99] }\n\
    cost = { role = \"sensitive\", range = [0, 299] }\nstay = { role = \"sensitive\", range = [0, 299] }\n\
    [[rule]]\nrequire = { model = \"k-anonymity\", k = 3 }\n\
    [[rule]]\nprotect = \"cost\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n\
    [[rule]]\nprotect = \"stay\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n\
    [publish]\nmethod = \"mondrian\"\n";

/// Rows have no order, and sums of shares round in the order in which they are added.
pub(crate) fn comparable(mut answer: Value) -> Value {
    fn round(value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(round),
            Value::Object(fields) => fields.values_mut().for_each(round),
            Value::Number(number) if number.is_f64() => {
                *value = Value::from(format!("{:.10e}", number.as_f64().unwrap() + 0.0));
            }
            _ => {}
        }
    }
    round(&mut answer);
    if let Some(rows) = answer["rows"].as_array_mut() {
        rows.sort_by_key(ToString::to_string);
    }
    answer
}

/// Compares answers with those of the release; the number of answers, and the custodians blamed.
fn check_answers(world: &mut World) -> (usize, Vec<String>) {
    let (mut answered, mut blamed) = (0, Vec::new());
    let mut expected: BTreeMap<String, Value> = BTreeMap::new();
    for (_, sql, answer) in std::mem::take(&mut world.answers) {
        match answer {
            Ok(totals) => {
                let found = totals.with_release(|release| hedgerow_audit::query::answer(release, &sql).unwrap());
                let found = serde_json::to_value(found.expect("totals of no rows")).unwrap();
                let expected = expected.entry(sql.clone()).or_insert_with(|| comparable(world.expected(1, &sql)));
                assert_eq!(comparable(found), *expected, "{sql}");
                answered += 1;
            }
            Err(Unanswered::Failed { why, about: name }) => {
                blamed.push(name.unwrap_or_else(|| panic!("no custodian is named: {why}")));
            }
            Err(Unanswered::Refused(error)) => panic!("{sql}: {error}"),
        }
    }
    (answered, blamed)
}

/// Until no client waits for an answer.
fn settle(world: &mut World) {
    for _ in 0..2500 {
        world.step();
        if !world.is_asking() {
            return;
        }
    }
    panic!("a question is open after 25 seconds");
}

/// A node that was started answers when all its peers have confirmed its journal, or after a while.
fn await_confirmation(world: &mut World) {
    for _ in 0..2500 {
        if world.sites.iter().all(|site| site.node.as_ref().is_some_and(|node| node.epoch().is_some())) {
            return;
        }
        world.step();
    }
    panic!("a journal is not confirmed after 25 seconds");
}

#[test]
fn every_site_answers_what_the_whole_release_would() {
    let mut world = World::apart(1);
    world.step();
    publish_one(&mut world);
    for place in 0..SITES {
        for sql in QUESTIONS {
            world.ask(place, sql).unwrap().unwrap();
        }
    }
    settle(&mut world);
    assert_eq!(check_answers(&mut world), (SITES * QUESTIONS.len(), Vec::new()));
    // The class sizes are known: no other node receives such a question.
    let heard = world.questions_at(1).iter().filter(|sql| **sql == QUESTIONS[4]).count();
    assert_eq!(heard, 1);
    let heard = world.questions_at(1).iter().filter(|sql| **sql == QUESTIONS[0]).count();
    assert_eq!(heard, SITES);
    let refused = world.ask(0, "SELECT disease, MODE(age) FROM data GROUP BY disease").unwrap();
    assert!(refused.is_ok(), "it is refused when it is read");
    let (_, _, answer) = world.answers.pop().unwrap();
    assert!(matches!(answer, Err(Unanswered::Refused(_))), "{answer:?}");
}

#[test]
fn lost_late_and_repeated_messages_and_crashes_change_no_answer() {
    let (mut answered, mut blamed, mut crashes) = (0, 0, 0);
    let seeds = seeds(count("HEDGEROW_SIMULATIONS", 24));
    for seed in &seeds {
        let _case = Case::of(*seed);
        let mut world = World::apart(*seed);
        world.step();
        publish_one(&mut world);
        let mut rng = StdRng::seed_from_u64(!*seed);
        let mut draw = |below: u32| rng.random_range(0..=below);
        world.trouble = Trouble { lost: draw(60), twice: draw(100), late: draw(30), crash: draw(6) };
        for step in 0..2000 {
            world.step();
            if step % 15 == 0 {
                world.ask(rng.random_range(0..SITES), QUESTIONS[rng.random_range(0..QUESTIONS.len())]);
            }
        }
        world.end_trouble();
        calm_down(&mut world, "after the trouble");
        settle(&mut world);
        let (found, names) = check_answers(&mut world);
        (answered, blamed, crashes) = (answered + found, blamed + names.len(), crashes + world.crashes);
        // Then all is answered again, at all of them.
        await_confirmation(&mut world);
        for place in 0..SITES {
            world.ask(place, QUESTIONS[3]).unwrap().unwrap();
        }
        settle(&mut world);
        assert_eq!(check_answers(&mut world), (SITES, Vec::new()));
        world.check();
    }
    if seeds.len() > 1 {
        let seeds = seeds.len();
        let enough = answered > 16 * seeds && blamed > seeds / 3 && crashes as usize > seeds / 3;
        assert!(enough, "{answered} answered, {blamed} not, {crashes} crashes");
    }
}

#[test]
fn lost_messages_crashes_and_stalls_change_no_answer_that_is_shuffled() {
    let questions = [
        "SELECT * FROM data",
        "SELECT village, cost, stay FROM data WHERE age > 30",
        "SELECT cost, stay, COUNT(*) FROM data GROUP BY cost, stay",
        "SELECT disease, COUNT(*) FROM data GROUP BY disease",
    ];
    let (mut answered, mut blamed) = (0, 0);
    let seeds = seeds(count("HEDGEROW_SHUFFLES", 12));
    for seed in &seeds {
        let _case = Case::of(*seed);
        let mut world = World::wide(*seed);
        world.step();
        publish_one(&mut world);
        let mut rng = StdRng::seed_from_u64(!*seed);
        let mut draw = |below: u32| rng.random_range(0..=below);
        world.trouble = Trouble { lost: draw(40), twice: draw(100), late: draw(20), crash: draw(4) };
        for step in 0..1200 {
            world.step();
            if step % 150 == 0 {
                world.ask(rng.random_range(0..SITES), questions[rng.random_range(0..questions.len())]);
            }
        }
        world.end_trouble();
        calm_down(&mut world, "after the trouble");
        settle(&mut world);
        let (found, names) = check_answers(&mut world);
        (answered, blamed) = (answered + found, blamed + names.len());
        await_confirmation(&mut world);
        world.ask(rng.random_range(0..SITES), questions[1]).unwrap().unwrap();
        settle(&mut world);
        assert_eq!(check_answers(&mut world), (1, Vec::new()));
        assert!(world.shuffled() > 0, "nothing went through the shuffle");
        world.check();
    }
    assert!(seeds.len() == 1 || (answered > 30 && blamed > 0), "{answered} answered, {blamed} not");
}

#[test]
fn joint_queries_of_another_epoch_are_refused() {
    let mut world = World::apart(3);
    world.step();
    publish_one(&mut world);
    let run = world.sites[0].memory.part(1).unwrap().unwrap().common.run;
    let question = |number: u8| Question {
        id: Hex([number; 16]),
        nonce: Hex([number; 16]),
        epoch: 1,
        run,
        sql: QUESTIONS[0].to_owned(),
        by: "site-1".to_owned(),
        analyst: "ada".to_owned(),
    };
    let wrong = [
        (Question { by: "site-2".to_owned(), ..question(1) }, "in the name of another"),
        (Question { epoch: 2, ..question(2) }, "not published"),
        (Question { epoch: 0, ..question(3) }, "not published"),
        (Question { run: Hex([9; 16]), ..question(4) }, "another run"),
        (Question { sql: " ".repeat(20_000), ..question(5) }, "more than 16384 bytes"),
    ];
    let wrong = wrong.map(|(question, why)| (question.named(), why));
    let under_another_name = Question { sql: QUESTIONS[1].to_owned(), ..question(1).named() };
    for (wrong, why) in wrong.into_iter().chain([(under_another_name, "under the name of another")]) {
        let sent = world.inject(0, 1, FrameContent::Asking(Asking::Ask { question: wrong }));
        let [(to, Frame { content: FrameContent::Asking(Asking::Unanswered { why: found, .. }), .. })] =
            sent.as_slice()
        else {
            panic!("{why}: {sent:?}");
        };
        assert!(to == "site-1" && found.contains(why), "{why}: {found}");
    }
    // SQL that no node would ask for, garbage in a session, and too many questions.
    let bad = Question { sql: "SELECT disease FROM".to_owned(), ..question(6) }.named();
    world.inject(0, 1, FrameContent::Asking(Asking::Ask { question: bad }));
    assert!(!world.is_asking());
    for (analyst, from, taken) in [("ada", 10, 32), ("bob", 100, 32), ("eve", 200, 0)] {
        for number in 0..40 {
            let question = Question { analyst: analyst.to_owned(), ..question(from + number) }.named();
            let sent = world.inject(0, 1, FrameContent::Asking(Asking::Ask { question }));
            let refused = matches!(
                sent.as_slice(),
                [(_, Frame { content: FrameContent::Asking(Asking::Unanswered { .. }), .. })]
            );
            assert_eq!(refused, number >= taken, "{number} of {analyst}");
        }
    }
    assert!(world.is_asking());
    // The end of a question is repeated once, not for every request.
    let id = Question { sql: "SELECT disease FROM".to_owned(), ..question(6) }.named().id;
    let said = |world: &mut World| world.inject(0, 1, FrameContent::Asking(Asking::Again { id })).len();
    assert_eq!([said(&mut world), said(&mut world), said(&mut world)], [1, 0, 0]);
    // Site 1 never takes part in the answers: after a while no node waits for it.
    settle(&mut world);
    world.ask(2, QUESTIONS[0]).unwrap().unwrap();
    settle(&mut world);
    assert_eq!(check_answers(&mut world), (1, Vec::new()));
    // A client that disconnected gets no answer, and no node works on its question.
    world.ask(2, QUESTIONS[0]).unwrap().unwrap();
    world.forget(2);
    settle(&mut world);
    assert_eq!(check_answers(&mut world), (0, Vec::new()));
    world.check();
}

/// The answer of `hedgerow query` over a release.
fn expected(release: &Path, sql: &str) -> Value {
    let release = hedgerow_release::Release::open(release, &hedgerow_table::progress::NoProgress).unwrap();
    comparable(serde_json::to_value(hedgerow_audit::query::answer(&release, sql).unwrap()).unwrap())
}

pub(crate) fn answered(federation: &Federation, place: usize, sql: &str) -> Result<Value, String> {
    let (operator, sql) = ("tester".to_owned(), sql.to_owned());
    federation
        .ask(place, &Request::Query { operator, epoch: 1, sql })
        .map(|mut answer| comparable(answer["answer"].take()))
}

/// Asks until all custodians can be reached.
pub(crate) fn answered_in_time(federation: &Federation, place: usize, sql: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match answered(federation, place, sql) {
            Ok(answer) => return answer,
            Err(why) => assert!(Instant::now() < until, "{why}"),
        }
    }
}

/// Gives the node of a place an endpoint for the analyst `ada`: its port and her password.
fn with_endpoint(federation: &Federation, place: usize) -> (u16, String) {
    let port = free_ports(1).unwrap()[0];
    let (password, verifier) = Verifier::generate().unwrap();
    let path = federation.home(&federation.names[place]).join("node.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let analyst = format!("[[analyst]]\nname = \"ada\"\nverifier = \"{verifier}\"\n");
    fs::write(&path, format!("endpoint = {{ listen = \"127.0.0.1:{port}\" }}\n{settings}\n{analyst}")).unwrap();
    (port, password)
}

#[test]
fn adult_in_parts_is_answered_as_the_release_of_all_rows_is() {
    let ((header, rows), policy) = (adult(2000), adult_policy());
    let folder = tempfile::tempdir().unwrap();
    alone(folder.path(), &policy, &header, &rows);
    let terms = Terms::new(Policy::load(&folder.path().join("policy.toml")).unwrap(), |agreed| agreed).unwrap();
    let questions = [
        "SELECT \"salary-class\", COUNT(*) FROM data GROUP BY \"salary-class\"",
        "SELECT \"salary-class\", COUNT(*), AVG(age) FROM data WHERE age >= 40 GROUP BY \"salary-class\"",
        "SELECT sex, COUNT(*) FROM data WHERE \"salary-class\" = '>50K' AND education = 'Bachelors' GROUP BY sex",
        "SELECT COUNT(*) FROM data WHERE age BETWEEN 30 AND 39 AND race = 'White'",
        "SELECT age, \"salary-class\" FROM data WHERE age < 25 AND workclass = 'Private'",
        "SELECT * FROM data",
    ];
    for sites in [3, 5] {
        let part = |site: usize| {
            // The last one has a single row.
            let owner = |row: usize| if row == 11 { sites - 1 } else { row % (sites - 1) };
            let own = rows.iter().enumerate().filter(|(row, _)| owner(*row) == site).map(|(_, text)| text.as_str());
            std::iter::once(header.as_str()).chain(own).map(|line| format!("{line}\n")).collect::<String>()
        };
        let mut federation = Federation::new(&policy, &(0..sites).map(part).collect::<Vec<_>>(), APART);
        let (port, password) = with_endpoint(&federation, 0);
        (0..sites).for_each(|place| federation.start(place));
        for ending in federation.run(0) {
            assert_eq!(ending["ended"], "published", "{ending}");
        }
        let part = |place: usize| EpochPart::read(&federation.data(place).join("epochs/1")).unwrap().unwrap();
        let release = folder.path().join(format!("of {sites}"));
        release_united(&terms, &(0..sites).map(part).collect::<Vec<_>>(), &release);
        for (number, sql) in questions.into_iter().enumerate() {
            let expected = expected(&release, sql);
            // One who holds all rows knows that none lacks a value; the agreement of custodians
            // declares a missing one, which `*` covers.
            if ![2, 3, 4].contains(&number) {
                assert_eq!(expected, self::expected(&folder.path().join("alone"), sql), "{sql}");
            }
            for place in 0..sites {
                assert_eq!(answered(&federation, place, sql).unwrap(), expected, "{sites} sites, at {place}: {sql}");
            }
        }
        // The same through PostgreSQL's protocol.
        let mut config = postgres::Config::new();
        config.host("127.0.0.1").port(port).user("ada").password(&password).dbname("hedgerow");
        let mut client = config.connect(NoTls).unwrap();
        let mut lines = 0;
        for message in client.simple_query(questions[0]).unwrap() {
            let SimpleQueryMessage::Row(row) = message else { continue };
            lines += 1;
            let class = row.get(0).unwrap();
            let whole = rows.iter().filter(|line| line.ends_with(class)).count();
            assert_eq!(row.get(1).unwrap().parse::<f64>().unwrap(), whole as f64, "{class}");
        }
        assert_eq!(lines, 2);
        let listed = client.simple_query("SELECT column_name FROM information_schema.columns").unwrap();
        assert!(listed.len() > 9, "{listed:?}");
        let refused = client.simple_query("SELECT MODE(age) FROM data").unwrap_err();
        assert_eq!(refused.code().map(postgres::error::SqlState::code), Some("0A000"), "{refused}");
        if let Ok(output) = Command::new("psql")
            .args([
                "-X",
                "-A",
                "-t",
                "-d",
                &format!("host=127.0.0.1 port={port} user=ada dbname=hedgerow sslmode=disable"),
            ])
            .args(["-c", "SELECT COUNT(*) FROM data WHERE \"salary-class\" = '>50K'"])
            .env("PGPASSWORD", &password)
            .output()
        {
            let whole = rows.iter().filter(|line| line.ends_with(">50K")).count();
            assert_eq!(
                String::from_utf8_lossy(&output.stdout).trim(),
                format!("{whole}|{whole}|{whole}"),
                "{output:?}"
            );
        } else {
            assert!(std::env::var_os("HEDGEROW_CI").is_none(), "psql is not here");
        }
        // No node has the rows of others.
        let mut own = 0;
        for place in 0..sites {
            let epoch = federation.data(place).join("epochs/1");
            assert!(!epoch.join("release").exists());
            own += EpochPart::read(&epoch).unwrap().unwrap().own.class.len();
        }
        assert_eq!(own, rows.len());
    }
}

#[test]
fn a_node_that_is_away_is_named_and_what_is_published_survives_a_restart() {
    let mut federation = Federation::started(POLICY, &people(3), APART);
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    let sql = "SELECT disease, COUNT(*) FROM data GROUP BY disease";
    let expected = answered(&federation, 0, sql).unwrap();
    let total: f64 = expected["answer"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["COUNT(*)"]["estimate"].as_str().unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((total - 39.0).abs() < 1e-9, "{expected}");
    federation.signal(2, "-STOP");
    // Both at once, since each waits for the deadline.
    std::thread::scope(|scope| {
        for place in [0, 1] {
            let federation = &federation;
            scope.spawn(move || {
                let began = Instant::now();
                let why = answered(federation, place, sql).unwrap_err();
                assert!(why.contains("site-2") && began.elapsed() < Duration::from_secs(20), "{why}");
            });
        }
    });
    // A question that needs no other node is still answered.
    answered(&federation, 0, "SELECT sex, COUNT(*) FROM data GROUP BY sex").unwrap();
    federation.signal(2, "-CONT");
    assert_eq!(answered_in_time(&federation, 2, sql), expected);
    federation.kill(1);
    let why = answered(&federation, 0, sql).unwrap_err();
    assert!(why.contains("site-1"), "{why}");
    federation.start(1);
    for place in 0..3 {
        assert_eq!(answered_in_time(&federation, place, sql), expected, "at {place}");
    }
    // A part that is lost ends questions, and not the node.
    federation.stop(1);
    let own = query::folder(&federation.data(1), 1).join("part.json");
    let rows = fs::read(&own).unwrap();
    fs::write(&own, &rows[..rows.len() / 2]).unwrap();
    federation.start(1);
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let why = answered(&federation, 0, sql).unwrap_err();
        if why.contains("site-1 gave up: the rows of epoch 1 cannot be read") {
            break;
        }
        assert!(Instant::now() < until, "{why}");
    }
    assert!(answered(&federation, 1, sql).unwrap_err().contains("cannot be read"));
    assert_eq!(federation.status(1)["epoch"], 1);
    fs::write(&own, rows).unwrap();
    assert_eq!(answered_in_time(&federation, 1, sql), expected);
    // A node that has agreed to something else since then says so.
    federation.stop(2);
    let path = federation.home("site-2").join("policy.toml");
    fs::write(&path, POLICY.replace("k = 3", "k = 4")).unwrap();
    federation.start(2);
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let why = answered(&federation, 0, sql).unwrap_err();
        if why.contains("other terms") {
            break;
        }
        assert!(Instant::now() < until, "{why}");
    }
}

#[test]
fn of_questions_that_are_too_large_together_the_same_are_given_up_everywhere() {
    let mut rng = StdRng::seed_from_u64(12);
    let mut row = |_| format!("{},{},{}", rng.random_range(0..100), rng.random_range(0..300), rng.random_range(0..300));
    let rows: Vec<String> = (0..90).map(&mut row).collect();
    let federation = Federation::started(TWO_PROTECTED, &dealt("age,cost,stay", &rows, 3), APART);
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    let sql = "SELECT age, cost, stay FROM data";
    let results: Vec<Result<Value, String>> = std::thread::scope(|scope| {
        let ask = |place: usize| {
            scope.spawn({
                let federation = &federation;
                move || answered(federation, place % 3, sql)
            })
        };
        let asking: Vec<_> = (0..12).map(ask).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    let answers: Vec<&Value> = results.iter().flatten().collect();
    assert!(!answers.is_empty() && answers.iter().all(|answer| *answer == answers[0]), "{results:?}");
    for why in results.iter().filter_map(|result| result.as_ref().err()) {
        assert!(why.contains("too many large questions"), "{why}");
    }
    let until = Instant::now() + Duration::from_secs(30);
    while (0..3).any(|place| federation.status(place)["questions"] != 0) {
        assert!(Instant::now() < until, "a question stays open");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn every_custodian_journals_the_question_and_what_it_opened_and_nobody_sees_rows_of_another() {
    let mut federation = Federation::started(POLICY, &people(3), APART);
    federation.run(0);
    let sql = "SELECT disease, COUNT(*) FROM data WHERE age > 40 GROUP BY disease";
    answered(&federation, 1, sql).unwrap();
    let refused = answered(&federation, 1, "SELECT name FROM data").unwrap_err();
    assert!(refused.contains("the release has no column `name`"), "{refused}");
    (0..3).for_each(|place| federation.stop(place));
    let mut opened = Vec::new();
    for place in 0..3 {
        let (mut queried, mut values) = (Vec::new(), Vec::new());
        read_journal(&federation.data(place), |line| {
            let detail = line.record.detail.value();
            match line.record.what {
                What::Queried if detail["sql"] == sql => {
                    queried.push((line.record.who.clone(), detail["epoch"].clone()))
                }
                What::Disclosed if detail["step"].as_str().is_some_and(|step| step.starts_with("question ")) => {
                    values.push(detail.to_string());
                }
                _ => {}
            }
            Ok(())
        })
        .unwrap();
        let who = if place == 1 { "tester" } else { "tester, at site-1" };
        assert_eq!(queried, [(who.to_owned(), Value::from(1))], "at {place}");
        assert_eq!(values.len(), 1, "{values:?}");
        opened.push(values);
        federation.assert_no_canary(place);
        let epoch = query::folder(&federation.data(place), 1);
        assert_eq!(
            EpochPart::read(&epoch).unwrap().unwrap().own.class.len(),
            12 + place,
            "its own rows, and no others"
        );
    }
    assert!(opened.iter().all(|values| *values == opened[0]), "all saw the same");
}

#[test]
fn rows_that_cannot_be_counted_are_united_by_the_shuffle() {
    let mut rng = StdRng::seed_from_u64(11);
    let mut row = |_| format!("{},{},{}", rng.random_range(0..100), rng.random_range(0..300), rng.random_range(0..300));
    let rows: Vec<String> = (0..120).map(&mut row).collect();
    let folder = tempfile::tempdir().unwrap();
    alone(folder.path(), TWO_PROTECTED, "age,cost,stay", &rows);
    let mut federation = Federation::started(TWO_PROTECTED, &dealt("age,cost,stay", &rows, 3), APART);
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    let release = folder.path().join("alone");
    for sql in [
        "SELECT * FROM data",
        "SELECT age, cost, stay FROM data WHERE cost > 100 AND age < 60",
        "SELECT age, cost, COUNT(*), SUM(stay) FROM data GROUP BY age, cost",
        "SELECT SUM(cost), AVG(stay) FROM data WHERE age BETWEEN 20 AND 70",
    ] {
        assert_eq!(answered(&federation, 2, sql).unwrap(), expected(&release, sql), "{sql}");
    }
    federation.stop(0);
    let mut shuffled = 0;
    read_journal(&federation.data(0), |line| {
        let text = line.record.detail.text();
        shuffled += usize::from(line.record.what == What::Disclosed && text.contains("rows handed in by each"));
        Ok(())
    })
    .unwrap();
    assert!(shuffled >= 2, "{shuffled} questions through the shuffle");
}
