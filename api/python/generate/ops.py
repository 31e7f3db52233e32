# SPDX-License-Identifier: MIT
"""The text of weft/ops.py: a function for every op and mixer of the C headers, under its name there."""

from __future__ import annotations

import keyword
import re
import textwrap

from declarations import Declarations, Enum, Field, Function, Struct

WIDTH = 116

# Graph has methods in their place.
METHODS = {"weft_graph_input", "weft_graph_weight", "weft_graph_output", "weft_graph_add", "weft_graph_create",
           "weft_graph_destroy", "weft_graph_get_tensor", "weft_graph_save"}

ERRORS = {"INVALID_ARGUMENT": "InvalidArgument", "SHAPE_MISMATCH": "ShapeMismatch", "UNSUPPORTED": "Unsupported",
          "NOT_FOUND": "NotFound"}

NUMBERS = {"uint32_t": "int", "uint64_t": "int", "int32_t": "int", "size_t": "int", "float": "float", "double": "float",
           "bool": "bool"}

HEAD = '''# SPDX-License-Identifier: MIT
"""Every op and mixer of Weft, made from its C headers: generate/ops.py of api/python wrote this file.

A function adds its op to the graph of its first tensor and gives the result. An array in place of a tensor (NumPy's,
PyTorch's, or anything with DLPack or the buffer protocol) becomes a weight of the graph. Parameters that are left out
have the C library's defaults.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

from . import _build
from .graph import Operand, Tensor
'''


def python_name(name: str) -> str:
    """lambda → lambda_"""
    return name + "_" if keyword.iskeyword(name) else name


def plural(name: str) -> str:
    """axis → axes"""
    return "axes" if name == "axis" else name + "s"


def camel(name: str) -> str:
    """weft_rpe_params → RpeParams"""
    return "".join(part.capitalize() for part in name.removeprefix("weft_").split("_"))


def python_text(text: str) -> str:
    """A comment of C, with Python's names."""
    text = re.sub(r"weft_graph_(\w+)", r"\1", text)
    text = re.sub(r"weft_(\w+)_params\.", "", text)
    text = text.replace("with params null", "without parameters")
    text = re.sub(r"\bparams may be null(: )?", lambda match: "without parameters: " if match[1] else "", text)
    text = re.sub(r"weft_features_(\w+)", r"features.\1", text)
    text = text.replace("weft_plan_execute", "Plan")
    text = re.sub(r"WEFT_([A-Z][A-Z0-9_]*)", lambda match: ERRORS.get(match[1], match[1]), text)
    text = text.replace("\\", "\\\\")
    return re.sub(r"\s+\.(?=\s|$)", "", re.sub(r"[ \t]+\n", "\n", text)).strip()


