"""Every notebook runs from its first cell to its last, and shows what its last lines are."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def run(path: Path) -> list[str]:
    """Runs the cells in one namespace, as a notebook does, and gives what they show."""
    document = json.loads(path.read_text(encoding="utf-8"))
    namespace: dict[str, object] = {"__name__": "__main__"}
    shown = []
    for number, cell in enumerate(document["cells"]):
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"]), f"{path.name}, cell {number}").body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), f"{path.name}, cell {number}", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), namespace)
            show = getattr(value, "_repr_html_", value.__repr__)
            shown.append(show())
    return shown


def test_there_is_a_notebook_for_every_situation():
    names = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
    situations = {"one-table", "others-are-known", "others-are-unknown", "sensitive-numbers", "many-rules"}
    assert names == situations | {"from-pandas-to-a-signed-report"}


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    shown = run(path)
    assert any("hedgerow-part" in text for text in shown), "the report's components are shown"
    document = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert document["nbformat"] == 4 and all(cell["outputs"] == [] for cell in code), "kept without results"
