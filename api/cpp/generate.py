# SPDX-License-Identifier: MIT
"""Writes the C++ headers weft/weft.hpp and weft/vulkan.hpp from the C headers.

    generate.py INCLUDE [OUTPUT]

INCLUDE is the folder with weft/weft.h; OUTPUT, INCLUDE if it is left out, gets weft/weft.hpp and weft/vulkan.hpp. What no
rule can make is in weft.hpp.in beside this file, where `//@ class NOUN` … `//@ end` has the members of a class that are
written by hand. A function that neither has a rule nor stands there nor in WITHOUT is an error.
"""

from __future__ import annotations

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python" / "generate"))

import declarations  # noqa: E402
from declarations import Declarations, Field, Function  # noqa: E402

WIDTH = 100

# Functions, or what their names begin with, that have no counterpart in C++, and why.
WITHOUT = {
    "weft_node_": "is called by the callbacks of an op, which are C functions and get C handles",
    "weft_expect_": "is called by the callbacks of an op, which are C functions and get C handles",
    "weft_lower_": "is called by the callbacks of an op, which are C functions and get C handles",
}

# Structs and enums that have another name in C++, or none.
NOT_ALIASED = {"weft_status", "weft_job_system"}

# Where null parameters are an error in C, there is no call without them.
NEEDS_PARAMS = {"weft_graph_embedding", "weft_graph_batch_norm", "weft_graph_norm", "weft_graph_project_qkv",
                "weft_graph_dgm_weights", "weft_graph_gtu", "weft_graph_ski_toeplitz", "weft_model_encode",
                "weft_model_set_embedding", "weft_texts_run", "weft_texts_rank"}

NUMBERS = {"uint8_t", "uint32_t", "uint64_t", "int32_t", "size_t", "float", "double", "bool", "char", "weft_external_handle"}


class Unknown(Exception):
    """A function of a form that no rule here has."""


