//! The bridge between Python and the crate `hedgerow`: it converts arguments and results, and
//! nothing else. Results that are JSON on the command line cross as the same JSON, so that keys
//! agree; rows cross as Arrow streams, without a copy through text.

mod command;
mod error;
mod part;
mod policy;
mod release;
mod rows;
mod run;

use pyo3::prelude::*;

#[pymodule]
mod _hedgerow {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::command::{command, studio};
    #[pymodule_export]
    use crate::error::{Breach, Canceled, HedgerowError, InputError, InternalError, PolicyError, Unsatisfiable};
    #[pymodule_export]
    use crate::part::{audit_html, check_html, claims_html};
    #[pymodule_export]
    use crate::policy::Policy;
    #[pymodule_export]
    use crate::release::{
        Release, anonymity, audit, check_table, explore, propose, publish, report, rules, synthetic_census,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("ADVERSARIES", super::adversaries())
    }
}

fn adversaries() -> Vec<&'static str> {
    hedgerow::Adversary::ALL.map(hedgerow::Adversary::name).to_vec()
}
