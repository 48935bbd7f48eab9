"""The programs of the wheel, and the same bytes as theirs from a frame."""

import base64
import hashlib
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hedgerow as hr

WHEEL = [sys.executable, "-m", "hedgerow"]
FILES = ("data.csv", "codebook.csv", "datapackage.json")


def run(words: list[object], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True)


def test_the_wheel_installs_both_programs():
    scripts = {entry.name: entry for entry in importlib.metadata.distribution("hedgerow").entry_points}
    assert set(scripts) == {"hedgerow", "hedgerow-studio"}
    assert all(callable(entry.load()) for entry in scripts.values())


def test_the_wheel_is_whole():
    """Each file that it lists is there as it was packed, for every Python from 3.11, and no test is."""
    installed = importlib.metadata.distribution("hedgerow")
    assert "Tag: cp311-abi3-" in (installed.read_text("WHEEL") or "")
    packed = {str(file): file for file in installed.files or [] if not str(file).startswith("..")}
    assert {name.split("/")[0] for name in packed if "__pycache__" not in name} == {
        "hedgerow",
        f"hedgerow-{hr.__version__}.dist-info",
    }
    sources = (Path(__file__).parent.parent / "hedgerow").iterdir()
    assert {f"hedgerow/{source.name}" for source in sources if source.is_file()} <= set(packed)
    hashed = {name: file for name, file in packed.items() if file.hash is not None}
    assert any("_hedgerow." in name and name.endswith((".so", ".pyd")) for name in hashed)
    for name, file in hashed.items():
        digest = hashlib.new(file.hash.mode, Path(str(file.locate())).read_bytes()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == file.hash.value, name


def test_the_wheel_has_the_command(tmp_path, patients, policy):
    told = run([*WHEEL, "--version"], tmp_path)
    assert told.returncode == 0 and told.stdout.strip() == f"hedgerow {hr.__version__}"
    assert "Usage: hedgerow" in run([*WHEEL, "publish", "--help"], tmp_path).stdout
    pq.write_table(patients, tmp_path / "rows.parquet")
    (tmp_path / "policy.toml").write_text('[source]\npath = "rows.parquet"\n' + policy.to_toml())
    done = run([*WHEEL, "publish", "policy.toml", "-o", "release", "--json", "-q"], tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["rows"]["in"] == 12
    assert run([*WHEEL, "check", "release"], tmp_path).returncode == 0


def test_exit_codes_are_those_of_exceptions(tmp_path, patients, policy):
    pq.write_table(patients, tmp_path / "rows.parquet")
    source = '[source]\npath = "rows.parquet"\n'
    wrong = policy.to_toml().replace("k = 2", "k = 0")
    never = policy.to_toml().replace("l = 2", "l = 9")
    for text, kind in ((wrong, hr.PolicyError), (never, hr.Unsatisfiable)):
        (tmp_path / "policy.toml").write_text(source + text)
        said = run([*WHEEL, "publish", "policy.toml", "-o", "release", "--json", "-q"], tmp_path)
        with pytest.raises(kind) as raised:
            hr.publish(patients, hr.Policy.from_toml(text), progress=False)
        assert said.returncode == raised.value.exit_code
    assert run([*WHEEL, "no-such-verb"], tmp_path).returncode == 2
    release = hr.publish(patients, policy, tmp_path / "release", progress=False)
    assert run([*WHEEL, "audit", "release", "--fail-under", "k=100"], tmp_path).returncode == 4
    assert hr.audit([release], k=100).breach


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "best-cut", "cluster", "anatomy"])
def test_the_command_gives_the_same_bytes(tmp_path, command, method):
    census = hr.synth(300, seed=5)
    pyarrow.csv.write_csv(census, tmp_path / "census.csv")
    pq.write_table(census, tmp_path / "census.parquet")
    attributes = {"age": hr.Quasi(), "sex": hr.Quasi(), "occupation": hr.Sensitive()}
    rules = [hr.FrequencyLDiversity("occupation", 2)]
    policy = hr.Policy(attributes, rules, method)
    for source in ("census.csv", "census.parquet"):
        (tmp_path / "policy.toml").write_text(f'[source]\npath = "{source}"\n' + policy.to_toml())
        words = ["publish", "policy.toml", "-o", "there", "--seed", "7", "--json", "-q", "--force"]
        said = run([*command, *words], tmp_path)
        assert said.returncode == 0, said.stderr
        here = hr.publish(census, policy, tmp_path / "here", progress=False, danger_seed=7, overwrite=True)
        names = sorted(path.name for path in here.path.iterdir())
        assert names == sorted(path.name for path in (tmp_path / "there").iterdir())
        for name in names:
            assert (here.path / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), (source, name)
        assert json.loads(said.stdout)["guarantees"] == here.json["guarantees"]


def test_a_policy_file_gives_the_same_bytes(tmp_path, command):
    pyarrow.csv.write_csv(hr.synth(300, seed=5), tmp_path / "census.csv")
    # The files of its hierarchies are there for as long as the policy is.
    proposed = hr.propose(tmp_path / "census.csv")
    (tmp_path / "policy.toml").write_text(proposed.to_toml())
    said = run([*command, "publish", "policy.toml", "-o", "there", "--seed", "7", "--json", "-q"], tmp_path)
    assert said.returncode == 0, said.stderr
    hr.publish(None, tmp_path / "policy.toml", tmp_path / "here", progress=False, danger_seed=7)
    for name in FILES:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_the_wheel_has_the_studio(tmp_path, patients):
    pyarrow.csv.write_csv(patients, tmp_path / "patients.csv")
    program = Path(sysconfig.get_path("scripts")) / "hedgerow"
    words = [program, "studio", "--no-browser", "patients.csv"]
    started = subprocess.Popen(
        words, cwd=tmp_path, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        assert started.stderr is not None
        said = [started.stderr.readline(), started.stderr.readline()]
        assert any("http://127.0.0.1:" in line for line in said), said
        os.killpg(started.pid, signal.SIGINT)
        sent = time.monotonic()
        started.wait(10)
        assert time.monotonic() - sent < 5
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def test_interrupts_of_the_command_leave_nothing(tmp_path):
    census = hr.synth(30_000, seed=1)
    pyarrow.csv.write_csv(census, tmp_path / "census.csv")
    attributes = {name: hr.Quasi() for name in census.column_names[:6]}
    policy = hr.Policy(attributes, [hr.KAnonymity(5)], "cluster", source="census.csv")
    (tmp_path / "policy.toml").write_text(policy.to_toml())
    before = sorted(os.listdir(tmp_path))
    started = subprocess.Popen([*WHEEL, "publish", "policy.toml", "-o", "release", "-q"], cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(1.0)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)
    if started.returncode == 0:
        # It was quicker than the signal: then all of it is there.
        assert hr.Release.open(tmp_path / "release").check().holds
        return
    # On a busy machine Python itself may be still starting.
    assert started.returncode in (1, -signal.SIGINT)
    assert sorted(os.listdir(tmp_path)) == before
