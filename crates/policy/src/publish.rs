//! `[publish]`: how to publish, what the search minimises, and how long it may take.

use hedgerow_table::Ratio;

use crate::number::{ABOVE_ZERO, SHARE};
use crate::reader::Reader;
use crate::tree::Node;
use crate::words::{LOSSES, METHODS, PUBLISH};

#[derive(Debug, Clone, PartialEq)]
pub struct Publish {
    pub method: Method,
    /// The share of rows that may be left out, from 0 to 1.
    pub suppression: Ratio,
    pub loss: Loss,
    /// At least 1.
    pub max_nodes: Option<u64>,
    /// Above 0 and at most [`SECONDS_MAX`].
    pub max_seconds: Option<f64>,
    /// Of the table; the file alone when the policy has none.
    pub place: String,
}

/// Thirty years, so that a duration made of it cannot overflow.
pub const SECONDS_MAX: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    #[default]
    FullDomain,
    Anatomy,
}

impl Method {
    pub const ALL: [Method; 2] = [Method::FullDomain, Method::Anatomy];

    pub fn name(self) -> &'static str {
        match self {
            Method::FullDomain => "full-domain",
            Method::Anatomy => "anatomy",
        }
    }
}

/// What a search minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Loss {
    #[default]
    Ncp,
    Precision,
    Discernibility,
    AverageClass,
    Granularity,
}

impl Loss {
    pub const ALL: [Loss; 5] =
        [Loss::Ncp, Loss::Precision, Loss::Discernibility, Loss::AverageClass, Loss::Granularity];

    /// The name in a policy, a manifest and a report.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Ncp => "ncp",
            Loss::Precision => "precision",
            Loss::Discernibility => "discernibility",
            Loss::AverageClass => "average-class",
            Loss::Granularity => "granularity",
        }
    }

    pub fn from_name(name: &str) -> Option<Loss> {
        Loss::ALL.into_iter().find(|loss| loss.name() == name)
    }
}

impl Publish {
    pub(crate) fn by_default(place: String) -> Publish {
        Publish {
            method: Method::default(),
            suppression: Ratio::ZERO,
            loss: Loss::default(),
            max_nodes: None,
            max_seconds: None,
            place,
        }
    }
}

/// What is wrong is refused on the way and left at its default.
pub(crate) fn read(reader: &mut Reader<'_>, node: &Node) -> Option<Publish> {
    let fields = reader.table(node, PUBLISH, "[publish]")?;
    let mut publish = Publish::by_default(reader.place(&node.at));
    if let Some(field) = fields.get("method") {
        let name = reader.choice(field, METHODS.iter(), "method");
        let method = Method::ALL.into_iter().find(|method| Some(method.name()) == name);
        publish.method = method.unwrap_or_default();
    }
    if let Some(share) = fields.get("suppression").and_then(|field| reader.ratio(field, SHARE)) {
        publish.suppression = share;
    }
    if let Some(field) = fields.get("loss") {
        publish.loss = reader.choice(field, LOSSES.iter(), "loss").and_then(Loss::from_name).unwrap_or_default();
    }
    publish.max_nodes = fields.get("max-nodes").and_then(|field| reader.whole(field, 1, u64::MAX));
    if let Some(field) = fields.get("max-seconds") {
        let seconds = reader.ratio(field, ABOVE_ZERO).map(Ratio::as_f64);
        if seconds.is_some_and(|seconds| seconds > SECONDS_MAX as f64) {
            reader.refuse(&field.node.at, format!("must be at most {SECONDS_MAX} seconds"), field.hint());
        }
        publish.max_seconds = seconds;
    }
    Some(publish)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_methods_are_those_of_the_table_of_words() {
        assert!(LOSSES.iter().map(|word| word.name).eq(Loss::ALL.map(Loss::name)));
        let available = METHODS.iter().filter(|word| word.available).map(|word| word.name);
        assert!(available.eq(Method::ALL.map(Method::name)));
    }
}