class Writer:
    """The parts of both headers."""

    def __init__(self, found: Declarations, by_hand: str, headers: dict[str, str]) -> None:
        self.found = found
        self.headers = headers  # of each function
        self.handles = [name.removesuffix("_destroy").removeprefix("weft_")
                        for name in found.functions if name.endswith("_destroy")]
        self.members = dict(re.findall(r"^//@ class (\w+)\n(.*?)^//@ end\n", by_hand, flags=re.S | re.M))
        self.by_hand = set(re.findall(r"\b(weft_\w+)\(", re.sub(r"/\*.*?\*/", "", by_hand, flags=re.S)))
        self.declared: dict[str, list[str]] = {noun: [] for noun in self.handles}
        self.defined: list[str] = []
        self.free: list[str] = []
        self.vulkan: list[str] = []

    # ---- types ----

    def noun(self, type_name: str) -> str | None:
        """device, of weft_device"""
        short = type_name.removeprefix("weft_")
        return short if short in self.handles else None

    def type(self, name: str) -> str:
        return f"::{name}" if name.startswith("weft_") else name

    def is_plain(self, name: str) -> bool:
        return name in NUMBERS or name in self.found.structs or name in self.found.enums

    def parameter(self, field: Field, following: Field | None) -> tuple[str, list[str], bool]:
        """Declaration in C++, arguments for C, and whether it takes the place of the following one, too."""
        const = field.text.startswith("const ")
        if field.array:
            raise Unknown(f"an array, {field.text}")
        if field.pointers == 0:
            if field.type == "weft_tensor":
                return f"const operand &{field.name}", [f"{field.name}.tensor()"], False
            return f"{self.type(field.type)} {field.name}", [field.name], False
        if field.pointers != 1:
            raise Unknown(f"{field.text}")
        noun = self.noun(field.type)
        if noun:
            return f"{'const ' if const else ''}weft::{noun} &{field.name}", [f"{field.name}.get()"], False
        if field.type == "char" and const:
            if following and following.type == "size_t" and following.pointers == 0:
                return f"std::string_view {field.name}", [f"{field.name}.data()", f"{field.name}.size()"], True
            return f"const char *{field.name}", [field.name], False
        if field.type == "weft_host":
            return f"const ::weft_host *{field.name} = nullptr", [field.name], False
        counted = following and re.fullmatch(r"(\w+_)?count", following.name) and following.pointers == 0
        if counted and const and (field.type in NUMBERS or field.type in self.found.structs):
            cast = f"static_cast<{following.type}>({field.name}.size())"
            return f"span<const {self.type(field.type)}> {field.name}", [f"{field.name}.data()", cast], True
        if field.type in self.found.structs:
            return f"{'const ' if const else ''}{self.type(field.type)} &{field.name}", [f"&{field.name}"], False
        if field.type in NUMBERS or field.type == "void" or not field.type.startswith("weft_"):
            return f"{'const ' if const else ''}{self.type(field.type)} *{field.name}", [field.name], False
        raise Unknown(f"{field.text}")

    # ---- functions ----

    def function(self, function: Function) -> None:
        name = function.name
        if name in self.by_hand or name.endswith("_destroy") or self.reason(name):
            return
        parameters = list(function.parameters)
        out, result, unwrap = self.take_out(function, parameters)
        noun = self.owner(name, parameters)
        short = self.short(name, noun)
        own = None
        if noun:
            own = next((field for field in parameters if field.type == f"weft_{noun}" and field.pointers == 1), None)
            if own:
                parameters.remove(own)
        optional = (parameters and parameters[-1].name == "params" and parameters[-1].pointers == 1
                    and name not in NEEDS_PARAMS and noun in ("graph", "plan", "model", "decoder", "device", "texts"))
        for without in ([False, True] if optional else [False]):
            self.one(function, noun, short, own, parameters, out, result, unwrap, without)

    def reason(self, name: str) -> str | None:
        return next((why for start, why in WITHOUT.items() if name.startswith(start)), None)

    def owner(self, name: str, parameters: list[Field]) -> str | None:
        """The class: the longest noun that the name begins with, unless the function belongs to Vulkan's header."""
        if self.headers[name] == "vulkan.h":
            return None
        rest = name.removeprefix("weft_")
        nouns = [noun for noun in self.handles if rest.startswith(noun + "_")]
        noun = max(nouns, key=len, default=None)
        # weft_device_type_name is of weft_device_type.
        if noun and not any(self.noun(field.type) == noun for field in self.found.functions[name].parameters):
            return None
        return noun

    def short(self, name: str, noun: str | None) -> str:
        rest = name.removeprefix("weft_")
        if noun:
            return rest.removeprefix(noun + "_").removeprefix("get_")
        return rest.removeprefix("vulkan_")

    def take_out(self, function: Function, parameters: list[Field]) -> tuple[Field | None, str, str]:
        """The out-parameter, removed; the C++ result; and how its value is made of the C variable `made`."""
        if function.result != "weft_status":
            result = re.sub(r"\bweft_", "::weft_", function.result)
            return None, result, ""
        if parameters:
            first, last = parameters[0], parameters[-1]
            noun = self.noun(first.type)
            if noun and first.pointers == 2:
                parameters.remove(first)
                return first, f"result<weft::{noun}>", f"weft::{noun}(made)"
            if first.type == "char" and first.pointers == 2 and first.text.startswith("const "):
                parameters.remove(first)
                return first, "result<const char *>", "made"
            if first.type == "weft_tensor" and first.array:
                parameters.remove(first)
                return first, f"result<std::array<::weft_tensor, {first.array}>>", "made"
            if first.pointers == 1 and first.name in ("out", "token") and first.type in ("weft_tensor", "uint32_t"):
                parameters.remove(first)
                return first, f"result<{self.type(first.type)}>", "made"
            mutable = not last.text.startswith("const ")
            text = last.type == "char" and last.pointers == 2
            if (last.pointers == 1 and mutable and self.is_plain(last.type) and last.name != "cursor"
                    and last.name in ("info", "stats", "ticket", "done", "structure", "handle")) or text:
                parameters.remove(last)
                type_name = "const char *" if text else self.type(last.type)
                return last, f"result<{type_name}>", "made"
        return None, "status", ""

    def one(self, function: Function, noun: str | None, short: str, own: Field | None, parameters: list[Field],
            out: Field | None, result: str, unwrap: str, without: bool) -> None:
        taken, arguments, operands = [], {}, []
        skip = False
        for index, field in enumerate(parameters):
            if skip:
                skip = False
                continue
            if without and field.name == "params":
                arguments[field.name] = ["nullptr"]
                continue
            following = parameters[index + 1] if index + 1 < len(parameters) else None
            text, values, skip = self.parameter(field, following)
            taken.append(text)
            arguments[field.name] = values
            if skip:
                assert following
                arguments[following.name] = []
            if text.startswith("const operand"):
                operands.append(field.name)
        call = []
        for field in function.parameters:
            if field is out:
                call.append("made.data()" if out.array else "&made")
            elif field is own:
                call.append("get()")
            else:
                call += arguments[field.name]
        self.write(function, noun, short, own, taken, call, operands, out, result, unwrap)

    def write(self, function: Function, noun: str | None, short: str, own: Field | None, taken: list[str],
              call: list[str], operands: list[str], out: Field | None, result: str, unwrap: str) -> None:
        const = " const" if own and own.text.startswith("const ") else ""
        discard = "[[nodiscard]] " if result not in ("void", "status") and not result.startswith("result<") else ""
        static = "static " if noun and not own else ""
        plain = [re.sub(r" = nullptr$", "", text) for text in taken]
        said = f"/** {function.name} of weft/{self.headers[function.name]}. */"
        star = "" if result.endswith("*") else " "
        body = self.body(function, call, operands, out, result, unwrap)
        if noun:
            self.declared[noun] += [f"    {said}"] if f"    {said}" not in self.declared[noun] else []
            self.declared[noun] += wrapped(f"    {discard}{static}{result}{star}{short}(", taken, f"){const} noexcept;")
            self.defined += ["", *wrapped(f"inline {result}{star}{noun}::{short}(", plain, f"){const} noexcept {{"),
                             *body, "}"]
        else:
            lines = self.vulkan if self.headers[function.name] == "vulkan.h" else self.free
            lines += ["", said, *wrapped(f"{discard}inline {result}{star}{short}(", taken, ") noexcept {"), *body, "}"]

    def body(self, function: Function, call: list[str], operands: list[str], out: Field | None, result: str,
             unwrap: str) -> list[str]:
        lines = []
        if operands:
            lines += wrapped("    if (const weft_status code = error_of(", operands, "); code != WEFT_OK) {")
            lines += ["        return code;", "    }"]
        if not out:
            start = "    " if function.result == "void" else "    return "
            return lines + wrapped(f"{start}{function.name}(", call, ");")
        type_name = re.sub(r"^result<(.*)>$", r"\1", result)
        if self.noun(out.type):
            lines.append(f"    ::{out.type} *made = nullptr;")
        else:
            lines.append(f"    {type_name}{'' if type_name.endswith('*') else ' '}made{{}};")
        lines += wrapped(f"    const weft_status code = {function.name}(", call, ");")
        return lines + ["    if (code != WEFT_OK) {", "        return code;", "    }", f"    return {unwrap};"]

    # ---- the text ----

    def classes(self, of_vulkan: bool) -> list[str]:
        lines = []
        for noun in self.handles:
            if (self.headers[f"weft_{noun}_destroy"] == "vulkan.h") != of_vulkan:
                continue
            lines += ["", f"/** Owns a weft_{noun}: what it is, and what threads may do with it, is said there. */",
                      f"class {noun} : public handle<::weft_{noun}, weft_{noun}_destroy> {{", "  public:",
                      "    using handle::handle;", ""]
            lines += self.declared[noun]
            if noun in self.members:
                lines += ["", self.members[noun].rstrip("\n")]
            lines += ["};"]
        return lines

    def aliases(self, names: list[str]) -> list[str]:
        hidden = NOT_ALIASED | {f"weft_{noun}" for noun in self.handles}
        return [f"using {name.removeprefix('weft_')} = ::{name};" for name in names if name not in hidden]


