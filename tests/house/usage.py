# SPDX-License-Identifier: MIT
"""The manual and what a shell offers have the commands and options of `weft help`, no more and no fewer.

python tests/house/usage.py WEFT manual|bash|zsh|fish [MORE]: MORE is an option that `weft run` is to have, too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

WEFT = Path(sys.argv[1]).resolve()

# A line, word by word, of which the last is not done; the functions of zsh are those that only a terminal has.
SHELLS = {
    "bash": ["bash", "--norc", "-c", 'source <(weft help --bash); COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _weft; '
             "printf '%s\\n' \"${COMPREPLY[@]}\"", "bash"],
    "zsh": ["zsh", "-fc", 'words=("$@") CURRENT=$#; _describe() { print -l -- ${(P)4} }; _arguments() { print -l -- $@ }; '
            "source <(weft help --zsh)", "zsh"],
    "fish": ["fish", "--no-config", "-c", "source (weft help --fish | psub); complete -C (string join ' ' -- $argv)"],
}


def run(*command: str) -> str:
    """What a command prints."""
    environment = {**os.environ, "PATH": f"{WEFT.parent}:{os.environ['PATH']}"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8", env=environment).stdout


def words(argument: str) -> set[str]:
    """The values that an argument names."""
    return set(argument.split("|")) - {"..."} if "|" in argument else set()


def helped() -> dict[str, dict[str, set[str]]]:
    """Of each command its options, and of each the words that are its values."""
    commands = re.findall(r"^  ([a-z]+) +[a-z]", run(str(WEFT), "help"), re.MULTILINE)
    found = {}
    for command in set(commands) - {"help"}:
        rows = re.findall(r"^  (--[a-z-]+)(?: (\S+))?", run(str(WEFT), command, "--help"), re.MULTILINE)
        found[command] = {name: words(value) for name, value in rows}
    return found


def manual() -> dict[str, dict[str, set[str]]]:
    """A section for each command. It names those options that are described once, behind all."""
    page = run(str(WEFT), "help", "--man")
    assert page.isascii(), "the manual has a character that is not ASCII"
    found, common, shared = {}, {"--help"}, {}
    for section in re.split(r"^\.S[SH] ", page.replace("\\-", "-"), flags=re.MULTILINE):
        rows = re.findall(r'^\.TP\n\.BI? (--[a-z-]+)(?: " (.*)")?$', section, re.MULTILINE)
        own = {name: words(value) for name, value in rows}
        below = set(re.findall("--[a-z-]+", "".join(re.findall(r"^As below: .*", section, re.MULTILINE))))
        common |= below
        if section.startswith("COMMON OPTIONS"):
            shared = own
        elif section.startswith('"weft '):
            found[section.split('"')[1].split()[1]] = own | {name: set() for name in below | {"--help"}}
    compare("COMMON OPTIONS", set(shared), common)
    for options in found.values():
        options.update({name: shared[name] for name in options if name in shared})
    return found


def offered(shell: str) -> dict[str, dict[str, set[str]]]:
    """What a shell offers behind a command, and behind an option with values."""
    def answers(*line: str) -> list[str]:
        return run(*SHELLS[shell], "weft", *line).splitlines()

    found = {}
    for command in {re.split("[:\t]", line)[0] for line in answers("")} - {"help"}:
        options: dict[str, set[str]] = {}
        for line in answers(command, "--"):
            name = re.match(r"\*?(--[a-z-]+)", line)
            values = re.search(r":\((.*)\)$", line)
            if name:
                options[name[1]] = set(values[1].split()) if values else set()
        if shell != "zsh":
            for name in set(options) & {"--math", "--weights", "--state", "--pooling", "--pass", "--checkpoints", "--size", "--suite",
                                        "--format", "--similarity", "--task", "--to"}:
                options[name] = {line.split("\t")[0] for line in answers(command, name, "")}
        found[command] = options
    if shell == "bash":
        compare("--math= in bash", set(answers("run", "--math", "=", "f")), {"fused", "fast"})
    return found


def compare(what: str, has: object, should: object) -> None:
    """Ends the test unless they are equal."""
    if has != should:
        sys.exit(f"{what}: expected {should}, found {has}")


def main() -> None:
    """Compares all commands."""
    expected, of = helped(), sys.argv[2]
    found = manual() if of == "manual" else offered(of)
    assert len(expected) >= 11, expected
    expected["run"].update({name: set() for name in sys.argv[3:]})
    compare(f"The commands of {of}", set(found), set(expected))
    for command, options in expected.items():
        compare(f"The options of weft {command} in {of}", set(found[command]), set(options))
        for name, values in options.items():
            compare(f"The values of weft {command} {name} in {of}", found[command][name], values)
    print(f"{of} has the options of: {' '.join(sorted(expected))}")


main()
