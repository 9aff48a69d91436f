from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
import nbformat  # noqa: E402

NOTEBOOK = Path(__file__).parents[1] / "examples" / "optimize.ipynb"


def test_the_notebook_runs_to_its_assertions():
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells), "commit it without outputs"
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOK.parent)}}
    ).execute()
    shown = [output for cell in cells for output in cell.outputs]
    pages = [output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {})]
    # One display is updated in place, and the result has its curve.
    progress = [page for page in pages if page.startswith("<pre>")]
    assert len(progress) == 1 and "generation 1:" in progress[0]
    assert any("<svg" in page and "held" in page for page in pages)
    assert not any(output.output_type == "stream" for output in shown)