def wrapped(start: str, parts: list[str], end: str) -> list[str]:
    """start, the parts with commas between, and end, in lines that are set in behind start."""
    lines, indent = [start], " " * len(start)
    if len(start) > 60:
        indent = " " * (len(start) - len(start.lstrip()) + 4)
    for index, part in enumerate(parts):
        part += end if index + 1 == len(parts) else ","
        gap = "" if lines[-1].endswith("(") or not lines[-1].strip() else " "
        if len(lines[-1]) + len(gap) + len(part) <= WIDTH:
            lines[-1] += gap + part
        else:
            lines.append(indent + part)
    if not parts:
        lines[-1] += end
    return lines


def read(include: pathlib.Path, headers: tuple[str, ...]) -> tuple[Declarations, dict[str, str]]:
    """What the headers declare, and which declares which function."""
    found = declarations.read(include, headers)
    where = {}
    for header in headers:
        text = (include / "weft" / header).read_text()
        for name in re.findall(r"\b(weft_\w+)\(", re.sub(r"/\*.*?\*/|^#.*?(?<!\\)$", "", text, flags=re.S | re.M)):
            where.setdefault(name, header)
    return found, where


def fill(template: str, values: dict[str, list[str]]) -> str:
    for name, lines in values.items():
        template = template.replace(f"@{name}@\n", "\n".join(lines).strip("\n") + "\n")
    return template


