# SPDX-License-Identifier: MIT
# weft-test: long
"""Ten thousand loads, graphs and runs leave nothing behind."""

import gc

import numpy as np

import weft
from conftest import MODELS


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def grows_by(work, rounds):
    """Bytes that the process has more after `rounds` than after a tenth of them."""
    for i in range(rounds // 10):
        work(i)
    gc.collect()
    before = resident_bytes()
    for i in range(rounds - rounds // 10):
        work(i)
    gc.collect()
    return resident_bytes() - before


def test_loads(device):
    folder = MODELS / "listops-transformer"
    assert grows_by(lambda _: weft.load(folder, device).close(), 10_000) < 4 << 20


def test_graphs_plans_and_runs(device):
    x = np.ones(256, np.float32)

    def work(i):
        graph = weft.Graph()
        graph.output("y", graph.input("x", [256]) * 2 + np.full(256, i, np.float32))
        assert graph.compile(device)(x)[0] == 2 + i
        if i % 100 == 0:
            device.trim()

    assert grows_by(work, 10_000) < 4 << 20


def test_errors(device):
    graph = weft.Graph()
    x = graph.input("x", [2, 3])

    def work(_):
        try:
            x @ x
        except weft.ShapeMismatch:
            return
        raise AssertionError("no error")

    assert grows_by(work, 10_000) < 1 << 20


def test_devices(device):
    def work(_):
        with weft.Device(device.info.index) as opened:
            graph = weft.Graph()
            graph.output("y", graph.input("x", [4]) * 2)
            graph.compile(opened)([1, 2, 3, 4])

    assert grows_by(work, 200) < 8 << 20
