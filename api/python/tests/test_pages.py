# SPDX-License-Identifier: MIT
"""The code of README.md runs, from top to bottom, as if in the repository's folder."""

import importlib.util
import re

import pytest

from conftest import ROOT

PAGE = ROOT / "api" / "python" / "README.md"
HAVE_TORCH = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "safetensors"))


def blocks(words):
    """The code blocks of Python whose heading has one of these words behind the language."""
    found = re.findall(r"^```python ?(\w*)\n(.*?)^```$", PAGE.read_text("utf-8"), flags=re.M | re.S)
    return "\n".join(code for word, code in found if word in words)


def run(words, capsys, monkeypatch, tmp_path):
    (tmp_path / "api").symlink_to(ROOT / "api")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks(words), str(PAGE), "exec"), {"__name__": "page"})
    return capsys.readouterr().out


def test_the_page(capsys, monkeypatch, tmp_path):
    said = run([""], capsys, monkeypatch, tmp_path)
    assert said.startswith("de 0.9") or said.startswith("de 1.0")
    assert "[ 3.  6.  9. 12. 15.]" in said
    assert "<weft.Plan x f32 [1, 256, 64] → y f32 [1, 256, 64]>" in said
    assert said.rstrip().endswith("matmul: [2, 3] and [2, 3] cannot be multiplied")


@pytest.mark.skipif(not HAVE_TORCH, reason="without PyTorch and transformers; ./dev test all has them")
def test_the_page_with_torch(capsys, monkeypatch, tmp_path):
    said = run(["", "torch"], capsys, monkeypatch, tmp_path)
    assert "torch.Size([1, 16, 8])" in said
    assert float(re.search(r"^([\d.]+e-\d+)$", said, flags=re.M)[1]) < 1e-5
