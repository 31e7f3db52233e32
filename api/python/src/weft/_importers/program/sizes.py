# SPDX-License-Identifier: MIT
"""Sizes of axes that are known when a program is built: whole numbers, or polynomials over its symbols."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Union

Extent = Union[int, "Size"]
"""A size: a number, or an expression that is none before the symbols have values."""


class _Atom(NamedTuple):
    """A symbol, or an expression that is no polynomial, with the values that it can have."""

    text: str
    low: int
    high: int
    quotient: tuple[Any, int] | None = None
    """Of a // b with a number b above 0: the two."""


_Monomial = tuple[_Atom, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Size:
    """A sum of products of atoms, never a plain number. Equal sizes have equal terms."""

    terms: tuple[tuple[_Monomial, int], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    def __add__(self, other: Any) -> Extent:
        return _sum([*self.terms, *_terms(other)])

    __radd__ = __add__

    def __neg__(self) -> Extent:
        return self * -1

    def __sub__(self, other: Any) -> Extent:
        return _difference(self, other)

    def __rsub__(self, other: Any) -> Extent:
        return _difference(other, self)

    def __mul__(self, other: Any) -> Extent:
        return _sum((tuple(sorted(a + b)), n * m) for a, n in self.terms for b, m in _terms(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Extent:
        return divide(self, other)

    def __rfloordiv__(self, other: Any) -> Extent:
        return divide(other, self)

    def __mod__(self, other: Any) -> Extent:
        return _difference(self, other * divide(self, other))

    def __rmod__(self, other: Any) -> Extent:
        return _difference(other, self * divide(other, self))

    def __str__(self) -> str:
        parts = [_term_text(monomial, factor) for monomial, factor in self.terms]
        return " + ".join(parts).replace("+ -", "- ")

    __repr__ = __str__

    def __bool__(self) -> bool:
        return decided(self, lambda low, high: False if low == high == 0 else True if low > 0 or high < 0 else None)

    def __lt__(self, other: Any) -> bool:
        return decided(self - other, lambda low, high: True if high < 0 else False if low >= 0 else None)

    def __le__(self, other: Any) -> bool:
        return decided(self - other, lambda low, high: True if high <= 0 else False if low > 0 else None)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other


class Undecided(Exception):
    """A comparison whose answer depends on the symbols."""

    def __init__(self, size: Extent) -> None:
        super().__init__(f"{size} depends on the sizes of the inputs")
        self.size = size


def symbol(name: str, low: int, high: int) -> Size:
    """A symbol with the values that it can have."""
    return Size(((((_Atom(name, low, high),)), 1),))


def decided(size: Extent, answer: Callable[[int, int], bool | None]) -> bool:
    """What `answer` makes of the size's bounds. Raises Undecided where it makes nothing."""
    found = answer(*bounds(size))
    if found is None:
        raise Undecided(size)
    return found


def bounds(size: Extent) -> tuple[int, int]:
    """Values between which a size is; they need not be reached."""
    low = high = 0
    for monomial, factor in _terms(size):
        least = most = 1
        for atom in monomial:
            corners = [a * b for a in (least, most) for b in (atom.low, atom.high)]
            least, most = min(corners), max(corners)
        low += min(factor * least, factor * most)
        high += max(factor * least, factor * most)
    without = _without_quotient(size)
    return (low, high) if without is None else (max(low, without[0]), min(high, without[1]))


def _without_quotient(size: Extent) -> tuple[int, int] | None:
    """The bounds by b · (a // b) = a - a % b, which is near a: of fill up to a multiple, say."""
    for monomial, factor in _terms(size):
        quotient = monomial[0].quotient if len(monomial) == 1 else None
        if quotient is not None and factor % quotient[1] == 0:
            a, b = quotient
            times = factor // b
            low, high = bounds(_sum([*_terms(_difference(size, _sum([(monomial, factor)]))), *_terms(a * times)]))
            rest = times * (b - 1)
            return low - max(rest, 0), high - min(rest, 0)
    return None


def divide(a: Extent, b: Extent) -> Extent:
    """The quotient, rounded down."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    divisor = _terms(b)
    if len(divisor) == 1:
        quotient = [_term_over(term, divisor[0]) for term in _terms(a)]
        if all(term is not None for term in quotient):
            return _sum(term for term in quotient if term is not None)
    if a == b:
        return 1
    low, high = bounds(a)
    least, most = bounds(b)
    if least <= 0:
        return _atom(f"({a}) // ({b})", -abs(high) - abs(low), abs(high) + abs(low))
    if isinstance(b, int) and isinstance(a, Size):  # what b divides comes out of the quotient
        whole = _sum((monomial, factor // b * b) for monomial, factor in a.terms)
        if whole != 0:
            return divide(whole, b) + divide(a - whole, b)
    corners = [x // y for x in (low, high) for y in (least, most)]
    if min(corners) == max(corners):
        return min(corners)
    return _atom(f"({a}) // ({b})", min(corners), max(corners), (a, b) if isinstance(b, int) else None)


def equal(a: Any, b: Any) -> Any:
    """Whether two sizes, or whatever else, are equal. Raises Undecided where that depends on the symbols."""
    if not isinstance(a, Size) and not isinstance(b, Size):
        return a == b
    return decided(_difference(a, b), lambda low, high: True if low == high == 0 else False if low > 0 or high < 0 else None)


def truncated(a: Extent, b: Extent) -> Extent:
    """The quotient, rounded toward zero, as C and ONNX have it. Raises Undecided where the sign of b depends on the symbols."""
    if b == 0:
        raise ZeroDivisionError("division of a size by zero")
    if b < 0:
        a, b = -a, -b
    if a >= 0 if isinstance(a, int) else bounds(a)[0] >= 0:
        return divide(a, b)
    return divide(larger(a, 0), b) - divide(larger(-a, 0), b)


def is_below_zero(size: Any) -> bool:
    """Whether it is for all values of the symbols."""
    return bounds(size)[1] < 0 if isinstance(size, Size) else bool(size < 0)


def smaller(a: Extent, b: Extent) -> Extent:
    """The lesser of two."""
    try:
        return a if a <= b else b
    except Undecided:
        low, high = zip(bounds(a), bounds(b))
        return _atom(f"min({a}, {b})", min(low), min(high))


def larger(a: Extent, b: Extent) -> Extent:
    """The greater of two."""
    try:
        return b if a <= b else a
    except Undecided:
        low, high = zip(bounds(a), bounds(b))
        return _atom(f"max({a}, {b})", max(low), max(high))


def product(extents: Iterable[Extent]) -> Extent:
    """Of all of them; 1 of none."""
    result: Extent = 1
    for extent in extents:
        result = result * extent
    return result


def written(size: Extent) -> int | str:
    """As programs have it: a number, or an expression."""
    return str(size) if isinstance(size, Size) else int(size)


def _atom(text: str, low: int, high: int, quotient: tuple[Any, int] | None = None) -> Size:
    return Size((((_Atom(text, low, high, quotient),), 1),))


def _terms(size: Any) -> tuple[tuple[_Monomial, int], ...]:
    if isinstance(size, Size):
        return size.terms
    return (((), int(size)),) if size != 0 else ()


def _sum(terms: Iterable[tuple[_Monomial, int]]) -> Extent:
    found: dict[_Monomial, int] = {}
    for monomial, factor in terms:
        found[monomial] = found.get(monomial, 0) + factor
    left = tuple(sorted(((monomial, factor) for monomial, factor in found.items() if factor != 0),
                        key=lambda term: (-len(term[0]), term)))
    if not left:
        return 0
    if len(left) == 1 and left[0][0] == ():
        return left[0][1]
    return Size(left)


def _difference(a: Any, b: Any) -> Extent:
    return _sum([*_terms(a), *((monomial, -factor) for monomial, factor in _terms(b))])


def _term_over(term: tuple[_Monomial, int], divisor: tuple[_Monomial, int]) -> tuple[_Monomial, int] | None:
    """The quotient of two terms, where it is one."""
    if term[1] % divisor[1] != 0:
        return None
    left = list(term[0])
    for atom in divisor[0]:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left), term[1] // divisor[1]


def _atom_text(atom: _Atom) -> str:
    """As a factor: in parentheses, unless it is a name or a call."""
    return atom.text if atom.text.replace(".", "_").isidentifier() or atom.text[:4] in ("min(", "max(") else f"({atom.text})"


def _term_text(monomial: _Monomial, factor: int) -> str:
    names = [_atom_text(atom) for atom in monomial]
    if not names:
        return str(factor)
    text = " * ".join(names)
    return text if factor == 1 else f"-{text}" if factor == -1 else f"{factor} * {text}"
