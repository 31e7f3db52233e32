#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py [--compare OLD | --before] BUILD GPU...: what compilers of GPUs made of every kernel (./dev gpus).

Reads BUILD/GPU/MATH/pipelines.jsonl and the machine code beside it, both of weft-compile, writes BUILD/results/GPU.json and the page
BUILD/index.html, and prints what is worth a look, or with --compare what is better or worse than in OLD/GPU.json. With --before all
that is written is before.json, beside this file: an older state of the kernels, a row for each, beside what it has of other GPUs.
The page and the text show it beside the present state.
"""

import argparse
import html
import json
import pathlib
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass, fields

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from isa import hottest_loop, instructions, isa_of

MATHS = ("reproducible", "fused", "fast")
BEFORE = pathlib.Path(__file__).parent / "before.json"
SLOW_SECONDS = 10.0


@dataclass
class Row:
    """One pipeline. What a driver does not tell is null; occupancy and cycles are in a unit of each driver's own."""

    kernel: str
    math: str
    constants: list
    instructions: int | None
    registers: int | None
    spills: int | None
    shared: int | None  # bytes
    occupancy: int | None  # subgroups that a unit of the GPU holds at once
    cycles: int | None
    subgroup: int
    loop_issued: int  # of the hottest loop (isa.py): instructions, and of these on float numbers: products, all
    loop_products: int
    loop_arithmetic: int
    taken: bool  # by such a device: not one of the kernels for others, such as those for software drivers

    def key(self):
        return self.kernel, self.math, tuple(self.constants)


COLUMNS = [field.name for field in fields(Row)]

# What each column is called by each driver; several names are summed up.
STATISTICS = {
    "radv": {
        "instructions": ["Instructions"],
        "registers": ["VGPRs"],
        "spills": ["Spilled VGPRs", "Spilled SGPRs"],
        "shared": ["LDS size"],
        "occupancy": ["Subgroups per SIMD"],
        "cycles": ["Inverse Throughput"],
    },
    "Intel open-source Mesa driver": {
        "instructions": ["Instructions"],
        "registers": ["Max live registers"],
        "spills": ["Spills"],
        "shared": ["Workgroup Memory Size"],
        "occupancy": [],
        "cycles": ["Cycles"],
    },
    "NVK": {
        "instructions": ["Instruction count"],
        "registers": ["Number of GPRs"],
        "spills": ["Spills to memory"],
        "shared": [],
        "occupancy": ["Max warps/SM"],
        "cycles": ["Static cycle count"],
    },
    "ptxas": {
        "instructions": [],
        "registers": ["Registers"],
        "spills": ["Stack words"],
        "shared": ["Shared memory"],
        "occupancy": [],
        "cycles": [],
    },
    "ocloc": {
        "instructions": [],
        "registers": ["Registers"],
        "spills": ["Spilled bytes"],
        "shared": ["Shared memory"],
        "occupancy": [],
        "cycles": [],
    },
    "turnip Mesa driver": {
        "instructions": ["Instruction Count"],
        "registers": ["Registers used"],
        "spills": ["STP Count"],
        "shared": [],
        "occupancy": ["Max Waves Per Core"],
        "cycles": [],
    },
    "V3DV Mesa": {
        "instructions": ["Instruction Count"],
        "registers": ["Max Temps"],
        "spills": ["TMU Spills"],
        "shared": [],
        "occupancy": ["Thread Count"],
        "cycles": ["Inst and stalls"],
    },
    "panvk": {  # tells bytes of code, and no more
        "instructions": [],
        "registers": [],
        "spills": [],
        "shared": [],
        "occupancy": [],
        "cycles": [],
    },
}


def statistics_of(driver: str) -> dict:
    for begin, names in STATISTICS.items():
        if driver.startswith(begin):
            return names
    raise ValueError(f"nothing is known of the statistics of the driver {driver!r}")


