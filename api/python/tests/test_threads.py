# SPDX-License-Identifier: MIT
"""Many threads, on one device and on several: the right bits, and the interpreter's lock is free while a device works."""

import concurrent.futures
import gc
import threading
import time

import numpy as np

import weft
from conftest import MODELS


def mixer(device, length):
    rng = np.random.default_rng(length)
    x = rng.standard_normal((1, length, 32)).astype(np.float32)
    graph = weft.Graph()
    tensor = graph.input("x", x.shape)
    graph.output("y", weft.softmax(tensor @ rng.standard_normal((32, 32)).astype(np.float32) + weft.fourier(tensor)))
    plan = graph.compile(device)
    return plan, x, plan(x)


def test_eight_threads_on_one_device(device):
    cases = [mixer(device, length) for length in (16, 31, 64, 100)]

    def work(seed):
        order = np.random.default_rng(seed).integers(0, len(cases), 40)
        return all(np.array_equal(cases[i][0](cases[i][1]), cases[i][2]) for i in order)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_eight_threads_compile_run_and_close(device):
    expected = mixer(device, 48)[2]

    def work(_):
        good = True
        for _ in range(5):
            plan, x, y = mixer(device, 48)
            good = good and np.array_equal(y, expected) and np.array_equal(plan(x), expected)
            plan.close()
        return good

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_several_devices_give_the_same_bits(device):
    others = [weft.Device(device.info.index, threads=1 + i % 2) for i in range(4)]
    expected = mixer(device, 57)[2]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: mixer(others[i % 4], 57)[2], range(8)))
    assert all(np.array_equal(y, expected) for y in found)
    for other in others:
        other.close()


def test_a_model_on_eight_threads(classifier):
    texts = [f"{'a text ' * (i % 5 + 1)}{i}" for i in range(40)]
    expected = classifier(texts)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(classifier, texts)) == expected


def test_what_is_dropped_in_a_call_is_released_behind_it(device):
    device.trim()
    before = device.stats().bytes_in_use
    plan, x, y = mixer(device, 80)
    during = device.stats().bytes_in_use
    assert during > before
    with device.handle.lock:  # as while the library works
        del plan
        gc.collect()
        assert device.stats().bytes_in_use == during
    device.trim()
    assert device.stats().bytes_in_use < during
    assert np.array_equal(mixer(device, 80)[0](x), y)


def test_the_interpreter_goes_on_meanwhile(device):
    graph = weft.Graph()
    x = graph.input("x", [1, 2048, 64])
    y = x
    for _ in range(4):
        y = weft.attention(y, y, y)
    graph.output("y", y)
    plan = graph.compile(device)
    values = np.random.default_rng(0).standard_normal((1, 2048, 64)).astype(np.float32)
    plan(values)
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    plan(values)
    after = counted[0]
    stop.set()
    thread.join()
    assert after > before + 1


def test_garbage_of_a_device_and_a_model_on_it_goes_in_order(device):
    """Plans and their model refer to each other, so that the garbage collector finds them together with the device."""
    own = weft.Device(device.info.index)
    model = weft.load(MODELS / "langid", own)
    expected = model("Ein Satz.").label
    del own, model
    gc.collect()
    assert weft.load(MODELS / "langid", device)("Ein Satz.").label == expected
