# SPDX-License-Identifier: MIT
"""Quotients of sizes: what a model computes of them in floats and then rounds to sizes again."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .sizes import Extent, Size, divide, truncated

_MOST_BELOW = 2**10
"""Floats of sizes are exact quotients as long as numbers below the line are so small: 0.1, for one, is not 1 / 10."""


class Inexact(Exception):
    """Arithmetic whose result in floats is no simple quotient."""


@dataclasses.dataclass(frozen=True)
class Ratio:
    """above / below, of which the latter is above 0; at least one of them depends on the symbols, or both are whole."""

    above: Extent
    below: Extent = 1

    def __add__(self, other: Any) -> Ratio:
        other = ratio(other)
        if self.below == other.below:
            return Ratio(self.above + other.above, self.below)
        return Ratio(self.above * other.below + other.above * self.below, self.below * other.below)

    __radd__ = __add__

    def __neg__(self) -> Ratio:
        return Ratio(-self.above, self.below)

    def __sub__(self, other: Any) -> Ratio:
        return self + -ratio(other)

    def __rsub__(self, other: Any) -> Ratio:
        return ratio(other) - self

    def __mul__(self, other: Any) -> Ratio:
        other = ratio(other)
        return Ratio(*_reduced(self.above * other.above, self.below * other.below))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Ratio:
        other = ratio(other)
        if other.above < 0:
            return (-self).__truediv__(-other)
        if not other.above > 0:
            raise Inexact
        return Ratio(*_reduced(self.above * other.below, self.below * other.above))

    def __rtruediv__(self, other: Any) -> Ratio:
        return ratio(other) / self

    def __lt__(self, other: Any) -> bool:
        return bool((self - other).above < 0)

    def __le__(self, other: Any) -> bool:
        return bool((self - other).above <= 0)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    @property
    def number(self) -> float | None:
        """Its value, where it depends on no symbol."""
        above, below = self.above, self.below
        return above / below if isinstance(above, int) and isinstance(below, int) else None

    def floor(self) -> Extent:
        """The next whole number below."""
        return divide(self.above, self.below)

    def ceil(self) -> Extent:
        """The next whole number above."""
        return -divide(-self.above, self.below)

    def truncated(self) -> Extent:
        """The next whole number toward zero."""
        return truncated(self.above, self.below)

    def rounded(self) -> Extent:
        """Itself, where it is whole."""
        if self.below != 1:
            raise Inexact
        return self.above


def ratio(number: Any) -> Ratio:
    """Of a number, a size or a ratio. Raises Inexact for floats that are none."""
    if isinstance(number, Ratio):
        return number
    if isinstance(number, (Size, int)):
        return Ratio(number)
    number = float(number)
    if not math.isfinite(number):
        raise Inexact
    above, below = number.as_integer_ratio()
    if below > _MOST_BELOW:
        raise Inexact
    return Ratio(above, below)


def _reduced(above: Extent, below: Extent) -> tuple[Extent, Extent]:
    """Without what both have."""
    if above == below:
        return 1, 1
    if isinstance(above, int) and isinstance(below, int):
        common = math.gcd(above, below)
        return above // common, below // common
    quotient = divide(above, below)
    if quotient * below == above:
        return quotient, 1
    if isinstance(below, int) and isinstance(above, Size):
        common = math.gcd(below, *(factor for _, factor in above.terms))
        return divide(above, common), below // common
    return above, below
