//! The distinct rows of a table that need not be in memory, by one scan.

use super::tally::Growing;
use super::{FrequencySet, Layout};
use crate::engine::{Answer, Distinct, Engine};
use crate::{Codes, Progress, TableError, parallel, with_words};

/// The distinct rows over some columns of an engine, unless they take more than `bytes_max` bytes.
pub fn distinct(
    engine: &dyn Engine,
    columns: &[usize],
    bytes_max: usize,
    progress: &dyn Progress,
) -> Result<Answer<Distinct>, TableError> {
    let profile = engine.profile();
    if columns.is_empty() {
        return Ok(Answer::Exact(Distinct { columns: Vec::new(), counts: vec![profile.rows as u32] }));
    }
    let cardinalities: Vec<usize> = columns.iter().map(|&index| profile.columns[index].domain.cardinality()).collect();
    let Some(layout) = Layout::new(&cardinalities) else {
        return Ok(Answer::Unsupported("there are too many attributes to compare rows by".to_owned()));
    };
    with_words!(layout.words(), W => distinct_of::<W>(engine, &layout, columns, bytes_max, progress)).map(|answer| {
        match answer {
            Answer::Exact((codes, counts)) => {
                let columns = cardinalities.iter().zip(codes);
                let columns = columns.map(|(&cardinality, codes)| Codes::from_iter(cardinality, codes)).collect();
                Answer::Exact(Distinct { columns, counts })
            }
            Answer::Unsupported(why) => Answer::Unsupported(why),
        }
    })
}

type Unpacked = (Vec<Vec<u32>>, Vec<u32>);

fn distinct_of<const W: usize>(
    engine: &dyn Engine,
    layout: &Layout,
    columns: &[usize],
    bytes_max: usize,
    progress: &dyn Progress,
) -> Result<Answer<Unpacked>, TableError> {
    let entries_max = bytes_max / (8 * W + 4);
    let mut growing = Growing::<W>::new();
    let mut too_many = false;
    let scanned = engine.scan(columns, progress, &mut |chunks| {
        if too_many {
            return Ok(());
        }
        let counted = parallel::map_items(chunks, |_, chunk| {
            let columns: Vec<&Codes> = chunk.iter().collect();
            FrequencySet::<W>::of_rows(layout, &columns, columns.first().map_or(0, |codes| codes.len()))
        });
        growing.add(counted);
        if growing.len() > entries_max {
            growing.merge();
            too_many = growing.len() > entries_max;
        }
        Ok(())
    })?;
    if let Answer::Unsupported(why) = scanned {
        return Ok(Answer::Unsupported(why));
    }
    if too_many {
        let why = format!("more than {entries_max} distinct rows do not fit beside what a search makes of them");
        return Ok(Answer::Unsupported(why));
    }
    let set = growing.finish();
    let codes = |column: usize| {
        let field = layout.field(column);
        set.keys().iter().map(|key| field.get(key)).collect()
    };
    Ok(Answer::Exact(((0..columns.len()).map(codes).collect(), set.counts().to_vec())))
}
