"""Policies: from a file, a dict, or typed classes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from . import _hedgerow, _toml
from ._folder import Folder


@dataclass(frozen=True)
class Attribute:
    """What a column is."""

    role: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class Identifier(Attribute):
    """A column that names a person; never released."""

    role: ClassVar[str] = "identifier"

    def to_dict(self) -> dict[str, Any]:
        return {"role": self.role}


@dataclass(frozen=True)
class Unit(Attribute):
    """Says which rows are about one individual, household or firm: guarantees count units, not rows."""

    role: ClassVar[str] = "unit"

    def to_dict(self) -> dict[str, Any]:
        return {"role": self.role}


@dataclass(frozen=True)
class Quasi(Attribute):
    """A quasi-identifier: others may know it, so it is generalized. At most one of the first five arguments says how;
    without one, a cell is released as the value or as ``*``.

    :param widths: intervals of these widths, one for each level: ``[5, 10, 20]``
    :param mask: hide one more character from the right on each level, this many times
    :param breaks: cut points, one list for each level: ``[[18, 30, 50], [18, 50]]``
    :param dates: calendar units, finest first: ``["month", "year"]``
    :param file: a hierarchy file with ``leaf;level 1;…;top`` in every row, as ARX writes it
    :param range: the lowest and the highest possible value, which are public; ``None`` leaves an end open
    :param order: all texts, lowest first
    :param type: ``"integer"``, ``"float"``, ``"category"`` or ``"date"``, if it should not be inferred
    :param date_format: how dates are written, if not as 2024-02-29
    """

    role: ClassVar[str] = "quasi"
    widths: Sequence[float] | None = None
    mask: int | None = None
    breaks: Sequence[Sequence[Any]] | None = None
    dates: Sequence[str] | None = None
    file: str | os.PathLike[str] | None = None
    range: tuple[Any, Any] | None = None
    order: Sequence[str] | None = None
    type: str | None = None
    date_format: str | None = None

    def to_dict(self) -> dict[str, Any]:
        ways = {name: getattr(self, name) for name in ("widths", "mask", "breaks", "dates", "file")}
        hierarchy = {name: way for name, way in ways.items() if way is not None}
        described: dict[str, Any] = {"role": self.role}
        if hierarchy:
            described["hierarchy"] = hierarchy
        return described | _declared(self)


@dataclass(frozen=True)
class Sensitive(Attribute):
    """What an attacker must not learn. ``coarsen`` releases coarser values, such as ``{"round": 1000}``."""

    role: ClassVar[str] = "sensitive"
    file: str | os.PathLike[str] | None = None
    range: tuple[Any, Any] | None = None
    order: Sequence[str] | None = None
    type: str | None = None
    date_format: str | None = None
    allow_unique: bool = False
    coarsen: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        described: dict[str, Any] = {"role": self.role}
        if self.file is not None:
            described["hierarchy"] = {"file": self.file}
        return described | _declared(self)


@dataclass(frozen=True)
class Plain(Attribute):
    """Released as it is, or by ``coarsen`` in coarser values, such as ``{"dates": "month"}``."""

    role: ClassVar[str] = "plain"
    range: tuple[Any, Any] | None = None
    order: Sequence[str] | None = None
    type: str | None = None
    date_format: str | None = None
    allow_unique: bool = False
    coarsen: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"role": self.role} | _declared(self)


def _declared(attribute: Any) -> dict[str, Any]:
    names = {"range": "range", "order": "order", "type": "type", "date_format": "date-format"}
    declared = {key: getattr(attribute, name) for name, key in names.items() if getattr(attribute, name) is not None}
    if getattr(attribute, "allow_unique", False):
        declared["allow-unique"] = True
    if getattr(attribute, "coarsen", None) is not None:
        declared["coarsen"] = attribute.coarsen
    if "range" in declared:
        low, high = declared["range"]
        declared["range"] = [float("-inf") if low is None else low, float("inf") if high is None else high]
    return declared


@dataclass(frozen=True)
class Model:
    """A privacy model with its parameters."""

    model: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        parameters = {item.name: getattr(self, item.name) for item in fields(self)}
        for name in ("protect", "know"):
            parameters.pop(name, None)
        given = {name: value for name, value in parameters.items() if value is not None}
        return {"model": self.model} | given

    def to_rule(self) -> dict[str, Any]:
        rule: dict[str, Any] = {}
        if (know := getattr(self, "know", None)) is not None:
            rule["know"] = list(know)
        if (protect := getattr(self, "protect", None)) is not None:
            rule["protect"] = protect
        return rule | {"require": self.to_dict()}


@dataclass(frozen=True)
class ConditionalModel(Model):
    """A model that may be about some classes alone.

    ``having`` names protected values: the model is about the classes in which one of them occurs. ``below`` is a number
    of rows: the model is about the classes that have fewer.
    """

    having: Sequence[str] | None = field(default=None, kw_only=True)
    below: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every class has at least k rows."""

    model: ClassVar[str] = "k-anonymity"
    k: int
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class DistinctLDiversity(ConditionalModel):
    """Every class has at least l protected values."""

    model: ClassVar[str] = "distinct-l-diversity"
    protect: str
    l: int
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class FrequencyLDiversity(ConditionalModel):
    """No protected value exceeds 1/l of its class."""

    model: ClassVar[str] = "frequency-l-diversity"
    protect: str
    l: float
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class EntropyLDiversity(ConditionalModel):
    """The entropy of every class is at least log l."""

    model: ClassVar[str] = "entropy-l-diversity"
    protect: str
    l: float
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class RecursiveLDiversity(ConditionalModel):
    """The most frequent value stays below c times the rarer ones."""

    model: ClassVar[str] = "recursive-l-diversity"
    protect: str
    c: float
    l: int
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class TCloseness(ConditionalModel):
    """The distribution in every class is close to the table's."""

    model: ClassVar[str] = "t-closeness"
    protect: str
    t: float
    distance: str | None = None
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class AlphaKAnonymity(ConditionalModel):
    """At least k rows, and no protected value above a share of alpha."""

    model: ClassVar[str] = "alpha-k-anonymity"
    protect: str
    alpha: float
    k: int
    values: Sequence[str] | None = None
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class EpsilonMAnonymity(ConditionalModel):
    """Around every protected number, at most 1/m of its class."""

    model: ClassVar[str] = "epsilon-m-anonymity"
    protect: str
    epsilon: float
    m: float
    relative: bool | None = None
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class DeltaLDiversity(ConditionalModel):
    """No interval of length 2 delta holds more than 1/l of a class."""

    model: ClassVar[str] = "delta-l-diversity"
    protect: str
    delta: float
    l: float
    reading: str | None = None
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class EpsilonClone(Model):
    """Every class has every protected value, each with nearly its share in the table."""

    model: ClassVar[str] = "epsilon-clone"
    protect: str
    epsilon: float
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class CrossReleaseLDiversity(Model):
    """At least l protected values, all releases of the community taken together."""

    model: ClassVar[str] = "cross-release-l-diversity"
    protect: str
    l: int
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class RhoBreach(ConditionalModel):
    """No protected value that is rare in the table reaches a share of posterior in a class."""

    model: ClassVar[str] = "rho-breach"
    protect: str
    prior: float
    posterior: float
    values: Sequence[str] | None = None
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class BeliefChange(ConditionalModel):
    """What is believed of a protected value changes by at most b: Kifer's measure.

    ``distance`` is ``"variation"``, ``"largest"``, ``"relative"`` or ``"divergence"``.
    """

    model: ClassVar[str] = "belief-change"
    protect: str
    b: float
    distance: str | None = None
    values: Sequence[str] | None = None
    know: Sequence[str] | None = None


