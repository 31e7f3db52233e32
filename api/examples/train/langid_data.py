# SPDX-License-Identifier: MIT
"""The corpus of the language identifier: prose from the manual pages that Debian packages.

    langid_data.py CACHE            downloads, extracts, cleans, splits; writes CACHE/corpus.json.gz

Packages come from whatever archive `apt-get download` is configured to use on this machine. The
split is by page: every name of a page (its aliases by link and by `.so` included), in every
language, lies on one side only. A paragraph that occurs on several pages is kept once.
"""

import argparse
import collections
import gzip
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import unicodedata

import roff

# Label: (name of the language, folders under usr/share/man that hold it).
LANGUAGES = {
    "cs": ("Czech", ["cs"]), "da": ("Danish", ["da"]), "de": ("German", ["de"]),
    "en": ("English", [""]), "es": ("Spanish", ["es"]),
    "fi": ("Finnish", ["fi"]), "fr": ("French", ["fr"]), "hu": ("Hungarian", ["hu"]),
    "id": ("Indonesian", ["id"]), "it": ("Italian", ["it"]), "ja": ("Japanese", ["ja"]),
    "ko": ("Korean", ["ko"]), "nb": ("Norwegian", ["nb"]),
    "nl": ("Dutch", ["nl"]), "pl": ("Polish", ["pl"]), "pt": ("Portuguese", ["pt", "pt_BR"]),
    "ro": ("Romanian", ["ro"]), "ru": ("Russian", ["ru"]),
    "sr": ("Serbian", ["sr", "sr_Cyrl"]), "sv": ("Swedish", ["sv"]), "tr": ("Turkish", ["tr"]),
    "uk": ("Ukrainian", ["uk"]), "vi": ("Vietnamese", ["vi"]),
    "zh": ("Chinese", ["zh_CN", "zh_TW", "zh_CHS", "zh_Hant"]),
}
PACKAGES = """
manpages manpages-dev manpages-cs manpages-cs-dev manpages-da manpages-da-dev manpages-de
manpages-de-dev manpages-es manpages-es-dev manpages-fi manpages-fr manpages-fr-dev manpages-hu
manpages-id manpages-it manpages-it-dev manpages-ja manpages-ja-dev manpages-ko manpages-ko-dev
manpages-nb manpages-nl manpages-nl-dev manpages-pl manpages-pl-dev manpages-pt-br
manpages-pt-br-dev manpages-ro manpages-ro-dev manpages-ru manpages-ru-dev manpages-sr manpages-sv
manpages-tr manpages-uk manpages-uk-dev manpages-vi manpages-zh
debhelper dpkg dpkg-dev fakeroot login man-db passwd po4a procps psmisc xz-utils
""".split()

TEST_SHARE = 0.2   # of the page groups
MIN_LETTERS = 25   # a paragraph with fewer says too little; one of Chinese, Japanese or Korean: 12


# --- getting the pages ---------------------------------------------------------------------------

def fetch(package, cache):
    """Download and extract `package` below `cache`, once; return its folder."""
    folder = cache / "packages" / package
    if not folder.is_dir():
        debs = cache / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "-q", "download", package], cwd=debs, check=True,
                       stdout=subprocess.DEVNULL)
        (deb,) = debs.glob(package + "_*.deb")
        partial = folder.with_suffix(".partial")
        partial.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", deb, partial], check=True)
        partial.rename(folder)
    return folder


def stem(path):
    """The name of a page without section and compression: usr/share/man/fr/man1/ls.1.gz is `ls`."""
    return re.sub(r"\.[0-9n][a-z0-9]*$", "", re.sub(r"\.gz$", "", pathlib.Path(path).name))


def pages_of(folder, languages):
    """Yield (label, stem, path) for every page below `folder`, links among them."""
    for label, (_, places) in languages.items():
        for place in places:
            yield from ((label, stem(p), p)
                        for p in sorted((folder / "usr/share/man" / place).glob("man[1-8]/*.gz")))


