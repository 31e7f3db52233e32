#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The source archive as FetchContent has it, in a Debian with the packages that docs/programming.md names and no others: a program
# with libweft, and the command. $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"

quietly cmake -G Ninja -S "$tree/tests/packaging/consumer" -B b -DWEFT_WAY=fetch_content "-DWEFT_SOURCE=$PWD/$tree" -DWEFT_BUILD_CLI=ON \
    -DWEFT_LLVM=ON -DCMAKE_BUILD_TYPE=Release
quietly cmake --build b --target consumer_c weft-cli
expect "weft $1" b/consumer_c
use "$(find "$PWD/b" -name weft -type f -perm -u+x)"
