# SPDX-License-Identifier: MIT
"""The server's application, for any server of ASGI: paths, the key, limits, and how it stops."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import hmac
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Union

from . import completions, forms, metrics, ranks, speech, vectors
from .answer import Answer, Events
from .exchange import Exchange, Gone, Receive, Scope, Send
from .failure import Failure, of_error
from .fields import Fields, parsed
from .limits import Limits, Room
from .models import Served

_log = logging.getLogger("weft")
_LONG_BODY = 1 << 16  # bytes whose JSON another thread reads
_TICK = 0.02  # seconds

Endpoint = Callable[[Served, Fields], Awaitable[Union[Answer, Events]]]

POSTS: dict[str, Endpoint] = {
    "/v1/embeddings": vectors.embeddings, "/v1/completions": completions.completions,
    "/v1/chat/completions": completions.chat, "/v1/rerank": ranks.rerank, "/rerank": ranks.rerank, "/v2/rerank": ranks.rerank}
FORMS: dict[str, Endpoint] = {
    "/v1/audio/transcriptions": speech.transcriptions, "/v1/audio/translations": speech.translations}
GETS = ("/v1/models", "/health", "/metrics")
_ONE_MODEL = "/v1/models/"  # and its name


def new_metrics() -> metrics.Metrics:
    """With all that a server counts."""
    found = metrics.Metrics()
    found.counter("weft_requests_total", "Requests that were answered, by path and status.")
    found.times("weft_request_seconds", "Time from a request's head to the end of its answer.")
    found.counter("weft_batches_total", "Runs of requests together.")
    found.counter("weft_texts_total", "Texts that models have taken.")
    found.counter("weft_prompt_tokens_total", "Tokens of these texts.")
    found.counter("weft_completion_tokens_total", "Tokens that models have made.")
    return found


class Application:
    """Serves models.

    Args:
        models: by the names that requests have for them.
        keys: of which a request must have one; none: any request is answered.
        limits: how much it takes at once.
        counts: made by `new_metrics`.
    """

    def __init__(self, models: Mapping[str, Served], keys: Sequence[str], limits: Limits, counts: metrics.Metrics) -> None:
        self.models = dict(models)
        self.limits = limits
        self.stopping = False
        self._keys = [key.encode() for key in keys]
        self._metrics = counts
        self._bodies = Room(limits.bodies, Failure(503, "the bodies of other requests take all room: try again later",
                                                   code="overloaded"))
        self._requests = Room(limits.requests, Failure(429, f"{limits.requests} requests are under way: try again later",
                                                       code="too_many_requests"))
        # One at a time: the objects of a body take many times the memory of its JSON, as do those of an answer.
        self._long_bodies = concurrent.futures.ThreadPoolExecutor(1, "weft-bodies")
        self._answers = concurrent.futures.ThreadPoolExecutor(1, "weft-answers")
        counts.gauge("weft_requests_in_flight", "Requests under way.", lambda: self._requests.taken)

    # ---- its end ----

    async def stop(self) -> bool:
        """Refuses new requests, and waits for those under way; whether all have ended in time."""
        self.stopping = True
        end = time.monotonic() + self.limits.stop_seconds
        while self._requests.taken > 0 and time.monotonic() < end:
            await asyncio.sleep(_TICK)
        return self._requests.taken == 0

    def close(self) -> None:
        """Ends the models' threads, of which each ends what it does, and releases the models."""
        self.stopping = True
        for served in self.models.values():
            if served.worker.stop(self.limits.stop_seconds):
                served.model.close()
        self._long_bodies.shutdown(wait=False)
        self._answers.shutdown(wait=False)

    # ---- ASGI ----

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A connection of ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(Exchange(scope, receive, send, self.limits, self._bodies))
        else:
            await send({"type": "websocket.close"})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            kind = (await receive())["type"]
            if kind == "lifespan.shutdown":
                await self.stop()
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return

    async def _http(self, exchange: Exchange) -> None:
        begin = time.monotonic()
        try:
            await self._guarded(exchange)
        except Gone:
            exchange.status = exchange.status or 499
        finally:
            exchange.release()
            path = exchange.path if any(exchange.path in some for some in (POSTS, FORMS, GETS)) else "other"
            self._metrics.add("weft_requests_total", path=path, status=str(exchange.status))
            self._metrics.time("weft_request_seconds", time.monotonic() - begin, path=path)

    async def _guarded(self, exchange: Exchange) -> None:
        try:
            await self._routed(exchange)
        except Gone:
            raise
        except Exception as error:
            failure = of_error(error)
            if failure.status == 500:
                _log.error("a request failed", exc_info=error)
            if exchange.status:  # an answer has begun: only the end of the connection says it
                raise Gone from None
            await exchange.refuse(failure)

    async def _routed(self, exchange: Exchange) -> None:
        wanted = "POST" if exchange.path in POSTS or exchange.path in FORMS else "GET" if exchange.path in GETS else None
        if exchange.path == "/health" and exchange.method == wanted:
            await self._health(exchange)
            return
        self._check_key(exchange)
        if wanted is None and not exchange.path.startswith(_ONE_MODEL):
            raise Failure(404, "there is no such path: the page of weft serve lists them", code="unknown_url")
        if exchange.method != (wanted or "GET"):
            await exchange.answer(405, json.dumps(Failure(405, f"expected {wanted or 'GET'}").body()).encode(),
                                  [(b"allow", (wanted or "GET").encode())])
        elif wanted == "POST":
            await self._post(exchange)
        elif exchange.path == "/metrics":
            await exchange.answer(200, self._metrics.text().encode(), kind=metrics.CONTENT_TYPE)
        else:
            await self._list(exchange)

    def _check_key(self, exchange: Exchange) -> None:
        if not self._keys:
            return
        scheme, _, given = exchange.headers.get(b"authorization", b"").partition(b" ")
        found = [hmac.compare_digest(given.strip(), key) for key in self._keys]  # all, in the same time
        if scheme.lower() != b"bearer" or not any(found):
            raise Failure(401, "expected the header Authorization: Bearer KEY, with a key of this server",
                          code="invalid_api_key")

    # ---- paths ----

    async def _health(self, exchange: Exchange) -> None:
        lost = next((served.worker.lost for served in self.models.values() if served.worker.lost), None)
        state = "stopping" if self.stopping else "lost" if lost else "ok"
        body = {"status": state, "models": list(self.models), **({"reason": lost} if lost else {})}
        await exchange.answer(200 if state == "ok" else 503, json.dumps(body).encode())

    async def _list(self, exchange: Exchange) -> None:
        if exchange.path == "/v1/models":
            body: dict[str, Any] = {"object": "list", "data": [served.entry() for served in self.models.values()]}
        else:
            body = self._model(exchange.path[len(_ONE_MODEL):]).entry()
        await exchange.answer(200, json.dumps(body).encode())

    def _model(self, name: str) -> Served:
        if name not in self.models:
            raise Failure(404, f"model: there are {', '.join(self.models)}; found {name[:100]!r}", param="model",
                          code="model_not_found")
        return self.models[name]

    async def _post(self, exchange: Exchange) -> None:
        if self.stopping:
            raise Failure(503, "the server is being stopped", code="stopping")
        kind = exchange.headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        is_form = exchange.path in FORMS
        if kind != (forms.KIND if is_form else b"application/json"):
            raise Failure(415, f"expected the header Content-Type: {'multipart/form-data' if is_form else 'application/json'}")
        if is_form and b"origin" in exchange.headers:  # JSON no page of another site can send unasked; a form it can
            raise Failure(403, "expected no header Origin: forms are not taken from pages")
        self._requests.take(1)
        try:
            body = await exchange.body()
            fields = Fields(await self._parsed(exchange, body, is_form))
            del body
            model = fields.need("model", fields.text("model"))
            await self._answered(exchange, (FORMS if is_form else POSTS)[exchange.path](self._model(model), fields))
        finally:
            self._requests.give(1)

    async def _parsed(self, exchange: Exchange, body: bytes, is_form: bool) -> dict[str, Any]:
        read = functools.partial(forms.parsed, exchange.headers[b"content-type"]) if is_form else parsed
        if len(body) <= _LONG_BODY:
            return read(body)
        return await asyncio.get_running_loop().run_in_executor(self._long_bodies, read, body)

    async def _answered(self, exchange: Exchange, asked: Awaitable[Answer | Events]) -> None:
        """Answers within the time, and only while the client waits."""
        work = asyncio.ensure_future(self._sent(exchange, asked))
        gone = asyncio.ensure_future(exchange.gone())
        try:
            done, _ = await asyncio.wait({work, gone}, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if work in done:
                work.result()
            elif gone in done and not work.done():
                raise Gone
            elif not work.done():
                raise Failure(503, f"the answer took more than {self.limits.seconds:g} seconds", code="timeout")
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.wait({work, gone}, timeout=1.0)

    async def _sent(self, exchange: Exchange, asked: Awaitable[Answer | Events]) -> None:
        found = await asked
        if isinstance(found, Events):
            await exchange.stream(found)
        else:
            loop = asyncio.get_running_loop()
            body = await loop.run_in_executor(self._answers, found.text) if found.is_long else found.text()
            await exchange.answer(200, body, found.headers(), found.kind)
