# SPDX-License-Identifier: MIT
"""The C library underneath: calls that raise, its log, and handles that are released in the right order."""

from __future__ import annotations

import atexit
import collections
import functools
import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import errors
from ._native import ffi as ffi
from ._native import lib as lib

if TYPE_CHECKING:
    import logging

_LEVELS = (40, 30, 20, 10)  # of logging: ERROR, WARNING, INFO, DEBUG
_said = threading.local()  # .errors: what the library said went wrong in this thread's call


def _note_interrupt(_kind: Any, error: BaseException, _trace: Any) -> None:
    """A signal's handler raised this, in whatever Python code C called: `check` raises it."""
    _said.interrupt = error


@ffi.def_extern(name="weft_py_interrupted", error=True, onerror=_note_interrupt)  # type: ignore[untyped-decorator]
def _interrupted(_user: Any) -> bool:
    """Whether a call is to end: Python runs handlers of signals here, in the main thread, which alone comes here."""
    return getattr(_said, "interrupt", None) is not None


def _watch_main_thread() -> None:
    lib.weft_py_watch_thread(threading.main_thread().ident)


_watch_main_thread()


@ffi.def_extern(name="weft_py_log", onerror=_note_interrupt)  # type: ignore[untyped-decorator]
def _log(_user: Any, level: int, message: Any) -> None:
    text = ffi.string(message).decode("utf-8", "replace")
    if level == lib.WEFT_LOG_ERROR:
        if not hasattr(_said, "errors"):
            _said.errors = []
        _said.errors.append(text)
    else:
        _logger().log(_LEVELS[level], "%s", text)


@functools.cache
def _logger() -> logging.Logger:
    """The logger "weft". Without it an import takes less time."""
    import logging

    found = logging.getLogger("weft")
    found.addHandler(logging.NullHandler())
    return found


host = ffi.new("weft_host *", {"log": lib.weft_py_log, "interrupted": ffi.addressof(lib, "weft_py_ask")})
"""What every object of the library is made with."""


def note_error(error: BaseException) -> None:
    """Keeps an exception of Python code that C called, for `check` to raise as the cause."""
    _said.raised = error


def forget() -> None:
    """Drops what the library said of a failure that is none."""
    _said.errors = []


def check(status: int) -> None:
    """Raises the exception of a status that is not WEFT_OK, with what the library logged since the last call; and whatever the
    status, what a signal's handler raised meanwhile."""
    interrupt: BaseException | None = getattr(_said, "interrupt", None)
    if status == lib.WEFT_OK and interrupt is None:
        return
    said: list[str] = getattr(_said, "errors", [])
    raised: BaseException | None = getattr(_said, "raised", None)
    _said.errors = []
    _said.raised = _said.interrupt = None
    if interrupt is None and raised is not None and not isinstance(raised, Exception):
        interrupt = raised
    if interrupt is not None:
        raise interrupt
    name = text_of(lib.weft_status_name(status))
    kind = errors.BY_STATUS.get(name, errors.WeftError)
    if raised is not None and not said:
        said = [str(raised) or type(raised).__name__]
    raise kind("\n".join(said) or name) from raised


def text_of(characters: Any) -> str:
    """A zero-terminated text of C; "" for null."""
    return ffi.string(characters).decode("utf-8", "replace") if characters else ""


def words(enum: Any) -> dict[str, int]:
    """The values of a C enum under their names in Python: {"gelu_tanh": 1, …}."""
    kind = ffi.typeof(enum) if isinstance(enum, str) else enum
    names: dict[str, int] = kind.relements
    common = os.path.commonprefix(list(names))
    start = common.rfind("_") + 1
    known = sorted((number, name) for name, number in names.items() if not name.endswith("_COUNT"))
    return {name[start:].lower(): number for number, name in known}


def word_of(number: int, enum: Any) -> str:
    """The name in Python of a value of a C enum."""
    return {value: name for name, value in words(enum).items()}[number]


_OTHERS = {
    "weft_dtype": {"float32": "f32", "int32": "i32", "float16": "f16", "uint8": "u8"},
    "weft_activation": {"gelu": "gelu_erf", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh",
                        "swish": "silu", "linear": "none", "identity": "none"},
    "weft_weight_storage": {"int8": "i8", "int8-only": "i8_only"},
    "weft_quantization": {"int8": "i8", "int8-only": "i8_only"},
}
"""What NumPy, PyTorch and transformers, and the command, call the same."""


def _word(given: Any, enum: str) -> Any:
    """The word for what others give: torch.float32, numpy.float32, numpy.dtype("float32") …"""
    if isinstance(given, str):
        word = given
    else:
        word = getattr(given, "__name__", None) or str(given).removeprefix("torch.")
    return _OTHERS.get(enum, {}).get(word, word)


def number_of(word: Any, enum: Any, what: str) -> int:
    """The number of a value of a C enum. Raises InvalidArgument with the words there are."""
    known = words(enum)
    given, word = word, _word(word, enum if isinstance(enum, str) else enum.cname.removeprefix("enum "))
    if word not in known:
        raise errors.InvalidArgument(f"{what}: expected one of {', '.join(known)}, found {given!r}")
    return known[word]


