//! How the browser learns the address. A command line is visible to every user of the machine, so
//! the browser is given a file that only this user can read, and the file leads to the address.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A file that is removed when the studio ends.
#[derive(Debug)]
pub(crate) struct AddressFile {
    path: PathBuf,
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Opens the address in the browser, where there is one.
pub(crate) fn open_browser(address: &str, port: u16) -> Option<AddressFile> {
    let path = std::env::temp_dir().join(format!("hedgerow-studio-{}-{port}.html", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).ok()?;
    let opened = AddressFile { path };
    let page = format!(
        "<!doctype html><title>Hedgerow studio</title><meta http-equiv=\"refresh\" content=\"0; url={address}\">\
         <p><a href=\"{address}\">Open the studio</a></p>\n"
    );
    file.write_all(page.as_bytes()).ok()?;
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(&opened.path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()?;
    Some(opened)
}
