#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The wheel, in a Debian with Python. $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"

PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/wheels as_typed wheel
use_compiled weft-env/bin/weft
use_shipped weft-env/bin/weft
use weft-env/bin/weft
weft-env/bin/python "$tree/api/python/tests/try_wheel.py"