class Lent(NamedTuple):
    """Memory of Python's that the library reads from until it calls weft_py_release with `owner`."""

    address: Any
    size: int
    owner: Any


_lent: dict[Any, Any] = {}


def lend(data: Any) -> Lent:
    """Lends anything with the buffer protocol. It must not change as long as the library has it."""
    view = ffi.from_buffer(data)
    owner = ffi.new_handle(view)
    _lent[owner] = view
    return Lent(ffi.cast("void *", view), len(view), owner)


@ffi.def_extern(name="weft_py_release")  # type: ignore[untyped-decorator]
def take_back(owner: Any) -> None:
    """What the library calls when it does not need it any more; and who lent it, when it never got it."""
    _lent.pop(owner, None)


_roots: weakref.WeakSet[Handle] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Before the interpreter takes itself apart: releasing may call back into Python."""
    for handle in list(_roots):
        handle.close()


_in_child: weakref.WeakSet[Any] = weakref.WeakSet()
"""What has a method `_after_fork`, to be called in a forked child."""


def _after_fork() -> None:
    _watch_main_thread()
    for one in list(_in_child):
        one._after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)


def tell_after_fork(one: Any) -> None:
    """Has `one._after_fork()` called in a forked child."""
    _in_child.add(one)


class Lock:
    """A lock that a forked child has free: what thread held it is not there."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        tell_after_fork(self)

    def _after_fork(self) -> None:
        if self._lock.acquire(blocking=False):  # it was free, or is this thread's
            self._lock.release()
        else:
            self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Turns(Lock):
    """Lets one thread at a time call the library on a device, or on what stands alone, and keeps what garbage collection finds
    meanwhile until nobody does: a collection may come in any thread, also in one that is in a call and was called back."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._waiting: collections.deque[tuple[Callable[[], None], Any]] = collections.deque()

    def _after_fork(self) -> None:
        before = self._lock
        super()._after_fork()
        if self._lock is not before:
            self._depth = 0

    def __enter__(self) -> None:
        super().__enter__()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.release_waiting()
        super().__exit__()

    def release_waiting(self) -> None:
        """Releases what has waited. The caller has the turn."""
        while self._waiting:
            self._waiting.popleft()[0]()

    def release(self, work: Callable[[], None], parent: Any) -> None:
        """Does the work now if it is nobody's turn, or when it is over. `parent` lives until then."""
        self._waiting.append((work, parent))
        if self._lock.acquire(blocking=False):
            if self._depth == 0:
                self.release_waiting()
            self._lock.release()


class Held:
    """A pointer of the library until it is released, and those that must be released before it. Garbage collection calls
    `__del__` of handles that refer to each other in any order, so this refers to none."""

    def __init__(self, pointer: Any, destroy: Callable[[Any], None], parent: Held | None) -> None:
        self.pointer: Any = pointer
        self.parent = parent
        self._destroy = destroy
        self._children: set[Held] = set()
        if parent is not None:
            parent._children.add(self)

    def release(self) -> None:
        """Releases it, after all that was made of it. More than once is fine."""
        for child in list(self._children):
            child.release()
        if self.parent is not None:
            self.parent._children.discard(self)
        if self.pointer is not None:
            pointer, self.pointer = self.pointer, None
            self._destroy(ffi.new(ffi.typeof(pointer).cname + " *", pointer))


class Handle:
    """A pointer of the library. Whatever is made of a handle holds it; `close` releases what depends at once."""

    def __init__(self, pointer: Any, destroy: Callable[[Any], None], parent: Handle | None = None) -> None:
        self._held: Held = Held(pointer, destroy, parent._held if parent is not None else None)
        self._parent = parent
        self.lock: Turns = parent.lock if parent is not None else Turns()
        """To be held while the library works on it: one for all that is made of one device."""
        if parent is None:
            _roots.add(self)

    @property
    def pointer(self) -> Any:
        """None when it was released."""
        return self._held.pointer

    def get(self) -> Any:
        """The pointer. Raises InvalidArgument when it was closed."""
        if self.pointer is None:
            raise errors.InvalidArgument("it was closed, or what it was made of")
        return self.pointer

    def close(self) -> None:
        """Releases it, after all that was made of it. More than once is fine."""
        with self.lock:
            self.lock.release_waiting()
            self._held.release()

    def __del__(self) -> None:
        held, lock = getattr(self, "_held", None), getattr(self, "lock", None)
        if held is not None and held.pointer is not None and lock is not None:
            lock.release(held.release, self._parent)


def make(kind: str, create: Callable[..., int], *arguments: Any) -> Any:
    """Calls create(out, …) and gives what it wrote: a pointer to `kind`."""
    out = ffi.new(f"{kind} **")
    try:
        check(create(out, *arguments))
    except BaseException:
        getattr(lib, f"{kind}_destroy")(out)  # it may have been made when a handler raised
        raise
    return out[0]
