# SPDX-License-Identifier: MIT
"""Machine code as Mesa's compilers print it: how much there is, and what the hottest loop consists of.

A loop is what a branch back encloses; the hottest is, of those with no other loop inside, the one with the most float arithmetic. Of
its ways through, the one counts that has the most arithmetic and, of those, the least else: what a whole tile takes, without the
guards of those at the edge. Where a kernel has no loop, all of its code takes that place.
"""

import functools
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Isa:
    """How one compiler writes. Each is a regular expression."""

    file: str  # the end of the name of a file that has the machine code
    label: str  # the name of a place that branches go to is its group
    branch: str  # where to is its group
    always: str  # a branch that is always taken, or the end
    skipped: str  # lines without an instruction, besides empty ones and labels
    product: str  # of float numbers, alone or summed up at once
    arithmetic: str  # of float numbers, products included


ISAS = {
    "radv": Isa(
        "Assembly.txt",
        r"^(BB\d+):",
        r"\bs_c?branch\w*\s+(BB\d+)",
        r"\b(?:s_branch|s_endpgm)\b",
        r"^\s*(;|s_nop|s_delay_alu|s_code_end|s_endpgm)",
        r"\bv_(?:dual_|pk_)?(?:mul|fma|fmac|mac|mad|fmaak|fmamk|madak|madmk)_(?:legacy_)?f32",
        r"\bv_(?:dual_|pk_)?(?:add|sub|subrev|mul|fma|fmac|mac|mad|fmaak|fmamk|madak|madmk)_(?:legacy_)?f32",
    ),
    "Intel open-source Mesa driver": Isa(
        "GEN_Assembly.txt",
        r"^(L\d+):",
        r"\b(?:while|if|else) \(\d+\)\s+(?:jip:)?(L\d+)",
        r"^\s*else ",
        r"^\s*(//|\(W\)\s+sync\.nop|END|Native|Shader|SIMD)",
        r"\b(?:mul|mad) \(\d+\)\s.*?:f\b",
        r"\b(?:add|mul|mad) \(\d+\)\s.*?:f\b",
    ),
    "NVK": Isa(
        "NAK_assembly.txt",
        r"^block\S* \d+ (L\d+) ",
        r"\bbra .*?(L\d+)\b",
        r"^\s*(?:bra pT|exit) ",
        r"^\s*(\}|//|nop)",
        r"\b(?:fmul|ffma)\b",
        r"\b(?:fadd|fmul|ffma)\b",
    ),
    "turnip Mesa driver": Isa(
        "IR3_Assembly.txt",
        r"^(l\d+):",
        r"\b(?:br|bra|brao|braa|jump|getone|shps)\b.*?#(l\d+)",
        r"\bjump\b",
        r"^\s*(;|@|end|nop)",
        r"\b(?:mul\.f|mad\.f32)\b",
        r"\b(?:add\.f|mul\.f|mad\.f32)\b",
    ),
    "V3DV Mesa": Isa(
        "QPU.txt", r"$^", r"$^", r"$^", r"$^", r"\bfmul\b", r"\b(?:fadd|faddnf|fsub|fmul)\b"
    ),
    "panvk": Isa(
        "Assembly.txt",
        r"$^",
        r"$^",
        r"$^",
        r"^\s*(clause|\}|ds\()",
        r"\bFMA\w*\.(?:v2)?f32",
        r"\b(?:FADD|FADD_IMM|FMA\w*)\.(?:v2)?f32",
    ),
}


def isa_of(driver: str) -> Isa:
    for begin, isa in ISAS.items():
        if driver.startswith(begin):
            return isa
    raise ValueError(f"no machine code is known of the driver {driver!r}")


def _repeats(line: str) -> int:
    """Qualcomm's instructions that are issued several times."""
    found = re.search(r"\(rpt(\d)\)", line) if "(rpt" in line else None
    return 1 + int(found.group(1)) if found else 1


@dataclass(frozen=True)
class Code:
    """Two operations that are issued together are one instruction, and counted as two of arithmetic."""

    issued: int = 0
    products: int = 0
    arithmetic: int = 0

    def __add__(self, other: "Code") -> "Code":
        return Code(
            self.issued + other.issued,
            self.products + other.products,
            self.arithmetic + other.arithmetic,
        )

    def preference(self) -> tuple[int, int]:
        return self.arithmetic, -self.issued


@functools.lru_cache(maxsize=1 << 16)
def _count(isa: Isa, line: str) -> Code:
    if not line.strip() or re.match(isa.label, line) or re.match(isa.skipped, line):
        return Code()
    times = _repeats(line)
    return Code(
        times,
        times * len(re.findall(isa.product, line)),
        times * len(re.findall(isa.arithmetic, line)),
    )


def _places(isa: Isa, lines: list[str]) -> dict[str, int]:
    found = ((re.match(isa.label, line), at) for at, line in enumerate(lines))
    return {label.group(1): at for label, at in found if label}


def _targets(isa: Isa, lines: list[str]) -> list[int | None]:
    """For each line, where it may branch to."""
    places = _places(isa, lines)
    branches = (re.search(isa.branch, line) for line in lines)
    return [places.get(branch.group(1)) if branch else None for branch in branches]


def _loops(targets: list[int | None]) -> list[range]:
    loops = [range(to, at + 1) for at, to in enumerate(targets) if to is not None and to <= at]
    return [
        a
        for a in loops
        if not any(b != a and a.start <= b.start and b.stop <= a.stop for b in loops)
    ]


def _way_through(isa: Isa, lines: list[str], targets: list[int | None], loop: range) -> Code:
    """From its last line backwards: the best of what may follow each."""
    best: dict[int, Code | None] = {loop.stop: Code()}  # none: it leaves the loop
    for at in reversed(loop):
        to, line = targets[at], lines[at]
        ahead = to is not None and at < to < loop.stop
        follows = [best[to]] if ahead else []
        if at + 1 == loop.stop or not re.search(isa.always, line):
            follows.append(best[at + 1])
        follows = [code for code in follows if code is not None]
        best[at] = _count(isa, line) + max(follows, key=Code.preference) if follows else None
    return best[loop.start] or Code()


def hottest_loop(isa: Isa, text: str) -> Code:
    lines = text.splitlines()
    targets = _targets(isa, lines)
    ways = [_way_through(isa, lines, targets, loop) for loop in _loops(targets)]
    hottest = max(ways, key=lambda way: way.arithmetic, default=Code())
    return hottest if hottest.arithmetic > 0 else _way_through(isa, lines, targets, range(len(lines)))
