# SPDX-License-Identifier: MIT
"""Writes, from the C headers, a call of every public function for each of its pointers, for tests/null/null.c.

    generate.py ROOT OUTPUT

ROOT is the repository, OUTPUT the C file. A call takes the index of the parameter that is null, and the number that all
numbers are; structs whose fields are lists are called with a count and no list, too.
"""

from __future__ import annotations

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "api/python/generate"))

import declarations  # noqa: E402

# Parameters that may be null: the headers say so at each function. A parameter `host` always may.
OPTIONAL = {
    "weft_device_list": {"infos"},
    "weft_device_open": {"params"},
    "weft_graph_get_tensor": {"shape", "dtype"},
    "weft_plan_compile": {"params"},
    "weft_plan_get_timings": {"timings"},
    "weft_bindings_get_timings": {"timings"},
    "weft_features_parts": {"permutation"},  # of kinds without one
    "weft_features_expand": {"permutation"},
    "weft_features_square_norms": {"permutation"},
    "weft_graph_reduce": {"params"},
    "weft_model_compile": {"params"},
    "weft_model_compile_lengths": {"params"},
    "weft_model_compile_shape": {"params"},
    "weft_decoder_step": {"logits"},
    "weft_decoder_prompt": {"logits"},
    "weft_decoder_prompt_lengths": {"logits"},
    "weft_lower_table": {"user"},
    "weft_transcriber_create": {"plan"},
} | {f"weft_graph_{op}_step": {"params"} for op in (
    "linear_attention", "kernel_attention", "cosformer", "fast_weight", "banded_attention", "conv1d", "toeplitz", "gated_state",
    "selective_scan")}


def optional(function: declarations.Function, parameter: declarations.Field) -> bool:
    said = re.search(rf"\b{parameter.name}\b( \(| and \w+)? ?may be null", " ".join(function.doc.split()))
    return bool(said) or parameter.name in {"host"} | OPTIONAL.get(function.name, set())


def is_list(function: declarations.Function, parameter: declarations.Field) -> bool:
    """Whether the parameter behind it is the number of what it points to: then null may stand with 0."""
    behind = function.parameters[function.parameters.index(parameter) + 1:][:1]
    counts = {f"{parameter.name}_count", f"{parameter.name[:-1]}_count", f"{parameter.name}_size", "count", "size"}
    return any(other.name in counts and not other.pointers for other in behind)


def is_pointer(parameter: declarations.Field) -> bool:
    return bool(parameter.pointers or parameter.array or parameter.type in ("VkCommandBuffer", "VkQueue", "cl_mem"))


def value(index: int, parameter: declarations.Field, structs: dict[str, declarations.Struct]) -> str:
    """What a call has at this place."""
    if parameter.type == "function":
        given = f'({parameter.text.replace(f"(*{parameter.name})", "(*)")})weft_null_function'
    elif parameter.type == "VkCommandBuffer" or parameter.type == "cl_mem" or parameter.type == "VkQueue":
        given = "weft_null_handle"
    elif parameter.pointers == 2:
        given = f'weft_null_address("{parameter.type}", {index})'
    elif is_pointer(parameter):
        given = f'weft_null_object("{parameter.type}")'
    elif re.fullmatch(r"u?int\d+_t|size_t", parameter.type):
        return f"({parameter.type})number"
    elif parameter.type in ("bool", "float", "double"):
        return "1"
    elif parameter.type in structs or parameter.type in ("weft_tensor", "weft_external_handle"):
        return f"({parameter.type}){{0}}"
    else:
        return f"({parameter.type})1"
    return f"null == {index} ? NULL : {given}"


def call(function: declarations.Function, found: declarations.Declarations) -> str:
    values = [value(i, p, found.structs) for i, p in enumerate(function.parameters)]
    text = f"{function.name}({', '.join(values)})"
    if function.result == "weft_status":
        text = f"return (int)({text});"
    else:
        text = f"(void)({text}); return -1;"
    return (f"static int call_{function.name}(int null, uint64_t number) {{\n"
            f"    (void)null, (void)number;\n    {text}\n}}\n")


