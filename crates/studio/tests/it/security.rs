//! Each attack, tried: a used token, a guessed cookie, a cookie without the key, another host's
//! name, another page's request, a path that climbs out.

use crate::client::{Studio, hospital};

/// A value of the private table.
const SECRET: &str = "Histogram of diagnosis";

#[test]
fn the_address_works_once() {
    let folder = hospital(true);
    let mut studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    assert!(studio.settled(&session, "/data").contains(SECRET));
    let again = studio.raw(&format!("GET /?token={}", studio.token), &[("Host", &studio.host())], b"");
    assert_eq!(again.status, 403);
    assert!(again.header("set-cookie").is_none());
    for wrong in ["", "0", &"0".repeat(64), &studio.token[..63]] {
        assert_eq!(studio.raw(&format!("GET /?token={wrong}"), &[("Host", &studio.host())], b"").status, 403);
    }
    // Enter in the terminal lets another browser in, and the first stays.
    studio.token = studio.new_token();
    let second = studio.enter();
    assert_ne!(session.cookie, second.cookie);
    assert!(studio.get(&second, "/data").body.contains(SECRET));
    assert!(studio.get(&session, "/data").body.contains(SECRET));
    let mixed = crate::client::Session { cookie: session.cookie, key: second.key };
    assert_eq!(studio.get(&mixed, "/data").status, 403, "the key belongs to its cookie");
}

#[test]
fn another_user_of_the_machine_gets_nothing() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let host = studio.host();
    let guessed = format!("hedgerow-studio-{}={}", studio.port, "0".repeat(64));
    for cookie in ["", &guessed, "hedgerow-studio=1"] {
        for path in ["/", "/data", "/rules", "/job", "/policy.toml", "/once/1", "/upload"] {
            let headers = [("Host", host.as_str()), ("Cookie", cookie), ("X-Studio-Key", &session.key)];
            assert_eq!(studio.raw(&format!("GET {path}"), &headers, b"").status, 403, "{path}");
        }
    }
    // A cookie goes to every port of the host, so it alone shows nothing.
    let cookie_alone = studio.raw("GET /data", &[("Host", &host), ("Cookie", &session.cookie)], b"");
    assert_eq!(cookie_alone.status, 200);
    assert!(!cookie_alone.body.contains("diagnosis") && !cookie_alone.body.contains("policy.toml"));
    let origin = format!("http://{host}");
    let headers = [("Host", host.as_str()), ("Origin", &origin), ("Cookie", &session.cookie), ("Content-Length", "0")];
    assert_eq!(studio.raw("POST /undo", &headers, b"").status, 403);
}

#[test]
fn other_names_for_this_host_are_refused() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let port = studio.port;
    let own = studio.host();
    let mut hosts = vec!["evil.example".to_owned(), format!("evil.example:{port}"), "127.0.0.1".to_owned()];
    hosts.extend([
        format!("127.0.0.2:{port}"),
        format!("0.0.0.0:{port}"),
        format!("{own}.evil.example"),
        String::new(),
    ]);
    for host in &hosts {
        let headers = [("Host", host.as_str()), ("Cookie", &session.cookie), ("X-Studio-Key", &session.key)];
        let reply = studio.raw("GET /data", &headers, b"");
        assert!([400, 403].contains(&reply.status) && !reply.body.contains(SECRET), "{host}: {}", reply.status);
        let reply = studio.raw(&format!("GET /?token={}", studio.token), &[("Host", host)], b"");
        assert!([400, 403].contains(&reply.status), "{host}");
    }
    let twice =
        [("Host", own.as_str()), ("Host", "evil.example"), ("Cookie", &session.cookie), ("X-Studio-Key", &session.key)];
    assert_ne!(studio.raw("GET /data", &twice, b"").status, 200);
    let none = [("Cookie", session.cookie.as_str()), ("X-Studio-Key", &session.key)];
    assert_ne!(studio.raw("GET /data", &none, b"").status, 200);
    let headers = [("Host", format!("localhost:{port}")), ("Cookie", session.cookie), ("X-Studio-Key", session.key)];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(studio.raw("GET /data", &headers, b"").status, 200);
}

