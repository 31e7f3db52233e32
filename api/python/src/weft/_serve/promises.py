# SPDX-License-Identifier: MIT
"""Results that a model's thread makes and the event loop waits for."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Hashable, Sequence
from typing import Any

from .failure import Failure
from .worker import Job, Worker


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        if isinstance(result, Failure):
            future.set_exception(result)
        else:
            future.set_result(result)


def _put(loop: asyncio.AbstractEventLoop, function: Any, *arguments: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
        loop.call_soon_threadsafe(function, *arguments)


async def results(worker: Worker, key: Hashable, parts: Sequence[tuple[int, Any]]) -> list[Any]:
    """The results of jobs, each of a cost and what it is given. Where one fails or nobody waits, the others are dropped."""
    loop = asyncio.get_running_loop()
    jobs: list[Job] = []
    futures: list[asyncio.Future[Any]] = []
    try:
        for cost, given in parts:
            future: asyncio.Future[Any] = loop.create_future()
            tell = functools.partial(_put, loop, _settle, future)
            jobs.append(Job(key, cost, given, tell, tell))
            futures.append(future)
            worker.put(jobs[-1])
        return await asyncio.gather(*futures)
    finally:
        for job, future in zip(jobs, futures):
            job.cancelled = True
            future.cancel()


class Stream:
    """What a job hands on bit by bit: `tell` on the model's thread, iteration on the event loop."""

    def __init__(self, worker: Worker, key: Hashable, cost: int, given: Any) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Any] = asyncio.Queue()
        self._job = Job(key, cost, (given, self.tell), self._over, self._over)
        worker.put(self._job)

    def tell(self, event: Any) -> None:
        """Hands on one thing."""
        self._job.begun = True
        _put(self._loop, self._queue.put_nowait, event)

    def _over(self, result: Any) -> None:
        _put(self._loop, self._queue.put_nowait, result if isinstance(result, Failure) else _End(result))

    def drop(self) -> None:
        """Nobody waits for it any more."""
        self._job.cancelled = True

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Each thing, and at last the job's result. Raises the Failure that ended it."""
        try:
            while True:
                event = await self._queue.get()
                if isinstance(event, Failure):
                    raise event
                yield event.result if isinstance(event, _End) else event
                if isinstance(event, _End):
                    return
        finally:
            self.drop()


class _End:
    def __init__(self, result: Any) -> None:
        self.result = result
