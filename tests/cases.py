# SPDX-License-Identifier: MIT
"""cases.py MARK=LIST ...: gives a mark in tests/data/cases.txt to the cases that a list names, and takes it from all others.

A list has a name on each line, as `weft verify --write-list` writes it."""
import pathlib
import sys

FILE = pathlib.Path(__file__).parent / "data" / "cases.txt"


def main() -> None:
    lines = FILE.read_text().splitlines()
    heading = [line for line in lines if line.startswith("#")]
    marks = {line.split()[0]: set(line.split()[1:]) for line in lines if not line.startswith("#")}
    for argument in sys.argv[1:]:
        mark, path = argument.split("=", 1)
        for case in marks.values():
            case.discard(mark)
        for name in pathlib.Path(path).read_text().splitlines():
            if not name.startswith("#"):
                marks.setdefault(name, set()).add(mark)
    cases = [" ".join([name, *sorted(marks[name])]) for name in sorted(marks) if marks[name]]
    FILE.write_text("\n".join(heading + cases) + "\n")


main()
