//! `coarsen` of a policy, applied to the rows right after they are read: whatever follows sees the
//! coarser values and no others.

use std::borrow::Cow;

use hedgerow_policy::{Attribute, Method, Policy, Role};
use hedgerow_release::coarsened::{declaration, released_only};
use hedgerow_release::{Manifest, Release};
use hedgerow_table::{CoarsenedEngine, Coarsening, Coarser, Engine, InputError, Table, TableError};

use crate::declared_values;

/// The attributes whose values became coarser.
#[derive(Debug, Default, Clone)]
pub struct Coarsened {
    attributes: Vec<(String, Coarsening, Coarser)>,
}

impl Coarsened {
    /// States them in a manifest. A cloned release has no plain attributes.
    pub fn declare(&self, policy: &Policy, manifest: &mut Manifest) {
        let is_plain = |name: &str| policy.attribute(name).is_some_and(|attribute| attribute.role == Role::Plain);
        let is_released = |name: &str| policy.publish.method != Method::Clone || !is_plain(name);
        let said = self.attributes.iter().filter(|(name, ..)| is_released(name));
        let said = said.map(|(name, coarsening, coarser)| (name.clone(), declaration(coarsening, coarser)));
        manifest.hedgerow.coarsened = said.collect();
    }

    /// How the values of an attribute became coarser.
    pub fn of(&self, name: &str) -> Option<(&Coarsening, &Coarser)> {
        let found = self.attributes.iter().find(|(attribute, ..)| attribute == name);
        found.map(|(_, coarsening, coarser)| (coarsening, coarser))
    }

    /// The attributes' names, each with the kind that its values had.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, hedgerow_table::Kind)> {
        self.attributes.iter().map(|(name, _, coarser)| (name.as_str(), coarser.kind))
    }
}

/// A manifest lists the values that are released, and no others of the source.
pub fn state_released(manifest: &mut Manifest, released: &Release) {
    for (name, said) in &mut manifest.hedgerow.coarsened {
        let domains = released.domains(name);
        released_only(said, |label| domains.iter().any(|domain| domain.code_of(label).is_some()));
    }
}

/// Rows outside of memory, with the coarser values that a policy declares.
pub fn coarsen_engine<'a>(
    policy: &Policy,
    engine: Box<dyn Engine + 'a>,
) -> Result<(Box<dyn Engine + 'a>, Coarsened), TableError> {
    let mut coarsened = Coarsened::default();
    let mut columns = Vec::new();
    for column in &engine.profile().columns {
        let found = policy.attribute(&column.name).and_then(|attribute| Some((attribute, attribute.coarsen.as_ref()?)));
        let Some((attribute, coarsening)) = found else {
            columns.push(None);
            continue;
        };
        declared_values::refuse_outside_of(attribute, &column.domain)?;
        let coarser = coarsening.apply(&column.name, &column.domain, &policy.source.nulls)?;
        coarsened.attributes.push((column.name.clone(), coarsening.clone(), coarser.clone()));
        columns.push(Some(coarser));
    }
    Ok((Box::new(CoarsenedEngine::new(engine, columns)), coarsened))
}

/// A cluster does not make values coarser.
pub fn refuse_elsewhere(policy: &Policy) -> InputError {
    let place = policy.attributes.iter().find_map(|attribute| attribute.coarsen.as_ref());
    let problem = "`coarsen` needs the rows on this machine, and they do not leave the cluster";
    let hint = "round the values in `query` of the source, or publish from a file or a database";
    InputError::new(place.map_or_else(String::new, |coarsening| coarsening.place.clone()), problem, hint)
}

pub fn declares(policy: &Policy) -> bool {
    policy.attributes.iter().any(|attribute| attribute.coarsen.is_some())
}

/// A table with the coarser values that a policy declares, and what became of them; borrowed where
/// it declares none.
pub fn coarsen_table<'t>(policy: &Policy, table: Cow<'t, Table>) -> Result<(Cow<'t, Table>, Coarsened), TableError> {
    let mut coarsened = Coarsened::default();
    if !declares(policy) {
        return Ok((table, coarsened));
    }
    let mut table = table.into_owned();
    let with = |attribute: &'_ Attribute| attribute.coarsen.clone();
    for attribute in &policy.attributes {
        let Some(coarsening) = with(attribute) else { continue };
        let Some(column) = table.columns.iter_mut().find(|column| column.name == attribute.name) else { continue };
        declared_values::refuse_outside_of(attribute, &column.domain)?;
        let (coarse, coarser) = coarsening.column(column, &policy.source.nulls)?;
        *column = coarse;
        coarsened.attributes.push((attribute.name.clone(), coarsening, coarser));
    }
    Ok((Cow::Owned(table), coarsened))
}
