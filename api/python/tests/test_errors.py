# SPDX-License-Identifier: MIT
"""An exception for every status of the library. Those that a test can bring about are brought about."""

import os
import subprocess
import sys

import numpy as np
import pytest

import weft
from weft import _core, errors
from weft._native import lib


@pytest.mark.parametrize("number", range(1, lib.WEFT_STATUS_COUNT))
def test_every_status_has_an_exception_of_its_own(number):
    name = _core.text_of(lib.weft_status_name(number))
    kind = errors.BY_STATUS[name]
    assert kind.status == name and issubclass(kind, weft.WeftError) and getattr(weft, kind.__name__) is kind
    with pytest.raises(kind, match=name):
        _core.check(number)


def test_what_they_are_besides():
    for kind, builtin in ((weft.InvalidArgument, ValueError), (weft.ShapeMismatch, ValueError), (weft.NotFound, LookupError),
                          (weft.OutOfHostMemory, MemoryError), (weft.IoError, OSError), (weft.BadFile, ValueError)):
        assert issubclass(kind, builtin)


def test_the_message_is_of_this_call_alone():
    graph = weft.Graph()
    x = graph.input("x", [2, 3])
    with pytest.raises(weft.ShapeMismatch) as first:
        x @ x
    with pytest.raises(weft.InvalidArgument) as second:
        weft.gather(x.reshape(1, 2, 3), 7)
    assert "cannot be multiplied" in str(first.value) and "multiplied" not in str(second.value)


def in_new_process(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def test_no_device(tmp_path):
    nothing = str(tmp_path / "none.json")
    run = in_new_process("import weft\nprint(weft.devices())\nweft.Device()", WEFT_PROCESSOR="0", VK_DRIVER_FILES=nothing,
                         VK_ICD_FILENAMES=nothing)
    assert run.returncode == 1 and run.stdout == "[]\n"
    assert "weft.errors.NoDevice: no Vulkan driver is installed, and the processor device is turned off" in run.stderr


def test_an_unreadable_file(tmp_path, device):
    (tmp_path / "config.json").mkdir()
    with pytest.raises((weft.IoError, weft.BadFile), match=r"config\.json"):
        weft.load(tmp_path, device)


def test_out_of_host_memory():
    run = in_new_process("""
import resource, numpy, weft
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.RLIM_INFINITY))
try:
    weft.features.fill("orf", 1 << 19, 1024)  # 2 GiB
except MemoryError:
    print("MemoryError")
graph = weft.Graph()
print(graph.input("x", [3]).shape)
""")
    assert run.stdout == "MemoryError\n(3,)\n", run.stderr


def test_a_broken_shader(device):
    op = weft.Op("broken", shape=lambda x: x, kernels=lambda y, x: [weft.Launch("void main() { nonsense }", {}, items=1)])
    graph = weft.Graph()
    graph.output("y", op(graph.input("x", [3])))
    with pytest.raises(weft.CompileError, match="nonsense"):
        graph.compile(device)


def test_warnings_go_to_logging(device, tmp_path, caplog):
    (tmp_path / "weft").mkdir()
    with caplog.at_level("DEBUG", logger="weft"):
        weft.Device(device.info.index).close()
    assert any(device.info.name in record.getMessage() for record in caplog.records)
    assert all(record.levelname in ("DEBUG", "INFO", "WARNING") for record in caplog.records)


def test_nothing_is_printed(device, capfd, tmp_path):
    with pytest.raises(weft.NotFound):
        weft.load(tmp_path / "absent", device)
    graph = weft.Graph()
    graph.output("y", graph.input("x", [3]) * 2)
    graph.compile(device)(np.zeros(3))
    assert capfd.readouterr() == ("", "")
