//! Shows progress and cancels after a second:
//! `cargo run -p hedgerow --example progress_and_cancel -- POLICY DIRECTORY`.

use std::time::Duration;

use hedgerow::{Cancel, ErrorKind, Monitor, Policy, Publish};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(policy), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("name a policy and a directory for the release".into());
    };
    let policy = Policy::load(policy)?;
    let cancel = Cancel::new();
    let timer = cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        timer.cancel();
    });
    let monitor = Monitor::default()
        .on_progress(|progress| match progress.fraction {
            Some(fraction) => println!("{}: {:.0} %", progress.phase, fraction * 100.0),
            None => println!("{}", progress.phase),
        })
        .cancel_by(&cancel);
    match Publish::new(&policy, directory).run_with(&monitor) {
        Ok(published) => println!("published {}", published.release.display()),
        Err(error) if error.kind() == ErrorKind::Canceled => println!("{error}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
