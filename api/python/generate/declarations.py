# SPDX-License-Identifier: MIT
"""Reads Weft's C headers: what they declare, and what their comments say of it.

This is no C parser. It knows the few forms that the headers in api/include/weft have, and stops with an error at
anything else.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

# In the order in which they include one another. vulkan.h is for programs that have Vulkan's own handles.
HEADERS = (
    "weft.h", "device.h", "buffer.h", "external.h", "graph.h", "arithmetic.h", "movement.h", "mixers/attention.h",
    "mixers/blocks.h", "mixers/conv.h", "mixers/fourier.h", "features.h", "mixers/kernels.h", "mixers/positions.h",
    "mixers/random_features.h", "mixers/recurrent.h", "mixers/toeplitz.h", "decode.h", "flt.h", "model.h", "generate.h",
    "texts.h", "speech.h", "receipt.h", "inspect.h", "op.h")


@dataclasses.dataclass
class Field:
    """A member of a struct, or a parameter of a function."""

    type: str  # without const and without the stars
    name: str
    pointers: int = 0
    array: str = ""  # the text between brackets
    text: str = ""  # the C declaration
    doc: str = ""


@dataclasses.dataclass
class Struct:
    """A struct with a typedef of its name."""

    name: str
    fields: list[Field]
    doc: str


@dataclasses.dataclass
class Enum:
    """An enum with a typedef of its name."""

    name: str
    values: list[Field]
    doc: str

    def prefix(self) -> str:
        """What all names begin with: "WEFT_ACTIVATION_"."""
        names = [value.name for value in self.values]
        common = names[0]
        for name in names:
            while not name.startswith(common):
                common = common[:-1]
        return common[:common.rfind("_") + 1]

    def words(self) -> list[str]:
        """The names as Python has them: "gelu_tanh". What only counts the others is no name."""
        prefix = self.prefix()
        return [value.name[len(prefix):].lower() for value in self.values if not value.name.endswith("_COUNT")]


@dataclasses.dataclass
class Function:
    """A function of the library."""

    name: str
    result: str
    parameters: list[Field]
    doc: str


@dataclasses.dataclass
class Declarations:
    """All that the headers declare, by name."""

    constants: dict[str, int]
    structs: dict[str, Struct]
    enums: dict[str, Enum]
    functions: dict[str, Function]
    cdef: str  # all of it, for cffi


def _without_conditionals(text: str) -> str:
    """Without the parts for C++, the macros that make structs in place, and what only compilers need."""
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"#ifndef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"#if defined\(WEFT_SHARED\).*?\n#endif\n", "", text, flags=re.S)
    text = re.sub(r"#ifdef __GNUC__\n.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"static inline [^;{]*\{.*?\n\}\n", "", text, flags=re.S)
    return text.replace("WEFT_API ", "")


def _constants(text: str, constants: dict[str, int]) -> str:
    for name, value in re.findall(r"^#define (WEFT_\w+)[ ]+([^\s].*?)(?:/\*.*)?$", text, flags=re.M):
        number = re.sub(r"(?<=\d)[uU]\b", "", value.strip())
        if re.fullmatch(r"\(?\d+( << \d+)?\)?", number):
            constants[name] = int(eval(number))  # digits and a shift, as the line above says
        elif number == "UINT32_MAX":
            constants[name] = 2**32 - 1
    return re.sub(r"^#.*\n", "", text, flags=re.M)


def _comment(text: str) -> str:
    """The words of a comment."""
    inner = re.sub(r"^/\*\*?<?|\*/$", "", text.strip())
    lines = [re.sub(r"^\s*\* ?", "", line) for line in inner.split("\n")]
    return "\n".join(lines).strip()


def _pieces(text: str) -> list[tuple[str, str]]:
    """("doc", comment), ("after", comment behind what it is of) and ("code", rest), in order."""
    pieces = []
    for part in re.split(r"(/\*.*?\*/)", text, flags=re.S):
        if part.startswith("/**<"):
            pieces.append(("after", _comment(part)))
        elif part.startswith("/**"):
            pieces.append(("doc", _comment(part)))
        elif part.startswith("/*"):
            continue
        elif part.strip():
            pieces.append(("code", part))
    return pieces


def _field(text: str) -> Field:
    text = " ".join(text.split())
    if "(*" in text:
        match = re.search(r"\(\*(\w+)\)", text)
        assert match, text
        return Field("function", match[1], 1, "", text)
    match = re.fullmatch(r"(?:const )?(\w+)( const)? ?((?:\* ?(?:const )?)*)(\w+) ?((?:\[[^]]*\])?)", text)
    assert match, f"a declaration of another form than this reader knows: {text}"
    return Field(match[1], match[4], match[3].count("*"), match[5].strip("[]"), text)


def _members(body: str, separator: str) -> list[tuple[str, str]]:
    """(declaration, comment) of each part of a struct or an enum."""
    members: list[tuple[str, str]] = []
    doc, code = "", ""
    for kind, text in _pieces(body):
        if kind == "doc":
            doc = text
        elif kind == "after":
            if code.strip():  # the last of an enum, or a declaration that goes on
                members.append((code, text))
                code = ""
            else:
                members[-1] = (members[-1][0], text)
        else:
            parts = (code + text).split(separator)
            for part in parts[:-1]:
                if part.strip():
                    members.append((part, doc))
                    doc = ""
            code = parts[-1]
    if code.strip():
        members.append((code, doc))
    return members


def _struct(name: str, body: str, doc: str) -> Struct:
    fields = []
    for text, comment in _members(body, ";"):
        first, *others = " ".join(text.split()).split(", ") if "(" not in text else [text]
        field = _field(first)
        fields.append(dataclasses.replace(field, doc=comment))
        fields += [Field(field.type, other, field.pointers, "", "", comment) for other in others]
    return Struct(name, fields, doc)


def _enum(name: str, body: str, doc: str) -> Enum:
    values = [Field("int", text.split("=")[0].strip(), doc=comment) for text, comment in _members(body, ",")]
    return Enum(name, values, doc)


def _function(text: str, doc: str) -> Function:
    match = re.fullmatch(r"(.*?)(\w+)\((.*)\)", " ".join(text.split()))
    assert match, text
    parameters = [] if match[3] == "void" else [
        _field(part) for part in re.split(r", (?![^(]*\))", match[3]) if part != "..."]
    return Function(match[2], match[1].strip(), parameters, doc)


def _statements(text: str) -> list[tuple[str, str]]:
    """(declaration, comment) at the top level. Comments within a declaration stay there."""
    statements = []
    while True:
        text = text.lstrip()
        doc = ""
        while text.startswith("/*"):
            end = text.index("*/") + 2
            doc = _comment(text[:end]) if text.startswith("/**") else ""
            text = text[end:].lstrip()
        if not text:
            return statements
        end = _end_of_statement(text)
        statements.append((text[:end], doc))
        text = text[end + 1:]


def _end_of_statement(text: str) -> int:
    depth = 0
    for match in re.finditer(r"/\*.*?\*/|[{};]", text, flags=re.S):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[0] == ";" and depth == 0:
            return match.start()
    raise ValueError(f"no end of: {text[:80]}")


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def read(include: pathlib.Path, headers: tuple[str, ...] = HEADERS) -> Declarations:
    """What the headers below `include` (with weft/weft.h) declare."""
    found = Declarations({}, {}, {}, {}, "")
    cdef = []
    for header in headers:
        text = _without_conditionals((include / "weft" / header).read_text())
        text = _constants(text, found.constants)
        for statement, doc in _statements(text):
            cdef.append(" ".join(_without_comments(statement).split()) + ";")
            match = re.fullmatch(r"typedef (struct|enum) (\w+) \{(.*)\} (\w+)", statement, flags=re.S)
            if match and match[1] == "struct":
                found.structs[match[4]] = _struct(match[4], match[3], doc)
            elif match:
                found.enums[match[4]] = _enum(match[4], match[3], doc)
            elif not statement.startswith("typedef"):
                function = _function(_without_comments(statement), doc)
                found.functions[function.name] = function
    constants = [f"#define {name} {value}" for name, value in found.constants.items()]
    found.cdef = "\n".join(constants + cdef) + "\n"
    return found