def read_row(line: dict, driver: str, folder: pathlib.Path) -> Row:
    told = line["statistics"]
    values = {}
    for column, names in statistics_of(driver).items():
        found = [told[name] for name in names if name in told]
        values[column] = int(sum(found)) if found else None
    isa = isa_of(driver)
    texts = list(folder.glob(line["name"] + ".*" + isa.file))
    text = texts[0].read_text(errors="replace") if texts else ""
    loop = hottest_loop(isa, text) if texts else None
    if texts and values["instructions"] is None:
        values["instructions"] = instructions(isa, text)
    return Row(
        kernel=line["kernel"],
        math=line["math"],
        constants=line["constants"],
        subgroup=line["subgroup_size"],
        taken=line["taken"],
        loop_issued=loop.issued if loop else 0,
        loop_products=loop.products if loop else 0,
        loop_arithmetic=loop.arithmetic if loop else 0,
        **values,
    )


def read_build(folder: pathlib.Path) -> dict:
    """What weft-compile wrote, in the form of the files in RESULTS but for rows, which are Rows here."""
    device, rows, failed, slowest = None, [], [], (0.0, "")
    for math in MATHS:
        path = folder / math / "pipelines.jsonl"
        if math == "fast" and device["driver"] in ("ptxas", "ocloc") and not path.exists():
            continue  # it is given exact math alone
        for text in path.read_text().splitlines():
            line = json.loads(text)
            if "device" in line:
                device = line
                continue
            if "failed" in line:
                constants = " ".join(str(value) for value in line["constants"])
                failed.append([line["kernel"], math, constants, line["failed"], line["taken"]])
                continue
            rows.append(read_row(line, device["driver"], folder / math))
            slowest = max(slowest, (line["ms"] / 1000, line["kernel"]))
    return {
        "gpu": folder.name,
        "device": device["device"].strip(),
        "driver": f"{device['driver']} {device['version']}",
        "slow": slowest[1] if slowest[0] > SLOW_SECONDS else None,
        "failed": failed,
        "rows": sorted(rows, key=Row.key),
    }


def read_result(path: pathlib.Path) -> dict:
    result = json.loads(path.read_text())
    result.setdefault("failed", [])
    result["rows"] = [Row(**dict(zip(result["columns"], row))) for row in result["rows"]]
    return result


def write_result(path: pathlib.Path, result: dict) -> None:
    """A pipeline a line, so that a change of one kernel changes its lines alone."""
    head = {name: result[name] for name in ("gpu", "device", "driver", "slow", "failed")}
    head["columns"] = COLUMNS
    rows = ",\n".join(json.dumps(list(astuple(row)), separators=(",", ":")) for row in result["rows"])
    path.write_text(json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + rows + "\n]}\n")


# ---- by kernel ----


def worst_by_kernel(rows: list[Row]) -> dict:
    """Of each kernel and math the pipeline that spills most, and of these the one of most instructions; of those that are taken."""
    worst: dict = {}
    for row in filter(lambda row: row.taken, rows):
        key = (row.kernel.split(" ")[0] if not row.kernel.startswith("vkfft") else "vkfft", row.math)
        rank = (row.spills or 0, row.instructions or 0)
        if key not in worst or rank > ((worst[key].spills or 0), (worst[key].instructions or 0)):
            worst[key] = row
    return worst


def write_before(path: pathlib.Path, results: list[dict]) -> None:
    """Of each kernel the worst pipeline: what a page needs. Other GPUs' rows stay."""
    gpus = json.loads(path.read_text()) if path.exists() else {}
    gpus.pop("columns", None)
    for result in results:
        worst = worst_by_kernel(result["rows"])
        gpus[result["gpu"]] = [list(astuple(worst[key])) for key in sorted(worst)]
    parts = [f'"columns": {json.dumps(COLUMNS)}']
    for gpu, rows in gpus.items():
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        parts.append(f"{json.dumps(gpu)}: [\n{lines}]")
    path.write_text("{" + ",\n".join(parts) + "\n}\n")


