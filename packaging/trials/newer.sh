#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The source in a newer Debian, by its gcc and its clang, with its LLVM: the command and the unit tests of gcc stay in /opt/weft for the drivers' trial.
# $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"

# build CC CXX [OPTION...]: in a folder that is called CC.
build() {
    folder=$1 cxx=$2
    shift 2
    printf '%s: %s\n' "$folder" "$("$folder" --version | sed -n 1p)"
    quietly cmake -G Ninja -S "$tree" -B "$folder" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_COMPILER=$folder" "-DCMAKE_CXX_COMPILER=$cxx" \
        -DWEFT_LLVM=ON -DWEFT_WERROR=ON -DWEFT_BUILD_CLI=ON "$@"
    quietly cmake --build "$folder" --parallel "$JOBS" --target weft-cli
    use "$folder/weft"
}

build gcc g++
build clang clang++ "-DWEFT_COMPILED_SHADERS=$PWD/gcc/shaders"
quietly cmake --build gcc --parallel "$JOBS" --target weft-tests-unit
rm -rf /opt/weft
mkdir -p /opt/weft
mv gcc/weft gcc/tests/unit-tests /opt/weft