@dataclass(frozen=True)
class Rule:
    """What an attacker knows, what must not be learned, and which models must hold.

    ``rows`` is ``"all"`` or ``"one"``: where rows belong to units, which rows of a unit the attacker knows.
    ``where`` has values of known attributes: the rule is about the classes whose cells may stand for one of them.
    """

    require: Sequence[Model]
    protect: str | Sequence[str] | None = None
    know: Sequence[str] | None = None
    rows: str | None = None
    where: Mapping[str, Sequence[str]] | None = None

    def to_rule(self) -> dict[str, Any]:
        rule: dict[str, Any] = {}
        if self.know is not None:
            rule["know"] = list(self.know)
        protect = self.protect or next((p for m in self.require if (p := getattr(m, "protect", None))), None)
        if protect is not None:
            rule["protect"] = protect if isinstance(protect, str) else list(protect)
        if self.rows is not None:
            rule["rows"] = self.rows
        if self.where is not None:
            rule["where"] = {name: list(values) for name, values in self.where.items()}
        return rule | {"require": [model.to_dict() for model in self.require]}


class Method:
    """How to publish. Options are the keys of ``[publish]`` in a policy file, with ``_`` for ``-``:
    ``FullDomain(suppression=0.02, loss="entropy")``, ``Clone(max_epsilon=0.01)``.
    """

    name: ClassVar[str]

    def __init__(self, **options: Any) -> None:
        self.options = {key.replace("_", "-"): value for key, value in options.items()}

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.name} | self.options

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.options.items())})"


class FullDomain(Method):
    """Every value of an attribute is generalized to the same level; the loss is proven minimal."""

    name = "full-domain"


class Mondrian(Method):
    """Local recoding: classes by cuts at the median."""

    name = "mondrian"


class BestCut(Method):
    """Local recoding: classes by the cuts that lower the loss the most."""

    name = "best-cut"


