#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kit.sh WEFT FOLDER: what `./dev kit` packs, with three cases, finds this driver right, and a wrong bit where there is one.
set -eu
rm -rf "$2"
mkdir -p "$2"
folder=$(cd "$2" && pwd)
WEFT=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
export WEFT
cp packaging/kit/run.sh "$folder"
cp -r tests/data/bits tests/data/bits-fused "$folder"
grep -E '^(affine|concat|unary/neg)/.* kernels' tests/data/cases.txt | cut -d ' ' -f 1 >"$folder/cases.txt"
[ "$(wc -l <"$folder/cases.txt")" -ge 3 ]

# expect TEXT PART...
expect() {
    text=$1
    shift
    sh "$folder/run.sh" --seconds 120 --device llvmpipe "$folder/out" "$@" >"$folder/log" 2>&1 || { cat "$folder/log" && exit 1; }
    grep -qE "$text" "$folder/log" || { cat "$folder/log" && echo "expected: $text" && exit 1; }
}

expect 'fused: [1-9][0-9]* cases, [1-9][0-9]* passed, 0 failed, 0 skipped' look verify
if grep -E 'FAILED|DIFFERENT|error:' "$folder/log"; then exit 1; fi
tar -tzf "$folder/out.tar.gz" | grep -q '^out/verify.txt$'
tar -tzf "$folder/out.tar.gz" | grep -q '^out/devices.json$'

sed -i 's/"[0-9a-f]\{8\}/"00000000/' "$folder/bits/affine.json"
expect '^DIFFERENT affine/' verify

if sh "$folder/run.sh" --device llvmpipe "$folder/out" nothing >"$folder/log" 2>&1; then exit 1; fi
grep -q "there is no part 'nothing'" "$folder/log"
