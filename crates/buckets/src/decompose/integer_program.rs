//! The integer program of Jin and others 2010, appendix B: how many rows of each combination of
//! sensitive values a bucket may take so that no value of any sensitive attribute makes up more
//! than 1/l of those who agree in all the others.
//!
//! The paper has one binary variable for each row. Rows with the same sensitive values are the same
//! to every constraint, so here is one integer for each combination, at most as many as there are
//! rows of it. What the solver finds is tested against the constraints again in integers, since it
//! works with rounded ones.

use hashbrown::HashMap;
use hedgerow_table::Ratio;
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOptions, Variable};

/// Branches of the search for the most rows, which runs once, and for a smallest bucket, which runs
/// often. A limit on time would make releases depend on the machine.
const NODES_MAX: u64 = 1_000;
const NODES_OF_SMALLEST_MAX: u64 = 20;

/// More combinations than this are not given to the solver.
const COMBINATIONS_MAX: usize = 2_000;

/// Combinations of sensitive values, how many rows there are of each, and what buckets must keep.
#[derive(Debug)]
pub struct Program<'a> {
    combinations: &'a [Vec<u32>],
    /// The l of every sensitive attribute.
    l: &'a [Ratio],
    /// For every attribute the combinations that agree in all others.
    lines: Vec<Vec<Vec<usize>>>,
}

impl<'a> Program<'a> {
    pub fn new(combinations: &'a [Vec<u32>], l: &'a [Ratio]) -> Program<'a> {
        let lines = (0..l.len()).map(|attribute| {
            let mut lines: HashMap<Vec<u32>, usize> = HashMap::new();
            let mut members: Vec<Vec<usize>> = Vec::new();
            let mut others: Vec<u32> = Vec::new();
            for (number, combination) in combinations.iter().enumerate() {
                others.clear();
                others.extend(&combination[..attribute]);
                others.extend(&combination[attribute + 1..]);
                let line = *lines.entry_ref(others.as_slice()).or_insert_with(|| {
                    members.push(Vec::new());
                    members.len() - 1
                });
                members[line].push(number);
            }
            members
        });
        Program { combinations, l, lines: lines.collect() }
    }

    /// Which combinations a bucket can hold at all: with each, in the line of every attribute, must
    /// be as many others that it can hold as keep a single row below 1/l.
    pub fn core(&self) -> Vec<bool> {
        let mut stays = vec![true; self.combinations.len()];
        loop {
            let before = stays.iter().filter(|stays| **stays).count();
            for (lines, l) in self.lines.iter().zip(self.l) {
                for line in lines {
                    if (line.iter().filter(|&&number| stays[number]).count() as u64) < l.ceil() {
                        line.iter().for_each(|&number| stays[number] = false);
                    }
                }
            }
            if stays.iter().filter(|stays| **stays).count() == before {
                return stays;
            }
        }
    }

    /// Whether a bucket with these numbers of rows of each combination is allowed.
    pub fn holds(&self, rows: &[u64]) -> bool {
        self.lines.iter().zip(self.l).all(|(lines, l)| {
            lines.iter().all(|line| {
                let all: u64 = line.iter().map(|&number| rows[number]).sum();
                line.iter().all(|&number| l.times_at_most(rows[number], all))
            })
        })
    }

    /// The most rows that allowed buckets can take of those there are; zeros when the solver gives
    /// up.
    pub fn most(&self, rows: &[u64]) -> Vec<u64> {
        let nothing = vec![0; rows.len()];
        let program = self.program(OptimizationDirection::Maximize, rows);
        program.and_then(|program| self.solved(&program, rows, NODES_MAX)).unwrap_or(nothing)
    }

    /// The smallest bucket that leaves an allowed rest, from rows that are an allowed bucket
    /// together; all of them when the solver gives up.
    pub fn smallest(&self, rows: &[u64]) -> Vec<u64> {
        let all_rows = rows.to_vec();
        let Some((mut problem, variables)) = self.program(OptimizationDirection::Minimize, rows) else {
            return all_rows;
        };
        let all: Vec<(Variable, f64)> = variables.iter().map(|&variable| (variable, 1.0)).collect();
        problem.add_constraint(all, ComparisonOp::Ge, 1.0);
        for (lines, l) in self.lines.iter().zip(self.l) {
            for line in lines {
                let total: u64 = line.iter().map(|&number| rows[number]).sum();
                for &number in line.iter().filter(|&&number| rows[number] > 0) {
                    let terms = terms(line, number, *l, &variables);
                    let slack = l.denominator as f64 * total as f64 - l.numerator as f64 * rows[number] as f64;
                    let turned: Vec<(Variable, f64)> = terms.into_iter().map(|(of, factor)| (of, -factor)).collect();
                    problem.add_constraint(turned, ComparisonOp::Le, slack);
                }
            }
        }
        let rest = |taken: &[u64]| -> Vec<u64> { rows.iter().zip(taken).map(|(all, taken)| all - taken).collect() };
        let found =
            self.solved(&(problem, variables), rows, NODES_OF_SMALLEST_MAX).filter(|taken| self.holds(&rest(taken)));
        found.filter(|taken| taken.iter().any(|&taken| taken > 0)).unwrap_or(all_rows)
    }

    /// The constraints of every bucket: for each combination, l times its rows are at most those of
    /// its line.
    fn program(&self, direction: OptimizationDirection, rows: &[u64]) -> Option<(Problem, Vec<Variable>)> {
        if self.combinations.len() > COMBINATIONS_MAX {
            return None;
        }
        let mut problem = Problem::new(direction);
        let variable = |&most: &u64| problem.add_integer_var(1.0, (0, i32::try_from(most).unwrap_or(i32::MAX)));
        let variables: Vec<Variable> = rows.iter().map(variable).collect();
        for (lines, l) in self.lines.iter().zip(self.l) {
            for line in lines {
                for &number in line.iter().filter(|&&number| rows[number] > 0) {
                    problem.add_constraint(terms(line, number, *l, &variables), ComparisonOp::Le, 0.0);
                }
            }
        }
        Some((problem, variables))
    }

    /// The solver's answer in integers, if it keeps the constraints.
    fn solved(
        &self,
        (problem, variables): &(Problem, Vec<Variable>),
        rows: &[u64],
        nodes_max: u64,
    ) -> Option<Vec<u64>> {
        let mut options = SolveOptions::default();
        options.node_limit = Some(nodes_max);
        let solution = problem.solve_with(options).ok()?.into_solution().ok()?;
        let value = |&variable: &Variable| solution.var_value(variable).round().max(0.0) as u64;
        let found: Vec<u64> = variables.iter().map(value).collect();
        let enough = found.iter().zip(rows).all(|(found, there)| found <= there);
        (enough && self.holds(&found)).then_some(found)
    }
}