#[test]
fn other_pages_cannot_act_or_look() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let before = std::fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    let (host, body) = (studio.host(), b"name=age&role=plain");
    let length = body.len().to_string();
    let own = format!("http://{host}");
    let other_port = format!("http://127.0.0.1:{}", studio.port.wrapping_add(1));
    for origin in
        [Some("http://evil.example"), Some("null"), Some("https://127.0.0.1"), Some(&other_port), Some(""), None]
    {
        let mut headers = vec![("Host", host.as_str()), ("Cookie", &session.cookie), ("X-Studio-Key", &session.key)];
        headers.push(("Content-Length", &length));
        headers.extend(origin.map(|origin| ("Origin", origin)));
        assert_eq!(studio.raw("POST /data/role", &headers, body).status, 403, "{origin:?}");
        if origin.is_some() {
            assert_eq!(studio.raw("GET /data", &headers[..3], b"").status, 200);
            headers.remove(3);
            assert_eq!(studio.raw("GET /data", &headers, b"").status, 403, "{origin:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("policy.toml")).unwrap(), before);
    // A picture, a frame or a script of another page.
    for (site, destination) in [("cross-site", "iframe"), ("same-site", "image"), ("cross-site", "script")] {
        let headers = [
            ("Host", host.as_str()),
            ("Cookie", &session.cookie),
            ("Sec-Fetch-Site", site),
            ("Sec-Fetch-Dest", destination),
        ];
        assert_eq!(studio.raw("GET /data", &headers, b"").status, 403, "{site} {destination}");
    }
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE"] {
        let headers =
            [("Host", host.as_str()), ("Origin", &own), ("Cookie", &session.cookie), ("X-Studio-Key", &session.key)];
        assert_eq!(studio.raw(&format!("{method} /data"), &headers, b"").status, 405, "{method}");
    }
}

#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let host = studio.host();
    let own = [("Host", host.as_str()), ("Cookie", session.cookie.as_str())];
    for reply in [
        studio.get(&session, "/data"),
        studio.raw("GET /data", &own, b""),
        studio.raw("GET /", &own[..1], b""),
        studio.raw("GET /assets/studio.js", &own[..1], b""),
    ] {
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    let cookie = studio.raw("GET /", &[("Host", &host)], b"");
    assert_eq!(cookie.header("set-cookie"), None);
    let page = studio.get(&session, "/data").body;
    assert!(
        !page.contains(" style=\"") && !page.contains("<script") && !page.contains(" onclick"),
        "nothing that the policy forbids"
    );
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let folder = hospital(true);
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.csv");
    std::fs::write(&secret, "a,b\n1,2\n3,4\n").unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    for path in [
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/main.rs",
        "/../policy.toml",
        "/policy.toml",
        "//etc/passwd",
        "/once/../policy.toml",
    ] {
        assert_ne!(studio.get(&session, path).status, 200, "{path}");
    }
    let climbing = format!("..%2F{}%2Fsecret.csv", outside.path().file_name().unwrap().to_string_lossy());
    for name in [climbing.as_str(), secret.to_str().unwrap(), "%2Fetc%2Fpasswd", "..%00"] {
        let reply = studio.post(&session, "/open", &format!("data={name}"));
        assert!(reply.body.contains("not a file in"), "{name}: {}", reply.body);
        let reply = studio.post(&session, "/open", &format!("address=sqlite:{name}"));
        assert!(reply.body.contains("not a file in"), "{name}");
        let reply = studio.post(&session, &format!("/upload?as=data&name={name}"), "a,b\n1,2\n");
        assert!(reply.body.contains("is not a name for a file here"), "{name}: {}", reply.body);
        let reply = studio.post(&session, "/publish/run", &format!("destination={name}"));
        assert!(reply.body.contains("is not a name for a file here"), "{name}");
    }
    let left: Vec<_> = std::fs::read_dir(outside.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["secret.csv"]);
}

/// A policy and the description of a table can come from elsewhere; neither leads out.
#[test]
fn no_file_in_the_folder_leads_out_of_it() {
    let folder = hospital(true);
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.csv");
    std::fs::write(&secret, "age,zip,sex,illness\n41,12345,f,topsecret\n42,12345,m,topsecret\n").unwrap();
    let shown = secret.display();
    let roles = "age = { role = \"quasi\" }\nillness = { role = \"sensitive\" }\n";
    let rule = "[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";
    let evil = format!("[source]\npath = \"{shown}\"\n[attributes]\n{roles}{rule}");
    std::fs::write(folder.path().join("evil.toml"), &evil).unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let opens = |name: &str| {
        studio.post(&session, "/open", &format!("policy={name}"));
        let pages = ["/data", "/hierarchies", "/rules", "/publish", "/explore", "/community"];
        pages.map(|page| studio.settled(&session, page)).concat()
    };
    let pages = opens("evil.toml");
    assert!(pages.contains("leads out of the folder") && !pages.contains("topsecret"), "{pages}");
    assert!(studio.post(&session, "/publish/run", "destination=stolen").body.contains("mend them first"));
    let climbing = evil.replace(
        &shown.to_string(),
        &format!("../{}/secret.csv", outside.path().file_name().unwrap().to_string_lossy()),
    );
    std::fs::write(folder.path().join("evil.toml"), climbing).unwrap();
    assert!(!opens("evil.toml").contains("topsecret"));
    let hierarchy = format!(
        "[source]\npath = \"patients.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = \"{shown}\" }}\n{rule}"
    );
    std::fs::write(folder.path().join("evil.toml"), hierarchy).unwrap();
    let pages = opens("evil.toml");
    assert!(pages.contains("leads out of the folder") && !pages.contains("topsecret"), "{pages}");

    // A description, a link to a file, and a link to a folder.
    let theirs = folder.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("release.toml"), format!("[source]\npath = \"{shown}\"\n[attributes]\n{roles}"))
        .unwrap();
    let audited = |name: &str| {
        let reply = studio.post(&session, "/community/audit", &format!("release={name}")).body;
        reply + &studio.settled(&session, "/community")
    };
    opens("policy.toml");
    let page = audited("theirs");
    assert!(page.contains("lies outside of") && !page.contains("topsecret"), "{page}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        std::fs::write(theirs.join("release.toml"), format!("[source]\npath = \"t.csv\"\n[attributes]\n{roles}"))
            .unwrap();
        symlink(&secret, theirs.join("t.csv")).unwrap();
        assert!(!audited("theirs").contains("topsecret"));
        symlink(outside.path(), folder.path().join("linked")).unwrap();
        symlink(&secret, folder.path().join("linked.csv")).unwrap();
        for name in ["linked.csv", "linked%2Fsecret.csv"] {
            let reply = studio.post(&session, "/open", &format!("data={name}")).body;
            assert!(reply.contains("not a file in"), "{name}: {reply}");
        }
        let reply = studio.post(&session, "/publish/run", "destination=linked%2Frelease").body;
        assert!(reply.contains("it leads elsewhere"), "{reply}");
        let reply = studio.post_bytes(&session, "/upload?as=release&name=community%2Fx", b"x", None);
        assert_eq!(reply.status, 200);
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1, "nothing was written there");
}

