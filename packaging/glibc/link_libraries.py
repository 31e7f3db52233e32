# SPDX-License-Identifier: MIT
"""link_libraries.py VERSION FOLDER COMPILER...: what to link with (-L FOLDER), so that programs run with an older glibc.

A program asks its C library for each function's newest version, here that of the machine which links it. Of this machine's
glibc the libraries in FOLDER have what glibc VERSION had, where that had it (libdl and libpthread were of their own before
2.34), and no code: a function that is newer does not link. older.c and start.c have those few that compilers, the C++ library
and LLVM's archives want all the same. libstdc++.so is the C++ library's archive: there the library may be older, too.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MOVED = {"libdl.so.2": re.compile("dl"), "libpthread.so.0": re.compile("pthread_|sem_|__pthread_")}
SYMBOL = re.compile(
    r"\s*\d+: (?P<value>[0-9a-f]+)\s+(?P<size>\d+)\s+(?P<type>FUNC|IFUNC|OBJECT)\s+\w+\s+DEFAULT\s+\d+\s+"
    r"(?P<name>[\w.]+)(?P<at>@@?)GLIBC_(?P<version>[0-9.]+)"
)


def numbers(version):
    """To compare versions by."""
    return [int(part) for part in version.split(".")]


def said(*command):
    """What a program prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_symbols(library, newest):
    """What the library had then: for each name its newest version until then; and the names that have come here with 2.34."""
    old, moved = {}, set()
    for match in filter(None, map(SYMBOL.match, said("readelf", "-W", "--dyn-syms", library).splitlines())):
        name, version = match["name"], numbers(match["version"])
        if version > newest:
            if match["at"] == "@@" and version == [2, 34]:
                moved.add(name)
        elif name not in old or numbers(old[name]["version"]) < version:
            old[name] = match
    return old, moved


def assembly(symbols):
    """A symbol for each name. Names of one variable stay names of one: a program may have a copy of it."""
    lines, sizes = [], {}
    for number, (name, match) in enumerate(symbols):
        is_object = match["type"] == "OBJECT"
        section = f'.section .object.{match["value"]},"aw",%nobits' if is_object else ".text"
        kind = "%object" if is_object else "%function"
        lines += [section, f".globl s{number}", f".type s{number},{kind}", f"s{number}:", f".size s{number},{match['size']}",
                  f".symver s{number},{name}@@@GLIBC_{match['version']}"]
        if is_object:
            sizes[match["value"]] = match["size"]
    for value, size in sizes.items():
        lines += [f'.section .object.{value},"aw",%nobits', f".skip {size}"]
    return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])


def version_script(symbols):
    """Names each version that one of the symbols has."""
    versions = sorted({match["version"] for _, match in symbols}, key=numbers)
    rest = "".join(f"GLIBC_{version} {{ }};\n" for version in versions[1:])
    return f"GLIBC_{versions[0]} {{ local: s[0-9]*; }};\n{rest}"


def make_library(folder, soname, symbols, compiler):
    """A shared library without code."""
    source, script = folder / f"{soname}.s", folder / f"{soname}.map"
    source.write_text(assembly(symbols))
    script.write_text(version_script(symbols))
    said(*compiler, "-shared", "-nostdlib", f"-Wl,-soname,{soname},--version-script={script}", "-o", folder / soname, source)


def make_archive(folder, compiler):
    """What is newer, and wanted all the same."""
    archive, objects = folder / "libolder.a", []
    for name in "older", "start":
        objects.append(folder / f"{name}.o")
        said(*compiler, "-c", "-O2", "-fPIC", "-o", objects[-1], HERE / f"{name}.c")
    archive.unlink(missing_ok=True)
    said(said(*compiler, "-print-prog-name=ar").strip(), "rcsD", archive, *objects)
    return archive


def main():
    """Writes the libraries, and how the linker finds them by the names that it is given."""
    version, folder, compiler = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)

    def find(name):
        return said(*compiler, f"-print-file-name={name}").strip()

    libraries = {}
    for soname in "libc.so.6", "libm.so.6":
        old, moved = read_symbols(find(soname), numbers(version))
        for name, match in sorted(old.items()):
            homes = [home for home, pattern in MOVED.items() if name in moved and pattern.match(name)]
            libraries.setdefault(homes[0] if homes else soname, []).append((name, match))
    for soname, symbols in libraries.items():
        make_library(folder, soname, symbols, compiler)

    loader = re.search(r"AS_NEEDED \( (\S+) \)", pathlib.Path(find("libc.so")).read_text())[1]
    shared = [folder / soname for soname in libraries if soname != "libm.so.6"]
    parts = [make_archive(folder, compiler), *shared, find("libc_nonshared.a")]
    (folder / "libc.so").write_text(f"GROUP ( {' '.join(map(str, parts))} AS_NEEDED ( {loader} ) )\n")
    (folder / "libm.so").write_text(f"INPUT ( {folder / 'libm.so.6'} )\n")
    (folder / "libstdc++.so").write_text(f"INPUT ( {find('libstdc++.a')} )\n")


if __name__ == "__main__":
    main()
