"""The drop-in measures beside pyCANON's, on its own table, on random ones and on UCI Adult.

pyCANON pins other versions of numpy and pandas than the package is tested with, so it runs in a Python of its own, which
`HEDGEROW_PYCANON_PYTHON` names.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr

PYTHON = os.environ.get("HEDGEROW_PYCANON_PYTHON")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

#: Measures with the same results.
SAME = ("k_anonymity", "l_diversity", "t_closeness", "delta_disclosure", "basic_beta")

#: The table of a hospital in pyCANON's data, which is the example of k-anonymity in textbooks.
HOSPITAL = pd.DataFrame(
    [("Female", "Kerala", disease) for disease in ("Viral infection", "Heart-related")]
    + [("Female", "Tamil Nadu", disease) for disease in ("Cancer", "TB")]
    + [("Male", "Karnataka", disease) for disease in ("No illness", "TB", "Heart-related")]
    + [("Male", "Kerala", disease) for disease in ("Cancer", "Heart-related", "Viral infection")]
    + [("Male", "Tamil Nadu", "Cancer")] * 3,
    columns=["gender", "city", "disease"],
).assign(age="[17, 30[")


def of_pycanon(frames: list[tuple[pd.DataFrame, str, list[str]]], folder: Path) -> list[dict[str, dict[str, object]]]:
    if not PYTHON:
        if os.environ.get("HEDGEROW_CI"):
            pytest.fail("HEDGEROW_PYCANON_PYTHON names no Python")
        pytest.skip("HEDGEROW_PYCANON_PYTHON names no Python that has pyCANON")
    lines = []
    for number, (frame, sensitive, quasi) in enumerate(frames):
        path = folder / f"{number}.csv"
        frame.to_csv(path, index=False)
        lines.append("\t".join([str(path), sensitive, *quasi]))
    script = Path(__file__).with_name("pycanon_measures.py")
    told = subprocess.run([PYTHON, script], input="\n".join(lines), capture_output=True, text=True, check=True)
    return json.loads(told.stdout.splitlines()[-1])


def ours(name: str, frame: pd.DataFrame, sensitive: str, quasi: list[str]):
    measure = getattr(hr, name)
    return measure(frame, quasi) if name == "k_anonymity" else measure(frame, quasi, sensitive)


def counts(frame: pd.DataFrame, sensitive: str, quasi: list[str]) -> list[Counter]:
    """The values of every class, apart from what the package computes."""
    classes: dict[tuple, Counter] = {}
    for row in frame.to_dict("records"):
        classes.setdefault(tuple(row[name] for name in quasi), Counter())[row[sensitive]] += 1
    return list(classes.values())


def definitions(frame: pd.DataFrame, sensitive: str, quasi: list[str]) -> dict[str, object]:
    """What the papers define, where pyCANON computes something else."""
    classes = counts(frame, sensitive, quasi)
    table = Counter(frame[sensitive])
    l = min(len(values) for values in classes)
    entropy = [-sum(n / sum(v.values()) * math.log(n / sum(v.values())) for n in v.values()) for v in classes]
    ordered = [sorted(values.values(), reverse=True) for values in classes]
    bound, worst = [], 0.0
    for values in classes:
        for value, count in values.items():
            p = table[value] / len(frame)
            gain = (count / sum(values.values()) - p) / p
            worst = max(worst, gain)
            bound.append(gain <= -math.log(p) + 1e-12)
    return {
        "entropy_l_diversity": math.exp(min(entropy)),
        "recursive_cl": (max(values[0] / sum(values[l - 1 :]) for values in ordered), l),
        "enhanced_beta": worst if all(bound) else math.inf,
    }


def random_frames(count: int) -> list[tuple[pd.DataFrame, str, list[str]]]:
    frames = []
    for seed in range(count):
        random = np.random.default_rng(seed)
        rows = int(random.integers(2, 40))
        disease = random.choice(["flu", "gout", "cold", "asthma"], rows, p=[0.4, 0.3, 0.2, 0.1])
        income = random.integers(1, 6, rows)
        frame = pd.DataFrame({"q": random.integers(0, 3, rows), "r": random.choice(["x", "y"], rows)})
        frame["s"] = disease if seed % 2 else income
        # The distance between one value and itself is 0; pyCANON divides by the values but one.
        if frame["s"].nunique() > 1:
            frames.append((frame, "s", ["q", "r"]))
    return frames


def assert_as_pycanon(frame, sensitive, quasi, theirs) -> None:
    for name in SAME:
        assert ours(name, frame, sensitive, quasi) == pytest.approx(theirs[name]), name
    alpha, k = ours("alpha_k", frame, sensitive, quasi)
    assert [alpha, k] == pytest.approx(theirs["alpha_k"])
    exact = definitions(frame, sensitive, quasi)
    for name, expected in exact.items():
        assert ours(name, frame, sensitive, quasi) == pytest.approx(expected), name
    # A class of two even values has an entropy of log 2 but for rounding, and is cut to 1 by some.
    assert math.floor(exact["entropy_l_diversity"] + 1e-9) - theirs["entropy_l_diversity"] in (0, 1)
    assert ours("recursive_cl", frame, sensitive, quasi)[1] == theirs["recursive_cl"][1]


def test_random_tables_are_measured_as_the_papers_define(tmp_path):
    for frame, sensitive, quasi in random_frames(60):
        for name, expected in definitions(frame, sensitive, quasi).items():
            assert ours(name, frame, sensitive, quasi) == pytest.approx(expected), name
        assert hr.l_diversity(frame, quasi, sensitive) == min(map(len, counts(frame, sensitive, quasi)))


def test_random_tables_and_the_hospital_are_measured_as_by_pycanon(tmp_path):
    frames = [(HOSPITAL, "disease", ["age", "gender", "city"]), *random_frames(60)]
    for (frame, sensitive, quasi), theirs in zip(frames, of_pycanon(frames, tmp_path), strict=True):
        assert_as_pycanon(frame, sensitive, quasi, theirs["found"])


def test_where_pycanon_differs(tmp_path):
    """The counterexamples of docs/python.md."""
    skewed = pd.DataFrame({"q": ["a"] * 10, "s": ["x"] * 8 + ["y", "z"]})
    alone = pd.DataFrame({"q": [1, 2, 2, 2], "s": ["a", "b", "b", "b"]})
    two_to_one = pd.DataFrame({"q": ["a"] * 3, "s": ["x", "x", "y"]})
    assert hr.recursive_cl(skewed, ["q"], "s") == (8.0, 3)
    assert hr.enhanced_beta(alone, ["q"], "s") == math.inf
    assert hr.entropy_l_diversity(two_to_one, ["q"], "s") == pytest.approx(1.8899, abs=1e-4)
    missing = pd.DataFrame({"q": [1, 1, None], "s": ["a", "b", "a"]})
    assert hr.k_anonymity(missing, ["q"]) == 1
    frames = [(frame, "s", ["q"]) for frame in (skewed, alone, two_to_one, missing)]
    of_skewed, of_alone, of_two, of_missing = [found["found"] for found in of_pycanon(frames, tmp_path)]
    assert of_skewed["recursive_cl"] == [1.0, 3.0]
    assert of_alone["enhanced_beta"] == pytest.approx(math.log(4))
    assert of_two["entropy_l_diversity"] == 1.0
    assert of_missing["k_anonymity"] == 2.0


def test_a_release_of_adult_is_measured_as_by_pycanon(tmp_path):
    release = hr.publish(None, EXAMPLES / "adult" / "policy-l.toml", progress=False)
    frame = release.to_pandas().astype(str)
    quasi = [name for name in frame.columns if name != "occupation"]
    (theirs,) = of_pycanon([(frame, "occupation", quasi)], tmp_path)
    assert_as_pycanon(frame, "occupation", quasi, theirs["found"])
    start = time.perf_counter()
    for name in (*SAME, "alpha_k", "entropy_l_diversity", "recursive_cl", "enhanced_beta"):
        ours(name, frame, "occupation", quasi)
    seconds = time.perf_counter() - start
    print(f"pyCANON {sum(theirs['seconds'].values()):.2f} s, hedgerow {seconds:.3f} s", file=sys.stderr)
