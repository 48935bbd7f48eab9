"""The drop-in measures on tables small enough to compute by hand."""

import math

import pyarrow as pa
import pytest

import hedgerow as hr

FRAME = pa.table(
    {
        "age": ["2*", "2*", "2*", "4*", "4*", "4*", "3*", "3*", "3*"],
        "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "disease": ["ulcer", "gastritis", "gastritis", "gastritis", "flu", "bronchitis", "bronchitis", "flu", "ulcer"],
    }
)


def test_the_example_of_t_closeness():
    assert hr.k_anonymity(FRAME, ["age"]) == 3
    assert hr.l_diversity(FRAME, ["age"], "salary") == 3
    assert hr.t_closeness(FRAME, ["age"], "salary") == pytest.approx(0.375)


def test_a_class_of_two_thirds_and_one_third():
    assert hr.l_diversity(FRAME, ["age"], "disease") == 2
    assert hr.alpha_k(FRAME, ["age"], "disease") == (pytest.approx(2 / 3), 3)
    expected = math.exp(-(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3))
    assert hr.entropy_l_diversity(FRAME, ["age"], "disease") == pytest.approx(expected)
    assert hr.recursive_cl(FRAME, ["age"], "disease") == (2.0, 2)
    assert hr.basic_beta(FRAME, ["age"], "disease") == pytest.approx((2 / 3 - 1 / 3) / (1 / 3))
    assert hr.delta_disclosure(FRAME, ["age"], "disease") == pytest.approx(math.log(2))
    assert hr.enhanced_beta(FRAME, ["age"], "disease") == pytest.approx(1.0)


def test_a_gain_beyond_the_limit_has_no_enhanced_beta():
    frame = pa.table({"q": [1, 2, 2, 2], "s": ["a", "b", "b", "b"]})
    assert hr.enhanced_beta(frame, ["q"], "s") == math.inf


def test_other_frames_and_missing_columns():
    import polars as pl

    assert hr.k_anonymity(FRAME.to_pandas(), ["age"]) == 3
    assert hr.k_anonymity(pl.DataFrame(FRAME), ["age", "disease"]) == 1
    assert hr.k_anonymity(FRAME, "age") == 3, "one name"
    with pytest.raises(hr.InputError, match="no column `zip`"):
        hr.k_anonymity(FRAME, ["zip"])
