# SPDX-License-Identifier: MIT
"""The weft command inside of the package, and its reports as tables."""

import json
import subprocess
import sys

import pytest

import weft


def weft_command(*arguments):
    return subprocess.run([sys.executable, "-m", "weft", *arguments], capture_output=True, text=True, check=False)


def test_the_command():
    assert weft_command("--version").stdout.startswith(f"weft {weft.__version__} (commit ")
    assert weft_command().returncode == 2
    listed = json.loads(weft_command("devices", "--json").stdout)
    names = [info.name for info in weft.devices()]
    found = listed["devices"] if isinstance(listed, dict) else listed
    assert [entry["name"] for entry in found] == names


def test_serve_is_pythons():
    said = weft_command("serve", "--help")
    assert said.returncode == 0 and said.stdout.startswith("usage: weft serve ") and "/v1/embeddings" in said.stdout
    assert weft_command("serve").returncode == 2


def test_verify_is_a_table(device):
    table = weft.verify("softmax/unit/rank", device=str(device.info.index))
    assert len(table) == 7 and table.columns[:2] == ["name", "status"]
    assert all(row["status"] == "pass" for row in table)
    assert "7 cases, 0 failed" in table.title and str(table).count("\n") == 8
    html = table._repr_html_()
    assert html.count("<tr>") == 8 and "softmax/unit/rank" in html and "<caption>" in html


def test_bench_is_a_table(device):
    table = weft.bench("ops", filter="layer_norm", device=str(device.info.index), size="smallest", seconds=0.05,
                       limits=False)
    assert len(table) >= 1
    for row in table:
        assert row["status"] == "ok" and row["median_ms"] > 0 and "layer_norm" in row["case"]


def test_what_the_command_refuses(device):
    with pytest.raises(weft.WeftError, match="nowhere"):
        weft.verify(device="nowhere")
