"""Random frames of all types: what the command makes of the same rows in a Parquet file, or the same refusal."""

import datetime
import json
import os
import subprocess
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow as hr

#: How many frames are drawn; HEDGEROW_TABLES=1000 draws more.
FRAMES = int(os.environ.get("HEDGEROW_TABLES", "0")) // 10 or 40

KINDS = {2: hr.PolicyError | hr.InputError, 3: hr.Unsatisfiable, 1: hr.InputError | hr.InternalError}

CELLS = {
    pa.int8(): st.integers(-128, 127),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    pa.timestamp("ms"): st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)).map(
        lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    ),
    pa.timestamp("us", tz="UTC"): st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
    pa.decimal128(9, 2): st.decimals(-9999, 9999, places=2, allow_nan=False),
    pa.string(): st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20),
    pa.large_string(): st.sampled_from(["a", "b", "07", "7", ""]),
    pa.dictionary(pa.int16(), pa.string()): st.sampled_from(["x", "y", "z"]),
    pa.list_(pa.int64()): st.lists(st.integers(0, 3), max_size=2),
}

#: Names that a Parquet file and a frame can both have.
NAMES = st.sampled_from(["first", "zweite Spalte", "третий", "a.b", "x" * 300, "0", "first "])


@st.composite
def frames(draw):
    """A frame with one to four columns, of which two may share a name."""
    rows = draw(st.integers(0, 12))
    names = draw(st.lists(NAMES, min_size=1, max_size=4))
    columns = []
    for _ in names:
        kind = draw(st.sampled_from(list(CELLS)))
        distinct = draw(st.lists(st.none() | CELLS[kind], min_size=1, max_size=4))
        cells = [distinct[draw(st.integers(0, len(distinct) - 1))] for _ in range(rows)]
        columns.append(pa.array(cells, kind))
    return pa.Table.from_arrays(columns, names=names)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def by_command(command: list[str], folder: Path, policy: hr.Policy) -> dict[str, bytes] | tuple[int, str]:
    """The files that the command writes, or its exit code and the problem that it tells."""
    (folder / "policy.toml").write_text('[source]\npath = "rows.parquet"\n' + policy.to_toml(), encoding="utf-8")
    words = [*command, "publish", "policy.toml", "-o", "there", "--seed", "7", "--json", "-q"]
    said = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if said.returncode == 0:
        return files(folder / "there")
    assert not (folder / "there").exists()
    return said.returncode, said.stderr


def by_package(frame, policy: hr.Policy, folder: Path) -> dict[str, bytes] | hr.HedgerowError:
    try:
        hr.publish(frame, policy, folder / "here", progress=False, danger_seed=7)
    except hr.HedgerowError as error:
        assert not (folder / "here").exists()
        return error
    return files(folder / "here")


def assert_same(command, frame, policy: hr.Policy, folder: Path) -> None:
    there, here = by_command(command, folder, policy), by_package(frame, policy, folder)
    if isinstance(here, dict):
        assert there == here
        return
    assert isinstance(there, tuple), f"the command published, the package says: {here}"
    code, told = there
    assert code == here.exit_code, (told, here)
    # A frame without rows is refused before its columns are looked at.
    problem = here.problem.splitlines()[0].strip().replace("table in memory", "rows.parquet")
    assert problem in told or problem == "the table has no rows", (told, here)


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "cluster"])
@settings(max_examples=FRAMES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(frame=frames(), k=st.integers(1, 3))
def test_a_frame_is_published_as_the_command_publishes_its_parquet_file(method, frame, k, command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    pq.write_table(frame, folder / "rows.parquet")
    names = list(dict.fromkeys(frame.column_names))
    attributes = {name: hr.Quasi() for name in names[:2]} | {name: hr.Sensitive(allow_unique=True) for name in names[2:]}
    options = {"suppression": 0.5} if method == "full-domain" else {}
    policy = hr.Policy.from_dict({
        "attributes": {name: attribute.to_dict() for name, attribute in attributes.items()},
        "rule": [{"require": {"model": "k-anonymity", "k": k}}],
        "publish": {"method": method, **options},
    })
    assert_same(command, frame, policy, folder)


def as_file(frame: pd.DataFrame, folder: Path) -> None:
    """A Parquet file as pandas writes it, the index included."""
    pq.write_table(pa.table(frame), folder / "rows.parquet")


@pytest.mark.parametrize(
    "index",
    [range(7, 107), list("ab") * 50, pd.Index(range(100), name="patient"), pd.MultiIndex.from_product([range(10), list("abcdefghij")])],
    ids=["a range", "texts", "a name", "two levels"],
)
def test_an_index_is_a_column_as_in_a_parquet_file(index, command, tmp_path):
    frame = pd.DataFrame({"age": [20 + number % 7 for number in range(100)], "sex": ["f", "m"] * 50}, index=index)
    as_file(frame, tmp_path)
    policy = hr.Policy({"age": hr.Quasi(), "sex": hr.Quasi()}, [hr.KAnonymity(5)], hr.Mondrian())
    assert_same(command, frame, policy, tmp_path)
    released = hr.publish(frame, policy, progress=False).to_pandas()
    assert list(released.columns) == ["age", "sex"], "what the policy does not name is not released"


def test_ten_to_the_five_categories(command, tmp_path):
    values = [f"value {number % 100_000}" for number in range(200_000)]
    frame = pd.DataFrame({"code": pd.Categorical(values), "sex": ["f", "m"] * 100_000})
    as_file(frame, tmp_path)
    policy = hr.Policy({"sex": hr.Quasi(), "code": hr.Plain(allow_unique=True)}, [hr.KAnonymity(2)])
    assert_same(command, frame, policy, tmp_path)
    assert len(set((tmp_path / "here" / "data.csv").read_text().splitlines())) == 100_001


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows, command, tmp_path):
    frame = pd.DataFrame({"age": [31, 32][:rows], "sex": ["f", "m"][:rows]})
    as_file(frame, tmp_path)
    for k in (1, 2):
        policy = hr.Policy({"age": hr.Quasi(), "sex": hr.Quasi()}, [hr.KAnonymity(k)])
        folder = tmp_path / str(k)
        folder.mkdir()
        as_file(frame, folder)
        assert_same(command, frame, policy, folder)


def test_names_that_are_not_texts(command, tmp_path):
    frame = pd.DataFrame({1: [1, 1, 2, 2], 2.5: ["a", "b", "a", "b"], (3, "x"): [1, 2, 1, 2], None: [1, 1, 1, 1]})
    as_file(frame, tmp_path)
    policy = hr.Policy({1: hr.Quasi(), "2.5": hr.Quasi(), "('3', 'x')": hr.Quasi()}, [hr.KAnonymity(2)])
    assert_same(command, frame, policy, tmp_path)
    assert json.loads((tmp_path / "here" / "datapackage.json").read_text())["hedgerow"]["rows"]["out"] == 4


def test_names_that_occur_twice(command, tmp_path):
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4]), pa.array(["a", "a"])], names=["age", "age", "sex"])
    pq.write_table(table, tmp_path / "rows.parquet")
    for number, attributes in enumerate(({"age": hr.Quasi()}, {"sex": hr.Quasi()})):
        folder = tmp_path / str(number)
        folder.mkdir()
        pq.write_table(table, folder / "rows.parquet")
        assert_same(command, table, hr.Policy(attributes, [hr.KAnonymity(2)]), folder)
