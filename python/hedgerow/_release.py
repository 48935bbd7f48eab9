"""Releases, and the calls that make and judge them."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import threading
import warnings as python_warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Self

from . import _hedgerow
from ._folder import Folder
from ._hedgerow import InputError
from ._policy import Policy, as_policy

PolicyLike = Policy | Mapping[str, Any] | str | os.PathLike[str]
Progress = bool | Callable[[str, float | None], object]


@dataclass(frozen=True)
class Guarantee:
    """One guarantee of one rule: what is required and what is achieved."""

    model: str
    required: dict[str, Any]
    achieved: dict[str, Any]
    know: list[str]
    protect: str | None
    holds: bool

    @classmethod
    def _of(cls, found: Mapping[str, Any]) -> Guarantee:
        known = ("model", "required", "achieved", "know", "protect", "holds")
        return cls(**{name: found.get(name) for name in known})  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return _hedgerow.claims_html(json.dumps([asdict(self)]))


class Guarantees(list[Guarantee]):
    """Guarantees as a manifest claims them."""

    def _repr_html_(self) -> str:
        return _hedgerow.claims_html(json.dumps([asdict(guarantee) for guarantee in self]))


@dataclass(frozen=True)
class Check:
    """What a check found."""

    guarantees: list[Guarantee]
    holds: bool
    contradictions: list[str]
    unchecked: list[str]
    #: What ``hedgerow check --json`` prints.
    json: dict[str, Any] = field(repr=False)

    @classmethod
    def _of(cls, text: str) -> Check:
        found = json.loads(text)
        guarantees = [Guarantee._of(guarantee) for guarantee in found["guarantees"]]
        return cls(guarantees, found["holds"], found.get("contradictions", []), found.get("unchecked", []), found)

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        return _hedgerow.check_html(json.dumps(self.json))


@dataclass(frozen=True)
class Finding:
    """What one adversary found."""

    adversary: str
    releases: list[str]
    protect: str | None
    people: int
    at_risk: int
    max_confidence: float
    effective_l: int | None
    effective_k: int | None
    breach: bool
    #: All keys of the finding, as ``hedgerow audit --json`` prints them.
    json: dict[str, Any] = field(repr=False)

    @classmethod
    def _of(cls, found: dict[str, Any]) -> Finding:
        return cls(
            adversary=found["name"],
            releases=found["releases"],
            protect=found.get("protect"),
            people=found["people"],
            at_risk=found["at_risk"],
            max_confidence=found["max_confidence"],
            effective_l=found.get("effective_l"),
            effective_k=found.get("effective_k"),
            breach=found.get("breach", False),
            json=found,
        )


@dataclass(frozen=True)
class Audit:
    """What an audit found."""

    findings: list[Finding]
    breach: bool
    #: What ``hedgerow audit --json`` prints.
    json: dict[str, Any] = field(repr=False)

    @classmethod
    def _of(cls, text: str) -> Audit:
        found = json.loads(text)
        return cls([Finding._of(finding) for finding in found["adversaries"]], found["breach"], found)

    def _repr_html_(self) -> str:
        return _hedgerow.audit_html(json.dumps(self.json))


@dataclass(frozen=True)
class Report:
    """A page about releases that a person signs."""

    html: str = field(repr=False)
    #: What ``hedgerow report --json`` prints.
    json: dict[str, Any] = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html, quote=True)}" width="100%" height="800"></iframe>'


@dataclass(frozen=True)
class Rules:
    """What the rules of a policy imply, and which tables would keep them."""

    #: What ``hedgerow rules --json`` prints.
    json: dict[str, Any] = field(repr=False)
    #: Attributes as dots, rules as arrows, tables as hulls.
    svg: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.svg


class Release:
    """A release: :meth:`check`, :meth:`measure`, :meth:`query` and :meth:`report` it, or take its rows as a frame.

    A release that was just published is opened on first use, so that its rows are not in memory beside the frame before.
    """

    def __init__(
        self,
        inner: _hedgerow.Release | None,
        *,
        place: str = "",
        json: dict[str, Any] | None = None,
        warnings: Sequence[str] = (),
        folder: Folder | None = None,
        kind: str = "pyarrow",
        schema: Any = None,
    ) -> None:
        self._opened = inner
        self._place = place
        self._stamp = _stamp(place)
        self._opening = threading.Lock()
        #: What ``hedgerow publish --json`` prints, for a release that was just published.
        self.json = json
        self.warnings = list(warnings)
        self._folder = folder
        self._kind = kind
        # The types of the frame that was published.
        self._schema = schema

    @classmethod
    def open(cls, path: str | os.PathLike[str], name: str | None = None) -> Self:
        """Opens a release: a directory, a table described by a ``release.toml``, or one in a database."""
        return cls(_hedgerow.Release.open(path, name))

    @property
    def _inner(self) -> _hedgerow.Release:
        with self._opening:
            if self._opened is None:
                opened = _hedgerow.Release.open(self._place)
                if _stamp(self._place) != self._stamp:
                    raise _replaced(self._place)
                self._opened = opened
            return self._opened

    @property
    def name(self) -> str:
        """Its path, unless it was given another name."""
        return self._inner.name

    @property
    def path(self) -> Path:
        """The directory."""
        if self._opened is None and os.path.isdir(self._place):
            return Path(self._place)
        return Path(self._inner.path)

    @property
    def method(self) -> str:
        """The method by which it was made."""
        return self._inner.method

    @property
    def rows(self) -> int:
        """Released rows."""
        return self._inner.rows

    @property
    def guarantees(self) -> Guarantees:
        """The guarantees that the manifest claims; :meth:`check` recomputes them."""
        return Guarantees(Guarantee._of(found) for found in json.loads(self._inner.guarantees()))

    @property
    def codebook(self) -> list[dict[str, str]]:
        """What every label covers: attribute, label, low, high, leaf."""
        return list(csv.DictReader(io.StringIO(self._inner.codebook())))

    def tables(self) -> dict[str, Any]:
        """Every table by name; each has ``__arrow_c_stream__``."""
        return dict(self._inner.tables(self._schema))

    def _table(self, name: str | None) -> Any:
        tables = self.tables()
        if name is None and len(tables) > 1:
            raise ValueError(f"the release has several tables, name one of them: {', '.join(tables)}")
        return tables[name] if name is not None else next(iter(tables.values()))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table(None).__arrow_c_stream__(requested_schema)

    def to_arrow(self, table: str | None = None) -> Any:
        """A table of the release as a ``pyarrow.Table``."""
        import pyarrow  # type: ignore[import-untyped]

        return pyarrow.table(self._table(table))

    def to_pandas(self, table: str | None = None) -> Any:
        """A table of the release as a ``pandas.DataFrame``. Integers and booleans with missing cells are nullable."""
        import pandas  # type: ignore[import-untyped, unused-ignore]
        import pyarrow

        arrow = self.to_arrow(table)
        frame = arrow.to_pandas()
        for name, column in zip(arrow.column_names, arrow.columns):
            is_boolean = pyarrow.types.is_boolean(column.type)
            if column.null_count and (is_boolean or pyarrow.types.is_integer(column.type)):
                # Without a type that has missing cells, integers would become floats.
                named = "boolean" if is_boolean else str(column.type).replace("u", "U").replace("int", "Int")
                nullable = pandas.array([], dtype=named).dtype
                frame[name] = column.to_pandas(types_mapper=lambda _: nullable)
        return frame

    def to_polars(self, table: str | None = None) -> Any:
        """A table of the release as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self._table(table))

    def to_frame(self, table: str | None = None) -> Any:
        """A table of the release as the kind of frame that was published, else as pyarrow's."""
        makers = {"pandas": self.to_pandas, "polars": self.to_polars}
        return makers.get(self._kind, self.to_arrow)(table)

    def check(self, earlier: Iterable[Release] = ()) -> Check:
        """Recomputes every guarantee from the released tables.

        ``earlier`` has the releases that a guarantee across releases is about.
        """
        return Check._of(self._inner.check([release._inner for release in earlier]))

    def query(self, sql: str) -> dict[str, Any]:
        """Answers one SELECT: estimates, each with what is certain and what is possible."""
        return json.loads(self._inner.query(sql))  # type: ignore[no-any-return]

    def measure(
        self,
        policy: PolicyLike,
        source: Any = None,
        *,
        queries: int | None = None,
        seed: int | None = None,
        progress: Progress = False,
    ) -> dict[str, Any]:
        """What the release lost against the source, and what risk is left: as ``hedgerow measure --json``."""
        inner = as_policy(policy)._inner
        with _progress(progress) as callback:
            return json.loads(self._inner.measure(inner, source, queries, seed, callback))  # type: ignore[no-any-return]

    def report(
        self,
        policy: PolicyLike | None = None,
        source: Any = None,
        people: Any = None,
        *,
        publishable: bool = False,
        date: str | None = None,
    ) -> Report:
        """The page about this release that a person signs."""
        return report([self], policy, source, people, publishable=publishable, date=date)

    def save(self, path: str | os.PathLike[str]) -> Self:
        """Copies the release to a directory that does not exist yet, and opens it there."""
        target = Path(path)
        if target.exists():
            raise FileExistsError(f"{target} exists already")
        # Beside it first: a copy that was cut short is not taken for a release.
        partial = target.with_name(target.name + ".partial")
        shutil.copytree(self.path, partial)
        partial.rename(target)
        opened = type(self).open(target)
        opened.json, opened.warnings, opened._kind = self.json, self.warnings, self._kind
        opened._schema = self._schema
        return opened

    def __repr__(self) -> str:
        return repr(self._inner)

    def _repr_html_(self) -> str:
        return self._inner.html()


