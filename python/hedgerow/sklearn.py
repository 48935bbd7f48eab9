"""A transformer for scikit-learn: cells as a release under a policy has them, row by row.

>>> import pandas as pd
>>> import hedgerow as hr
>>> from hedgerow.sklearn import Anonymizer
>>> policy = hr.Policy({"age": hr.Quasi(widths=[10, 20]), "sex": hr.Quasi()}, rules=[hr.KAnonymity(2)])
>>> people = pd.DataFrame({"age": [31, 34, 52, 58], "sex": ["f", "f", "m", "m"]})
>>> anonymizer = Anonymizer(policy).fit(people)
>>> anonymizer.transform(people)["age"].tolist()
['30 to 39', '30 to 39', '50 to 59', '50 to 59']
>>> Anonymizer(policy, numbers="middle").fit_transform(people)["age"].tolist()
[35.0, 35.0, 55.0, 55.0]
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd  # type: ignore[import-untyped, unused-ignore]
import pyarrow  # type: ignore[import-untyped, unused-ignore]
from sklearn.base import BaseEstimator, TransformerMixin  # type: ignore[import-untyped, unused-ignore]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped, unused-ignore]

from ._cells import EVERYTHING, Classes, read_labels
from ._policy import Policy, as_policy
from ._release import Release, publish

__all__ = ["Anonymizer"]

#: The column by which released rows are put back into their order. It is in no result.
_ROW = "hedgerow row"

_METHODS = ("full-domain", "mondrian", "best-cut", "cluster")


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Replaces quasi-identifiers by the cells of a release that satisfies a policy.

    ``fit`` publishes the rows under the policy, with every guarantee verified, and keeps the cells but not the rows.
    ``fit_transform`` gives each row its released cells; ``transform`` sorts further rows into the classes that were
    found. Only what ``fit_transform`` gives keeps the policy's rules: a further row is alone with what it shows.

    Parameters
    ----------
    policy
        A :class:`hedgerow.Policy`, a dict, or the path of a file. Its method keeps rows: full-domain, mondrian,
        best-cut or cluster. Columns that it does not name are not released.
    target
        The name by which the policy knows ``y``, where a rule protects it. By default the name of ``y``, if the
        policy has an attribute of that name.
    numbers
        ``"label"`` for the released text such as ``30 to 39``, or ``"middle"`` for the middle of the interval, as a
        number; a cell without bounds is then not a number.

    Attributes
    ----------
    guarantees_
        What was required and achieved, as ``hedgerow publish --json`` prints it.
    loss_
        What was lost, likewise.
    suppressed_
        Which of the fitted rows the release leaves out. ``fit_transform`` gives them ``*`` in every
        quasi-identifier and nothing elsewhere; leave them out where rows themselves are handed on.
    """

    def __init__(
        self,
        policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
        *,
        target: str | None = None,
        numbers: str = "label",
    ) -> None:
        self.policy = policy
        self.target = target
        self.numbers = numbers

    def fit(self, X: Any, y: Any = None) -> Self:
        """Publishes the rows of ``X`` and keeps the cells of the release."""
        self._publish(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Publishes the rows of ``X`` and gives each its released cells, in the order of ``X``."""
        released = self._publish(X, y)
        rows = len(self.suppressed_)
        place = np.full(rows, -1, dtype=np.int64)
        place[released[_ROW]] = np.arange(len(released[_ROW]))
        columns = {}
        for name in self._names_out:
            absent = EVERYTHING if name in self._classes.names else None
            values = [*released[name], absent]
            columns[name] = [values[index] for index in place]
        return self._frame(columns, X)

    def transform(self, X: Any) -> Any:
        """Sorts the rows of ``X`` into the classes that were found; other columns stay as they are."""
        check_is_fitted(self, "guarantees_")
        table = _table(X)
        missing = [name for name in self._names_out if name not in table.column_names]
        if missing:
            raise ValueError(f"X lacks the columns {', '.join(map(repr, missing))}, which were there in fit")
        columns = {name: table[name].to_pylist() for name in self._names_out}
        sort = self._classes.each if self._is_global else self._classes.nearest
        columns |= sort({name: columns[name] for name in self._classes.names})
        return self._frame(columns, X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """The released columns."""
        check_is_fitted(self, "guarantees_")
        return np.array(self._names_out, dtype=object)

    def _publish(self, X: Any, y: Any) -> dict[str, list[Any]]:
        if self.numbers not in ("label", "middle"):
            raise ValueError(f'numbers must be "label" or "middle", not {self.numbers!r}')
        policy = as_policy(self.policy)
        if policy.method not in _METHODS:
            raise ValueError(f"an Anonymizer needs a method that keeps rows ({', '.join(_METHODS)}), not {policy.method}")
        table = _table(X)
        self.n_features_in_ = table.num_columns
        self.feature_names_in_ = np.array(table.column_names, dtype=object)
        table = table.select([name for name in table.column_names if name in policy.attributes])
        target = self.target if self.target is not None else getattr(y, "name", None)
        if y is not None and target in policy.attributes and target not in table.column_names:
            table = table.append_column(target, pyarrow.array(np.asarray(y).tolist()))
        else:
            target = None
        rows = table.num_rows
        table = table.append_column(_ROW, pyarrow.array(np.arange(rows)))
        with tempfile.TemporaryDirectory(prefix="hedgerow-") as folder:
            release = publish(table, _with_rows(policy), os.path.join(folder, "release"), progress=False)
            # Labels are texts, as the codebook has them; what is not generalized has its own type.
            typed, texts = _columns(release.to_arrow()), _columns(Release.open(release.path).to_arrow())
            labels = read_labels(release.codebook)
            found = release.json or {}
        roles = policy.attributes
        released = {name: (texts if roles.get(name) == "quasi" else typed)[name].to_pylist() for name in typed}
        self._names_out = [name for name in released if name not in (_ROW, target)]
        quasi = [name for name in self._names_out if roles[name] == "quasi" and name in labels]
        self._classes = Classes(labels, {name: [_label(cell) for cell in released[name]] for name in quasi})
        for name in quasi:
            released[name] = [_label(cell) for cell in released[name]]
        self._is_global = policy.method == "full-domain"
        self.guarantees_ = found.get("guarantees", [])
        self.loss_ = found.get("loss", {})
        self.suppressed_ = np.ones(rows, dtype=bool)
        self.suppressed_[released[_ROW]] = False
        return released

    def _frame(self, columns: Mapping[str, Sequence[Any]], X: Any) -> Any:
        index = X.index if isinstance(X, pd.DataFrame) else None
        made = {name: self._cells(name, values) for name, values in columns.items()}
        return pd.DataFrame(made, index=index)

    def _cells(self, name: str, values: Sequence[Any]) -> Any:
        labels = self._classes.labels.get(name)
        if self.numbers == "label" or labels is None or not any(label.is_interval for label in labels.values()):
            return list(values)
        middles = {text: label.middle() for text, label in labels.items()}
        return np.array([middles.get(value, np.nan) for value in values])


def _label(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _columns(table: Any) -> dict[str, Any]:
    return {name: table[name] for name in table.column_names}


def _table(X: Any) -> Any:
    """The rows as Arrow; columns of an array without names are ``x0``, ``x1`` and so on."""
    if isinstance(X, pd.DataFrame):
        return pyarrow.Table.from_pandas(X.rename(columns=str), preserve_index=False)
    if hasattr(X, "__arrow_c_stream__"):
        return pyarrow.table(X)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have rows and columns, not the shape {array.shape}")
    return pyarrow.table({f"x{place}": pyarrow.array(array[:, place].tolist()) for place in range(array.shape[1])})


def _with_rows(policy: Policy) -> Policy:
    """The policy, with the row number released as it is."""
    document = tomllib.loads(policy.to_toml())
    document.pop("source", None)
    document["attributes"][_ROW] = {"role": "plain", "allow-unique": True}
    return Policy.from_dict(document)
