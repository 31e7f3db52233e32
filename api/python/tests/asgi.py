# SPDX-License-Identifier: MIT
"""A client of an application of ASGI, without sockets."""

import asyncio
import json
from typing import NamedTuple


class Response(NamedTuple):
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


JSON = [(b"content-type", b"application/json")]


async def ask(app, method, path, parts=(), headers=(), gone=None, take=None):
    """The application's answer to one request.

    parts: of the body; a number among them is seconds to wait.
    gone: an asyncio.Event that says when the client closes its connection.
    take: is called with each part of the answer as it comes.
    """
    waiting = list(parts) or [b""]
    found = {"status": 0, "headers": [], "body": b""}

    async def receive():
        while waiting and isinstance(waiting[0], (int, float)):
            await asyncio.sleep(waiting.pop(0))
        if waiting:
            part = waiting.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(waiting)}
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            assert found["status"] == 0
            found.update(status=message["status"], headers=message["headers"])
        else:
            found["body"] += message["body"]
            if take is not None:
                await take(message["body"])

    sizes = [part for part in waiting if isinstance(part, bytes)]
    length = [(b"content-length", str(sum(map(len, sizes))).encode())]
    scope = {"type": "http", "method": method, "path": path, "headers": [*headers, *length], "query_string": b""}
    await app(scope, receive, send)
    return Response(found["status"], {name.decode(): value.decode() for name, value in found["headers"]}, found["body"])


async def post(app, path, body, **how):
    """The answer to a JSON object."""
    headers = [*JSON, *how.pop("headers", ())]
    return await ask(app, "POST", path, [json.dumps(body).encode()], headers, **how)


def posted(app, path, body, **how):
    """The same in a loop of its own."""
    return asyncio.run(post(app, path, body, **how))


def got(app, path, headers=()):
    """The answer to GET."""
    return asyncio.run(ask(app, "GET", path, headers=headers))
