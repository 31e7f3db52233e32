# SPDX-License-Identifier: MIT
"""link_libraries.py VERSION FOLDER COMPILER...: what to link with (-L FOLDER), so that programs run with an older glibc.

A program asks its C library for each function's newest version, here that of the machine which links it. Of this machine's glibc
the libraries in FOLDER have what glibc VERSION had, where that had it (libdl and libpthread were of their own before 2.34), and no
code: a function that is newer does not link. older.c and start.c have those few that compilers, the C++ library and LLVM's
archives want all the same. libstdc++.so is the C++ library's archive: there it may be
older, too.
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
    return [int(part) for part in version.split(".")]


def read_symbols(library, newest):
    """What the library had then: for each name its newest version until then, and whether it has gone elsewhere since."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    old, moved = {}, set()
    for match in filter(None, map(SYMBOL.match, text.splitlines())):
        name, version = match["name"], numbers(match["version"])
        if version > newest:
            if match["at"] == "@@" and version == [2, 34]:
                moved.add(name)
        elif name not in old or numbers(old[name]["version"]) < version:
            old[name] = match
    return old, moved


def assembly(symbols):
    """A symbol for each name; those of data that are one variable stay one."""
    lines = []
    for number, (name, match) in enumerate(symbols):
        kind = "object" if match["type"] == "OBJECT" else "function"
        lines += [
            f".section .{kind}.{match['value']},\"aw\",%nobits" if kind == "object" else ".text",
            f".globl s{number}\n.type s{number},%{kind}",
            f"s{number}:",
            f".size s{number},{match['size']}\n.symver s{number},{name}@@@GLIBC_{match['version']}",
        ]
    sizes = {match["value"]: match["size"] for _, match in symbols if match["type"] == "OBJECT"}
    lines += [f".section .object.{value},\"aw\",%nobits\n.skip {size}" for value, size in sizes.items()]
    return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])


def version_script(symbols):
    versions = sorted({match["version"] for _, match in symbols}, key=numbers)
    return "".join(f"GLIBC_{version} {{ {'local: s[0-9]*;' if number == 0 else ''} }};\n" for number, version in enumerate(versions))


def make_library(folder, soname, symbols, compiler):
    source, script = folder / f"{soname}.s", folder / f"{soname}.map"
    source.write_text(assembly(symbols))
    script.write_text(version_script(symbols))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{soname},--version-script={script}", "-Wl,--hash-style=gnu"]
    subprocess.run([*compiler, *options, "-o", folder / soname, source], check=True)


def main():
    version, folder, compiler = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)

    def find(name):
        return subprocess.run([*compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()

    libraries = {}
    for soname in "libc.so.6", "libm.so.6":
        old, moved = read_symbols(find(soname), numbers(version))
        for name, match in sorted(old.items()):
            homes = [home for home, pattern in MOVED.items() if name in moved and pattern.match(name)]
            libraries.setdefault(homes[0] if homes else soname, []).append((name, match))
    for soname, symbols in libraries.items():
        make_library(folder, soname, symbols, compiler)

    tool = subprocess.run([*compiler, "-print-prog-name=ar"], check=True, capture_output=True, text=True).stdout.strip()
    archive, objects = folder / "libolder.a", []
    for name in "older", "start":
        objects.append(folder / f"{name}.o")
        subprocess.run([*compiler, "-c", "-O2", "-fPIC", "-o", objects[-1], HERE / f"{name}.c"], check=True)
    archive.unlink(missing_ok=True)
    subprocess.run([tool, "rcsD", archive, *objects], check=True)
    loader = re.search(r"AS_NEEDED \( (\S+) \)", pathlib.Path(find("libc.so")).read_text())[1]
    parts = [archive, *(folder / soname for soname in libraries if soname != "libm.so.6"), find("libc_nonshared.a")]
    (folder / "libc.so").write_text(f"GROUP ( {' '.join(map(str, parts))} AS_NEEDED ( {loader} ) )\n")
    (folder / "libm.so").write_text(f"INPUT ( {folder / 'libm.so.6'} )\n")
    (folder / "libstdc++.so").write_text(f"INPUT ( {find('libstdc++.a')} )\n")


if __name__ == "__main__":
    main()
