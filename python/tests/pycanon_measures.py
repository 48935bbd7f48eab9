"""What pyCANON computes for CSV files, as JSON: run by the Python that has it. See test_pycanon.py.

Each line of the input is a file, its sensitive attribute and its quasi-identifiers, apart by tabs.
"""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity

MEASURES = {
    "l_diversity": anonymity.l_diversity,
    "entropy_l_diversity": anonymity.entropy_l_diversity,
    "recursive_cl": anonymity.recursive_c_l_diversity,
    "alpha_k": anonymity.alpha_k_anonymity,
    "t_closeness": anonymity.t_closeness,
    "delta_disclosure": anonymity.delta_disclosure,
    "basic_beta": anonymity.basic_beta_likeness,
    "enhanced_beta": anonymity.enhanced_beta_likeness,
}


def plain(value: object) -> object:
    """Numbers that JSON knows; what is not a number is null."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    number = float(value)
    return None if number != number else number


def measured(path: str, sensitive: str, quasi: list[str]) -> dict[str, object]:
    frame = pd.read_csv(path)
    found: dict[str, object] = {}
    seconds = {}
    for name, measure in {"k_anonymity": anonymity.k_anonymity, **MEASURES}.items():
        start = time.perf_counter()
        value = measure(frame, quasi) if name == "k_anonymity" else measure(frame, quasi, [sensitive])
        seconds[name] = time.perf_counter() - start
        found[name] = plain(value)
    return {"found": found, "seconds": seconds}


if __name__ == "__main__":
    lines = [line.split("\t") for line in sys.stdin.read().splitlines()]
    print(json.dumps([measured(path, sensitive, quasi) for path, sensitive, *quasi in lines]))
