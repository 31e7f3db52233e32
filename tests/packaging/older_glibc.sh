#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# older_glibc.sh PYTHON CC CXX WORK: what packaging/glibc/link_libraries.py makes to link with. A program of C++ whose parts have
# newer versions here asks for none newer than 2.28, and runs; one with a function that is newer does not link.
set -euo pipefail
export LC_ALL=C

python=$1 cc=$2 cxx=$3 work=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$work"
mkdir -p "$work"
"$python" "$here/../../packaging/glibc/link_libraries.py" 2.28 "$work/glibc" "$cc"

cat >"$work/program.cpp" <<'END'
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <malloc.h>
#include <random>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

static struct Constructed {
    Constructed() { std::cout << "constructed"; }
    ~Constructed() { std::cout << ", destroyed" << std::endl; }
} constructed;

int main(int count, char **) {
    struct stat root, link;
    int sum = 0;
    std::thread([&] { sum = count; }).join();
    try {
        throw 3;
    } catch (int caught) {
        sum += caught;
    }
    const bool found = stat("/", &root) == 0 && lstat("/", &link) == 0 && S_ISDIR(root.st_mode) && fstatat(AT_FDCWD, "/", &link, 0) == 0 && root.st_ino == link.st_ino;
    const bool opened = dlopen(nullptr, RTLD_LAZY) && mallinfo2().arena > 0 && std::random_device()() != std::random_device()();
    std::cout << ", " << sum << found << opened << std::lround(std::exp(count * 3.0)) << (getenv("PATH") != nullptr);
}
END
"$cxx" -O2 "$work/program.cpp" -o "$work/program" "-L$work/glibc" -Wl,--allow-shlib-undefined -ldl -lpthread
said=$("$work/program")
[[ $said == 'constructed, 411201, destroyed' ]] || { echo "the program said '$said'" >&2; exit 1; }
newest=$(readelf -W --version-info "$work/program" | grep -o 'GLIBC_[0-9.]*' | sort -V -u | tail -n 1)
[[ $(printf '%s\n' GLIBC_2.28 "$newest" | sort -V | tail -n 1) == GLIBC_2.28 ]] || { echo "it asks for $newest" >&2; exit 1; }
if readelf -W -d "$work/program" | grep 'libstdc++'; then
    echo 'it asks for a C++ library' >&2
    exit 1
fi

echo 'void closefrom(int file); int main(void) { closefrom(100); return 0; }' >"$work/newer.c"
"$cc" "$work/newer.c" -o "$work/newer"
if "$cc" "$work/newer.c" -o "$work/newer" "-L$work/glibc" -Wl,--allow-shlib-undefined 2>"$work/error"; then
    echo 'a program with closefrom, of glibc 2.34, was linked for 2.28' >&2
    exit 1
fi
grep -q 'undefined reference to .closefrom' "$work/error"
echo "glibc 2.28: $newest is the newest that a program asks for"