def publish(
    frame: Any,
    policy: PolicyLike,
    to: str | os.PathLike[str] | None = None,
    *,
    community: Sequence[str | os.PathLike[str]] = (),
    overwrite: bool = False,
    format: str = "csv",
    levels: Mapping[str, int] | None = None,
    catalog: str | os.PathLike[str] | None = None,
    custodian: str | None = None,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = True,
    danger_seed: int | None = None,
) -> Release:
    """Publishes a frame under a policy, verifies the release, and returns it.

    Raises :class:`Unsatisfiable` if no release satisfies the policy, :class:`PolicyError` and :class:`InputError` with a
    hint if something is wrong, and :class:`Breach` if the release would disclose sensitive values together with others.

    :param frame: anything with ``__arrow_c_stream__``, the path of a file, or ``None`` for what the policy names
    :param policy: a :class:`Policy`, a dict with the keys of a policy file, or the path of one
    :param to: the directory to make. Without it the release is in a temporary directory, which goes with the object;
        :meth:`Release.save` keeps it
    :param community: releases of others, besides those that the policy names
    :param overwrite: whether a release that exists at ``to`` is replaced
    :param format: ``"csv"`` or ``"parquet"``
    :param levels: levels by attribute, to publish at instead of searching
    :param catalog: a catalog with which the release is audited, and to which it is added
    :param custodian: who publishes; earlier releases of the same custodian in the catalog are compared by difference
    :param memory: the most bytes of memory to take
    :param threads: the number of threads; without it one for each core
    :param progress: ``True`` for a bar where tqdm is installed, or a function of the phase and the share done
    :param danger_seed: makes the order of rows repeatable, for tests: such a release must not be published
    """
    policy = as_policy(policy)
    if community:
        policy = policy._beside([os.fspath(path) for path in community])
    folder = Folder() if to is None else None
    target = os.path.join(folder.name, "release") if folder else os.fspath(to)  # type: ignore[arg-type]
    with _progress(progress) as callback:
        text, warnings, schema = _hedgerow.publish(
            policy._inner,
            target,
            frame,
            overwrite=overwrite,
            format=format,
            seed=danger_seed,
            levels=list((levels or {}).items()),
            catalog=catalog,
            custodian=custodian,
            memory=memory,
            threads=threads,
            progress=callback,
        )
    for warning in warnings:
        python_warnings.warn(warning, stacklevel=2)
    told, kind = json.loads(text), _kind(frame)
    return Release(None, place=target, json=told, warnings=warnings, folder=folder, kind=kind, schema=schema)


