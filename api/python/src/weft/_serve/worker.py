# SPDX-License-Identifier: MIT
"""A thread that owns a model: jobs wait for it, and those that can run together do."""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from .failure import Failure, of_error

_log = logging.getLogger("weft")


class Job:
    """Something for a model to do. `done` and `failed` are called on the model's thread, one of them, once.

    Args:
        key: jobs of equal keys run together.
        cost: how many texts it has.
        given: what the work reads.
        done: gets the result.
        failed: gets what went wrong.
    """

    def __init__(self, key: Hashable, cost: int, given: Any, done: Callable[[Any], object],
                 failed: Callable[[Failure], object]) -> None:
        self.key, self.cost, self.given = key, cost, given
        self.cancelled = False  # set on any thread, where nobody waits for it any more
        self.begun = False  # whether some of its result has been handed on
        self.over = False
        self._done, self._failed = done, failed

    def succeed(self, result: Any) -> None:
        """Hands on the result."""
        if not self.over:
            self.over = True
            self._done(result)

    def fail(self, failure: Failure) -> None:
        """Hands on what went wrong."""
        if not self.over:
            self.over = True
            self._failed(failure)


Work = Callable[[Sequence[Job]], Iterator[None]]
"""Does jobs of one key, a part of them for each step."""


class Worker:
    """Does jobs in the order in which they came, on a thread of its own. It takes all that wait and have the first one's key,
    up to a number of texts; while it does them others gather. Work that has several steps takes turns with other work.

    Args:
        name: of the thread.
        work: what does jobs.
        most_waiting: texts that wait, at most.
        most_together: texts that run together, at most, but those of one job.
        most_active: texts of work that has begun, at most, but those of one job.
    """

    def __init__(self, name: str, work: Work, *, most_waiting: int, most_together: int, most_active: int) -> None:
        self._work = work
        self._most_waiting, self._most_together, self._most_active = most_waiting, most_together, most_active
        self._jobs: collections.deque[Job] = collections.deque()
        self._changed = threading.Condition()
        self._stopping = False
        self.waiting = 0
        """Texts that wait."""
        self.lost: str | None = None
        """Why it cannot do anything any more: its device is gone."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, job: Job) -> None:
        """Adds a job. Raises a Failure where too many wait. Any thread."""
        with self._changed:
            if self._stopping or self.lost:
                raise Failure(503, self.lost or "the server is being stopped", code="stopping")
            if self.waiting > 0 and self.waiting + job.cost > self._most_waiting:
                raise Failure(429, f"{self.waiting} texts are waiting, and at most {self._most_waiting} may: try again later",
                              code="queue_full")
            self.waiting += job.cost
            self._jobs.append(job)
            self._changed.notify()

    def stop(self, seconds: float) -> bool:
        """Ends the thread once nothing waits; whether it has ended in time."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    # ---- on its thread ----

    def _next(self, active: int) -> list[Job] | None:
        """Jobs to do together; none where others are active and none fits beside them; None at the end."""
        with self._changed:
            while True:
                while self._jobs and self._jobs[0].cancelled:
                    self.waiting -= self._jobs.popleft().cost
                if self._jobs and (active == 0 or active + self._jobs[0].cost <= self._most_active):
                    return self._together(active)
                if active > 0:
                    return []
                if self._stopping:
                    return None
                self._changed.wait()

    def _together(self, active: int) -> list[Job]:
        first = self._jobs.popleft()
        found, left = [first], collections.deque[Job]()
        most = min(self._most_together, self._most_active - active)
        total = first.cost
        for job in self._jobs:
            if job.key == first.key and total + job.cost <= most and not job.cancelled:
                found.append(job)
                total += job.cost
            else:
                left.append(job)
        self._jobs = left
        self.waiting -= total
        return found

    def _run(self) -> None:
        active: list[tuple[Iterator[None], list[Job]]] = []
        while True:
            jobs = self._next(sum(job.cost for _, some in active for job in some if not job.over))
            if jobs is None:
                return
            if jobs:
                active.append((self._work(jobs), jobs))
            for one in list(active):
                if not self._step(one, active):
                    active.remove(one)

    def _step(self, one: tuple[Iterator[None], list[Job]], active: list[tuple[Iterator[None], list[Job]]]) -> bool:
        """Whether the work goes on."""
        iterator, jobs = one
        try:
            next(iterator)
            return True
        except StopIteration:
            for job in jobs:
                if not job.over and not job.cancelled:
                    self._failed(AssertionError("work has ended without a result"), [job], active)
            return False
        except Exception as error:
            self._failed(error, jobs, active)
            return False

    def _failed(self, error: Exception, jobs: list[Job], active: list[tuple[Iterator[None], list[Job]]]) -> None:
        """Of several jobs each is tried alone, so that only the one that is wrong is refused."""
        failure = of_error(error)
        if failure.code == "device_lost":
            self.lost = str(failure)
        if failure.status == 500:
            _log.error("a model failed", exc_info=error)
        for job in jobs:
            if len(jobs) > 1 and not job.begun and not job.over and not self.lost:
                active.append((self._work([job]), [job]))
            else:
                job.fail(failure)
