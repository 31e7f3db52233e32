# SPDX-License-Identifier: MIT
"""Makes tests/data/tokenizer/models: small SentencePiece models with every option, and what the library makes of texts.

    make_sentencepiece_golden.py [FOLDER] [--texts N]

The models are trained here by the Python package `sentencepiece`. NAME.json beside NAME.model has its answers: for each text,
in hexadecimal, the ids; for each list of ids the text. index.json has the names. Texts are random mixtures of pieces, white space of all kinds,
characters of many scripts, and bytes that are not UTF-8, from a fixed seed.

Needs sentencepiece 0.2.0 (and protobuf, for a model with unused pieces). Later versions add scores up in another way, and
decide otherwise where two ways to cut a text have the same score; 0.1.97 and 0.2.0 agree.
"""

import argparse
import io
import json
import pathlib
import random
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from make_tokenizer_golden import OBJECTS, SUBJECTS, VERBS

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizer" / "models"
SENTENCES = [f"{s} {v} {o}" for s in SUBJECTS for v in VERBS for o in OBJECTS] + 20 * [
    "日本語 の 織物 と 糸", "тканый узор повторяется", "die Weberin hält den Faden",
    "3 threads, 42 picks, 1984 knots", "def weave(x):\n\treturn x + 1"]

# From and to; some begin others, one ends within a character of another, and one leaves nothing.
RULES = [("\uff21", "A"), ("\uff21\u0301", "\u00c1"), ("\u00bd", "1\u20442"), ("\u00a0", " "), ("\t", " "), ("\n", " "),
         ("\u3000", "  "), ("\ufb01", "fi"), ("\u200b", ""), ("e\u0301", "\u00e9"), ("...", "\u2026")]
BACK = [("the", "THE"), ("th", "TH"), ("w", "W!"), ("  ", " "), ("q", "")]

USER = {"user_defined_symbols": ["<x>", "<xy>", "the", "\u2581a", "weav", "  ", "日本"]}
BYTES = {"byte_fallback": True, "vocab_size": 420}
KEEP = {"remove_extra_whitespaces": False}
OPTIONS = {
    "plain": {}, "identity": {"normalization_rule_name": "identity", **KEEP}, "keep": KEEP,
    "no-prefix": {"add_dummy_prefix": False}, "keep-no-prefix": {"add_dummy_prefix": False, **KEEP},
    "suffix": {"treat_whitespace_as_suffix": True}, "bytes": BYTES, "user": USER,
    "user-bytes": {**USER, **BYTES, **KEEP, "split_digits": True},
    "across": {"split_by_whitespace": False, "allow_whitespace_only_pieces": True, **KEEP},
    "control": {"control_symbols": ["<c>", "[SEP]"], "unk_surface": "??", "unk_id": 3, "bos_id": 0, "eos_id": 1, "pad_id": 2},
    "back": {"denormalization_rule_tsv": BACK},
}
WHOLE = ("plain", "user", "keep")  # options that words and characters are tried with


def write_rules(folder, name, rules):
    with open(folder / name, "w", encoding="utf-8") as file:
        for source, target in rules:
            file.write("\t".join(" ".join(f"{ord(c):X}" for c in side) for side in (source, target)) + "\n")


def train(kind, options):
    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_rules(folder, "rules.tsv", RULES)
        write_rules(folder, "back.tsv", BACK)
        arguments = {"normalization_rule_tsv": str(folder / "rules.tsv"), "vocab_size": 160, **options}
        if "normalization_rule_name" in options:
            del arguments["normalization_rule_tsv"]
        if "denormalization_rule_tsv" in options:
            arguments["denormalization_rule_tsv"] = str(folder / "back.tsv")
        if kind == "word":
            arguments["vocab_size"] = 40
        if kind == "unigram":
            arguments["hard_vocab_limit"] = False
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES), model_writer=model, model_type=kind, character_coverage=0.98,
            num_threads=1, minloglevel=2, **arguments)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    # Names of files of this machine.
    proto.trainer_spec.ClearField("input")
    proto.normalizer_spec.ClearField("normalization_rule_tsv")
    proto.denormalizer_spec.ClearField("normalization_rule_tsv")
    return proto


def with_unused(proto):
    """A third of the pieces unused, scores with many ties."""
    generator = random.Random(3)
    for piece in proto.pieces:
        if piece.type == 1:
            piece.score = piece.score // 8
            if len(piece.piece) > 1 and generator.random() < 0.35:
                piece.type = 5
    return proto


def models():
    for kind in ("unigram", "bpe"):
        for name, options in OPTIONS.items():
            yield f"{kind}-{name}", train(kind, options)
        yield f"{kind}-unused", with_unused(train(kind, {}))
    for kind in ("word", "char"):
        for name in WHOLE:
            yield f"{kind}-{name}", train(kind, OPTIONS[name])


SPACES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003", "\u2028", "\u200b", "\u2581", "\u2581\u2581", "\ufeff", "\0"]
WORDS = ["the weaver", "café", "cafe\u0301", "\uff21\u0301", "\uff21", "\ufb01ne", "½", "①", "한글", "...", "....", "1,000,",
         "<x>", "<xy>", "<x", "the", "weav", "<unk>", "<s>", "</s>", "<c>", "<0x41>", "\ufffd", "ẞ", "İ", "ffi"]
SCRIPTS = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0xFFF), (0x1000, 0x2FFF), (0x3000, 0x9FFF), (0xAC00, 0xD7A3),
           (0xF900, 0xFFFD), (0x1D400, 0x1D7FF), (0x1F300, 0x1F9FF), (0x01, 0x1F)]


def random_text(generator, pieces):
    parts = []
    for _ in range(generator.randint(0, generator.choice([3, 12, 30]))):
        choice = generator.random()
        if choice < 0.35:
            parts.append(generator.choice(pieces))
        elif choice < 0.5:
            parts.append(generator.choice(SPACES))
        elif choice < 0.65:
            parts.append(generator.choice(WORDS))
        elif choice < 0.85:
            parts.append(chr(generator.randint(*generator.choice(SCRIPTS))))
        else:
            parts.append(generator.choice("abdeht") * generator.randint(1, 20))
    text = bytearray("".join(parts).encode())
    if text and generator.random() < 0.3:
        for _ in range(generator.randint(1, 4)):
            text.insert(generator.randrange(len(text)), generator.randint(0x80, 0xFF))
    return bytes(text)


def answers(name, proto, count):
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())
    generator = random.Random(name)
    size = processor.get_piece_size()
    pieces = [processor.id_to_piece(i).replace("\u2581", " ") for i in range(size)]
    texts = [random_text(generator, pieces) for _ in range(count)]
    encoded = [[text.hex(), processor.encode(text)] for text in texts]
    lists = [ids if i % 2 else [generator.randrange(size) for _ in range(generator.randint(1, 24))]
             for i, (_, ids) in enumerate(encoded[:count // 2])]
    # A list without ids is a batch without lists to the package.
    return {"encode": encoded, "decode": [[ids, processor.decode(ids) if ids else ""] for ids in lists]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--texts", type=int, default=24, help="for each model")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, proto in models():
        names.append(name)
        (arguments.folder / f"{name}.model").write_bytes(proto.SerializeToString())
        text = json.dumps(answers(name, proto, arguments.texts), separators=(",", ":"), ensure_ascii=False)
        (arguments.folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (arguments.folder / "index.json").write_text(json.dumps({"models": names}) + "\n")


if __name__ == "__main__":
    main()
