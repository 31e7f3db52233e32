# SPDX-License-Identifier: MIT
"""The weft command from Python: its checks and measurements as tables that a notebook shows."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from . import _checks, errors


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows with the same columns. A notebook shows it as a table; `pandas.DataFrame(table.rows)` takes it."""

    title: str
    rows: list[dict[str, Any]]
    report: dict[str, Any]
    """All that the command wrote, as its --json."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _cells(self) -> list[list[str]]:
        return [[_text(row.get(name)) for name in self.columns] for row in self.rows]

    def __str__(self) -> str:
        lines = [self.columns, *self._cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
        return "\n".join([self.title, *text])

    def _repr_html_(self) -> str:
        import html

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
                       for line in self._cells())
        return (f"<table><caption>{html.escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
                f"<tbody>{body}</tbody></table>")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def command(arguments: Sequence[str]) -> int:
    """Runs the weft command in this process. Gives its exit code: 0 fine, 1 a check failed, 2 wrong usage, 3 no usable
    device, 4 bad file."""
    from ._native import ffi, lib

    texts = [ffi.new("char[]", os.fsencode(text)) for text in ("weft", *arguments)]
    code: int = lib.weft_command(len(texts), ffi.new("char *[]", [*texts, ffi.NULL]))
    return code


def main() -> None:
    """The program `weft` that the package installs: the command, and `weft serve`, which is Python's."""
    if sys.argv[1:2] == ["serve"]:
        from .serve import main as serve

        sys.exit(serve(sys.argv[2:]))
    sys.exit(command(sys.argv[1:]))


def _report(arguments: list[str], accepted: tuple[int, ...]) -> dict[str, Any]:
    """What `weft … --json` wrote, from a process of its own: a check of a driver may bring that driver down."""
    import subprocess

    run = subprocess.run([sys.executable, "-m", "weft", *arguments, "--json"], capture_output=True, text=True, check=False)
    if run.returncode not in accepted:
        said = run.stderr.strip() or f"exit code {run.returncode}"
        raise (errors.NoDevice if run.returncode == 3 else errors.WeftError)(f"weft {' '.join(arguments)}: {said}")
    report: dict[str, Any] = json.loads(run.stdout)
    return report


def _device_and_filter(device: str | int | None, filter: str | None) -> list[str]:
    """As options of the command."""
    found = [] if filter is None else ["--filter", _checks.text(filter, "filter")]
    if device is None:
        return found
    return [*found, "--device", _checks.text(str(device) if isinstance(device, int) else device, "device")]


def verify(filter: str | None = None, *, device: str | int | None = None, math: str = "reproducible") -> Table:
    """Checks every op and mixer on a device against float64, as `weft verify` does.

    Args:
        filter: only cases whose names contain this.
        device: as `Device` takes it.
        math: "reproducible", "fused" or "fast".
    """
    arguments = ["verify", "--math", _checks.text(math, "math"), *_device_and_filter(device, filter)]
    report = _report(arguments, (0, 1))
    cases = report["cases"]
    failed = sum(case["status"] == "fail" for case in cases)
    rows = [{name: case.get(name) for name in ("name", "status", "rel_l2", "tolerance", "sha256")} for case in cases]
    return Table(f"{report['device']['name']}, {math}: {len(cases)} cases, {failed} failed", rows, report)


def bench(suite: str | None = None, *, filter: str | None = None, size: str = "full", seconds: float | None = None,
          limits: bool = True, device: str | int | None = None, math: str = "reproducible") -> Table:
    """Measures a device, as `weft bench` does: medians of milliseconds, and what part of the device's limit that is.

    Args:
        suite: one of the suites that `weft bench --help` names; None: all.
        filter: only cases whose names contain this.
        size: how much of each suite: "full", "short" or "smallest".
        seconds: that a case takes at most.
        limits: measure the device's own limits, too, which takes some seconds.
        device: as `Device` takes it.
        math: "reproducible", "fused" or "fast".
    """
    arguments = ["bench", "--math", _checks.text(math, "math"), "--size", _checks.text(size, "size")]
    arguments += [] if limits else ["--no-limits"]
    arguments += ["--suite", _checks.text(suite, "suite")] if suite else []
    arguments += ["--seconds", str(_checks.number(seconds, "seconds"))] if seconds else []
    arguments += _device_and_filter(device, filter)
    report = _report(arguments, (0, 1))
    names = ("suite", "case", "n", "device", "status", "median_ms", "spread", "gflop_per_s", "gb_per_s", "verified")
    rows = [{name: row.get(name) for name in names} for row in report["rows"]]
    return Table(f"weft bench, {math}: {len(rows)} rows", rows, report)
