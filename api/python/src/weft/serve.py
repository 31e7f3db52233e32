# SPDX-License-Identifier: MIT
"""Serves models over HTTP, as OpenAI, Cohere and Jina have it. It needs `pip install uvicorn`; chats need `jinja2`, too.

    weft serve all-MiniLM-L6-v2 --port 8000        # or python -m weft.serve

`application` gives the same for any other server of ASGI.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import errors
from ._serve.application import Application, new_metrics
from ._serve.limits import Limits
from ._serve.models import Making, load_all

if TYPE_CHECKING:
    from .device import Device
    from .model import StateType

__all__ = ["Application", "Limits", "application", "main"]

_KEY_VARIABLE = "WEFT_API_KEY"
_TURN = 1e-4  # seconds after which the event loop lets a model's thread go on, which needs it often and for a short time


def application(models: str | Sequence[str], *, device: Device | None = None, pooling: str | None = None,
                normalize: bool = False, state: StateType = "f32", api_keys: Sequence[str] = (),
                limits: Limits | None = None) -> Application:
    """Loads models, and gives an application of ASGI that serves them.

    Args:
        models: folders, names on the Hub where huggingface_hub is installed, or "NAME=FOLDER" to give one another name.
        device: what they run on; None: the default device.
        pooling: makes vectors of models whose folders do not say how: see `Model.embed`.
        normalize: gives vectors of length 1, also where the folder does not say so.
        state: of all models: see `load`.
        api_keys: of which a request must have one; none: any request is answered.
        limits: how much it takes at once; None: see `Limits`.

    Raises what `load` raises, and Unsupported for a model that gives no vectors, ranks no texts and writes none.
    """
    several = [models] if isinstance(models, str) else list(models)
    if any(not key or not key.isascii() for key in api_keys):
        raise errors.InvalidArgument("api_keys: expected keys of ASCII characters, none of them empty")
    counts, most = new_metrics(), limits or Limits()
    return Application(load_all(several, Making(device, pooling, normalize, state), most, counts), api_keys, most, counts)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="weft serve", allow_abbrev=False,
        description="Serves models: /v1/embeddings, /v1/rerank, /v1/completions, /v1/chat/completions, /v1/models, /health, "
                    "/metrics.")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a model's folder or GGUF file, or NAME=FOLDER")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; 127.0.0.1: only this machine asks")
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free, which the first line says")
    parser.add_argument("--device", help="its number, or a part of its name, as weft devices lists them")
    parser.add_argument("--threads", type=int, default=0, help="of the processor device; 0: all")
    parser.add_argument("--pooling", help="for folders that do not say how vectors are made, such as mean")
    parser.add_argument("--normalize", action="store_true", help="vectors of length 1, also where the folder does not say so")
    parser.add_argument("--state", choices=["f32", "f16"], default="f32",
                        help="how keys and values of softmax attention are kept: f16 takes half of the memory")
    parser.add_argument("--api-key", action="append", default=[], metavar="KEY",
                        help=f"that requests must have; other users see a command's arguments: {_KEY_VARIABLE} hides it")
    for field in dataclasses.fields(Limits):
        kind: Any = type(field.default)
        parser.add_argument(f"--max-{field.name.replace('_', '-')}", type=kind, default=field.default, metavar="N",
                            dest=f"limit_{field.name}", help=f"limit, {field.default:g} by default")
    return parser


def _load(given: argparse.Namespace) -> Application:
    from .device import Device

    keys = [*given.api_key, *filter(None, [os.environ.get(_KEY_VARIABLE)])]
    limits = Limits(**{field.name: getattr(given, f"limit_{field.name}") for field in dataclasses.fields(Limits)})
    select = int(given.device) if (given.device or "").isdecimal() else given.device
    device = Device(select, threads=given.threads) if given.device or given.threads else None
    return application(given.models, device=device, pooling=given.pooling, normalize=given.normalize, state=given.state,
                       api_keys=keys, limits=limits)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Gives its exit code: 0 stopped by a signal, 2 wrong usage, 4 a model or an address that cannot be had."""
    given = _parser().parse_args(arguments)
    from ._serve.sockets import Server, listen

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        sockets = listen(given.host, given.port)
        served = _load(given)
    except (errors.InvalidArgument, ValueError) as error:
        _say(f"weft serve: {error}")
        return 2
    except (errors.WeftError, OSError) as error:
        _say(f"weft serve: {error}")
        return 4
    if not _is_loopback(sockets) and not (given.api_key or os.environ.get(_KEY_VARIABLE)):
        _say(f"weft serve: other machines can ask, and no key is needed: {_KEY_VARIABLE} or --api-key asks for one")
    server = Server(served, sockets)
    for one in sockets:
        host, port = one.getsockname()[:2]
        _say(f"weft serve: http://{f'[{host}]' if ':' in host else host}:{port}/v1 has {', '.join(served.models)}")
    sys.setswitchinterval(_TURN)
    server.run_here()
    served.close()
    return 0


def _is_loopback(sockets: Sequence[socket.socket]) -> bool:
    return all(one.getsockname()[0].startswith(("127.", "::1")) for one in sockets)


if __name__ == "__main__":
    sys.exit(main())