def read_before(path: pathlib.Path) -> dict:
    """By GPU, what worst_by_kernel made."""
    if not path.exists():
        return {}
    before = json.loads(path.read_text())
    columns = before.pop("columns")
    rows = {gpu: [Row(**dict(zip(columns, row))) for row in of_gpu] for gpu, of_gpu in before.items()}
    return {gpu: worst_by_kernel(of_gpu) for gpu, of_gpu in rows.items()}


def per_product(row: Row) -> float | None:
    return row.loop_issued / row.loop_products if row.loop_products >= 8 else None


def describe(result: dict, before: dict) -> None:
    rows = result["rows"]
    spilling = [row for row in rows if row.spills and row.taken]
    taken = sum(row.taken for row in rows)
    print(
        f"\n{result['gpu']}: {result['device']}, {result['driver']}: {len(rows)} pipelines, of which it takes {taken}; "
        f"{len(spilling)} of these spill"
    )
    if result["slow"]:
        print(f"  took more than {SLOW_SECONDS:.0f} s: {result['slow']}")
    for kernel, math, constants, why, is_taken in result["failed"]:
        print(f"  {kernel} {constants}, {math}{'' if is_taken else ', which it does not take'}: {why}")
    for row in sorted(spilling, key=lambda row: -row.spills)[:10]:
        print(f"  {row.spills:5} spills in {row.kernel} {row.constants}, {row.math}")
    for math in MATHS:
        loops = {
            tuple(row.constants): per_product(row)
            for row in rows
            if row.kernel in ("matmul/tiled", "matmul/subgroups") and row.math == math and row.taken
        }
        told = ", ".join(f"{value:.2f}" for value in sorted(v for v in loops.values() if v))
        print(f"  products through tiles, {math}: instructions for each multiply-add in its loop: {told}")
    if before:
        describe_change(worst_by_kernel(rows), before)


def describe_change(now: dict, before: dict) -> None:
    """Kernels that are there in both states, each by its worst pipeline."""
    both = [(before[key], now[key]) for key in sorted(now) if key in before]
    for column, better in (("spills", min), ("instructions", min), ("occupancy", max), ("cycles", min)):
        pairs = [(getattr(a, column), getattr(b, column)) for a, b in both]
        pairs = [(a, b) for a, b in pairs if a is not None and b is not None and a != b]
        gained = sum(better(a, b) == b for a, b in pairs)
        print(f"  {column} of {len(both)} kernels since before.json: {gained} better, {len(pairs) - gained} worse")


def compare(old: dict, new: dict) -> int:
    """Prints what changed, and returns how many pipelines got worse."""
    before = {row.key(): row for row in old["rows"]}
    worse = 0
    print(f"\n{new['gpu']}: {new['driver']} (before: {old['driver']})")
    for row in new["rows"]:
        was = before.pop(row.key(), None)
        changes = []
        for column in ("spills", "registers", "occupancy", "instructions", "cycles"):
            a, b = (getattr(was, column) if was else None), getattr(row, column)
            if was and a != b and a is not None and b is not None:
                changes.append(f"{column} {a} -> {b}")
        if changes:
            print(f"  {row.kernel} {row.constants} {row.math}: {', '.join(changes)}")
            worse += (row.spills or 0) > (was.spills or 0) or (row.cycles or 0) > (was.cycles or 0)
        elif not was:
            print(f"  {row.kernel} {row.constants} {row.math}: new")
    for row in before.values():
        print(f"  {row.kernel} {row.constants} {row.math}: gone")
    return worse


# ---- the page ----

STYLE = """body{font:14px system-ui,sans-serif;margin:2em;color:#222}table{border-collapse:collapse}
th,td{padding:.25em .6em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}th:first-child,td:first-child{text-align:left}
thead th{position:sticky;top:0;background:#fff}.spills{background:#fcc}.low{background:#ffe9c0}small{color:#777}
h2{margin-top:2em}p{max-width:60em}"""

EXPLANATION = """Nothing ran: each kernel that such a GPU would run was compiled by its own compiler: Mesa's, NVIDIA's for sm_75 to sm_120, or Intel's for ocloc-dg2 and ocloc-bmg.
Of each kernel the pipeline that spills most or is largest. In each cell: instructions; registers; occupancy, in the driver's unit; and, of the hottest loop, the share of its
instructions that are float arithmetic. Red: registers are spilled to memory, and how many. Yellow: less than a fifth of the loop is
float arithmetic. Small, below: the same of the kernels as they were at commit 517c351, where that is another."""


