# SPDX-License-Identifier: MIT
# weft-test: long
"""Real ONNX files beside ONNX Runtime, and their bits on every driver."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import onnx_files
import onnxruntime
import pytest
from onnx_files import FILES

import weft
from conftest import vulkan_settings

MAKE_HASHES = """
import json, pathlib, sys
import numpy as np
import weft
from test_onnx_files import digest
with weft.Device() as device:
    found = {}
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        with weft.load(folder / "program", device) as program:
            found[folder.name] = digest(program.run(dict(np.load(folder / "inputs.npz"))))
    print(json.dumps(found))
"""


def digest(arrays):
    parts = [name.encode() + np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return onnx_files.fetch(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder for each file that was read: the program, its inputs."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def hashes():
    """Of the first outputs of each."""
    return {}


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # more wait busily for each other, beside other tests for minutes
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


LEAST = 0.01
"""What is smaller is measured against this: probabilities near zero, which ONNX Runtime's sigmoid rounds to parts of one."""


def relative_l2(found, expected):
    found, expected = (np.asarray(one, np.float64) for one in (found, expected))
    assert found.shape == expected.shape
    return np.linalg.norm(found - expected) / max(np.linalg.norm(expected), LEAST * expected.size**0.5)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.removesuffix(".onnx").replace("/", "-"))
def test_beside_onnxruntime(device, paths, programs, hashes, file):
    path = onnx_files.find(paths, file.name)
    widened = onnx_files.without_rounded_states(path)
    session, rounding = session_of(widened or path), session_of(path) if widened else None
    names = [one.name for one in session.get_outputs()]
    with weft.from_onnx(path, device, **file.arguments) as program:
        for seed, sizes in enumerate(file.sizes):
            given = onnx_files.draw(session, file, sizes, seed)
            taken = {name: array for name, array in given.items() if name in program.inputs}
            found = program.run(taken)
            rounded = rounding.run(None, given) if rounding else names
            for name, expected, own in zip(names, session.run(None, given), rounded):
                # Where states are rounded to bytes, ONNX Runtime is as far from the network whose states are not.
                distance = 1.25 * relative_l2(own, expected) if rounding else 0
                assert relative_l2(found[name], expected) <= max(file.tolerance, distance), (name, sizes)
            if seed == 0:
                folder = programs / file.name.removesuffix(".onnx").replace("/", "-")
                folder.mkdir()
                weft.save(program, folder / "program")
                np.savez(folder / "inputs.npz", **taken)
                hashes[folder.name] = digest(found)


def test_one_is_refused(device, paths):
    with pytest.raises(weft.Unsupported, match="NonZero"):
        weft.from_onnx(onnx_files.find(paths, onnx_files.REFUSED), device, random_as_inputs=True)


@pytest.mark.parametrize("environment", vulkan_settings("lavapipe-8", "swiftshader"))
def test_the_bits_are_the_same_everywhere(programs, hashes, environment):
    """After the tests above, whose programs it takes."""
    if len(hashes) != len(FILES):
        pytest.skip("not all files were read")
    run = subprocess.run([sys.executable, "-c", MAKE_HASHES, programs], capture_output=True, text=True, check=False,
                         cwd=os.path.dirname(__file__), env={**os.environ, **environment})
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == hashes
