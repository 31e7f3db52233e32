# SPDX-License-Identifier: MIT
"""What a model gives in one run: the task's output, hidden states and attention maps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True)
class Outputs:
    """What `Model.forward` gives, in transformers' names. What was not asked for is None."""

    logits: F32
    """The task's output, as of `Model.logits`."""
    hidden_states: tuple[F32, ...] | None
    """[B, n, hidden_size] each: the embedding, what each layer gives, the last one behind the final norm (`Model.hidden`)."""
    attentions: tuple[F32 | None, ...] | None
    """[B, heads, n, n] of each layer: row i has the weights of the values that token i reads. None for a layer without softmax
    attention. A band's have zeros outside; those of an fmmformer are the near field's."""


def of_run(found: Mapping[str, Any], layers: int, outer: tuple[int, ...]) -> Outputs:
    """Of a plan's arrays. Without `outer` axes there is one sequence; with two, each pair has one number, and only that."""
    if not outer:
        found = {name: array[0] for name, array in found.items()}
    logits = found["output"].reshape(outer) if len(outer) == 2 else found["output"]
    hidden = tuple(found[f"hidden_states.{i}"] for i in range(layers + 1)) if "hidden_states.0" in found else None
    maps = tuple(found.get(f"attentions.{i}") for i in range(layers))
    return Outputs(logits, hidden, maps if any(each is not None for each in maps) else None)
