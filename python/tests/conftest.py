"""Frames that several tests publish, and the command to compare with."""

import os
import sys

import pyarrow as pa
import pytest

import hedgerow as hr


@pytest.fixture
def patients() -> pa.Table:
    ages = [31, 34, 33, 36, 52, 58, 55, 51, 31, 52, 36, 55]
    diseases = ["flu", "cold", "gout", "flu", "flu", "asthma", "cold", "flu", "cold", "asthma", "gout", "cold"]
    sexes = ["f", "m"] * 6
    return pa.table({"age": ages, "sex": sexes, "disease": diseases})


@pytest.fixture
def policy() -> hr.Policy:
    return hr.Policy(
        attributes={"age": hr.Quasi(widths=[10, 20]), "sex": hr.Quasi(), "disease": hr.Sensitive()},
        rules=[hr.KAnonymity(2), hr.DistinctLDiversity("disease", 2)],
    )


@pytest.fixture(scope="session")
def command() -> list[str]:
    """The program that `HEDGEROW_COMMAND` names, or the one of the wheel."""
    named = os.environ.get("HEDGEROW_COMMAND")
    return [named] if named else [sys.executable, "-m", "hedgerow"]
