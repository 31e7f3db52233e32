#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The source in a newer Debian, by its gcc and its clang, with its CMake and LLVM: libweft and the command, and with them every kernel once.
# gcc's command, and the test of frames, stay in /kept/weft for the drivers' trial. $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"
export CCACHE_DIR=/kept/ccache CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache

# build CC CXX [OPTION...]: in a folder that is called CC.
build() {
    folder=$1 cxx=$2
    shift 2
    printf '%s: %s, %s\n' "$folder" "$("$folder" --version | sed -n 1p)" "$(cmake --version | sed -n 1p)"
    quietly cmake -G Ninja -S "$tree" -B "$folder" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_COMPILER=$folder" "-DCMAKE_CXX_COMPILER=$cxx" \
        -DWEFT_LLVM=ON -DWEFT_WERROR=ON -DWEFT_BUILD_CLI=ON "$@"
    quietly cmake --build "$folder" --parallel "$JOBS" --target weft weft-cli
    use_compiled "$folder/weft"
    use "$folder/weft"
    use_kernels reproducible processor "$folder/weft"
    use_kernels fused processor "$folder/weft"
}

build gcc g++
build clang clang++ "-DWEFT_COMPILED_SHADERS=$PWD/gcc/shaders"
quietly cmake --build gcc --parallel "$JOBS" --target weft-tests-unit-frames
rm -rf /kept/weft
mkdir -p /kept/weft
mv gcc/weft gcc/tests/unit-frames-tests /kept/weft
