# SPDX-License-Identifier: MIT
"""Finding and opening devices."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import weft


def small_plan(device):
    graph = weft.Graph()
    graph.output("y", graph.input("x", [4]) * 2 + 1)
    return graph.compile(device)


def test_devices_are_listed():
    found = weft.devices()
    assert [info.index for info in found] == list(range(len(found)))
    assert any(info.usable for info in found)
    for info in found:
        assert info.name and info.type in ("discrete", "integrated", "virtual", "processor", "software", "other")
        assert info.usable == (info.reason == "")


def test_a_device_by_number_and_by_name(device):
    for select in (device.info.index, device.info.name, device.info.driver.upper()):
        with weft.Device(select) as opened:
            assert opened.info.name == device.info.name
            assert np.array_equal(small_plan(opened)(np.arange(4)), [1, 3, 5, 7])


def test_a_device_by_what_it_is(device):
    for info in weft.devices():
        assert re.fullmatch("[0-9a-f]{32}", info.uuid)
        assert info.pci is None or re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", info.pci)
    with weft.Device("uuid:" + device.info.uuid) as opened:
        assert opened.info.uuid == device.info.uuid
    with pytest.raises(weft.InvalidArgument, match='"uuid:12" names no device: expected uuid: and 32'):
        weft.Device("uuid:12")
    with pytest.raises(weft.NotFound):
        weft.Device("pci:fffe:01:00.0")
    with weft.Device("processor") as alone, weft.Device(alone.info.index) as again:
        assert again.info.type == alone.info.type


SLOW = """
import sys, warnings
import weft
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for _ in range(2):
        device = weft.Device(sys.argv[1] or None, cache_dir="")
        graph = weft.Graph()
        graph.output("y", graph.input("x", [4]) * 2 + 1)
        assert list(graph.compile(device)([0, 1, 2, 3])) == [1, 3, 5, 7]
    print(device.info.interpreted, device.info.slow)
    print([f"{one.category.__name__}: {one.message}" for one in told if issubclass(one.category, weft.SlowDevice)])
"""


@pytest.mark.parametrize("select", ["", "processor"])
def test_a_device_that_interprets_says_so_once(select, tmp_path):
    absent = str(tmp_path / "driver.json")
    settings = {"WEFT_LLVM": "0", "VK_DRIVER_FILES": absent, "VK_ICD_FILENAMES": absent, "WEFT_OPENCL": "0"}
    kept = {name: value for name, value in os.environ.items() if name != "WEFT_PROCESSOR"}
    said = subprocess.run([sys.executable, "-c", SLOW, select], env=kept | settings, capture_output=True, text=True, check=True)
    info, told = said.stdout.splitlines()
    assert info.startswith("True its kernels are interpreted, ")
    assert "the environment has WEFT_LLVM=0; remove WEFT_LLVM from the environment" in info
    assert told.count("SlowDevice: ") == 1
    assert info.removeprefix("True ") in told


def test_a_device_that_compiles_is_not_called_slow(device):
    if device.info.type == "processor":
        assert (device.info.interpreted, device.info.slow) == (False, "")


def test_an_unknown_device_is_named_with_those_there_are(device):
    with pytest.raises(weft.NotFound, match=f'no device matches "abacus".*{re.escape(device.info.name)}'):
        weft.Device("abacus")


def test_words_are_checked(device):
    with pytest.raises(weft.InvalidArgument, match="math: expected one of reproducible, fast, fused, found 'quick'"):
        weft.Device(device.info.index, math="quick")
    with pytest.raises(weft.InvalidArgument, match="f16"):
        weft.Device(device.info.index, weights="f16")


def test_fast_math_is_close(device):
    x = np.random.default_rng(0).standard_normal((3, 40), np.float32)

    def softmax(opened):
        graph = weft.Graph()
        graph.output("y", weft.softmax(graph.input("x", x.shape)))
        return graph.compile(opened)(x)

    with weft.Device(device.info.index, math="fast") as fast:
        assert fast.math == "fast"
        np.testing.assert_allclose(softmax(fast), softmax(device), rtol=1e-5)


def test_closing_closes_what_was_made_of_it(device):
    opened = weft.Device(device.info.index)
    plan = small_plan(opened)
    opened.close()
    opened.close()
    assert "closed" in repr(opened)
    for use in (lambda: plan(np.zeros(4)), opened.stats, opened.trim, lambda: small_plan(opened)):
        with pytest.raises(weft.InvalidArgument, match="closed"):
            use()


def test_stats_count(device):
    with weft.Device(device.info.index) as opened:
        before = opened.stats()
        plan = small_plan(opened)
        plan(np.zeros(4))
        after = opened.stats()
        assert after.bytes_in_use > before.bytes_in_use
        assert after.pipelines_created > before.pipelines_created
        plan.close()
        opened.trim()
        assert opened.stats().bytes_in_use < after.bytes_in_use


def test_a_memory_limit_holds(device):
    with weft.Device(device.info.index, memory_limit=1 << 20) as opened:
        graph = weft.Graph()
        graph.output("y", graph.input("x", [1 << 20]) + graph.weight(np.ones(1 << 20, np.float32)))
        with pytest.raises(weft.OutOfDeviceMemory):
            graph.compile(opened)


def test_nothing_is_kept_where_the_cache_is_off(device, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with weft.Device(device.info.index, cache_dir="") as opened:
        small_plan(opened)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    with weft.Device(device.info.index, cache_dir=str(tmp_path / "mine")) as opened:
        small_plan(opened)
    assert any(path.is_file() for path in (tmp_path / "mine").rglob("*"))


def test_nothing_is_kept_where_others_may_write(device, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with weft.Device(device.info.index, cache_dir=str(shared)) as opened:
        small_plan(opened)
    assert not any(shared.iterdir())


def test_the_cache_has_a_limit(device, tmp_path):
    with weft.Device(device.info.index, cache_dir=str(tmp_path / "mine"), cache_limit=1) as opened:
        small_plan(opened)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    with pytest.raises(weft.InvalidArgument, match="cache_limit: .* found -1"):
        weft.Device(device.info.index, cache_limit=-1)
