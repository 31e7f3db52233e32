#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A newer Debian's drivers, by the command that newer.sh built: every kernel once, in both modes that have the same bits everywhere; on
# Vulkan under its validation layers. $1 is the version.
set -eu
tree=weft-$1
tar xf "$tree.tar.gz"
# shellcheck source=packaging/trials/use.sh
. "$tree/packaging/trials/use.sh"
weft=/kept/weft/weft

# try NAME VARIABLE=VALUE...: on the one driver that the variables leave.
try() {
    name=$1
    shift
    for math in reproducible fused; do
        printf '%s, %s\n' "$name" "$math"
        use_kernels "$math" all env "$@" "$weft" || failed="$failed $name/$math"
    done
}

# try_opencl NAME FILE [VARIABLE=VALUE]
try_opencl() {
    # shellcheck disable=SC2046,SC2086 # words
    try "$1" $(grep '^[A-Z_]*=' "$tree/tests/opencl/alone.env") OCL_ICD_VENDORS="/etc/OpenCL/vendors/$2" RUSTICL_ENABLE=llvmpipe ${3-}
}

# PoCL 6 is refused; the default of 7 loses values at barriers, and cbs does not (docs/programming.md).
try_pocl() {
    if dpkg --compare-versions "$(dpkg-query -W -f '${Version}' pocl-opencl-icd)" ge 7; then
        try_opencl pocl pocl.icd POCL_WORK_GROUP_METHOD=cbs
    else
        OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd "$weft" devices --all | grep 'PoCL 6 ends the process' || failed="$failed pocl"
    fi
}

failed=
"$weft" devices
try llvmpipe WEFT_PROCESSOR=0 WEFT_OPENCL=0 WEFT_VALIDATION=1
try_pocl
try_opencl rusticl rusticl.icd
printf 'the layer sees what shaders access\n'
WEFT_VALIDATION=1 WEFT_PROCESSOR=0 WEFT_OPENCL=0 /kept/weft/unit-frames-tests frames >log 2>&1 || { tail -n 40 log && failed="$failed frames"; }
[ -z "$failed" ] || { printf 'failed:%s\n' "$failed" >&2 && exit 1; }
