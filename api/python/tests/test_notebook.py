# SPDX-License-Identifier: MIT
# weft-test: long
"""notebook.ipynb runs from top to bottom, and makes its pictures."""

import nbclient
import nbformat

from conftest import ROOT


def test_the_notebook():
    folder = ROOT / "api" / "python"
    notebook = nbformat.read(folder / "notebook.ipynb", 4)
    nbclient.NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in data for data in outputs) == 4
    assert sum("<caption>" in data.get("text/html", "") for data in outputs) == 1
