#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The wheel, in a Debian with Python. $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"

python3 -m venv v
v/bin/pip install -q --no-index --find-links wheels ./*.whl
use_compiled v/bin/weft
use v/bin/weft
v/bin/python "$tree/api/python/tests/try_wheel.py"