def _stamp(place: str) -> tuple[int, int] | None:
    """Changes when a release is replaced; ``None`` where it is not in a directory."""
    try:
        known = os.stat(os.path.join(place, "datapackage.json"))
    except OSError:
        return None
    return known.st_ino, known.st_mtime_ns


def _replaced(place: str) -> InputError:
    problem = "the release was replaced by another since it was published"
    hint = "open the one that is there with Release.open, or publish into another directory"
    error = InputError(f"{place}: {problem}\nhint: {hint}")
    error.place, error.problem, error.hint, error.exit_code = place, problem, hint, 2
    error.problems, error.reasons = [(place, problem, hint)], []
    return error


def _kind(frame: Any) -> str:
    return type(frame).__module__.split(".")[0]


def audit(
    releases: Iterable[Release | str | os.PathLike[str]],
    people: Any = None,
    policy: PolicyLike | None = None,
    *,
    catalog: str | os.PathLike[str] | None = None,
    adversaries: Sequence[str] = (),
    l: int | None = None,
    k: int | None = None,
    confidence: float | None = None,
    progress: Progress = False,
) -> Audit:
    """Runs the adversaries against the releases, alone and combined.

    :param releases: releases or their directories
    :param people: a frame or a file with one row for each person to look for
    :param policy: the policy that describes the columns of ``people``, and how its releases were made
    :param catalog: a catalog, all of whose releases are audited too
    :param adversaries: some of ``ADVERSARIES``; without it all that apply
    :param l: the fewest sensitive values that may be left for a person; fewer are a breach (2 if not given)
    :param k: the fewest rows that may be left for a person
    :param confidence: the highest confidence in a person's sensitive value that is not a breach
    """
    opened = [release if isinstance(release, Release) else Release.open(release) for release in releases]
    inner = as_policy(policy)._inner if policy is not None else None
    with _progress(progress) as callback:
        found = _hedgerow.audit(
            [release._inner for release in opened],
            people,
            inner,
            catalog=catalog,
            adversaries=list(adversaries),
            l=l,
            k=k,
            confidence=confidence,
            progress=callback,
        )
    return Audit._of(found)


