# SPDX-License-Identifier: MIT
"""Ctrl-C and other signals during calls: what a handler raises comes out of the call, and all goes on afterwards."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import weft
from weft import _core

LENGTH, LAYERS = 2048, 8


@pytest.fixture(scope="module")
def processor():
    try:
        with weft.Device("processor", threads=1) as device:
            yield device
    except weft.NotFound:
        pytest.skip("there is no processor device")


@pytest.fixture(scope="module")
def long_run(processor):
    """A plan, its input and output, and how long it takes."""
    graph = weft.Graph()
    x = graph.input("x", [1, LENGTH, 64])
    for _ in range(LAYERS):
        x = weft.attention(x, x, x)
    graph.output("y", x)
    plan = graph.compile(processor)
    values = np.random.default_rng(0).standard_normal((1, LENGTH, 64)).astype(np.float32)
    plan(values)
    start = time.monotonic()
    result = plan(values)
    return plan, values, result, time.monotonic() - start


def interrupt_after(seconds, number=signal.SIGINT):
    """Sends this process a signal then, which the main thread gets."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
    timer.start()
    return timer


def run_until_interrupted(plan, values):
    """Runs again and again: where this machine is fast, a run may be over before the signal comes."""
    while True:
        plan(values)


def test_ctrl_c_ends_a_run(long_run):
    plan, values, result, seconds = long_run
    timer = interrupt_after(seconds / 4)
    with pytest.raises(KeyboardInterrupt):
        run_until_interrupted(plan, values)
    timer.join()
    assert np.array_equal(plan(values), result)


def test_a_run_ends_long_before_its_end(processor):
    """Of a kernel that takes minutes."""
    text = """#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
void main() {
    float sum = 0.0;
    for (uint k = 0; k < uint(x[0]); k++) sum += 1.0;
    y[gl_GlobalInvocationID.x] = sum;
}
"""
    op = weft.Op("turns", shape=lambda x: x,
                 kernels=lambda y, x: [weft.Launch(text, {"x": x, "y": y}, extent=(1, 1, 1))])
    graph = weft.Graph()
    graph.output("y", op(graph.input("x", [64])))
    plan = graph.compile(processor)
    assert np.array_equal(plan(np.full(64, 5)), np.full(64, 5))
    timer = interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        plan(np.full(64, 4e9))
    timer.join()
    assert np.array_equal(plan(np.full(64, 7)), np.full(64, 7))


def test_what_a_handler_raises_comes_out(long_run):
    class Over(Exception):
        pass

    def handler(_number, _frame):
        raise Over

    plan, values, result, seconds = long_run
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        timer = interrupt_after(seconds / 4, signal.SIGUSR1)
        with pytest.raises(Over):
            run_until_interrupted(plan, values)
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert np.array_equal(plan(values), result)


def test_a_handler_that_returns_ends_nothing(long_run):
    plan, values, result, seconds = long_run
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    try:
        timer = interrupt_after(seconds / 4, signal.SIGUSR1)
        assert np.array_equal(plan(values), result)
        timer.join()
        assert np.array_equal(plan(values), result)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_other_threads_go_on(long_run):
    plan, values, result, seconds = long_run
    found = []
    thread = threading.Thread(target=lambda: found.append(plan(values)))
    timer = interrupt_after(seconds / 4)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        time.sleep(60)
    timer.join()
    thread.join()
    assert np.array_equal(found[0], result)


def test_ctrl_c_ends_a_compile(processor):
    graph = weft.Graph()
    x = graph.input("x", [1, 64, 64])
    for _ in range(400):
        x = weft.attention(x, x, x)
    graph.output("y", x)

    def compile_for_ever():
        while True:
            graph.compile(processor).close()  # Python loses what is raised in `__del__`

    timer = interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        compile_for_ever()
    timer.join()
    assert graph.compile(processor)(np.zeros((1, 64, 64))).shape == (1, 64, 64)


def test_what_was_made_when_a_handler_raised_is_released():
    """The library may be done before it asks again whether it is to end."""
    class Over(Exception):
        pass

    def create(out, *arguments):
        status = _core.lib.weft_weight_create(out, *arguments)
        _core._note_interrupt(None, Over(), None)
        return status

    lent = _core.lend(np.ones(4, np.float32))
    params = _core.ffi.new("weft_weight_params *", {
        "dtype": _core.words("weft_dtype")["f32"], "shape": {"rank": 1, "dim": [4]}, "data": lent.address,
        "release": _core.lib.weft_py_release, "release_user": lent.owner})
    with pytest.raises(Over):
        _core.make("weft_weight", create, params, _core.host)
    assert lent.owner not in _core._lent, "the library has given back what it was lent"


def test_generating_goes_on_afterwards(text_model):
    def text():
        return text_model.generate("The ", tokens=30)

    expected = text()
    timer = interrupt_after(0.05)
    with pytest.raises(KeyboardInterrupt):
        while True:
            text()
    timer.join()
    assert text() == expected
