//! What a cloned release lost: people are told by statistics of sub-classes, and their sensitive values only up to the class.
//!
//! Losses that are defined by levels or cells say nothing here, and are left out; `ncp` is that of the suppressed rows alone. Classes
//! are the sub-classes, and the risk is that of finding somebody among the people of theirs.

use hedgerow_release::cloned::Cloned;
use hedgerow_table::{Progress, Table, TableError};

use crate::class_sizes::SizeDistribution;
use crate::linker;
use crate::loss::Losses;
use crate::measure::{Measures, counted};
use crate::number_error;
use crate::query_error::QueryOptions;
use crate::query_error::clones::{Clones, query_error};

/// A cloned release beside the table that it was made from.
#[derive(Debug)]
pub struct MeasuredClones<'a> {
    /// The private table, as read under the policy.
    pub source: &'a Table,
    pub released: &'a Cloned,
    /// The quasi attributes, in the order of the policy.
    pub quasi: Vec<&'a str>,
    /// The required k, or 1.
    pub k: u64,
    pub rows_suppressed: u64,
}

pub fn measure_clones(
    input: &MeasuredClones<'_>,
    queries: &QueryOptions,
    progress: &dyn Progress,
) -> Result<Measures, TableError> {
    let read = input.released;
    let rows = counted(input.source.rows as u64, read.people(), input.rows_suppressed)?;
    let other = |name: &str| {
        let hint = "measure a release with the policy and the data that it was published from";
        TableError::input("statistics.csv", format!("`{name}` is not in both the release and the source"), hint)
    };
    let column = |name: &str| input.source.column(name).ok_or_else(|| other(name));
    let bind = |name: &&str| {
        let place = read.attributes.iter().position(|known| known == name).ok_or_else(|| other(name))?;
        Ok((column(name)?, place))
    };
    let release = Clones {
        quasi: input.quasi.iter().map(bind).collect::<Result<_, TableError>>()?,
        sensitive: column(&read.sensitive)?,
        read,
    };
    let sizes: Vec<u64> = read.sub_classes().map(|part| part.people()).filter(|&people| people > 0).collect();
    let losses = Losses::without_cells(&input.quasi, &sizes, rows, input.k.max(1));
    let numbers = number_error::of_clones(&release)?;
    let queries = query_error(&release, input.source.rows, queries, progress)?;
    Ok(Measures {
        rows,
        losses,
        classes: SizeDistribution::of(&sizes),
        risk: linker::risk(&sizes, None, input.k.max(1)),
        queries,
        buckets: false,
        numbers,
    })
}
