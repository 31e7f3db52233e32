# SPDX-License-Identifier: MIT
"""Writing files so that nobody sees half of one: beside, and renamed."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator


@contextlib.contextmanager
def written_beside(path: pathlib.Path, data: bytes) -> Iterator[pathlib.Path]:
    """A file with the data beside the path, on the disk; whoever asked for it renames it. Otherwise it goes again."""
    target = path.resolve()  # renaming over a symbolic link would replace the link
    beside = target.with_name(f"{target.name}.{os.getpid():x}-{os.urandom(4).hex()}.tmp")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield beside
    finally:
        beside.unlink(missing_ok=True)


def write(path: pathlib.Path, data: bytes) -> None:
    """Replaces the file, or makes it; what is no regular file, such as a pipe, is written into."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    with written_beside(path, data) as beside:
        beside.replace(path.resolve())
