"""The cells of a release: which values a label covers, and which class a new row falls into."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: What covers every value.
EVERYTHING = "*"

#: New rows that are compared with all classes at once.
_ROWS_AT_ONCE = 512


@dataclass
class Label:
    """What one label covers: an interval, or leaves; both may include the missing value."""

    low: float = -np.inf
    high: float = np.inf
    leaves: set[str] = field(default_factory=set)
    is_interval: bool = False
    has_missing: bool = False
    covers_all: bool = False

    def covers(self, value: Any) -> bool:
        if self.covers_all:
            return True
        if is_missing(value):
            return self.has_missing
        if not self.is_interval:
            return as_text(value) in self.leaves
        number = as_number(value)
        return number is not None and (self.low <= number < self.high or number == self.low == self.high)

    def middle(self) -> float:
        """The middle of an interval, or the bound that it has; not a number where it covers everything."""
        ends = [end for end in (self.low, self.high) if self.is_interval and np.isfinite(end)]
        return float(np.mean(ends)) if ends else float("nan")


def is_missing(value: Any) -> bool:
    return value is None or value != value


def as_text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def as_number(value: Any) -> float | None:
    """A number, or the seconds of a date or a moment, so that bounds and values compare."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            try:
                value = datetime.datetime.fromisoformat(value)
            except ValueError:
                return None
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).timestamp() if value.tzinfo is None else value.timestamp()
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day).timestamp()
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def read_labels(codebook: Iterable[Mapping[str, str]]) -> dict[str, dict[str, Label]]:
    """The labels of every attribute, from the rows of a codebook."""
    attributes: dict[str, dict[str, Label]] = {}
    for row in codebook:
        label = attributes.setdefault(row["attribute"], {}).setdefault(row["label"], Label())
        low, high = row["low"], row["high"]
        if low or high:
            label.is_interval = True
            label.low = -np.inf if not low else _bound(low)
            label.high = np.inf if not high else _bound(high)
        elif row["label"] == EVERYTHING:
            label.covers_all = True
        elif row["leaf"]:
            label.leaves.add(row["leaf"])
        else:
            label.has_missing = True
    return attributes


def _bound(text: str) -> float:
    number = as_number(text)
    return float("nan") if number is None else number


class Classes:
    """The equivalence classes of a release, into which further rows can be sorted."""

    def __init__(self, labels: Mapping[str, Mapping[str, Label]], rows: Mapping[str, Sequence[str]]) -> None:
        self.names = list(rows)
        self.labels = {name: dict(labels[name]) for name in self.names}
        self._texts = {name: list(self.labels[name]) for name in self.names}
        codes = {name: {text: code for code, text in enumerate(self._texts[name])} for name in self.names}
        columns = [[codes[name][text] for text in rows[name]] for name in self.names]
        self._codes = np.unique(np.array(columns, dtype=np.int64).T.reshape(-1, len(self.names)), axis=0)
        self._sizes = self._class_sizes()

    def _class_sizes(self) -> np.ndarray[Any, Any]:
        """How much each class covers, in attributes: ties go to the class that covers less."""
        total = np.zeros(len(self._codes))
        for place, name in enumerate(self.names):
            labels = self.labels[name].values()
            ends = [end for label in labels for end in (label.low, label.high) if np.isfinite(end)]
            width = max(ends, default=1.0) - min(ends, default=0.0) or 1.0
            leaves = len(set().union(*(label.leaves for label in labels))) or 1

            def size(label: Label, width: float = width, leaves: int = leaves) -> float:
                if label.covers_all:
                    return 1.0
                if label.is_interval:
                    return float(np.nan_to_num(min((label.high - label.low) / width, 1.0), nan=1.0))
                return len(label.leaves) / leaves

            total += np.array([size(label) for label in labels])[self._codes[:, place]]
        return total / max(len(self.names), 1)

    def nearest(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
        """For each row the labels of the class that covers it; else of the one that covers most of its values."""
        covered, places = [], []
        for name in self.names:
            distinct, place = _distinct(columns[name])
            labels = self.labels[name].values()
            covered.append(np.array([[label.covers(value) for label in labels] for value in distinct]).reshape(-1, len(labels)))
            places.append(place)
        rows = len(places[0]) if places else 0
        chosen = np.empty(rows, dtype=np.int64)
        for start in range(0, rows, _ROWS_AT_ONCE):
            end = min(start + _ROWS_AT_ONCE, rows)
            score = np.repeat(-self._sizes[np.newaxis, :], end - start, axis=0)
            for index, (cover, place) in enumerate(zip(covered, places)):
                score += 2.0 * cover[place[start:end]][:, self._codes[:, index]]
            chosen[start:end] = score.argmax(axis=1)
        return {
            name: [self._texts[name][code] for code in self._codes[chosen, place]] for place, name in enumerate(self.names)
        }

    def each(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
        """For each value by itself the label that covers it: for recodings that treat all rows alike."""
        found = {}
        for name in self.names:
            distinct, place = _distinct(columns[name])
            covering = [self._covering(name, value) for value in distinct]
            found[name] = [covering[index] for index in place]
        return found

    def _covering(self, name: str, value: Any) -> str:
        labels = self.labels[name].items()
        return next((text for text, label in labels if label.covers(value)), EVERYTHING)


def _distinct(values: Sequence[Any]) -> tuple[list[Any], np.ndarray[Any, Any]]:
    """Distinct values, and for each row which it has."""
    known: dict[Any, int] = {}
    place = [known.setdefault(None if is_missing(value) else value, len(known)) for value in values]
    return list(known), np.array(place, dtype=np.int64)
