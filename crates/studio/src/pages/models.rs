//! Privacy models as sentences with numbers that can be moved, and values that others use, with
//! their sources.

/// A number of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) key: &'static str,
    /// Where the slider begins and ends; the field beside it takes any number.
    pub(crate) range: (f64, f64),
    pub(crate) step: f64,
    pub(crate) first: &'static str,
}

/// A model: `before`, then each parameter with the words after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelText {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// `{}` is the protected attribute.
    pub(crate) before: &'static str,
    pub(crate) parameters: &'static [(Parameter, &'static str)],
    pub(crate) needs_protected: bool,
}

const fn whole(key: &'static str, high: f64, first: &'static str) -> Parameter {
    Parameter { key, range: (1.0, high), step: 1.0, first }
}

const fn share(key: &'static str, first: &'static str) -> Parameter {
    Parameter { key, range: (0.0, 1.0), step: 0.01, first }
}

const K: Parameter = whole("k", 50.0, "5");
const L: Parameter = whole("l", 10.0, "2");

pub(crate) const MODELS: &[ModelText] = &[
    ModelText {
        name: "k-anonymity",
        title: "k-anonymity",
        before: "must find at least",
        parameters: &[(K, "people who match.")],
        needs_protected: false,
    },
    ModelText {
        name: "distinct-l-diversity",
        title: "distinct l-diversity",
        before: "must be left with at least",
        parameters: &[(L, "values of {}.")],
        needs_protected: true,
    },
    ModelText {
        name: "frequency-l-diversity",
        title: "frequency l-diversity",
        before: "must not be more confident of any value of {} than 1 in",
        parameters: &[(L, ".")],
        needs_protected: true,
    },
    ModelText {
        name: "entropy-l-diversity",
        title: "entropy l-diversity",
        before: "must be as uncertain of {} as of",
        parameters: &[(L, "equally frequent values.")],
        needs_protected: true,
    },
    ModelText {
        name: "recursive-l-diversity",
        title: "recursive (c,l)-diversity",
        before: "must find the most frequent value of {} less than",
        parameters: &[
            (
                Parameter { key: "c", range: (0.1, 10.0), step: 0.1, first: "2.0" },
                "times as often as the rarer ones from the",
            ),
            (L, "th on together."),
        ],
        needs_protected: true,
    },
    ModelText {
        name: "t-closeness",
        title: "t-closeness",
        before: "must find {} distributed as in the whole table, up to a distance of",
        parameters: &[(share("t", "0.3"), ".")],
        needs_protected: true,
    },
    ModelText {
        name: "alpha-k-anonymity",
        title: "(α,k)-anonymity",
        before: "must find at least",
        parameters: &[
            (K, "people who match, and no value of {} in more than the share"),
            (share("alpha", "0.5"), "of them."),
        ],
        needs_protected: true,
    },
    ModelText {
        name: "epsilon-m-anonymity",
        title: "(ε,m)-anonymity",
        before: "must find {} within",
        parameters: &[
            (
                Parameter { key: "epsilon", range: (0.0, 100.0), step: 1.0, first: "10" },
                "of any one value in at most one in",
            ),
            (whole("m", 10.0, "2"), "of the people who match."),
        ],
        needs_protected: true,
    },
    ModelText {
        name: "delta-l-diversity",
        title: "(δ,l)-diversity",
        before: "must find {} in an interval of twice",
        parameters: &[
            (Parameter { key: "delta", range: (0.0, 100.0), step: 0.5, first: "5" }, "for at most one in"),
            (L, "of the people who match."),
        ],
        needs_protected: true,
    },
    ModelText {
        name: "epsilon-clone",
        title: "ε-clone",
        before: "must find every value of {} as often as in the whole table, up to a share of",
        parameters: &[(share("epsilon", "0.05"), ".")],
        needs_protected: true,
    },
    ModelText {
        name: "cross-release-l-diversity",
        title: "cross-release l-diversity",
        before: "and combines this release with the others must be left with at least",
        parameters: &[(L, "values of {}.")],
        needs_protected: true,
    },
    ModelText {
        name: "rho-breach",
        title: "ρ₁-to-ρ₂ breach",
        before: "must not find a value of {} that at most the share",
        parameters: &[
            (share("prior", "0.1"), "of the whole table has in the share"),
            (share("posterior", "0.5"), "of the people who match, or more."),
        ],
        needs_protected: true,
    },
    ModelText {
        name: "belief-change",
        title: "Kifer's measure",
        before: "must not change what the whole table says of {} by more than",
        parameters: &[(share("b", "0.2"), ".")],
        needs_protected: true,
    },
];

/// A value that others use, and who says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    pub(crate) source: &'static str,
}

pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "k = 5",
        model: "k-anonymity",
        parameters: &[("k", "5")],
        source: "a risk of 0.2, common for data that few may use (El Emam and Dankar, JAMIA 2008)",
    },
    Preset {
        name: "k = 11",
        model: "k-anonymity",
        parameters: &[("k", "11")],
        source: "no cell of 1 to 10 people: the cell size policy of the Centers for Medicare & Medicaid Services",
    },
    Preset {
        name: "k = 12",
        model: "k-anonymity",
        parameters: &[("k", "12")],
        source: "a risk of at most 0.09: European Medicines Agency, EMA/90915/2016",
    },
    Preset {
        name: "k = 20",
        model: "k-anonymity",
        parameters: &[("k", "20")],
        source: "a risk of 0.05, for files of patients that anyone may use (El Emam, Guide to the De-Identification of Personal Health Information, 2013)",
    },
    Preset {
        name: "l = 2 distinct",
        model: "distinct-l-diversity",
        parameters: &[("l", "2")],
        source: "the least that excludes certainty (Machanavajjhala et al., TKDD 2007)",
    },
    Preset {
        name: "1 in 3",
        model: "frequency-l-diversity",
        parameters: &[("l", "3")],
        source: "confidence of at most a third (Xiao and Tao, VLDB 2006)",
    },
    Preset {
        name: "t = 0.3",
        model: "t-closeness",
        parameters: &[("t", "0.3")],
        source: "within the range that its authors try (Li, Li and Venkatasubramanian, ICDE 2007)",
    },
];

pub(crate) fn text(name: &str) -> Option<&'static ModelText> {
    MODELS.iter().find(|model| model.name == name)
}
