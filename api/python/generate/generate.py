# SPDX-License-Identifier: MIT
"""Writes, from the C headers, what the package is built of: the extension module's source, and weft/ops.py.

    generate.py INCLUDE OUTPUT

INCLUDE is the folder with weft/weft.h. OUTPUT gets native.c, to be compiled, and ops.py, a part of the package.
"""

from __future__ import annotations

import pathlib
import sys

import cffi

import declarations
import ops

CALLBACKS = """
int weft_command(int argc, char **argv);
extern "Python" void weft_py_log(void *user, weft_log_level level, const char *message);
extern "Python" bool weft_py_interrupted(void *user);
bool weft_py_ask(void *user);
void weft_py_watch_thread(unsigned long thread);
extern "Python" void weft_py_release(void *user);
extern "Python" weft_status weft_py_take(void *user, const weft_text_output *output);
extern "Python" weft_status weft_py_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                                          weft_shape *shape);
extern "Python" weft_status weft_py_lower(weft_lowering *lowering, const weft_node *node);
"""


def main(include: pathlib.Path, output: pathlib.Path) -> None:
    found = declarations.read(include)
    output.mkdir(parents=True, exist_ok=True)
    ffi = cffi.FFI()
    ffi.cdef(found.cdef + CALLBACKS)
    ffi.set_source("weft._native", pathlib.Path(__file__).with_name("native.c").read_text())
    ffi.emit_c_code(str(output / "native.c"))
    (output / "ops.py").write_text(ops.module(found))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
