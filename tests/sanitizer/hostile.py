# SPDX-License-Identifier: MIT
"""Runs the command on damaged model folders, tokenizers, arrays and texts, as tests/cmake/sanitized.cmake asks.

    hostile.py WEFT ROOT WORK COUNT

WEFT is the command, built with sanitizers; ROOT the repository; WORK an empty folder. The changes are the same on every machine. Each
run ends by itself, in time and with an exit code of its own, and no sanitizer has anything to say.
"""

from __future__ import annotations

import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys

SECONDS = 60
LARGEST_CODE = 9  # of the command, docs/weft.1
COMMANDS = (
    ("run", "--text", "a b\u00e9 \U0001f600 ab", "--top", "5", "--json"),
    ("run", "--lines", "lines.txt"),
    ("embed", "--lines", "lines.txt", "--pooling", "mean", "--out", "vectors.npy"),
    ("eval", "data.npz"),
    ("generate", "--text", "a", "--tokens", "4", "--greedy"),
    ("inspect",),
)
WORDS = (b"0", b"-1", b"1", b"4294967295", b"18446744073709551616", b"1e300", b"null", b"[]", b"{}", b'""', b'"\\u0000"')


def damaged(data: bytes, source: random.Random) -> bytes:
    """A few bytes changed, cut, repeated, or a number of JSON made another."""
    out = bytearray(data)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(max(len(out), 1))
        how = source.randrange(5)
        if how == 0 and out:
            out[at] ^= 1 << source.randrange(8)
        elif how == 1:
            del out[at:at + source.randint(1, 40)]
        elif how == 2:
            out[at:at] = out[at:at + source.randint(1, 40)] * source.randint(1, 3)
        elif how == 3:
            del out[at:]
        else:
            digits = [i for i, byte in enumerate(out) if 48 <= byte <= 57]
            if digits:
                begin = source.choice(digits)
                end = begin
                while end < len(out) and 48 <= out[end] <= 57:
                    end += 1
                out[begin:end] = source.choice(WORDS)
    return bytes(out)


def fill(folder: pathlib.Path, root: pathlib.Path, source: random.Random) -> None:
    """A model folder with a tokenizer and data, of which one or two files are damaged."""
    data, corpus = root / "tests/data", root / "tests/fuzz/corpus"
    models = [data / "models" / name for name in ("gpt2_causal_lm", "bert_classify", "bert_hidden", "fmmformer_band")]
    model = source.choice(models)
    config = model / "config.json"
    if source.randrange(3) == 0:
        config = source.choice(sorted((corpus / "program").iterdir()))
    tokenizers = sorted((corpus / "tokenizer_json").iterdir()) + sorted((data / "tokenizer/json").glob("*.json"))
    folder.mkdir(parents=True)
    shutil.copyfile(config, folder / "config.json")
    shutil.copyfile(model / "model.safetensors", folder / "model.safetensors")
    shutil.copyfile(source.choice(tokenizers), folder / "tokenizer.json")
    shutil.copyfile(model / "input.npz", folder / "data.npz")
    (folder / "lines.txt").write_bytes("a b\n\n\u00e9\nab ba\n".encode())
    names = sorted(path.name for path in folder.iterdir())
    for name in source.sample(names, source.randint(1, 2)):
        (folder / name).write_bytes(damaged((folder / name).read_bytes(), source))


def complaint(weft: pathlib.Path, root: pathlib.Path, folder: pathlib.Path, seed: int) -> tuple[str, bool]:
    """Of one run, empty where there is none; and whether the command had a result."""
    source = random.Random(seed)
    fill(folder, root, source)
    command, *rest = source.choice(COMMANDS)
    files = ("lines.txt", "data.npz", "vectors.npy")
    arguments = [str(folder / word) if word in files else word for word in rest]
    line = [str(weft), command, str(folder), *arguments]
    if command != "inspect":
        line += ["--device", "processor"]
    try:
        ended = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"seed {seed}: no end within {SECONDS} s: {' '.join(line)}", False
    said = ended.stderr.decode(errors="replace")
    if not 0 <= ended.returncode <= LARGEST_CODE or "Sanitizer" in said or "runtime error" in said:
        return f"seed {seed}: {' '.join(line)} came to {ended.returncode}:\n{said[-3000:]}", False
    shutil.rmtree(folder)
    return "", ended.returncode == 0


def main() -> int:
    weft, root, work = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    count = int(sys.argv[4])
    shutil.rmtree(work, ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda seed: complaint(weft, root, work / str(seed), seed), range(count)))
    complaints = [text for text, _ in ends if text]
    results = sum(had_result for _, had_result in ends)
    print("\n".join([*complaints, f"{count} runs, {results} with a result, {len(complaints)} complaints"]))
    return 1 if complaints or results < count / 20 else 0


if __name__ == "__main__":
    sys.exit(main())
