//! The project's habits as commands: `tidy` reads the repository and reports what is out of place,
//! `test` runs everything that must pass before a change is accepted, `mutants` tests the tests,
//! `docs` rewrites what is written from the code, `bench` measures speed.

use std::process::ExitCode;

mod bench;
mod docs;
mod lanes;
mod markdown;
mod mutants;
mod peers;
mod repo;
mod schemas;
mod slowest;
mod test;
mod tidy;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy   compare the documents with the code: crates, dependencies, papers, links, words, text hygiene
  docs   rewrite the documents that are written from the code: docs/policy.md, docs/schemas
  schemas
         rewrite docs/schemas alone: the schemas of the types that commands print
  bench  measure the command's speed, each figure against another of the same run;
         with --peers, also that of other programs on the same file, in an environment of their own
  mutants [WORD…]
         make one mistake after the other in the code, or those with a word in their name, and see a
         test fail for each: on request, it takes long
  test   format, tidy, clippy, all tests, the example run; stops at the first failure
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(),
        ["docs"] => docs::run(),
        ["schemas"] => schemas::run(),
        ["bench"] => bench::run(),
        ["bench", "--peers"] => peers::run(),
        ["mutants", ..] => mutants::run(&arguments[1..]),
        ["test"] => test::run(),
        ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
