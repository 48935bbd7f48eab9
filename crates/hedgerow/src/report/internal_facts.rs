//! The facts of a page that need the private source.

use hedgerow_audit::{Losses, Measures, QueryError, Risk, Scenario, TableMeasures};
use hedgerow_publish::undivided::{Undivided, UndividedClasses};
use hedgerow_publish::why::{Broken, Why};
use hedgerow_report::facts::*;
use serde_json::Number;

use super::document::{LatticePart, SourcePart};
use super::facts::{of_cells, of_parameters, of_singled_out};

pub(super) fn with_source(shown: ReleaseFacts, part: &SourcePart) -> ReleaseFacts {
    let attributes = part.comparison.attributes.iter().map(|attribute| ComparedFacts {
        name: attribute.name.clone(),
        values: attribute
            .values
            .iter()
            .map(|value| ComparedValueFacts {
                value: value.value.clone(),
                source: value.source,
                released: value.released,
            })
            .collect(),
    });
    let subgroups = part.comparison.subgroups.iter().map(|group| SubgroupFacts {
        attribute: group.attribute.clone(),
        value: group.value.clone(),
        source: group.source,
        suppressed: group.suppressed,
        ncp: group.ncp,
    });
    let errors = part.query_error.iter().flatten();
    ReleaseFacts {
        comparison: Some(ComparisonFacts { attributes: attributes.collect(), subgroups: subgroups.collect() }),
        query_error: errors.map(|step| ErrorStep { error: step.error, share: step.share }).collect(),
        why: part.why.as_ref().map(of_why),
        lattice: part.lattice.as_ref().map(of_lattice),
        undivided: part.undivided.as_ref().map(of_undivided),
        measures: Some(of_measures(&part.measures)),
        ..shown
    }
}

fn of_broken(broken: &Broken) -> BrokenFacts {
    BrokenFacts {
        model: broken.model.clone(),
        protect: broken.protect.clone(),
        achieved: of_parameters(&broken.achieved),
        rows: broken.rows,
    }
}

fn of_why(why: &Why) -> WhyFacts {
    let finer = why.finer.iter().map(|finer| FinerFacts {
        attribute: finer.attribute.clone(),
        level: finer.level.into(),
        holds: finer.holds,
        suppressed: finer.suppressed,
        breaks: finer.breaks.iter().map(of_broken).collect(),
    });
    let suppressed = why.suppressed.iter().map(|group| SuppressedFacts {
        cells: of_cells(&group.cells),
        rows: group.rows,
        breaks: group.breaks.iter().map(of_broken).collect(),
        nearest: group
            .nearest
            .iter()
            .map(|class| NearestFacts { rows: class.rows, differs: class.differs.clone() })
            .collect(),
    });
    WhyFacts { finer: finer.collect(), groups: why.groups, suppressed: suppressed.collect() }
}

fn of_lattice(lattice: &LatticePart) -> LatticeFacts {
    let levels = |levels: &Vec<u8>| levels.iter().copied().map(usize::from).collect();
    let attributes = lattice.attributes.iter();
    LatticeFacts {
        attributes: attributes
            .map(|attribute| LatticeAttributeFacts { name: attribute.name.clone(), top: attribute.top })
            .collect(),
        nodes: lattice.nodes,
        holding_count: lattice.holding_count as u64,
        holding: lattice.holding.iter().map(levels).collect(),
        chosen: levels(&lattice.chosen),
    }
}

fn of_undivided(undivided: &Undivided) -> UndividedFacts {
    let counted = |of: UndividedClasses| CountedFacts { classes: of.classes, rows: of.rows };
    let settled_by = undivided.settled_by.iter().map(|settled| SettledFacts {
        model: settled.model.clone(),
        required: of_parameters(&settled.required),
        protect: settled.protect.clone(),
        classes: settled.counted.classes,
        rows: settled.counted.rows,
    });
    let attributes = undivided.attributes.iter().map(|attribute| GeneralizedFacts {
        attribute: attribute.attribute.clone(),
        classes: attribute.counted.classes,
        rows: attribute.counted.rows,
        settled: attribute.settled,
    });
    let largest = undivided.largest.iter().map(|class| OpenClassFacts {
        cells: of_cells(&class.cells),
        rows: class.rows,
        wide: class.wide.clone(),
    });
    UndividedFacts {
        settled_by: settled_by.collect(),
        settled: counted(undivided.settled),
        single_valued: counted(undivided.single_valued),
        open: counted(undivided.open),
        attributes: attributes.collect(),
        largest: largest.collect(),
    }
}

fn of_measures(measures: &Measures) -> MeasureFacts {
    match measures {
        Measures::Table(measures) => of_table_measures(measures),
        Measures::Decomposed(tables) => {
            MeasureFacts { loss: named_losses([("kl", Number::from_f64(tables.loss.kl))]), ..MeasureFacts::default() }
        }
    }
}

fn of_table_measures(measures: &TableMeasures) -> MeasureFacts {
    let attributes = measures.attributes.iter().map(|lost| {
        let facts = AttributeLossFacts { level: lost.level, top: lost.top, ncp: lost.ncp };
        (lost.name.clone(), facts)
    });
    MeasureFacts {
        loss: of_losses(&measures.losses),
        attributes: attributes.collect(),
        risk: Some(of_risk(&measures.risk)),
        queries: measures.queries.as_ref().map(of_queries),
        singled_out: of_singled_out(&measures.singled_out),
    }
}

fn of_losses(losses: &Losses) -> Named<Number> {
    let share = |share: Option<f64>| share.and_then(Number::from_f64);
    named_losses([
        ("ncp", Number::from_f64(losses.ncp)),
        ("precision", share(losses.precision)),
        ("discernibility", Some(losses.discernibility.into())),
        ("average-class", Number::from_f64(losses.average_class)),
        ("granularity", share(losses.granularity)),
        ("entropy", share(losses.entropy)),
        ("kl", share(losses.kl)),
    ])
}

fn named_losses<const N: usize>(losses: [(&str, Option<Number>); N]) -> Named<Number> {
    losses.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn of_risk(risk: &Risk) -> ScenariosFacts {
    let scenario = |scenario: &Scenario| ScenarioFacts {
        max: scenario.max,
        mean: scenario.mean,
        share_above_threshold: scenario.share_above,
    };
    ScenariosFacts {
        prosecutor: scenario(&risk.prosecutor),
        journalist: risk.journalist.as_ref().map(scenario),
        marketer: risk.marketer,
    }
}

fn of_queries(queries: &QueryError) -> QueryFacts {
    QueryFacts {
        count: queries.options.count as u64,
        seed: queries.options.seed,
        selectivity: queries.options.selectivity,
        relative_error: RelativeErrorFacts {
            mean: queries.mean,
            median: queries.median,
            percentile_95: queries.percentile_95,
        },
    }
}