/// `l · (rows of one combination) − (rows of its line)`.
fn terms(line: &[usize], number: usize, l: Ratio, variables: &[Variable]) -> Vec<(Variable, f64)> {
    let factor = |&other: &usize| {
        let own = if other == number { l.numerator as f64 } else { 0.0 };
        (variables[other], own - l.denominator as f64)
    };
    line.iter().map(factor).collect()
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// The most and the smallest by trying every bucket.
    fn tried(program: &Program<'_>, rows: &[u64]) -> (u64, Option<u64>) {
        let mut all: Vec<Vec<u64>> = vec![Vec::new()];
        for &most in rows {
            all = all
                .iter()
                .flat_map(|bucket| (0..=most).map(move |taken| [bucket.as_slice(), &[taken]].concat()))
                .collect();
        }
        let size = |bucket: &Vec<u64>| bucket.iter().sum::<u64>();
        // Without any code of the program: shares among those who agree in all but one attribute.
        let allowed = |bucket: &&Vec<u64>| {
            (0..program.l.len()).all(|attribute| {
                (0..bucket.len()).all(|one| {
                    let agrees = |other: &usize| {
                        let (a, b) = (&program.combinations[one], &program.combinations[*other]);
                        (0..a.len()).all(|at| at == attribute || a[at] == b[at])
                    };
                    let line: u64 = (0..bucket.len()).filter(agrees).map(|other| bucket[other]).sum();
                    let l = program.l[attribute];
                    u128::from(l.numerator) * u128::from(bucket[one]) <= u128::from(l.denominator) * u128::from(line)
                })
            })
        };
        for bucket in &all {
            assert_eq!(program.holds(bucket), allowed(&bucket), "{bucket:?} of {program:?}");
        }
        let most = all.iter().filter(allowed).map(size).max().unwrap();
        let smallest = all.iter().filter(allowed).map(size).filter(|&size| size > 0).min();
        (most, smallest)
    }

    #[test]
    fn the_solver_agrees_with_trying_every_bucket() {
        let (mut taken, mut cut) = (0, 0);
        for seed in 0..60 {
            let mut rng = StdRng::seed_from_u64(seed);
            let width = rng.random_range(1..=2usize);
            let values = rng.random_range(2..=3u32);
            let mut combinations: Vec<Vec<u32>> =
                (0..7).map(|_| (0..width).map(|_| rng.random_range(0..values)).collect()).collect();
            combinations.sort();
            combinations.dedup();
            let rows: Vec<u64> = combinations.iter().map(|_| rng.random_range(1..=2)).collect();
            let l: Vec<Ratio> = (0..width).map(|_| Ratio::integer(rng.random_range(2..=3))).collect();
            let program = Program::new(&combinations, &l);
            let (most, smallest) = tried(&program, &rows);
            let found = program.most(&rows);
            assert!(program.holds(&found), "seed {seed}");
            let core = program.core();
            assert!(core.iter().zip(&found).all(|(stays, &rows)| *stays || rows == 0), "seed {seed}: {core:?}");
            cut += core.iter().filter(|stays| !**stays).count();
            assert_eq!(found.iter().sum::<u64>(), most, "seed {seed}: {combinations:?} {rows:?} {l:?}");
            if most > 0 {
                let bucket = program.smallest(&found);
                let rest: Vec<u64> = found.iter().zip(&bucket).map(|(all, taken)| all - taken).collect();
                assert!(program.holds(&bucket) && program.holds(&rest), "seed {seed}");
                assert!(bucket.iter().sum::<u64>() >= smallest.unwrap(), "seed {seed}");
                taken += 1;
            }
        }
        assert!(taken > 10 && cut > 10, "{taken}, {cut}");
    }

    /// Three people with the diagonal of a square and one more corner cannot share a bucket, all
    /// four corners can.
    #[test]
    fn a_square_is_a_bucket_and_three_corners_are_none() {
        let square = [vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]];
        let l = [Ratio::integer(2), Ratio::integer(2)];
        assert_eq!(Program::new(&square[..3], &l).most(&[1, 1, 1]), [0, 0, 0]);
        let program = Program::new(&square, &l);
        assert_eq!(program.most(&[1, 2, 1, 3]), [1, 1, 1, 1]);
        assert_eq!(program.smallest(&[2, 2, 2, 2]), [1, 1, 1, 1]);
    }
}
