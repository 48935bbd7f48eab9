"""Documentation runs: examples of the modules, of docs/python.md and of the README."""

import doctest
import importlib
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", ["hedgerow", "hedgerow.sklearn", "hedgerow._measures", "hedgerow._release"])
def test_examples_of_modules(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed, _ = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0


def sessions(path: Path) -> str:
    """The Python sessions of a page, one after the other."""
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    assert blocks and all(block.startswith(">>>") for block in blocks), "every block is a session"
    return "\n".join(blocks)


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md"])
def test_sessions_of_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    test = doctest.DocTestParser().get_doctest(sessions(ROOT / page), {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.run(test)
    assert test.examples and runner.summarize().failed == 0


def test_every_public_name_is_documented():
    import hedgerow as hr

    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    undocumented = [name for name in hr.__all__ if not re.search(rf"\b{name}\b", page)]
    assert undocumented == []
    assert all(getattr(hr, name).__doc__ for name in hr.__all__ if callable(getattr(hr, name)))
