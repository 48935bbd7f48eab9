//! Memory goes back to the system when work ends.
//!
//! The allocator of the C library on Linux maps large blocks by themselves, and returns them when
//! they are freed. But with each that is freed it counts larger ones as small, which it keeps, for
//! every thread apart. The studio lives long and works on many threads: after some changes it held
//! twice what it needed. The environment in which a program starts can forbid that, so the studio
//! starts once more in one that does.

/// Blocks of this size and more are returned at once: a column of a few hundred thousand rows.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const VARIABLES: [(&str, &str); 2] = [("MALLOC_MMAP_THRESHOLD_", "262144"), ("MALLOC_TRIM_THRESHOLD_", "1048576")];

/// Starts the program anew, as the same process, where the allocator would keep memory. Returns
/// where it would not, or where that cannot be.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn start_returning() {
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;

    if VARIABLES.iter().any(|(name, _)| std::env::var_os(name).is_some()) {
        return;
    }
    let mut arguments = std::env::args_os();
    let (Some(name), Ok(program)) = (arguments.next(), std::env::current_exe()) else { return };
    // Python finds its packages by the name under which it was started, which can be a link.
    let is_path = Path::new(&name).components().count() > 1 && Path::new(&name).is_file();
    let program = if is_path { name.clone().into() } else { program };
    // It comes back only with a failure: then all is as it was.
    let _failed = std::process::Command::new(program).arg0(name).args(arguments).envs(VARIABLES).exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn start_returning() {}
