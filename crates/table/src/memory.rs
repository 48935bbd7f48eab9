//! How much memory the system can give: what decides whether rows are held or spilled.

use std::path::Path;

/// Memory that a program can take without anything being swapped, as the system accounts for it;
/// `None` where the system does not say.
pub fn free_bytes() -> Option<u64> {
    let account = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free = account.lines().find_map(|line| kibibytes(line.strip_prefix("MemAvailable:")?))?;
    Some(free.min(free_in_group().unwrap_or(u64::MAX)))
}

/// About what the program itself takes before it reads anything: most of its code, and some
/// buffers. It is the same whenever the same program runs.
pub fn program_bytes() -> u64 {
    const BUFFERS: u64 = 2 << 20;
    const UNKNOWN: u64 = 16 << 20;
    let mapped = || {
        let program = std::env::current_exe().ok()?;
        let account = std::fs::read_to_string("/proc/self/maps").ok()?;
        Some(mapped_from(&program, &account))
    };
    mapped().map_or(UNKNOWN, |bytes| bytes / 4 * 3) + BUFFERS
}

/// The least that any run takes, whatever it reads.
pub fn least_bytes() -> u64 {
    const BESIDE_PROGRAM: u64 = 16 << 20;
    program_bytes() + BESIDE_PROGRAM
}

/// The bytes of a file that are mapped, as the system lists them.
fn mapped_from(file: &Path, account: &str) -> u64 {
    let of_line = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let is_of_file = rest.find('/').is_some_and(|start| Path::new(&rest[start..]) == file);
        let address = |text: &str| u64::from_str_radix(text, 16).ok();
        is_of_file.then_some(address(to)?.checked_sub(address(from)?)?)
    };
    account.lines().filter_map(of_line).sum()
}

/// The memory that the control group of this process has left, where it has a limit.
fn free_in_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Path::new("/sys/fs/cgroup").join(own);
    let bytes = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    Some(bytes("memory.max")?.saturating_sub(bytes("memory.current")?))
}

/// A number of kibibytes as the system writes it, such as `  1024 kB`, in bytes.
fn kibibytes(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_the_system_writes_them() {
        assert_eq!(kibibytes("   16384 kB"), Some(16384 << 10));
        for wrong in ["", "kB", "-1 kB", "5 MB", "99999999999999999999 kB", "18446744073709551615 kB"] {
            assert_eq!(kibibytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_mappings_of_a_file_are_added_up() {
        let account = "55d0-65d0 r-xp 00000000 08:01 12   /usr/bin/a program\n65d0-66d0 rw-p 00010000 08:01 12   \
                       /usr/bin/a program\n70d0-90d0 r-xp 00000000 08:01 13   /usr/lib/other\n90d0-91d0 rw-p 0 0 0\n";
        assert_eq!(mapped_from(Path::new("/usr/bin/a program"), account), 0x1100);
        assert_eq!(program_bytes(), program_bytes());
    }

    #[test]
    fn free_memory_is_at_most_that_of_the_system() {
        let Ok(account) = std::fs::read_to_string("/proc/meminfo") else { return };
        let all = account.lines().find_map(|line| kibibytes(line.strip_prefix("MemTotal:")?)).unwrap();
        assert!(free_bytes().unwrap() <= all);
    }
}
