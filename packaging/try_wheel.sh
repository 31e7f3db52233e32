#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# try_wheel.sh WHEEL CMAKE FOLDER...: what is in a wheel beside the package. Weft's licence and the notices of all that is bundled,
# a bill of materials, and a module and a compiler that are hardened and name none of the FOLDERs that they were built in.
set -euo pipefail

wheel=$1 cmake=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile -e "$wheel" "$work"
info=("$work"/weft-*.dist-info)

for file in LICENSE THIRD-PARTY-NOTICES.txt; do
    cmp "$here/../$file" "${info[0]}/licenses/$file"
    grep -qx "License-File: $file" "${info[0]}/METADATA" || { echo "the wheel's METADATA does not name $file" >&2; exit 1; }
done
version=$(sed -n 's/^Version: //p' "${info[0]}/METADATA")
"$cmake" "-DBILL=${info[0]}/sboms/weft.cdx.json" "-DVERSION=$version" -P "$here/../tests/packaging/bill.cmake"
libraries=$(find "$work/weft.libs" -name '*.so*' 2>/dev/null | sort | paste -s -d ';' || true)
[[ -z $libraries ]] || "$cmake" "-DLIBRARIES=$libraries" -P "$here/notices.cmake"
"$cmake" -DREADELF=readelf "-DFILES=$(find "$work/weft" -name '*.so' | sort | paste -s -d ';')" "-DTREES=$(IFS=';' && echo "$*")" -P "$here/../tests/packaging/hardening.cmake"
echo "wheel: licences, notices, parts and hardening are right"
