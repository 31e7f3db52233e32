# SPDX-License-Identifier: MIT
"""Passes generated model folders of strangers through the command, as a server would:

    python3 tests/hostile/run.py WEFT COUNT [--seed S] [--first I] [--memory MIB] [--seconds S] [--keep FOLDER]

Each folder is a function of the seed and its number: a made one, or one of the repository with damaged files. Every command runs under limits of memory and time. It fails where a
command ends by a signal, does not end, has an exit code that it has not promised, says nothing of what is wrong, leaves
files behind, or gives other answers where fresh memory has other contents (MALLOC_PERTURB_): then an answer holds memory
that is not its own. Most folders run on the device that computes nothing (WEFT_NULL_DEVICE): all else is as it is elsewhere,
without the time that kernels take; one in so many runs on the processor. Of a command with sanitizers, which need address
space without a limit (--memory 0), none may have anything to say. The standard library is enough.
"""

import argparse
import collections
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import damaged
import files
import networks
import programs
import tokenizers

FINE, FAILED, USAGE, BAD_FILE = 0, 1, 2, 4
CODES = {FINE, FAILED, USAGE, BAD_FILE}
TEXTS = ["a", "hello a b", "é", "aab " * 20, "a\tb", "\U0001f600 a", " ", "b" * 49, "0 1 a" * 5]
# Of reports: what another run may say otherwise.
VARYING = re.compile(r"(_ms|per_s|per_second|ms_per|speed|peak_bytes|_compiled|seconds|arena|first_quarter|last_quarter)")


WAITING = 12  # times as long as a command may compute: then it waits for something


# ---- a folder ----

def make_place(seed, number, place):
    """place/model, data and lines; what commands then do is drawn from what is returned."""
    r = random.Random(f"{seed}/{number}")
    if r.random() < 0.2:
        damaged.make(r, place)
    else:
        make_folder(r, place / "model")
        write_data(r, place)
    (place / "lines.txt").write_text("\n".join(r.choice(TEXTS) for _ in range(r.choice([1, 3, 9]))) + "\n")
    return r


def make_folder(r, folder):
    folder.mkdir()
    kind = r.choices(["program", "network", "tokenizer"], [45, 30, 25])[0]
    with_json = kind == "tokenizer" or r.random() < 0.3
    if kind == "network":
        config, tensors = networks.make(r)
        damage = networks.damage_of(r)
        with_json = True
    else:
        config, tensors = programs.make(r, folder, "PreTrainedTokenizerFast" if with_json else "ByteTokenizer")
        damage = None
    (folder / "config.json").write_text(json.dumps(config))
    files.safetensors(folder / "model.safetensors", tensors, damage)
    if with_json:
        made = tokenizers.make(r)
        (folder / "tokenizer.json").write_text(json.dumps(made))
    if r.random() < 0.02:
        path = folder / r.choice(["config.json", "model.safetensors"])
        path.write_bytes(path.read_bytes()[:r.randrange(1, 200)])


def write_data(r, place):
    rows, length = r.choice([1, 3, 5]), r.choice([1, 2, 7, 30])
    tokens = [r.randrange(200) for _ in range(rows * length)]
    if r.random() < 0.1:
        tokens[0] = r.choice([-1, 260, 2147483647])
    by_token = r.random() < 0.3
    labels = [r.choice([0, 1, 0, 2, -1] if by_token else [0, 1, 0, 2]) for _ in range(rows * length if by_token else rows)]
    members = {"tokens": files.npy([rows, length], tokens),
               "labels": files.npy([rows, length] if by_token else [rows], labels),
               "targets": files.npy([rows, 8], [0.5] * rows * 8, "f4")}
    if r.random() < 0.3:
        members["lengths"] = files.npy([rows], [r.randrange(length + 2) for _ in range(rows)])
    if r.random() < 0.1:
        members.pop(r.choice(list(members)))
    files.npz(place / "data.npz", members)


def commands(r, model, place):
    """Arguments, and the file that a command may write."""
    text = r.choice(TEXTS)
    lines = str(place / "lines.txt")
    out = str(place / "out.bin")
    return [
        (r.choice([["run", model, "--text", text, "--json", "--top", "20"], ["run", model, "--lines", lines, "--json"],
                   ["run", model, "--lines", lines, "--tsv"], ["run", model, "--text", text, "--pair", r.choice(TEXTS), "--json"]]), None),
        (["embed", model, "--lines", lines, "--pooling", r.choice(["mean", "cls", "last", "max"]), "--json", "--out", out], out),
        (["eval", model, str(place / "data.npz"), "--json"], None),
        (["generate", model, "--text", text, "--tokens", r.choice(["1", "5", "40"]), "--out", out]
         + r.choice([["--greedy"], ["--seed", "3"], ["--window", "8"]]), out),
        (["inspect", model, "--json"], None),
    ]