def check(frame: Any, policy: PolicyLike) -> Check:
    """Judges the rules of a policy on any frame or file as it is, such as a table that another program anonymized."""
    return Check._of(_hedgerow.check_table(as_policy(policy)._inner, frame))


def rules(policy: PolicyLike, frame: Any = None) -> Rules:
    """What the rules of a policy imply, and which tables would keep them: as ``hedgerow rules --json``."""
    found, svg = _hedgerow.rules(as_policy(policy)._inner, frame)
    return Rules(json.loads(found), svg)


def explore(policy: PolicyLike, frame: Any = None, *, progress: Progress = False) -> dict[str, Any]:
    """Every combination of levels at which all rules hold: as ``hedgerow explore --json``."""
    with _progress(progress) as callback:
        return json.loads(_hedgerow.explore(as_policy(policy)._inner, frame, callback))  # type: ignore[no-any-return]


def report(
    releases: Sequence[Release],
    policy: PolicyLike | None = None,
    source: Any = None,
    people: Any = None,
    *,
    publishable: bool = False,
    date: str | None = None,
    progress: Progress = False,
) -> Report:
    """One page about one release, or about several together; ``date`` is the one that it carries."""
    inner = as_policy(policy)._inner if policy is not None else None
    with _progress(progress) as callback:
        html, text = _hedgerow.report(
            [release._inner for release in releases],
            inner,
            source,
            people,
            publishable=publishable,
            date=date,
            progress=callback,
        )
    return Report(html, json.loads(text))


def synth(rows: int = 1000, seed: int = 1) -> Any:
    """A synthetic census to try things on, as a ``pyarrow.Table``."""
    import pyarrow.csv  # type: ignore[import-untyped]

    return pyarrow.csv.read_csv(io.BytesIO(_hedgerow.synthetic_census(rows, seed).encode()))


@contextmanager
def _progress(progress: Progress) -> Iterator[Callable[[str, float | None], object] | None]:
    """The callback that reports progress: the caller's, or a bar where tqdm is installed."""
    if callable(progress):
        yield progress
        return
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        progress = False
    if not progress:
        yield None
        return
    with tqdm(total=1000, leave=False, bar_format="{desc} {bar} {elapsed}") as bar:

        def show(phase: str, fraction: float | None) -> None:
            bar.set_description_str(phase)
            bar.n = round(1000 * (fraction or 0.0))
            bar.refresh()

        yield show
