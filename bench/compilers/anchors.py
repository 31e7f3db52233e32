#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Others' shaders on the same compilers, beside ours (./dev gpus --anchors GGML NCNN); nothing of theirs is kept here.

anchors.py modules GGML NCNN OUT: compiles shaders of checkouts of ggml and ncnn, the way their own builds do for devices without
16-bit floats, and writes them as weft-pipelines does, for weft-compile.
anchors.py table BUILD RESULTS GPU...: prints a table of what BUILD/GPU has of them, and RESULTS of ours, now and before.
"""

import json
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from report import BEFORE, Row, read_before, read_result, read_row, worst_by_kernel

GGML = pathlib.Path("src/ggml-vulkan/vulkan-shaders")
NCNN = pathlib.Path("src/layer/vulkan/shader")

# ---- what is compiled: defines and constants as vulkan-shaders-gen.cpp, ggml-vulkan.cpp and ncnn's layers give them ----


@dataclass(frozen=True)
class Shader:
    name: str  # in the table, behind whose it is
    file: str
    defines: dict = field(default_factory=dict)
    constants: tuple = ()
    local_size: tuple | None = None  # ncnn's comes from its pipelines


FLOAT = {"FLOAT_TYPE": "float", "FLOAT_TYPEV2": "vec2"}
VECTORS = FLOAT | {"FLOAT_TYPEV4": "vec4"}
PRODUCT = VECTORS | {
    "FLOAT_TYPEV8": "mat2x4",
    "ACC_TYPE": "float",
    "ACC_TYPEV2": "vec2",
    "DATA_A_F32": "1",
    "LOAD_VEC_A": "4",
    "LOAD_VEC_B": "4",
    "B_TYPE": "vec4",
    "B_TYPE_SCALAR": "float",
    "B_TYPEV4": "vec4",
    "D_TYPE": "float",
}
ATTENTION = VECTORS | {
    "ACC_TYPE": "float",
    "ACC_TYPEV2": "vec2",
    "ACC_TYPEV4": "vec4",
    "DATA_A_IQ4_NL": "1",
    "Q_TYPE": "float",
    "D_TYPE": "float",
    "D_TYPEV4": "vec4",
}
ROWS = FLOAT | {"A_TYPE": "float", "B_TYPE": "float", "D_TYPE": "float"}
UNARY = {"A_TYPE": "float", "D_TYPE": "float"}


def ggml_shaders(subgroup: int) -> list[Shader]:
    """Their tiles depend on the subgroup's size."""
    aligned = (1,)
    return [
        Shader("matmul l", "mul_mm.comp", PRODUCT, (128, 128, 128, 16, 2 * subgroup, 64, 2, 4, 4, 1, subgroup) + aligned),
        Shader("matmul m", "mul_mm.comp", PRODUCT, (128, 64, 64, 16, subgroup, 32, 2, 4, 2, 1, subgroup) + aligned),
        Shader("matmul s", "mul_mm.comp", PRODUCT, (subgroup, 32, 32, 16, 32, 32, 2, 2, 2, 1, subgroup) + aligned),
        Shader(
            "attention",
            "flash_attn.comp",
            ATTENTION,
            # workgroup, rows, columns, sizes of heads, clamp, d_split, row_split, subgroup, ..., types of k and v: f32
            (128, 4, 32, 64, 64, 0, 8, 1, subgroup, 0, 0, 0, 0, 0, 16, 16),
        ),
        Shader("softmax", "soft_max.comp", ROWS, (subgroup,)),
        Shader("layer norm", "norm.comp", ROWS),
        Shader("GELU tanh", "unary.comp", UNARY | {"OP": "op_gelu"}),
        Shader("GELU erf", "unary.comp", UNARY | {"OP": "op_gelu_erf"}),
    ]


