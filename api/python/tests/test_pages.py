# SPDX-License-Identifier: MIT
"""The code of README.md, which PyPI shows, runs from top to bottom in an empty folder: what it loads is in the package, or the
code before has made it. That of the repository's first page runs in the repository. Pages have what their commands print."""

import importlib.util
import re
import shlex
import subprocess
import sys

import pytest

from conftest import ROOT

PAGE = ROOT / "api" / "python" / "README.md"
HAVE_TORCH = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "safetensors"))


def blocks(words):
    """The code blocks of Python whose heading has one of these words behind the language."""
    found = re.findall(r"^```python ?(\w*)\n(.*?)^```$", PAGE.read_text("utf-8"), flags=re.M | re.S)
    return "\n".join(code for word, code in found if word in words)


def run(words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks(words), str(PAGE), "exec"), {"__name__": "page"})
    return capsys.readouterr().out


def test_the_page(capsys, monkeypatch, tmp_path):
    said = run([""], capsys, monkeypatch, tmp_path)
    assert said.startswith("<weft.Model FNetForSequenceClassification, classify, 334,616 parameters>\n[('fr', ")
    assert re.search(r"^\(2, 128\) float32\n\[[0-9. ]+\]$", said, flags=re.M)
    assert re.search(r"^de 0\.9", said, flags=re.M) and "(2, 24)" in said
    assert "[ 3.  6.  9. 12. 15.]" in said
    assert "<weft.Plan x f32 [1, 256, 64] → y f32 [1, 256, 64]>" in said
    assert re.findall(r"^(True|False)$", said, flags=re.M) == ["True", "True"]
    assert said.rstrip().endswith("matmul: [2, 3] and [2, 3] cannot be multiplied")


@pytest.mark.skipif(not HAVE_TORCH, reason="without PyTorch and transformers; ./dev test all has them")
def test_the_page_with_torch(capsys, monkeypatch, tmp_path):
    said = run(["", "torch"], capsys, monkeypatch, tmp_path)
    assert "torch.Size([1, 16, 8])" in said
    assert float(re.search(r"^([\d.]+e-\d+)$", said, flags=re.M)[1]) < 1e-5


def test_the_first_page(capsys, monkeypatch, tmp_path):
    """Its code names example models as they lie in the repository."""
    (tmp_path / "api").symlink_to(ROOT / "api")
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), flags=re.M | re.S)
    for block in code:
        if HAVE_TORCH or "torch" not in block.split():
            exec(compile(block, "README.md", "exec"), {"__name__": "page"})
    said = capsys.readouterr().out
    assert "fr 9" in said and ("True\n" in said or not HAVE_TORCH)


def test_commands_print_what_the_first_page_shows():
    page = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"^```\n\$ (?:build/)?weft (run api/examples/.*)\n((?:.*\n)*?)```$", page, flags=re.M)
    assert commands
    for command, shown in commands:
        line = [sys.executable, "-m", "weft", *shlex.split(command)]
        done = subprocess.run(line, cwd=ROOT, check=True, capture_output=True, text=True)
        assert done.stdout.startswith(shown), command  # and then a time


def test_the_page_is_readable_elsewhere():
    """PyPI has the page without the repository: links are absolute, and no path is of this one."""
    text = PAGE.read_text("utf-8")
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert links and all(link.startswith("https://") for link in links)
    assert not re.search(r"\.\./|\./dev|build/|api/|docs/", text)


def test_tables_of_results_are_what_their_commands_print():
    """Commands with --table, which read the committed results of trainings."""
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    commands = re.findall(r"^\$ python3 (api/examples/train/.* --table)$", page, flags=re.M)
    assert len(commands) >= 3
    for command in commands:
        table = subprocess.run([sys.executable, *shlex.split(command)], cwd=ROOT, check=True, capture_output=True, text=True)
        assert table.stdout.count("\n") > 3 and f"```\n\n{table.stdout}\n" in page, command
