# SPDX-License-Identifier: MIT
"""Requests that are not answered: a status of HTTP with OpenAI's error object."""

from __future__ import annotations

import json
from typing import Any

from .. import errors

_INVALID = "invalid_request_error"
_TYPES = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}
_AGAIN = 1  # seconds after which a client may ask again


class Failure(Exception):
    """Why a request is not answered."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        """OpenAI's error object."""
        return {"error": {"message": str(self), "type": _TYPES.get(self.status, _INVALID), "param": self.param,
                          "code": self.code}}

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Those that the status asks for."""
        if self.status == 401:
            return [(b"www-authenticate", b"Bearer")]
        return [(b"retry-after", str(_AGAIN).encode())] if self.status in (429, 503) else []


def text_of(failure: Failure) -> str:
    """The error object, for a stream that has begun."""
    return json.dumps(failure.body())


def of_error(error: BaseException) -> Failure:
    """What an exception of a model means to a client. What is none of a request's own faults stays a fault of the server."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, (errors.InvalidArgument, errors.ShapeMismatch, errors.Unsupported, UnicodeError)):
        return Failure(400, str(error))
    if isinstance(error, MemoryError):  # the host's, the device's and Python's own
        return Failure(503, str(error) or "the memory is used up", code="out_of_memory")
    if isinstance(error, errors.DeviceLost):
        return Failure(503, str(error), code="device_lost")
    return Failure(500, "the server failed, and its log says why", code="internal_error")


def refuse_tokens(name: str, given: Any) -> None:
    """Refuses token ids in place of texts."""
    first = given[0] if isinstance(given, list) and given else None
    if isinstance(first, list) or (isinstance(first, int) and not isinstance(first, bool)):
        raise Failure(400, f"{name}: expected texts, found token ids, which another tokenizer has made: other words have these "
                      "ids here. LangChain sends texts with check_embedding_ctx_length=False", param=name)
