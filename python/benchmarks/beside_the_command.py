"""Time and memory of publishing an Arrow table, beside the command on the same rows as a Parquet file.

usage: python python/benchmarks/beside_the_command.py [ROWS]

The package must be installed. Both sides publish a synthetic census under the same policy, each in a process of its
own, with nothing else under way; the least of three runs counts. Memory is what publishing adds to a process that holds
the table, together with the table.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

BLOCK_ROWS = 500_000
RUNS = 3
POLICY = """
[source]
path = "census.parquet"
[attributes]
age = { role = "quasi", hierarchy = { widths = [5, 10, 20, 40] } }
sex = { role = "quasi" }
education = { role = "quasi" }
marital-status = { role = "quasi" }
occupation = { role = "sensitive" }
income = { role = "plain" }
[[rule]]
require = { model = "k-anonymity", k = 5 }
[publish]
method = "full-domain"
suppression = 0.02
"""


def census(folder: Path, rows: int) -> None:
    """Writes the rows as a Parquet file, block by block, and the policy."""
    import pyarrow.parquet as pq

    import hedgerow as hr

    # The people of one block again and again: here only their number matters.
    block = hr.synth(min(BLOCK_ROWS, rows), seed=1)
    with pq.ParquetWriter(folder / "census.parquet", block.schema) as writer:
        for start in range(0, rows, BLOCK_ROWS):
            writer.write_table(block.slice(0, min(BLOCK_ROWS, rows - start)))
    (folder / "policy.toml").write_text(POLICY)
    print(f"{rows} rows of {block.num_columns} columns")


def high_water(restart: bool = False) -> int:
    """The most bytes in memory so far, or from now on."""
    if restart:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def by_package(folder: Path) -> None:
    """Publishes the table that is in memory, and prints seconds and bytes as JSON."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import hedgerow as hr

    table = pq.read_table(folder / "census.parquet")
    pa.default_memory_pool().release_unused()
    before = high_water(restart=True)
    started = time.perf_counter()
    hr.publish(table, folder / "policy.toml", folder / "by-package", progress=False, overwrite=True)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "table": table.nbytes, "added": high_water() - before}))


def by_command(folder: Path) -> dict[str, float]:
    program = os.environ.get("HEDGEROW_COMMAND") or os.path.join(sysconfig.get_path("scripts"), "hedgerow")
    started = time.perf_counter()
    subprocess.run([program, "publish", "policy.toml", "-o", "by-command", "-q", "--force"], cwd=folder, check=True)
    return {"seconds": time.perf_counter() - started}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        census(folder, rows)
        command = min(by_command(folder)["seconds"] for _ in range(RUNS))
        print(f"command, from Parquet: {command:.2f} s")
        words = [sys.executable, __file__, "--package", scratch]
        outputs = [subprocess.run(words, capture_output=True, text=True, check=True).stdout for _ in range(RUNS)]
        told = [json.loads(output) for output in outputs]
        seconds = min(run["seconds"] for run in told)
        table, added = told[0]["table"], max(run["added"] for run in told)
        print(f"package, from Arrow:   {seconds:.2f} s, {seconds / command:.2f} times the command")
        both = (table + added) >> 20
        print(f"memory: the table {table >> 20} MiB, with publishing {both} MiB, {1 + added / table:.2f} times")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--package"]:
        by_package(Path(sys.argv[2]))
    else:
        main()
