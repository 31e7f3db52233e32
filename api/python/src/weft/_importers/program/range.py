# SPDX-License-Identifier: MIT
"""How large whole numbers may be that a program is given, so that those of 64 bits that it computes of them fit in its 32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from ... import errors
from .program import Node, Program, Value
from .sizes import Extent, bounds, product

_LEAST, _MOST = -2**31, 2**31 - 1
_MOST_SIZE = 2**16  # that a size is taken to have
_MOST_SUMMED = 2**20  # elements that a sum is taken to have

Range = Optional[tuple[int, int]]
"""Between which numbers a value is; None: that is not known, such as of a number that was a float."""


class TooLarge(Exception):
    """A number of 64 bits that does not fit."""

    def __init__(self, value: Value) -> None:
        super().__init__(value.name)
        self.value = value


def check_whole_numbers(program: Program) -> None:
    """Notes in the program what whole numbers it may be given. Raises Unsupported where none fit."""
    largest, value = largest_input(program)
    if largest is not None and largest < 1:
        assert value is not None and value.node is not None
        raise errors.Unsupported(f"{value.node.fields.get('kind', value.node.op)}: expected whole numbers that fit in 32 bits, "
                                 "found some of 64 bits that do not")
    program.largest = largest


def largest_input(program: Program) -> tuple[int | None, Value | None]:
    """What the whole numbers among the inputs may be at most, but for a sign, and what would not fit otherwise. None: anything.
    Below 1 where even 0 and 1 are too much."""
    value = _first_too_large(program, _MOST)
    if value is None:
        return None, None
    fits, fails = 0, _MOST
    if _first_too_large(program, 0) is not None:
        return -1, _first_too_large(program, 0)
    while fails - fits > 1:
        middle = (fits + fails) // 2
        found = _first_too_large(program, middle)
        fits, fails, value = (middle, fails, value) if found is None else (fits, middle, found)
    return fits, value


def _first_too_large(program: Program, most: int) -> Value | None:
    found: dict[int, Range] = {id(value): (-most, most) for value in program.inputs if value.dtype == "i32"}
    found.update((id(value), program.bounds[value.name]) for value in program.inputs if value.name in program.bounds)
    try:
        for value in program.needed():
            if value.node is not None and value.dtype == "i32":
                found[id(value)] = _of_value(value, found)
    except TooLarge as error:
        return error.value
    return None


def _of_value(value: Value, found: dict[int, Range]) -> Range:
    node = value.node
    assert node is not None
    read = [_of_read(one, found) for one in node.inputs]
    rule = _RULES.get(node.op)
    exact = rule(node, value, read) if rule is not None else None
    if exact is None or _LEAST <= exact[0] <= exact[1] <= _MOST:
        return exact
    if node.is_int64:
        raise TooLarge(value)
    return None if node.op != "binary" else (_LEAST, _MOST)  # it wraps around, as numbers of 32 bits do


def _of_read(value: Value | None, found: dict[int, Range]) -> Range:
    if value is None or value.dtype != "i32":
        return None
    if value.array is not None:
        return (int(value.array.min()), int(value.array.max())) if value.array.size else None
    return found.get(id(value))


def _size(extent: Extent) -> tuple[int, int]:
    low, high = bounds(extent)
    return max(low, -_MOST_SIZE), min(high, _MOST_SIZE)


def _corners(function: Callable[[int, int], int]) -> Callable[[tuple[int, int], tuple[int, int]], tuple[int, int]]:
    def of(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        numbers = [function(x, y) for x in a for y in b]
        return min(numbers), max(numbers)
    return of


def _of_power(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    size, exponent = max(abs(a[0]), abs(a[1])), max(b[1], 0)
    most: int = size**exponent if exponent < 64 or size < 2 else 2**64
    return (-most if a[0] < 0 else 0), most


def _of_rest(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    most = max(abs(b[0]), abs(b[1]), 1) - 1
    return (-most if b[0] < 0 else 0), most


def _of_quotient(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    most = max(abs(a[0]), abs(a[1]))
    return (0 if a[0] >= 0 and b[0] >= 0 else -most), most


def _of_bits(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    ends = (*a, *b)
    most = 2**max(abs(end).bit_length() for end in ends)
    return (-most if min(ends) < 0 else 0), most - 1


_BINARY: dict[str, Callable[[tuple[int, int], tuple[int, int]], tuple[int, int]]] = {
    "add": _corners(lambda a, b: a + b), "subtract": _corners(lambda a, b: a - b), "multiply": _corners(lambda a, b: a * b),
    "minimum": _corners(min), "maximum": _corners(max), "power": _of_power, "modulo": _of_rest, "divide": _of_quotient,
    "floor_divide": _of_quotient, "bitwise_and": _of_bits, "bitwise_or": _of_bits, "bitwise_xor": _of_bits,
}


def _binary(node: Node, value: Value, read: Sequence[Range]) -> Range:
    kind = node.fields["kind"]
    if kind not in _BINARY:
        return 0, 1
    return None if read[0] is None or read[1] is None else _BINARY[kind](read[0], read[1])


def _unary(node: Node, value: Value, read: Sequence[Range]) -> Range:
    kind, x = node.fields["kind"], read[0]
    if kind in ("logical_not", "is_nan", "is_inf"):
        return 0, 1
    if x is None:
        return None
    size = max(abs(x[0]), abs(x[1]))
    return {"neg": (-x[1], -x[0]), "abs": (0, size), "sign": (-1, 1), "square": (0, size * size),
            "bitwise_not": (-x[1] - 1, -x[0] - 1)}.get(kind)


def _union(*read: Range) -> Range:
    known = [one for one in read if one is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(read) else None


def _summed(x: Range, count: Extent) -> Range:
    if x is None:
        return None
    most = min(_size(count)[1], _MOST_SUMMED) if not isinstance(count, int) else count
    return min(x[0], x[0] * most), max(x[1], x[1] * most)


def _reduce(node: Node, value: Value, read: Sequence[Range]) -> Range:
    x, source = read[0], node.inputs[0]
    assert source is not None
    if node.fields["kind"] == "sum":
        return _summed(x, product(source.shape[axis] for axis in node.fields["axes"]))
    if node.fields["kind"] in ("max", "min"):
        return x
    if x is None or node.fields["kind"] != "product":
        return None
    size = max(abs(x[0]), abs(x[1]))
    count = _size(product(source.shape[axis] for axis in node.fields["axes"]))[1]
    most: int = size**count if count < 64 or size < 2 else 2**64
    return -most, most


def _arange(node: Node, value: Value, read: Sequence[Range]) -> Range:
    starts, steps, count = _size(node.fields["start"]), _size(node.fields["step"]), _size(node.fields["count"])[1]
    ends = [start + step * max(count - 1, 0) for start in starts for step in steps]
    return min(*starts, *ends), max(*starts, *ends)


def _full(node: Node, value: Value, read: Sequence[Range]) -> Range:
    given: Extent | float = node.fields["value"]
    return None if isinstance(given, float) else (given, given) if isinstance(given, int) else _size(given)


_RULES: dict[str, Callable[[Node, Value, Sequence[Range]], Range]] = {
    "binary": _binary, "unary": _unary, "reduce": _reduce, "arange": _arange, "full": _full,
    "where": lambda node, value, read: _union(*read[1:]), "concat": lambda node, value, read: _union(*read),
    "pad": lambda node, value, read: _union(read[0], (int(node.fields["value"]), int(node.fields["value"]))),
    "cumsum": lambda node, value, read: _summed(read[0], value.shape[node.fields["axis"]]),
    **dict.fromkeys(("reshape", "permute", "slice", "expand", "take", "take_along"), lambda node, value, read: read[0]),
}
"""Between which numbers a node's result is, by those that it reads."""
