# SPDX-License-Identifier: MIT
"""Model folders of the repository, of which a file or two are damaged."""

from __future__ import annotations

import pathlib
import random
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


def make(source: random.Random, place: pathlib.Path) -> None:
    """place/model, with a tokenizer, and place/data.npz, of which one or two files are damaged."""
    data, corpus, folder = ROOT / "tests/data", ROOT / "tests/fuzz/corpus", place / "model"
    models = [data / "models" / name for name in ("gpt2_causal_lm", "bert_classify", "bert_hidden", "fmmformer_band")]
    model = source.choice(models)
    config = model / "config.json"
    if source.randrange(3) == 0:
        config = source.choice(sorted((corpus / "program").iterdir()))
    tokenizers = sorted((corpus / "tokenizer_json").iterdir()) + sorted((data / "tokenizer/json").glob("*.json"))
    folder.mkdir()
    shutil.copyfile(config, folder / "config.json")
    shutil.copyfile(model / "model.safetensors", folder / "model.safetensors")
    shutil.copyfile(source.choice(tokenizers), folder / "tokenizer.json")
    shutil.copyfile(model / "input.npz", place / "data.npz")
    for path in source.sample([*sorted(folder.iterdir()), place / "data.npz"], source.randint(1, 2)):
        path.write_bytes(damaged(path.read_bytes(), source))
