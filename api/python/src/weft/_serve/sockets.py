# SPDX-License-Identifier: MIT
"""The application behind sockets, by uvicorn: connections have limits, and the server stops by signals without loss."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

try:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise ImportError("weft.serve needs uvicorn, which is not installed here: pip install 'uvicorn>=0.29'") from error

from .application import Application
from .failure import Failure
from .limits import Limits

_HEAD_BYTES = 1 << 16  # of a request's head
_IDLE_SECONDS = 30  # that a connection may be without a request
_BACKLOG = 1024


def _full(most: int) -> bytes:
    body = json.dumps(Failure(503, f"{most} connections are open: try again later", code="overloaded").body()).encode()
    return (b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\n"
            b"content-length: " + str(len(body)).encode() + b"\r\n\r\n" + body)


class Connection(H11Protocol):
    """A connection, which ends where a request's head or the whole request takes too long: uvicorn waits for ever."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        application: Any = self.config.app
        self._limits: Limits = application.limits
        self._timer: asyncio.TimerHandle | None = None
        self._is_late: Callable[[], None] | None = None

    def _expect(self, seconds: float | None, then: Callable[[], None] | None = None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._is_late = then
        self._timer = None if seconds is None or then is None else self.loop.call_later(seconds, then)

    def _waits(self) -> bool:
        """Whether a request's head is missing."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _close(self) -> None:
        self.transport.close()

    def _abort(self) -> None:
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Takes it, or refuses one too many."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            transport.write(_full(self._limits.connections))
            transport.close()
        self._expect(self._limits.body_seconds, self._close)

    def data_received(self, data: bytes) -> None:
        """A part of a head or of a body."""
        if self.transport.is_closing():
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:  # a head is complete
            self._expect(self._limits.seconds + 3 * self._limits.body_seconds, self._abort)
        elif self._waits() and self._is_late != self._close:
            self._expect(self._limits.body_seconds, self._close)

    def on_response_complete(self) -> None:
        """From now on another request may come."""
        before = self.cycle
        self._expect(None)
        super().on_response_complete()
        if self.cycle is not before:  # which was there already
            self._expect(self._limits.seconds + 3 * self._limits.body_seconds, self._abort)
        elif self.transport.is_closing():
            self._expect(self._limits.body_seconds, self._abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Its end."""
        self._expect(None)
        super().connection_lost(exc)


class Server(uvicorn.Server):
    """A server that by SIGTERM and SIGINT answers what is under way, refuses what is new, and ends; by a second one at once."""

    def __init__(self, application: Application, sockets: list[socket.socket]) -> None:
        super().__init__(uvicorn.Config(
            application, http=Connection, ws="none", lifespan="off", loop="asyncio", log_level="critical", access_log=False,
            server_header=False, proxy_headers=False, timeout_keep_alive=_IDLE_SECONDS, backlog=_BACKLOG,
            h11_max_incomplete_event_size=_HEAD_BYTES, timeout_graceful_shutdown=1))
        self._application, self._sockets = application, sockets
        for one in sockets:
            one.listen(_BACKLOG)  # from now on clients can connect
        self._end: asyncio.Future[None] | None = None  # kept, as the loop does not keep it
        self._loop: asyncio.AbstractEventLoop | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """What a signal does."""
        if self._application.stopping or self._loop is None:
            self.should_exit = self.force_exit = True
        else:
            self._application.stopping = True
            self._loop.call_soon_threadsafe(self._begin_to_stop)

    def _begin_to_stop(self) -> None:
        self._end = asyncio.ensure_future(self._stop())

    async def _stop(self) -> None:
        await self._application.stop()
        self.should_exit = True

    async def _serve_here(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self.serve(sockets=self._sockets)

    def run_here(self) -> None:
        """Serves until it is stopped."""
        asyncio.run(self._serve_here())


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets of a host's addresses. Port 0 is any that is free, for the first of them."""
    found: list[socket.socket] = []
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM,
                                                                 flags=socket.AI_PASSIVE)[:1 if port == 0 else None]:
        one = socket.socket(family, kind, protocol)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            one.bind(address)
        except OSError:
            for other in [one, *found]:
                other.close()
            raise
        found.append(one)
    return found
