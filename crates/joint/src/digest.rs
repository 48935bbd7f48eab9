//! What was agreed on, as one hash: custodians who agreed on anything else do not start.
//!
//! Everything goes in that changes what a word of a vector means or who may take part: values and
//! their order, how attributes are cut, rules with their parameters, promises, limits, the profile
//! and the version of the program. A question is made of this and of everybody's commitment to its
//! rows, and every message carries the question.

use hedgerow_cuts::{Axis, Shape, Span};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{Digest, Fault, PROTOCOL_VERSION, Plan, Roster, Snapshot};
use sha2::{Digest as _, Sha256};

use crate::{Agreed, Attribute, JointRule, Profile};

impl Agreed {
    /// Over all that custodians agree on. The chances are those of the ring; under masks they
    /// change nothing, and are omitted.
    pub fn digest(&self, profile: Profile, chances: Chances) -> Digest {
        let mut terms = Terms(Sha256::new());
        terms.text("hedgerow agreed 2");
        terms.text(env!("CARGO_PKG_VERSION"));
        terms.number(u64::from(PROTOCOL_VERSION));
        terms.number(self.attributes.len() as u64);
        self.attributes.iter().for_each(|attribute| terms.attribute(attribute));
        terms.number(self.axes.len() as u64);
        self.axes.iter().for_each(|axis| terms.axis(axis));
        terms.numbers(self.weights.iter().map(|weight| weight.to_bits()));
        terms.numbers(self.cardinalities.iter().map(|values| *values as u64));
        terms.number(self.rules.len() as u64);
        self.rules.iter().for_each(|rule| terms.rule(rule));
        terms.numbers([self.carries, self.strict, self.tight, self.apart].map(u64::from));
        terms.numbers([self.sites, self.towards]);
        let limits = self.limits;
        terms.numbers([
            u64::from(limits.rounds_max),
            limits.words_max,
            limits.rows_max,
            limits.parts_max,
            limits.batch_bytes_max,
            limits.inbox_bytes_max,
        ]);
        match profile {
            Profile::Masked => terms.number(0),
            Profile::Baseline => {
                terms.numbers([1, chances.p0.to_bits(), chances.d.to_bits(), u64::from(chances.passes)]);
            }
        }
        terms.0.finalize().into()
    }

    /// A run as a custodian plans it: these terms, these custodians, and everybody's rows.
    pub fn plan(
        &self,
        profile: Profile,
        chances: Chances,
        roster: Roster,
        commitments: Vec<Digest>,
        own: Snapshot,
    ) -> Result<Plan, Fault> {
        Plan::new(self.digest(profile, chances), self.limits, roster, commitments, own)
    }
}

/// Numbers and texts, each with its length, so that no two agreements have the same bytes.
struct Terms(Sha256);

impl Terms {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) {
        let numbers: Vec<u64> = numbers.into_iter().collect();
        self.number(numbers.len() as u64);
        numbers.into_iter().for_each(|number| self.number(number));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn span(&mut self, span: Span) {
        self.numbers([u64::from(span.first), u64::from(span.last)]);
    }

    fn attribute(&mut self, Attribute { name, domain }: &Attribute) {
        self.text(name);
        self.text(domain.kind().name());
        self.number(u64::from(domain.missing_code().is_some()));
        self.number(domain.present() as u64);
        (0..domain.present() as u32).for_each(|code| self.text(&domain.text(code)));
    }

    fn axis(&mut self, axis: &Axis) {
        self.numbers((0..axis.size()).map(|rank| u64::from(axis.code(rank))));
        match axis.shape() {
            Shape::Order => self.number(0),
            Shape::Line(line) => {
                self.numbers([1, u64::from(line.present())]);
                for rank in 0..line.present() {
                    // Cuts decide what a region of a release says.
                    self.text(&format!("{:?}", line.bounds(Span::new(rank, rank))));
                }
            }
            Shape::Tree(nodes) => {
                self.numbers([2, nodes.len() as u64]);
                for node in nodes {
                    self.span(node.span);
                    self.number(node.level as u64);
                    self.number(node.children.len() as u64);
                    node.children.iter().for_each(|child| self.span(*child));
                }
            }
        }
    }

    fn rule(&mut self, rule: &JointRule) {
        self.number(rule.protect.map_or(u64::MAX, |place| place as u64));
        self.number(rule.guarantees.len() as u64);
        rule.guarantees.iter().for_each(|guarantee| self.text(&format!("{:?}", guarantee.model())));
        let levels = rule.tree.as_ref().map_or(&[][..], |tree| &tree.levels);
        self.number(levels.len() as u64);
        levels.iter().for_each(|level| self.numbers(level.iter().map(|node| u64::from(*node))));
    }
}