def main(include: pathlib.Path, output: pathlib.Path) -> None:
    here = pathlib.Path(__file__).resolve().parent
    template, vulkan = ((here / name).read_text() for name in ("weft.hpp.in", "vulkan.hpp.in"))
    found, where = read(include, (*declarations.HEADERS, "vulkan.h"))
    base = (here.parent / "include" / "weft" / "base.hpp").read_text()
    writer = Writer(found, template + vulkan + base, where)
    unknown = [f"{name} of weft.hpp.in is no function of the C headers"
               for name in sorted(writer.by_hand) if name not in found.functions]
    for function in found.functions.values():
        try:
            writer.function(function)
        except Unknown as form:
            unknown.append(f"{function.name}: there is no rule for {form}")
    if unknown:
        sys.exit("generate.py: " + "\n".join(unknown) + "\nWrite it by hand in weft.hpp.in, or give a reason in WITHOUT.")
    names = [*found.enums, *found.structs]
    of_vulkan = re.findall(r"typedef (?:struct|enum) (\w+) \{", (include / "weft" / "vulkan.h").read_text())
    text = re.sub(r"^//@ class .*?^//@ end\n", "", template, flags=re.S | re.M)
    headers = {
        "weft.hpp": fill(text, {
            "aliases": writer.aliases([name for name in names if name not in of_vulkan]),
            "forward": [f"class {noun};" for noun in writer.handles],
            "classes": writer.classes(False), "members": writer.defined, "functions": writer.free}),
        "vulkan.hpp": fill(vulkan, {"classes": writer.classes(True), "aliases": writer.aliases(of_vulkan), "functions": writer.vulkan})}
    code = re.sub(r"/\*.*?\*/", "", "".join(headers.values()) + base, flags=re.S)
    missing = [name for name in found.functions if not writer.reason(name) and not re.search(rf"\b{name}\b", code)]
    if missing:
        sys.exit("generate.py: these functions are nowhere in the C++ headers: " + ", ".join(missing))
    (output / "weft").mkdir(parents=True, exist_ok=True)
    for name, content in headers.items():
        (output / "weft" / name).write_text(content)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[-1]))