class Groups:
    """Union-find over page names: names that lead to one page belong together."""

    def __init__(self):
        self.parent = {}

    def find(self, name):
        while self.parent.setdefault(name, name) != name:
            name = self.parent[name]
        return name

    def union(self, a, b):
        a, b = sorted((self.find(a), self.find(b)))
        self.parent[b] = a  # the first in the alphabet stands for the group


def read_pages(cache, languages):
    """All pages as {label: {(group, file name): source}}, and the groups their names form."""
    groups, found = Groups(), collections.defaultdict(dict)
    for package in PACKAGES:
        for label, name, path in pages_of(fetch(package, cache), languages):
            if path.is_symlink():
                groups.union(name, stem(path.readlink()))
                continue
            source = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
            if roff.redirect(source):
                groups.union(name, stem(roff.redirect(source)))
            else:
                groups.find(name)
                found[label].setdefault((name, f"{path.parent.parent.name}/{path.name}"), source)
    return found, groups


# --- cleaning ------------------------------------------------------------------------------------

BOILERPLATE = re.compile(
    r"GPL|GNU General|Free Software Foundation|copyright|licen[csz]|лиценз|лицен|ліценз|ライセンス"
    r"|著作権|许可|授權|版权|저작권|lisens|lisans|licença|\S@\S|Translation Project|invocation|©", re.I)
CODE_WORD = re.compile(
    r"[_/=<>{}\\@$|*#%^~+\[\]`&]|^[(\"']*-|\w\(\w*\)|\w[.:]\w|\d[a-z]|[a-z]\d|^\W*$")
ENGLISH = set(
    "the and this with which from that when should been your you does these there".split())
SCRIPTS = {"el": ("GREEK",), "mk": ("CYRILLIC",), "ru": ("CYRILLIC",), "sr": ("CYRILLIC",),
           "uk": ("CYRILLIC",), "ja": ("HIRAGANA", "KATAKANA", "CJK"), "ko": ("HANGUL",),
           "zh": ("CJK",)}
CHARACTER_SCRIPTS = ("ja", "ko", "zh")
BETWEEN_HAN = re.compile(r"(?<=[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]) "
                         r"(?=[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef])")


def script_share(text, scripts):
    """The share of letters that belong to one of `scripts`."""
    letters = [c for c in text if c.isalpha()]
    return sum(unicodedata.name(c, "").startswith(scripts) for c in letters) / max(1, len(letters))


def without_code(text):
    """`text` without options, paths, identifiers, page references; and the share of words lost."""
    words = text.split()
    kept = [w for w in words if not CODE_WORD.search(w)]
    return " ".join(kept), 1 - len(kept) / max(1, len(words))


def is_english(text):
    words = re.findall(r"[a-z']+", text.lower())
    return sum(w in ENGLISH for w in words) >= 0.05 * max(1, len(words)) and len(words) > 3


def is_foreign(label, text):
    """Whether `text` is plainly not in the language `label`."""
    if label == "en":
        return not is_english(text) or script_share(text, ("LATIN",)) < 0.99
    if label not in SCRIPTS:
        return is_english(text) or script_share(text, ("LATIN",)) < 0.97
    if script_share(text, SCRIPTS[label]) < 0.6:
        return True
    kana = script_share(text, ("HIRAGANA", "KATAKANA"))
    return label == "ja" and kana < 0.2 or label == "zh" and kana > 0.02


def is_list_of_names(text):
    words = [w for w in text.split() if w[0].isalpha()]
    return sum(w[0].isupper() for w in words) > 0.5 * len(words)


def clean(label, paragraph):
    """The prose of `paragraph`, or None where it has too little of it."""
    if BOILERPLATE.search(paragraph) or "\ufffd" in paragraph:
        return None
    text, lost = without_code(unicodedata.normalize("NFC", paragraph))
    if label in ("ja", "zh"):  # filled lines were joined by a space, and some pages are spaced out
        text = BETWEEN_HAN.sub("", text)
    letters = sum(c.isalpha() for c in text)
    least = 12 if label in CHARACTER_SCRIPTS else MIN_LETTERS
    if letters < least or letters < 0.75 * len(text.replace(" ", "")) or lost > 0.35:
        return None
    return None if is_foreign(label, text) or is_list_of_names(text) else text