NCNN_SHADERS = [
    Shader("matmul 32x32", "gemm.comp", local_size=(8, 8)),
    Shader("attention", "sdpa_fa.comp", local_size=(128, 1)),
    Shader("layer norm, last step", "layernorm_norm.comp", local_size=(64, 1)),
    Shader("softmax, last step", "softmax_div_sum.comp", local_size=(64, 1)),
    Shader("GELU tanh", "gelu.comp", local_size=(64, 1)),
]


def ncnn_defines(checkout: pathlib.Path) -> dict:
    """Those that ncnn's compile_spirv_module ends with when nothing is stored or computed in 16 bits."""
    text = (checkout / "src/gpu.cpp").read_text(errors="replace")
    text = text[text.index("int compile_spirv_module(const char* comp_data, int comp_data_size") :]
    strings = re.findall(r'custom_defines\.append\("([^"]+)", "((?:[^"\\]|\\.)*)"\)', text)
    return dict(strings) | {"NCNN_shader_local_memory": "1", "ncnn_glsl_version": "1"}


# ---- modules ----


def compile_shader(shader: Shader, folder: pathlib.Path, defines: dict, out: pathlib.Path) -> bool:
    """With lines of our own behind #version: Debian's glslang has no option for them."""
    text = (folder / shader.file).read_text()
    lines = ["#extension GL_GOOGLE_include_directive : require"]
    lines += [f"#define {name} {value}" for name, value in defines.items()]
    if shader.local_size:
        text = re.sub(r"layout\s*\(local_size_\w+_id[^;]*;", "", text)
        x, y = shader.local_size
        lines.append(f"layout(local_size_x = {x}, local_size_y = {y}, local_size_z = 1) in;")
    text = re.sub(r"(#version[^\n]*\n)", lambda at: at.group(1) + "\n".join(lines) + "\n", text, count=1)
    source = out.with_suffix(".comp")
    source.write_text(text)
    made = out.with_suffix(".spv")
    command = ["glslangValidator", "-V", "--target-env", "vulkan1.2", f"-I{folder}", source, "-o", made]
    done = subprocess.run(command, capture_output=True, text=True)
    source.unlink()
    if done.returncode == 0:
        subprocess.run(["spirv-opt", "-O", made, "-o", made], check=True)
        return True
    made.unlink(missing_ok=True)
    errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
    print(f"{shader.name} ({shader.file}) is left out: {errors[0] if errors else done.stderr}", file=sys.stderr)
    return False


