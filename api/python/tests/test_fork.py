# SPDX-License-Identifier: MIT
"""Forked children of a process with models: as web servers, multiprocessing and pools of processes make them."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import weft
from conftest import MODELS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
GERMAN, ENGLISH = "Das ist ein deutscher Satz, nicht wahr?", "This is an English sentence, is it not?"
PATIENCE = 300  # seconds


def run(program, *arguments):
    """A program of its own, so that its children have only what it says. Its output."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)], capture_output=True,
                          text=True, timeout=4 * PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def in_child(work):
    """What work() gives in a child that ends at once behind it."""
    parent, child = multiprocessing.get_context("fork").Pipe()
    number = os.fork()
    if number == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        try:
            child.send(work())
        except BaseException as error:  # noqa: BLE001
            child.send(repr(error))
        os._exit(0)
    child.close()
    _, status = os.waitpid(number, 0)
    assert status == 0, "the child does not end" if status == signal.SIGALRM else status
    return parent.recv()


def test_a_worker_of_a_server_answers_and_ends():
    """gunicorn --preload: the master loads, a worker answers, and SIGTERM ends it by sys.exit."""
    said = run("""
        import os, signal, sys, time, weft
        folder, german, english, patience = sys.argv[1:]
        model = weft.load(folder)
        print(model(german).label, flush=True)
        ready, tell = os.pipe()
        worker = os.fork()
        if worker == 0:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
            signal.alarm(int(patience))
            print(model(english).label, flush=True)
            os.write(tell, b"x")
            while True:
                time.sleep(1)
        os.close(tell)
        os.read(ready, 1)
        os.kill(worker, signal.SIGTERM)
        print(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]))
        print(model(german).label)
        """, MODELS / "langid", GERMAN, ENGLISH, PATIENCE)
    assert said.split() == ["de", "en", "7", "de"]


@pytest.mark.parametrize("end", [
    "sys.exit(0)", "model.close(); device.close(); os._exit(0)", "del model, device; gc.collect()"])
def test_a_child_ends(end):
    run("""
        import gc, os, signal, sys, weft
        device = weft.Device("processor" if any(d.type == "processor" for d in weft.devices()) else None, threads=2)
        model = weft.load(sys.argv[1], device)
        model(sys.argv[2])
        child = os.fork()
        if child == 0:
            signal.alarm(int(sys.argv[3]))
            exec(sys.argv[4])
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """, MODELS / "langid", GERMAN, PATIENCE, end)


def tokens(count):
    return np.arange(4 * count, dtype=np.int32).reshape(4, count) % 200 + 10


def test_a_child_has_the_same_bits(device, langid):
    expected = langid.logits(tokens(64))
    if device.info.type != "processor":
        assert "spawn" in in_child(lambda: langid.logits(tokens(64)))
        return
    assert np.array_equal(in_child(lambda: langid.logits(tokens(64))), expected)
    assert np.array_equal(in_child(lambda: langid.logits(tokens(65))), langid.logits(tokens(65)))

    def fresh():
        with weft.Device("processor", threads=2) as another:
            return weft.load(MODELS / "langid", another).logits(tokens(64))

    assert np.array_equal(in_child(fresh), expected)


def test_a_vulkan_device_names_spawn():
    """Also one that runs on the processor."""
    drivers = [info.index for info in weft.devices() if info.type != "processor" and info.usable]
    if not drivers:
        pytest.skip("there is no driver")
    with weft.Device(drivers[0]) as device:
        model = weft.load(MODELS / "langid", device)
        model(GERMAN)
        said = in_child(lambda: model(ENGLISH))
        assert "DeviceLost" in said and "spawn" in said and str(os.getpid()) in said


_model = None


def classify(text):
    return _model(text).label


def test_multiprocessing_and_pools_of_processes(device, langid):
    global _model
    if device.info.type != "processor":
        pytest.skip("a driver's device is the parent's")
    _model = langid
    expected = [langid(text).label for text in (GERMAN, ENGLISH)]
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map_async(classify, (GERMAN, ENGLISH)).get(PATIENCE) == expected
        pool.close()
        pool.join()
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        assert list(executor.map(classify, (GERMAN, ENGLISH), timeout=PATIENCE)) == expected


def test_a_lock_that_another_thread_holds_is_free_in_a_child(device, langid):
    held, go_on = threading.Event(), threading.Event()

    def hold():
        with langid._plans_lock, device.handle.lock:
            held.set()
            go_on.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(PATIENCE)

    def close():
        try:
            langid(ENGLISH)
        except weft.DeviceLost:
            pass
        langid.close()
        device.close()
        return "closed"

    assert in_child(close) == "closed"
    go_on.set()
    thread.join()
    assert langid(GERMAN).label == "de"


def test_a_pool_of_devices_goes_on_in_a_child():
    if not any(info.type == "processor" for info in weft.devices()):
        pytest.skip("a driver's device is the parent's")
    texts = [GERMAN, ENGLISH] * 3
    with weft.Pool(["processor", "processor"], threads=1) as pool:
        model = pool.load(MODELS / "langid")
        expected = [found.label for found in model(texts)]
        assert in_child(lambda: [found.label for found in model(texts)]) == expected
        assert in_child(lambda: (pool.close(), "closed")[1]) == "closed"
        assert [found.label for found in model(texts)] == expected


def test_forks_at_any_time_of_another_threads_work():
    """The child may be refused, but ends."""
    if not any(info.type == "processor" for info in weft.devices()):
        pytest.skip("a driver's device is the parent's")
    with weft.Device("processor", threads=2) as device:
        model = weft.load(MODELS / "langid", device)
        expected = model(GERMAN).label
        stop = threading.Event()

        def work():
            length = 16
            while not stop.is_set():
                length = length % 96 + 8
                model.logits(tokens(length))

        def answer():
            try:
                return model(GERMAN).label
            except (weft.DeviceLost, weft.Unsupported) as error:
                return type(error).__name__

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(12):
                assert in_child(answer) in (expected, "DeviceLost", "Unsupported")
                time.sleep(0.01)
        finally:
            stop.set()
            thread.join()
