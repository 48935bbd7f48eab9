//! The agreement as one hash: custodians with another agreement do not start.
//!
//! Everything goes in that changes what a word of a vector means or who may take part: values and
//! their order, how attributes are cut, rules with their parameters, promises, limits, the profile
//! and the versions of the agreement and of messages. A question is made of this and of each
//! custodian's commitment to its rows, and every message carries the question.

use hedgerow_cuts::{Axis, Shape, Span};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{Digest, Fault, PROTOCOL_VERSION, Plan, Roster, RunLimits, Snapshot};
use sha2::{Digest as _, Sha256};

use crate::{Agreed, JointAttribute, JointRule, Profile};

/// The version of what an agreement means. It is raised whenever a release or an answer under the
/// same terms could differ, so that programs that would decide differently do not compute together.
/// Programs of other versions that decide alike do: nodes are upgraded one at a time.
pub const AGREEMENT_VERSION: u64 = 4;

/// The versions of the agreement and of messages under which questions were answered as today: an
/// epoch whose rows are apart stays queryable when its custodians upgrade from one of them. A
/// version that is raised for other reasons than answers leaves the one before in this list.
pub const ANSWERED_VERSIONS: &[(u64, u8)] = &[(AGREEMENT_VERSION, PROTOCOL_VERSION)];

impl Agreed {
    /// Over all that custodians agree on. The chances are those of the ring; under masks they
    /// change nothing, and are omitted.
    pub fn digest(&self, profile: Profile, chances: Chances) -> Digest {
        self.digest_under((AGREEMENT_VERSION, PROTOCOL_VERSION), profile, chances)
    }

    /// Whether a digest is of these very terms, under one of some versions.
    pub fn is_under(&self, terms: &Digest, versions: &[(u64, u8)], profile: Profile, chances: Chances) -> bool {
        versions.iter().any(|versions| self.digest_under(*versions, profile, chances) == *terms)
    }

    fn digest_under(&self, (agreement, messages): (u64, u8), profile: Profile, chances: Chances) -> Digest {
        // Every field by its name: one that is added does not compile until it is in the digest.
        let Agreed {
            attributes,
            axes,
            weights,
            cardinalities,
            carries,
            rules,
            strict,
            tight,
            sites,
            towards,
            apart,
            limits,
        } = self;
        let mut terms = Terms(Sha256::new());
        terms.text("hedgerow agreed");
        terms.number(agreement);
        terms.number(u64::from(messages));
        terms.number(attributes.len() as u64);
        attributes.iter().for_each(|attribute| terms.attribute(attribute));
        terms.number(axes.len() as u64);
        axes.iter().for_each(|axis| terms.axis(axis));
        terms.numbers(weights.iter().map(|weight| weight.to_bits()));
        terms.numbers(cardinalities.iter().map(|values| *values as u64));
        terms.number(rules.len() as u64);
        rules.iter().for_each(|rule| terms.rule(rule));
        terms.numbers([carries, strict, tight, apart].map(|flag| u64::from(*flag)));
        terms.numbers([*sites, *towards]);
        terms.limits(limits);
        match profile {
            Profile::Masked => terms.number(0),
            Profile::Baseline => {
                let Chances { p0, d, passes } = chances;
                terms.numbers([1, p0.to_bits(), d.to_bits(), u64::from(passes)]);
            }
        }
        terms.0.finalize().into()
    }

    /// A run as a custodian plans it: these terms, these custodians, and all rows.
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

    fn attribute(&mut self, JointAttribute { name, domain }: &JointAttribute) {
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

    fn limits(&mut self, limits: &RunLimits) {
        let RunLimits { rounds_max, words_max, rows_max, parts_max, batch_bytes_max, inbox_bytes_max } = *limits;
        let rounds_max = u64::from(rounds_max);
        self.numbers([rounds_max, words_max, rows_max, parts_max, batch_bytes_max, inbox_bytes_max]);
    }

    fn rule(&mut self, JointRule { protect, guarantees, tree }: &JointRule) {
        self.number(protect.map_or(u64::MAX, |place| place as u64));
        self.number(guarantees.len() as u64);
        guarantees.iter().for_each(|guarantee| self.text(&format!("{:?}", guarantee.model())));
        let levels = tree.as_ref().map_or(&[][..], |tree| &tree.levels);
        self.number(levels.len() as u64);
        levels.iter().for_each(|level| self.numbers(level.iter().map(|node| u64::from(*node))));
    }
}