def write_modules(whose: str, shaders: list[Shader], folder: pathlib.Path, common: dict, out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for shader in shaders:
        path = out / (whose + "-" + re.sub(r"\W+", "-", shader.name))
        if compile_shader(shader, folder, common | shader.defines, path):
            interface = {
                "kernel": f"{whose} {shader.name}",
                "math": "fast",
                "bindings": 8,
                "push_bytes": 128,
                "constants": shader.constants,
            }
            path.with_suffix(".json").write_text(json.dumps(interface))


def version_of(checkout: str) -> str:
    command = ["git", "-C", checkout, "log", "-1", "--format=%h of %cs"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "an unknown version"


def versions(build: pathlib.Path) -> str:
    return (build / "versions.txt").read_text()


def modules(ggml: str, ncnn: str, out: str) -> None:
    theirs = pathlib.Path(ncnn)
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    (pathlib.Path(out).parent / "versions.txt").write_text(f"ggml {version_of(ggml)}, ncnn {version_of(ncnn)}.\n")
    defines = ncnn_defines(theirs)
    for subgroup in (32, 64):
        folder = pathlib.Path(out) / str(subgroup)
        write_modules("ggml", ggml_shaders(subgroup), pathlib.Path(ggml) / GGML, {}, folder)
        write_modules("ncnn", NCNN_SHADERS, theirs / NCNN, defines, folder)


# ---- the table ----

# Ours beside theirs.
OURS = {
    "matmul": "matmul/tiled",
    "attention": "banded_attention/tiled",
    "softmax": "softmax/softmax",
    "layer norm": "norm/layer_norm",
    "GELU": "activation/activation",
}
TILES = {"matmul": ("matmul/tiled", "matmul/subgroups"), "attention": ("banded_attention/tiled",)}

EXPLANATION = """# Others' shaders on the same compilers

Made by `./dev gpus --anchors GGML NCNN`; nothing ran. Each shader was compiled from a checkout of theirs as their own builds do for devices
without 16-bit floats, and ours as they are and as they were at commit 517c351. In each cell, bold: instructions issued for each
multiply-add of the hottest loop, where it has eight or more (1 is the limit with a fused multiply-add, 2 with a product and a sum); then
instructions, spills, registers, occupancy and cycles in the driver's words and units (AMD's: inverse throughput of a subgroup). A loop is counted along its best way
through, without what only edges need, and without copies into shared memory where these are a loop of their own, as in our products before
(with them 3.03 instead of 2.50 on navi21) and in ncnn's. Of 517c351 the pipeline that spills most or is largest is shown, and where its
hottest loop is the epilogue's (13.49, 14.82) the product's is not seen: 1.75 and 1.79, counted by hand. Workgroups do different amounts of work: only the bold numbers compare across rows.

"""


def words(row: Row | None) -> str:
    if row is None:
        return ""
    text = []
    if row.loop_products >= 8:
        text.append(f"**{row.loop_issued / row.loop_products:.2f}**")
    text.append(f"{row.instructions} i")
    text += [f"{row.spills} spilled"] if row.spills else []
    text += [f"{row.registers} r"] if row.registers is not None else []
    text += [f"occ {row.occupancy}"] if row.occupancy is not None else []
    text += [f"{row.cycles} cyc"] if row.cycles is not None else []
    return ", ".join(text)


def theirs_of(build: pathlib.Path, gpu: str) -> dict[str, Row]:
    rows, driver = {}, ""
    for text in (build / gpu / "pipelines.jsonl").read_text().splitlines():
        line = json.loads(text)
        driver = line.get("driver", driver)
        if "kernel" in line and "failed" not in line:
            rows[line["kernel"]] = read_row(line, driver, build / gpu)
    return rows


def best_loop(rows: list[Row]) -> Row | None:
    """Of a kernel's pipelines the one with the least around a product in its hottest loop."""
    with_products = [row for row in rows if row.loop_products >= 8]
    return min(with_products, key=lambda row: (bool(row.spills), row.loop_issued / row.loop_products), default=None)


def ours_of(results: pathlib.Path, gpu: str) -> dict[str, Row | None]:
    """Tiles by their best pipeline, for shapes without rests; others by their worst, as in before.json."""
    now = read_result(results / f"{gpu}.json")["rows"]
    before, worst = read_before(BEFORE).get(gpu, {}), worst_by_kernel(now)
    rows = {}
    for what, kernel in OURS.items():
        for math in ("reproducible", "fast"):
            mine = [row for row in now if row.kernel in TILES.get(what, ()) and row.math == math and row.taken]
            rows[f"Weft {what}, {math}, 517c351"] = before.get((kernel, math))
            rows[f"Weft {what}, {math}, now"] = best_loop(mine) if what in TILES else worst.get((kernel, math))
    return rows


def table(build: str, results: str, gpus: list[str]) -> None:
    columns = [theirs_of(pathlib.Path(build), gpu) | ours_of(pathlib.Path(results), gpu) for gpu in gpus]
    names = list(dict.fromkeys(name for column in columns for name in column))
    order = [next((i for i, what in enumerate(OURS) if what in name), len(OURS)) for name in names]
    print(EXPLANATION + versions(pathlib.Path(build)))
    print("| | " + " | ".join(gpus) + " |")
    print("|---|" + "---|" * len(gpus))
    for _, name in sorted(zip(order, names), key=lambda at: at[0]):
        print(f"| {name} | " + " | ".join(words(column.get(name)) for column in columns) + " |")


def main() -> int:
    what, *rest = sys.argv[1:] or [""]
    if what == "modules" and len(rest) == 3:
        modules(*rest)
    elif what == "table" and len(rest) > 2:
        table(rest[0], rest[1], rest[2:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
