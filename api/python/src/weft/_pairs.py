# SPDX-License-Identifier: MIT
"""Pairs of texts in a folder's chat template, whose texts a language model scores (sentence-transformers' LogitScore)."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING, Any

from . import _checks, _travel, errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Model

_FILLERS = ("0", "1 2 3 4")
"""Contents of which no two have tokens in common, so that what texts of both end with is the template's."""


def template_of(folder: str) -> Any:
    """The template of the folder that a model is loaded from. Raises BadFile where there is none."""
    from ._serve import template

    place = os.path.join(folder, _travel._place(pathlib.Path(folder)))
    found = template.template_of(place)
    if found is None:
        raise errors.BadFile(f"{place}: expected a chat template, as modality_config says that pairs go through one, found "
                             "neither chat_template.jinja nor chat_template in tokenizer_config.json")
    return found


def _tokens(model: Model, query: str, text: str, prompt: str) -> list[int]:
    from ._serve.failure import Failure

    messages = [{"role": "query", "content": query}, {"role": "document", "content": text}]
    if prompt:
        messages.insert(0, {"role": "system", "content": prompt})
    try:
        whole = model._template.text(messages, answers=False)
    except Failure as failure:
        raise errors.InvalidArgument(str(failure)) from None
    found: list[int] = model.encode(whole, max_tokens=_checks.U32).tokens.tolist() if whole else []
    return found


def _end(model: Model, prompt: str) -> list[int]:
    """Tokens that every text ends with, whatever its pair."""
    first, second = (_tokens(model, filler, filler, prompt) for filler in _FILLERS)
    count = 0
    while count < min(len(first), len(second)) and first[-count - 1] == second[-count - 1]:
        count += 1
    return first[len(first) - count:] if count < min(len(first), len(second)) else []


def _check(model: Model, prompt: str) -> None:
    """A template that leaves out a text would score something else."""
    bare = _tokens(model, "", "", prompt)
    for at, role in enumerate(("query", "document")):
        given = ["", ""]
        given[at] = _FILLERS[1]
        if _tokens(model, given[0], given[1], prompt) == bare:
            raise errors.Unsupported(f"the folder's chat template leaves out messages of the role {role}: expected one for "
                                     "pairs, which has those of query and document")


def sequences(model: Model, pairs: Sequence[tuple[str, str]], prompt: str) -> tuple[list[list[int]], list[int]]:
    """The tokens of each pair's text, and which of them are cut: before what every text ends with."""
    _check(model, prompt)
    most = model.info.max_length
    end: list[int] | None = None
    found, cut = [], []
    for index, (query, text) in enumerate(pairs):
        tokens = _tokens(model, query, text, prompt)
        if len(tokens) >= most:  # of a text that just fits, the end is its own
            end = _end(model, prompt)[-most:] if end is None else end
            cut += [index] if len(tokens) > most else []
            tokens = tokens[:most]
            tokens[len(tokens) - len(end):] = end
        found.append(tokens)
    return found, cut
