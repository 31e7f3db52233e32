# SPDX-License-Identifier: MIT
"""Counters, gauges and times in the text format that Prometheus reads."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Iterable

Labels = tuple[tuple[str, str], ...]

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _line(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{inner}}} {value:.17g}" if inner else f"{name} {value:.17g}"


class Metrics:
    """All that a server counts. Any thread may count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._helps: dict[str, tuple[str, str]] = {}
        self._counts: dict[str, dict[Labels, float]] = {}
        self._times: dict[str, dict[Labels, list[float]]] = {}
        self._gauges: dict[str, list[tuple[Labels, Callable[[], float]]]] = collections.defaultdict(list)

    def counter(self, name: str, text: str) -> None:
        """Declares a number that only grows."""
        self._helps[name], self._counts[name] = ("counter", text), {}

    def times(self, name: str, text: str) -> None:
        """Declares times in seconds, as a histogram."""
        self._helps[name], self._times[name] = ("histogram", text), {}

    def gauge(self, name: str, text: str, value: Callable[[], float], **labels: str) -> None:
        """Declares a number that is asked for when it is read; once for each value of the labels."""
        self._helps[name] = ("gauge", text)
        self._gauges[name].append((tuple(labels.items()), value))

    def add(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Counts. Labels must be of a few known values: each combination is kept."""
        key = tuple(labels.items())
        with self._lock:
            values = self._counts[name]
            values[key] = values.get(key, 0.0) + amount

    def time(self, name: str, seconds: float, **labels: str) -> None:
        """Counts a time."""
        with self._lock:
            row = self._times[name].setdefault(tuple(labels.items()), [0.0] * (len(_BOUNDS) + 2))
            for at, bound in enumerate(_BOUNDS):
                row[at] += seconds <= bound
            row[-2] += 1
            row[-1] += seconds

    def text(self) -> str:
        """What Prometheus reads."""
        lines: list[str] = []
        with self._lock:
            for name, (kind, text) in self._helps.items():
                lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
                lines += [_line(name, labels, value) for labels, value in self._counts.get(name, {}).items()]
                for labels, row in self._times.get(name, {}).items():
                    lines += self._histogram(name, labels, row)
                lines += [_line(name, labels, value()) for labels, value in self._gauges.get(name, [])]
        return "\n".join(lines) + "\n"

    @staticmethod
    def _histogram(name: str, labels: Labels, row: list[float]) -> list[str]:
        bounds = [*(f"{bound:g}" for bound in _BOUNDS), "+Inf"]
        return [*(_line(f"{name}_bucket", (*labels, ("le", bound)), value) for bound, value in zip(bounds, row)),
                _line(f"{name}_sum", labels, row[-1]), _line(f"{name}_count", labels, row[-2])]
