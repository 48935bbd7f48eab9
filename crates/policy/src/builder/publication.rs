//! How a built policy is published.

use crate::{Algorithm, Anonymizer, Assignment, ClassLabels, Loss, Method, RareValues, Summary};

/// How to publish: the method, and what it is to do. An option that the method does not have is
/// refused with the policy; one that is not set has the default of the policy file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Publication {
    pub(crate) method: Method,
    pub(crate) suppression: Option<f64>,
    pub(crate) loss: Option<Loss>,
    pub(crate) weights: Vec<(String, f64)>,
    pub(crate) max_nodes: Option<u64>,
    pub(crate) max_seconds: Option<f64>,
    pub(crate) strict: Option<bool>,
    pub(crate) summarise: Option<Summary>,
    pub(crate) labels: Option<ClassLabels>,
    pub(crate) improve: bool,
    pub(crate) k: Option<u64>,
    pub(crate) lambda: Option<u64>,
    pub(crate) max_epsilon: Option<f64>,
    pub(crate) max_distorted: Option<f64>,
    pub(crate) assignment: Option<Assignment>,
    pub(crate) rho: Option<f64>,
    pub(crate) rare: Option<RareValues>,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) anonymizer: Option<Anonymizer>,
    pub(crate) link: bool,
    pub(crate) dependency_tolerance: Option<f64>,
}

impl Publication {
    /// By this method, with its defaults.
    pub fn by(method: Method) -> Publication {
        Publication { method, ..Publication::default() }
    }

    /// For full-domain and clone: the share of rows that may be suppressed.
    pub fn suppression(mut self, share: f64) -> Self {
        self.suppression = Some(share);
        self
    }

    /// For full-domain, cluster and [`Publication::improve`]: the loss that is minimized.
    pub fn loss(mut self, loss: Loss) -> Self {
        self.loss = Some(loss);
        self
    }

    /// How much the cells of a quasi-identifier count in a loss of cells; 1 by default.
    pub fn weight(mut self, attribute: impl Into<String>, weight: f64) -> Self {
        self.weights.push((attribute.into(), weight));
        self
    }

    /// For full-domain: stops the search after this many lattice nodes.
    pub fn max_nodes(mut self, nodes: u64) -> Self {
        self.max_nodes = Some(nodes);
        self
    }

    /// For full-domain, cluster and [`Publication::improve`]: stops after this many seconds, with
    /// the best found.
    pub fn max_seconds(mut self, seconds: f64) -> Self {
        self.max_seconds = Some(seconds);
        self
    }

    /// For mondrian: whether rows with equal values stay in one class; true by default.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }

    /// For mondrian, best-cut and cluster: how numbers and dates of a class are released.
    pub fn summarise(mut self, summary: Summary) -> Self {
        self.summarise = Some(summary);
        self
    }

    /// For cluster: how categories of a class are released.
    pub fn labels(mut self, labels: ClassLabels) -> Self {
        self.labels = Some(labels);
        self
    }

    /// For cluster, best-cut and mondrian: exchanges rows between classes until nothing improves.
    pub fn improve(mut self, improve: bool) -> Self {
        self.improve = improve;
        self
    }

    /// For clone: the fewest tuples in a sub-class.
    pub fn k(mut self, k: u64) -> Self {
        self.k = Some(k);
        self
    }

    /// For clone: how many values of a sub-class an indicative range covers.
    pub fn lambda(mut self, lambda: u64) -> Self {
        self.lambda = Some(lambda);
        self
    }

    /// For clone: how far a value's share in a class may be from its share in the table.
    pub fn max_epsilon(mut self, epsilon: f64) -> Self {
        self.max_epsilon = Some(epsilon);
        self
    }

    /// For clone: the share of tuples that may be suppressed or counterfeit.
    pub fn max_distorted(mut self, share: f64) -> Self {
        self.max_distorted = Some(share);
        self
    }

    /// For clone and anatomy: which rows share a class or a bucket.
    pub fn assignment(mut self, assignment: Assignment) -> Self {
        self.assignment = Some(assignment);
        self
    }

    /// For clone by [`Assignment::Scan`]: the share of tuples that every class looks at.
    pub fn rho(mut self, share: f64) -> Self {
        self.rho = Some(share);
        self
    }

    /// For clone: what becomes of values so rare that classes become few and large.
    pub fn rare(mut self, rare: RareValues) -> Self {
        self.rare = Some(rare);
        self
    }

    /// For decompose: how the tables are chosen.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = Some(algorithm);
        self
    }

    /// For decompose: how a table hides its protected attribute.
    pub fn anonymizer(mut self, anonymizer: Anonymizer) -> Self {
        self.anonymizer = Some(anonymizer);
        self
    }
}

impl Publication {
    /// The share of rows that may deviate from a dependency that is looked for in the source; 1 %
    /// by default.
    pub fn dependency_tolerance(mut self, share: f64) -> Self {
        self.dependency_tolerance = Some(share);
        self
    }

    /// Where rows belong to units: releases a random number for each unit, so that its rows stay
    /// together.
    pub fn link(mut self, link: bool) -> Self {
        self.link = link;
        self
    }
}

impl From<Method> for Publication {
    fn from(method: Method) -> Publication {
        Publication::by(method)
    }
}
