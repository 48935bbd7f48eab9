"""Privacy models of a frame as it is: the measures that other packages compute, under similar names."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from . import _hedgerow


def _measured(frame: Any, quasi: Sequence[str], sensitive: str | None = None) -> dict[str, Any]:
    names = [quasi] if isinstance(quasi, str) else [str(name) for name in quasi]
    return json.loads(_hedgerow.anonymity(frame, names, sensitive))  # type: ignore[no-any-return]


def k_anonymity(frame: Any, quasi: Sequence[str]) -> int:
    """The rows of the smallest equivalence class."""
    return int(_measured(frame, quasi)["k"])


def l_diversity(frame: Any, quasi: Sequence[str], sensitive: str) -> int:
    """The fewest sensitive values of any class."""
    return int(_measured(frame, quasi, sensitive)["l"])


def entropy_l_diversity(frame: Any, quasi: Sequence[str], sensitive: str) -> float:
    """The largest l such that the entropy of every class is at least log l."""
    return float(_measured(frame, quasi, sensitive)["entropy_l"])


def recursive_cl(frame: Any, quasi: Sequence[str], sensitive: str) -> tuple[float, int]:
    """With l the distinct l-diversity: the least c such that c' > c satisfies recursive (c',l)-diversity, and l."""
    found = _measured(frame, quasi, sensitive)
    return float(found["recursive_c"]), int(found["l"])


def alpha_k(frame: Any, quasi: Sequence[str], sensitive: str) -> tuple[float, int]:
    """The largest share of a sensitive value in a class, and k."""
    found = _measured(frame, quasi, sensitive)
    return float(found["alpha"]), int(found["k"])


def t_closeness(frame: Any, quasi: Sequence[str], sensitive: str) -> float:
    """The largest earth mover's distance between a class and the table.

    Numbers and dates are compared by rank, texts by the equal distance.
    """
    return float(_measured(frame, quasi, sensitive)["t"])


def delta_disclosure(frame: Any, quasi: Sequence[str], sensitive: str) -> float:
    """The largest ``|log(q / p)|`` of a value's share q in a class where it occurs, and p in the table."""
    return float(_measured(frame, quasi, sensitive)["delta"])


def basic_beta(frame: Any, quasi: Sequence[str], sensitive: str) -> float:
    """The largest relative gain ``(q - p) / p`` of a value's share q in a class over p in the table."""
    return float(_measured(frame, quasi, sensitive)["basic_beta"])


def enhanced_beta(frame: Any, quasi: Sequence[str], sensitive: str) -> float:
    """The least beta such that every gain is at most ``min(beta, -log p)``; infinite where none is."""
    found = _measured(frame, quasi, sensitive)["enhanced_beta"]
    return math.inf if found is None else float(found)
