# SPDX-License-Identifier: MIT
"""A program of an ONNX model, with values of its symbols for which it can be built."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ... import errors
from ...model import model_of_memory
from ...program import Program
from ..program.examples import Needs

if TYPE_CHECKING:
    from ...device import Device
    from .reader import Reader

_MOST_SYMBOLS = 16  # of a program


def tried(reader: Reader, device: Device | None) -> Program:
    """The program that a reader makes. Sizes that the file leaves free are tried with what windows need, then with others."""
    made = reader.read()
    own = {name: reader.ports.own_name(name) for name in made.symbols}
    if len(own) > _MOST_SYMBOLS:
        raise errors.Unsupported(f"the inputs have {len(own)} free axes, {', '.join(own.values())}: expected at most "
                                 f"{_MOST_SYMBOLS}: give numbers for others in `sizes`")
    del reader  # and with it the arrays that no node needs
    needs = Needs(made)
    needs.raise_limits()
    weights, first, tries = made.weights(), None, []
    for values in needs.examples() if own else ({},):
        for name, value in values.items():
            made.symbol(name, *needs.limits[name], value)
        tries.append(", ".join(f"{own[name]} = {value}" for name, value in values.items()))
        try:
            return Program(model_of_memory(json.dumps(made.config()), weights), device)
        except (errors.InvalidArgument, errors.ShapeMismatch, errors.BadFile) as error:
            if not own:
                raise
            first = first or error
    assert first is not None
    example = ", ".join(f"{own[name]!r}: …" for name in own)
    raise type(first)(f"{first}\nThe file leaves sizes free, and none of these gave a program: {'; '.join(tries)}. Give sizes "
                      f"for which it is meant: sizes={{{example}}}") from first
