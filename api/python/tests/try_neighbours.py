# SPDX-License-Identifier: MIT
"""Weft with others in one process that bring an LLVM, too: numba, PyTorch, and the drivers lavapipe and PoCL, which Weft opens.

Two LLVMs that know of each other register options twice, or call each other's functions. In several orders of loading, each
compiles something, and after the last of them has come each compiles something else. Run by ./dev wheel, without pytest, as

    python try_neighbours.py NAME...          these have to be there; others are taken where they are
"""

import ctypes.util
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

DEVICES: dict = {}


def answer(select):
    """Of a device that compiles what it runs: a kernel that it has not compiled before, and what it makes."""
    import numpy

    import weft

    device, count = DEVICES.get(select, (None, 0))
    # "" as a cache: nothing is kept.
    device = device or weft.Device(select, cache_dir="")
    DEVICES[select] = device, count + 1
    x = numpy.linspace(-3, 3, 70).astype("f4").reshape(7, 10)
    graph = weft.Graph()
    tensor = graph.input("x", x.shape)
    graph.output("y", weft.ops.softmax(tensor) if count % 2 == 0 else weft.ops.softmax_axis(tensor, 0))
    found = graph.compile(device).run({"x": x})["y"]
    others = BITS.setdefault(count % 2, found)
    if not numpy.isfinite(found).all() or found.tobytes() != others.tobytes():
        raise SystemExit(f"{select}: expected the bits of other devices, {others}, found {found}")


BITS: dict = {}


def use_weft():
    answer("processor")
    if "libweft-llvm" not in pathlib.Path("/proc/self/maps").read_text():
        raise SystemExit("Weft has not opened the compiler that came with it")


def use_numba():
    import numba

    count = use_numba.count = use_numba.count + 1
    scope = {}
    exec(f"def triangle(n):\n    total = {count}\n    for i in range(n):\n        total += i\n    return total", scope)
    if numba.njit(scope["triangle"])(1000) != 499500 + count:
        raise SystemExit("numba has a wrong sum")


def use_torch():
    import torch

    torch._C._jit_override_can_fuse_on_cpu(torch._C._llvm_enabled())  # where a build has a compiler for processors, it is LLVM
    count = use_torch.count = use_torch.count + 1
    x = torch.linspace(0, 1, 64 + count)
    traced = torch.jit.trace(lambda a: (a * count + 1).relu() * a, x)
    for _ in range(3):  # it is compiled when it has been called twice
        found = traced(x)
    if not torch.allclose(found, (x * count + 1).relu() * x):
        raise SystemExit("torch has a wrong product")


use_numba.count = use_torch.count = 0
USES = {
    "weft": use_weft, "numba": use_numba, "torch": use_torch,
    "lavapipe": lambda: answer("llvmpipe"), "pocl": lambda: answer("opencl:"),
}


def run(names):
    for name in names:
        USES[name]()
    for name in names:
        USES[name]()


def is_there(name):
    if name in ("numba", "torch"):
        return importlib.util.find_spec(name) is not None
    if name == "lavapipe":
        return bool(ctypes.util.find_library("vulkan")) and any(pathlib.Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))
    return name == "weft" or any(pathlib.Path("/etc/OpenCL/vendors").glob("pocl*.icd"))


def main():
    if sys.argv[1:2] == ["--order"]:
        run(sys.argv[2:])
        return
    missing = [name for name in sys.argv[1:] if not is_there(name)]
    if missing:
        raise SystemExit(f"not there: {', '.join(missing)}")
    names = [name for name in USES if is_there(name)]
    if len(names) < 2:
        raise SystemExit("there is nothing beside Weft to try it with")
    # Each is the first once, and the last; and weft comes before and after each.
    orders = [names[i:] + names[:i] for i in range(len(names))] + [names[::-1]]
    for order in orders:
        with tempfile.TemporaryDirectory() as caches:
            environment = {**os.environ, "XDG_CACHE_HOME": caches, "POCL_CACHE_DIR": caches, "NUMBA_CACHE_DIR": caches}
            subprocess.run([sys.executable, __file__, "--order", *order], env=environment, check=True)
    print(f"in one process, {len(orders)} orders: {', '.join(names)}")


if __name__ == "__main__":
    main()
