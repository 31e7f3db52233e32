#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The Debian packages: the command and Python in a Debian without compilers, then programs of C and C++ with those that it has.
# $1 is the version.
set -eu
tree=weft-$1
model=$tree/api/examples/models/langid
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"
export DEBIAN_FRONTEND=noninteractive

# What is recommended, a Vulkan driver of Mesa's with an LLVM of its own, comes after Weft was used alone.
printf 'APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n' >/etc/apt/apt.conf.d/trial
quietly apt-get -q update
quietly as_typed debian
foreign=$(command -v cc || find / -xdev -name 'libLLVM*')
if [ -n "$foreign" ]; then
    echo "expected no compiler but Weft's own, found $foreign" >&2
    exit 1
fi
use_compiled weft
use_shipped weft
use weft
expect vi python3 -c "import weft; print(weft.load('$model')(open('$model/samples/vi.txt').read()))"
quietly apt-get -q install libvulkan1 mesa-vulkan-drivers
use weft

quietly apt-get -q install gcc g++ libc6-dev cmake make pkg-config
# shellcheck disable=SC2046 # words
gcc -std=c11 "$tree/api/examples/quickstart.c" -o c $(pkg-config --cflags --libs weft) -lm
expect 'y[0] = ' ./c
# shellcheck disable=SC2046
g++ -std=c++17 "$tree/api/examples/quickstart.cpp" -o cxx $(pkg-config --cflags --libs weft)
expect "$(./c)" ./cxx
quietly cmake -S "$tree/tests/packaging/consumer" -B b -DWEFT_WITH_CXX=ON
quietly cmake --build b
expect "weft $1" b/consumer_c
expect WEFT_OK b/consumer_cxx
