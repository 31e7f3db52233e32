# SPDX-License-Identifier: MIT
"""Answers of endpoints."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

_MOST_NAMED = 64  # texts in a header


class Answer:
    """A JSON object, with what its headers say of it.

    Args:
        body: makes the object, on some thread.
        digest: SHA-256 of the result, in hexadecimal; `body` may set it.
        cut: places of texts that are longer than the model, of which the rest is left out.
        seed: by which texts were drawn.
        is_long: whether `body` takes so long that other requests would wait for it.
    """

    def __init__(self, body: Callable[[], dict[str, Any]], *, digest: str = "", cut: list[int] | None = None,
                 seed: int | None = None, is_long: bool = False) -> None:
        self._body, self.digest, self._cut, self._seed = body, digest, cut or [], seed
        self.is_long = is_long
        self.kind = "application/json"
        """Of its text, for the header Content-Type."""

    def text(self) -> bytes:
        """The object's JSON."""
        return json.dumps(self._body(), separators=(",", ":")).encode()

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Those of the result, once `text` has been made."""
        found = [(b"weft-result-sha256", self.digest)] if self.digest else []
        if self._cut:
            more = ",..." if len(self._cut) > _MOST_NAMED else ""
            found.append((b"weft-cut-texts", ",".join(map(str, self._cut[:_MOST_NAMED])) + more))
        if self._seed is not None:
            found.append((b"weft-seed", str(self._seed)))
        return [(name, value.encode()) for name, value in found]


class Plain(Answer):
    """A text that is no JSON.

    Args:
        text: all of it.
        digest: as of other answers.
    """

    def __init__(self, text: str, digest: str) -> None:
        super().__init__(dict, digest=digest)
        self._text = text
        self.kind = "text/plain; charset=utf-8"

    def text(self) -> bytes:
        """The text's bytes."""
        return self._text.encode()


class Events:
    """A stream of server-sent events.

    Args:
        objects: what is sent, one after the other.
        seed: by which texts are drawn.
        drop: is called when nobody waits for more.
    """

    def __init__(self, objects: AsyncIterator[dict[str, Any]], seed: int, drop: Callable[[], object]) -> None:
        self.objects, self.drop = objects, drop
        self._seed = seed

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Those of the stream."""
        return [(b"weft-seed", str(self._seed).encode())]