def lists_of(struct: declarations.Struct) -> list[tuple[str, str, str]]:
    """(count, its type, list) of a struct: `kernels` and kernel_count, `spirv` and spirv_size."""
    counts = {f.name: f.type for f in struct.fields if not f.pointers and re.search(r"(_count|_size|^count|^size)$", f.name)}
    pairs = []
    for field in struct.fields:
        if not field.pointers:
            continue
        for name in (f"{field.name}_count", f"{field.name[:-1]}_count", f"{field.name}_size", "count", "size"):
            if name in counts:
                pairs.append((name, counts[name], field.name))
                break
    return pairs


def list_calls(function: declarations.Function, found: declarations.Declarations) -> list[tuple[str, str]]:
    """(name, code) of a call for each list in a struct that the function takes."""
    made = []
    for at, parameter in enumerate(function.parameters):
        struct = found.structs.get(parameter.type)
        if parameter.pointers != 1 or not struct or "const" not in parameter.text:
            continue
        for count, kind, name in lists_of(struct):
            values = [value(i, p, found.structs) for i, p in enumerate(function.parameters)]
            values[at] = "&given"
            label = f"{function.name}_{parameter.name}_{name}"
            result = "return (int)" if function.result == "weft_status" else "(void)"
            made.append((label, f"static int list_{label}(int null, uint64_t number) {{\n"
                                f"    {parameter.type} given = {{0}};\n    given.{count} = ({kind})number;\n"
                                f"    (void)null;\n    {result}{function.name}({', '.join(values)});\n"
                                + ("" if function.result == "weft_status" else "    return -1;\n") + "}\n"))
    return made


def row(function: declarations.Function) -> str:
    types = {p.type for p in function.parameters if p.pointers}
    where = "IN_LOWER" if "weft_lowering" in types else "IN_INFER" if "weft_node" in types else "ANYWHERE"
    has_host = any(p.type == "weft_host" or (p.pointers == 1 and p.type in HANDLES) for p in function.parameters)
    parameters = []
    for parameter in function.parameters:
        kind = "NO_POINTER"
        if is_pointer(parameter):
            kind = "OPTIONAL" if optional(function, parameter) else "NEEDED"
            if kind == "NEEDED" and parameter.type not in HANDLES and is_list(function, parameter):
                kind = "LIST"
            if kind == "NEEDED" and (not has_host or (parameter.pointers == 1 and parameter.type in HANDLES)):
                kind = "OBJECT"
        parameters.append(f'{{"{parameter.name}", {kind}}}')
    return (f'    {{"{function.name}", call_{function.name}, {where}, {len(parameters)},\n'
            f"     {{{', '.join(parameters)}}}}},\n")


HANDLES: set[str] = set()  # opaque types, whose objects have a host


def main() -> None:
    found = declarations.read(ROOT / "api/include", declarations.HEADERS + ("vulkan.h", "opencl.h"))
    HANDLES.update(re.findall(r"typedef struct (weft_\w+) \1;", found.cdef))
    HANDLES.remove("weft_semaphore")  # which the processor device cannot make
    functions = [f for f in found.functions.values() if any(is_pointer(p) for p in f.parameters)]
    lists = [made for function in functions for made in list_calls(function, found)]
    text = ["/* Made of the C headers by tests/null/generate.py. */\n", '#include "null.h"\n\n']
    text += [call(function, found) for function in functions]
    text.append("\nconst struct weft_null_call weft_null_calls[] = {\n")
    text += [row(function) for function in functions]
    text.append("    {0}};\n\n")
    text += [code for _, code in lists]
    text.append("\nconst struct weft_null_list weft_null_lists[] = {\n")
    text += [f'    {{"{name}", list_{name}}},\n' for name, _ in lists]
    text.append("    {0}};\n")
    pathlib.Path(sys.argv[2]).write_text("".join(text))


if __name__ == "__main__":
    main()
