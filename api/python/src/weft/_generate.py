# SPDX-License-Identifier: MIT
"""weft generate, for folders whose tokenizer is a tokenizer.json of Hugging Face's, which the C library does not read."""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from . import _files, _generation, errors
from ._text import harmless

_TOKENS = 200  # as the C command


class _Stopped(BaseException):
    """Ctrl-C or SIGTERM."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """As api/cli/stop.h: the first signal raises _Stopped, a second one ends the program, and one that is ignored stays so. The
    main thread alone may say so."""
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []

    def stop(number: int, _frame: Any) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_DFL)
        raise _Stopped(number)

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_for(arguments: Sequence[str]) -> bool:
    """Whether a command line is one for this module and not for the C library."""
    return list(arguments[:1]) == ["generate"] and any(_has_only_json(pathlib.Path(text)) for text in arguments[1:])


def _has_only_json(folder: pathlib.Path) -> bool:
    if not (folder / "tokenizer.json").is_file() or (folder / "spiece.model").exists():
        return False
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("tokenizer_class") != "ByteTokenizer"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="weft generate", description="Continues a text with a causal language model. Its tokenizer.json is read by the "
        "package tokenizers; the options are those of the weft command.")
    parser.add_argument("model", metavar="MODEL")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--text", metavar="STRING", help="the text to continue")
    source.add_argument("--file", metavar="FILE", help="the same in a file, or - for standard input")
    parser.add_argument("--tokens", metavar="N", type=int, help=f"how many tokens to make (default {_TOKENS})")
    parser.add_argument("--greedy", action="store_true", help="take the likeliest token each time (default)")
    parser.add_argument("--seed", metavar="S", type=int, help="draw tokens: equal seeds draw equal texts everywhere")
    parser.add_argument("--temperature", metavar="T", type=float, help="draw by softmax(logits / T) (default 1)")
    parser.add_argument("--top-k", metavar="K", type=int, help="draw among the K likeliest tokens (default: all)")
    parser.add_argument("--out", metavar="FILE", help="write the new text to this file, byte for byte")
    parser.add_argument("--device", metavar="SEL", help="which device: an index or part of a name")
    parser.add_argument("--math", choices=("reproducible", "fast"), default="reproducible")
    parser.add_argument("--weights", choices=("auto", "f32", "f16"), default="auto")
    parser.add_argument("--validation", action="store_true", help="turn on the Vulkan validation layer")
    parser.add_argument("--no-cache", action="store_true", help="keep no compiled shaders on disk, and use none")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs it. Gives the exit codes of the weft command."""
    parser = _parser()
    given = parser.parse_args(arguments[1:])
    samples = given.seed is not None or given.temperature is not None or given.top_k is not None
    if samples and given.greedy:
        parser.error("--greedy excludes --seed, --temperature and --top-k: it draws nothing")
    try:
        _generation.settings_of(1, tokens=given.tokens, temperature=given.temperature or 0.0, top_k=given.top_k or 0,
                                seed=given.seed or 0)
    except errors.InvalidArgument as error:
        parser.error(f"--{error}")
    try:
        with _stopped_by_signals():
            _run(given, samples)
    except _Stopped as stopped:
        print("weft: stopped by a signal", file=sys.stderr)
        return 128 + stopped.number
    except errors.NoDevice as error:
        return _fail(error, 3)
    except (errors.WeftError, OSError, UnicodeError) as error:
        return _fail(error, 4)
    return 0


def _fail(error: Exception, code: int) -> int:
    print(f"weft: error: {harmless(str(error))}", file=sys.stderr)
    return code


def _run(given: argparse.Namespace, samples: bool) -> None:
    from .device import Device
    from .model import load

    text = given.text
    if text is None:
        text = sys.stdin.read() if given.file == "-" else pathlib.Path(given.file).read_text("utf-8")
    number = int(given.device) if given.device is not None and given.device.isdigit() else given.device
    with Device(number, math=given.math, weights=given.weights, validation=given.validation,
                cache_dir="" if given.no_cache else None) as device, load(given.model, device) as model:
        tokens: list[int] = []
        warm = 1.0 if given.temperature is None else given.temperature
        pieces = model.stream(text, tokens=given.tokens, temperature=warm if samples else 0.0, top_k=given.top_k or 0,
                              seed=given.seed or 0, ids=tokens)
        made = []
        stopped = None
        try:
            for piece in pieces:
                made.append(piece)
                if not given.json:
                    print(harmless(piece), end="", flush=True)
        except _Stopped as error:
            stopped = error  # what was made is kept
        if given.out:
            _files.write(pathlib.Path(given.out), "".join(made).encode())
        if given.json:
            print(json.dumps({"model": given.model, "architecture": model.info.architecture, "device": device.info.name,
                              "math": device.math, "prompt_tokens": len(model.tokenize(text)), "tokens": tokens,
                              "text": "".join(made)}, indent=2))
        elif sys.stdout.isatty():
            print()
        if stopped is not None:
            raise stopped