/// A policy of the command line may lie elsewhere, and may name files that lie elsewhere.
#[test]
fn what_the_command_line_names_may_lie_elsewhere() {
    let (folder, elsewhere) = (hospital(true), hospital(false));
    let policy = folder.path().join("policy.toml");
    let text = std::fs::read_to_string(&policy).unwrap();
    let data = elsewhere.path().join("patients.csv");
    std::fs::write(&policy, text.replace("\"patients.csv\"", &format!("\"{}\"", data.display()))).unwrap();
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    assert!(studio.settled(&session, "/data").contains(SECRET));
}

/// Others can see the folder, the process list and the port; not the data.
#[cfg(unix)]
#[test]
fn what_the_studio_writes_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let studio = Studio::start(folder.path(), &[]);
    let session = studio.enter();
    let patients = std::fs::read(hospital(false).path().join("patients.csv")).unwrap();
    studio.post_bytes(&session, "/upload?as=data&name=patients.csv", &patients, None);
    studio.settled(&session, "/data");
    studio.post(&session, "/hierarchies/kind", "attribute=sex&kind=file");
    for name in ["patients.csv", "hierarchies/sex.csv", ".policy.toml.undo"] {
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    #[cfg(target_os = "linux")]
    {
        let command = std::fs::read_to_string(format!("/proc/{}/cmdline", studio.process())).unwrap();
        assert!(!command.contains(&studio.token), "a command line is seen by all");
        let listening = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let port = format!(":{:04X} 00000000:0000 0A", studio.port);
        let line = listening.lines().find(|line| line.contains(&port)).expect("listening");
        assert!(line.contains("0100007F"), "on loopback alone: {line}");
    }
}

