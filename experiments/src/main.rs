//! The figures and worked examples of the papers, computed and drawn again, each with the paper's
//! claim and a verdict that follows from the numbers.
//!
//! `cargo run --release -p experiments -- list | NAME | all [--quick] [--output FOLDER]`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

mod adults;
mod claim;
mod cloning;
mod cross_release;
mod experiment;
mod proximity;
mod record;
mod sample;
mod shape;
mod together;
mod versatile;
#[cfg(test)]
mod wrong;

use experiment::{Experiment, Scale, Trouble};
use record::{RecordPart, RecordedRun};

const USAGE: &str = "\
usage: experiments COMMAND [--quick] [--output FOLDER] [--parts FOLDER]

  list   the experiments, with the figures that each draws again
  NAME   run one: its table is printed, its pictures are written
  all    run all, and write EXPERIMENTS.md
  record write EXPERIMENTS.md from what earlier runs kept with --parts; what
         they did not run stays as it is

  --quick   smaller data: minutes for all
  --output  where files are written: a table and pictures for each experiment,
            and EXPERIMENTS.md with `all`; by default experiments/figures, and
            EXPERIMENTS.md beside ARCHITECTURE.md
  --parts   where what the record has of each experiment is kept
";

/// By paper, in the order of the paper.
fn experiments() -> Vec<Experiment> {
    let papers = [
        cross_release::EXPERIMENTS,
        proximity::EXPERIMENTS,
        cloning::EXPERIMENTS,
        versatile::EXPERIMENTS,
        together::EXPERIMENTS,
    ];
    papers.concat()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(command) = Command::of(&arguments) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match command.run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("error: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// The command to run.
#[derive(Debug, PartialEq)]
struct Command {
    what: String,
    scale: Scale,
    output: Option<PathBuf>,
    parts: Option<PathBuf>,
}

impl Command {
    /// `None` when it is not understood.
    fn of(arguments: &[String]) -> Option<Command> {
        let mut command = Command { what: String::new(), scale: Scale::Full, output: None, parts: None };
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            match argument.as_str() {
                "--quick" => command.scale = Scale::Quick,
                "--output" => command.output = Some(left.next()?.into()),
                "--parts" => command.parts = Some(left.next()?.into()),
                option if option.starts_with('-') => return None,
                what if command.what.is_empty() => command.what = what.to_owned(),
                _ => return None,
            }
        }
        let is_known = ["list", "all", "record"].contains(&command.what.as_str())
            || experiments().iter().any(|experiment| experiment.name == command.what);
        is_known.then_some(command)
    }

    /// Whether everything is as this project states.
    fn run(&self) -> Result<bool, Trouble> {
        let all = experiments();
        if self.what == "list" {
            all.iter().for_each(|one| println!("{:24} {} {}", one.name, one.paper, one.shows));
            return Ok(true);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the crate lies in the workspace")?;
        let figures = self.output.clone().unwrap_or_else(|| root.join("experiments/figures"));
        std::fs::create_dir_all(&figures)?;
        let chosen = all.iter().filter(|experiment| self.what == "all" || experiment.name == self.what);
        let pictures = if self.output.is_some() { "" } else { "experiments/figures/" };
        let (mut entries, mut parts) = (Vec::new(), Vec::new());
        for experiment in chosen {
            let entry = run_one(experiment, self.scale, &figures)?;
            let part = RecordPart::new(&entry, self.scale, pictures);
            if let Some(folder) = &self.parts {
                std::fs::create_dir_all(folder)?;
                std::fs::write(folder.join(experiment.name), part.to_text())?;
            }
            parts.push(part);
            entries.push(entry);
        }
        if self.what == "record" {
            let folder = self.parts.as_deref().ok_or("`record` needs --parts")?;
            let page = std::fs::read_to_string(root.join("EXPERIMENTS.md"))?;
            for experiment in &all {
                let kept = folder.join(experiment.name);
                let part = match kept.exists() {
                    true => RecordPart::of_text(&std::fs::read_to_string(kept)?),
                    false => RecordPart::of_page(&page, experiment.name),
                };
                parts.push(part.ok_or_else(|| format!("{}: neither kept nor recorded", experiment.name))?);
            }
        }
        if ["all", "record"].contains(&self.what.as_str()) {
            let record = self.output.clone().unwrap_or_else(|| root.to_owned()).join("EXPERIMENTS.md");
            std::fs::write(&record, record::record(&parts, self.scale))?;
            println!("written: {}", record.display());
        }
        let surprises = entries.iter().map(|entry| entry.findings.surprises(self.scale).count()).sum::<usize>();
        if surprises > 0 {
            eprintln!("error: {surprises} claims came out otherwise than stated; each is marked above");
        }
        Ok(surprises == 0)
    }
}

/// Prints its table and its verdict, and writes its files.
fn run_one(experiment: &Experiment, scale: Scale, figures: &Path) -> Result<RecordedRun, Trouble> {
    println!("== {}: {} {}", experiment.name, experiment.paper, experiment.shows);
    let started = Instant::now();
    let findings = (experiment.run)(scale).map_err(|trouble| format!("{}: {trouble}", experiment.name))?;
    let seconds = started.elapsed().as_secs_f64();
    println!("{}\n{}", findings.setting, findings.csv());
    for claim in &findings.claims {
        let mark = if claim.is_as_stated(scale) { " " } else { "!" };
        println!("{mark} {}: {}", claim.says, claim.verdict(scale));
    }
    println!("verdict: {} ({seconds:.1} s)\n", findings.verdict(scale));
    std::fs::write(figures.join(format!("{}.csv", experiment.name)), findings.csv())?;
    for (name, picture) in record::picture_names(experiment, &findings).iter().zip(&findings.pictures) {
        std::fs::write(figures.join(name), picture.to_svg())?;
    }
    Ok(RecordedRun { experiment: *experiment, findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Option<Command> {
        Command::of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn commands_are_understood_or_refused() {
        assert_eq!(command("all --quick").unwrap().scale, Scale::Quick);
        assert_eq!(command("list --output x").unwrap().output, Some("x".into()));
        for wrong in ["", "nothing", "all all", "all --output", "all --fast"] {
            assert_eq!(command(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn names_are_unique_and_can_be_file_names() {
        let mut names: Vec<&str> = experiments().iter().map(|experiment| experiment.name).collect();
        assert!(
            names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
        );
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
