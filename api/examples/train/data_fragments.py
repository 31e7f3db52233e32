# SPDX-License-Identifier: MIT
"""What kind of file are these 512 bytes out of its middle? 26 kinds, from files that Debian packages.

    data_fragments.py CACHE FOLDER      writes fragments.npz

Sources of fifteen languages and formats, machine code of eight processors, Java's classes, fonts, and what is compressed. A
file lies on one side of the split only, by a hash of its name; machine code, of which there are few files, by blocks of 64 KiB.
The test set: 40 fragments of each kind, evenly spread, of which every fifth is committed.
"""

import argparse
import gzip
import hashlib
import io
import pathlib
import struct
import sys
import zipfile

import numpy as np

import langid_data

WINDOW = 512
PER_KIND, COMMITTED = 40, 8
TEST_SHARE = 0.2
MOST_OF_A_FILE = 128 << 10
MOST_OF_A_KIND = 4 << 20
BLOCK = 64 << 10

# Kind: packages, and which files of theirs, below usr.
TEXTS = {
    "c": (["libc6-dev", "linux-libc-dev"], "include/**/*.h"),
    "c++": (["libboost1.81-dev"], "include/**/*.hpp"),
    "emacs-lisp": (["emacs-el"], "share/emacs/**/*.el.gz"),
    "go": (["golang-1.19-src"], "share/go-1.19/src/**/*.go"),
    "html": (["python3.11-doc", "libstdc++-12-doc"], "share/doc/**/*.html"),
    "javascript": (["libjs-mathjax", "libjs-jquery-ui", "libjs-bootstrap4"], "share/**/*.js"),
    "json": (["iso-codes"], "share/**/*.json"),
    "perl": (["perl-modules-5.36"], "share/perl/**/*.pm"),
    "python": (["libpython3.11-stdlib"], "lib/python3.11/**/*.py"),
    "roff": (["manpages", "manpages-dev"], "share/man/**/*.gz"),
    "ruby": (["libruby3.1"], "lib/**/*.rb"),
    "rust": (["rust-src"], "src/**/*.rs"),
    "tcl": (["tcllib"], "share/**/*.tcl"),
    "tex": (["texlive-latex-base", "texlive-latex-extra"], "share/texlive/**/*.sty"),
    "xml": (["docbook-xsl", "docbook-xml", "iso-codes"], "share/xml/**/*.x[ms]l"),
    "font": (["fonts-dejavu-core", "fonts-dejavu-extra"], "share/fonts/**/*.ttf"),
    "compressed": (["adwaita-icon-theme", "manpages-dev"], "share/**/*[gz][nz]*"),
}
PROCESSORS = {
    "code-arm": "armhf", "code-arm64": "arm64", "code-i386": "i386", "code-mips64": "mips64el", "code-ppc64": "ppc64el",
    "code-riscv64": "riscv64", "code-s390x": "s390x", "code-x86-64": "amd64",
}
CLASSES = ["libcommons-lang3-java", "libguava-java"]
STORED = {"roff", "emacs-lisp"}  # compressed in the packages, read as they are without


def is_test(name):
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:4], "big") < TEST_SHARE * 2**32


def files_of(packages, pattern, cache):
    """(name, contents) of regular files, sorted by package and path."""
    for package in packages:
        folder = langid_data.fetch(package, cache) / "usr"
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and not path.is_symlink():
                yield path.name, path.read_bytes()


def executable_part(contents):
    """What an ELF file loads to be executed; nothing of other files."""
    if contents[:4] != b"\x7fELF":
        return b""
    wide, order = contents[4] == 2, "<" if contents[5] == 1 else ">"
    at, size, count = (struct.unpack_from(order + ("Q" if wide else "I"), contents, 32 if wide else 28)[0],
                       *struct.unpack_from(order + "2H", contents, 54 if wide else 42))
    found = b""
    for place in range(at, at + count * size, size):
        if wide:
            kind, flags, offset, _, _, length = struct.unpack_from(order + "2I4Q", contents, place)
        else:
            kind, offset, _, _, length, _, flags = struct.unpack_from(order + "7I", contents, place)
        if kind == 1 and flags & 1:
            found += contents[offset:offset + length]
    return found


