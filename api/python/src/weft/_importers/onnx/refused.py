# SPDX-License-Identifier: MIT
"""Why a node cannot be read."""

from __future__ import annotations


class Refused(Exception):
    """What a row cannot do with these inputs and attributes."""


class Incomplete(Refused):
    """A graph inside a node lacks something, which is noted already."""


class NotNumbers(Refused):
    """Sizes that must be numbers at import, and are not: those that the expression `size` has."""

    def __init__(self, why: str, size: object) -> None:
        super().__init__(why)
        self.size = size


class NotConstant(Refused):
    """An input that must be known at import, and is not."""

    def __init__(self, name: str) -> None:
        super().__init__(f"its input {name} must be a constant")
        self.name = name


_OF_NUMBERS = "how much it gives depends on numbers, and shapes of programs do not"
_OF_TEXTS = "it computes with texts, which a program has none of"
_WHY = {
    "NonMaxSuppression": f"{_OF_NUMBERS}: onnx.utils.extract_model gives what is before it",
    **dict.fromkeys(("NonZero", "Unique"), _OF_NUMBERS),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"), _OF_TEXTS),
    "ImageDecoder": "it reads files of pictures",
    **dict.fromkeys(("ai.onnx.ml.CategoryMapper", "ai.onnx.ml.DictVectorizer", "ai.onnx.ml.CastMap"), _OF_TEXTS),
}


def no_row(name: str) -> str:
    """Why an op type is none that a program could have, or that it is just not there."""
    return _WHY.get(name, "there is no such op")
