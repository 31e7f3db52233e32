#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A newer Debian's drivers, by the command that newer.sh built: every kernel once on every device, in both modes that have the same bits
# everywhere, and then under its validation layers. $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
weft=/opt/weft/weft
grep '^[^#].* kernels' "$tree/tests/data/cases.txt" | sed 's/ .*//' >kernels.txt
export RUSTICL_ENABLE=llvmpipe WEFT_OPENCL=1

"$weft" devices
failed=
for math in reproducible fused; do
    for device in llvmpipe pocl rusticl; do
        printf '%s, %s\n' "$device" "$math"
        case $device in
        llvmpipe) validation=--validation ;;
        *) validation= ;;
        esac
        # shellcheck disable=SC2086 # a word or none
        "$weft" verify --device "$device" --list kernels.txt --bits "$tree/tests/data/bits" --math "$math" $validation || failed="$failed $device/$math"
    done
done
printf 'the layer sees what shaders access\n'
quietly env WEFT_VALIDATION=1 WEFT_OPENCL=0 WEFT_PROCESSOR=0 /opt/weft/unit-tests frames
[ -z "$failed" ] || { printf 'failed:%s\n' "$failed" >&2 && exit 1; }
