# SPDX-License-Identifier: MIT
"""Writing files so that nobody sees half of one: beside, and renamed. As core/system/beside.h, for what Python writes."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import stat
import time
from collections.abc import Iterator
from typing import IO

from . import errors

try:
    import fcntl
except ImportError:  # Windows, where a file that is open is not removed
    fcntl = None  # type: ignore[assignment]

_LOCK_S = 30.0
"""For how long one saver waits for another."""


def _hold(file: IO[bytes]) -> bool:
    """Locks it for as long as it is open; whether nobody has it, or the file system has no locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return os.fstat(file.fileno()).st_nlink > 0


def _remove_left(target: pathlib.Path) -> None:
    """Removes what writers of the same file have left beside it, who ended before they renamed it."""
    if fcntl is None:
        return
    name = re.compile(re.escape(target.name) + r"\.[0-9a-f]{1,16}-[0-9a-f]*\.tmp")
    with contextlib.suppress(OSError):
        for beside in target.parent.iterdir():
            if name.fullmatch(beside.name):
                with contextlib.suppress(OSError):
                    _remove_if_left(beside)


def _remove_if_left(beside: pathlib.Path) -> None:
    descriptor = os.open(beside, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where somebody writes it
        beside.unlink()
    finally:
        os.close(descriptor)


def _take_rights(file: IO[bytes], old: os.stat_result | None) -> None:
    """Owner, group and mode of the file that it will replace, before anything is in it."""
    if old is None or fcntl is None:
        return
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if os.fstat(file.fileno()).st_gid != old.st_gid:
        try:
            os.chown(file.fileno(), -1, old.st_gid)
        except OSError:  # to another group than before no more than to everybody
            mode &= ~0o070 | (mode & 0o007) << 3
    os.chmod(file.fileno(), mode)
    if os.fstat(file.fileno()).st_uid != old.st_uid:
        with contextlib.suppress(OSError):  # the administrator alone may
            os.chown(file.fileno(), old.st_uid, -1)


def _opener(private: bool) -> int:
    return 0o600 if private else 0o666


@contextlib.contextmanager
def written_beside(path: pathlib.Path, data: bytes) -> Iterator[pathlib.Path]:
    """A file with the data beside the path, on the disk; whoever asked for it renames it. Otherwise it goes again."""
    target = path.resolve()  # renaming over a symbolic link would replace the link
    _remove_left(target)
    old = target.stat() if target.is_file() else None
    beside = target.with_name(f"{target.name}.{os.getpid():x}-{os.urandom(4).hex()}.tmp")
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, _opener(old is not None))) as file:
            _hold(file)
            _take_rights(file, old)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # open, and so locked, until it has been renamed
                yield beside
        if fcntl is None:
            yield beside
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def one_saver(folder: pathlib.Path) -> Iterator[None]:
    """While it lasts, nobody else puts files into this model folder: runtime/model/files/folder_save.h."""
    if fcntl is None:
        yield
        return
    name, end = folder / ".weft-save.lock", time.monotonic() + _LOCK_S
    while True:
        with open(name, "ab", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW, 0o666)) as lock:
            if _hold(lock) and _is_same(lock, name):
                try:
                    yield
                finally:
                    name.unlink(missing_ok=True)
                return
        if time.monotonic() > end:
            raise errors.IoError(f"{folder}: another process saves into this folder, and holds {name.name} for half a minute "
                                 "already")
        time.sleep(0.01)


def _is_same(file: IO[bytes], path: pathlib.Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    return False


def write(path: pathlib.Path, data: bytes) -> None:
    """Replaces the file, or makes it; what is no regular file, such as a pipe, is written into."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    with written_beside(path, data) as beside:
        beside.replace(path.resolve())
