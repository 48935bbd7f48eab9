"""The compiled part of the package. Do not use it: import ``hedgerow``, which has the types and the documentation.

Arguments and results are as the package's own modules pass them: texts are TOML or JSON.
"""

import os
from collections.abc import Callable
from typing import Any, final

__all__ = [
    "ADVERSARIES",
    "Breach",
    "Canceled",
    "HedgerowError",
    "InputError",
    "InternalError",
    "Policy",
    "PolicyError",
    "Release",
    "Unsatisfiable",
    "__version__",
    "anonymity",
    "audit",
    "audit_html",
    "check_html",
    "check_table",
    "claims_html",
    "command",
    "explore",
    "propose",
    "publish",
    "report",
    "rules",
    "studio",
    "synthetic_census",
]

__version__: str
ADVERSARIES: list[str]

_Path = str | os.PathLike[str]
_Progress = Callable[[str, float | None], object] | None

class HedgerowError(Exception):
    place: str
    problem: str
    hint: str
    exit_code: int
    reasons: list[str]
    problems: list[tuple[str, str, str]]

class PolicyError(HedgerowError): ...
class InputError(HedgerowError): ...
class Unsatisfiable(HedgerowError): ...
class Breach(HedgerowError): ...
class Canceled(HedgerowError): ...
class InternalError(HedgerowError): ...

@final
class Policy:
    @staticmethod
    def load(path: _Path) -> Policy: ...
    @staticmethod
    def parse(text: str, path: _Path = ...) -> Policy: ...
    def beside(self, releases: list[str]) -> Policy: ...
    def to_toml(self) -> str: ...
    @property
    def attributes(self) -> list[tuple[str, str]]: ...
    @property
    def method(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def html(self) -> str: ...

@final
class Release:
    @staticmethod
    def open(path: _Path, name: str | None = None) -> Release: ...
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def rows(self) -> int: ...
    def guarantees(self) -> str: ...
    def codebook(self) -> str: ...
    def tables(self, published: Any = None) -> list[tuple[str, Any]]: ...
    def check(self, earlier: list[Release] = ...) -> str: ...
    def query(self, sql: str) -> str: ...
    def measure(
        self,
        policy: Policy,
        rows: Any = None,
        queries: int | None = None,
        seed: int | None = None,
        progress: _Progress = None,
    ) -> str: ...
    def html(self) -> str: ...

def publish(
    policy: Policy,
    destination: _Path,
    rows: Any = None,
    *,
    overwrite: bool = False,
    format: str = "csv",
    seed: int | None = None,
    levels: list[tuple[str, int]] = ...,
    catalog: _Path | None = None,
    custodian: str | None = None,
    memory: int | None = None,
    threads: int | None = None,
    progress: _Progress = None,
) -> tuple[str, list[str], Any]: ...
def audit(
    releases: list[Release],
    people: Any = None,
    policy: Policy | None = None,
    *,
    catalog: _Path | None = None,
    adversaries: list[str] = ...,
    l: int | None = None,
    k: int | None = None,
    confidence: float | None = None,
    progress: _Progress = None,
) -> str: ...
def check_table(policy: Policy, rows: Any) -> str: ...
def explore(policy: Policy, rows: Any = None, progress: _Progress = None) -> str: ...
def rules(policy: Policy, rows: Any = None) -> tuple[str, str]: ...
def report(
    releases: list[Release],
    policy: Policy | None = None,
    rows: Any = None,
    people: Any = None,
    *,
    publishable: bool = False,
    date: str | None = None,
    progress: _Progress = None,
) -> tuple[str, str]: ...
def propose(rows: Any) -> tuple[str, list[tuple[str, str]]]: ...
def anonymity(rows: Any, quasi: list[str], sensitive: str | None = None) -> str: ...
def synthetic_census(rows: int, seed: int = 1) -> str: ...
def command(arguments: list[str]) -> int: ...
def studio(arguments: list[str]) -> int: ...
def check_html(json: str) -> str: ...
def claims_html(json: str) -> str: ...
def audit_html(json: str) -> str: ...
