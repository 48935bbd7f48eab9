"""The transformer: cells of a release, row by row, as scikit-learn expects them."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import hedgerow as hr
from hedgerow.sklearn import Anonymizer

METHODS = ["full-domain", "mondrian", "best-cut", "cluster"]


def policy(method: str = "mondrian", k: int = 2) -> hr.Policy:
    attributes = {"age": hr.Quasi(widths=[10, 20]), "sex": hr.Quasi(), "ward": hr.Plain()}
    return hr.Policy(attributes, [hr.KAnonymity(k)], method)


def people(rows: int = 60, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    columns = {"age": random.integers(20, 80, rows), "sex": random.choice(["f", "m"], rows), "ward": ["a"] * rows}
    return pd.DataFrame(columns, index=random.permutation(rows) + 100)


def covers(label: str, value: object) -> bool:
    """What the text of a label says, read apart from the codebook."""
    missing = value is None or value != value
    if label == "*":
        return True
    if label.endswith(" or missing"):
        return missing or covers(label.removesuffix(" or missing"), value)
    if missing:
        return label == ""
    if found := re.fullmatch(r"(-?\d+) to (-?\d+)", label):
        return int(found[1]) <= value <= int(found[2])
    if found := re.fullmatch(r"(-?\d+)\+", label):
        return value >= int(found[1])
    if found := re.fullmatch(r"<(-?\d+)", label):
        return value < int(found[1])
    return str(value) in re.split(r", | or ", label)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(st.integers(0, 99), st.sampled_from(["f", "m", None])), min_size=2, max_size=25),
    k=st.integers(1, 3),
)
def test_rows_keep_their_order_and_the_rules(method, rows, k):
    frame = pd.DataFrame({"age": [age for age, _ in rows], "sex": [sex for _, sex in rows], "ward": "a"})
    anonymizer = Anonymizer(policy(method, k))
    if k > len(rows):
        with pytest.raises(hr.HedgerowError):
            anonymizer.fit(frame)
        return
    cells = anonymizer.fit_transform(frame)
    assert len(cells) == len(frame) and not anonymizer.suppressed_.any()
    assert all(covers(cell, value) for name in ("age", "sex") for cell, value in zip(cells[name], frame[name]))
    assert cells.groupby(["age", "sex"]).size().min() >= k
    again = anonymizer.transform(frame)
    assert all(covers(cell, value) for name in ("age", "sex") for cell, value in zip(again[name], frame[name]))


def test_suppressed_rows_are_marked():
    frame = pd.DataFrame({"age": [31, 32, 33, 34, 95], "sex": ["f", "f", "f", "f", "m"], "ward": "a"})
    document = policy("full-domain")
    document = hr.Policy.from_toml(document.to_toml() + "suppression = 0.2\n")
    anonymizer = Anonymizer(document)
    cells = anonymizer.fit_transform(frame)
    assert anonymizer.suppressed_.tolist() == [False] * 4 + [True]
    assert cells.iloc[4].tolist()[:2] == ["*", "*"] and cells["ward"].isna().tolist() == [False] * 4 + [True]
    assert cells.iloc[:4].equals(anonymizer.transform(frame).iloc[:4])


@pytest.mark.parametrize("method", METHODS)
def test_further_rows_fall_into_the_classes_that_were_found(method):
    anonymizer = Anonymizer(policy(method)).fit(people())
    known = set(map(tuple, anonymizer.fit_transform(people())[["age", "sex"]].to_numpy()))
    further = people(40, seed=2)
    further.loc[further.index[0], "sex"] = "other"
    cells = anonymizer.transform(further)
    assert cells.index.equals(further.index) and len(cells) == 40
    if method != "full-domain":
        assert set(map(tuple, cells[["age", "sex"]].to_numpy())) <= known
    for name in ("age", "sex"):
        covered = [covers(cell, value) for cell, value in zip(cells[name], further[name])]
        assert np.mean(covered[1:]) > 0.7, name


def test_outputs_and_names():
    anonymizer = Anonymizer(policy(), numbers="middle")
    frame = people()
    cells = anonymizer.set_output(transform="pandas").fit_transform(frame)
    assert isinstance(cells, pd.DataFrame) and cells.index.equals(frame.index)
    assert cells["age"].dtype == float and list(cells.columns) == ["age", "sex", "ward"]
    assert anonymizer.get_feature_names_out().tolist() == ["age", "sex", "ward"]
    assert anonymizer.n_features_in_ == 3 and anonymizer.feature_names_in_.tolist() == ["age", "sex", "ward"]
    made = anonymizer.set_output(transform="polars").transform(pl.from_pandas(frame))
    assert isinstance(made, pl.DataFrame) and made.columns == ["age", "sex", "ward"]
    wider = frame.assign(name="nobody")
    assert "name" not in Anonymizer(policy()).fit_transform(wider).columns, "columns without a role are not released"
    array = np.array([[1, 1], [2, 1], [3, 2], [4, 2]])
    numbered = hr.Policy({"x0": hr.Quasi(), "x1": hr.Quasi()}, [hr.KAnonymity(2)], hr.Mondrian())
    assert Anonymizer(numbered).fit_transform(array).shape == (4, 2)


def test_it_is_an_estimator():
    anonymizer = Anonymizer(policy(), numbers="middle")
    assert clone(anonymizer).get_params()["numbers"] == "middle"
    with pytest.raises(NotFittedError):
        anonymizer.transform(people())
    fitted = pickle.loads(pickle.dumps(anonymizer.fit(people())))
    assert fitted.transform(people(5, seed=3)).equals(anonymizer.transform(people(5, seed=3)))
    assert not any(isinstance(value, hr.Release) for value in vars(fitted).values()), "the rows are not kept"
    frame = people(80)
    earns = pd.Series(np.where(frame["age"] > 50, "more", "less"), index=frame.index)
    columns = ColumnTransformer([("cells", Anonymizer(policy()), ["age", "sex", "ward"])])
    for first in (Anonymizer(policy()), columns):
        model = make_pipeline(first, OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
        assert cross_val_score(model, frame, earns, cv=2).min() > 0.6


def test_what_is_predicted_can_be_protected():
    attributes = {"age": hr.Quasi(), "sex": hr.Quasi(), "income": hr.Sensitive()}
    rules = [hr.DistinctLDiversity("income", 2)]
    frame = people(40)
    income = pd.Series(["low", "high"] * 20, index=frame.index, name="income")
    for target, y in ((None, income), ("income", income.to_numpy())):
        anonymizer = Anonymizer(hr.Policy(attributes, rules, hr.Mondrian()), target=target)
        cells = anonymizer.fit_transform(frame, y)
        assert list(cells.columns) == ["age", "sex"]
        assert cells.assign(income=income.to_numpy()).groupby(["age", "sex"])["income"].nunique().min() >= 2
        assert anonymizer.guarantees_[0]["model"] == "distinct-l-diversity"


def test_what_cannot_be_is_refused():
    buckets = hr.Policy({"age": hr.Quasi(), "s": hr.Sensitive()}, [hr.FrequencyLDiversity("s", 2)], hr.Anatomy())
    with pytest.raises(ValueError, match="keeps rows"):
        Anonymizer(buckets).fit(people())
    with pytest.raises(ValueError, match="label"):
        Anonymizer(policy(), numbers="mean").fit(people())
    with pytest.raises(ValueError, match="lacks the columns 'sex'"):
        Anonymizer(policy()).fit(people()).transform(people()[["age", "ward"]])
    with pytest.raises(hr.HedgerowError):
        Anonymizer(policy()).fit(people().iloc[:0])
    with pytest.raises(hr.Unsatisfiable):
        Anonymizer(policy("full-domain", 2)).fit(people().iloc[:1])


def test_the_example_compares_all_methods():
    example = Path(__file__).resolve().parents[1] / "examples" / "adult_classifier.py"
    words = [sys.executable, str(example), "--rows", "300"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    accuracy = {line[:24].strip(): float(line.split()[-4]) for line in told.splitlines()[1:6]}
    assert set(accuracy) == {"nothing", *METHODS} and min(accuracy.values()) > 0.6, told
