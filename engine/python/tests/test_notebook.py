"""Runs the notebook of engine/examples and compares its outputs. `python3 test_notebook.py` writes them."""

import contextlib
import io
import json
import os
import unittest
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "python.ipynb"


def outputs(cells):
    """Runs the cells in one namespace, in the folder of the notebook, and returns what each prints."""
    namespace, printed, before = {}, [], os.getcwd()
    os.chdir(NOTEBOOK.parent)
    try:
        for cell in cells:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), namespace)
            printed.append(out.getvalue())
    finally:
        os.chdir(before)
    return printed


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


class NotebookTest(unittest.TestCase):
    def test_outputs(self):
        cells = code(json.loads(NOTEBOOK.read_text()))
        want = ["".join(line for out in cell["outputs"] for line in out["text"]) for cell in cells]
        self.assertEqual(outputs(cells), want)
        self.assertGreater(len([w for w in want if w]), 4)


if __name__ == "__main__":
    notebook = json.loads(NOTEBOOK.read_text())
    for number, (cell, text) in enumerate(zip(code(notebook), outputs(code(notebook))), 1):
        cell["execution_count"] = number
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(True)}] if text else []
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