def share_of(row: Row) -> float:
    return row.loop_arithmetic / row.loop_issued if row.loop_issued else 0.0


def words(row: Row) -> list[str]:
    text = [str(row.instructions if row.instructions is not None else "")]
    text += [f"{row.spills} spilled"] if row.spills else []
    text += [f"{row.registers} r"] if row.registers is not None else []
    text += [f"occ {row.occupancy}"] if row.occupancy is not None else []
    text += [f"{share_of(row):.0%}"] if row.loop_arithmetic else []
    return text


def cell(row: Row | None, before: Row | None) -> str:
    if row is None:
        return "<td></td>"
    low = row.loop_products >= 8 and share_of(row) < 0.2
    kind = "spills" if row.spills else "low" if low else ""
    text = "<small>; </small>".join(words(row))
    if before is not None and words(before) != words(row):
        text += f"<br><small>before: {'; '.join(words(before))}</small>"
    title = html.escape(f"constants {row.constants}, subgroup {row.subgroup}, shared {row.shared}, cycles {row.cycles}")
    return f'<td class="{kind}" title="{title}">{text}</td>'


def failures(results: list[dict]) -> str:
    items = [
        f"<li>{html.escape(result['gpu'])}: {html.escape(kernel)} {constants}, {math}: {html.escape(why)}</li>"
        for result in results
        for kernel, math, constants, why, is_taken in result["failed"]
        if is_taken
    ]
    return f"<h2>Not compiled</h2><ul>{''.join(items)}</ul>" if items else ""


def page(results: list[dict], before: dict) -> str:
    worst = [worst_by_kernel(result["rows"]) for result in results]
    parts = [f"<!doctype html><meta charset=utf-8><title>Weft's kernels on GPU compilers</title><style>{STYLE}</style>"]
    parts.append(f"<h1>Weft's kernels on GPU compilers</h1><p>{EXPLANATION}</p>")
    for math in MATHS:
        kernels = sorted({kernel for of_gpu in worst for kernel, of in of_gpu if of == math})
        heads = "".join(
            f"<th>{html.escape(r['gpu'])}<br><small>{html.escape(r['driver'])}</small></th>" for r in results
        )
        parts.append(f"<h2>{math.capitalize()} math</h2><table><thead><tr><th>kernel</th>{heads}</tr></thead><tbody>")
        for kernel in kernels:
            key = (kernel, math)
            cells = "".join(
                cell(of_gpu.get(key), before.get(r["gpu"], {}).get(key)) for r, of_gpu in zip(results, worst)
            )
            parts.append(f"<tr><td>{html.escape(kernel)}</td>{cells}</tr>")
        parts.append("</tbody></table>")
    parts.append(failures(results))
    return "\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--compare", type=pathlib.Path, metavar="OLD")
    what.add_argument("--before", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("gpus", nargs="+")
    options = parser.parse_args()
    worse = 0
    with ProcessPoolExecutor() as pool:
        results = list(pool.map(read_build, [options.build / gpu for gpu in options.gpus]))
    if options.before:
        write_before(BEFORE, results)
        return 0
    before = read_before(BEFORE)
    folder = options.build / "results"
    folder.mkdir(exist_ok=True)
    for result in results:
        name = f"{result['gpu']}.json"
        write_result(folder / name, result)
        if options.compare and (options.compare / name).exists():
            worse += compare(read_result(options.compare / name), result)
        else:
            describe(result, before.get(result["gpu"], {}))
    others = [read_result(path) for path in sorted(folder.glob("*.json")) if path.stem not in options.gpus]
    (options.build / "index.html").write_text(page(results + others, before))
    print(f"\nthe page: {options.build / 'index.html'}")
    if options.compare:
        print(f"{worse} pipelines got worse (more spills or cycles)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
