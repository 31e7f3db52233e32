# SPDX-License-Identifier: MIT
"""How much a server takes at once."""

from __future__ import annotations

import dataclasses

from .. import _checks
from .failure import Failure


@dataclasses.dataclass(frozen=True)
class Limits:
    """All are at least 1. A request beyond one of them is refused, and no other request suffers."""

    body: int = 4 << 20
    """Bytes of a request's body: 413."""
    bodies: int = 64 << 20
    """Bytes of all bodies whose requests are not answered yet: 503."""
    texts: int = 2048
    """Texts of a request: 400."""
    choices: int = 64
    """Texts that a request has written, of all its prompts: 400."""
    tokens: int = 4096
    """That a completion may ask for: 400."""
    requests: int = 512
    """That are under way: 429."""
    queue: int = 8192
    """Texts that wait for a model: 429."""
    connections: int = 1024
    """That are open: 503."""
    seconds: float = 600.0
    """Until a request is answered: 503, or the end of a stream."""
    body_seconds: float = 30.0
    """Until a request's head, and then its body, have come: 408, or the end of the connection."""
    stop_seconds: float = 60.0
    """For requests that are under way when the server is stopped."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, float):
                if not 0.0 < _checks.number(value, field.name) < 1e9:
                    raise ValueError(f"{field.name}: expected seconds above 0, found {value!r}")
            else:
                _checks.whole(value, field.name, 1)


class Room:
    """Counts what is taken of a limit, on the thread of the event loop."""

    def __init__(self, most: int, refusal: Failure) -> None:
        self.most = most
        self.taken = 0
        self._refusal = (refusal.status, str(refusal), refusal.code)

    def take(self, count: int) -> None:
        """Raises a Failure where there is no room."""
        if self.taken + count > self.most:
            status, message, code = self._refusal
            raise Failure(status, message, code=code)
        self.taken += count

    def give(self, count: int) -> None:
        """Gives back what was taken."""
        self.taken -= count