class Cluster(Method):
    """Local recoding: classes of rows that are near in every quasi-identifier."""

    name = "cluster"


class Anatomy(Method):
    """Quasi-identifiers and protected values in separate tables, joined by bucket."""

    name = "anatomy"


class Clone(Method):
    """Classes alike in their protected values, released as statistics."""

    name = "clone"


class Decompose(Method):
    """Several tables, each for its own rule."""

    name = "decompose"


@dataclass(frozen=True)
class _Files:
    """Hierarchy files of a proposed policy, removed with it."""

    folder: Folder | None = field(default=None, repr=False)


class Policy:
    """What the columns are, what must hold, and how to publish.

    A column that ``attributes`` does not name is not released. If something is wrong, :class:`PolicyError` has the same
    hints as for a policy file.

    :param attributes: by column, a :class:`Quasi`, :class:`Sensitive`, :class:`Identifier`, :class:`Unit` or :class:`Plain`
    :param rules: models such as :class:`KAnonymity`, or a :class:`Rule` that joins several models against one attacker
    :param method: such as :class:`FullDomain`, which is the default
    :param source: a file or database to read when no frame is given
    :param community: releases of others about the same people
    :param dependencies: dicts with ``from``, ``to`` and perhaps ``accept``, as ``[[dependency]]`` in a policy file
    """

    def __init__(
        self,
        attributes: Mapping[str, Attribute | Mapping[str, Any] | str],
        rules: Iterable[Model | Rule | Mapping[str, Any]] = (),
        method: Method | str | None = None,
        *,
        source: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        community: Sequence[str | os.PathLike[str]] = (),
        dependencies: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        document: dict[str, Any] = {}
        if source is not None:
            document["source"] = source if isinstance(source, Mapping) else {"path": source}
        document["attributes"] = {str(name): _described(attribute) for name, attribute in attributes.items()}
        if stated := [rule if isinstance(rule, Mapping) else rule.to_rule() for rule in rules]:
            document["rule"] = stated
        if known := list(dependencies):
            document["dependency"] = known
        if method is not None:
            document["publish"] = {"method": method} if isinstance(method, str) else method.to_dict()
        if community:
            document["community"] = {"releases": [os.fspath(path) for path in community]}
        self._inner = _hedgerow.Policy.parse(_toml.dumps(document))
        self._files = _Files()

    @classmethod
    def _of(cls, inner: _hedgerow.Policy, files: _Files | None = None) -> Policy:
        policy = cls.__new__(cls)
        policy._inner = inner
        policy._files = files or _Files()
        return policy

    def _beside(self, releases: list[str]) -> Policy:
        return Policy._of(self._inner.beside(releases), self._files)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads a policy file."""
        return cls._of(_hedgerow.Policy.load(path))

    @classmethod
    def from_toml(cls, text: str, path: str | os.PathLike[str] = "policy") -> Policy:
        """Reads the text of a policy; ``path`` is where relative paths start."""
        return cls._of(_hedgerow.Policy.parse(text, path))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Policy:
        """A policy as the policy file has it, as a dict of dicts."""
        return cls._of(_hedgerow.Policy.parse(_toml.dumps(document)))

    def to_toml(self) -> str:
        """The policy as a policy file says it."""
        return self._inner.to_toml()

    @property
    def attributes(self) -> dict[str, str]:
        """The role of every attribute."""
        return dict(self._inner.attributes)

    @property
    def method(self) -> str:
        """How the release is made."""
        return self._inner.method

    @property
    def warnings(self) -> list[str]:
        """What is allowed but probably unintended."""
        return self._inner.warnings

    def __repr__(self) -> str:
        return repr(self._inner)

    def __copy__(self) -> Policy:
        # Nothing in it changes.
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Policy:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Policy.from_toml, (self.to_toml(),)

    def _repr_html_(self) -> str:
        return self._inner.html()


def _described(attribute: Attribute | Mapping[str, Any] | str) -> Mapping[str, Any]:
    if isinstance(attribute, str):
        return {"role": attribute}
    return attribute if isinstance(attribute, Mapping) else attribute.to_dict()


def as_policy(policy: Policy | Mapping[str, Any] | str | os.PathLike[str]) -> Policy:
    """A policy from what callers give: itself, a dict, or the path of a file."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return Policy.from_dict(policy)
    if isinstance(policy, str | os.PathLike):
        return Policy.load(policy)
    raise TypeError(f"a policy is a Policy, a dict or the path of a policy file, not {type(policy).__name__}")


def propose(frame: Any) -> Policy:
    """A policy to start from, with guessed roles, types and hierarchies. Check every role."""
    text, files = _hedgerow.propose(frame)
    folder = Folder() if files else None
    place = Path(folder.name if folder else "", "policy")
    for path, content in files:
        target = place.parent / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
    return Policy._of(_hedgerow.Policy.parse(text, place), _Files(folder))