def paragraphs(text: str, indent: str) -> list[str]:
    """Wrapped; what is set off by spaces stays as it is."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", python_text(text)):
        if any(line.startswith("  ") for line in block.split("\n")):
            lines += [indent + line for line in block.split("\n")]
        else:
            lines += textwrap.wrap(" ".join(block.split()), WIDTH, initial_indent=indent, subsequent_indent=indent,
                                   break_long_words=False, break_on_hyphens=False)
        lines.append("")
    return lines[:-1]


def described(name: str, text: str, indent: str) -> list[str]:
    """name: text, with what follows the first line set in."""
    words = " ".join(python_text(text).split())
    return textwrap.wrap(f"{name}: {words}", WIDTH, initial_indent=indent, subsequent_indent=indent + "    ",
                         break_long_words=False, break_on_hyphens=False)


class Writer:
    """Types and functions, in the order in which they need one another."""

    def __init__(self, found: Declarations) -> None:
        self.found = found
        self.lines: list[str] = []
        self.done: set[str] = set()
        self.exported: list[str] = []

    # ---- types ----

    def literal(self, enum: Enum) -> str:
        name = camel(enum.name)
        if enum.name not in self.done:
            self.done.add(enum.name)
            self.exported.append(name)
            words = ", ".join(f'"{word}"' for word in enum.words())
            text = f"{name} = Literal[{words}]"
            self.lines += ["", *textwrap.wrap(text, WIDTH, subsequent_indent=" " * (len(name) + 11))]
            self.lines += ['"""' + "\n".join(paragraphs(enum.doc or f"Values of {name}.", "")).rstrip() + '"""']
        return name

    def counts(self, struct: Struct) -> set[str]:
        """Fields that say how many elements another one has: those are a sequence's length in Python."""
        names = {field.name for field in struct.fields}
        return {name for name in names if name.endswith("_count") and plural(name.removesuffix("_count")) in names}

    def annotation(self, field: Field) -> tuple[str, str]:
        """Type and default of a member of a struct."""
        if field.type == "weft_tensor":
            return ("Sequence[Operand | None]", "()") if field.array else ("Operand | None", "None")
        if field.type in self.found.enums:
            name = self.literal(self.found.enums[field.type])
            return name, f'"{self.found.enums[field.type].words()[0]}"'
        if field.type == "char":
            return "str", '""'
        if field.type in self.found.structs:
            name = self.dataclass(self.found.structs[field.type])
            if field.name.endswith("s") and field.name not in ("params",):
                return f"Sequence[{name}]", "()"
            return f"{name} | None", "None"
        number = NUMBERS[field.type]
        if field.array:
            return f"Sequence[{number}]", "()"
        return number, {"int": "0", "float": "0.0", "bool": "False"}[number]

    def members(self, struct: Struct) -> list[tuple[Field, str, str]]:
        skipped = self.counts(struct)
        return [(field, *self.annotation(field)) for field in struct.fields if field.name not in skipped]

    def dataclass(self, struct: Struct) -> str:
        name = camel(struct.name)
        if struct.name in self.done:
            return name
        self.done.add(struct.name)
        self.exported.append(name)
        members = self.members(struct)
        lines = ["", "", "@dataclasses.dataclass(frozen=True)", f"class {name}:"]
        doc = paragraphs(struct.doc or f"Parameters: {struct.name} of the C headers.", "    ")
        lines += ['    """' + "\n".join(doc).strip()]
        told = [described(field.name, field.doc, "        ") for field, _, _ in members if field.doc]
        if told:
            lines += ["", *[line for lines in told for line in lines]]
        lines += ['    """', ""]
        lines += [f"    {field.name}: {annotation} = {default}" for field, annotation, default in members]
        self.lines += lines
        return name

    # ---- functions ----

    def function(self, function: Function) -> None:
        name = function.name.removeprefix("weft_graph_")
        several = function.parameters[0].array
        *operands, last = function.parameters[2:]
        params = last if last.name == "params" else None
        if not params:
            operands.append(last)
        counted = {field.name.removesuffix("_count") + "s" for field in operands if field.name.endswith("_count")}
        operands = [field for field in operands if field.name.removesuffix("_count") + "s" not in counted]
        signature = [self.parameter(function, field) for field in operands]
        given = {field.name: python_name(field.name) for field in operands}
        struct = self.found.structs[params.type] if params else None
        members = self.members(struct) if struct else []
        if members:
            signature.append("*")
            signature += [f"{field.name}: {annotation} = {default}" for field, annotation, default in members]
        self.exported.append(name)
        result = "list[Tensor]" if several else "Tensor"
        self.lines += ["", "", *self.heading(name, signature, result)]
        doc = paragraphs(function.doc or f"{name} of the C headers.", "    ")
        self.lines += ['    """' + "\n".join(doc).strip()]
        told = [described(field.name, field.doc, "        ") for field, _, _ in members if field.doc]
        if told:
            self.lines += ["", *[line for lines in told for line in lines]]
        self.lines += ['    """']
        self.lines += self.body(function, given, members, int(several or 0))

    def parameter(self, function: Function, field: Field) -> str:
        if field.type == "weft_tensor":
            if field.pointers:
                return f"{field.name}: Sequence[Operand]"
            if not self.may_be_none(function, field.name):
                return f"{field.name}: Operand"
            last = field.name == function.parameters[-1].name or function.parameters[-1].name == "params"
            return f"{field.name}: Operand | None" + (" = None" if last else "")
        if field.type in self.found.enums:
            return f"{field.name}: {self.literal(self.found.enums[field.type])}"
        if field.type == "weft_shape":
            return f"{field.name}: Sequence[int]"
        if field.type in self.found.structs:
            return f"{field.name}: {self.dataclass(self.found.structs[field.type])}"
        return f"{python_name(field.name)}: {NUMBERS[field.type]}"

    def may_be_none(self, function: Function, operand: str) -> bool:
        """Whether the comment says that an operand can be left out. Only one behind the others can."""
        last = [field.name for field in function.parameters if field.type == "weft_tensor"][-1]
        said = rf"\b{operand}\b[^.;]*\bor none\b|from {operand}, or|without a {operand}|`{operand}` or none"
        return operand == last and re.search(said, " ".join(function.doc.split())) is not None

    def heading(self, name: str, signature: list[str], result: str) -> list[str]:
        lines = [f"def {name}("]
        indent = " " * len(lines[0])
        for index, part in enumerate(signature):
            part += f") -> {result}:" if index + 1 == len(signature) else ","
            if lines[-1].endswith("("):
                lines[-1] += part
            elif len(lines[-1]) + 1 + len(part) <= WIDTH:
                lines[-1] += " " + part
            else:
                lines.append(indent + part)
        return lines

    def body(self, function: Function, given: dict[str, str], members: list[tuple[Field, str, str]],
             several: int) -> list[str]:
        lines = self.dictionary("operands", given)
        arguments = f'"{function.name}", operands'
        if members:
            lines += self.dictionary("params", {field.name: field.name for field, _, _ in members})
            arguments += ", params"
        if "with params null" in function.doc or "params may be null: " in function.doc:
            arguments += ", null=True"
        call = f"add({arguments}, count={several})" if several else f"add_one({arguments})"
        return [*lines, f"    return _build.{call}"]

    def dictionary(self, name: str, values: dict[str, str]) -> list[str]:
        text = f"    {name}: dict[str, Any] = {{" + ", ".join(f'"{key}": {value}' for key, value in values.items()) + "}"
        return textwrap.wrap(text, WIDTH, subsequent_indent=" " * (len(name) + 24))


def module(found: Declarations) -> str:
    writer = Writer(found)
    for function in found.functions.values():
        if function.name.startswith("weft_graph_") and function.name not in METHODS:
            writer.function(function)
    exported = ",\n".join(f'    "{name}"' for name in sorted(writer.exported))
    return HEAD + "\n".join(writer.lines) + f"\n\n\n__all__ = [\n{exported},\n]\n"