def key(text):
    """What two copies of one paragraph share: the letters, without case."""
    return "".join(c for c in text.casefold() if c.isalpha())


def long_words(text):
    return re.findall(r"[^\W\d_]{3,}", text.casefold())


def vocabulary(pages):
    """The words that occur on three pages or more."""
    uses = collections.Counter()
    for texts in pages.values():
        uses.update(set(long_words(" ".join(texts))))
    return frozenset(w for w, n in uses.items() if n >= 3)


def is_untranslated(text, english_words):
    """Whether nearly every word of `text` is an English one."""
    words = long_words(text)
    return len(words) > 0 and sum(w in english_words for w in words) > 0.7 * len(words)


def drop_repeated(pages, english):
    """Keep a paragraph that several pages share on the first of them, and of paragraphs that begin
    or end alike the first; drop what the English pages have too."""
    seen, kept = set(), {}
    for page, texts in sorted(pages.items()):
        kept[page] = []
        for text in texts:
            k = key(text)
            marks = {k[:40], "…" + k[-40:]}
            if not marks & seen and k not in english:
                kept[page].append(text)
            seen |= marks
    return {page: texts for page, texts in kept.items() if texts}


# --- splitting -----------------------------------------------------------------------------------

def is_test(group):
    """Whether the page group named `group` is held out: decided by its name alone."""
    digest = hashlib.sha256(group.encode()).digest()
    return int.from_bytes(digest[:4], "big") < TEST_SHARE * 2**32


def build(cache, languages):
    """{label: {"train": {page: text}, "test": {page: text}}}, paragraphs separated by a newline."""
    found, groups = read_pages(cache, languages)
    english, english_words, corpus = frozenset(), frozenset(), {}
    for label in sorted(languages, key=lambda name: name != "en"):  # English first
        cleaned = {page: [t for t in (clean(label, p) for p in roff.paragraphs(source)) if t]
                   for page, source in sorted(found[label].items())}
        cleaned = {page: [t for t in texts if not is_untranslated(t, english_words)]
                   for page, texts in cleaned.items()}
        kept = drop_repeated(cleaned, english)
        if label == "en":
            english_words = vocabulary(cleaned)
            english = frozenset(key(t) for texts in cleaned.values() for t in texts)
        split = corpus[label] = {"train": {}, "test": {}}
        for (name, file), texts in kept.items():
            side = "test" if is_test(groups.find(name)) else "train"
            split[side][file] = "\n".join(texts)
    return dict(sorted(corpus.items()))


def check_split(corpus):
    """No page name may be on both sides, in any language."""
    names = {side: {stem(file) for split in corpus.values() for file in split[side]}
             for side in ("train", "test")}
    both = names["train"] & names["test"]
    if both:
        raise SystemExit(f"pages in both sets: {sorted(both)[:10]}")


def load(cache):
    """The corpus, built and kept in `cache` the first time."""
    cache = pathlib.Path(cache)
    stored = cache / "corpus.json.gz"
    if not stored.exists():
        corpus = build(cache, LANGUAGES)
        stored.write_bytes(gzip.compress(json.dumps(corpus, ensure_ascii=False).encode(), mtime=0))
    corpus = json.loads(gzip.decompress(stored.read_bytes()))
    check_split(corpus)
    return corpus


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cache", type=pathlib.Path, help="folder for packages and the corpus")
    corpus = load(parser.parse_args().cache)
    print("label  train pages    kB   test pages    kB")
    for label, split in corpus.items():
        size = {side: sum(len(t.encode()) for t in split[side].values()) / 1000 for side in split}
        print(f"{label:5} {len(split['train']):12} {size['train']:6.0f} {len(split['test']):11}"
              f" {size['test']:6.0f}")


if __name__ == "__main__":
    sys.exit(main())
