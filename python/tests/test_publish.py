"""From a frame to a release, and what can be asked of it."""

import gc
import os

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hedgerow as hr


def rows(release: hr.Release) -> list[tuple[object, ...]]:
    table = release.to_arrow()
    return sorted(zip(*(column.to_pylist() for column in table.columns)), key=repr)


def test_every_kind_of_frame_gives_the_same_release(patients, policy):
    duckdb = pytest.importorskip("duckdb")
    frames = [patients, patients.to_pandas(), pl.DataFrame(patients), duckdb.sql("select * from patients")]
    releases = [hr.publish(frame, policy, progress=False, danger_seed=7) for frame in frames]
    texts = [(release.path / "data.csv").read_bytes() for release in releases]
    assert all(text == texts[0] for text in texts)
    assert isinstance(releases[0].to_frame(), pa.Table)
    assert isinstance(releases[1].to_frame(), pd.DataFrame)
    assert isinstance(releases[2].to_frame(), pl.DataFrame)
    assert pl.DataFrame(releases[0]).height == releases[0].rows, "a release is a stream itself"


def test_a_frame_and_a_parquet_file_give_the_same_bytes(tmp_path, policy):
    import datetime
    import decimal

    import pyarrow.parquet as pq

    table = pa.table(
        {
            "age": pa.array([31, None, 33, 36, 52, 58], pa.int16()),
            "sex": pa.array(["f", "m", None, "f", "m", "f"]).dictionary_encode(),
            "disease": pa.array(["flu", "cold", "gout", "flu", "cold", "gout"], pa.large_string()),
            "paid": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")] * 2, pa.decimal128(9, 2)),
            "born": pa.array([datetime.date(1990, 1, 31)] * 6),
            "seen": pa.array([datetime.datetime(2024, 1, 31, 9, 30)] * 6, pa.timestamp("us")),
            "active": pa.array([True, False, None] * 2),
            "weight": pa.array([70.5, 60.25, None] * 2),
        }
    )
    more = {name: hr.Plain(allow_unique=True) for name in ("paid", "born", "seen", "active", "weight")}
    policy = hr.Policy(
        attributes={"age": hr.Quasi(widths=[20, 40]), "sex": hr.Quasi(), "disease": hr.Sensitive(), **more},
        rules=[hr.KAnonymity(2)],
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    from_frame = hr.publish(table, policy, tmp_path / "a", progress=False, danger_seed=7)
    from_file = hr.publish(tmp_path / "rows.parquet", policy, tmp_path / "b", progress=False, danger_seed=7)
    for name in ("data.csv", "codebook.csv", "datapackage.json"):
        assert (from_frame.path / name).read_bytes() == (from_file.path / name).read_bytes(), name
    types = from_frame.to_arrow().schema
    assert pa.types.is_date(types.field("born").type) and pa.types.is_dictionary(types.field("disease").type)


def test_released_columns_keep_their_type(tmp_path):
    import datetime
    import decimal

    moments = [datetime.datetime(2024, 1, 31, 9, 30), None, datetime.datetime(1969, 12, 31, 23, 59, 59, 250_000)] * 2
    columns = {
        "paid": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.25")] * 2, pa.decimal128(9, 2)),
        "large": pa.array([decimal.Decimal("12345678901234567890.123"), None, decimal.Decimal("0.001")] * 2, pa.decimal128(38, 3)),
        "seen": pa.array(moments, pa.timestamp("us")),
        "there": pa.array(moments, pa.timestamp("ns", tz="Europe/Vienna")),
        "active": pa.array([True, False, None] * 2),
        "yes": pa.array([True] * 6),
        "small": pa.array([-1, None, 7] * 2, pa.int8()),
        "huge": pa.array([2**64 - 1, None, 0] * 2, pa.uint64()),
        "single": pa.array([0.1, None, 2.5] * 2, pa.float32()),
        "born": pa.array([datetime.date(1990, 1, 31), None, datetime.date(1960, 2, 29)] * 2),
        "ward": pa.array(["a", None, "b"] * 2).dictionary_encode(),
    }
    table = pa.table({"age": pa.array([31, 33, 36, 52, 58, 52], pa.int16()), **columns})
    more = {name: hr.Plain(allow_unique=True) for name in columns}
    policy = hr.Policy(attributes={"age": hr.Quasi(widths=[20, 40]), **more}, rules=[hr.KAnonymity(2)])
    release = hr.publish(table, policy, tmp_path / "release", progress=False)
    for made in (release, release.save(tmp_path / "saved")):
        arrow = made.to_arrow()
        for name, column in columns.items():
            released = arrow[name]
            expected = pa.dictionary(pa.int32(), pa.string()) if name == "ward" else column.type
            assert released.type == expected, name
            assert sorted(map(str, released.to_pylist())) == sorted(map(str, column.to_pylist())), name
        assert pa.types.is_dictionary(arrow["age"].type), "labels are texts"
    frame = release.to_pandas()
    kinds = {name: str(frame[name].dtype) for name in ("active", "yes", "small", "huge")}
    assert kinds == {"active": "boolean", "yes": "bool", "small": "Int8", "huge": "UInt64"}
    assert pl.DataFrame(release)["active"].dtype == pl.Boolean and release.to_polars()["small"].dtype == pl.Int8
    opened = hr.Release.open(tmp_path / "release").to_arrow()
    assert sorted(opened["small"].to_pylist(), key=str) == sorted(table["small"].to_pylist(), key=str)


def test_a_release_answers(patients, policy, tmp_path):
    release = hr.publish(patients, policy, tmp_path / "release", progress=False)
    assert release.rows == 12 and release.method == "full-domain"
    check = release.check()
    assert check and check.holds and {guarantee.model for guarantee in check.guarantees} == {
        "k-anonymity",
        "distinct-l-diversity",
    }
    assert release.json["rows"] == {"in": 12, "out": 12, "suppressed": 0}
    answer = release.query("SELECT COUNT(*) FROM data WHERE age < 40")["answer"]
    assert list(answer[0].values())[0]["estimate"] == 6
    measures = release.measure(policy, patients, queries=10, seed=1)
    assert 0 <= measures["loss"]["ncp"] <= 1
    page = release.report(policy, patients)
    assert page.html.startswith("<!DOCTYPE html>") and page.json["releases"]
    page.save(tmp_path / "report.html")
    assert release.codebook[0].keys() == {"attribute", "label", "low", "high", "leaf"}
    saved = release.save(tmp_path / "kept")
    assert saved.check().holds and rows(saved) == rows(release)
    with pytest.raises(FileExistsError):
        release.save(tmp_path / "kept")


def test_releases_are_audited_together(patients, policy):
    release = hr.publish(patients, policy, progress=False)
    found = hr.audit([release], people=patients, policy=policy)
    assert {finding.adversary for finding in found.findings} >= {"linker", "attribute"}
    assert all(finding.people == 12 for finding in found.findings)
    assert not found.breach
    linkers = hr.audit([release], adversaries=["linker"], k=100)
    assert linkers.breach and [finding.adversary for finding in linkers.findings] == ["linker"]
    with pytest.raises(ValueError, match="there are linker"):
        hr.audit([release], adversaries=["linkr"])


def test_a_community_is_named_where_it_is_published(patients, tmp_path):
    first = hr.Policy(
        attributes={"sex": hr.Quasi(), "disease": hr.Sensitive()},
        rules=[hr.DistinctLDiversity("disease", 2)],
    )
    hr.publish(patients, first, tmp_path / "first", progress=False)
    beside = hr.Policy(
        attributes={"age": hr.Quasi(widths=[10, 20]), "disease": hr.Sensitive()},
        rules=[hr.CrossReleaseLDiversity("disease", 2)],
        community=[tmp_path / "first"],
    )
    release = hr.publish(patients, beside, tmp_path / "second", progress=False)
    assert release.check([hr.Release.open(tmp_path / "first")]).holds


def test_releases_of_others_are_named_in_the_call(patients, tmp_path, monkeypatch):
    """As if the policy named them; those that it names itself stay."""
    by = {"sex": hr.Quasi(), "disease": hr.Sensitive()}
    for name in ("first", "second"):
        hr.publish(patients, hr.Policy(by, [hr.DistinctLDiversity("disease", 2)]), tmp_path / name, progress=False)
    attributes = {"age": hr.Quasi(widths=[10, 20]), "disease": hr.Sensitive()}
    rules = [hr.CrossReleaseLDiversity("disease", 2)]
    alone = hr.Policy(attributes, rules, community=[tmp_path / "first"])
    both = hr.Policy(attributes, rules, community=[tmp_path / "first", tmp_path / "second"])
    named = hr.publish(patients, both, tmp_path / "a", progress=False, danger_seed=7)
    called = hr.publish(
        patients, alone, tmp_path / "b", community=[tmp_path / "second"], progress=False, danger_seed=7
    )
    for file in ("data.csv", "datapackage.json"):
        assert (called.path / file).read_bytes() == (named.path / file).read_bytes(), file
    # By a path from the current directory.
    monkeypatch.chdir(tmp_path)
    release = hr.publish(patients, alone, community=["second"], progress=False)
    assert release.check([hr.Release.open("first"), hr.Release.open("second")]).holds
    with pytest.raises(hr.HedgerowError, match="no-such-release"):
        hr.publish(patients, alone, community=["no-such-release"], progress=False)


def test_integers_with_missing_cells_stay_integers(patients):
    rooms = patients.append_column("room", pa.array([1, None, 3] * 4))
    policy = hr.Policy({"age": hr.Quasi(widths=[10, 20]), "room": hr.Plain(allow_unique=True)}, [hr.KAnonymity(2)])
    frame = hr.publish(rooms, policy, progress=False).to_pandas()
    assert str(frame["room"].dtype) == "Int64" and frame["room"].isna().sum() == 4 and frame["room"].sum() == 16


def test_what_is_no_policy_is_named(patients):
    with pytest.raises(TypeError, match="a dict or the path of a policy file, not int"):
        hr.publish(patients, 3, progress=False)


def test_what_is_no_table_is_named(patients, policy):
    for rows in ({"age": [1]}, pl.DataFrame(patients).lazy()):
        with pytest.raises(TypeError, match=f"pandas, polars.*not {type(rows).__name__}"):
            hr.publish(rows, policy, progress=False)


def test_a_temporary_release_goes_with_its_object(patients, policy, recwarn):
    release = hr.publish(patients, policy, progress=False)
    place = release.path
    child = os.fork()
    if child == 0:
        # What a forked process drops stays for the other one.
        del release
        gc.collect()
        os._exit(0 if place.exists() else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert place.exists() and release.rows == 12
    recwarn.clear()
    del release
    gc.collect()
    assert not place.parent.exists()
    assert not [told for told in recwarn if issubclass(told.category, ResourceWarning)]


def test_other_calls(patients, policy, tmp_path):
    assert hr.check(patients, policy).holds is False
    explored = hr.explore(policy, patients)
    assert explored["holding"] and explored["nodes"] == 8
    census = hr.synth(200, seed=3)
    proposed = hr.propose(census)
    assert "quasi" in proposed.attributes.values()
    release = hr.publish(census, proposed, progress=False)
    assert release.check().holds
    buckets = hr.Policy(
        attributes={"age": hr.Quasi(), "disease": hr.Sensitive()},
        rules=[hr.FrequencyLDiversity("disease", 2)],
        method=hr.Anatomy(),
    )
    release = hr.publish(patients, buckets, progress=False)
    assert set(release.tables()) == {"quasi", "sensitive"}
    with pytest.raises(ValueError, match="several tables"):
        release.to_arrow()
    assert release.to_arrow("quasi").num_rows == 12


def test_a_release_that_was_replaced_is_not_taken_for_the_one_published(patients, policy, tmp_path):
    first = hr.publish(patients, policy, tmp_path / "release", progress=False)
    seen = hr.publish(patients, policy, tmp_path / "other", progress=False)
    assert seen.rows == 12
    hr.publish(patients.slice(0, 8), policy, tmp_path / "release", progress=False, overwrite=True)
    hr.publish(patients.slice(0, 8), policy, tmp_path / "other", progress=False, overwrite=True)
    with pytest.raises(hr.InputError, match="replaced") as refused:
        first.to_pandas()
    assert refused.value.exit_code == 2 and "Release.open" in refused.value.hint
    assert hr.Release.open(tmp_path / "release").rows == 8
    assert seen.rows == len(seen.to_pandas()) == 12, "what was opened stays"
