"""Progress, cancellation, exceptions on the way, threads and forks."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import hedgerow as hr

#: Ctrl-C has so many seconds. A build without optimization, or a busy machine, may be given more.
PATIENCE = float(os.environ.get("HEDGEROW_INTERRUPT_SECONDS", "1.0"))


def test_progress_tells_phases_and_shares(patients, policy):
    seen: list[tuple[str, float | None]] = []
    hr.publish(patients, policy, progress=lambda phase, share: seen.append((phase, share)))
    assert len({phase for phase, _ in seen}) >= 2
    assert all(share is None or 0 <= share <= 1 for _, share in seen)


def test_an_exception_in_the_callback_ends_the_run_and_leaves_nothing(patients, policy, tmp_path):
    def refuse(phase: str, share: float | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        hr.publish(patients, policy, tmp_path / "release", progress=refuse)
    assert os.listdir(tmp_path) == [], "no release, no partial one"
    release = hr.publish(patients, policy, tmp_path / "other", progress=False)
    assert release.check().holds


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "best-cut", "cluster"])
def test_interrupts_cancel_soon_and_leave_nothing(tmp_path, method):
    census = hr.synth(40_000, seed=1)
    attributes = {name: hr.Quasi() for name in census.column_names[:6]}
    policy = hr.Policy(attributes, [hr.KAnonymity(5)], method)
    started = threading.Event()
    sent = [0.0]

    def interrupt() -> None:
        started.wait()
        sent[0] = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    # A shell starts programs in the background with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            hr.publish(census, policy, tmp_path / "release", progress=lambda phase, share: started.set())
    finally:
        signal.signal(signal.SIGINT, before)
    seconds = time.monotonic() - sent[0]
    thread.join()
    assert seconds < PATIENCE, f"{seconds:.2f} s"
    assert os.listdir(tmp_path) == []
    gc.collect()


@pytest.mark.parametrize("what", ["check", "query", "to_arrow"])
def test_interrupts_end_the_wait_for_an_answer(tmp_path, what):
    """What only reads is left to end by itself."""
    census = hr.synth(200_000, seed=1)
    policy = hr.Policy({name: hr.Quasi() for name in census.column_names[:8]}, [hr.KAnonymity(2)], "mondrian")
    hr.publish(census, policy, tmp_path / "release", progress=False)
    release = hr.Release.open(tmp_path / "release")
    sql = "SELECT sex, COUNT(*), SUM(age) FROM data WHERE age < 40 GROUP BY sex"
    ask = {"check": release.check, "query": lambda: release.query(sql), "to_arrow": release.to_arrow}[what]
    started = time.monotonic()
    ask()
    whole = time.monotonic() - started
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # Only the signal is counted: the thread that sends it waits until the call is under way.
    threading.Timer(min(0.05, whole / 4), os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            while time.monotonic() - started < 10:
                ask()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < PATIENCE, f"of {whole:.2f} s"
    assert release.check().holds, "the release is still of use"


def test_other_threads_run_meanwhile(policy):
    census = hr.synth(20_000, seed=1)
    attributes = {name: hr.Quasi() for name in census.column_names[:4]}
    counted = [0]
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    hr.publish(census, hr.Policy(attributes, [hr.KAnonymity(5)], hr.Mondrian()), progress=False)
    done.set()
    thread.join()
    assert counted[0] > 10, "the interpreter was free"


def test_two_threads_publish_at_once(patients, policy):
    texts: list[bytes] = []

    def work() -> None:
        release = hr.publish(patients, policy, progress=False, danger_seed=7)
        texts.append((release.path / "data.csv").read_bytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 4 and all(text == texts[0] for text in texts)


def test_a_fork_after_import_can_publish(patients, policy, tmp_path):
    hr.publish(patients, policy, progress=False)
    child = os.fork()
    if child == 0:
        try:
            release = hr.publish(patients, policy, tmp_path / "release", progress=False)
            os._exit(0 if release.check().holds else 3)
        except BaseException:
            os._exit(4)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_bar_needs_no_tqdm(tmp_path):
    """Without tqdm `progress=True` is silent."""
    lines = [
        "import sys",
        "sys.modules['tqdm'] = None",
        "sys.modules['tqdm.auto'] = None",
        "import hedgerow as hr, pyarrow as pa",
        "policy = hr.Policy({'age': hr.Quasi()}, [hr.KAnonymity(2)])",
        "print(hr.publish(pa.table({'age': [1, 1, 2, 2]}), policy).rows)",
    ]
    told = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "4" and told.stderr == ""
