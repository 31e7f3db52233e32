#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The archive for Linux, in a Debian with nothing. $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"

if command -v cc; then exit 1; fi
as_typed archive
mv "$tree-linux-$(uname -m)" elsewhere
ln -s "$PWD/elsewhere/bin/weft" /usr/local/bin/weft
use_compiled weft
use_shipped weft
use weft