# ---- a command ----

def limits(memory, seconds):
    """Of the processor's time, so that it does not matter what else the machine does."""
    def set_limits():
        if memory > 0:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_limits


def run(arguments, options, perturb, computes):
    device = ["--device", "processor"] if computes else ["--device", "Weft null device", "--math", "fast"]
    environment = dict(os.environ, MALLOC_PERTURB_=str(perturb), WEFT_PROCESSOR_THREADS="1", HOME=options.home,
                       XDG_CACHE_HOME=options.cache or options.home, TMPDIR=options.home, WEFT_NULL_DEVICE="1", VK_DRIVER_FILES="/dev/null", OCL_ICD_VENDORS="/dev/null")
    begin = time.monotonic()
    try:
        done = subprocess.run([options.weft, *arguments, *device], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WAITING * options.seconds,
                              preexec_fn=limits(options.memory << 20, options.seconds))
        return done.returncode, done.stdout, done.stderr, time.monotonic() - begin
    except subprocess.TimeoutExpired as error:
        return None, error.stdout or b"", error.stderr or b"", time.monotonic() - begin


def steady(value):
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items() if not VARYING.search(k) and k != "device"}
    return [steady(v) for v in value] if isinstance(value, list) else value


def answer(arguments, output, out):
    """What must be the same in every run."""
    text = output.decode(errors="replace")
    if "--json" in arguments:
        text = json.dumps(steady(json.loads(text)), sort_keys=True)
    return text, hashlib.sha256(Path(out).read_bytes()).hexdigest() if out and Path(out).exists() else None


def check(arguments, out, place, options, totals, computes):
    """What is wrong, or None."""
    before = {p.name for p in place.iterdir()}
    inside = {p.name for p in (place / "model").iterdir()}
    code, output, errors, seconds = run(arguments, options, 85, computes)
    totals["runs"] += 1
    totals[f"exit code {code}"] += 1
    options.slowest = max(options.slowest, (seconds, " ".join(arguments[:1])))
    if code is None:
        return "waits, and does not end"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}: {errors[-300:]!r}"
    if code not in CODES:
        return f"exit code {code}: {errors[-300:]!r}"
    if b"Sanitizer" in errors or b"runtime error" in errors:
        return errors[-3000:].decode(errors="replace")
    if b"out of memory" in errors:
        totals["out of memory"] += 1
    if code in (USAGE, BAD_FILE) and b"weft" not in errors:
        return "nothing is said of what is wrong"
    if code == FINE and computes:
        first = answer(arguments, output, out)
        again, output, errors, _ = run(arguments, options, 170, computes)
        totals["answers compared"] += 1
        if again != FINE or answer(arguments, output, out) != first:
            return f"another answer in other memory: {first}, {answer(arguments, output, out)}"
    left = {p.name for p in place.iterdir()} - before - {"out.bin"}
    left |= {p.name for p in (place / "model").iterdir()} - inside
    if left:
        return f"left behind: {sorted(left)}"
    if out and code != FINE and Path(out).exists():
        return "a file of answers although it failed"
    return None


def check_folder(number, options, totals):
    place = Path(tempfile.mkdtemp(prefix="folder-", dir=options.home))
    found = []
    r = make_place(options.seed, number, place)
    for arguments, out in commands(r, str(place / "model"), place):
        wrong = check(arguments, out, place, options, totals, number % options.processor == 0)
        if wrong:
            found.append((number, " ".join(arguments), wrong))
            if options.keep:
                shutil.copytree(place, Path(options.keep) / str(number), dirs_exist_ok=True)
        if out:
            Path(out).unlink(missing_ok=True)
    shutil.rmtree(place)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--memory", type=int, default=1024, help="MiB of address space for each command; 0: without a limit")
    parser.add_argument("--seconds", type=int, default=10, help="of the processor's time for each command; it may wait longer")
    parser.add_argument("--processor", type=int, default=10, metavar="N", help="every Nth folder runs on the processor")
    parser.add_argument("--cache", help="keep compiled kernels there")
    parser.add_argument("--keep", help="keep folders that fail there")
    options = parser.parse_args()
    options.weft = str(Path(options.weft).resolve())
    options.slowest = (0.0, "")
    totals, found = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="weft-hostile-") as options.home:
        for number in range(options.first, options.first + options.count):
            for row in check_folder(number, options, totals):
                found.append(row)
                print("FOUND", *row, flush=True)
            if number % 500 == 499:
                print(number + 1, "folders", dict(totals), flush=True)
    print(options.count, "folders", dict(totals), "slowest: %.1f s, %s" % options.slowest, len(found), "findings")
    if totals["exit code 0"] < options.count / 5 or totals["answers compared"] == 0:
        print("expected more answers: most folders are refused, and nothing was tried")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
