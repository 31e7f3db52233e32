# SPDX-License-Identifier: MIT
"""Writes the requirements*.txt that pip installs, with every package that is needed at one version and the hashes of its files.

python packaging/lock.py FILE.in... reads what is asked for, and writes FILE.txt beside it. `./dev requirements` runs it.

PyTorch from PyPI is a build for CUDA and wants three gigabytes of NVIDIA's packages, which a build for processors does not.
Neither is in these files: api/python/requirements-torch.txt has the build for processors, where pip finds it, as it
must where this runs, and requirements-torch-cuda.txt the other, with its packages.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = ROOT / "api/python/requirements-torch.txt"
CUDA = ROOT / "api/python/requirements-torch-cuda.txt"
ONLY_CUDA = re.compile(r"(nvidia|cuda)-|triton$|torch$")
OLDEST_PYTHON = "3.9"
OLDEST_WITH_TORCH = "3.11"
HEAD = "# SPDX-License-Identifier: MIT\n# Made by ./dev requirements from {}.\n"


def asked_for(source: Path) -> str:
    """The text of a file and of those it names."""
    text = source.read_text()
    for name in re.findall(r"^-r (\S+)", text, re.MULTILINE):
        text += asked_for(source.parent / name)
    return text


def asks_for_torch(source: Path) -> bool:
    """Whether PyTorch is among what a file asks for."""
    return "torch" in asked_for(source)


def resolve(source: Path) -> list[str]:
    """One line for each package: its name, version and marker, then its hashes."""
    oldest = OLDEST_WITH_TORCH if asks_for_torch(source) else OLDEST_PYTHON
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", oldest]
    command += ["--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate", "--upgrade", str(source)]
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    return re.sub(r" \\\n +", " ", text.strip()).split("\n")


def processor_build(entry: str) -> str:
    """PyTorch's entry for its build for processors."""
    name = f"{entry.split(' ')[0]}+cpu"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, name], check=True)
        (file,) = Path(folder).iterdir()
        return f"{name} --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"


def name_of(entry: str) -> str:
    """The package that an entry is about."""
    return entry.split("==")[0]


def write(target: Path, source: str, entries: list[str]) -> None:
    """Writes a file, whole or not at all."""
    partial = target.with_suffix(".partial")
    partial.write_text(HEAD.format(source) + "\n".join(entries) + "\n")
    partial.replace(target)


def main(sources: list[Path]) -> None:
    """Locks each file."""
    cuda: dict[str, str] = {}
    for source in sources:
        entries = resolve(source)
        if asks_for_torch(source):
            cuda.update({name_of(entry): entry for entry in entries if ONLY_CUDA.match(name_of(entry))})
            entries = [entry for entry in entries if name_of(entry) not in cuda]
        write(source.with_suffix(".txt"), source.name, entries)
        print(f"{source.with_suffix('.txt')}: {len(entries)} packages")
    if cuda:
        write(CUDA, "what asks for PyTorch", [cuda[name] for name in sorted(cuda)])
        write(TORCH, "what asks for PyTorch", [processor_build(cuda["torch"])])


main([Path(name) for name in sys.argv[1:]])
