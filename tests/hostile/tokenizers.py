# SPDX-License-Identifier: MIT
"""tokenizer.json by a small grammar: every part alone may be in order, not all together. tests/fuzz has the one that searches."""

PIECES = ["a", "b", " ", "aa", "ab", "##a", "##b", "é", "▁", "▁a", "</w>", "Ġ", "0", "1", "\U0001f600", "[UNK]", "zz"]


def pattern(r):
    return r.choice([{"String": r.choice(["a", " ", "", "é", "ab"])},
                     {"Regex": r.choice(["a", ".", "\\s+", "[^a]", "(a|b)*", "(?:|)", "\\p{L}+", "(?i)[[é]]", "(?=a)", "a{2,5}", "(", "x*"])}])


def normalizer(r):
    return r.choice([{"type": "NFC"}, {"type": "NFKD"}, {"type": "Lowercase"}, {"type": "StripAccents"}, {"type": "Strip", "strip_left": True,
                     "strip_right": True}, {"type": "Replace", "pattern": pattern(r), "content": r.choice(["", "a", "aa", "é" * 3])},
                     {"type": "Prepend", "prepend": r.choice(["▁", "", "aaa"])}, {"type": "Nmt"},
                     {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}])


def pre_tokenizer(r):
    return r.choice([{"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}, {"type": "Punctuation",
                     "behavior": "Isolated"}, {"type": "Digits", "individual_digits": True}, {"type": "FixedLength", "length": r.choice([1, 3, 1000])},
                     {"type": "ByteLevel", "add_prefix_space": r.random() < 0.5, "trim_offsets": True, "use_regex": r.random() < 0.5},
                     {"type": "Metaspace", "replacement": "▁", "prepend_scheme": r.choice(["always", "first", "never"]), "split": True},
                     {"type": "Split", "pattern": pattern(r), "behavior": r.choice(["Isolated", "Removed", "MergedWithNext"]),
                      "invert": r.random() < 0.3}])


def several(r, make, kind, items):
    n = r.choice([0, 0, 1, 1, 2, 4])
    return None if n == 0 else make(r) if n == 1 else {"type": kind, items: [make(r) for _ in range(n)]}


def ids(r):
    """Mostly one after the other."""
    order = list(range(len(PIECES)))
    if r.random() < 0.05:
        order[r.randrange(len(order))] = r.choice([-1, 259, 260, 4294967295, 2147483647, 0])
    return dict(zip(PIECES, order))


def model(r):
    vocabulary = ids(r)
    kind = r.choice(["WordLevel", "BPE", "WordPiece", "Unigram"])
    unknown = r.choice(["[UNK]"] * 9 + ["nothing", None])
    if kind == "WordLevel":
        return {"type": kind, "vocab": vocabulary, "unk_token": unknown}
    if kind == "WordPiece":
        return {"type": kind, "vocab": vocabulary, "unk_token": unknown or "[UNK]", "continuing_subword_prefix": r.choice(["##", "", "a" * 300]),
                "max_input_chars_per_word": r.choice([100, 100, 0, 2**31 - 1])}
    if kind == "Unigram":
        return {"type": kind, "vocab": [[p, r.choice([-1.0, -2.5, 0, 1e30, -1e30])] for p in PIECES], "unk_id": r.choice([0, 15, 15, 15, None, 99]),
                "byte_fallback": r.random() < 0.3}
    if r.random() < 0.4:
        vocabulary.update({f"<0x{i:02X}>": len(PIECES) + i for i in range(240)})
    return {"type": kind, "vocab": vocabulary, "merges": r.choice([[], [["a", "a"]], [["a", "b"], ["a", "a"]], ["a a"]] * 3 + [[["zz", "zz"]]]),
            "unk_token": unknown, "byte_fallback": r.random() < 0.5, "fuse_unk": r.random() < 0.5,
            "end_of_word_suffix": r.choice([None, None, "</w>", "s" * 2000]),
            "continuing_subword_prefix": r.choice([None, None, "##", "#" * 500]), "dropout": r.choice([None, None, 0, 0.5])}


def post_processor(r):
    part = r.choice([{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[UNK]", "type_id": r.choice([0, 1, 2147483647])}}])
    a, b = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
    return r.choice([None, None, {"type": "TemplateProcessing", "single": [a] * r.choice([1, 1, 2]) + [part] * r.choice([0, 1, 30]),
                                  "pair": [a, b], "special_tokens": {"[UNK]": {"id": "[UNK]", "ids": [r.choice([15] * 9 + [300, 2147483647])],
                                                                               "tokens": ["[UNK]"]}}},
                     {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}])


def make(r):
    added = [{"id": r.choice([0, 2, 15, 17, 17, 18, 300]), "content": r.choice(["a", " ", "<s>", "é", "aab"]), "single_word": r.random() < 0.3,
              "lstrip": r.random() < 0.5, "rstrip": r.random() < 0.5, "normalized": r.random() < 0.5, "special": r.random() < 0.5}
             for _ in range(r.choice([0, 0, 1, 3]))]
    decoder = r.choice([None, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
                        {"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "Metaspace", "replacement": "▁",
                        "prepend_scheme": "always", "split": True}, {"type": "ByteFallback"}, {"type": "Fuse"}])
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": several(r, normalizer, "Sequence", "normalizers"),
            "pre_tokenizer": several(r, pre_tokenizer, "Sequence", "pretokenizers"),
            "post_processor": post_processor(r), "decoder": decoder, "model": model(r)}
