# SPDX-License-Identifier: MIT
"""One request and its answer over ASGI: the body is read within limits, an error has OpenAI's form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from .answer import Events
from .failure import Failure, of_error, text_of
from .limits import Limits, Room

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_LINGER_BYTES = 64 << 20
_LINGER_SECONDS = 5.0


class Gone(Exception):
    """The client has closed its connection."""


class Exchange:
    """A request that has come.

    Args:
        scope, receive, send: of ASGI.
        limits: of the server.
        bodies: room for the bytes of all bodies.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, limits: Limits, bodies: Room) -> None:
        self.method, self.path = scope["method"], scope["path"]
        self.headers = {name.lower(): value for name, value in reversed(scope["headers"])}
        self.status = 0
        """That of the answer, once it has begun."""
        self._receive, self._send, self._limits, self._bodies = receive, send, limits, bodies
        self._held = 0
        self._read = self.headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in self.headers
        self._broken = False  # nothing more of the body will come

    # ---- the body ----

    async def body(self) -> bytes:
        """The body. Raises a Failure for one that is too long or too slow."""
        length = self.headers.get(b"content-length", b"")
        if length.isdigit() and (len(length) > 12 or int(length) > self._limits.body):
            raise self._too_long()
        try:
            return await asyncio.wait_for(self._body(), self._limits.body_seconds)
        except asyncio.TimeoutError:
            self._broken = True
            raise Failure(408, f"the body took more than {self._limits.body_seconds:g} seconds") from None

    def _too_long(self) -> Failure:
        return Failure(413, f"expected a body of at most {self._limits.body} bytes", code="request_too_large")

    async def _body(self) -> bytes:
        found = bytearray()
        while not self._read:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Gone
            part = message.get("body", b"")
            if len(found) + len(part) > self._limits.body:
                raise self._too_long()
            self._bodies.take(len(part))
            self._held += len(part)
            found += part
            self._read = not message.get("more_body", False)
        return bytes(found)

    def release(self) -> None:
        """Gives back what the body took."""
        self._bodies.give(self._held)
        self._held = 0

    async def gone(self) -> None:
        """Returns when the client has closed its connection. The body must have been read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _linger(self) -> None:
        """Takes what still comes of a body that is refused: a connection that is closed before would lose the answer."""
        taken = 0
        while not self._read and taken < _LINGER_BYTES:
            message = await self._receive()
            taken += len(message.get("body", b""))
            self._read = message["type"] == "http.disconnect" or not message.get("more_body", False)

    # ---- the answer ----

    async def _begin(self, status: int, kind: str, headers: list[tuple[bytes, bytes]]) -> None:
        self.status = status
        fixed = [(b"content-type", kind.encode()), (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
        await self._send({"type": "http.response.start", "status": status, "headers": fixed + headers})

    async def answer(self, status: int, body: bytes, headers: Sequence[tuple[bytes, bytes]] = (),
                     kind: str = "application/json") -> None:
        """Sends an answer."""
        closes = [] if self._read else [(b"connection", b"close")]
        lingers = not self._read and not self._broken
        await self._begin(status, kind, [*headers, (b"content-length", str(len(body)).encode()), *closes])
        await self._send({"type": "http.response.body", "body": body, "more_body": lingers})
        if lingers:
            try:
                await asyncio.wait_for(self._linger(), _LINGER_SECONDS)
            except asyncio.TimeoutError:
                pass
            await self._send({"type": "http.response.body", "body": b""})

    async def refuse(self, failure: Failure) -> None:
        """Sends an error."""
        await self.answer(failure.status, json.dumps(failure.body()).encode(), failure.headers())

    async def stream(self, events: Events) -> None:
        """Sends events as they are made. An error ends them as one more event, without the [DONE] of a whole stream."""
        await self._begin(200, "text/event-stream; charset=utf-8", events.headers())
        try:
            async for one in events.objects:
                await self._event(json.dumps(one, separators=(",", ":")))
            await self._event("[DONE]")
        except (Failure, asyncio.CancelledError) as error:
            cancelled = isinstance(error, asyncio.CancelledError)
            await self._event(text_of(Failure(503, "the time is over", code="timeout") if cancelled else of_error(error)))
            if cancelled:
                raise
        finally:
            events.drop()
        await self._send({"type": "http.response.body", "body": b""})

    async def _event(self, data: str) -> None:
        await self._send({"type": "http.response.body", "body": f"data: {data}\n\n".encode(), "more_body": True})
