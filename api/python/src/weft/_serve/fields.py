# SPDX-License-Identifier: MIT
"""Fields of a request's JSON object: each is read with its type and range, or refused by its name."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NoReturn

from .failure import Failure

_MOST_DIGITS = 25  # more than a whole number of 64 bits has
_SHOWN = 60


def refused(name: str, expected: str, value: Any) -> Failure:
    """A Failure that names the field."""
    found = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else json.dumps(value)[:_SHOWN]
    return Failure(400, f"{name}: expected {expected}, found {found}", param=name)


def _constant(name: str) -> NoReturn:
    raise Failure(400, f"the body is no JSON: {name} is no number of JSON")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise Failure(400, f"expected numbers of at most {_MOST_DIGITS} digits, found one of {len(digits)}")
    return int(digits)


def parsed(body: bytes) -> dict[str, Any]:
    """The object that a body is. Raises a Failure for all that is none."""
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_constant, parse_int=_whole)
    except RecursionError:
        raise Failure(400, "the body is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise Failure(400, f"the body is no UTF-8: {error.reason} at byte {error.start}") from None
    except ValueError as error:
        raise Failure(400, f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise Failure(400, "expected a JSON object as the body")
    return found


def is_text(value: Any) -> bool:
    """Whether a value is a text of whole characters: JSON can write halves of some."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class Fields:
    """An object whose fields are taken one by one. Null is as good as absent. Afterwards `finish` refuses what is left."""

    def __init__(self, values: dict[str, Any], where: str = "") -> None:
        self._left = {name: value for name, value in values.items() if value is not None}
        self._where = where

    def _name(self, name: str) -> str:
        return f"{self._where}{name}"

    def take(self, name: str) -> Any:
        """Whatever it is, or None."""
        return self._left.pop(name, None)

    def need(self, name: str, value: Any) -> Any:
        """The value; a Failure where it is None."""
        if value is None:
            raise Failure(400, f"{self._name(name)}: it is needed, and is missing", param=self._name(name),
                          code="missing_required_parameter")
        return value

    def text(self, name: str) -> str | None:
        """A text."""
        value: str | None = self.take(name)
        if value is not None and not is_text(value):
            raise refused(self._name(name), "a text", value)
        return value

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise refused(self._name(name), "true or false", value)
        return default if value is None else value

    def whole(self, name: str, least: int, most: int) -> int | None:
        """A whole number in a range."""
        value = self.take(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most):
            raise refused(self._name(name), f"a whole number from {least} to {most}", value)
        return value

    def number(self, name: str, least: float, most: float, default: float) -> float:
        """A finite number in a range."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value) or (
                not least <= value <= most):
            raise refused(self._name(name), f"a number from {least:g} to {most:g}", value)
        return float(value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of some texts; the first where it is absent."""
        value = self.take(name)
        if value is not None and value not in choices:
            raise refused(self._name(name), " or ".join(json.dumps(one) for one in choices), value)
        return choices[0] if value is None else value

    def texts(self, name: str, most: int, *, single: bool = True, needed: bool = True) -> list[str]:
        """One text or several, at most so many."""
        value = self.take(name)
        if value is None and not needed:
            return []
        value = self.need(name, value)
        kind = "a text, or a list of texts" if single else "a list of texts"
        several = [value] if single and isinstance(value, str) else value
        if not isinstance(several, list):
            raise refused(self._name(name), kind, value)
        if not several and needed:
            raise Failure(400, f"{self._name(name)}: expected {kind}, found an empty list", param=self._name(name))
        if len(several) > most:
            raise Failure(400, f"{self._name(name)}: expected at most {most} texts, found {len(several)}",
                          param=self._name(name))
        for index, one in enumerate(several):
            if not is_text(one):
                raise refused(self._name(name) + (f"[{index}]" if isinstance(value, list) else ""), "a text", one)
        return several

    def neutral(self, values: dict[str, tuple[Any, ...]]) -> None:
        """Takes fields that Weft does not have, with the values that ask for nothing."""
        for name, harmless in values.items():
            value = self.take(name)
            if value is not None and not any(type(value) is type(one) and value == one for one in harmless):
                raise Failure(400, f"{self._name(name)}: Weft does not have it: leave it out", param=self._name(name),
                              code="unsupported_parameter")

    def finish(self, harmless: Iterable[str] = ()) -> None:
        """Refuses fields that nothing has taken, but those that change no result."""
        for name in self._left:
            if name not in harmless:
                shown = self._name(json.dumps(name)[1:-1][:_SHOWN])
                raise Failure(400, f"{shown}: the request has no such field: leave it out", param=shown,
                              code="unknown_parameter")
