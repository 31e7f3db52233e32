# SPDX-License-Identifier: MIT
"""Prints line and branch coverage by folder, as Markdown, of a summary that gcovr wrote: python folders.py summary.json"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import PurePath

KEYS = ("line_covered", "line_total", "branch_covered", "branch_total")


def percent(covered: int, total: int) -> str:
    """Such as "93.1 %"."""
    return f"{100 * covered / total:.1f} %" if total else "-"


def main(path: str) -> None:
    """Prints a row for each folder, and one for all."""
    folders: dict[str, list[int]] = defaultdict(lambda: [0] * len(KEYS))
    with open(path, encoding="utf-8") as file:
        for entry in json.load(file)["files"]:
            parts = PurePath(entry["filename"]).parts
            for name in ("/".join(parts[:2]), "all"):
                folders[name] = [sum(pair) for pair in zip(folders[name], (entry[key] for key in KEYS))]
    print("| Folder | Lines | of | Branches | of |\n|---|---|---|---|---|")
    for name in sorted(folders, key=lambda name: (name == "all", name)):
        lines, all_lines, branches, all_branches = folders[name]
        print(f"| {name} | {percent(lines, all_lines)} | {all_lines} | {percent(branches, all_branches)} | {all_branches} |")


main(sys.argv[1])
