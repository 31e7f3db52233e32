# SPDX-License-Identifier: MIT
"""Machine code as Mesa's compilers, NVIDIA's own and Intel's own print it: how much there is, and what the hottest loop consists of.

A loop is what a branch back encloses; the hottest is, of those with no other loop inside, the one with the most float arithmetic. Of
its ways through, the one counts that has the most arithmetic and, of those, the least else: what a whole tile takes, without the
guards of those at the edge. Where a kernel has no loop, all of its code takes that place.
"""

import functools
import math
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
    # Where branches name no place but a distance from the instruction behind them: how much an instruction counts in it, and
    # how many more are executed before a branch is taken.
    distance: int = 0
    delay: int = 0
    matrix: str = r"$^"  # a product of matrices: its groups multiplied with each other and with
    matrix_share: float = 0.0  # this are the products that an invocation has of it
    end: str = r"$^"  # an end with more code behind it
    bytes: str = r"$^"  # the same of matrices of bytes, where these have another share
    bytes_share: float = 0.0


ISAS = {
    "radv": Isa(
        "Assembly.txt",
        r"^(BB\d+):",
        r"\bs_c?branch\w*\s+(BB\d+)",
        r"\b(?:s_branch|s_endpgm)\b",
        r"^\s*(;|s_nop|s_delay_alu|s_code_end|s_endpgm)",
        r"\bv_(?:dual_|pk_)?(?:mul|fma|fmac|mac|mad|fmaak|fmamk|madak|madmk)_(?:legacy_)?f32",
        r"\bv_(?:dual_|pk_)?(?:add|sub|subrev|mul|fma|fmac|mac|mad|fmaak|fmamk|madak|madmk)_(?:legacy_)?f32",
        matrix=r"\bv_wmma_(?:f32|i32)_(\d+)x(\d+)x(\d+)_(?:f16|iu8)",
        matrix_share=1 / 32,
    ),
    "Intel open-source Mesa driver": Isa(
        "GEN_Assembly.txt",
        r"^(L\d+):",
        r"\b(?:while|if|else) \(\d+\)\s+(?:jip:)?(L\d+)",
        r"^\s*else ",
        r"^\s*(//|\(W\)\s+sync\.nop|END|Native|Shader|SIMD)",
        r"\b(?:mul|mad) \(\d+\)\s.*?:f\b",
        r"\b(?:add|mul|mad) \(\d+\)\s.*?:f\b",
        matrix=r"\bdpas\.(\d)x(\d) \(\d+\)\s+\S+:f",
        matrix_share=2.0,
        bytes=r"\bdpas\.(\d)x(\d) \(\d+\)\s+\S+:d",
        bytes_share=4.0,
    ),
    "NVK": Isa(
        "NAK_assembly.txt",
        r"^block\S* \d+ (L\d+) ",
        r"\bbra .*?(L\d+)\b",
        r"^\s*(?:bra pT|exit) ",
        r"^\s*(\}|//|nop)",
        r"\b(?:fmul|ffma)\b",
        r"\b(?:fadd|fmul|ffma)\b",
        matrix=r"\b[hi]mma\.m(\d+)n(\d+)k(\d+)\.(?:f32|i8)",
        matrix_share=1 / 32,
    ),
    "ptxas": Isa(
        "SASS.txt",
        r"^\.(L_x_\d+):",
        r"\bBRA\b.*`\(\.(L_x_\d+)\)",
        r"^(?:BRA `|EXIT$)",
        r"^(\.|\w+:|\$|NOP)",
        r"\bU?(?:FMUL|FFMA)\b",
        r"\bU?(?:FADD|FMUL|FFMA)\b",
        end=r"^EXIT$",
    ),
    "ocloc": Isa(
        "GEN.txt",
        r"^(L\d+):",
        r"\b(?:goto\.b|goto|jmpi)\b.*\b(L\d+)\b",
        r"^\(W\)\s+jmpi ",
        r"^(?://|\s*(?:\(W\))?\s*(?:sync\.nop|nop)\b)",
        r"\b(?:mul|mad) \(\d+\|M\d+\)\s+\S+:f\b",
        r"\b(?:add|mul|mad) \(\d+\|M\d+\)\s+\S+:f\b",
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
        "QPU__MESA_SHADER_COMPUTE_.txt",
        r"$^",
        r"^bu?(?:\.\w+)? +(-?\d+)",
        r"^bu? ",
        r"^nop +; nop *$",
        r"\bfmul\b",
        r"\b(?:fadd|faddnf|fsub|fmul)\b",
        distance=8,
        delay=3,
    ),
    "panvk": Isa(
        "Assembly.txt",
        r"$^",
        r"\bBRANCHZ\S* .*offset:(-?\d+)",
        r"\bBRANCHZ\S* 0x0,",
        r"^\s*NOP",
        r"\bFMA\w*\.(?:v2)?f32",
        r"\b(?:FADD|FADD_IMM|FMA\w*)\.(?:v2)?f32",
        distance=1,
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


def _matrix_products(isa: Isa, line: str) -> int:
    found = re.search(isa.matrix, line)
    of_bytes = re.search(isa.bytes, line)
    share = isa.matrix_share if found else isa.bytes_share
    found = found or of_bytes
    return round(math.prod(map(int, found.groups())) * share) if found else 0


@functools.lru_cache(maxsize=1 << 16)
def _count(isa: Isa, line: str) -> Code:
    if not line.strip() or re.match(isa.label, line) or re.match(isa.skipped, line):
        return Code()
    times = _repeats(line)
    matrix = _matrix_products(isa, line)
    return Code(
        times,
        times * len(re.findall(isa.product, line)) + matrix,
        times * len(re.findall(isa.arithmetic, line)) + matrix,
    )


def _places(isa: Isa, lines: list[str]) -> dict[str, int]:
    found = ((re.match(isa.label, line), at) for at, line in enumerate(lines))
    return {label.group(1): at for label, at in found if label}


@dataclass(frozen=True)
class Branch:
    """Where a line may branch to, and whether it always does."""

    to: int | None = None
    always: bool = False


def _distant(isa: Isa, lines: list[str]) -> list[Branch]:
    """Of branches that name a distance: an instruction a line, and the branch is where it is taken."""
    places = [at for at, line in enumerate(lines) if line.strip()]
    found = [Branch()] * len(lines)
    for index, at in enumerate(places):
        branch = re.search(isa.branch, lines[at])
        taken = index + isa.delay
        if branch and taken < len(places):
            to = taken + 1 + int(branch.group(1)) // isa.distance
            found[places[taken]] = Branch(
                places[to] if 0 <= to < len(places) else None, bool(re.search(isa.always, lines[at]))
            )
    return found


def _branches(isa: Isa, lines: list[str]) -> list[Branch]:
    if isa.distance:
        return _distant(isa, lines)
    places = _places(isa, lines)
    found = (re.search(isa.branch, line) for line in lines)
    return [
        Branch(places.get(branch.group(1)) if branch else None, bool(re.search(isa.always, line)))
        for branch, line in zip(found, lines)
    ]


def _loops(branches: list[Branch]) -> list[range]:
    loops = [range(of.to, at + 1) for at, of in enumerate(branches) if of.to is not None and of.to <= at]
    return [
        a
        for a in loops
        if not any(b != a and a.start <= b.start and b.stop <= a.stop for b in loops)
    ]


def _way_through(isa: Isa, lines: list[str], branches: list[Branch], loop: range) -> Code:
    """From its last line backwards: the best of what may follow each."""
    best: dict[int, Code | None] = {loop.stop: Code()}  # none: it leaves the loop
    for at in reversed(loop):
        to = branches[at].to
        ahead = to is not None and at < to < loop.stop
        follows = [best[to]] if ahead else []
        if at + 1 == loop.stop or not branches[at].always:
            follows.append(best[at + 1])
        if len(loop) == len(lines) and re.search(isa.end, lines[at]):
            follows.append(Code())
        follows = [code for code in follows if code is not None]
        best[at] = _count(isa, lines[at]) + max(follows, key=Code.preference) if follows else None
    return best[loop.start] or Code()


def hottest_loop(isa: Isa, text: str) -> Code:
    lines = text.splitlines()
    branches = _branches(isa, lines)
    ways = [_way_through(isa, lines, branches, loop) for loop in _loops(branches)]
    hottest = max(ways, key=lambda way: way.arithmetic, default=Code())
    return hottest if hottest.arithmetic > 0 else _way_through(isa, lines, branches, range(len(lines)))


def instructions(isa: Isa, text: str) -> int:
    """All of them, where a driver does not tell."""
    return sum((_count(isa, line) for line in text.splitlines()), Code()).issued
