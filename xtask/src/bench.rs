//! `cargo xtask bench`: how fast the command is, each figure beside another one of the same run,
//! since machines differ and are noisy. Prints what it compares. DuckDB stands beside the search
//! when Python has it (`pip install duckdb`).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

/// Rows of the table on which the search is compared with `GROUP BY`.
const ROWS: u64 = 3_000_000;

/// Times each figure is taken; the smallest counts.
const REPEATS: usize = 3;

/// Runs a command line and says, on the last line of standard error, what it took of all
/// processors: in user code and in the system.
const TIMED: &str = "TIMEFORMAT='%3U %3S'; time \"$0\" \"$@\"";

fn cpu_seconds(talk: &str) -> f64 {
    let last = talk.lines().last().unwrap_or_default();
    last.split(' ').map(|seconds| seconds.parse::<f64>().unwrap_or(f64::NAN)).sum()
}

pub(crate) fn run() -> Result<(), String> {
    let built = Command::new("cargo").args(["build", "--release", "--package", "hedgerow-cli"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the command could not be built".to_owned());
    }
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let bench = Bench { command: Path::new(&target).join("release/hedgerow"), folder: folder()? };
    let outcome = bench.all();
    let removed = std::fs::remove_dir_all(&bench.folder);
    outcome.and(removed.map_err(|error| format!("{}: {error}", bench.folder.display())))
}

fn folder() -> Result<PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("hedgerow-bench-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

struct Bench {
    command: PathBuf,
    folder: PathBuf,
}

/// One publication: seconds of the whole process and of its parts, and of all processors together.
#[derive(Clone, Copy)]
struct Times {
    whole: f64,
    cpu: f64,
    read: f64,
    search: f64,
    write: f64,
}

impl Bench {
    fn all(&self) -> Result<(), String> {
        println!("every figure is the best of {REPEATS}, in seconds\n");
        println!("{:44} {:>8} {:>8} {:>8} {:>8} {:>8}", "publish", "whole", "cpu", "read", "search", "write");
        let adult = Path::new("examples/adult/policy.toml");
        self.publish("Adult, k = 5, 2 %", adult, &[])?;
        let census = self.census(ROWS)?;
        let both = self.publish("census, 3 million rows", &census, &[])?;
        self.publish("census, 3 million rows, within 64 MiB", &census, &["--memory", "64MiB"])?;
        let one = self.publish("census, 3 million rows, one thread", &census, &["--threads", "1"])?;
        let million = self.publish("census, 1 million rows", &self.census(1_000_000)?, &[])?;
        let ten = self.publish("census, 10 million rows", &self.census(10_000_000)?, &[])?;
        println!();
        println!(
            "all cores over one thread: whole {:.2} times, search {:.2} times",
            one.whole / both.whole,
            one.search / both.search
        );
        println!(
            "10 million rows over 1 million: whole {:.2} times, search {:.2} times",
            ten.whole / million.whole,
            ten.search / million.search
        );
        self.beside_duckdb(&census)
    }

    /// In turns, since a machine is not equally fast all the time.
    fn beside_duckdb(&self, census: &Path) -> Result<(), String> {
        let (mut ours, mut small, mut copy, mut search, mut group_by) =
            (f64::MAX, f64::MAX, f64::MAX, f64::MAX, f64::MAX);
        for _ in 0..REPEATS {
            let both = self.timed("beside DuckDB", census, &[])?;
            (ours, search) = (ours.min(both.whole), search.min(both.search));
            small = small.min(self.timed("beside DuckDB", census, &["--memory", "64MiB"])?.whole);
            let (Some(grouped), Some(copied)) = (self.duckdb(GROUP_BY, census), self.duckdb(SHUFFLED_COPY, census))
            else {
                println!("no comparison with DuckDB: `python3 -c 'import duckdb'` fails");
                return Ok(());
            };
            (group_by, copy) = (group_by.min(grouped), copy.min(copied));
        }
        println!(
            "one DuckDB GROUP BY over the same eight columns, in memory: {group_by:.3}; the search takes {:.2} of them",
            search / group_by
        );
        println!(
            "one DuckDB copy of the file in random order: {copy:.3}; publishing takes {:.2} of them, within 64 MiB {:.2}",
            ours / copy,
            small / copy
        );
        Ok(())
    }

    fn census(&self, rows: u64) -> Result<PathBuf, String> {
        let directory = self.folder.join(format!("census-{rows}"));
        let made = Command::new(&self.command)
            .args(["synth", "census", "--quiet", "--rows", &rows.to_string(), "--seed", "1", "-o"])
            .arg(&directory)
            .status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("the synthetic census could not be made".to_owned());
        }
        Ok(directory.join("policy.toml"))
    }

    fn publish(&self, name: &str, policy: &Path, more: &[&str]) -> Result<Times, String> {
        let mut best = self.timed(name, policy, more)?;
        for _ in 1..REPEATS {
            let times = self.timed(name, policy, more)?;
            best = if times.whole < best.whole { times } else { best };
        }
        let Times { whole, cpu, read, search, write } = best;
        println!("{name:44} {whole:8.3} {cpu:8.3} {read:8.3} {search:8.3} {write:8.3}");
        Ok(best)
    }

    /// One publication; what it wrote is removed.
    fn timed(&self, name: &str, policy: &Path, more: &[&str]) -> Result<Times, String> {
        let release = self.folder.join("release");
        let started = Instant::now();
        let output = Command::new("bash")
            .args(["-c", TIMED])
            .arg(&self.command)
            .args(["publish", "--json", "--quiet"])
            .args(more)
            .arg(policy)
            .arg("-o")
            .arg(&release)
            .output()
            .map_err(|error| error.to_string())?;
        let whole = started.elapsed().as_secs_f64();
        if !output.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        std::fs::remove_dir_all(&release).map_err(|error| error.to_string())?;
        let printed: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let seconds = |part: &str| printed["seconds"][part].as_f64().unwrap_or(f64::NAN);
        let cpu = cpu_seconds(&String::from_utf8_lossy(&output.stderr));
        Ok(Times { whole, cpu, read: seconds("read"), search: seconds("search"), write: seconds("write") })
    }

    /// Seconds that DuckDB takes for what a script does with the data of a policy, a single
    /// time.
    fn duckdb(&self, script: &str, policy: &Path) -> Option<f64> {
        let output = Command::new("python3")
            .args(["-c", script])
            .arg(policy.with_file_name("census.csv"))
            .stderr(Stdio::null())
            .output()
            .ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse().ok()
    }
}

/// One `GROUP BY` over the quasi attributes, from a table in memory.
const GROUP_BY: &str = "
import sys, time, duckdb
db = duckdb.connect()
db.execute('set enable_progress_bar = false')
db.execute(f\"create table t as select * from read_csv('{sys.argv[1]}')\")
columns = 'age, sex, education, birthplace, occupation, race, workclass, \"marital-status\"'
start = time.perf_counter()
db.execute(f'select count(*) from (select {columns}, count(*) from t group by all)').fetchall()
print(time.perf_counter() - start)
";

/// The file read, and written again in random order.
const SHUFFLED_COPY: &str = "
import os, sys, time, duckdb
db = duckdb.connect()
db.execute('set enable_progress_bar = false')
copy = sys.argv[1] + '.copy'
start = time.perf_counter()
db.execute(f\"copy (select * from '{sys.argv[1]}' order by random()) to '{copy}' (format csv)\")
print(time.perf_counter() - start)
os.remove(copy)
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_the_last_line_of_what_was_said() {
        assert!((cpu_seconds("warning: x\n0.120 0.034\n") - 0.154).abs() < 1e-9);
        assert!(cpu_seconds("").is_nan());
    }
}