def code_of(processor, cache):
    """Blocks of machine code, named by the file and their number."""
    packages = [f"libc6-{processor}-cross", f"libstdc++6-{processor}-cross"]
    for name, contents in files_of(packages, "**/*.so*", cache):
        code = executable_part(contents)
        for number in range(len(code) // BLOCK):
            yield f"{name}/{number}", code[number * BLOCK:(number + 1) * BLOCK]


def classes_of(cache):
    for _, contents in files_of(CLASSES, "share/**/*.jar", cache):
        with zipfile.ZipFile(io.BytesIO(contents)) as jar:
            for name in sorted(jar.namelist()):
                if name.endswith(".class"):
                    yield name, jar.read(name)


def texts_of(kind, cache):
    for name, contents in files_of(*TEXTS[kind], cache):
        yield name, gzip.decompress(contents) if kind in STORED and name.endswith(".gz") else contents


def streams_of(parts):
    """{"train": bytes, "test": bytes} of (name, contents): what follows a fragment is of the same file, as a rule."""
    found = {"train": [], "test": []}
    room = {"train": MOST_OF_A_KIND, "test": MOST_OF_A_KIND // 4}
    for name, contents in parts:
        side = "test" if is_test(name) else "train"
        middle = contents[WINDOW:][:MOST_OF_A_FILE]  # without the first bytes, which say what follows
        if len(middle) >= 2 * WINDOW and room[side] > 0:
            found[side].append(middle)
            room[side] -= len(middle)
    return {side: np.frombuffer(b"".join(pieces), np.uint8) for side, pieces in found.items()}


def all_streams(cache):
    """Of each kind, in the order of their names."""
    parts = {kind: texts_of(kind, cache) for kind in TEXTS}
    parts |= {kind: code_of(processor, cache) for kind, processor in PROCESSORS.items()}
    parts["java-class"] = classes_of(cache)
    found = {kind: streams_of(parts[kind]) for kind in sorted(parts)}
    for kind, streams in found.items():
        if min(map(len, streams.values())) < PER_KIND * WINDOW:
            raise SystemExit(f"{kind}: too few bytes, {({side: len(one) for side, one in streams.items()})}")
    return found


class Data:
    """Fragments; `cache` is where packages are kept."""

    def __init__(self, cache):
        self.streams = all_streams(pathlib.Path(cache))
        self.config = {
            "task": "classify", "input": "tokens", "vocab_size": 256,
            "max_position_embeddings": WINDOW, "tokenizer_class": "ByteTokenizer",
            "id2label": {str(i): kind for i, kind in enumerate(self.streams)},
        }

    def train_batch(self, rng, size, length=WINDOW):
        """Of random places: int64 tokens [size, length] and labels [size]."""
        streams = [one["train"] for one in self.streams.values()]
        labels = rng.integers(len(streams), size=size)
        starts = [rng.integers(len(streams[label]) - length + 1) for label in labels]
        tokens = np.stack([streams[label][at:at + length] for label, at in zip(labels, starts)])
        return tokens.astype(np.int64), labels

    def full_test(self):
        """int32 tokens [count, WINDOW] and labels [count]."""
        tokens, labels = [], []
        for label, one in enumerate(self.streams.values()):
            for at in np.linspace(0, len(one["test"]) - WINDOW, PER_KIND).astype(int):
                tokens.append(one["test"][at:at + WINDOW])
                labels.append(label)
        return {"tokens": np.array(tokens, np.int32), "labels": np.array(labels, np.int32)}

    def test(self):
        """The committed test set."""
        return {name: array[2::PER_KIND // COMMITTED] for name, array in self.full_test().items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cache", type=pathlib.Path, help="folder for packages")
    parser.add_argument("folder", type=pathlib.Path, help="where the npz file goes")
    args = parser.parse_args()
    data = Data(args.cache)
    np.savez_compressed(args.folder / "fragments.npz", **data.test())
    for kind, one in data.streams.items():
        print(f"{kind:14} {len(one['train']):9} bytes to learn from, {len(one['test']):8} to test with")


if __name__ == "__main__":
    sys.exit(main())
