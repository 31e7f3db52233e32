# SPDX-License-Identifier: MIT
"""The package's names, whose modules are imported when they are asked for."""

import pathlib
import subprocess
import sys

import pytest

import weft

MODULES = sorted(path.stem for path in pathlib.Path(weft.__file__).parent.glob("*.py") if not path.stem.startswith("__"))


def new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_every_name_is_there():
    names = weft.__all__
    assert len(names) == len(set(names)) > 100
    assert {"Device", "layer_norm", "load", "nn", "verify"} <= set(names) <= set(dir(weft))
    for name in names:
        assert getattr(weft, name) is getattr(weft, name)
    assert weft.layer_norm is weft.ops.layer_norm and weft.NotFound is weft.errors.NotFound
    for name in ("nonsense", "_nonsense", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(weft, name)


def test_a_star_brings_the_same_names():
    found = new_process("from weft import *\nprint(*[name for name in dir() if not name.startswith('_')])")
    assert set(found) == set(weft.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_each_module_can_be_the_first(module):
    """Whichever is asked for first brings those that it needs, in whatever circles they are."""
    for beginning, package in (("ray", "ray"), ("_onnx_", "onnx"), ("_torch_", "torch"), ("torch_ops", "torch"),
                               ("langchain", "langchain_core"), ("llama_index", "llama_index.core"), ("chroma", "chromadb")):
        if module.startswith(beginning):
            pytest.importorskip(package)
    assert new_process(f"from weft import {module}\nprint({module}.__name__)") == [f"weft.{module}"]


def test_an_import_brings_little():
    loaded = set(new_process("import sys\nimport weft\nprint(*sys.modules)"))
    assert "weft._core" in loaded
    assert not loaded & {"numpy", "torch", "logging", "dataclasses", "json", "weft.ops", "weft.model", "weft.graph"}