/// Names and values of the data are text, whatever they look like.
#[test]
fn data_is_not_markup() {
    let folder = tempfile::tempdir().unwrap();
    let name = "<img src=x onerror=alert(1)>";
    let mut rows = format!("\"{name}\",\"\"\"><script>alert(2)</script>\",'js:alert(3)\n");
    for place in 0..40 {
        rows.push_str(&format!("<b>{}</b>,{{{{7*7}}}}&amp;\"\",v{}\n", place % 3, place % 5).replace("\"\"", ""));
    }
    std::fs::write(folder.path().join("hostile.csv"), rows).unwrap();
    let studio = Studio::start(folder.path(), &["hostile.csv"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    for page in ["/data", "/hierarchies", "/rules", "/publish", "/explore", "/community", "/export"] {
        let body = studio.settled(&session, page);
        for raw in ["<img src=x", "<script", "<b>0</b>", "<b>1</b>"] {
            assert!(!body.contains(raw), "{page}: {raw}");
        }
    }
    assert!(studio.get(&session, "/data").body.contains("&lt;img src=x"), "it is shown");
}

/// A link is for the browser that asked for it, and a cookie of a stranger does not follow it.
#[test]
fn a_link_of_one_browser_is_no_use_to_a_stranger() {
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let link = studio.link(&session, "policy:");
    assert_eq!(studio.raw(&format!("GET {link}"), &[("Host", &studio.host())], b"").status, 403);
    let headers = [
        ("Host", studio.host()),
        ("Cookie", session.cookie.clone()),
        ("Sec-Fetch-Site", "cross-site".to_owned()),
        ("Sec-Fetch-Dest", "image".to_owned()),
    ];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(studio.raw(&format!("GET {link}"), &headers, b"").status, 403);
    assert_eq!(studio.follow(&session, &link).status, 200, "it was not used up");
}

/// Another user's program that takes the port over is not believed: every answer inside carries a
/// proof that the page never sends.
#[test]
fn answers_prove_that_they_are_of_the_studio() {
    let folder = hospital(true);
    let mut studio = Studio::start(folder.path(), &["policy.toml"]);
    let welcome = studio.raw(&format!("GET /?token={}", studio.token), &[("Host", &studio.host())], b"").body;
    let proof = welcome.split("name=\"studio-proof\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(proof.len(), 64);
    studio.token = studio.new_token();
    let session = studio.enter();
    let other = studio.get(&session, "/data");
    let of_other = other.header("x-studio-proof").unwrap();
    assert_ne!(of_other, proof, "each browser has its own");
    assert_ne!(of_other, session.key, "it is not what the browser sends");
    let own = [("Host", studio.host()), ("Cookie", session.cookie.clone())];
    let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for outside in [studio.raw("GET /data", &own, b""), studio.raw("GET /assets/studio.js", &own[..1], b"")] {
        assert_eq!(outside.header("x-studio-proof"), None, "nothing without the key");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn idle_connections_of_others_do_not_lock_the_user_out() {
    use std::io::{Read as _, Write as _};
    let folder = hospital(true);
    let studio = Studio::start_with_few_handles(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    assert!(studio.settled(&session, "/data").contains(SECRET));
    // More connections than the studio has handles: silent ones, requests that never end, and ones
    // that were refused and stay.
    let mut idle = Vec::new();
    for place in 0..400 {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
        let sent = match place % 3 {
            0 => Ok(()),
            1 => stream.write_all(b"POST /upload HTTP/1.1\r\nHost: "),
            _ => stream.write_all(b"GET /data HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        };
        sent.unwrap();
        idle.push(stream);
    }
    assert!(studio.get(&session, "/rules").body.contains("k-anonymity"));
    assert!(studio.post(&session, "/publish/run", "destination=first").status == 200);
    assert!(studio.settled(&session, "/publish").contains("verified"));
    // The oldest were closed; the newest still wait.
    let first = &mut idle[0];
    first.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    assert!(!matches!(first.read(&mut [0; 1]), Ok(1..)));
}

#[test]
fn an_upload_that_takes_long_is_not_cut_off_by_others() {
    use std::io::{Read as _, Write as _};
    let folder = hospital(true);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let (host, body) = (studio.host(), "age,zip\n30,02139\n31,02139\n");
    let mut slow = std::net::TcpStream::connect(("127.0.0.1", studio.port)).unwrap();
    let head = format!(
        "POST /upload?as=hierarchy&name=hierarchies/none.csv HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
         Cookie: {}\r\nX-Studio-Key: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        session.cookie,
        session.key,
        body.len()
    );
    slow.write_all(head.as_bytes()).unwrap();
    slow.write_all(&body.as_bytes()[..9]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let idle: Vec<_> = (0..200).map(|_| std::net::TcpStream::connect(("127.0.0.1", studio.port)).unwrap()).collect();
    std::thread::sleep(std::time::Duration::from_millis(200));
    slow.write_all(&body.as_bytes()[9..]).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(idle);
}

#[test]
fn a_policy_from_elsewhere_connects_to_no_database() {
    use std::time::Duration;
    let folder = hospital(true);
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let knocked = |within: u64| {
        (0..within / 20).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            listener.accept().is_ok()
        })
    };
    let address = format!("postgres://ann@{}/study", listener.local_addr().unwrap());
    let theirs = format!(
        "[source]\nurl = \"{address}\"\ntable = \"t\"\n[attributes]\nage = {{ role = \"quasi\" }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 2 }}\n"
    );
    std::fs::write(folder.path().join("theirs.toml"), theirs).unwrap();
    // A folder that is called like the address makes it no file of the folder.
    std::fs::create_dir_all(folder.path().join("postgres:")).unwrap();

    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    studio.settled(&session, "/data");
    let page = studio.post(&session, "/open", "policy=theirs.toml").body;
    assert!(page.contains("leads out of the folder"), "{page}");
    assert!(!knocked(600), "it was connected to");
    // The user may type the address, or name the policy on the command line.
    studio.post(&session, "/open", &format!("address={}", address.replace('&', "%26")));
    assert!(knocked(5000), "the address was typed");
    drop(studio);
    let studio = Studio::start(folder.path(), &["theirs.toml"]);
    studio.get(&studio.enter(), "/data");
    assert!(knocked(5000), "the policy was named");
}
