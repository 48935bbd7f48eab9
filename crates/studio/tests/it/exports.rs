//! Downloads: the policy, the release, reports, hierarchies and commands; and
//! hierarchies that come in.

use crate::client::{Session, Studio, hospital};

fn published() -> (tempfile::TempDir, Studio, Session) {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    studio.post(&session, "/publish/run", "destination=release");
    assert!(studio.settled(&session, "/publish").contains("class=\"verified\""));
    (folder, studio, session)
}

#[test]
fn everything_can_be_downloaded_once() {
    let (folder, studio, session) = published();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(studio.download(&session, "policy:").unwrap().body, read("policy.toml"));
    let page = studio.get(&session, "/export").body;
    for name in ["data.csv", "codebook.csv", "datapackage.json"] {
        assert!(page.contains(&format!("data-download=\"release:{name}\"")), "{page}");
        let reply = studio.download(&session, &format!("release:{name}")).unwrap();
        assert_eq!(reply.body, read(&format!("release/{name}")), "{name}");
        let attached = reply.header("content-disposition").unwrap();
        assert_eq!(attached, format!("attachment; filename=\"{name}\""));
    }
    let absent =
        ["release:../policy.toml", "release:/etc/passwd", "hierarchy:none", "report:internal", "x", "nodes:csv"];
    for what in absent {
        assert_eq!(studio.download(&session, what).unwrap().status, 404, "{what}");
    }

    studio.post(&session, "/utility/measure", "page=export");
    assert!(studio.settled(&session, "/export").contains("Download the report for readers"));
    let internal = studio.download(&session, "report-file:internal").unwrap().body;
    let readers = studio.download(&session, "report-file:publishable").unwrap().body;
    assert!(internal.starts_with("<!DOCTYPE html>") && readers.starts_with("<!DOCTYPE html>"));
    assert!(internal.contains("patients.csv") && !readers.contains("patients.csv"), "the source is for the custodian");
    let shown = studio.download(&session, "report:internal").unwrap();
    assert!(shown.header("content-security-policy").unwrap().contains("sandbox"), "a report runs no script");
    studio.post(&session, "/explore/run", "");
    studio.settled(&session, "/explore");
    assert!(studio.download(&session, "nodes:csv").unwrap().body.lines().count() > 90);
    assert!(studio.download(&session, "nodes:svg").unwrap().body.contains("<svg"));

    let link = studio.link(&session, "policy:");
    assert_eq!(studio.follow(&session, &link).status, 200);
    assert_eq!(studio.follow(&session, &link).status, 404, "a link works once");
}

#[test]
fn a_hierarchy_goes_out_and_comes_back() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let policy = || std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    let levels = |page: String| {
        page.split("class=\"plain levels\"").nth(1).unwrap().split("</table>").next().unwrap().to_owned()
    };
    for attribute in ["age", "zip", "sex", "admitted"] {
        let before = levels(studio.settled(&session, &format!("/hierarchies?attribute={attribute}")));
        let file = studio.download(&session, &format!("hierarchy:{attribute}")).unwrap().body;
        assert!(file.lines().all(|line| line.split(';').count() >= 2 && line.ends_with(";*")), "ARX's layout: {file}");
        let name = format!("/upload?as=hierarchy&name=hierarchies%2F{attribute}.csv&attribute={attribute}");
        let reply = studio.post_bytes(&session, &name, file.as_bytes(), None);
        assert_eq!((reply.status, reply.body.as_str()), (200, ""), "{attribute}");
        assert!(policy().contains(&format!("hierarchies/{attribute}.csv")), "{}", policy());
        let after = levels(studio.settled(&session, &format!("/hierarchies?attribute={attribute}")));
        assert_eq!(before, after, "{attribute}: the same levels, labels and counts");
    }
    // The same file again gets a name of its own, and what is not a hierarchy is not kept.
    let again = studio.download(&session, "hierarchy:age").unwrap().body;
    studio.post_bytes(
        &session,
        "/upload?as=hierarchy&name=hierarchies%2Fage.csv&attribute=age",
        again.as_bytes(),
        None,
    );
    assert!(policy().contains("hierarchies/age-2.csv"), "{}", policy());
    let before = policy();
    for noise in [&b""[..], b"only one column\n", b"a;b\nc;d;e\n", b"\xff\xfe\x00", b"\"a;b\n"] {
        let bad =
            studio.post_bytes(&session, "/upload?as=hierarchy&name=hierarchies%2Fbad.csv&attribute=age", noise, None);
        assert!(bad.body.contains("nothing was kept"), "{noise:?}: {}", bad.body);
    }
    assert_eq!(policy(), before);
    assert!(!folder.path().join("hierarchies/bad.csv").exists());
}

#[test]
fn a_node_that_was_chosen_is_in_the_command() {
    let (folder, studio, session) = published();
    studio.post(&session, "/explore/run", "");
    let page = studio.settled(&session, "/explore");
    assert!(page.contains("96 of 300") && page.contains("One level less"), "{page}");
    assert!(page.contains("Risk against loss") && page.contains("<polyline"), "{page}");
    studio.post(&session, "/explore/publish", "node=4.3.0.2&destination=chosen");
    let page = studio.settled(&session, "/publish");
    assert!(page.contains("age = 4, zip = 3, sex = 0, admitted = 2"), "{page}");
    let export = studio.get(&session, "/export").body;
    let command = "hedgerow publish policy.toml -o chosen --levels 'age=4,zip=3,sex=0,admitted=2'";
    assert!(export.contains(&command.replace('\'', "&#39;")) || export.contains(command), "{export}");
    let policy = hedgerow::Policy::load(folder.path().join("policy.toml")).unwrap();
    let levels = [("age", 4), ("zip", 3), ("sex", 0), ("admitted", 2)].map(|(name, level)| (name.to_owned(), level));
    let there = folder.path().join("there");
    hedgerow::Publish::new(&policy, &there).levels(levels.to_vec()).run().unwrap();
    let rows = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join(name).join("data.csv")).unwrap();
        let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
        rows.sort();
        rows
    };
    assert_eq!(rows("chosen"), rows("there"), "what the command makes");

    // Methods beside the nodes, with the error of queries.
    studio.post(&session, "/publish/compare", "");
    let compared = studio.settled(&session, "/publish");
    let table = compared.split("id=\"compared\"").nth(1).unwrap();
    for method in ["full-domain", "mondrian", "best-cut", "cluster"] {
        let row = table.split(&format!("<td>{method}</td>")).nth(1).unwrap().split("</tr>").next().unwrap();
        let cells: Vec<&str> =
            row.split("<td class=\"n\">").skip(1).map(|cell| cell.split('<').next().unwrap()).collect();
        assert!(cells.len() == 6 && cells[4].ends_with(" %"), "{method}: {cells:?}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{method}: {cells:?}");
    }
    let curve = studio.get(&session, "/explore").body;
    assert!(curve.contains("rotate(45") && curve.contains(">mondrian</text>"), "methods are in the trade-off");
}
