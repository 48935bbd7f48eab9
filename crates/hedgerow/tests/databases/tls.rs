//! `sslmode` as libpq has it, against a server with a certificate of an authority of its own.

use std::path::Path;
use std::process::Command;

use hedgerow::ErrorKind;

use crate::server::{Server, skipped};
use crate::{K2, policy};

/// An authority, and a certificate of it for another host than the server's.
fn certificates(folder: &Path, host: &str) -> bool {
    let run = |arguments: &[&str]| {
        let ran = Command::new("openssl").args(arguments).current_dir(folder).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    std::fs::write(folder.join("ext"), format!("subjectAltName=DNS:{host}\nbasicConstraints=CA:FALSE\n")).unwrap();
    run(&[&["req", "-x509", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2"], &key[..]]
        .concat())
        && run(&[&["req", "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"], &key[..]].concat())
        && run(&[
            "x509",
            "-req",
            "-in",
            "server.csr",
            "-CA",
            "ca.crt",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            "ext",
            "-out",
            "server.crt",
        ])
        && run(&[
            &["req", "-x509", "-subj", "/CN=stranger", "-keyout", "other.key", "-out", "other.crt", "-days", "2"],
            &key[..],
        ]
        .concat())
}

fn server(host: &str) -> Option<Server> {
    let made = std::cell::Cell::new(true);
    let server = Server::start_with(|folder| {
        if !certificates(folder, host) {
            made.set(false);
            return Vec::new();
        }
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.join("server.key"), PermissionsExt::from_mode(0o600)).unwrap();
        let file = |name: &str| folder.join(name).display().to_string();
        let only_tls = "ssl=on".to_owned();
        vec![only_tls, format!("ssl_cert_file={}", file("server.crt")), format!("ssl_key_file={}", file("server.key"))]
    })?;
    if !made.get() {
        assert!(std::env::var_os("HEDGEROW_CI").is_none(), "openssl made no certificates; apt-get install openssl");
        skipped("openssl made no certificates; apt-get install openssl");
        return None;
    }
    Some(server)
}

/// Whether the connection was encrypted, or why there was none.
fn encrypted(server: &Server, parameters: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let query = "select ssl::text as zip from pg_stat_ssl where pid = pg_backend_pid()";
    let source = format!("url = \"{}&{parameters}\"\nquery = \"{query}\"", server.address(""));
    match hedgerow::read_source(&policy(&source, K2, "", folder.path())) {
        Ok(table) => Ok(table.column("zip").unwrap().text(0)),
        Err(error) if error.kind() == ErrorKind::Io => Err(error.problem().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn certificates_are_verified_as_sslmode_says() {
    for (host, full) in [("localhost", true), ("elsewhere", false)] {
        let Some(server) = server(host) else { return };
        let roots = |name: &str| format!("sslrootcert={}", server.path().join(name).display());
        let yes = || Ok("true".to_owned());
        assert_eq!(encrypted(&server, "sslmode=disable"), Ok("false".to_owned()));
        assert_eq!(encrypted(&server, "sslmode=prefer"), yes());
        assert_eq!(encrypted(&server, "sslmode=require"), yes());
        // The password's proof names the certificate, so a server between cannot pass it on.
        assert_eq!(encrypted(&server, "sslmode=require&channel_binding=require"), yes());
        assert!(encrypted(&server, "sslmode=disable&channel_binding=require").is_err());
        assert_eq!(encrypted(&server, &format!("sslmode=verify-ca&{}", roots("ca.crt"))), yes());
        let verified = encrypted(&server, &format!("sslmode=verify-full&{}", roots("ca.crt")));
        assert_eq!(verified.is_ok(), full, "{verified:?}");
        for mode in ["require", "verify-ca", "verify-full"] {
            let error = encrypted(&server, &format!("sslmode={mode}&{}", roots("other.crt"))).unwrap_err();
            assert!(error.contains("certificate"), "{mode}: {error}");
        }
        let error = encrypted(&server, &format!("sslmode=verify-full&{}", roots("absent.crt"))).unwrap_err();
        assert!(error.contains("absent.crt"), "{error}");
        let error = encrypted(&server, "sslmode=always").unwrap_err();
        assert!(error.contains("unknown sslmode `always`"), "{error}");
    }
}
