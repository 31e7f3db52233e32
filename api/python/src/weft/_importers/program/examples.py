# SPDX-License-Identifier: MIT
"""Sizes for which a program can be tried: what its shapes ask of its symbols, and the smallest values that give it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .program import Program, Value
from .sizes import Extent, Size, product

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_USUAL = 2  # at least: 1 would hide which axes are broadcast
_MOST_SCANNED = 2**17  # values of one symbol that are tried one by one
_TRIED = (*range(2, 9), 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 100, 128, 160, 192, 224, 256, 320, 384, 400, 480, 512, 640,
          768, 1000, 1024, 1600, 2048, 4000, 4096, 8000, 8192, 16000, 16384, 22050, 24000, 32000, 32768, 44100, 48000,
          65536, 96000)
"""Sizes that networks are used with: windows fit into large ones, and what is halved again and again needs powers of 2."""
_JOINT = (2, 16, 64, 224, 1024, 16000)

Values = Mapping[str, int]


def symbols_of(size: Any) -> list[str]:
    """The symbols of a size, in their order."""
    return [name for name in dict.fromkeys(_NAME.findall(str(size))) if name not in ("min", "max")]


class Need:
    """Something that an expression must be: at least 1, or 0."""

    def __init__(self, size: Size, is_zero: bool) -> None:
        text = _NAME.sub(lambda found: found[0] if found[0] in ("min", "max") else f"v[{found[0]!r}]", str(size))
        self.names = symbols_of(size)
        self.is_zero = is_zero
        self.value: Callable[[Values], int] = eval(f"lambda v: {text}", {"__builtins__": {}, "min": min, "max": max})

    def holds(self, values: Values) -> bool:
        """For these values of the symbols."""
        try:
            found = self.value(values)
        except ZeroDivisionError:
            return False
        return found == 0 if self.is_zero else found >= 1


class Needs:
    """What a program's shapes ask of its symbols, each thing once."""

    def __init__(self, program: Program) -> None:
        self._of: dict[tuple[Size, bool], Need] = {}
        self.limits = {name: (field["min"], field["max"]) for name, field in program.symbols.items()}
        for value in (*program.inputs, *program.needed()):
            for extent in value.shape:
                self._positive(extent)
            if value.node is not None:
                self._of_node(value)
        self.all = list(self._of.values())

    def _positive(self, extent: Extent) -> None:
        if isinstance(extent, Size) and (extent, False) not in self._of:
            self._of[extent, False] = Need(extent, False)

    def _equal(self, a: Extent, b: Extent) -> None:
        difference = a - b
        if isinstance(difference, Size) and (difference, True) not in self._of:
            self._of[difference, True] = Need(difference, True)

    def _of_node(self, value: Value) -> None:
        node = value.node
        assert node is not None
        read, fields = [one for one in node.inputs if one is not None], node.fields
        if node.op == "slice":
            last = fields["start"] + (fields["count"] - 1) * fields["step"]
            self._positive(read[0].shape[fields["axis"]] - last)
            self._positive(fields["start"] + 1)
        elif node.op == "top_k":
            self._positive(read[0].shape[fields["axis"]] - fields["count"] + 1)
        elif node.op == "pad":
            self._positive(fields["before"] + 1)
            self._positive(fields["after"] + 1)
        elif node.op == "reshape":
            self._equal(product(value.shape), product(read[0].shape))
        elif node.op == "concat":
            for one in read[1:]:
                for axis, pair in enumerate(zip(read[0].shape, one.shape)):
                    if axis != fields["axis"]:
                        self._equal(*pair)
        elif node.op == "matmul":
            a, b = read[0].shape, read[1].shape
            self._equal(a[-2 if fields["transpose_a"] else -1], b[-1 if fields["transpose_b"] else -2])
        elif node.op in ("binary", "where", "expand"):
            for one in read:
                for pair in zip(one.shape[::-1], value.shape[::-1]):
                    if pair[0] != 1:
                        self._equal(*pair)

    # ---- the least that each symbol must be ----

    def raise_limits(self) -> None:
        """Leaves out the values of a symbol for which an expression of it alone is not what it must be, from the least on."""
        for need in self.all:
            if len(need.names) == 1 and not need.is_zero and need.names[0] in self.limits:
                name = need.names[0]
                least, most = self.limits[name]
                end = min(most, least + _MOST_SCANNED)
                found = next((size for size in range(least, end + 1) if need.holds({name: size})), least)
                self.limits[name] = found, most

    # ---- examples ----

    def example(self) -> dict[str, int]:
        """The smallest values that were found, of at least 2 where that is allowed. They may still be refused."""
        values = {name: self._within(name, _USUAL) for name in self.limits}
        for _ in range(len(self.limits) + 2):
            failing = self._failing(values, self.all)
            names = list(dict.fromkeys(name for need in failing for name in need.names))
            if not names:
                break
            better = min((self._solved(values, failing, name) for name in names), key=self._count)
            values = better if self._count(better) < len(failing) else self._tried(values, names)
        return values

    def examples(self) -> Iterable[dict[str, int]]:
        """Values to try, the best first: what the shapes ask for, and then usual sizes, with the first symbol as it is: it is
        the batch, as a rule."""
        first = self.example()
        yield first
        batch = next(iter(self.limits), "")
        for size in _JOINT:
            values = {**{name: self._within(name, size) for name in self.limits}, batch: first[batch]}
            if not self._failing(values, self.all) and values != first:
                yield values

    def _within(self, name: str, size: int) -> int:
        least, most = self.limits[name]
        return min(max(size, least), most)

    def _failing(self, values: Values, needs: Iterable[Need]) -> list[Need]:
        return [need for need in needs if not need.holds(values)]

    def _count(self, values: Values) -> int:
        return len(self._failing(values, self.all))

    def _solved(self, values: dict[str, int], failing: list[Need], name: str) -> dict[str, int]:
        """With the value of one symbol for which the first equation of it holds, where it is linear in it."""
        for need in failing:
            if need.is_zero and name in need.names:
                now = need.value(values)
                slope = need.value({**values, name: values[name] + 1}) - now
                if slope != 0 and now % slope == 0:
                    return {**values, name: self._within(name, values[name] - now // slope)}
        return values

    def _tried(self, values: dict[str, int], names: list[str]) -> dict[str, int]:
        """With the first of the usual sizes, and of multiples of powers of 2, for which most holds."""
        steps = [{name: self._within(name, size) for name in names} for size in _TRIED]
        for part in (2**power for power in range(1, 11)):
            steps.append({name: self._within(name, -(-values[name] // part) * part) for name in names})
        best = min(({**values, **step} for step in steps), key=lambda one: (self._count(one), sum(one.values())))
        return best if self._count(best) < self._count(values) else values
