# SPDX-License-Identifier: MIT
"""Makes tests/data/tokenizer: a tiny SentencePiece model and the ids that texts must get from it.

    make_tokenizer_golden.py [FOLDER]

The model is trained here, from the sentences below, with the piece ids of the published FNet
checkpoints (<unk> 0, <s> 1, </s> 2, <pad> 3, [CLS] 4, [SEP] 5, [MASK] 6). The expected ids come
from the Python package `sentencepiece` and, around it, what transformers' FNetTokenizer did while it
was written in Python (transformers 4: do_lower_case off, keep_accents and remove_space on, the
settings of google/fnet-base): special tokens are cut out first, white space is collapsed, `` and ''
become ", and a piece that ends in a digit and a comma is encoded again.

--compare (needs the package protobuf) prints where transformers' converter to tokenizer.json gives
other ids. It keeps a space at the end, at line breaks and before special tokens, takes <s> and </s>
in a text for special tokens, and settles ties in numbers otherwise; on other texts it agrees.

Versions used for the committed files: sentencepiece 0.2.3, transformers 5.23.0.
"""

import argparse
import contextlib
import io
import json
import pathlib
import re
import tempfile

import sentencepiece

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizer"
SPECIALS = ["[CLS]", "[SEP]", "[MASK]", "<pad>", "<unk>"]
MARK = "\u2581"

# Words with common stems, so that pieces longer than a letter pay off; numbers before commas, so
# that pieces such as "00," come into the vocabulary.
SUBJECTS = ["the weaver", "a loom", "the warp", "the weft", "every thread", "the shuttle",
            "a pattern", "the weaving", "a woven cloth", "the loom's frame"]
VERBS = ["holds", "crosses", "is holding", "was crossing", "tightens", "is tightening", "loosens",
         "repeats", "is repeating", "follows"]
OBJECTS = ["the warp", "the whole pattern", "a finer weave", "the café's curtain",
           "the naïve weaver's cloth", "\"the finest cloth\"", "knots, threads and picks"]
ENDS = [".", ", again.", ", and again.", "!", "?", ", in 2020, and in 2021."]
NUMBERS = ([f"{n}," for n in range(1, 10)] + [f"{n}00," for n in range(1, 40)]
           + [f"{n},000," for n in range(1, 40)])

# Normalisation rules for the model: full-width letters and digits, a fraction that grows, a
# no-break space. The usual nmt_nfkc would make the file three times as large.
RULES = [("\uff21", "A"), ("\uff11", "1"), ("\uff12", "2"), ("\uff0c", ","),
         ("\u00bd", "1\u20442"), ("\u00a0", " "), ("\ufb01", "fi")]

TEXTS = [
    "the weaver holds the warp.",
    "The Weaver Holds The Warp",
    "  two  spaces \t a tab\nand\r\nlines\u3000ideographic\u00a0no-break\u2028separator\x1cfile ",
    "``quoted'' and ''quoted`` and ```three''' and 'one' and ` `apart",
    "in 2020, and 10, 20, 30, or 1,000, threads",
    "x10, 2,000,000, 5,",
    "9, ",
    ",",
    "a,b, 3,a 4 ,",
    "the café is naïve",
    "the cafe\u0301 decomposed",
    "\uff21\uff11\uff12\uff0c \u00bd \ufb01ne \u00bd\u00bd\u00bd",
    "\u65e5\u672c\u8a9e unknown \u4e16\u754c",
    "emoji \U0001f9f6 and \U0001f9f5\U0001f9f5, yarn",
    "the [MASK] holds [MASK][MASK] threads",
    "[CLS] a text that has it [SEP] already [SEP]",
    "<unk> and <pad> and <s> and </s>",
    "[mask] [MASK [ MASK] [[MASK]]",
    "glued[MASK]inside",
    "",
    "   \t\n ",
    "a",
    "\u2581the\u2581mark\u2581itself",
    "\u0661\u0662, \u00b2, \u2460,",
    "weaving woven weaver's weave weft weaves unweaving",
    "a" * 50,
    "the pattern " * 12,
]

def train():
    sentences = [f"{s} {v} {o}{ENDS[(i + j + k) % len(ENDS)]}" for i, s in enumerate(SUBJECTS)
                 for j, v in enumerate(VERBS) for k, o in enumerate(OBJECTS)]
    sentences += [f"{number} {NUMBERS[7 * i % len(NUMBERS)]} threads"
                  for i, number in enumerate(NUMBERS)]
    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        # The model records the name of its rules, so it must not depend on the machine.
        with open("rules.tsv", "w", encoding="utf-8") as rules:
            for source, target in RULES:
                rules.write("\t".join(" ".join(f"{ord(c):X}" for c in side)
                                      for side in (source, target)) + "\n")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences), model_writer=model, model_type="unigram",
            vocab_size=220, hard_vocab_limit=False, character_coverage=1.0, num_threads=1,
            unk_id=0, bos_id=1, eos_id=2, pad_id=3, control_symbols=["[CLS]", "[SEP]", "[MASK]"],
            split_by_number=False, normalization_rule_tsv="rules.tsv", minloglevel=2)
    return model.getvalue()


def encode_segment(processor, text):
    """The pieces of a text without special tokens."""
    text = " ".join(text.split()).replace("``", '"').replace("''", '"')
    pieces = []
    for piece in processor.encode(text, out_type=str):
        if len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit():
            number = processor.encode(piece[:-1].replace(MARK, ""), out_type=str)
            if piece[0] != MARK and number[0][0] == MARK:
                number = ([number[0][1:]] if len(number[0]) > 1 else []) + number[1:]
            pieces += number + [","]
        else:
            pieces.append(piece)
    return pieces


def encode(processor, text):
    ids = []
    for part in re.split("(" + "|".join(map(re.escape, SPECIALS)) + ")", text):
        pieces = [part] if part in SPECIALS else encode_segment(processor, part)
        ids += [processor.piece_to_id(piece) for piece in pieces]
    return ids


class Settings:
    """What transformers' converter asks of the tokenizer that it converts."""

    keep_accents, do_lower_case, add_prefix_space = True, False, True

    def __init__(self, vocab_file, processor):
        self.vocab_file = str(vocab_file)
        self.convert_tokens_to_ids = processor.piece_to_id


def compare(folder, processor, cases):
    """Says where the tokenizer.json that transformers makes of the model gives other ids."""
    from transformers.convert_slow_tokenizer import AlbertConverter  # needs protobuf

    converted = AlbertConverter(Settings(folder / "spiece.model", processor)).converted()
    converted.add_special_tokens(SPECIALS)
    for case in cases:
        theirs = converted.encode(case["text"], add_special_tokens=False).ids
        if theirs != case["ids"]:
            print(f"differs: {case['text']!r}\n  here  {case['ids']}\n  there {theirs}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--compare", action="store_true",
                        help="also with transformers' converted tokenizer")
    arguments = parser.parse_args()
    folder = arguments.folder
    model = train()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    cases = [{"text": text, "ids": encode(processor, text)} for text in TEXTS]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spiece.model").write_bytes(model)
    golden = {"pieces": processor.get_piece_size(), "cases": cases}
    (folder / "expected.json").write_text(json.dumps(golden, indent=None) + "\n")
    if arguments.compare:
        compare(folder, processor, cases)
    print(f"{len(model)} bytes, {processor.get_piece_size()} pieces, {len(cases)} texts")


if __name__ == "__main__":
    main()
